#!/usr/bin/env bash
# Installs what building and testing crates/agent needs on Debian or Ubuntu. Does nothing where
# everything is there already.
#
#   install-agent-deps.sh           to build: clang, libelf, zlib, protoc for etcd's interface
#   install-agent-deps.sh --test    also to test: QEMU, busybox, iperf3, memcached, systemd, ...
#   install-agent-deps.sh --arm64   also to build for arm64 on amd64 and to test that in QEMU
set -euo pipefail

packages=(clang llvm libelf-dev zlib1g-dev pkg-config make gcc libc6-dev iproute2)
packages+=(protobuf-compiler libprotobuf-dev)
if [ "${1:-}" = "--test" ]; then
  packages+=(ethtool iperf3 memcached qemu-system-x86 busybox-static cpio kmod util-linux)
  packages+=(systemd python3-yaml adduser prometheus etcd-server etcd-client faketime tshark)
fi
if [ "${1:-}" = "--arm64" ]; then
  packages+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-system-arm busybox-static binutils)
  packages+=(cpio ethtool kmod xz-utils)
fi

"$(dirname "$0")/install-packages.sh" "${packages[@]}"

if [ "${1:-}" = "--arm64" ]; then
  target=aarch64-unknown-linux-gnu
  if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$target" ] && ! rustup target add "$target"; then
    echo "missing Rust's target $target, which rustup could not add" >&2
    exit 1
  fi
fi
