#!/usr/bin/env bash
# Installs what testing crates/report needs on Debian or Ubuntu: a browser and a font. Does
# nothing where everything is there already. Building and running need neither.
set -euo pipefail

packages=(chromium fonts-dejavu-core)

"$(dirname "$0")/install-packages.sh" "${packages[@]}"
