#!/usr/bin/env bash
# Prints the medians over seeds of what each run says of itself, one run at a time.
set -euo pipefail
cd "$(dirname "$0")/.."
binary=target/release/flowsched
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Reads summary.json, prints: scheme, hops, median million packet-hops per user CPU-second, RSS.
summarise() {
  tr -d ' \n' <"$1" | sed 's/{"point"/\n{"point"/g; s/{"scheme":"/\n{"scheme":"/g' | awk '
    function field(name,   from) {
      if (!match($0, "\"" name "\":[-+0-9.e]+")) return ""
      from = substr($0, RSTART, RLENGTH); sub(/.*:/, "", from); return from
    }
    /"packet_hops":/ {
      match($0, /"scheme":"[^"]*"/); scheme = substr($0, RSTART + 10, RLENGTH - 11)
      n[scheme]++; hops[scheme] = field("packet_hops")
      rate[scheme, n[scheme]] = field("packet_hops") / field("cpu_s") / 1e6
      rss = field("peak_rss_bytes") / 1e6; if (rss > peak[scheme]) peak[scheme] = rss
    }
    END {
      for (scheme in n) {
        for (i = 1; i <= n[scheme]; i++) for (j = i + 1; j <= n[scheme]; j++)
          if (rate[scheme, j] < rate[scheme, i]) {
            t = rate[scheme, i]; rate[scheme, i] = rate[scheme, j]; rate[scheme, j] = t
          }
        printf "  %-12s %11d hops in the last run   median %6.2f M packet-hops/CPU-s   peak %5.1f MB\n",
          scheme, hops[scheme], rate[scheme, int((n[scheme] + 1) / 2)], peak[scheme]
      }
    }' | sort
}

for experiment in throughput schemes growth; do
  grep -m1 '^name' "benches/$experiment.toml" | sed 's/name = //; s/"//g'
  "$binary" run "benches/$experiment.toml" --threads 1 --out "$scratch/$experiment" \
    --format json >"$scratch/$experiment.json" 2>/dev/null
  summarise "$scratch/$experiment.json"
done

if [ -x benches/basin_hopping/run.sh ]; then
  benches/basin_hopping/run.sh
fi
