"""Workloads, networks, thresholds, schemes and claims."""

from __future__ import annotations

import os
from pathlib import Path

import networkx
import numpy as np
import pytest
from conftest import run

import flowsched

ROOT = Path(os.environ["FLOWSCHED_REPOSITORY"])


def test_a_workload_is_the_one_that_runs_draw() -> None:
    sizes = flowsched.workload("web-search-packets")
    drawn = sizes.sample(20_000, seed=3)
    assert drawn.dtype == np.int64 and len(drawn) == 20_000
    assert abs(drawn.mean() / sizes.mean() - 1) < 0.1
    smooth = flowsched.workload("web-search-bytes")
    for share in (0.1, 0.5, 0.9):
        below = smooth.sample(20_000) <= smooth.quantile(share)
        assert abs(np.mean(below) - share) < 0.02
    flows = flowsched.Experiment(
        {
            "seed": 3,
            "topology": {"kind": "star", "hosts": 4},
            "workload": {"sizes": "web-search-packets", "flows": 40, "load": 0.5},
            "scheme": [{"preset": "dctcp"}],
        }
    ).run(progress=False)
    assert flows.flows["size_bytes"].to_pylist() == list(drawn[:40])


def test_a_cdf_can_be_drawn_and_called(tmp_path: Path) -> None:
    file = tmp_path / "my.cdf"
    file.write_text("1000 0\n2000 0.5\n10000 1\n")
    cdf = flowsched.workload(str(file)).cdf
    assert cdf(2000) == 0.5
    assert list(cdf(np.array([1000.0, 6000.0]))) == [0.0, 0.75]
    assert np.all(np.diff(cdf.sizes) > 0) and np.all(np.diff(cdf.shares) >= 0)
    with pytest.raises(flowsched.ExperimentError, match="did you mean"):
        flowsched.workload("web-serch-bytes")


@pytest.mark.parametrize("kind", ["leaf-spine", "fat-tree", "star", "dumbbell", "single-rooted"])
def test_a_network_survives_the_way_through_networkx(kind: str) -> None:
    known = {one["name"] for one in __import__("json").loads(flowsched._native.topologies())}
    if kind not in known:
        pytest.skip(f"{kind} goes by another name")
    network = flowsched.topology(kind)
    graph = network.to_networkx()
    again = flowsched.topology(graph)
    assert [name.replace("-", " ") for name in again.hosts] == network.hosts
    named = networkx.relabel_nodes(graph, lambda name: "-".join(name.split()))
    assert set(again.to_networkx().edges) == set(named.edges)
    for ends, values in named.edges.items():
        assert again.to_networkx().edges[ends] == values


def test_a_graph_of_networkx_is_a_network_to_run() -> None:
    graph = networkx.Graph()
    graph.add_edge("a", "s1", rate="10Gbps", delay="1us")
    graph.add_edge("b", "s1", rate="10Gbps", delay="1us")
    graph.add_edge("c", "s2", rate_bps=1_000_000_000, delay_ps=2_000_000)
    graph.add_edge("s1", "s2", rate="40Gbps")
    network = flowsched.topology(graph)
    assert (network.hosts, network.switches) == (["a", "b", "c"], ["s1", "s2"])
    results = flowsched.Experiment(
        {
            "topology": network.table,
            "workload": {"sizes": "fixed 20KB", "flows": 20, "load": 0.3},
            "scheme": [{"preset": "dctcp"}],
        }
    ).run(progress=False)
    assert set(results.flows["src_name"].to_pylist()) <= {"a", "b", "c"}
    graph.add_edge("a", "s2")
    networkx.set_node_attributes(graph, {"a": "host", "b": "host", "c": "host"}, "tier")
    with pytest.raises(flowsched.ExperimentError, match="one link for every host"):
        flowsched.topology(graph)


def test_thresholds_are_those_of_the_command_line(command_line: Path) -> None:
    import json

    words = "thresholds --workload web-search-bytes --load 0.8 --queues 4 --compare --format json"
    said = json.loads(run(command_line, *words.split()))
    found = flowsched.thresholds("web-search-bytes", 0.8, queues=4, compare=True)
    assert found["optimal"]["thresholds_bytes"] == said["thresholds_bytes"]
    assert found["others"] == said["others"]
    robust = flowsched.thresholds("web-search-bytes", [0.5, 0.8], queues=3)
    assert robust["worst"] < 0.1 and len(robust["thresholds_bytes"]) == 2
    with pytest.raises(flowsched.ExperimentError):
        flowsched.thresholds("web-search-bytes", 1.5)
    with pytest.raises(flowsched.ExperimentError, match="model"):
        flowsched.thresholds("web-search-bytes", 0.5, model="mm2")
    with pytest.raises(ValueError, match="give 'worst' or 'mean'"):
        flowsched.thresholds("web-search-bytes", [0.5, 0.8], regret="men")  # type: ignore[arg-type]


def test_schemes_name_their_parts() -> None:
    pias = next(one for one in flowsched.schemes() if one.name == "pias")
    assert pias.parts["tagger"] == "mlfq" and "PIAS" in pias.source


def test_a_claim_is_measured_as_on_the_command_line(tmp_path: Path, command_line: Path) -> None:
    store = tmp_path / "store"
    claims = flowsched.reproduce("pdq.convergence", repository=ROOT, out=store, progress=False)
    said = run(command_line, "reproduce", "pdq.convergence", "--out", store, cwd=ROOT)
    assert len(claims) > 0 and all(claims.verdicts.values())
    for row in claims:
        assert row["id"] in said
    # The command line finds what the package has run: the store and its key are the same.
    assert len(list(store.iterdir())) == 1
    with pytest.raises(flowsched.ExperimentError, match="names no claim"):
        flowsched.reproduce("pdq.nothing", repository=ROOT, out=store)
    with pytest.raises(flowsched.FlowschedError, match="root of flowsched's repository"):
        flowsched.reproduce("pdq.scale", repository=tmp_path, out=store)
    with pytest.raises(ValueError, match="give 'quick' or 'paper'"):
        flowsched.reproduce("pdq.scale", scale="papers", repository=ROOT, out=store)  # type: ignore[arg-type]
