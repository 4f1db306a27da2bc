#!/usr/bin/env bash
# Compares the wall time of one simulation on several threads with its time on one, in turns.
#
#   benches/threads.sh BINARY [TURNS] [THREADS]
#
# BINARY is a release binary. Scenes are DCTCP and PIAS with 8 queues on the 144 hosts of throughput.toml,
# and on 1,024 hosts at 100 Gbps. A turn runs each of these once on one thread and once on THREADS (default:
# 2); which of the two goes first changes from turn to turn. The table gives packet-hops per second of wall
# time, medians over the turns, and the median, least and greatest ratio. Tables are not timed, and have to
# be equal. FLOWS is the number of flows (default: 3000).
set -euo pipefail

if [ $# -lt 1 ]; then
  sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
binary=$1 turns=${2:-5} threads=${3:-2} flows=${FLOWS:-3000}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

large="--set topology.leaves=32 --set topology.hosts_per_leaf=32 --set topology.spines=16
  --set topology.host_link=100Gbps --set topology.fabric_link=100Gbps"

# Writes the scene with the scheme of this number alone.
scene_of() { # number
  python3 - "$here/throughput.toml" "$1" >"$scratch/scene.toml" <<'PYTHON'
import sys
path, number = sys.argv[1:]
head, *schemes = open(path).read().split("[[scheme]]")
print(head + "[[scheme]]" + schemes[int(number)])
PYTHON
}

# Runs one scheme on so many threads and appends a line to the measurements.
measure() { # scene scheme threads turn settings...
  local scene=$1 scheme=$2 count=$3 turn=$4
  shift 4
  "$binary" run "$scratch/scene.toml" --seed 1 --set seeds=1 --set "workload.flows=$flows" "$@" \
    --threads "$count" --format json --out "$scratch/out" \
    >"$scratch/run.json" 2>"$scratch/errors" || { cat "$scratch/errors" >&2; exit 1; }
  python3 - "$scene" "$scheme" "$count" "$turn" "$scratch" >>"$scratch/measurements" <<'PYTHON'
import hashlib, json, pathlib, sys
scene, scheme, count, turn, scratch = sys.argv[1:]
[run] = json.load(open(f"{scratch}/run.json"))["runs"]
tables = sorted(pathlib.Path(scratch, "out").rglob("*.parquet"))
digest = hashlib.sha256(b"".join(table.read_bytes() for table in tables)).hexdigest()
counted = "/".join(str(run[key]) for key in ("packet_hops", "events", "drops", "ecn_marks"))
print(scene, scheme, count, turn, run["wall_s"], run["packet_hops"], digest + counted)
PYTHON
  rm -rf "$scratch/out"
}

for ((turn = 1; turn <= turns; turn++)); do
  echo "turn $turn of $turns" >&2
  order="1 $threads"
  ((turn % 2)) || order="$threads 1"
  for number in 0 1; do
    scheme=$([ $number = 0 ] && echo dctcp || echo pias)
    scene_of $number
    for count in $order; do
      measure 144-hosts "$scheme" "$count" "$turn"
    done
    for count in $order; do
      measure 1024-hosts "$scheme" "$count" "$turn" $large
    done
  done
done

python3 - "$scratch/measurements" "$threads" <<'PYTHON'
import collections, statistics, sys
path, threads = sys.argv[1:]
times = collections.defaultdict(lambda: collections.defaultdict(dict))
results, hops = collections.defaultdict(set), {}
for line in open(path):
    scene, scheme, count, turn, seconds, packets, result = line.split()
    times[scene, scheme][count][turn] = float(seconds)
    results[scene, scheme].add(result)
    hops[scene, scheme] = int(packets)
print(f"{'scene':11} {'scheme':7} {'1 thread':>9} {threads + ' threads':>10}  M packet-hops/s   ratio [least, greatest]")
for case, of in sorted(times.items()):
    rate = lambda count: hops[case] / statistics.median(of[count].values()) / 1e6
    ratios = [of["1"][turn] / of[threads][turn] for turn in of["1"]]
    print(f"{case[0]:11} {case[1]:7} {rate('1'):9.1f} {rate(threads):10.1f} {'':17} "
          f"{statistics.median(ratios):.2f} [{min(ratios):.2f}, {max(ratios):.2f}]")
    if len(results[case]) > 1:
        sys.exit("threads.sh: results depend on the number of threads")
PYTHON
