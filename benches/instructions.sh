#!/usr/bin/env bash
# Compares two binaries by the instructions that a packet-hop takes, each scheme of schemes.toml.
#
#   benches/instructions.sh BASE NEW
#
# The count hardly depends on what else the machine does, unlike time; it says nothing of misses.
# BASE_SCENES and NEW_SCENES are as in ratio.sh. Needs valgrind; a scheme has 300 flows.
set -euo pipefail

if [ $# -ne 2 ]; then
  sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

python3 - "$1" "${BASE_SCENES:-$here}" "$2" "${NEW_SCENES:-$here}" "$scratch" <<'PYTHON'
import json, pathlib, re, statistics, subprocess, sys

base, base_scenes, new, new_scenes, scratch = sys.argv[1:]


def scenes(folder):
    """schemes.toml as one experiment for each scheme."""
    head, *schemes = pathlib.Path(folder, "schemes.toml").read_text().split("[[scheme]]\n")
    return {re.search(r'preset = "(.*)"', scheme)[1]: f"{head}[[scheme]]\n{scheme}"
            for scheme in schemes}


def per_hop(binary, experiment):
    """Instructions of a whole run for each packet-hop, and the hops."""
    file = pathlib.Path(scratch, "scene.toml")
    file.write_text(experiment)
    counts = pathlib.Path(scratch, "counts")
    out = subprocess.run(
        ["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={counts}",
         binary, "run", file, "--threads", "1", "--seed", "1", "--set", "seeds=1",
         "--set", "workload.flows=300", "--out", f"{scratch}/out", "--format", "json"],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    subprocess.run(["rm", "-rf", f"{scratch}/out"], check=True)
    total = int(re.search(r"^summary: (\d+)", counts.read_text(), re.M)[1])
    hops = json.loads(out)["runs"][0]["packet_hops"]
    return total / hops, hops


print(f"{'scheme':16} {'base':>7} {'new':>7}  instructions a hop   base / new")
ratios = []
of_new = scenes(new_scenes)
for scheme, experiment in scenes(base_scenes).items():
    if scheme not in of_new:
        continue
    (before, hops), (after, same) = per_hop(base, experiment), per_hop(new, of_new[scheme])
    ratios.append(before / after)
    note = "" if hops == same else "   other hops"
    print(f"{scheme:16} {before:7.1f} {after:7.1f} {'':19} {before / after:10.3f}{note}", flush=True)
print(f"{'median':16} {'':7} {'':7} {'':19} {statistics.median(ratios):10.3f}")
PYTHON
