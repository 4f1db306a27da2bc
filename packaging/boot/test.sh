#!/usr/bin/env bash
# Boots a Debian whose first process is systemd, in QEMU, and runs the life of the Debian package there
# (inside.sh): installed, started, reloaded, killed, upgraded, removed, purged, while every datagram's
# code point is looked at. Debian's own packages are all that is in the machine.
#
#   test.sh BINARY    a flowsched that was built with the feature `agent`
set -euo pipefail

binary=$(realpath "${1:?usage: test.sh BINARY}")
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}

for tool in mmdebstrap qemu-system-x86_64 cpio dpkg-deb apt-get depmod xz; do
  if ! command -v "$tool" >/dev/null; then
    echo "skipped: $tool is missing (apt-get install mmdebstrap qemu-system-x86 cpio kmod xz-utils)"
    exit 0
  fi
done
if [ "$(id -u)" -ne 0 ] || [ "$(dpkg --print-architecture)" != amd64 ]; then
  echo "skipped: making a Debian to boot needs root, and amd64"
  exit 0
fi

# The kernel, once downloaded, stays.
work=$target/kernels architecture=amd64
mkdir -p "$work"
. "$root/crates/agent/kernels/packages.sh"
if ! list_packages; then
  echo "skipped: Debian's packages cannot be reached"
  exit 0
fi
kernel=$(kernel "$(kernel_package 6.1.0)")

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

echo "== a Debian with systemd"
mmdebstrap --quiet --variant=minbase \
  --include=systemd,systemd-sysv,dbus,libelf1,zlib1g,iproute2,adduser,procps,kmod,python3-minimal \
  bookworm "$made/root"
"$here/../debian/build.sh" "$binary" "$made"
mkdir "$made/root/package"
mv "$made"/*.deb "$made/root/package/"
install -m 0755 "$here/inside.sh" "$made/root/package/inside.sh"
cat >"$made/root/etc/systemd/system/inside.service" <<'UNIT'
[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/package/inside.sh
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0
[Install]
WantedBy=multi-user.target
UNIT
ln -s /etc/systemd/system/inside.service \
  "$made/root/etc/systemd/system/multi-user.target.wants/inside.service"
# Nobody logs in.
ln -sf /dev/null "$made/root/etc/systemd/system/serial-getty@ttyS0.service"
ln -sf /lib/systemd/systemd "$made/root/init"

version=$(basename "$kernel"/lib/modules/*)
modules=$made/root/lib/modules/$version/kernel
mkdir -p "$modules/drivers"
cp "$kernel/lib/modules/$version"/modules.* "$made/root/lib/modules/$version/"
cp -r "$kernel/lib/modules/$version/kernel/net" "$modules/"
cp -r "$kernel/lib/modules/$version/kernel/drivers/net" "$modules/drivers/"
depmod -b "$made/root" "$version" 2>/dev/null
rm -rf "$made/root"/usr/share/{doc,man,locale} "$made/root"/var/{cache,lib}/apt/*
(cd "$made/root" && find . | cpio -o -H newc --quiet | gzip -1) >"$made/image.gz"

echo "== booted"
timeout 1800 qemu-system-x86_64 -accel tcg -cpu max -m 2048 -smp 1 -nographic -no-reboot \
  -kernel "$kernel"/boot/vmlinuz-* -initrd "$made/image.gz" \
  -append "console=ttyS0 quiet panic=-1 systemd.show_status=false" </dev/null |
  sed -u 's/\r//' | tee "$made/log"
grep -q '^PASSED' "$made/log"
