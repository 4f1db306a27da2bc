"""A thousand runs leave nothing behind: no memory, no open files, no folders."""

from __future__ import annotations

import gc
import os
import tempfile
from pathlib import Path

import flowsched

RUNS = 1000
WARM_UP = 200
MOST_GROWTH = 8_000_000
"""Bytes that memory may grow after the warm-up: allocators never are quite still. One table of flows
kept for each run would be several times as much."""

TINY = {
    "topology": {"kind": "star", "hosts": 3},
    "workload": {"sizes": "fixed 3KB", "flows": 40, "load": 0.5},
    "scheme": [{"preset": "dctcp"}],
}


def resident() -> int:
    """Bytes of memory that the process has."""
    gc.collect()
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("the system does not say")


def test_a_thousand_runs_leave_nothing(tmp_path: Path, monkeypatch: object) -> None:
    tempfile.tempdir = str(tmp_path)
    try:
        before = files = 0
        for number in range(RUNS):
            results = flowsched.Experiment(TINY).set("seed", number + 1).run(threads=1, progress=False)
            assert results.flows.num_rows == 40 and results.summary.num_rows == 1
            results.compare("dctcp")
            if number == WARM_UP:
                before, files = resident(), len(os.listdir("/proc/self/fd"))
        del results
        growth = resident() - before
        assert growth < MOST_GROWTH, f"{growth / (RUNS - WARM_UP):.0f} bytes a run"
        assert len(os.listdir("/proc/self/fd")) <= files
        assert os.listdir(tmp_path) == []
    finally:
        tempfile.tempdir = None
