"""The best demotion thresholds for a workload."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

from . import _native


def thresholds(
    workload: str | Sequence[str],
    load: float | Sequence[float],
    *,
    queues: int = 8,
    model: str = "multilevel-fcfs",
    objective: str = "mean-fct",
    link: str = "10Gbps",
    compare: bool = False,
    regret: Literal["worst", "mean"] = "worst",
) -> dict[str, Any]:
    """The demotion thresholds that minimise an objective, as ``flowsched thresholds`` finds them.

    For several workloads or loads, the result is the one set with the least regret: the loss against the
    best thresholds of each, for the worst of them or as a mean. ``compare`` adds the costs of other
    thresholds, for one workload and one load.

    >>> import flowsched
    >>> best = flowsched.thresholds("web-search-packets", 0.8, queues=4)
    >>> len(best["thresholds_bytes"]), best["thresholds_bytes"] == sorted(best["thresholds_bytes"])
    (3, True)
    """
    if regret not in ("worst", "mean"):
        raise ValueError(f"regret is {regret!r}; give 'worst' or 'mean'")
    workloads = [workload] if isinstance(workload, str) else list(workload)
    loads = [load] if isinstance(load, (int, float)) else list(load)
    if compare and len(workloads) * len(loads) != 1:
        raise ValueError("compare=True needs one workload and one load")
    found = _native.optimal_thresholds(
        workloads, loads, queues, model, objective, link, compare, regret == "mean"
    )
    answer: dict[str, Any] = json.loads(found)
    return answer
