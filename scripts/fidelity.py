#!/usr/bin/env python3
"""Measures the tables of the book's pages on fidelity and writes them to benches/fidelity/.

    scripts/fidelity.py FLOWSCHED [--resume] [TABLE ...]

A table states when, with which version, on which machine and by which commands it was measured. A cell is the change
of the mean FCT, with the 95% interval that `flowsched run` or `flowsched diff` computes over the seeds. Without TABLE
all are measured but those of the lab and of Homa. --resume keeps what the same program measured for a table before it
was interrupted, or before the lab was late.
"""

import datetime
import os
import pathlib
import shutil
import sys

from fidelity_homa import homa, homa_slowdown
from fidelity_lab import (
    lab_capacity,
    lab_figures,
    lab_loss,
    lab_memcached,
    lab_pias,
    lab_queries,
    lab_quick,
    lab_table1,
    lab_tcp,
    lab_timeouts,
)
from fidelity_runs import ROOT, Flowsched, against_first, change, mean_ms

PAGES = ROOT / "benches" / "fidelity"
CLASSES = ("all", "small", "medium", "large")
CLASS_HEADS = ("all flows", *CLASSES[1:])
SMALL_SIZES = "workload.sizes=uniform 2KB 198KB"


def digits(number):
    """A number with a digit after the point if it is below 1,000 and has one."""
    return f"{number:,.1f}" if number < 1000 and number % 1 else f"{number:,.0f}"


def pdq_fluid(flowsched):
    yield "network", "flows per server", "mean flow size", "RCP", "PDQ"
    for network, flows, size, experiment, *settings in [
        ("fat-tree", 10, "100 KB", "pdq-fig8b", SMALL_SIZES),
        ("fat-tree", 2, "100 KB", "pdq-fig8b", SMALL_SIZES, "workload.flows=32"),
        ("fat-tree", 1, "100 KB", "pdq-fig8b", SMALL_SIZES, "workload.flows=16"),
        ("fat-tree", 1, "1 MB", "pdq-fig8b", "workload.flows=16"),
        ("BCube", 10, "100 KB", "pdq-fig8c", SMALL_SIZES),
        ("Jellyfish", 10, "100 KB", "pdq-fig8d", SMALL_SIZES),
    ]:
        packets, fluid = (
            flowsched.run(experiment, *settings, f"engine={engine}") for engine in ("packet", "fluid")
        )
        changes = flowsched.diff(packets, fluid)
        yield network, flows, size, change(changes["rcp"]), change(changes["pdq"])


def m_pdq_fluid(flowsched):
    yield "subflows", "against PDQ, by packets", "against PDQ, in the fluid", "fluid against packets"
    packets, fluid = (
        flowsched.run("pdq-fig11b", f"engine={engine}") for engine in ("packet", "fluid")
    )
    changes = flowsched.diff(packets, fluid)
    for subflows in (1, 2, 3, 4, 6, 8):
        scheme = f"m-pdq, {subflows} subflow{'s' if subflows > 1 else ''}"
        by_level = [change(against_first(level, scheme)) for level in (packets, fluid)]
        yield subflows, *by_level, change(changes[scheme])


def fluid_packets(flowsched):
    yield "scheme", *CLASS_HEADS
    packets, fluid = (
        flowsched.run("fluid-and-packets", f"engine={engine}") for engine in ("packet", "fluid")
    )
    for scheme, fct in flowsched.diff(packets, fluid).items():
        yield f"`{scheme}`", *(change(fct, sizes) for sizes in CLASSES)


def beside(flowsched, experiment, first, variants):
    """How variants compare with the first scheme of an experiment by class of flows, and what all of them lost."""
    yield "scheme", *CLASS_HEADS, "drops", "packets resent", "time-outs"
    summary = flowsched.run(experiment)
    for name, scheme in [(first, None), *variants]:
        fct = scheme and against_first(summary, scheme)
        changes = [change(fct, sizes) if fct else "" for sizes in CLASSES]
        runs = [run for run in summary["runs"] if run["scheme"] == (scheme or summary["runs"][0]["scheme"])]
        lost = [sum(run[key] for run in runs) for key in ("drops", "retransmissions", "timeouts")]
        yield name, *changes, *(f"{one:,}" for one in lost)


