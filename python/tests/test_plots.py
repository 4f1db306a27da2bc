"""Figures: what is drawn, on which axes, and files for papers."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

import flowsched
from flowsched.plot import COLOURS, COLUMN


@pytest.fixture(autouse=True)
def _close() -> object:
    yield
    plt.close("all")


def test_a_cdf_reaches_one_at_the_longest_time(results: flowsched.Results) -> None:
    axes = results.plot.fct_cdf()
    line = axes.get_lines()[1]
    assert line.get_label() == "pias"
    assert line.get_ydata()[-1] == 1.0
    longest = results.to_pandas().query("scheme == 'pias'")["fct_us"].max()
    assert np.max(line.get_xdata()) == longest
    assert tuple(axes.figure.get_size_inches()) == COLUMN


@pytest.mark.parametrize("name", ["fct_cdf", "slowdown_by_size", "load_sweep", "queue"])
@pytest.mark.parametrize("ending", ["pdf", "svg"])
def test_every_figure_takes_axes_and_is_saved(
    swept: flowsched.Results, tmp_path: Path, name: str, ending: str
) -> None:
    _, own = plt.subplots()
    file = tmp_path / f"figure.{ending}"
    axes = getattr(swept.plot, name)(ax=own, save=file)
    assert axes is own
    assert len(axes.get_lines()) >= 2
    start = file.read_bytes()[:200]
    assert start.startswith(b"%PDF") if ending == "pdf" else b"<svg" in file.read_bytes()


def test_schemes_differ_in_colour_and_in_line(results: flowsched.Results) -> None:
    lines = results.plot.fct_cdf().get_lines()
    assert [line.get_color() for line in lines] == COLOURS[:2]
    assert lines[0].get_linestyle() != lines[1].get_linestyle()


def test_a_load_sweep_has_means_over_seeds(swept: flowsched.Results) -> None:
    axes = swept.plot.load_sweep(figure="fct_us.small.mean")
    summary = swept.to_pandas("summary").query("scheme == 'dctcp'")
    means = summary.groupby("workload.load")["fct_us.small.mean"].mean()
    line = axes.containers[0].lines[0]
    np.testing.assert_allclose(np.array(line.get_ydata(), dtype=float), means.to_numpy(dtype=float))
    assert list(line.get_xdata()) == [0.3, 0.6]
    with pytest.raises(KeyError, match="column_names"):
        swept.plot.load_sweep(figure="nothing")


def test_the_fullest_port_or_a_named_one_is_drawn(results: flowsched.Results) -> None:
    axes = results.plot.queue()
    assert " to host " in axes.get_title()
    named = results.plot.queue(port=("switch 0", "host 3"))
    assert named.get_title() == "switch 0 to host 3"
    with pytest.raises(KeyError, match="no port"):
        results.plot.queue(port=("switch 0", "host 99"))


def test_a_point_is_named_in_the_title(swept: flowsched.Results) -> None:
    assert swept.plot.fct_cdf(at={"workload.load": 0.6}).get_title() == "workload.load = 0.6"
    with pytest.raises(KeyError, match=r"there are workload.load = 0.3; workload.load = 0.6"):
        swept.plot.fct_cdf(at={"workload.load": 0.9})
