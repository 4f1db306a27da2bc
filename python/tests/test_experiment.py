"""Experiments: settings, mistakes, running, and the same bytes as the command line."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import SMALL, run

import flowsched

FILE = """\
seeds = 1
[topology]
kind = "star"
hosts = 4
[workload]
sizes = "fixed 20KB"
flows = 30
load = 7
[[scheme]]
preset = "dctcp"
"""

LONG = """
import flowsched, sys
experiment = flowsched.Experiment({
    "topology": {"kind": "star", "hosts": 8},
    "workload": {"sizes": "web-search-bytes", "flows": 10_000_000, "load": 0.6},
    "scheme": [{"preset": "dctcp", "name": "first"}, {"preset": "dctcp"}],
})
import warnings; warnings.simplefilter("ignore")
def tick(*_): pass
print("ready", flush=True)
results = experiment.run(threads=1, progress=False)
print("complete" if results.complete else "incomplete", len(results.schemes), flush=True)
"""


def test_a_mistake_names_file_line_key_found_and_allowed(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text(FILE)
    with pytest.raises(flowsched.ExperimentError) as raised:
        flowsched.Experiment.from_toml(file).check()
    error = raised.value
    assert (error.file, error.line, error.key) == (str(file), 8, "workload.load")
    assert (error.found, error.allowed) == ('"7"', "a number from 0 to 1")
    assert str(error).startswith(f"{file}:8:8: workload.load: found")
    again = pickle.loads(pickle.dumps(error))
    assert again.mistakes == error.mistakes
    flowsched.Experiment.from_toml(file).set("workload.load", 0.7).check()


def test_a_wrong_setting_names_the_setting(experiment: flowsched.Experiment) -> None:
    with pytest.raises(flowsched.ExperimentError) as raised:
        experiment.set("scheme.pias.queus", 4).check()
    assert "scheme.pias.queus=4" in raised.value.file
    assert raised.value.line is None


def test_a_setting_takes_the_place_of_a_variation_and_the_other_way_around(
    experiment: flowsched.Experiment,
) -> None:
    experiment.vary("workload.load", [0.3, 0.6]).set("workload.load", 0.5)
    assert "[vary]" not in experiment.resolved
    other = experiment.copy().vary("workload.load", [0.3, 0.6])
    assert "load = 0.5" in experiment.resolved and "0.3" in other.resolved


def test_contradictions_are_warnings(experiment: flowsched.Experiment) -> None:
    with pytest.warns(flowsched.ExperimentWarning, match="buffer"):
        experiment.set("scheme.pias.buffer", "3pkt").check()


def test_what_does_not_fit_is_refused(experiment: flowsched.Experiment) -> None:
    assert "packet-hops" in experiment.size()
    experiment.set("workload.flows", 100_000_000)
    with pytest.raises(flowsched.TooLargeError, match="lower `workload.flows`"):
        experiment.run(progress=False)


def test_results_are_those_of_the_command_line(
    tmp_path: Path, command_line: Path, experiment: flowsched.Experiment
) -> None:
    experiment.vary("workload.load", [0.3, 0.6])
    file = tmp_path / "same.toml"
    file.write_text(experiment.resolved)
    run(command_line, "run", file, "--out", tmp_path / "cli")
    results = flowsched.Experiment.from_toml(file).run(threads=2, progress=False, out=tmp_path / "py")
    assert results.complete
    for name in ("flows.parquet", "ports.parquet", "experiment.toml"):
        assert (tmp_path / "cli" / name).read_bytes() == (tmp_path / "py" / name).read_bytes(), name


def test_other_threads_go_on_while_it_runs() -> None:
    counted = 0
    ended = threading.Event()

    def count() -> None:
        nonlocal counted
        while not ended.wait(0.001):
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    before = counted
    flowsched.Experiment(SMALL).set("workload.flows", 2000).run(threads=1, progress=False)
    during = counted - before
    ended.set()
    thread.join()
    assert during > 5, during


def test_ctrl_c_returns_what_is_finished() -> None:
    process = subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert said.split()[0] == "incomplete"


def test_an_interrupted_folder_is_resumed_or_refused(
    tmp_path: Path, experiment: flowsched.Experiment
) -> None:
    first = experiment.run(progress=False, out=tmp_path / "out")
    again = experiment.run(progress=False, out=tmp_path / "out", resume=True)
    assert again.flows.equals(first.flows)
    with pytest.raises(flowsched.ResultsError, match="another experiment"):
        experiment.set("seeds", 1).run(progress=False, out=tmp_path / "out")


def test_a_temporary_folder_goes_with_the_results(experiment: flowsched.Experiment) -> None:
    results = experiment.run(progress=False)
    folder, flows = results.folder, results.flows
    assert folder.is_dir()
    del results
    assert not folder.exists()
    assert flows["fct_ps"].null_count + len(flows["fct_ps"].drop_null()) == flows.num_rows


def test_progress_is_said_on_standard_error(
    experiment: flowsched.Experiment, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment.run()
    said = capsys.readouterr()
    assert "run 4 of 4, 100% of 240 flows" in said.err
    assert said.out == ""


def test_a_full_disk_is_an_error_of_the_system(experiment: flowsched.Experiment) -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(OSError, match="cannot write") as raised:
            experiment.run(progress=False)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert raised.value.errno is not None
    assert os.strerror(raised.value.errno) in str(raised.value)
