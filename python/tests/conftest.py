"""What several tests need: a small experiment, and the command line's binary."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import matplotlib
import pytest

import flowsched

matplotlib.use("Agg")

SMALL: dict[str, Any] = {
    "name": "small",
    "seeds": 2,
    "sample_interval": "50us",
    "topology": {"kind": "star", "hosts": 6},
    "workload": {"sizes": "web-search-bytes", "flows": 60, "load": 0.6},
    "scheme": [{"preset": "dctcp"}, {"preset": "pias", "queues": 4}],
}
"""Two schemes with two seeds, milliseconds each."""


@pytest.fixture
def experiment() -> flowsched.Experiment:
    """A small experiment."""
    return flowsched.Experiment(SMALL)


@pytest.fixture(scope="session")
def results() -> flowsched.Results:
    """The results of the small experiment."""
    return flowsched.Experiment(SMALL).run(progress=False)


@pytest.fixture(scope="session")
def swept() -> flowsched.Results:
    """The results of the small experiment at two loads."""
    return flowsched.Experiment(SMALL).vary("workload.load", [0.3, 0.6]).run(progress=False)


@pytest.fixture(scope="session")
def command_line() -> Path:
    """The binary `flowsched` that was built from the same sources."""
    return Path(os.environ["FLOWSCHED"])


def run(*words: str | os.PathLike[str], cwd: Path | None = None) -> str:
    """Runs a program that must succeed, and returns what it prints."""
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
