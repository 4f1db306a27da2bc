"""The tables of the lab on the pages on fidelity. They need root, `make lab` and a machine that does nothing else.

The thread that runs the simulator's hosts is late more often than the kernel: if it was late in all tries, its rows are
left out. If the lab was late in another run, there is no table. The tables of what the lab carries, and of how long it
takes, count late runs instead.
"""

import contextlib
import json
import tomllib

from fidelity_runs import ROOT, against_first, change, conduct, late_runs, mean_ms, valid_lab
from lab_hosts import on_hosts


@contextlib.contextmanager
def kernel(flowsched, *settings):
    """Gives the lab's hosts kernel settings for the block. The page lists these with the commands."""
    flowsched.commands += [f"# on every host of the next command: sysctl {setting}" for setting in settings]
    flowsched.hosts = list(settings)
    with on_hosts(*(setting.replace(".", "/") for setting in settings)):
        yield
    flowsched.hosts = []


# Switches off tail-loss probes, which make time-outs rarer, and F-RTO and D-SACK, which show that a time-out came too
# early.
EARLY_TIMEOUTS = tuple(f"net.ipv4.tcp_{name}=0" for name in ("early_retrans", "frto", "dsack"))
KEEP_WINDOWS = "net.ipv4.tcp_slow_start_after_idle=0"
# What finds a loss before a time-out, beside three duplicate ACKs.
LOSS_DETECTION = [("tail-loss probes", EARLY_TIMEOUTS[0]), ("RACK", "net.ipv4.tcp_recovery=0")]


def lab_pias(flowsched):
    yield "", "small", "small, p99", "medium", "large"

    def sets(*settings):
        both = [f"scheme.{scheme}.{setting}" for setting in settings for scheme in ("dctcp", "pias")]
        return ["lab-pias-dctcp", *both]

    def simulated_with(*settings):
        return flowsched.run(*sets(*settings))

    # The kernel counts time in ticks, 4 ms at 250 Hz, and its time-outs are one tick longer on average.
    acks, keeping, patient, tick_later = "ack_ratio=1", "restart=never", "rto_min=200ms", "rto_min=14ms"
    lab, simulated = valid_lab(flowsched, *sets()), simulated_with()
    with kernel(flowsched, KEEP_WINDOWS):
        lab_keeping = valid_lab(flowsched, *sets(acks))
    with kernel(flowsched, KEEP_WINDOWS, *EARLY_TIMEOUTS):
        lab_alike = valid_lab(flowsched, *sets(acks))
    alike = simulated_with(acks, keeping)
    pairs = [
        ("", simulated, lab),
        (" with a `min_window` of 1", simulated_with("min_window=1"), lab),
        (" with a `min_window` of 1 and RFC 6298's `rto`", simulated_with("min_window=1", "rto=estimated"), lab),
        (" with an ACK for every packet and idle windows kept, in both", alike, lab_keeping),
        (" with these two and an `rto_min` of 200 ms in simulation", simulated_with(acks, keeping, patient), lab_keeping),
        (" with these two and early time-outs, in both", alike, lab_alike),
        (" with these three, and 4 ms more in simulation", simulated_with(acks, keeping, tick_later), lab_alike),
    ]
    rows = [
        (f"{name}, lab against simulation{how}", flowsched.diff(before, after)[scheme])
        for name, scheme in [("DCTCP", "dctcp"), ("PIAS", "pias")]
        for how, before, after in pairs
    ]
    rows += [
        ("PIAS against DCTCP in the lab", against_first(lab, "pias")),
        ("PIAS against DCTCP in simulation", against_first(simulated, "pias")),
    ]
    for name, fct in rows:
        means = [change(fct, sizes) for sizes in ("small", "medium", "large")]
        yield name, means[0], change(fct, "small", "p99"), *means[1:]


