#!/usr/bin/env bash
# Builds flowsched-agent_VERSION_ARCH.deb from a built binary, and flowsched-controller_VERSION_all.deb,
# which runs the same program, with dpkg-deb alone.
#
#   build.sh target/release/flowsched [folder for the package]
set -euo pipefail

binary=${1:?usage: build.sh BINARY [FOLDER]}
folder=${2:-.}
here=$(cd "$(dirname "$0")" && pwd)
packaging=$(dirname "$here")
version=$(sed -n '/^version = "/ { s/.*"\(.*\)"/\1/p; q }' "$packaging/../Cargo.toml")
architecture=$(dpkg --print-architecture)

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
install -D -m 0755 "$binary" "$tree/usr/bin/flowsched"
strip --strip-unneeded "$tree/usr/bin/flowsched"
install -D -m 0644 "$packaging/agent.toml" "$tree/etc/flowsched/agent.toml"
install -d "$tree/lib/systemd/system"
install -m 0644 "$packaging"/systemd/flowsched-agent.service "$packaging"/systemd/*.mount \
  "$tree/lib/systemd/system/"
install -D -m 0644 "$packaging/../docs/src/how-to/agent.md" \
  "$tree/usr/share/doc/flowsched-agent/agent.md"
install -D -m 0644 "$packaging/../LICENSE" "$tree/usr/share/doc/flowsched-agent/copyright" \
  2>/dev/null || true

install -d "$tree/DEBIAN"
size=$(du -sk "$tree" | cut -f1)
cat >"$tree/DEBIAN/control" <<CONTROL
Package: flowsched-agent
Version: $version
Architecture: $architecture
Maintainer: flowsched developers <flowsched@localhost>
Installed-Size: $size
Depends: libc6 (>= 2.34), libelf1 | libelf1t64, zlib1g, iproute2, adduser
Section: net
Priority: optional
Description: flow scheduling without prior knowledge, on the host
 Tags outgoing packets with the priority of their flows (PIAS), in eBPF, and
 schedules the host's interface.
CONTROL
echo /etc/flowsched/agent.toml >"$tree/DEBIAN/conffiles"
install -m 0755 "$here/postinst" "$here/prerm" "$here/postrm" "$tree/DEBIAN/"
dpkg-deb --root-owner-group --build "$tree" \
  "$folder/flowsched-agent_${version}_${architecture}.deb"

controller=$tree/controller
install -D -m 0640 "$packaging/controller.toml" "$controller/etc/flowsched/controller.toml"
install -D -m 0644 "$packaging/systemd/flowsched-controller.service" \
  "$controller/lib/systemd/system/flowsched-controller.service"
install -D -m 0644 "$packaging/grafana/flowsched.json" \
  "$controller/usr/share/flowsched-controller/grafana.json"
install -D -m 0644 "$packaging/../docs/src/how-to/controller.md" \
  "$controller/usr/share/doc/flowsched-controller/controller.md"
install -d "$controller/DEBIAN"
cat >"$controller/DEBIAN/control" <<CONTROL
Package: flowsched-controller
Version: $version
Architecture: all
Maintainer: flowsched developers <flowsched@localhost>
Depends: flowsched-agent (= $version), adduser
Section: net
Priority: optional
Description: flow scheduling without prior knowledge, for a fleet
 Collects flow sizes from the agents of a fleet, chooses thresholds (PIAS), and
 distributes them.
CONTROL
echo /etc/flowsched/controller.toml >"$controller/DEBIAN/conffiles"
install -m 0755 "$here/controller/postinst" "$here/controller/prerm" "$controller/DEBIAN/"
dpkg-deb --root-owner-group --build "$controller" "$folder/flowsched-controller_${version}_all.deb"
