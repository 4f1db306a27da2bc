#!/bin/sh
# How the flow-level engine grows with the network: fat-trees of k-port switches, flows in
# proportion to the hosts, one run at a time. `sh benches/fluid.sh 8 16 34`; prints hosts, flows,
# scheme, user CPU seconds from reading the experiment to the end of the simulation, events and the
# largest memory of the process so far. FLOWS_PER_HOST is 100 unless set; k = 34 with 1,000,000 flows
# is FLOWS=1000000 sh benches/fluid.sh 34.
set -eu
flowsched=${FLOWSCHED:-target/release/flowsched}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for k in "$@"; do
    hosts=$((k * k * k / 4))
    flows=${FLOWS:-$((hosts * ${FLOWS_PER_HOST:-100}))}
    "$flowsched" run benches/fluid-fat-tree.toml --threads 1 --format json --out "$folder/$k" \
        --set topology.k="$k" --set workload.flows="$flows" 2>/dev/null |
        jq -r --arg hosts "$hosts" '.runs[] | "\($hosts) hosts, \(.flows) flows, \(.scheme): " +
            "\(.cpu_s * 10 | round / 10) s, \(.events) events, \(.peak_rss_bytes / 1e6 | round) MB"'
done
