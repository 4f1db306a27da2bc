"""Results: the tables and figures of runs.

What lives here: reading folders into Arrow tables, comparing, and tables for notebooks. What may not:
statistics, which the native half computes, and drawing, which is in ``plot``.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from . import _html, _native, _words
from .comparison import Comparison, Diff
from .plot import Plots

if TYPE_CHECKING:
    import pandas
    import polars

TableName = Literal["flows", "ports", "summary", "probe_flows", "probe_ports"]
"""A table of the results."""

CLASSES = {
    "all": "all flows",
    "small": "small, up to 100 KB",
    "medium": "medium, 100 KB to 10 MB",
    "large": "large, over 10 MB",
}
"""The size classes, by name."""


class Results:
    """The results of an experiment, in a folder.

    >>> import flowsched
    >>> results = flowsched.Experiment({
    ...     "topology": {"kind": "star", "hosts": 4},
    ...     "workload": {"sizes": "fixed 20KB", "flows": 50, "load": 0.5},
    ...     "scheme": [{"preset": "dctcp"}, {"preset": "pias"}],
    ... }).run(progress=False)
    >>> results.complete, results.schemes, results.flows.num_rows
    (True, ['dctcp', 'pias'], 100)
    >>> results.compare("dctcp").change("pias").pairs
    50
    """

    folder: Path
    """The results folder."""

    def __init__(self, folder: Path, native: _native.Folder) -> None:
        self.folder, self._native = folder, native
        self._summary: dict[str, Any] = json.loads(native.summary())

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> Results:
        """Opens a folder that ``flowsched run`` or :meth:`Experiment.run` wrote, in this version or an
        older one. Raises :class:`~flowsched.ResultsError` if the folder is not one."""
        return cls(Path(folder), _native.Folder(folder))

    @property
    def name(self) -> str:
        """The experiment's name."""
        return str(self._summary["name"])

    @property
    def complete(self) -> bool:
        """Whether every run is finished."""
        return bool(self._summary["complete"])

    @property
    def experiment(self) -> str:
        """The experiment file with every default filled in."""
        return self._native.experiment

    @property
    def program(self) -> dict[str, str]:
        """The program that wrote the results: ``version``, ``commit`` and ``command``."""
        return dict(self._summary["program"])

    @property
    def warnings(self) -> list[str]:
        """Warnings about figures that are less certain than they look."""
        return list(self._summary["warnings"])

    @property
    def schemes(self) -> list[str]:
        """The schemes' names, in the order of the runs."""
        return list(dict.fromkeys(run["scheme"] for run in self._summary["runs"]))

    @property
    def points(self) -> list[dict[str, str]]:
        """The points of the sweep: the varied keys and their values as strings."""
        texts = dict.fromkeys(json.dumps(run["point"]) for run in self._summary["runs"])
        return [json.loads(text) for text in texts]

    @cached_property
    def flows(self) -> pa.Table:
        """One row per flow of every run, with the columns of ``flows.parquet``."""
        return self._read("flows")

    @cached_property
    def ports(self) -> pa.Table:
        """One row per port and sample, with the columns of ``ports.parquet``."""
        return self._read("ports")

    @cached_property
    def summary(self) -> pa.Table:
        """One row per run, with the figures of ``summary.json`` under dotted names."""
        return summary_table(self._summary["runs"])

    @property
    def has_probe(self) -> bool:
        """Whether the experiment has a ``[probe]``, and the results have its tables."""
        return "probe_ports" in self._summary["tables"]

    @cached_property
    def probe_flows(self) -> pa.Table:
        """The flows' records of a ``[probe]``, with the columns of ``probe_flows.parquet``: window, rate,
        alpha, priority and bytes in flight over time.

        Raises :class:`~flowsched.ResultsError` if the experiment has no probe.
        """
        return self._read("probe_flows")

    @cached_property
    def probe_ports(self) -> pa.Table:
        """The ports' records of a ``[probe]``, with the columns of ``probe_ports.parquet``: queue, rate and
        marks over time.

        Raises :class:`~flowsched.ResultsError` if the experiment has no probe.
        """
        return self._read("probe_ports")

    def _read(self, name: TableName) -> pa.Table:
        # Map the file: pages are then decoded straight into the table's buffers.
        with pq.ParquetFile(self._native.table_file(name), memory_map=True) as file:
            return file.read()

    def _table(self, name: TableName) -> pa.Table:
        found: pa.Table = getattr(self, name)
        return found

    def to_pandas(self, table: TableName = "flows") -> pandas.DataFrame:
        """A table as a pandas frame."""
        frame: pandas.DataFrame = self._table(table).to_pandas()
        return frame

    def to_polars(self, table: TableName = "flows") -> polars.DataFrame:
        """A table as a Polars frame that shares the table's memory."""
        import polars

        frame = polars.from_arrow(self._table(table))
        assert isinstance(frame, polars.DataFrame)
        return frame

    def compare(self, against: str) -> Comparison:
        """Compares every other scheme with this one on the same flows: paired differences with intervals."""
        return compare([(self.folder, None)], against, self.schemes)

    def slowdown_by_size(self) -> pa.Table:
        """Slowdown in bins by size with equally many flows, as in papers."""
        return slowdown_table(json.loads(_native.slowdown_placed([(str(self.folder), None)])))

    @property
    def plot(self) -> Plots:
        """Figures for papers."""
        return Plots(self)

    def table(self, width: int = 100) -> str:
        """The table that ``flowsched run`` prints, ``width`` characters wide."""
        return self._native.table(width)

    def report(self) -> Path:
        """Writes ``report.html`` into the folder and returns its path."""
        return Path(self._native.report())

    def save(self, folder: str | os.PathLike[str]) -> Results:
        """Copies the folder, and opens the copy. The copy outlives a temporary folder."""
        shutil.copytree(self.folder, folder)
        return Results.read(folder)

    def __repr__(self) -> str:
        runs = len(self._summary["runs"])
        end = "" if self.complete else ", incomplete"
        return f"<Results {self.name}: {', '.join(self.schemes)}; {runs} runs{end}>"

    def _repr_html_(self) -> str:
        parts = [] if self.complete else [_html.paragraph("Incomplete: some runs are missing.")]
        for point in self.points:
            parts.append(self._html_of(point))
        parts.extend(_html.paragraph(f"Warning: {text}") for text in self.warnings)
        return f"<h4>{_html.escape(self.name)}</h4>" + "".join(parts)

    def _html_of(self, point: dict[str, str]) -> str:
        heads = ["", "flows", "mean", "change", "p99", "change"]
        rows: list[list[str]] = []
        for of_class, title in CLASSES.items():
            of_schemes = [self._row(point, scheme, of_class) for scheme in self.schemes]
            if any(row for row in of_schemes):
                rows.append([title, "", "", "", "", ""])
                rows.extend(row for row in of_schemes if row)
        return _html.table(heads, rows, _words.point(point))

    def _row(self, point: dict[str, str], scheme: str, of_class: str) -> list[str]:
        runs = [r for r in self._summary["runs"] if (r["point"], r["scheme"]) == (point, scheme)]
        figures = [run["fct_us"][of_class] for run in runs]
        count = sum(figure["count"] for figure in figures)
        if not count:
            return []
        changes = {"mean": "", "p99": ""}
        for one in self._summary["comparisons"]:
            if (one["point"], one["scheme"]) == (point, scheme):
                changes = {name: _words.change(one["fct"][of_class][name]) for name in changes}
        cells = [f"\u2003{scheme}", f"{count:,}"]
        for name, change in changes.items():
            values = [figure[name] for figure in figures if figure[name] is not None]
            mean = _native.mean_over_seeds(values)
            cells += [_words.duration(mean[0] if mean else None), change]
        return cells


