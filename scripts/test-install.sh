#!/usr/bin/env bash
# Installs the binary under a temporary PREFIX, follows the first steps of the tutorial with it, and
# uninstalls it.
#
#   scripts/test-install.sh BINARY
set -euo pipefail

binary=$(realpath "${1:?usage: scripts/test-install.sh BINARY}")
repository=$(realpath "$(dirname "$0")/..")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "test-install: $*" >&2
  exit 1
}

unset DESTDIR
export PREFIX="$folder/a prefix"
export PATH="$PREFIX/bin:$PATH"
"$repository/scripts/install.sh" "$binary" > "$folder/said"
grep -q "not on your PATH" "$folder/said" && fail "the PATH has the program's folder"

for page in flowsched flowsched-run flowsched-search flowsched-thresholds; do
  grep -q "^.TH" "$PREFIX/share/man/man1/$page.1" || fail "no manual page $page"
done
bash -c 'source "$PREFIX/share/bash-completion/completions/flowsched" && complete -p flowsched' \
  > "$folder/complete" || fail "bash does not read the completions"
for file in zsh/site-functions/_flowsched fish/vendor_completions.d/flowsched.fish; do
  grep -q thresholds "$PREFIX/share/$file" || fail "no completions in $file"
done

# The tutorial, in a folder that has nothing but the experiments.
cp -r "$repository/experiments" "$folder/experiments"
cd "$folder"
[ "$(command -v flowsched)" = "$PREFIX/bin/flowsched" ] || fail "another flowsched runs"
flowsched run experiments/pias-vs-dctcp.toml --quick 2> run.log > table || fail "$(cat run.log)"
grep -q "pias" table || fail "no table"
[ -s results/pias-vs-dctcp/report.html ] || fail "no report"
flowsched check experiments/pias-vs-dctcp.toml --set workload.load=0.6 > /dev/null
if flowsched check experiments/pias-vs-dctcp.toml --set workload.lod=0.6 2> mistake; then
  fail "a mistyped key is not refused"
fi
grep -q 'did you mean "load"?' mistake || fail "$(cat mistake)"

"$repository/scripts/install.sh" --uninstall
left=$(find "$PREFIX" -type f)
[ -z "$left" ] || fail "uninstalling leaves $left"

DESTDIR="$folder/package" PREFIX=/usr "$repository/scripts/install.sh" "$binary" > /dev/null
[ -x "$folder/package/usr/bin/flowsched" ] || fail "DESTDIR does not go before PREFIX"
echo "test-install: ok"
