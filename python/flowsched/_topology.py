"""Networks, to and from networkx.

What lives here: networks as lists of nodes and links. What may not: the shape of each kind of topology,
which the native half computes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _native, _words

if TYPE_CHECKING:
    import networkx


@dataclass(frozen=True)
class Link:
    """One direction of a link."""

    source: str
    """The name of the sending end."""
    target: str
    """The name of the receiving end."""
    rate_bps: int
    """The rate in bits per second."""
    delay_ps: int
    """The propagation delay in picoseconds."""


class Topology:
    """A network.

    >>> import flowsched
    >>> network = flowsched.topology("leaf-spine", leaves=2, spines=2, hosts_per_leaf=3)
    >>> len(network.hosts), network.switches
    (6, ['leaf 0', 'leaf 1', 'spine 0', 'spine 1'])
    >>> graph = network.to_networkx()
    >>> graph.edges["leaf 0", "spine 1"]["rate_bps"]
    40000000000
    >>> same = flowsched.topology(graph)
    >>> len(same.hosts), len(same.links) == len(network.links)
    (6, True)
    """

    table: dict[str, Any]
    """The ``[topology]`` table of an experiment with this network."""
    links: list[Link]
    """Every link, once for each direction."""

    def __init__(self, kind: str, settings: Mapping[str, Any]) -> None:
        texts = [(key, _words.value(value)) for key, value in settings.items()]
        found = json.loads(_native.network(kind, texts))
        names = [node["name"] for node in found["nodes"]]
        self.table = {"kind": kind, **dict(settings)}
        self._tiers: dict[str, str] = {node["name"]: node["tier"] for node in found["nodes"]}
        self.links = [
            Link(names[one["from"]], names[one["to"]], one["rate_bps"], one["delay_ps"])
            for one in found["links"]
        ]

    @property
    def hosts(self) -> list[str]:
        """The hosts' names; the first is host 0."""
        return [name for name, tier in self._tiers.items() if tier == "host"]

    @property
    def switches(self) -> list[str]:
        """The switches' names."""
        return [name for name, tier in self._tiers.items() if tier != "host"]

    def to_networkx(self) -> networkx.DiGraph:
        """A graph with an edge for each direction of a link.

        Nodes have ``tier``, which is ``"host"`` for hosts. Edges have ``rate_bps`` and ``delay_ps``.
        """
        import networkx

        graph = networkx.DiGraph()
        for name, tier in self._tiers.items():
            graph.add_node(name, tier=tier)
        for link in self.links:
            graph.add_edge(link.source, link.target, rate_bps=link.rate_bps, delay_ps=link.delay_ps)
        return graph

    def __repr__(self) -> str:
        hosts, switches = len(self.hosts), len(self.switches)
        return f"<Topology {self.table['kind']}: {hosts} hosts, {switches} switches>"


def topology(kind: str | networkx.Graph, **settings: Any) -> Topology:
    """A network of a built-in kind with its keys as arguments, or the network of a networkx graph.

    In a graph, nodes with ``tier="host"`` are hosts. If no node has a tier, nodes with one neighbour are
    hosts. Edges have ``rate_bps`` and ``delay_ps``, or ``rate`` and ``delay`` as strings, or else
    flowsched's defaults. Both directions of a link must have the same values.
    """
    if isinstance(kind, str):
        return Topology(kind, settings)
    if settings:
        raise TypeError(f"a graph takes no other arguments, such as {next(iter(settings))}")
    return Topology("custom", _custom(kind))


def _custom(graph: networkx.Graph) -> dict[str, str]:
    words = {node: "-".join(str(node).split()) for node in graph}
    if len(set(words.values())) != len(words):
        raise ValueError("two nodes of the graph have the same name but for blanks; rename one")
    has_tiers = any("tier" in data for _, data in graph.nodes(data=True))

    def is_host(node: Any) -> bool:
        if has_tiers:
            return bool(graph.nodes[node].get("tier") == "host")
        return len(set(graph.to_undirected(as_view=True)[node])) == 1

    links: dict[frozenset[Any], str] = {}
    for one, other, data in graph.edges(data=True):
        values = _values(data)
        ends = frozenset((one, other))
        line = f"{words[one]} {words[other]}{values}"
        back = f"{words[other]} {words[one]}{values}"
        if links.setdefault(ends, line) not in (line, back):
            raise ValueError(f"the link of {one} and {other} differs by direction; give both the same")
    hosts = " ".join(words[node] for node in graph if is_host(node))
    return {"hosts": hosts, "links": "; ".join(links.values())}


def _values(data: Mapping[str, Any]) -> str:
    rate = data.get("rate") or (f"{data['rate_bps']}bps" if "rate_bps" in data else "10Gbps")
    if "delay" in data or "delay_ps" in data:
        return f" {rate} {data.get('delay') or str(data['delay_ps']) + 'ps'}"
    return f" {rate}"
