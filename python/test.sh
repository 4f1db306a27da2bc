#!/usr/bin/env bash
# Builds the wheel, installs it into a clean virtual environment, and tests what is installed: pytest with
# doctests and the notebook, strict types, and a thousand runs that leave nothing behind.
#
#   python/test.sh [--soak]
#
# FLOWSCHED is the binary of the command line to compare with; without it the debug build is used.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
target=${CARGO_TARGET_DIR:-target}
export FLOWSCHED=${FLOWSCHED:-$PWD/target/debug/flowsched}
case $target in /*) ;; *) target=$PWD/$target ;; esac
[ -x "$FLOWSCHED" ] || FLOWSCHED=$target/debug/flowsched
if [ ! -x "$FLOWSCHED" ]; then
  cargo build --quiet -p flowsched
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
pip() { "$work/venv/bin/python" -m pip --quiet --disable-pip-version-check "$@"; }
pip install 'maturin>=1.9,<2'
# The profile `dev` shares its artefacts with `cargo test`.
"$work/venv/bin/maturin" build --quiet --profile dev --manifest-path python/Cargo.toml \
  --interpreter "$work/venv/bin/python" --out "$work/wheels"
wheel=$(echo "$work"/wheels/flowsched-*-abi3-*.whl)
pip install "$wheel[test]"

# Away from the sources, so that the installed package is what is imported.
cp -r python/tests python/notebooks python/pyproject.toml "$work/"
export FLOWSCHED_REPOSITORY=$PWD
cd "$work"
installed=$("$work/venv/bin/python" -c 'import flowsched, pathlib; print(pathlib.Path(flowsched.__file__).parent)')
run() { "$work/venv/bin/python" -m "$@"; }
if [ "${1:-}" = --soak ]; then
  run pytest -m soak tests
  exit
fi
run mypy --strict --config-file pyproject.toml -p flowsched
run pytest -m 'not soak' tests --doctest-modules "$installed" -p no:cacheprovider
