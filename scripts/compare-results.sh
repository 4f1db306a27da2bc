#!/usr/bin/env bash
# Checks that two builds of flowsched give the same results: runs every quick experiment with both
# and compares the tables of flows and ports byte by byte.
#
# usage: scripts/compare-results.sh BEFORE AFTER [SECONDS]
#
# BEFORE and AFTER are binaries. An experiment is quick if BEFORE finishes it within SECONDS (60).
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# -lt 2 ]; then
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
fi
before=$(realpath "$1")
after=$(realpath "$2")
limit=${3:-60}
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

same=0 slow=0 different=()
for experiment in experiments/*.toml; do
  name=$(basename "$experiment" .toml)
  if ! timeout "$limit" "$before" run "$experiment" --out "$results/before" >/dev/null 2>&1; then
    slow=$((slow + 1))
  else
    "$after" run "$experiment" --out "$results/after" >"$results/log" 2>&1 || tail -n 3 "$results/log"
    if cmp -s "$results"/{before,after}/flows.parquet && cmp -s "$results"/{before,after}/ports.parquet; then
      same=$((same + 1))
    else
      different+=("$name")
    fi
  fi
  rm -rf "$results"/{before,after}
done

echo "$same experiments give the same tables, ${#different[@]} do not, $slow take longer than $limit s"
if [ ${#different[@]} -gt 0 ]; then
  printf '%s\n' "${different[@]}"
  exit 1
fi
