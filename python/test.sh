#!/usr/bin/env bash
# Builds the wheel, installs it into a clean virtual environment, and tests what is installed: pytest with
# doctests and the notebook, strict types, and a thousand runs that leave nothing behind.
#
#   python/test.sh [--soak | --bench]
#
# --soak only runs the sweep of 500 experiments. --bench only measures what a sweep costs beside its runs, with a wheel
# of the profile `release`; PAIRS and FLOWS say how often and how long (python/benches/sweep_overhead.py).
# FLOWSCHED is the binary of the command line to compare with; without it the debug build is used.
# TESTED says what `cargo test` builds: the wheel's library is then built together with it.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
target=${CARGO_TARGET_DIR:-target}
export FLOWSCHED=${FLOWSCHED:-$PWD/target/debug/flowsched}
case $target in /*) ;; *) target=$PWD/$target ;; esac
[ -x "$FLOWSCHED" ] || FLOWSCHED=$target/debug/flowsched
if [ ! -x "$FLOWSCHED" ] && [ "${1:-}" != --bench ]; then
  cargo build --quiet -p flowsched
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
pip() { "$work/venv/bin/python" -m pip --quiet --disable-pip-version-check "$@"; }
pip install 'maturin>=1.9,<2'
profile=dev
[ "${1:-}" != --bench ] || profile=release
# A package alone has libraries with other features than the whole workspace, so the simulator would be compiled again.
# maturin therefore calls this instead of cargo, and hears of the wheel's library alone.
if [ -n "${TESTED:-}" ]; then
  cat > "$work/cargo" <<EOF
#!/usr/bin/env bash
set -euo pipefail
[ "\$1" = rustc ] || exec cargo "\$@"
cargo build $TESTED --lib --bins --tests --examples --message-format json-render-diagnostics | grep -F '"name":"_native"'
EOF
  chmod +x "$work/cargo"
  export CARGO=$work/cargo
fi
"$work/venv/bin/maturin" build --quiet --profile "$profile" --manifest-path python/Cargo.toml \
  --interpreter "$work/venv/bin/python" --out "$work/wheels"
wheel=$(echo "$work"/wheels/flowsched-*-abi3-*.whl)
pip install "$wheel[test]"

# Away from the sources, so that the installed package is what is imported.
cp -r python/benches python/tests python/notebooks python/pyproject.toml "$work/"
export FLOWSCHED_REPOSITORY=$PWD
cd "$work"
installed=$("$work/venv/bin/python" -c 'import flowsched, pathlib; print(pathlib.Path(flowsched.__file__).parent)')
run() { "$work/venv/bin/python" -m "$@"; }
case ${1:-} in
  --soak)
    run pytest -m soak tests
    exit ;;
  --bench)
    "$work/venv/bin/python" benches/sweep_overhead.py "${PAIRS:-3}" "${FLOWS:-10000}"
    exit ;;
esac
run mypy --strict --config-file pyproject.toml -p flowsched
run pytest -m 'not soak' tests --doctest-modules "$installed" -p no:cacheprovider
