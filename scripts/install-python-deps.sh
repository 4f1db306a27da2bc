#!/usr/bin/env bash
# Installs what testing the Python package needs on Debian or Ubuntu: Python with virtual environments. Does
# nothing where that works already.
set -euo pipefail

"${PYTHON:-python3}" -c 'import ensurepip, venv' 2>/dev/null || "$(dirname "$0")/install-packages.sh" python3-venv
