"""Results: tables without copies, comparisons, differences, and folders of older versions."""

from __future__ import annotations

import json
import math
import shutil
import zlib
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from conftest import SMALL, run

import flowsched

LATER_COLUMNS = """part gave_up src_name dst_name packets_arrived packets_marked packets_marked_again
packets_reordered packets_lost acks duplicate_acks third_duplicate_acks""".split()
"""Columns of flows.parquet that the first versions did not write."""

FIRST_KEYS = """point scheme seed complete flows finished unmeasured packet_hops events cpu_s wall_s
peak_rss_bytes drops ecn_marks timeouts retransmissions fct_us slowdown""".split()
"""Keys of a run in summary.json that the first versions wrote."""


def test_tables_have_the_columns_of_the_files(results: flowsched.Results) -> None:
    assert results.flows.schema.names == pq.read_schema(results.folder / "flows.parquet").names
    assert results.flows.num_rows == 240
    assert results.ports.schema.names == pq.read_schema(results.folder / "ports.parquet").names
    assert results.flows is results.flows


def test_frames_share_the_memory_of_the_tables(results: flowsched.Results) -> None:
    sizes = results.flows["size_bytes"].chunk(0)
    assert sizes.to_numpy(zero_copy_only=True).ctypes.data == sizes.buffers()[1].address
    frame = results.to_polars()
    assert frame.height == 240
    shared = frame["size_bytes"].to_arrow()
    assert shared.buffers()[1].address == sizes.buffers()[1].address
    assert list(results.to_pandas("summary")["scheme"]) == ["dctcp", "pias"] * 2


def test_the_summary_has_the_figures_under_dotted_names(results: flowsched.Results) -> None:
    said = json.loads((results.folder / "summary.json").read_text())
    row = results.summary.to_pylist()[1]
    assert row["fct_us.small.p99"] == said["runs"][1]["fct_us"]["small"]["p99"]
    assert (row["scheme"], row["seed"], row["finished"]) == ("pias", 1, 60)


def test_varied_keys_are_numbers(swept: flowsched.Results) -> None:
    assert swept.summary["workload.load"].to_pylist() == [0.3] * 4 + [0.6] * 4
    assert swept.points == [{"workload.load": "0.3"}, {"workload.load": "0.6"}]


def test_comparisons_are_those_of_the_summary_or_against_any_scheme(
    swept: flowsched.Results,
) -> None:
    said = json.loads((swept.folder / "summary.json").read_text())["comparisons"]
    found = swept.compare("dctcp").change("pias", "small", "p99", at={"workload.load": 0.6})
    assert (found.change, found.low, found.high) == tuple(said[1]["fct"]["small"]["p99"].values())
    back = swept.compare("pias").change("dctcp", at={"workload.load": 0.6})
    there = swept.compare("dctcp").change("pias", at={"workload.load": 0.6})
    assert back.change is not None and there.change is not None
    assert math.isclose((1 + back.change) * (1 + there.change), 1, rel_tol=1e-9)
    assert len(swept.compare("dctcp").table) == 16
    with pytest.raises(KeyError, match="name the point"):
        swept.compare("dctcp").change("pias")
    with pytest.raises(ValueError, match="there are dctcp, pias"):
        swept.compare("tcp")


def test_the_notebook_shows_a_table(swept: flowsched.Results) -> None:
    html = swept._repr_html_()
    assert html.count("<table") == 2
    assert "workload.load = 0.6" in html and "pias" in html and "%" in html
    assert "<table" in swept.compare("dctcp")._repr_html_()


def test_slowdown_by_size_has_bins_of_equally_many_flows(results: flowsched.Results) -> None:
    bins = results.slowdown_by_size()
    of_pias = bins.filter(pc.equal(bins["scheme"], "pias"))
    assert sum(of_pias["flows"].to_pylist()) == 120
    assert max(of_pias["flows"].to_pylist()) <= 14
    whole = results.flows.filter(pc.equal(results.flows["scheme"], "pias"))
    assert math.isclose(
        sum(r["mean"] * r["flows"] for r in of_pias.to_pylist()) / 120,
        pc.mean(whole["slowdown"]).as_py(),
        rel_tol=1e-9,
    )


