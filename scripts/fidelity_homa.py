"""The tables of Homa on the page on fidelity: messages of three workloads beside the authors' results, and slowdowns.

They need the size distributions of the authors' repository (HOMA_SIZES) and pyarrow.
"""

import csv
import dataclasses
import math
import os
import pathlib
import sys

from fidelity_runs import ROOT


@dataclasses.dataclass(frozen=True)
class HomaWorkload:
    """A workload of the Homa paper, as its authors' simulator ran it at 80% load."""

    # A file of the authors' repository, and the bytes per unit of its sizes.
    file: str
    unit: int
    # The messages' own bytes over all bytes, headers and grants included.
    own_bytes: float
    # The cutoffs that the simulator computes, and those that divide the unscheduled bytes evenly.
    cutoffs: str
    even_cutoffs: str
    # Messages in all, before the measured ones and after them: as many as the simulator had, and in a longer run.
    flows: tuple[int, int, int]
    longer: tuple[int, int, int]

    def sizes(self):
        """The sizes with the probability of each."""
        lines = (homa_sizes() / self.file).read_text().splitlines()[1:]
        found, last = [], 0
        for size, probability in (map(float, line.split()) for line in lines if line.strip()):
            if probability > last:
                found.append((size * self.unit, probability - last))
                last = probability
        return found

    def cdf(self, name):
        """Writes a CDF file in which every size has a probability of its own, and says where."""
        lines, last = [], 0
        for size, probability in self.sizes():
            lines += [f"{size:g} {last}", f"{size:g} {last + probability}"]
            last += probability
        lines[-1] = f"{self.sizes()[-1][0]:g} 1"
        folder = ROOT / "results" / "fidelity"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.cdf").write_text("\n".join([*lines, ""]))
        return f"workload.sizes=../results/fidelity/{name}.cdf"

    def load(self):
        """The load, which counts headers but not grants, at which as many bytes of messages are sent."""
        sent, own = (
            sum(probability * wire(size) for size, probability in self.sizes())
            for wire in (lambda size: size + 58 * math.ceil(size / 1460), lambda size: size)
        )
        return f"workload.load={0.8 * self.own_bytes * sent / own:.4f}"


HOMA = {
    "W3": HomaWorkload(
        "Google_AllRPC.txt",
        unit=1,
        own_bytes=0.887,
        cutoffs="433B 2339B 6756B",
        even_cutoffs="1084B 5772B 12440B",
        flows=(261822, 87274, 43637),
        longer=(1000000, 200000, 200000),
    ),
    "W4": HomaWorkload(
        "Facebook_HadoopDist_All.txt",
        unit=1,
        own_bytes=0.898,
        cutoffs="",
        even_cutoffs="",
        flows=(30248, 3025, 12099),
        longer=(200000, 50000, 50000),
    ),
    "W5": HomaWorkload(
        "DCTCP_MsgSizeDist.txt",
        unit=1442,
        own_bytes=0.898,
        cutoffs="",
        even_cutoffs="",
        flows=(2077, 260, 519),
        longer=(6000, 1500, 1500),
    ),
}


def homa_sizes():
    """The folder of the size distributions that the authors' repository has."""
    if folder := os.environ.get("HOMA_SIZES"):
        return pathlib.Path(folder)
    sys.exit("HOMA_SIZES is not set. Set it to the folder sizeDistributions of PlatformLab/HomaSimulation.")


def flow_settings(counts):
    keys = ("flows", "warm_up_flows", "cool_down_flows")
    return [f"workload.{key}={count}" for key, count in zip(keys, counts, strict=True)]


def cutoff_settings(cutoffs, *schemes):
    return [f"scheme.{scheme}.unscheduled_cutoffs={cutoffs}" for scheme in schemes] if cutoffs else []


def measured_flows(summary, columns):
    """By scheme, the measured flows of each seed: rows of the size and these columns."""
    try:
        import pyarrow.parquet
    except ImportError:
        sys.exit("This table needs pyarrow to read flows.parquet. Install it with `pip install pyarrow`.")
    names = ["scheme", "seed", "measured", "size_bytes", *columns]
    table = pyarrow.parquet.read_table(ROOT / summary["folder"] / "flows.parquet", columns=names)
    runs = {}
    for scheme, seed, measured, *row in zip(*(table[name].to_pylist() for name in names), strict=True):
        if measured:
            runs.setdefault(scheme, {}).setdefault(seed, []).append(row)
    return {scheme: list(by_seed.values()) for scheme, by_seed in runs.items()}


def in_tenths(rows):
    """Ten parts of equal length, by size."""
    ordered = sorted(rows, key=lambda row: row[0])
    ends = [round(len(ordered) * tenth / 10) for tenth in range(11)]
    return [ordered[begin:end] for begin, end in zip(ends, ends[1:])]


