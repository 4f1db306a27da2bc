#!/usr/bin/env bash
# Validates the output of `switch-config --platform sonic` for 2 to 8 levels against SONiC's YANG models, and
# checks that the models refuse invalid values.
#
#   check.sh MODELS FLOWSCHED
#
# MODELS is the folder src/sonic-yang-models of a checkout of sonic-net/sonic-buildimage.
set -euo pipefail
cd "$(dirname "$0")"
models=${1:?MODELS is missing: the folder src/sonic-yang-models of a checkout of sonic-net/sonic-buildimage}
flowsched=${2:?FLOWSCHED is missing: the program}
command -v yanglint >/dev/null || apt-get install -y libyang2-tools
python3 -c 'import jinja2' 2>/dev/null || apt-get install -y python3-jinja2

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
thresholds=""
for level in 2 3 4 5 6 7 8; do
  thresholds="$thresholds $((level * 10))KB"
  printf 'interfaces = ["eth0"]\nthresholds = "%s"\n' "${thresholds# }" > "$folder/agent.toml"
  "$flowsched" switch-config "$folder/agent.toml" --platform sonic --ports Ethernet0,Ethernet4 --rate 10Gbps \
    > "$folder/config_db.json"
  printf '%s levels: ' "$level"
  ./validate.py "$models" "$folder/config_db.json"
done

# Each substitution makes one value invalid.
for spoil in 's/"scheduler": ".*"/"scheduler": "nobody"/' 's/"type": "STRICT"/"type": "STRCT"/' \
  's/"green_drop_probability": ".*"/"green_drop_probability": "101"/'; do
  sed "$spoil" "$folder/config_db.json" > "$folder/spoilt.json"
  if ./validate.py "$models" "$folder/spoilt.json" > "$folder/said" 2>&1; then
    echo "the models accept what \`$spoil\` makes" >&2
    exit 1
  fi
  echo "refused: $spoil"
done
