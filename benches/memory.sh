#!/bin/sh
# The largest memory of whole runs, tables and report included: 10,000 flows of DCTCP over 144 hosts, and
# 1,000,000 fluid flows over 9,826 hosts, max-min. `cpu_s` is the processor time until the tables are written. The
# second run is cut short after 1 us, so that its `cpu_s` is what it takes to build the network and to draw the
# flows; WHOLE=1 simulates it to the end.
set -eu
flowsched=${FLOWSCHED:-target/release/flowsched}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

measure() { # experiment arguments: runs its first scheme alone
    awk '/^\[\[scheme\]\]/ && schemes++ { exit } { print }' "$1" >"$folder/one.toml"
    experiment=$1
    shift
    /usr/bin/time -f '%M %U' -o "$folder/time" \
        "$flowsched" run "$folder/one.toml" "$@" --threads 1 --seed 1 --format json \
        --out "$folder/out" >"$folder/json" 2>/dev/null
    read -r kilobytes user <"$folder/time"
    cpu=$(jq '.runs[0].cpu_s * 100 | round / 100' "$folder/json")
    echo "$experiment: $((kilobytes * 1024 / 1000000)) MB, $user s of user time, cpu_s $cpu"
    rm -r "$folder/out"
}

measure benches/throughput.toml --set seeds=1
case ${WHOLE:-} in
'') measure benches/fluid-fat-tree.toml --set until=1us ;;
*) measure benches/fluid-fat-tree.toml ;;
esac
