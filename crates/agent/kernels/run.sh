#!/usr/bin/env bash
# Runs tests of the agent under other kernels: Debian's, in QEMU without KVM, from a file system
# that is built here. For function, not for time.
#
#   run.sh                 Debian's 6.1, and some of the tests under the newest that it has, in
#                          backports to its stable release where they can be reached
#   run.sh 6.1.0 6.12      kernels whose package names begin so
#   run.sh --arm64 [...]   the same kernels for arm64, with the agent and its tests built for arm64
#
# TESTED says what `cargo test` builds, "-p flowsched-agent" unless it is set: what it built already
# is not built again.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
work=$target/kernels
mkdir -p "$work"

architecture=amd64
if [ "${1:-}" = --arm64 ]; then
  architecture=arm64
  shift
fi
versions=("${@:-6.1.0}")
[ $# -gt 0 ] || versions+=(newest)

case $architecture in
  amd64)
    machine=x86_64
    emulator=(qemu-system-x86_64 -cpu max)
    compiler=gcc
    console=ttyS0
    dependencies=--test
    tests=$here/tests.sh
    tests_newest=$here/tests-newest.sh
    ;;
  arm64)
    machine=aarch64
    # With a cheap function to authenticate pointers: the architecture's own is slow to emulate.
    emulator=(qemu-system-aarch64 -M virt -cpu max,pauth-impdef=on)
    compiler=aarch64-linux-gnu-gcc
    console=ttyAMA0
    dependencies=--arm64
    tests=$here/tests-arm64.sh
    tests_newest=$tests
    ;;
esac

for tool in "${emulator[0]}" $compiler busybox cpio dpkg-deb apt-get ethtool depmod xz readelf; do
  if ! command -v "$tool" >/dev/null; then
    echo "skipped: $tool is missing (scripts/install-agent-deps.sh $dependencies)"
    exit 0
  fi
done
if [ "$(dpkg --print-architecture)" != amd64 ]; then
  echo "skipped: other kernels are tried on amd64 alone"
  exit 0
fi

# Modules that the tests need, beside what is built in.
modules="veth tun vxlan ip6_udp_tunnel udp_tunnel dummy sch_ingress sch_tbf sch_prio sch_ets sch_red
  sch_htb sch_codel sch_fq sch_fq_codel cls_bpf cls_u32 act_mirred tcp_dctcp ipv6"

. "$here/packages.sh"
. "$here/image.sh"
. "$here/arm64.sh"

if ! list_packages; then
  echo "skipped: Debian's packages cannot be reached"
  exit 0
fi

sysroot=
[ $architecture = amd64 ] || prepare_arm64

build_tests() { # sets `built`: the agent, and the test programs that the lists name
  local name names=(examples/flowsched-agent) messages=$work/built-$architecture.json
  for name in $(sed -n 's/^ *run \([a-z_]*\) .*/\1/p' "$tests" "$tests_newest" | sort -u); do
    names+=("deps/$name-[0-9a-f]*")
  done
  # shellcheck disable=SC2086 # what is tested is words
  (cd "$root" && cargo test -q ${TESTED:--p flowsched-agent} --no-run --message-format=json) >"$messages"
  mapfile -t built < <(grep 'crates/agent#' "$messages" | grep -o '"executable":"[^"]*"' | cut -d'"' -f4 |
    grep -E "/($(IFS='|'; echo "${names[*]}"))\$")
  # A list that names no test would test nothing.
  if [ ${#built[@]} -ne ${#names[@]} ]; then
    echo "of ${names[*]}, these were built: ${built[*]}" >&2
    exit 1
  fi
}

build_tests

# One kernel, with an image of its own.
try() { # package, list of tests
  local package=$1 list=$2 folder image=$work/image.$1.gz
  folder=$(kernel "$package")
  image "$folder" "$list" "$image"
  timeout 3600 "${emulator[@]}" -accel tcg -m 1024 -smp 1 -nographic -no-reboot \
    -kernel "$folder"/boot/vmlinuz-* -initrd "$image" \
    -append "console=$console quiet panic=-1" </dev/null >"$work/log.$package" || true
  rm "$image"
}

packages=()
declare -A list_of
for version in "${versions[@]}"; do
  package=$(kernel_package "$version")
  if [ -z "$package" ]; then
    echo "skipped: this Debian has no cloud kernel $version for $architecture"
  elif [[ " ${packages[*]} " != *" $package "* ]]; then
    packages+=("$package")
    list_of[$package]=$tests
    [ "$version" != newest ] || list_of[$package]=$tests_newest
  fi
done
# An emulated machine has one processor, so that as many run as there are.
for package in "${packages[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
  try "$package" "${list_of[$package]}" &
done
wait

failed=0
for package in "${packages[@]}"; do
  echo "== $package"
  sed -i 's/\r//g' "$work/log.$package"
  grep -aE '^(test |== |kernel |hook |program |queueing |PASSED|FAILED|skipped)' \
    "$work/log.$package" || true
  if ! grep -aq '^PASSED' "$work/log.$package"; then
    echo "FAILED under $package: see $work/log.$package"
    failed=1
  fi
done
exit $failed