def largest(size):
    """The largest number of bytes that rounds to a size such as "1.8 KB"."""
    number, unit = size.split()
    half = 0.5 * 10 ** -len(number.partition(".")[2])
    return (float(number) + half) * {"B": 1, "KB": 1e3, "MB": 1e6}[unit]


def percentile(values, percent):
    """Between the two values beside it, in proportion."""
    ordered, at = sorted(values), (len(values) - 1) * percent / 100
    below, above = ordered[math.floor(at)], ordered[math.ceil(at)]
    return below + (above - below) * (at % 1)


def significant(number):
    """Three digits, or all before the point."""
    return f"{number:,.0f}" if number >= 100 else f"{number:#.3g}"


def homa(flowsched):
    yield (
        "workload",
        "tenth",
        "up to",
        "median: theirs",
        "ours",
        "ours / theirs",
        "with 6 packets / theirs",
        "p99: theirs",
        "ours",
        "ours / theirs",
    )
    with (ROOT / "reference" / "homa-80-percent.csv").open() as file:
        theirs = list(csv.DictReader(file))
    for name, workload in HOMA.items():
        cutoffs = cutoff_settings(workload.cutoffs, "homa", "six-packets")
        settings = [workload.cdf(name), workload.load(), *flow_settings(workload.flows), *cutoffs]
        runs = measured_flows(flowsched.run("homa-simulator", *settings), ["fct_receiver_ps"])
        upper = 0
        for row in theirs:
            if row["workload"] != name:
                continue
            lower, upper = upper, math.inf if row["tenth"] == "10" else largest(row["up_to"])
            times = {
                scheme: [[fct / 1e6 for size, fct in one if lower < size <= upper] for one in by_seed]
                for scheme, by_seed in runs.items()
            }
            cells = []
            for percent, key, schemes in [(50, "median_us", ["homa", "six-packets"]), (99, "p99_us", ["homa"])]:
                reference = float(row[key])
                cells += [significant(reference), significant(percentile(sum(times["homa"], []), percent))]
                cells += [ratios(times[scheme], percent, reference) for scheme in schemes]
            yield name, row["tenth"], row["up_to"], *cells


def ratios(times, percent, reference):
    """The ratio of a percentile to a reference: over all seeds, and the least and largest of one seed."""
    seeds = [percentile(one, percent) / reference for one in times]
    return f"{percentile(sum(times, []), percent) / reference:.2f} [{min(seeds):.2f}, {max(seeds):.2f}]"


def microseconds(size, gbps):
    return size * 8 / (gbps * 1e3)


def alone(size, src, dst):
    """Until a receiver has a message of this size (us) if no other is in the paper's network."""
    is_far = src // 16 != dst // 16
    before, full = (size - 1) // 1460, 1518
    last = size - before * 1460 + 58
    fabric = [is_far * microseconds(2 * one, 40) for one in (full, last)]
    ends = microseconds(before * full + last, 10) + fabric[1] + microseconds(last, 10)
    # The last packet may wait for the full one before it.
    behind = microseconds((before + 1) * full, 10) + fabric[0] + microseconds(last, 10)
    return (max(ends, behind) if before else ends) + 0.5 + 0.5 * is_far + 1.32


def homa_slowdown(flowsched):
    yield "workload", "scheme", "percentile", "utilisation", *(f"tenth {tenth}" for tenth in range(1, 11))
    for name, workload in HOMA.items():
        settings = [workload.cdf(name), "seeds=2", "sample_interval=100us", *flow_settings(workload.longer)]
        cutoffs = cutoff_settings(workload.even_cutoffs, "homa", "one-message")
        rows = [
            ("homa", "Homa", 50),
            ("homa", "Homa", 99),
            ("one-queue", "one queue", 99),
            ("one-message", "one granted message", 99),
        ]
        runs = [(flowsched.run("homa-fig12", *settings, *cutoffs), rows)]
        if cutoffs:
            runs.append((flowsched.run("homa-fig12", *settings), [("homa", "one unscheduled priority", 99)]))
        for summary, rows in runs:
            flows = measured_flows(summary, ["src", "dst", "fct_receiver_ps"])
            for scheme, words, percent in rows:
                used = [run["load"]["utilisation"] for run in summary["runs"] if run["scheme"] == scheme]
                slowdowns = (
                    percentile([fct / 1e6 / alone(size, src, dst) for size, src, dst, fct in tenth], percent)
                    for tenth in in_tenths(sum(flows[scheme], []))
                )
                figures = (f"{one:.2f}" for one in [sum(used) / len(used), *slowdowns])
                yield name, words, "median" if percent == 50 else f"p{percent}", *figures
