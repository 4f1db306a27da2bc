#!/usr/bin/env bash
# Compares the speed of two binaries: packet-hops per CPU-second, each scheme of each scene, in turns.
#
#   benches/ratio.sh BASE NEW [TURNS]
#
# BASE and NEW are release binaries. A turn runs every scene once with each; which of the two goes
# first changes from turn to turn. The table gives the median, least and greatest ratio NEW / BASE
# over the turns. A binary of another age may need scene files of its own: BASE_SCENES and
# NEW_SCENES name their folders (default: the folder of this script). SCENES names the scenes.
set -euo pipefail

if [ $# -lt 2 ]; then
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
base=$1 new=$2 turns=${3:-5}
base_scenes=${BASE_SCENES:-$here} new_scenes=${NEW_SCENES:-$here}
scenes=${SCENES:-throughput schemes}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Runs one scene with one binary and appends a line per scheme to the measurements.
measure() { # side binary folder scene turn
  "$2" run "$3/$4.toml" --threads 1 --seed 1 --set seeds=1 --format json \
    --out "$scratch/out" >"$scratch/run.json" 2>"$scratch/errors" ||
    { cat "$scratch/errors" >&2; echo "ratio.sh: $2 cannot run $3/$4.toml" >&2; exit 1; }
  python3 - "$1" "$4" "$5" "$scratch/run.json" >>"$scratch/measurements" <<'PYTHON'
import json, sys
side, scene, turn, path = sys.argv[1:]
for run in json.load(open(path))["runs"]:
    print(side, scene, turn, run["scheme"].replace(" ", "_"), run["packet_hops"], run["cpu_s"])
PYTHON
  rm -rf "$scratch/out"
}

for ((turn = 1; turn <= turns; turn++)); do
  echo "turn $turn of $turns" >&2
  for scene in $scenes; do
    if ((turn % 2)); then
      measure base "$base" "$base_scenes" "$scene" "$turn"
      measure new "$new" "$new_scenes" "$scene" "$turn"
    else
      measure new "$new" "$new_scenes" "$scene" "$turn"
      measure base "$base" "$base_scenes" "$scene" "$turn"
    fi
  done
done

python3 - "$scratch/measurements" <<'PYTHON'
import collections, statistics, sys
rates = collections.defaultdict(lambda: collections.defaultdict(dict))
hops = collections.defaultdict(lambda: collections.defaultdict(set))
for line in open(sys.argv[1]):
    side, scene, turn, scheme, count, seconds = line.split()
    rates[scene, scheme][side][turn] = int(count) / float(seconds) / 1e6
    hops[scene, scheme][side].add(int(count))
print(f"{'scene':12} {'scheme':16} {'base':>6} {'new':>6}  M packet-hops/CPU-s   ratio [least, greatest]")
for (scene, scheme), sides in rates.items():
    both = [sides["new"][turn] / sides["base"][turn] for turn in sides["base"]
            if turn in sides["new"]]
    if not both:
        continue
    same = "" if hops[scene, scheme]["base"] == hops[scene, scheme]["new"] else "   other hops"
    print(f"{scene:12} {scheme:16} {statistics.median(sides['base'].values()):6.2f} "
          f"{statistics.median(sides['new'].values()):6.2f} {'':21} "
          f"{statistics.median(both):5.3f} [{min(both):.3f}, {max(both):.3f}]{same}")
PYTHON