# Each with what is different in simulation.
FIGURES = [
    ("Figure 7", "lab-pias-fig7", []),
    ("Figure 7, simulated with 80 us more", "lab-pias-fig7", ["topology.host_delay=220us"]),
    ("Figure 11", "lab-pias-fig11", []),
    ("Figure 12", "lab-pias-fig12", []),
    ("Figure 13", "lab-pias-fig13", []),
]


def lab_figures(flowsched):
    sizes = ("small", "medium", "large")
    columns = ("small, against the first scheme: lab", "simulation")
    yield "lab against simulation", "small", "small, p99", "medium", "large", *columns
    for figure, experiment, changed in FIGURES:
        lab = flowsched.reproduced(experiment)
        seeds = len({run["seed"] for run in lab["runs"]})
        simulated = flowsched.run(experiment, f"seeds={seeds}", *changed, quick=True)
        for scheme, fct in flowsched.diff(simulated, lab).items():
            small, *longer = (change(fct, size) for size in sizes)
            has_gain = any(one["scheme"] == scheme for one in lab["comparisons"])
            gains = [change(against_first(one, scheme), "small") if has_gain else "" for one in (lab, simulated)]
            yield f"{figure}: {scheme}", small, change(fct, "small", "p99"), *longer, *gains


def lab_queries(flowsched):
    yield "servers", "lab: mean query", "simulation", "simulation and a request's way", "lab against both"

    def mean_us(summary, servers):
        at = {"workload.part.query.degree": servers}
        runs = [run for run in summary["runs"] if run["point"] == at and run["scheme"] == "dctcp"]
        return sum(part["query_us"]["mean"] for run in runs for part in run["parts"]) / len(runs)

    lab, simulated = valid_lab(flowsched, "lab-queries"), flowsched.run("lab-queries")
    way = request_us(flowsched)
    for servers in ("1", "5", "15"):
        real, alone = (mean_us(summary, servers) for summary in (lab, simulated))
        times = (f"{us:,.0f} us" for us in (real, alone, alone + way))
        yield servers, *times, f"{100 * (real / (alone + way) - 1):+.1f}%"


def request_us(flowsched):
    """How long a request takes to a server: "get", a key of five bytes and the end of the line."""
    requests = flowsched.run("lab-queries", "workload.part.query.sizes=fixed 11B", "workload.part.query.degree=1")
    times = [part["query_us"]["mean"] for run in requests["runs"] for part in run["parts"]]
    return sum(times) / len(times)


def lab_memcached(flowsched):
    """Compares the recorded times of the lab with the simulation and a request's way."""
    columns = ("lab", "simulation", "lab against both")
    yield "queries per second", "load", "scheme", *(f"{figure}, {name}" for figure in ("mean", "p99") for name in columns)
    recorded = json.loads((ROOT / "papers" / "measured" / "lab-memcached.json").read_text())["claims"]
    rows = [row for row in recorded if row["id"] == "pias.memcached"]
    simulated = flowsched.run("lab-memcached", f"seeds={rows[0]['seeds']}", quick=True)
    way = request_us(flowsched)

    def real_us(value, scheme, load):
        row = next(row for row in rows if row["value"].startswith(value))
        points = next(curve["points"] for curve in row["schemes"] if curve["scheme"] == scheme)
        return next(point["measured"] for point in points if point["at"] == float(load))

    def simulated_us(figure, scheme, at):
        runs = [run for run in simulated["runs"] if run["point"] == at and run["scheme"] == scheme]
        times = [part["query_us"][figure] for run in runs for part in run["parts"] if part["name"] == "query"]
        return sum(times) / len(times)

    for rate, every in (("20", "1s"), ("40", "500ms")):
        for load in ("0.5", "0.8"):
            at = {"workload.part.query.every": every, "workload.part.background.load": load}
            for scheme in ("dctcp", "pias"):
                cells = []
                for name, figure in (("average", "mean"), ("p99", "p99")):
                    real, alone = real_us(f"{rate} queries/s, {name}", scheme, load), simulated_us(figure, scheme, at)
                    cells += [f"{real:,.0f} us", f"{alone:,.0f} us", f"{100 * (real / (alone + way) - 1):+.1f}%"]
                yield rate, load, scheme, *cells


