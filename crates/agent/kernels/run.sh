#!/usr/bin/env bash
# Runs tests of the agent under other kernels: Debian's, in QEMU without KVM, from a file system
# that is built here. For function, not for time.
#
#   run.sh                 Debian's 6.1 and the newest that it has, in backports to its stable
#                          release where they can be reached
#   run.sh 6.1.0 6.12      kernels whose package names begin so
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
work=$target/kernels
mkdir -p "$work"

for tool in qemu-system-x86_64 busybox cpio dpkg-deb apt-get ethtool depmod xz; do
  if ! command -v "$tool" >/dev/null; then
    echo "skipped: $tool is missing (scripts/install-agent-deps.sh --test)"
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

# Package lists of their own for backports, from where the machine has its packages; so that the
# machine's stay as they are.
backports=(-o "Dir::Etc::sourcelist=$work/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
  -o "Dir::State::lists=$work/apt/lists" -o "Dir::Cache=$work/apt/cache")

list_backports() {
  local uri key=/usr/share/keyrings/debian-archive-keyring.gpg
  uri=$(apt-get indextargets --format '$(REPO_URI)' | grep -E '/debian/?$' | head -1) || true
  if [ -z "$uri" ] || [ ! -e "$key" ]; then return; fi
  mkdir -p "$work"/apt/{lists,cache/archives}/partial
  echo "deb [signed-by=$key] $uri stable-backports main" >"$work/apt/sources.list"
  timeout 120 apt-get "${backports[@]}" update -qq 2>/dev/null || rm -f "$work/apt/sources.list"
}

package_of() { # how a version begins, or "newest" -> the newest such package
  local version=$1
  [ "$version" != newest ] || version='[0-9]'
  version="^linux-image-$version.*-cloud-amd64\$"
  {
    apt-cache search --names-only "$version"
    [ ! -e "$work/apt/sources.list" ] || apt-cache "${backports[@]}" search --names-only "$version"
  } | awk '{print $1}' | sort -V | tail -1
}

list_backports
if [ -z "$(package_of newest)" ] && [ "$(id -u)" -eq 0 ]; then
  apt-get update -qq
fi
if [ -z "$(package_of newest)" ]; then
  echo "skipped: no Debian kernel is in the package lists (apt-get update as root)"
  exit 0
fi