def hpcc(flowsched):
    return beside(flowsched, "hpcc-incast-and-web-search", "DCTCP", [
        ("DCTCP, ports of 32 MB", "dctcp, 32 MB"),
        ("HPCC", "hpcc"),
        ("HPCC, `max_stage = 0`", "hpcc, stage 0"),
        ("HPCC, `card_telemetry = true`", "hpcc, cards write"),
    ])


def phost(flowsched):
    return beside(flowsched, "phost-web-search", "pFabric", [
        ("pFabric, time-outs of 3 ms, ports of 32 MB, windows of at most 70 packets", "pfabric, patient"),
        ("DCTCP", "dctcp"),
        ("pHost", "phost"),
        ("pHost, no downgrading", "phost, no downgrade"),
        ("pHost, tokens do not expire", "phost, tokens last"),
        ("pHost, all flows begin with tokens", "phost, all begin with tokens"),
    ])


def thresholds(flowsched):
    yield "thresholds", *CLASS_HEADS
    summary = flowsched.run("which-model", "seeds=10")
    for name, scheme in [
        ("`multilevel-fcfs`", "multilevel-fcfs"),
        ("`multilevel-ps`", "multilevel-ps"),
        ("`pias-mm1`", "pias-mm1"),
        ("equal split", "equal split"),
        ("exponential", "exponential"),
        ("none: one queue of DCTCP", "dctcp"),
    ]:
        fct = against_first(summary, scheme)
        yield name, *(change(fct, sizes) for sizes in CLASSES)


def epn_settings(flowsched):
    yield "setting", *CLASS_HEADS, "small, against TCP2Q"
    figure_11 = ("epn-fig11", "workload.load=0.8")
    before = flowsched.run(*figure_11, quick=True)
    yield "as in Figure 11", *[""] * len(CLASSES), change(against_first(before, "epn"), "small")
    for settings in [
        ["ecn_threshold=10pkt"],
        ["host_port=scheme"],
        ["host_port=scheme", "ecn_threshold=10pkt"],
        ["dp=size"],
        ["dp_bits=8"],
        ["processing_delay=100us"],
    ]:
        after = flowsched.run(*figure_11, *(f"scheme.epn.{setting}" for setting in settings), quick=True)
        fct = flowsched.diff(before, after)["epn"]
        small = change(against_first(after, "epn"), "small")
        yield f"`{' '.join(settings)}`", *(change(fct, one) for one in CLASSES), small


def epn_las(flowsched):
    yield "load", "EPN without sizes", "LAS"
    summary = flowsched.run("epn-las", quick=True)
    for load in ("0.4", "0.6", "0.8"):
        point = {"workload.load": load}
        yield load, *(change(against_first(summary, one, **point)) for one in ("epn-agnostic", "las"))


def epn_pfabric(flowsched):
    yield "pFabric", "ECMP", "spraying"
    summary = flowsched.run("epn-fig14-pfabric", quick=True)
    for name, scheme in [
        ("as in Figure 14", "pfabric"),
        ("RTO of 2 ms instead of 165 us, window of at most 46 packets instead of 92", "pfabric, RTO 2 ms"),
        ("the same, and buffers of 360 KB instead of 138 KB", "pfabric, RTO 2 ms, 360 KB"),
    ]:
        routings = [{"topology.routing": routing} for routing in ("ecmp", "spray")]
        yield name, *(change(against_first(summary, scheme, **routing)) for routing in routings)


def epn_fat_tree(flowsched):
    yield "scheme", "fat-tree", "packets resent", "one switch", "packets resent"
    star = ["topology.kind=star", "topology.hosts=128", "topology.host_delay=12us"]
    networks = [flowsched.run("epn-fat-tree"), flowsched.run("epn-fat-tree", *star)]
    for name, scheme in [
        ("EPN as in Figure 14", "epn"),
        ("EPN, TCP ignores reordering", "epn, reordering ignored"),
        ("EPN, windows keep their size", "epn, windows kept"),
        ("EPN, both", "epn, both"),
        ("pFabric", "pfabric"),
    ]:
        cells = ((change(against_first(one, scheme)), resent(one, scheme)) for one in networks)
        yield name, *(cell for pair in cells for cell in pair)


def resent(summary, scheme):
    """How many packets a scheme's hosts sent again."""
    return f"{sum(run['retransmissions'] for run in summary['runs'] if run['scheme'] == scheme):,}"


