#!/usr/bin/env python3
"""words.py [PATH...]: checks that comments are written in plain words.

Reads the comments of C++, Python, shell and CMake files, Python's docstrings, and the prose of docs/ops. Reports a sentence with a
word from the table "Words not to use" of docs/design/naming.md, and a sentence of more than 30 words. Each finding is a line
`file:line: reason: sentence`. Code in backquotes, quoted text, and names with a `.`, `_`, `(`, `/` or digit are not read as words.

With PATHs it checks only these files and folders. Exit 1 after a finding, 77 outside of a checkout of git.
"""

import argparse
import ast
import io
import pathlib
import re
import subprocess
import sys
import tokenize

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/design/naming.md"
FOLDERS = ("kernels", "capi", "include", "parity", "tests", "tools", "docs/ops")
MOST_WORDS = 30
SLASHES = (".h", ".hpp", ".hip", ".cpp", ".c", ".cc", ".rs")
HASHES = (".sh", ".cmake")


def rules():
    """A pattern and a better wording for each entry of the page's table. `^` means the start of a sentence."""
    table = PAGE.read_text().split("## Words not to use")[1].split("\n## ")[0]
    found = []
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        for entry in re.findall(r"`([^`]+)`", cells[0]) if len(cells) == 2 else ():
            start, words = (r"^\W*", entry[1:]) if entry.startswith("^") else (r"(?<![\w-])", entry)
            case = "" if entry.startswith("^") else "(?i)"
            found.append((re.compile(case + start + re.escape(words) + r"(?![\w-])"), entry.strip("^"), cells[1]))
    return found


def blocks_of_slashes(text):
    """Lines of `//` and `/* */` comments, in blocks of neighbouring lines: [(line number, text)]."""
    block, in_star = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if in_star:
            comment = re.sub(r"^\s*\*+/?", "", line.split("*/")[0])
            in_star = "*/" not in line
        else:
            code = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\'', lambda m: "_" * len(m.group()), line)
            at = re.search(r"//+[!/<]*|/\*+[!<]*", code)
            comment = line[at.end():] if at else None
            if at and at.group().startswith("/*"):
                in_star = "*/" not in comment
                comment = comment.split("*/")[0]
            if at and code[:at.start()].strip() and block:  # a comment behind code is another block
                yield block
                block = []
        if comment is None:
            if block:
                yield block
            block = []
        else:
            block.append((number, comment.strip()))
    if block:
        yield block


def blocks_of_hashes(text):
    block = []
    for number, line in enumerate(text.splitlines(), 1):
        at = re.match(r"\s*#(?!!)\s?(.*)", line) or re.search(r"\S\s+# (.*)", line)
        if at:
            block.append((number, at.group(1).strip()))
        elif block:
            yield block
            block = []
    if block:
        yield block


def blocks_of_python(text):
    block, last = [], None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            if block and token.start[0] != last + 1:
                yield block
                block = []
            block.append((token.start[0], token.string.lstrip("# ")))
            last = token.start[0]
    if block:
        yield block
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            first = node.body[0].lineno
            paragraph = []
            for number, line in enumerate(ast.get_docstring(node, clean=False).splitlines(), first):
                if line.strip() and not line.startswith("    " * 2 + " "):
                    paragraph.append((number, line.strip()))
                elif paragraph:
                    yield paragraph
                    paragraph = []
            if paragraph:
                yield paragraph


def blocks_of_page(text):
    """Paragraphs, and each cell of a table."""
    block, in_code = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            in_code = not in_code
        is_prose = line.strip() and not in_code and not line.startswith(("```", "#", "|", "    "))
        if is_prose and not re.match(r"\s*([-*]|\d+\.) ", line):
            block.append((number, line.strip()))
            continue
        if block:
            yield block
        block = [(number, re.sub(r"^\s*([-*]|\d+\.) ", "", line))] if is_prose else []
        if line.startswith("|"):
            yield from ([(number, cell.strip())] for cell in line.split("|")[1:-1])
    if block:
        yield block


def sentences(block):
    """(line number of its first word, sentence) of a block."""
    text, starts = "", []
    for number, line in block:
        starts.append((len(text), number))
        text += line + " "
    begin = 0
    for end in [m.end() for m in re.finditer(r"[.!?:;]['\")]*(?=\s)", text)] + [len(text)]:
        sentence = text[begin:end].strip()
        if sentence:
            place = begin + len(text[begin:end]) - len(text[begin:end].lstrip())
            yield next(number for at, number in reversed(starts) if at <= place), sentence
        begin = end


def findings(path, text, rules):
    suffix = path.suffix
    blocks = (blocks_of_slashes(text) if suffix in SLASHES else blocks_of_python(text) if suffix == ".py" else
              blocks_of_page(text) if suffix == ".md" else blocks_of_hashes(text))
    for block in blocks:
        for number, sentence in sentences(block):
            plain = re.sub(r"`[^`]*`|\"[^\"]*\"", "X", sentence)
            words = " ".join("X" if re.search(r"[._(/\d=<>]\S", word) else word for word in plain.split())
            count = len(re.findall(r"[A-Za-z][\w'-]*", words))
            if count > MOST_WORDS:
                yield number, f"{count} words, expected {MOST_WORDS} at most", sentence
            for pattern, entry, instead in rules:
                if pattern.search(words):
                    yield number, f'"{entry}": {instead}', sentence


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*")
    chosen = [pathlib.Path(path).resolve() for path in parser.parse_args().paths]
    listed = subprocess.run(["git", "-C", ROOT, "-c", f"safe.directory={ROOT}", "ls-files", *FOLDERS], capture_output=True, text=True)
    if listed.returncode != 0:
        print("skipped: not a checkout of git")
        sys.exit(77)
    known, count, files = rules(), 0, 0
    for path in map(ROOT.joinpath, listed.stdout.split()):
        if not (path.suffix in (*SLASHES, *HASHES, ".py", ".md") or path.name == "CMakeLists.txt") or not path.is_file():
            continue
        if chosen and not any(each == path or each in path.parents for each in chosen):
            continue
        files += 1
        for number, reason, sentence in findings(path, path.read_text(errors="replace"), known):
            print(f"{path.relative_to(ROOT)}:{number}: {reason}: {sentence}")
            count += 1
    print(f"{count} findings in {files} files")
    sys.exit(1 if count else 0)


main()
