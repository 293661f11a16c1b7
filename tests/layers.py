#!/usr/bin/env python3
"""layers.py SOURCE: every #include of kernels/, capi/ and include/ is one that the table of layers in
docs/design/architecture.md allows.

A row of the table is a layer: its files, and the other layers that they may include. A name that ends with / is a whole
folder; any other is a pattern of paths. A file belongs to the first row that matches it.
"""

import pathlib
import re
import sys

PAGE = "docs/design/architecture.md"
ROOTS = ("include", "capi", "kernels")  # the folders that the compiler searches
GENERATED = {"build_info.h"}
NOT_CPP = ("capi/python/", "capi/rust/")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def table_of(page):
    """The patterns of each layer, and of the layers that it may include."""
    section = re.search(r"^## Layers$(.*?)^#", page, re.MULTILINE | re.DOTALL).group(1)
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| `")]
    return {re.findall("`([^`]+)`", files)[0]: re.findall("`([^`]+)`", allowed) for files, allowed in rows}


def has(pattern, path):
    return path.startswith(pattern) if pattern.endswith("/") else pathlib.PurePosixPath(path).match(pattern)


def layer_of(table, path):
    return next((layer for layer in table if has(layer, path)), None)


def target_of(source, path, quote, name):
    """The file in the source that an #include names; None: a header of the system or the build."""
    folders = (path.parent, *(source / root for root in ROOTS)) if quote == '"' else [source / root for root in ROOTS]
    for folder in folders:
        if (folder / name).is_file():
            return (folder / name).resolve().relative_to(source).as_posix()
    if quote == '"' and name not in GENERATED:
        raise ValueError(f'"{name}" is no file of {", ".join(ROOTS)}')
    return None


def main():
    source, wrong, files = pathlib.Path(sys.argv[1]).resolve(), [], 0
    table = table_of((source / PAGE).read_text())
    used = {layer: set() for layer in table}
    for layer, allowed in table.items():
        wrong += [f"{PAGE}: `{layer}` may include `{name}`, which is no layer" for name in allowed if name not in table]
    for path in sorted(path for root in ROOTS for path in (source / root).rglob("*")):
        name = path.relative_to(source).as_posix()
        if path.suffix not in (".h", ".hpp", ".cpp", ".hip") or name.startswith(NOT_CPP):
            continue
        files += 1
        layer = layer_of(table, name)
        if layer is None:
            wrong.append(f"{name}: in no layer of {PAGE}")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = INCLUDE.match(line)
            try:
                target = found and target_of(source, path, *found.groups())
            except ValueError as problem:
                wrong.append(f"{name}:{number}: {problem}")
                continue
            other = target and layer_of(table, target)
            if other and other != layer:
                used[layer].add(other)
                if other not in table[layer]:
                    wrong.append(f"{name}:{number}: {target} of `{other}`, which `{layer}` may not include")
    for layer, allowed in table.items():
        wrong += [f"{PAGE}: no file of `{layer}` includes `{name}`" for name in allowed if name not in used[layer]]
    print("\n".join(wrong) if wrong else f"{files} files, {len(table)} layers")
    return 1 if wrong or files < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
