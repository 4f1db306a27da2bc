"""What a probe records over time."""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from conftest import SMALL, run

import flowsched

PROBE = {"ports": "switch 0 to host 1; switch 0 to host 2", "flows": "0 1 2 3"}


@pytest.fixture(scope="module")
def probed() -> flowsched.Results:
    return flowsched.Experiment({**SMALL, "probe": PROBE}).run(progress=False)


def test_a_probe_records_its_ports_and_flows_and_changes_nothing(
    results: flowsched.Results, probed: flowsched.Results
) -> None:
    assert probed.flows.equals(results.flows) and probed.ports.equals(results.ports)
    ports, flows = probed.probe_ports, probed.probe_flows
    assert probed.has_probe and not results.has_probe
    assert set(ports["peer"].to_pylist()) == {"host 1", "host 2"}
    assert set(flows["flow"].to_pylist()) == {0, 1, 2, 3}
    assert set(flows["scheme"].to_pylist()) == {"dctcp", "pias"}
    assert pc.max(ports["queue_bytes"]).as_py() > 0
    assert pc.all(pc.greater(flows["window_bytes"], 0)).as_py()
    assert set(flows["priority"].drop_null().to_pylist()) > {0}
    assert probed.to_pandas("probe_ports").equals(ports.to_pandas())
    page = probed.report().read_text()
    assert "Over time" in page and "Queue, switch 0 to host 1" in page and "Window, flow 3" in page
    with pytest.raises(flowsched.ResultsError, match="no .probe"):
        results.probe_flows  # noqa: B018


def test_the_queue_is_drawn_from_the_probe(probed: flowsched.Results) -> None:
    axes = probed.plot.queue(port=("switch 0", "host 2"))
    assert len(axes.get_lines()) == 2
    rows = probed.to_pandas("probe_ports").query("peer == 'host 2' and scheme == 'pias' and seed == 1")
    assert list(axes.get_lines()[1].get_ydata()) == list(rows["queue_bytes"] / 1e3)
    assert probed.plot.queue().get_title() in {"switch 0 to host 1", "switch 0 to host 2"}
    # What the probe did not record comes from samples.
    sampled = probed.to_pandas("ports").query("peer == 'host 3' and scheme == 'pias' and seed == 1")
    line = probed.plot.queue(port=("switch 0", "host 3")).get_lines()[1]
    assert len(line.get_xdata()) == len(sampled)


def test_an_interval_gives_rows_at_its_times() -> None:
    probe = {**PROBE, "interval": "20us"}
    probed = flowsched.Experiment({**SMALL, "probe": probe}).run(progress=False)
    times = probed.probe_ports["time_ps"].to_pylist()
    assert all(time % 20_000_000 == 0 for time in times)
    rates = [rate for rate in probed.probe_ports["rate_bps"].to_pylist() if rate is not None]
    assert 9.9e9 < max(rates) <= 10.0001e9
    # A TCP sets no rate: what it sent is measured.
    assert max(probed.probe_flows["rate_bps"].drop_null().to_pylist()) > 1e9


def test_the_command_line_records_the_same_bytes(
    probed: flowsched.Results, command_line: Path, tmp_path: Path
) -> None:
    file = tmp_path / "probed.toml"
    file.write_text(probed.experiment)
    for threads in ("1", "2"):
        out = tmp_path / threads
        run(command_line, "run", file, "--threads", threads, "--out", out)
        for table in ("probe_ports.parquet", "probe_flows.parquet"):
            assert (out / table).read_bytes() == (probed.folder / table).read_bytes()


def test_a_sweep_has_what_was_recorded_at_every_point(tmp_path: Path) -> None:
    experiment = flowsched.Experiment({**SMALL, "probe": PROBE})
    vary = {"workload.load": [0.3, 0.6]}
    swept = flowsched.sweep(experiment, vary, seeds=[1, 2], out=tmp_path, progress=False)
    assert swept.has_probe
    whole = experiment.copy().vary("workload.load", [0.3, 0.6]).run(progress=False)
    for table in ("probe_ports", "probe_flows"):
        keys = ["workload.load", "scheme", "seed", "time_ps"]
        found = getattr(swept, table)
        assert found.schema.names[0] == "workload.load"
        order = [(key, "ascending") for key in keys]
        assert found.num_rows > 1_000
        assert found.sort_by(order)["time_ps"].equals(getattr(whole, table).sort_by(order)["time_ps"])
    assert swept.plot.queue(at={"workload.load": 0.6}).get_title().endswith("workload.load = 0.6")
    assert pq.read_table(swept.dataset / "probe_flows").num_rows == swept.probe_flows.num_rows
    without = flowsched.sweep(
        flowsched.Experiment(SMALL), {}, seeds=[1], out=tmp_path / "without", progress=False
    )
    with pytest.raises(flowsched.ResultsError, match="no .probe"):
        without.probe_ports  # noqa: B018


@pytest.mark.parametrize(
    ("probe", "key", "said"),
    [
        ({"ports": "switch 0 to host 77"}, "probe.ports", "host 77"),
        ({"flows": "0 99"}, "probe.flows", "from 0 to 59"),
        ({"flows": "0", "interval": "0us"}, "probe.interval", "over 0"),
        ({"flows": "1 1"}, "probe.flows", "twice"),
        ({"flows": " ".join(str(flow) for flow in range(1001))}, "probe.flows", "at most 1000"),
        ({"interval": "1us"}, "probe", "neither"),
    ],
)
def test_what_a_probe_cannot_name_is_refused(probe: dict[str, str], key: str, said: str) -> None:
    with pytest.raises(flowsched.ExperimentError, match=said) as raised:
        flowsched.Experiment({**SMALL, "probe": probe}).check()
    assert raised.value.key == key


def test_a_flow_of_fluid_has_no_probe() -> None:
    with pytest.raises(flowsched.ExperimentError, match="needs `engine"):
        flowsched.Experiment({**SMALL, "engine": "fluid", "probe": PROBE}).check()
