#!/usr/bin/env bash
# Installs what testing crates/report needs on Debian or Ubuntu: a browser and a font. Does
# nothing where everything is there already. Building and running need neither.
set -euo pipefail

packages=(chromium fonts-dejavu-core)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi
if [ "$(id -u)" -ne 0 ]; then
  echo "install-report-deps: missing ${missing[*]}; run as root, or: apt-get install ${missing[*]}" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}"
