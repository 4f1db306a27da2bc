"""Which flow-scheduling scheme finishes my flows soonest? Simulations for notebooks and clusters.

>>> import flowsched
>>> experiment = flowsched.Experiment({
...     "topology": {"kind": "star", "hosts": 4},
...     "workload": {"sizes": "web-search-bytes", "flows": 50, "load": 0.6},
...     "scheme": [{"preset": "dctcp"}, {"preset": "pias"}],
... })
>>> results = experiment.set("workload.load", 0.8).run(progress=False)
>>> results
<Results experiment: dctcp, pias; 2 runs>

:class:`Experiment` runs schemes on the same flows, :class:`Results` gives access to their results, and
:func:`sweep` runs many experiments on a cluster.
"""

from ._catalogue import Scheme, schemes
from ._claims import Claims, reproduce
from ._native import COMMIT as __commit__
from ._native import VERSION as __version__
from ._sizes import Cdf, Workload, workload
from ._sweeping import Sweep, relative_interval, sweep
from ._thresholds import thresholds
from ._topology import Topology, topology
from .comparison import Change, Comparison, Diff
from .errors import (
    ExperimentError,
    ExperimentWarning,
    FlowschedError,
    Mistake,
    ResultsError,
    TooLargeError,
)
from .experiment import Experiment
from .plot import Plots
from .results import Results, diff

__all__ = [
    "Cdf",
    "Change",
    "Claims",
    "Comparison",
    "Diff",
    "Experiment",
    "ExperimentError",
    "ExperimentWarning",
    "FlowschedError",
    "Mistake",
    "Plots",
    "Results",
    "ResultsError",
    "Scheme",
    "Sweep",
    "TooLargeError",
    "Topology",
    "Workload",
    "__commit__",
    "__version__",
    "diff",
    "relative_interval",
    "reproduce",
    "schemes",
    "sweep",
    "thresholds",
    "topology",
    "workload",
]