def ect(flowsched):
    yield "ECT", "all flows", "small flows", "drops"
    summary = flowsched.run("pias-ect", quick=True)
    for name, scheme in [
        ("on all packets", None),
        ("as Linux sets it", "as Linux"),
        ("on all packets but SYNs", "but SYNs"),
        ("as Linux sets it, at a switch that queues packets without ECT", "queues all"),
    ]:
        fct = scheme and against_first(summary, scheme)
        changes = [change(fct, sizes) if fct else "" for sizes in ("all", "small")]
        drops = sum(run["drops"] for run in summary["runs"] if run["scheme"] == (scheme or "ECT on all"))
        yield name, *changes, drops


def ns2_agreement(flowsched):
    yield "flows", "scheme", "all", "small", "medium", "large", "time-outs"
    printed = flowsched.test("flowsched-sim", "all", "reference")
    rows = [line.split("agreement ")[1].split() for line in printed.splitlines() if "agreement " in line]
    by_file = {file: [float(one) for one in figures] for file, *figures in rows}
    networks = {
        "websearch-0.8": "144 hosts, authors' arrivals",
        "websearch-0.8-independent": "144 hosts, independent arrivals",
        "small-websearch-0.8": "12 hosts",
    }
    for network, flows in networks.items():
        for preset, scheme in [("dctcp", "DCTCP"), ("pias", "PIAS")]:
            figures = by_file[f"ns2-{network}-{preset}.csv"]
            pairs = zip(figures[:5], figures[5:], strict=True)
            yield flows, scheme, *(" / ".join(digits(one) for one in pair) for pair in pairs)


def ns2_behaviours(flowsched):
    yield "without", "small flows", "large flows", "drops"
    summary = flowsched.run("ns2-behaviours")
    for name, scheme in [
        ("all there", None),
        ("a fixed time-out (estimated instead)", "estimated timeout"),
        ("a time-out that does not back off", "timeout backs off"),
        ("fast retransmit switched off (on instead)", "fast retransmit"),
        ("alpha starting at 0 (at 1 instead, RFC 8257)", "alpha starts at 1"),
        ("growth on marked ACKs (none instead, RFC 3168)", "no growth on marks"),
        ("a new window for every flow (after an idle time-out only, RFC 5681)", "restart after idle"),
        ("ACKs that can be marked", "ACKs not ECT"),
        ("one-byte probes", "no probes"),
        ("all of them: the project's defaults", "the project's own"),
    ]:
        fct = scheme and against_first(summary, scheme)
        run = next(run for run in summary["runs"] if run["scheme"] == (scheme or "ns2"))
        means = [f"{run['fct_us'][sizes]['mean']:,.0f} us" for sizes in ("small", "large")]
        changes = [change(fct, sizes) for sizes in ("small", "large")] if fct else means
        yield name, *changes, f"{run['drops']:,}"


def pias_flows(flowsched):
    yield "flows", "all", "up to 100 KB", "over 10 MB", "LAS, over 10 MB", "PIAS, over 10 MB"
    summary = flowsched.run("pias-flows")
    for flows in ("4000", "16000", "64000"):
        point = {"workload.flows": flows}
        changes = [change(against_first(summary, "pias", **point), one) for one in ("all", "small", "large")]
        means = (mean_ms(summary, scheme, "large", point) for scheme in ("las", "pias"))
        yield f"{int(flows):,}", *changes, *means


def epn_flows(flowsched):
    return by_flows(flowsched.run("epn-flows"))


def epn_flows_lower_loads(flowsched):
    tables = {
        load: list(by_flows(flowsched.run("epn-flows", f"workload.load={load}", "seeds=3")))
        for load in ("0.6", "0.7")
    }
    yield "load", *tables["0.6"][0]
    for load, (_, *rows) in tables.items():
        yield from ((load, *row) for row in rows)


def by_flows(summary):
    """The rows of the tables on the number of flows in EPN's fat-tree."""
    schemes = [("TCP8Q", "tcp8q"), ("pFabric", "pfabric"), ("EPN", "epn")]
    yield "flows", "TCP2Q: mean FCT", *(f"{name} against TCP2Q" for name, _ in schemes)
    for flows in ("10000", "20000", "40000"):
        point = {"workload.flows": flows}
        mean = mean_ms(summary, "tcp2q", "all", point)
        yield f"{int(flows):,}", mean, *(change(against_first(summary, one, **point)) for _, one in schemes)


