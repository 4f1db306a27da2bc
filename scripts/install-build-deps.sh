#!/usr/bin/env bash
# Checks that there is what building needs: a C compiler and a Rust toolchain that is new enough.
set -euo pipefail

if ! command -v cc >/dev/null; then
  echo "flowsched needs a C compiler: apt-get install build-essential" >&2
  exit 1
fi
if ! command -v cargo >/dev/null; then
  echo "flowsched needs cargo 1.89 or newer: https://rustup.rs" >&2
  exit 1
fi
