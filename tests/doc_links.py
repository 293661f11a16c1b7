#!/usr/bin/env python3
"""doc_links.py SOURCE: every link on the pages in SOURCE leads to an existing file or folder, and to an existing
heading.

docs/ops/README.md links the page of every op. In a source tree, every script at the beginning of a line of code on a page exists and
is executable."""

import os
import pathlib
import re
import sys


def headings(page):
    """The anchors of a page's headings, by GitHub's rule."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for title in re.findall(r"^#+ +(.*)$", text, re.MULTILINE):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        yield re.sub(r"[^\w -]", "", title.strip().lower()).replace(" ", "-")


def broken_links(page):
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists():
            yield f"{link}: no such file"
        elif anchor and anchor not in headings(target):
            yield f"{link}: no such heading"


def broken_commands(page, source):
    if not (source / "tools").is_dir():  # an installation has no tools
        return
    for script in re.findall(r"(?:^    |`|&& )((?:tools|tests)/[\w/]+\.(?:py|sh))\b", page.read_text(), re.MULTILINE):
        if not os.access(source / script, os.X_OK):
            yield f"{script}: no such file, or not executable"


def unlisted_ops(page):
    """Pages of ops that the list of ops, in their folder, does not link."""
    listed = (page.parent / "README.md").read_text() if page.parent.name == "ops" else f"({page.name})"
    if page.name != "README.md" and f"({page.name})" not in listed:
        yield "no row in the README.md beside it"


def main():
    source = pathlib.Path(sys.argv[1])
    pages = [page for page in sorted(source.rglob("*.md")) if "build" not in page.relative_to(source).parts]
    broken = [f"{page.relative_to(source)}: {why}" for page in pages
              for why in (*broken_links(page), *broken_commands(page, source), *unlisted_ops(page))]
    print("\n".join(broken) if broken else f"{len(pages)} pages, no broken links, and no broken commands")
    return 1 if broken or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
