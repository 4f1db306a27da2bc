"""Figures for papers: as wide as a column, safe for colour-blind readers, as PDF or SVG.

What lives here: drawing with matplotlib. What may not: statistics; percentiles, means and intervals come
from the results.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from . import _native, _words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._swept import Sweep
    from .results import Results

COLUMN = (3.33, 2.2)
"""Width and height of a figure in inches: one column of a two-column paper."""

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"]
"""Colours that colour-blind readers can distinguish (Okabe and Ito)."""

_DASHES = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1))]
_MARKERS = ["o", "s", "^", "D", "v", "P", "X"]

_STYLE: dict[Any, Any] = {
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
    "axes.grid": True,
    "grid.linewidth": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "pdf.fonttype": 42,  # Publishers require text as text, not as outlines.
    "svg.fonttype": "none",
    "svg.hashsalt": "flowsched",
}

At = Mapping[str, Any]
"""A point of a sweep: varied keys and their values."""


class Plots:
    """Figures of results. Each method draws on the axes ``ax``, saves to the file ``save`` (.pdf or .svg) if
    given, and returns the axes. ``at`` names the point of a sweep; by default the first point is drawn. The
    title names the point."""

    def __init__(self, results: Results | Sweep) -> None:
        self._results = results

    def fct_cdf(
        self,
        *,
        size_class: str = "all",
        at: At | None = None,
        ax: Axes | None = None,
        save: str | os.PathLike[str] | None = None,
    ) -> Axes:
        """The distribution of flow completion times under each scheme, over all seeds."""
        point = self._point(at)
        flows = self._measured(point)
        if size_class != "all":
            flows = flows.filter(pc.equal(flows["class"], size_class))
        with _drawing(ax, save) as axes:
            for number, scheme in enumerate(self._results.schemes):
                times = _of_scheme(flows, scheme, "fct_us")
                if len(times):
                    shares = np.arange(1, len(times) + 1) / len(times)
                    style = _line(number)
                    axes.step(np.sort(times), shares, where="post", label=scheme, **style)
            axes.set(xscale="log", xlabel="flow completion time (µs)", ylabel="share of flows")
            axes.set_ylim(0, 1)
            _finish(axes, point)
        return axes

    def slowdown_by_size(
        self,
        *,
        figure: str = "p99",
        at: At | None = None,
        ax: Axes | None = None,
        save: str | os.PathLike[str] | None = None,
    ) -> Axes:
        """Slowdown by flow size, in bins with equally many flows: ``mean``, ``p50``, ``p95`` or ``p99``."""
        point = self._point(at)
        bins = [
            row
            for row in self._results.slowdown_by_size().to_pylist()
            if all(row[key] == text for key, text in point.items())
        ]
        with _drawing(ax, save) as axes:
            for number, scheme in enumerate(self._results.schemes):
                rows = [row for row in bins if row["scheme"] == scheme and row[figure] is not None]
                ends, values = [row["to_bytes"] for row in rows], [row[figure] for row in rows]
                axes.plot(ends, values, label=scheme, marker=_marker(number), **_line(number))
            axes.set(xscale="log", xlabel="flow size up to (bytes)", ylabel=f"slowdown, {figure}")
            axes.set_ylim(bottom=1)
            _finish(axes, point)
        return axes

    def load_sweep(
        self,
        *,
        figure: str = "fct_us.all.mean",
        key: str | None = None,
        ax: Axes | None = None,
        save: str | os.PathLike[str] | None = None,
    ) -> Axes:
        """A figure of the summary by a varied key, by default the load: means over seeds with 95%
        intervals."""
        summary = self._results.summary
        key = key or self._varied_number(summary)
        if figure not in summary.column_names:
            raise KeyError(f"the summary has no figure {figure!r}; results.summary.column_names has all")
        with _drawing(ax, save) as axes:
            for number, scheme in enumerate(self._results.schemes):
                xs, means, below, above = [], [], [], []
                for x, values in _by_key(summary, scheme, key, figure):
                    found = _native.mean_over_seeds(values)
                    if found is None:
                        continue
                    mean, interval = found
                    low, high = interval or (mean, mean)
                    xs.append(x)
                    means.append(mean)
                    below.append(mean - low)
                    above.append(high - mean)
                style = {**_line(number), "marker": _marker(number), "capsize": 2}
                axes.errorbar(xs, means, yerr=[below, above], label=scheme, **style)
            axes.set(xlabel=key, ylabel=figure)
            axes.set_ylim(bottom=0)
            _finish(axes, {})
        return axes

    def queue(
        self,
        *,
        port: tuple[str, str] | None = None,
        seed: int | None = None,
        at: At | None = None,
        ax: Axes | None = None,
        save: str | os.PathLike[str] | None = None,
    ) -> Axes:
        """The queue of a port over time, under each scheme with one seed.

        ``port`` is the port's owner and peer; by default the switch port with the longest mean queue is
        drawn, among the ports of a ``[probe]`` if there is one. ``seed`` is the first seed by default. The
        queue comes from the probe if it recorded the port, and from samples otherwise.
        """
        point = self._point(at)
        samples = _at(self._samples(port), point)
        seed = samples["seed"][0].as_py() if seed is None else seed
        samples = samples.filter(pc.equal(samples["seed"], seed))
        owner, peer = port or _fullest(samples)
        is_port = pc.and_(pc.equal(samples["owner"], owner), pc.equal(samples["peer"], peer))
        samples = samples.filter(is_port)
        if not samples.num_rows:
            raise KeyError(f"no port leads from {owner!r} to {peer!r}; results.ports names all")
        with _drawing(ax, save) as axes:
            for number, scheme in enumerate(self._results.schemes):
                times = _of_scheme(samples, scheme, "time_ps") / 1e9
                waiting = _of_scheme(samples, scheme, "queue_bytes") / 1e3
                axes.step(times, waiting, where="post", label=scheme, **_line(number))
            axes.set(xlabel="time (ms)", ylabel="queue (KB)", title=f"{owner} to {peer}")
            axes.set_ylim(bottom=0)
            _finish(axes, point)
        return axes

    def _point(self, at: At | None) -> dict[str, str]:
        wanted = {key: _words.value(value) for key, value in (at or {}).items()}
        for point in self._results.points:
            if wanted.items() <= point.items():
                return point
        points = "; ".join(_words.point(point) for point in self._results.points)
        raise KeyError(f"no point is at {_words.point(wanted)}; there are {points}")

    def _samples(self, port: tuple[str, str] | None) -> pa.Table:
        """Rows of ports over time: from a probe if it recorded the port, from samples otherwise."""
        if self._results.has_probe:
            probed = self._results.probe_ports
            owners, peers = (probed.group_by(["owner", "peer"]).aggregate([])[end] for end in (0, 1))
            ends = list(zip(owners.to_pylist(), peers.to_pylist(), strict=True))
            if ends and (port is None or port in ends):
                return probed
        return self._results.ports

    def _measured(self, point: Mapping[str, str]) -> pa.Table:
        flows = _at(self._results.flows, point)
        return flows.filter(pc.and_(flows["measured"], flows["finished"]))

    def _varied_number(self, summary: pa.Table) -> str:
        keys = [key for key in self._results.points[0] if not pa.types.is_string(summary[key].type)]
        if not keys:
            raise ValueError("no key with numbers is varied: use Experiment.vary, or name a key")
        return "workload.load" if "workload.load" in keys else keys[0]


def _at(table: pa.Table, point: Mapping[str, str]) -> pa.Table:
    for key, text in point.items():
        column = table[key]
        table = table.filter(pc.equal(column, pa.scalar(text).cast(column.type)))
    return table


def _of_scheme(table: pa.Table, scheme: str, column: str) -> np.ndarray[Any, Any]:
    found: np.ndarray[Any, Any] = table.filter(pc.equal(table["scheme"], scheme))[column].to_numpy()
    return found


def _by_key(
    summary: pa.Table, scheme: str, key: str, figure: str
) -> Iterator[tuple[float, list[float]]]:
    of_scheme = summary.filter(pc.equal(summary["scheme"], scheme))
    for x in sorted(set(of_scheme[key].to_pylist())):
        values = of_scheme.filter(pc.equal(of_scheme[key], x))[figure].to_pylist()
        yield x, [value for value in values if value is not None]


def _fullest(samples: pa.Table) -> tuple[str, str]:
    if "class" in samples.column_names:  # A probe's table has no classes.
        samples = samples.filter(pc.invert(pc.starts_with(samples["class"], "host to ")))
    ports = samples.group_by(["owner", "peer"]).aggregate([("queue_bytes", "mean")])
    rows: Sequence[dict[str, Any]] = ports.to_pylist()
    fullest = max(rows, key=lambda row: row["queue_bytes_mean"])
    return fullest["owner"], fullest["peer"]


def _line(number: int) -> dict[str, Any]:
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": _DASHES[number // len(COLOURS) % len(_DASHES)]
        if number >= len(COLOURS)
        else _DASHES[number % len(_DASHES)],
    }


def _marker(number: int) -> str:
    return _MARKERS[number % len(_MARKERS)]


@contextmanager
def _drawing(ax: Axes | None, save: str | os.PathLike[str] | None) -> Iterator[Axes]:
    import matplotlib.pyplot as plt

    with plt.rc_context(_STYLE):
        axes = ax or plt.subplots(figsize=COLUMN, layout="constrained")[1]
        yield axes
        if save is not None:
            metadata = {"Date": None} if str(save).endswith(".svg") else {"CreationDate": None}
            axes.get_figure(root=True).savefig(save, metadata=metadata)  # type: ignore[union-attr]


def _finish(axes: Axes, point: Mapping[str, str]) -> None:
    if point:
        above = axes.get_title()
        axes.set_title(f"{above}\n{_words.point(point)}" if above else _words.point(point))
    axes.legend(frameon=False, handlelength=2.5)
