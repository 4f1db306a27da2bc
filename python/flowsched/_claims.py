"""The papers' published numbers, measured."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any, Literal

import pyarrow as pa

from . import _html, _native
from .experiment import _threads


class Claims:
    """One row per published value: the published value, the measured value and the verdict."""

    def __init__(self, rows: list[dict[str, Any]], text: str) -> None:
        self.rows, self._text = rows, text

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict on each value, by the names of claim and value."""
        return {f"{row['id']} {row['value']}".strip(): str(row["verdict"]) for row in self.rows}

    @property
    def table(self) -> pa.Table:
        """The rows as a table."""
        return pa.Table.from_pylist(self.rows)

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{_html.escape(self._text)}</pre>"


def reproduce(
    *claims: str,
    scale: Literal["quick", "paper"] = "quick",
    seeds: int | None = None,
    threads: int | None = None,
    repository: str | os.PathLike[str] = ".",
    out: str | os.PathLike[str] = "results/reproduce",
    progress: bool = True,
) -> Claims:
    """Measures numbers that papers publish, as ``flowsched reproduce`` does.

    ``claims`` are names of claims such as ``"pdq.scale"``, of papers or of experiments; without any, all
    claims are measured. ``repository`` is the root of flowsched's repository, which contains the claims
    and their experiments. Results are kept in the store ``out``: Ctrl-C raises ``KeyboardInterrupt``, and
    the same call then continues.
    """
    if scale not in ("quick", "paper"):
        raise ValueError(f"scale is {scale!r}; give 'quick' or 'paper'")

    def before(place: int, of: int, name: str) -> None:
        if progress:
            print(f"experiment {place} of {of}: {name}", file=sys.stderr, flush=True)

    rows, text = _native.reproduce(
        list(claims), repository, out, scale == "paper", seeds, _threads(threads), 100, before
    )
    return Claims(json.loads(rows), text)