def compare(
    placed: Iterable[tuple[Path, Mapping[str, str] | None]], against: str, schemes: Iterable[str]
) -> Comparison:
    """Compares every other scheme of these folders with ``against``.

    Raises ``ValueError`` if there is no such scheme.
    """
    known = list(schemes)
    if against not in known:
        raise ValueError(f"no scheme is called {against!r}; there are {', '.join(known)}")
    folders = [(str(dir), None if at is None else json.dumps(at)) for dir, at in placed]
    return Comparison(json.loads(_native.compare_placed(folders, against)), against)


def diff(
    before: str | os.PathLike[str] | Results, after: str | os.PathLike[str] | Results
) -> Diff:
    """The differences between two results folders: settings, tables, and the completion times of the same
    flows."""
    folders = [one.folder if isinstance(one, Results) else one for one in (before, after)]
    found, text = _native.diff_folders(folders[0], folders[1], 100)
    return Diff(json.loads(found), text)


def slowdown_table(bins: Iterable[Mapping[str, Any]]) -> pa.Table:
    """One row per bin and scheme."""
    rows: list[dict[str, Any]] = []
    for one in bins:
        place = {**one["point"], "from_bytes": one["from_bytes"], "to_bytes": one["to_bytes"]}
        rows.extend({**place, **of_scheme} for of_scheme in one["schemes"])
    return pa.Table.from_pylist(rows)


def summary_table(runs: Iterable[Mapping[str, Any]]) -> pa.Table:
    """One row per run, with figures under dotted names. Varied keys are numbers if all their values are."""
    rows, runs = [], list(runs)
    for run in runs:
        flat: dict[str, Any] = {}
        for name, value in run.items():
            if name == "point":
                flat.update(value)
            else:
                _flatten(name, value, flat)
        rows.append(flat)
    names = list(dict.fromkeys(name for row in rows for name in row))
    keys = {key for run in runs for key in run["point"]}
    columns: dict[str, list[Any]] = {name: [row.get(name) for row in rows] for name in names}
    return pa.table({n: typed(v) if n in keys else v for n, v in columns.items()})


def typed(texts: list[str]) -> list[int] | list[float] | list[str]:
    """Values of a varied key, as numbers if all of them are.

    >>> typed(["2", "8"]), typed(["0.5", "1"]), typed(["10us", "1"])
    ([2, 8], [0.5, 1.0], ['10us', '1'])
    """
    for kind in (int, float):
        try:
            return [kind(text) for text in texts]
        except ValueError:
            continue
    return texts


def _flatten(name: str, value: Any, into: dict[str, Any]) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            _flatten(f"{name}.{key}", inner, into)
    elif isinstance(value, list):
        for inner in value:
            _flatten(f"{name}.{inner['name']}", {k: v for k, v in inner.items() if k != "name"}, into)
    else:
        into[name] = value
