"""``python -m flowsched.store``: what a store has, and removing what is old in it.

A store is the folder ``out`` of sweeps and of :func:`flowsched.reproduce`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import _native
from .errors import FlowschedError


@dataclass(frozen=True)
class Entry:
    """The results of an experiment, or the dataset of a sweep, in a store."""

    folder: Path
    """The folder."""
    name: str
    """The experiment's name."""
    version: str
    """The version of flowsched that wrote it."""
    commit: str
    """The commit of that version."""
    complete: bool
    """Whether every run is finished."""
    old: bool
    """Whether another version of flowsched wrote it. This version does not use it."""
    bytes: int
    """The size on the disk in bytes."""
    age_s: float
    """The age in seconds."""


def entries(store: str | os.PathLike[str]) -> list[Entry]:
    """Everything in a store, by name."""
    found = json.loads(_native.stored(store))
    return [Entry(folder=Path(one.pop("dir")), **one) for one in found]


def remove(store: str | os.PathLike[str], *, older_than_days: float | None = None) -> list[Entry]:
    """Removes what other versions of flowsched wrote, and what is older than ``older_than_days``. Returns the
    removed entries."""
    most = float("inf") if older_than_days is None else older_than_days * 86_400
    gone = [entry for entry in entries(store) if entry.old or entry.age_s > most]
    _native.remove_stored(store, [str(entry.folder) for entry in gone])
    return gone


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line, and returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m flowsched.store", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="list the results in a store")
    removing = commands.add_parser("remove", help="remove what other versions of flowsched wrote")
    for command in (listing, removing):
        command.add_argument("store", metavar="DIR")
    removing.add_argument(
        "--older-than", type=_days, metavar="AGE", help="remove also what is older than this, 30d or 12h"
    )
    wanted = parser.parse_args(arguments)
    try:
        if wanted.command == "list":
            for entry in entries(wanted.store):
                print(_line(entry))
        else:
            gone = remove(wanted.store, older_than_days=wanted.older_than)
            size = sum(entry.bytes for entry in gone)
            print(f"removed {len(gone)} results folders, {size / 1e6:.1f} MB")
    except FlowschedError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _days(text: str) -> float:
    """An age in days, from a text such as ``30d`` or ``12h``.

    >>> _days("30d"), _days("12h")
    (30.0, 0.5)
    """
    number, unit = text[:-1], text[-1:]
    if text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} has no unit: write {text}d for days or {text}h for hours")
    if unit not in ("d", "h") or not number.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no age: write days or hours, such as 30d or 12h")
    return int(number) / (1 if unit == "d" else 24)


def _line(entry: Entry) -> str:
    state = "old" if entry.old else "complete" if entry.complete else "incomplete"
    days = int(entry.age_s // 86_400)
    written = f"{entry.version} {entry.commit}"
    return f"{state:<10}  {entry.bytes / 1e6:9.1f} MB  {days:4} d  {written:<24}  {entry.folder}"


if __name__ == "__main__":
    sys.exit(main())