fetch() { # package -> folder with its files
  local package=$1 folder=$work/$1 part
  if [ ! -d "$folder/boot" ]; then
    mkdir -p "$folder"
    # What newer packages are made of beside: the kernel itself, and its modules.
    for part in "$package" "${package/image/binary}" "${package/image/modules}"; do
      (cd "$folder" && { apt-get download -q "$part" || apt-get "${backports[@]}" download -q "$part"; } &&
        dpkg-deb -x ./*.deb . && rm -f ./*.deb) >/dev/null 2>&1 || true
    done
    if [ -d "$folder/usr/lib/modules" ]; then
      mkdir -p "$folder/boot"
      mv "$folder/usr/lib" "$folder/"
      mv "$folder"/lib/modules/*/vmlinuz "$folder/boot/vmlinuz-${package#linux-image-}"
    fi
  fi
  echo "$folder"
}

copy() { # program or library, with what it is linked to
  local file destination=$2
  file=$(command -v "$1")
  install -D "$file" "$destination$file"
  { ldd "$file" 2>/dev/null | grep -o '/[^ ]*' || true; } | while read -r library; do
    [ -e "$destination$library" ] || install -D "$library" "$destination$library"
  done
}

built() { # path of a test program
  (cd "$root" && cargo test -p flowsched-agent --no-run --message-format=json "$@" 2>/dev/null) |
    grep -o '"executable":"[^"]*"' | cut -d'"' -f4
}

image() { # kernel's folder, initramfs -> that, with the tests in it
  local kernel=$1 image=$2 tree
  tree=$(mktemp -d)
  mkdir -p "$tree"/{bin,sbin,dev,proc,sys,tmp,run,etc,lib/modules,tests/deps,tests/examples}
  local program
  for program in busybox ip tc ethtool nsenter unshare bash; do copy "$program" "$tree"; done
  # Busybox's own shell would take its own ip for that of iproute2.
  ln -s "$(command -v bash)" "$tree/bin/sh"
  for program in mount cat ls sleep insmod modprobe rmmod find sysctl tr true head grep sed kill true poweroff \
    mkdir rm rmdir chmod echo; do
    ln -sf "$(command -v busybox)" "$tree/bin/$program"
  done
  copy "$target/debug/examples/flowsched-agent" "$tree"
  mv "$tree$target/debug/examples/flowsched-agent" "$tree/tests/examples/"
  for program in "${tests[@]}"; do
    copy "$program" "$tree"
    mv "$tree$program" "$tree/tests/deps/$(basename "$program" | sed 's/-[0-9a-f]*$//')"
  done
  local version
  version=$(basename "$kernel"/lib/modules/*)
  mkdir -p "$tree/lib/modules/$version"
  cp -r "$kernel/lib/modules/$version/kernel" "$tree/lib/modules/$version/" 2>/dev/null
  # Only the network's modules: the image is unpacked by an emulated processor.
  find "$tree/lib/modules/$version/kernel" -mindepth 1 -maxdepth 1 \
    ! -name net ! -name drivers ! -name lib ! -name crypto -exec rm -rf {} +
  find "$tree/lib/modules/$version/kernel/drivers" -mindepth 1 -maxdepth 1 \
    ! -name net -exec rm -rf {} + 2>/dev/null || true
  cp "$kernel/lib/modules/$version"/modules.* "$tree/lib/modules/$version/" 2>/dev/null || true
  find "$tree/lib/modules" -name '*.ko.xz' -exec xz -d {} +
  # Newer packages have no lists of what is built in, which depmod warns of.
  depmod -b "$tree" "$version" 2>/dev/null
  { echo "modules=\"$(echo $modules)\""; cat "$here/init.sh"; } >"$tree/init"
  sed -i '1i #!/bin/sh' "$tree/init"
  chmod +x "$tree/init"
  (cd "$tree" && find . | cpio -o -H newc --quiet | gzip -1) >"$image"
  rm -rf "$tree"
}

mapfile -t tests < <(built --test faults; built --test live; built --test nic)
(cd "$root" && cargo build -q -p flowsched-agent --example flowsched-agent)

# One kernel, with an image of its own.
try() { # package
  local package=$1 kernel log=$work/log.$1
  kernel=$(fetch "$package")
  image "$kernel" "$work/image.$package.gz"
  timeout 1200 qemu-system-x86_64 -accel tcg -cpu max -m 1024 -smp 1 -nographic -no-reboot \
    -kernel "$kernel"/boot/vmlinuz-* -initrd "$work/image.$package.gz" \
    -append "console=ttyS0 quiet panic=-1" </dev/null | tr -d '\r' >"$log" || true
  rm "$work/image.$package.gz"
}

packages=()
for version in "${@:-6.1.0}" $([ $# -gt 0 ] || echo newest); do
  package=$(package_of "$version")
  if [ -z "$package" ]; then
    echo "skipped: this Debian has no cloud kernel $version"
  elif [[ " ${packages[*]} " != *" $package "* ]]; then
    packages+=("$package")
  fi
done
# An emulated machine has one processor, so that as many run as there are.
for package in "${packages[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
  try "$package" &
done
wait

failed=0
for package in "${packages[@]}"; do
  echo "== $package"
  grep -aE '^(test |== |kernel |hook |program |queueing |PASSED|FAILED|skipped)' \
    "$work/log.$package" || true
  if ! grep -aq '^PASSED' "$work/log.$package"; then
    echo "FAILED under $package: see $work/log.$package"
    failed=1
  fi
done
exit $failed