def test_a_folder_is_the_same_as_itself_and_differs_by_keys_and_flows(
    results: flowsched.Results, command_line: Path
) -> None:
    assert flowsched.diff(results, results.folder).same
    other = flowsched.Experiment(SMALL).set("scheme.pias.queues", 2).run(progress=False)
    diff = flowsched.diff(results, other)
    assert not diff.same
    assert diff.keys["scheme.pias.queues"] == ("4", "2")
    assert diff.changes.change("dctcp").change == 0.0
    assert diff.changes.change("pias").change != 0.0
    said = run(command_line, "diff", results.folder, other.folder)
    assert "scheme.pias.queues: 4 -> 2" in said and "pias" in said
    # The same scheme in one folder, or in another: the same change by the same rule.
    third = flowsched.Experiment(SMALL)
    both = third.set("scheme.0.preset", "pias").set("scheme.0.name", "two").set("scheme.0.queues", 2)
    paired = both.run(progress=False).compare("pias").change("two")
    assert paired.change == diff.changes.change("pias").change


def test_runs_of_other_flows_are_not_paired(results: flowsched.Results) -> None:
    other = flowsched.Experiment(SMALL).set("workload.load", 0.5).run(progress=False)
    diff = flowsched.diff(results, other)
    assert all(change.pairs == 0 for change in diff.changes)
    assert "their flows are others" in str(diff)


def in_the_first_form(results: flowsched.Results, folder: Path) -> Path:
    """A copy of a folder without all that the first versions did not write."""
    copy = results.save(folder).folder
    table = pq.read_table(copy / "flows.parquet").drop_columns(LATER_COLUMNS)
    with pq.ParquetWriter(copy / "flows.parquet", table.schema) as writer:
        for run in json.loads((copy / "summary.json").read_text())["runs"]:
            is_of_run = pc.and_(pc.equal(table["scheme"], run["scheme"]), pc.equal(table["seed"], run["seed"]))
            writer.write_table(table.filter(is_of_run))
    said = json.loads((copy / "summary.json").read_text())
    kept = {key: said[key] for key in ("name", "complete", "runs", "comparisons", "tables")}
    kept["runs"] = [{key: run[key] for key in FIRST_KEYS} for run in said["runs"]]
    for run in kept["runs"]:
        for figures in (run["fct_us"], run["slowdown"]):
            for distribution in figures.values():
                del distribution["p999"]
    for compared in kept["comparisons"]:
        for of_class in compared["fct"].values():
            del of_class["samples"], of_class["one_by_one"]
    written = (copy / "flows.parquet").read_bytes()
    kept["tables"]["flows"] = {"bytes": len(written), "crc32": zlib.crc32(written)}
    (copy / "summary.json").write_text(json.dumps(kept))
    return copy


def test_folders_of_older_versions_are_read(
    results: flowsched.Results, tmp_path: Path, command_line: Path
) -> None:
    old = flowsched.Results.read(in_the_first_form(results, tmp_path / "old"))
    assert old.complete and old.flows.num_rows == 240 and "part" not in old.flows.schema.names
    assert old.summary["fct_us.all.mean"].equals(results.summary["fct_us.all.mean"])
    assert "<table" in old._repr_html_() and old.program["version"] == ""
    assert old.compare("dctcp").table.equals(results.compare("dctcp").table)
    assert old.slowdown_by_size().equals(results.slowdown_by_size())
    changes = flowsched.diff(old, results).changes
    assert changes.change("pias").pairs == 120 and changes.change("pias").change == 0.0
    assert "0.0%" in run(command_line, "diff", old.folder, results.folder)
    assert run(command_line, "report", old.folder)


def test_a_damaged_table_is_refused(results: flowsched.Results, tmp_path: Path) -> None:
    copy = results.save(tmp_path / "copy")
    with (copy.folder / "flows.parquet").open("r+b") as file:
        file.seek(100)
        file.write(b"x")
    with pytest.raises(flowsched.ResultsError, match="damaged"):
        flowsched.Results.read(copy.folder).flows  # noqa: B018
    shutil.rmtree(copy.folder)
    with pytest.raises(flowsched.ResultsError, match="does not exist"):
        flowsched.Results.read(copy.folder)


def test_tables_are_arrow_tables(results: flowsched.Results) -> None:
    for table in (results.flows, results.ports, results.summary):
        assert isinstance(table, pa.Table)
