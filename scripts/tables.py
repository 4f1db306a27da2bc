#!/usr/bin/env python3
"""Checks the tables of the Markdown pages: every row is one line, with as many cells as the head of its table.

    scripts/tables.py

Renderers accept a row that was wrapped, and show its parts as text or in the wrong columns.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def cells(row):
    """How many cells a row has; bars in code and escaped ones separate none."""
    return len(re.findall(r"(?<!\\)\|", re.sub(r"`[^`]*`", "", row))) - 1


def broken_rows(page):
    """The lines of a page that stand in a table and are not whole rows of it, with their numbers."""
    is_code, head = False, None
    for line, text in enumerate(page.read_text().splitlines(), 1):
        is_code ^= text.lstrip().startswith("```")
        if is_code or not text.strip():
            head = None
        elif text.startswith("|"):
            head = head or cells(text)
            if cells(text) != head or not text.endswith("|"):
                yield line, text
        elif head:
            yield line, text


def main():
    pages = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found = [
        f"{page}:{line}: not a whole row of its table: {text[:80]}"
        for page in pages.stdout.splitlines()
        for line, text in broken_rows(ROOT / page)
    ]
    if found:
        sys.exit("\n".join([*found, "Write each row of a table on one line, with as many cells as its head."]))


if __name__ == "__main__":
    main()
