#!/usr/bin/env bash
# Installs what building and testing crates/agent needs on Debian or Ubuntu. Does nothing where
# everything is there already.
#
#   install-agent-deps.sh           to build: clang, libelf, zlib
#   install-agent-deps.sh --test    also to test: QEMU, busybox, iperf3, memcached, systemd, ...
set -euo pipefail

packages=(clang llvm libelf-dev zlib1g-dev pkg-config make gcc libc6-dev iproute2)
if [ "${1:-}" = "--test" ]; then
  packages+=(ethtool iperf3 memcached qemu-system-x86 busybox-static cpio kmod util-linux)
  packages+=(systemd python3-yaml adduser prometheus)
fi

"$(dirname "$0")/install-packages.sh" "${packages[@]}"
