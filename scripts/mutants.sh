#!/usr/bin/env bash
# Changes the code in small ways and reports which changes no test notices.
#
# usage: scripts/mutants.sh [CRATE ...]
#
# Each mutant is tested with its own crate's tests first. Those that survive are tested with the
# crates that depend on it. Results are in target/mutants/CRATE/mutants.out; the same command
# continues after an interruption, with the mutants that no test has caught so far.
# MUTANTS_SAMPLE=N tests a random sample of N mutants of each crate, the same one each time.
set -euo pipefail
cd "$(dirname "$0")/.."

crates=("$@")
[ ${#crates[@]} -gt 0 ] || crates=(schemes sim fluid thresholds experiment agent)
target=${CARGO_TARGET_DIR:-$PWD/target}

# The crates that depend on one, nearest first.
dependents() {
  cargo tree --workspace --invert "flowsched-$1" --edges normal,dev --depth 2 --prefix none \
    | awk '{ print $1 }' | grep '^flowsched' | grep -vx "flowsched-$1" | sort -u
}

# The mutants of a crate to leave out so that a sample is left: one --exclude-re for each.
sample() {
  cargo mutants --list -p "flowsched-$1" | sort -R --random-source=<(yes flowsched) \
    | head -n "$MUTANTS_SAMPLE" | sed 's/[][\.*^$()+?{}|]/\\&/g; s/^/--re=^/; s/$/$/'
}

for crate in "${crates[@]}"; do
  options=(-p "flowsched-$crate" --output "$target/mutants/$crate" --iterate --no-shuffle)
  if [ -n "${MUTANTS_SAMPLE:-}" ]; then
    mapfile -t chosen < <(sample "$crate")
    options+=("${chosen[@]}")
  fi
  echo "== $crate, by its own tests"
  cargo mutants "${options[@]}" || [ $? -le 3 ]
  others=$(dependents "$crate" | paste -sd,)
  if [ -n "$others" ]; then
    echo "== $crate, by the tests of $others"
    cargo mutants "${options[@]}" --test-package "$others" || [ $? -le 3 ]
  fi
  echo "== $crate: $(wc -l < "$target/mutants/$crate/mutants.out/missed.txt") missed"
done