def lab_loss(flowsched):
    yield "", "mean FCT, no loss", "mean FCT, 3% loss", "time-outs, 3% loss"
    seeds, none, some = 20, {"topology.loss": "0"}, {"topology.loss": "0.03"}

    def lab(*settings):
        return valid_lab(flowsched, "lab-pdq-fig9", f"seeds={seeds}", *settings, quick=True)

    reproduced, at_once = flowsched.reproduced("lab-pdq-fig9", seeds), lab("workload.at=0ms")
    simulated = flowsched.run("lab-pdq-fig9", f"seeds={seeds}", quick=True)
    rows = [("PDQ, lab", reproduced), ("PDQ, simulation", simulated), ("TCP, lab", reproduced)]
    # One switched off after the other.
    for count in range(1, len(LOSS_DETECTION) + 1):
        names, settings = zip(*LOSS_DETECTION[:count])
        with kernel(flowsched, *settings):
            rows.append((f"TCP, lab, without {' and '.join(names)}", lab()))
    rows += [("TCP, simulation", simulated), ("TCP, lab, flows that start at once", at_once)]
    for name, summary in rows:
        scheme = name.split(",")[0].lower()
        runs = [run for run in summary["runs"] if run["scheme"] == scheme and run["point"] == some]
        means = (mean_ms(summary, scheme, "all", point) for point in (none, some))
        yield name, *means, sum(run["timeouts"] for run in runs)


def lab_table1(flowsched):
    schemes = [f"{size}{ecn}" for ecn in (", no ECN", "") for size in ("10 KB", "20 KB", "1 MB")]
    yield "mean, p99 of 20 KB in us", *schemes
    claims = tomllib.loads((ROOT / "papers" / "claims.toml").read_text())["claim"]
    values = next(claim["value"] for claim in claims if claim["id"] == "pias.table1")
    yield "published", *(f"{mean['published']}, {p99['published']}" for mean, p99 in zip(values[::2], values[1::2]))
    small, own = "receive_window=64KB", "lab_senders=simulator"
    variants = [
        ("", []),
        (", receivers accept 64 KB", [small]),
        (", open connections", ["connections=persistent", "open_connections=5"]),
        (", the simulator's hosts", [own]),
        (", open connections, receivers accept 64 KB", ["connections=persistent", "open_connections=5", small]),
    ]
    for how, settings in variants:
        sets = [f"scheme.{scheme}.{setting}" for setting in settings for scheme in range(len(schemes))]
        summary = valid_lab(flowsched, "lab-pias-table1", *sets, quick=True, needed=own not in settings)
        if not summary:
            continue
        fcts = {run["scheme"]: run["fct_us"]["small"] for run in summary["runs"]}
        for world, suffix in (("lab", ""), ("simulation", " (simulated)")):
            both = [[fcts[scheme + suffix][figure] / 10 for figure in ("mean", "p99")] for scheme in schemes]
            yield f"{world}{how}", *("{:.0f}, {:.0f}".format(*times) for times in both)


def lab_tcp(flowsched):
    yield "mean FCT in the lab against simulation", "all", "small", "medium", "large"
    acks, keeping, window = "ack_ratio=1", "restart=never", "receive_window=64KB"

    def sets(*settings):
        every = [f"scheme.{scheme}.{setting}" for setting in settings for scheme in range(3)]
        return ["lab-tcp", "seeds=5", "workload.flows=100", *every]

    def simulated(*settings):
        return flowsched.run(*sets(*settings))

    lab, lab_window = valid_lab(flowsched, *sets()), valid_lab(flowsched, *sets(window))
    with kernel(flowsched, KEEP_WINDOWS):
        lab_keeping, lab_all = (valid_lab(flowsched, *sets(acks, *more)) for more in ([], [window]))
    own = valid_lab(flowsched, *sets("lab_senders=simulator"), needed=False)
    pairs = [
        ("", simulated(), lab),
        (", an ACK for every packet and idle windows kept, in both", simulated(acks, keeping), lab_keeping),
        (", receivers accept 64 KB", simulated(window), lab_window),
        (", all of these", simulated(acks, keeping, window), lab_all),
    ]
    if own:
        pairs.append((", the simulator's hosts in both", simulated(), own))
    for name, scheme in [("Reno", "tcp"), ("CUBIC", "cubic"), ("ECN*", "ecn-star")]:
        for how, before, after in pairs:
            fct = flowsched.diff(before, after)[scheme]
            yield f"{name}{how}", *(change(fct, sizes) for sizes in ("all", "small", "medium", "large"))


