#!/usr/bin/env bash
# Compares the wall time of one flow-level run, max-min, on two threads with its time on one, in turns.
#
#   benches/fluid-threads.sh BINARY [TURNS] [K] [FLOWS]
#
# BINARY is a release binary. The network is the fat-tree of fluid-fat-tree.toml with K ports a switch (default: 34)
# and FLOWS flows (default: 1000000). Prints seconds of wall and user time of each run, and the median, least and
# greatest ratio of wall times. Tables are not timed, and have to be equal. Nothing else may run meanwhile.
set -euo pipefail

if [ $# -lt 1 ]; then
  sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
binary=$1 turns=${2:-3} k=${3:-34} flows=${4:-1000000}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# The first scheme alone: threads are for runs first.
sed '/^name = "max-min"/q' "$here/fluid-fat-tree.toml" >"$scratch/scene.toml"

# Prints the wall time of a run, after a line about it.
measure() { # threads
  "$binary" run "$scratch/scene.toml" --set topology.k="$k" --set workload.flows="$flows" --threads "$1" \
    --format json --out "$scratch/out" >"$scratch/run.json" 2>"$scratch/errors" || { cat "$scratch/errors" >&2; exit 1; }
  jq -r --arg threads "$1" '.runs[] | "\($threads): \(.wall_s) s of wall time, \(.cpu_s) s of user time"' \
    "$scratch/run.json" >&2
  find "$scratch/out" -name '*.parquet' | sort | xargs cat | sha256sum >>"$scratch/tables"
  rm -rf "$scratch/out"
  jq '.runs[].wall_s' "$scratch/run.json"
}

for ((turn = 1; turn <= turns; turn++)); do
  if ((turn % 2)); then
    one=$(measure 1) two=$(measure 2)
  else
    two=$(measure 2) one=$(measure 1)
  fi
  jq -n "$one / $two" >>"$scratch/ratios"
done
[ "$(sort -u "$scratch/tables" | wc -l)" = 1 ] || { echo "fluid-threads.sh: results depend on threads" >&2; exit 1; }
jq -rs 'sort | "\(.[length / 2 | floor]) [\(first), \(last)] times as fast on two threads"' "$scratch/ratios"
