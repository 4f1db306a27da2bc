"""The results of a sweep: the tables of all its runs, with the varied keys as columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from . import _html, _native, _words
from ._dataset import Dataset, TableName
from .comparison import Comparison
from .errors import ResultsError
from .plot import Plots
from .results import Results, compare, slowdown_table, summary_table

if TYPE_CHECKING:
    import pandas

    from . import results


@dataclass(frozen=True)
class SweptRun:
    """One run of a sweep."""

    point: dict[str, str]
    """The varied keys and their values."""
    scheme: str
    """The scheme."""
    seed: int
    """The seed."""
    folder: Path
    """The results folder."""

    def __str__(self) -> str:
        at = f" at {_words.point(self.point)}" if self.point else ""
        return f"{self.scheme} with seed {self.seed}{at}"

    def summary(self) -> dict[str, Any]:
        """The run's figures, in the form of ``summary.json``, with its point of the sweep."""
        found = json.loads((self.folder / "summary.json").read_text(encoding="utf-8"))
        return {**found["runs"][0], "point": self.point}

    def results(self) -> Results:
        """The results of the run."""
        return Results.read(self.folder)


class Sweep:
    """The results of a sweep.

    ``runs`` are the runs that succeeded; ``failed`` gives the reason for each run that failed.
    """

    runs: list[SweptRun]
    """Every run, by point, seed and scheme."""
    failed: dict[str, str]
    """The reason for each failed run, by a description of the run."""
    store: Path
    """The store with the runs."""

    def __init__(
        self,
        name: str,
        store: Path,
        dataset: Dataset,
        runs: list[SweptRun],
        failed: Mapping[str, str],
    ) -> None:
        self.name, self.store, self._dataset = name, store, dataset
        self.failed = dict(failed)
        self.runs = [run for run in runs if str(run) not in self.failed]

    @property
    def dataset(self) -> Path:
        """The folder of the partitioned dataset: ``flows`` and ``ports``, with one level of folders per key."""
        return self._dataset.root

    @property
    def complete(self) -> bool:
        """Whether no run failed."""
        return not self.failed

    @property
    def schemes(self) -> list[str]:
        """The schemes' names."""
        return list(dict.fromkeys(run.scheme for run in self.runs))

    @property
    def points(self) -> list[dict[str, str]]:
        """The points: the varied keys and their values as strings."""
        return [json.loads(text) for text in dict.fromkeys(json.dumps(r.point) for r in self.runs)]

    @cached_property
    def flows(self) -> pa.Table:
        """One row per flow of every run, with the varied keys as the first columns."""
        return self._read("flows")

    @cached_property
    def ports(self) -> pa.Table:
        """One row per port and sample, with the varied keys as the first columns."""
        return self._read("ports")

    @property
    def has_probe(self) -> bool:
        """Whether the experiment has a ``[probe]``."""
        return bool(self.runs) and self.runs[0].results().has_probe

    @cached_property
    def probe_flows(self) -> pa.Table:
        """The flows' records of a ``[probe]``, as in :class:`Results`, with the varied keys."""
        return self._probed("probe_flows")

    @cached_property
    def probe_ports(self) -> pa.Table:
        """The ports' records of a ``[probe]``, as in :class:`Results`, with the varied keys."""
        return self._probed("probe_ports")

    def _probed(self, table: TableName) -> pa.Table:
        if not self.has_probe:
            raise ResultsError(f"{self.name} has no [probe], so that nothing was recorded over time")
        return self._read(table)

    def _read(self, table: TableName) -> pa.Table:
        return self._dataset.read(table, [(run.point, run.folder) for run in self.runs])

    @cached_property
    def summary(self) -> pa.Table:
        """One row per run, with its figures under dotted names."""
        return summary_table(run.summary() for run in self.runs)

    def to_pandas(self, table: results.TableName = "flows") -> pandas.DataFrame:
        """A table as a pandas frame: ``flows``, ``ports``, ``summary``, ``probe_flows`` or ``probe_ports``."""
        found: pa.Table = getattr(self, table)
        frame: pandas.DataFrame = found.to_pandas()
        return frame

    def compare(self, against: str) -> Comparison:
        """Compares every other scheme with this one at every point: paired differences with intervals."""
        return compare([(run.folder, run.point) for run in self.runs], against, self.schemes)

    def slowdown_by_size(self) -> pa.Table:
        """Slowdown at every point, in bins by size with equally many flows."""
        placed = [(str(run.folder), json.dumps(run.point)) for run in self.runs]
        return slowdown_table(json.loads(_native.slowdown_placed(list(placed))))

    @property
    def plot(self) -> Plots:
        """Figures for papers."""
        return Plots(self)

    def __repr__(self) -> str:
        failed = f", {len(self.failed)} failed" if self.failed else ""
        points, runs = len(self.points), len(self.runs)
        return f"<Sweep {self.name}: {', '.join(self.schemes)}; {points} points, {runs} runs{failed}>"

    def _repr_html_(self) -> str:
        rows = []
        for point in self.points:
            for scheme in self.schemes:
                runs = [r for r in self.runs if (r.point, r.scheme) == (point, scheme)]
                means = [run.summary()["fct_us"]["all"]["mean"] for run in runs]
                found = _native.mean_over_seeds([mean for mean in means if mean is not None])
                mean = _words.duration(found[0] if found else None)
                rows.append([_words.point(point), scheme, str(len(runs)), mean])
        failed = [f"Failed: {run}: {why}" for run, why in self.failed.items()]
        table = _html.table(["point", "scheme", "seeds", "mean FCT"], rows, self.name)
        return table + "".join(_html.paragraph(text) for text in failed)
