#!/bin/sh
# Prints value and CPU time of the exact optimiser and of SciPy's basin hopping side by side.
# The Python environment is made on first use, in the target folder; nothing else needs it.
set -eu
cd "$(dirname "$0")/../.."
target="${CARGO_TARGET_DIR:-target}"
venv="$target/basin-hopping"
if ! "$venv/bin/python" -c "import scipy" 2>/dev/null; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet -r benches/basin_hopping/requirements.txt
fi
cargo build --quiet --release -p flowsched-thresholds --example optimise
"$target/release/examples/optimise"
echo
"$target/release/examples/optimise" --json | OMP_NUM_THREADS=1 "$venv/bin/python" benches/basin_hopping/compare.py