def table1_delays(flowsched):
    schemes = ["10 KB", "20 KB", "1 MB"]
    yield "delay of a link", *(f"{scheme}: mean, p99 of 20 KB in us" for scheme in schemes)
    for delay in ("130us", "133us", "136us", "139us", "142us"):
        runs = flowsched.run("lab-pias-table1", f"topology.link_delay={delay}", quick=True)["runs"]
        small = {run["scheme"]: run["fct_us"]["small"] for run in runs}
        # The experiment has a tenth of the paper's rates.
        times = ([small[scheme][figure] / 10 for figure in ("mean", "p99")] for scheme in schemes)
        yield delay.replace("us", " us"), *("{:.0f}, {:.0f}".format(*pair) for pair in times)


# Measured only where they are named: they need size distributions that are not part of the repository, and pyarrow.
HOMA_TABLES = {"homa": homa, "homa-slowdown": homa_slowdown}

# Measured only where they are named: they need root, `make lab` and a machine that does nothing else.
LAB_TABLES = {
    "lab-capacity": lab_capacity,
    "lab-figures": lab_figures,
    "lab-loss": lab_loss,
    "lab-memcached": lab_memcached,
    "lab-pias": lab_pias,
    "lab-queries": lab_queries,
    "lab-quick": lab_quick,
    "lab-table1": lab_table1,
    "lab-tcp": lab_tcp,
    "lab-timeouts": lab_timeouts,
}

TABLES = {
    "pdq-fluid": pdq_fluid,
    "m-pdq-fluid": m_pdq_fluid,
    "fluid-packets": fluid_packets,
    "hpcc": hpcc,
    "phost": phost,
    "thresholds": thresholds,
    "epn-settings": epn_settings,
    "epn-las": epn_las,
    "epn-pfabric": epn_pfabric,
    "epn-fat-tree": epn_fat_tree,
    "ect": ect,
    "ns2-agreement": ns2_agreement,
    "ns2-behaviours": ns2_behaviours,
    "pias-flows": pias_flows,
    "epn-flows": epn_flows,
    "epn-flows-lower-loads": epn_flows_lower_loads,
    "table1-delays": table1_delays,
}


def machine():
    """The processor, its cores and the system, in the words of `flowsched reproduce`."""
    info = pathlib.Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    system, release = os.uname().sysname, ".".join(os.uname().release.split(".")[:2])
    cores = len(os.sched_getaffinity(0))
    return f"{models[0] if models else 'an unknown processor'}, {cores} cores, {system} {release}"


def how(name):
    """The command that measures a table again."""
    if name in LAB_TABLES:
        return "make fidelity-lab"
    return f"make fidelity {'HOMA_SIZES=FOLDER ' * (name in HOMA_TABLES)}TABLES={name}"


def page(name, rows, flowsched):
    """A table below the line that says how it came about, and above its commands."""
    head, *body = ([str(cell) for cell in row] for row in rows)
    lines = [f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *body]]
    program = flowsched.program
    source = (
        f"Measured on {datetime.date.today()} by flowsched {program['version']} (commit {program['commit']}) on "
        f"{machine()}. `{how(name)}` measures it again."
    )
    commands = ["<details><summary>Commands</summary>", "", "```console"]
    commands += [f"$ {command}" for command in flowsched.commands] + ["```", "", "</details>"]
    return "\n".join([*lines, "", source, "", *commands, ""])


def main():
    binary, *names = (word for word in sys.argv[1:] if word != "--resume")
    tables = TABLES | HOMA_TABLES | LAB_TABLES
    if unknown := [name for name in names if name not in tables]:
        sys.exit(f"There is no table {', '.join(unknown)}. The tables are {', '.join(tables)}.")
    PAGES.mkdir(exist_ok=True)
    if "--resume" not in sys.argv:
        shutil.rmtree(ROOT / "results" / "fidelity", ignore_errors=True)
    for name in names or TABLES:
        flowsched = Flowsched(binary, name)
        rows = list(tables[name](flowsched))
        (PAGES / f"{name}.md").write_text(page(name, rows, flowsched))


if __name__ == "__main__":
    main()
