"""Paired comparisons: how schemes, or two folders, differ on the same flows.

What lives here: comparisons as objects and tables. What may not: computing them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from . import _html, _words

if TYPE_CHECKING:
    import pandas

FigureName = Literal["mean", "p99"]
"""A figure of flow completion times."""

ClassName = Literal["all", "small", "medium", "large"]
"""A size class."""


@dataclass(frozen=True)
class Change:
    """The relative difference of a figure between two schemes: -0.2 means 20% less."""

    point: dict[str, str]
    """The point of the sweep."""
    scheme: str
    """The scheme."""
    against: str
    """The scheme that it is compared with."""
    size_class: str
    """``all``, ``small``, ``medium`` or ``large``."""
    figure: str
    """``mean`` or ``p99``, of flow completion times."""
    change: float | None
    """The relative difference; ``None`` if there is nothing to compare."""
    low: float | None
    """The lower end of the 95% interval; ``None`` if there are too few data."""
    high: float | None
    """The upper end of the 95% interval."""
    pairs: int
    """The number of flows compared, over all seeds."""
    seeds: int
    """The number of seeds with flows to compare. With two or more, intervals are over seeds."""
    left_out: int
    """The number of flows that did not finish under both schemes."""

    def __str__(self) -> str:
        at = f" at {_words.point(self.point)}" if self.point else ""
        by = _words.change({"change": self.change, "low": self.low, "high": self.high})
        return f"{self.scheme} against {self.against}, {self.figure} of {self.size_class}{at}: {by}"


class Comparison:
    """The comparison of every other scheme with one, on the same flows: a list of :class:`Change`."""

    def __init__(self, found: list[dict[str, Any]], against: str) -> None:
        self.against = against
        self._changes = [change for one in found for change in _changes(one, against)]

    def __iter__(self) -> Iterator[Change]:
        return iter(self._changes)

    def __len__(self) -> int:
        return len(self._changes)

    def change(
        self,
        scheme: str,
        size_class: ClassName = "all",
        figure: FigureName = "mean",
        at: Mapping[str, Any] | None = None,
    ) -> Change:
        """The change of this scheme, size class and figure. ``at`` names the point of a sweep.

        Raises ``KeyError`` if no change or several changes match.
        """
        wanted = {key: _words.value(value) for key, value in (at or {}).items()}
        found = [
            one
            for one in self._changes
            if (one.scheme, one.size_class, one.figure) == (scheme, size_class, figure)
            and wanted.items() <= one.point.items()
        ]
        if len(found) != 1:
            where = f" at {_words.point(wanted)}" if wanted else ""
            what = f"{figure} of {size_class} under {scheme}{where}"
            raise KeyError(f"{len(found)} changes of {what}; name the point with at={{...}}")
        return found[0]

    @property
    def table(self) -> pa.Table:
        """One row per change, with the varied keys as columns."""
        return pa.Table.from_pylist(
            [
                {**one.point, **{k: v for k, v in asdict(one).items() if k != "point"}}
                for one in self._changes
            ]
        )

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a pandas frame."""
        frame: pandas.DataFrame = self.table.to_pandas()
        return frame

    def __repr__(self) -> str:
        return "\n".join(str(one) for one in self._changes if one.pairs)

    def _repr_html_(self) -> str:
        rows = [
            [
                _words.point(one.point),
                one.scheme,
                one.size_class,
                one.figure,
                _words.change({"change": one.change, "low": one.low, "high": one.high}),
                f"{one.pairs:,}",
            ]
            for one in self._changes
            if one.pairs
        ]
        heads = ["point", "scheme", "flows", "figure", f"against {self.against} [95%]", "pairs"]
        return _html.table(heads, rows, "Changes of flow completion time on the same flows")


def _changes(found: dict[str, Any], against: str) -> Iterator[Change]:
    for size_class, compared in found["fct"].items():
        for figure in ("mean", "p99"):
            yield Change(
                point=found["point"],
                scheme=found["scheme"],
                against=against,
                size_class=size_class,
                figure=figure,
                **compared[figure],
                pairs=compared["pairs"],
                seeds=compared["seeds"],
                left_out=compared["left_out"],
            )


class Diff:
    """The differences between the results of two folders."""

    same: bool
    """Whether flows and samples of ports are identical."""
    keys: dict[str, tuple[str | None, str | None]]
    """The keys whose values differ between the experiments, with both values."""
    changes: Comparison
    """The changes of flow completion times from the first folder to the second."""
    only_before: list[str]
    """Runs that only the first folder has."""
    only_after: list[str]
    """Runs that only the second folder has."""

    def __init__(self, found: dict[str, Any], text: str) -> None:
        self.same = found["same_flows"] and found["same_ports"]
        self.keys = {one["key"]: (one["before"], one["after"]) for one in found["keys"]}
        self.changes = Comparison(found["schemes"], "before")
        self.only_before, self.only_after = found["only_before"], found["only_after"]
        self._text = text

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{_html.escape(self._text)}</pre>"
