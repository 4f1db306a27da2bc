#!/usr/bin/env python3
"""Finds files of a crate that import each other in a circle, and fails if there are any.

    scripts/circles.py [FOLDER OF CRATES]

An import is a `use` line or a path in the code that begins with `crate`, `super` or a child. A name that a file
re-exports counts as imported from the file that declares it. Modules of tests are left out.
"""

import collections
import pathlib
import re
import sys

TEST_FILE = re.compile(r"tests?\.rs$|/tests/")
INLINE_TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:pub(?:\([^)]*\))?\s+)?mod \w+ \{")
USE = re.compile(r"^\s*(pub(?:\([^)]*\))?\s+)?use\s+([^;]*);", re.M)
PATH = re.compile(r"(?<![\w:])([a-z_]\w*(?:::\w+)+)")


def module(src, file):
    """The path of a file's module: `("results", "read")`; the crate's root is empty."""
    parts = file.relative_to(src).with_suffix("").parts
    return parts[:-1] if parts[-1] in ("lib", "main", "mod") else parts


def code(file):
    """A file's text without comments and without its module of tests."""
    text = re.sub(r"//[^\n]*", "", file.read_text())
    tests = INLINE_TESTS.search(text)
    return text[: tests.start()] if tests else text


def split(list_of_trees):
    """What stands between the outermost commas."""
    depth, current = 0, ""
    for letter in list_of_trees:
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            yield current
            current = ""
        else:
            current += letter
    if current.strip():
        yield current


def paths(tree, prefix=()):
    """The single paths of a `use` tree."""
    tree = " ".join(tree.split())
    group = re.match(r"^(.*?)\{(.*)\}$", tree)
    if not group:
        yield prefix + tuple(part.split(" as ")[0].strip() for part in tree.split("::"))
        return
    head = tuple(part.strip() for part in group[1].split("::") if part.strip())
    for branch in split(group[2]):
        yield from paths(branch.strip(), prefix + head)


class Crate:
    def __init__(self, src):
        files = [file for file in src.rglob("*.rs") if not TEST_FILE.search(str(file))]
        self.texts = {module(src, file): code(file) for file in files}
        self.declared_in = {}
        for here, text in self.texts.items():
            for public, path in self.uses(here, text):
                place, name = self.resolve(here, path)
                if public and name and place != here:
                    self.declared_in[here, path[-1]] = (place, name)

    def uses(self, here, text):
        """Every path of a `use` line that leads into this crate, and whether it is a re-export."""
        for line in USE.finditer(text):
            for path in paths(line[2]):
                if self.is_inside(here, path):
                    yield bool(line[1]), path

    def is_inside(self, here, path):
        return path[0] in ("crate", "super", "self") or here + path[:1] in self.texts

    def resolve(self, here, path):
        """The file that a path leads to, and the names that are left."""
        if path[0] == "crate":
            here, path = (), path[1:]
        while path and path[0] in ("super", "self"):
            here, path = (here[:-1] if path[0] == "super" else here), path[1:]
        while path and here + path[:1] in self.texts:
            here, path = here + path[:1], path[1:]
        return here, path

    def declaring(self, place, names):
        """The file that declares what a file may only re-export."""
        seen = set()
        while names and (place, names[0]) in self.declared_in and (place, names[0]) not in seen:
            seen.add((place, names[0]))
            place, names = self.declared_in[place, names[0]]
            names = names[-1:]
        return place

    def imports(self):
        """By file: the files that it imports from."""
        graph = collections.defaultdict(set)
        for here, text in self.texts.items():
            found = [(public, path) for public, path in self.uses(here, text)]
            found += [(False, tuple(path[1].split("::"))) for path in PATH.finditer(USE.sub("", text))]
            for public, path in found:
                if not self.is_inside(here, path):
                    continue
                there = self.declaring(*self.resolve(here, path))
                is_own_child = there[: len(here)] == here
                if there != here and not (public and is_own_child):
                    graph[here].add(there)
        return graph


def reachable(graph, start):
    seen, ahead = set(), list(graph[start])
    while ahead:
        place = ahead.pop()
        if place not in seen:
            seen.add(place)
            ahead.extend(graph[place])
    return seen


def circles(graph):
    """Sets of files each of which reaches all others."""
    reach = {place: reachable(graph, place) for place in list(graph)}
    on_one = [place for place, others in reach.items() if place in others]
    return {frozenset(b for b in on_one if b in reach[a] and a in reach[b]) for a in on_one}


def main():
    default = pathlib.Path(__file__).resolve().parent.parent / "crates"
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    found = 0
    for src in sorted(root.glob("*/src")):
        graph = Crate(src).imports()
        for circle in circles(graph):
            found += 1
            print(f"{src}: {len(circle)} files import each other in a circle:")
            for here in sorted(circle):
                for there in sorted(graph[here] & circle):
                    print(f"  {'::'.join(here) or 'the root'} imports from {'::'.join(there) or 'the root'}")
    if found:
        sys.exit("Move what both sides of a circle need to a file of its own.")


main()
