#!/usr/bin/env bash
# Installs what building and testing crates/agent needs on Debian or Ubuntu. Does nothing where
# everything is there already.
#
#   install-agent-deps.sh           to build: clang, libelf, zlib
#   install-agent-deps.sh --test    also to test: QEMU, busybox, iperf3, memcached, ...
set -euo pipefail

packages=(clang llvm libelf-dev zlib1g-dev pkg-config make gcc libc6-dev iproute2)
if [ "${1:-}" = "--test" ]; then
  packages+=(ethtool iperf3 memcached qemu-system-x86 busybox-static cpio kmod util-linux)
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi
if [ "$(id -u)" -ne 0 ]; then
  echo "install-agent-deps: missing ${missing[*]}; run as root, or: apt-get install ${missing[*]}" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}"