def lab_timeouts(flowsched):
    yield "PIAS, 600 flows a seed", "time-outs of each seed", "packets sent again"

    def counts(runs, scheme):
        found = [run for run in runs if run["scheme"] == scheme]
        return (", ".join(str(run[count]) for run in found) for count in ("timeouts", "retransmissions"))

    # One switched off after the other.
    for count in range(len(EARLY_TIMEOUTS) + 1):
        off = EARLY_TIMEOUTS[:count]
        with kernel(flowsched, *off):
            runs = valid_lab(flowsched, "lab-pias-starvation", "seeds=2")["runs"]
        names = [f"`{setting.removeprefix('net.ipv4.').replace('=', ' = ')}`" for setting in off]
        yield ", ".join(["lab", *names]), *counts(runs, "pias")
    senders = "scheme.0.lab_senders=simulator"
    if own := valid_lab(flowsched, "lab-pias-starvation", "seeds=2", senders, needed=False):
        yield "lab, the simulator's hosts", *counts(own["runs"], "pias")
    yield "simulation", *counts(runs, "pias (simulated)")
    acks = "scheme.0.ack_ratio=1"
    with kernel(flowsched, *EARLY_TIMEOUTS):
        runs = valid_lab(flowsched, "lab-pias-starvation", "seeds=2", acks)["runs"]
    yield "lab, the three settings and an ACK for every packet", *counts(runs, "pias")
    yield "simulation with an ACK for every packet", *counts(runs, "pias (simulated)")
    rfc = flowsched.run("lab-pias-starvation", "seeds=2", "scheme.0.rto=estimated")
    yield "simulation with RFC 6298's `rto`", *counts(rfc["runs"], "pias")


def lab_quick(flowsched):
    yield "file", "time", "late runs"
    for file in sorted((ROOT / "experiments").glob("lab-*.toml")):
        summary = flowsched.run(file.stem, quick=True, command=("lab", "run"))
        late, runs = len(late_runs(summary)), len(conduct(summary))
        yield f"`{file.name}`", f"{summary['seconds']:.0f} s", f"{late} of {runs}"


def lab_capacity(flowsched):
    yield "busy ports", "links", "rate while busy", "lateness / queueing delay", "late packets", "valid runs"
    one_port = flowsched.lab("lab-capacity", "seeds=4")
    rates = ["100Mbps", "200Mbps", "400Mbps", "600Mbps", "800Mbps", "1Gbps"]
    rows = [(1, rate, [run for at, run in one_port if at.endswith(f"= {rate}")]) for rate in rates]
    for busy in (4, 8, 12, 16, 24):
        sets = ["seeds=4", f"topology.hosts={busy}", f"workload.flows={busy}"]
        rows.append((busy, "100Mbps", [run for _, run in flowsched.lab("lab-capacity-ports", *sets)]))
    for busy, rate, runs in rows:
        delays = [added / delay for delay, added in (run["busiest_delay_us"] for run in runs)]
        shares = [[run["busiest_rate"] for run in runs], delays, [run["late_share"] for run in runs]]
        cells = ("{:.2f}% to {:.2f}%".format(100 * min(all), 100 * max(all)) for all in shares)
        yield busy, rate, *cells, f"{sum(run['valid'] for run in runs)} of {len(runs)}"
