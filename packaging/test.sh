#!/usr/bin/env bash
# Tests what is packaged: the units, the manifest, and the Debian package from installing to
# purging, in a copy of this machine's file system that is thrown away. There, every documented
# command runs against an agent that was started as the unit says (commands.sh).
#
#   test.sh BINARY    a flowsched that was built with the feature `agent`
set -euo pipefail

binary=$(realpath "${1:?usage: test.sh BINARY}")
here=$(cd "$(dirname "$0")" && pwd)

for tool in systemd-analyze dpkg-deb python3 unshare; do
  if ! command -v "$tool" >/dev/null; then
    echo "skipped: $tool is missing (scripts/install-agent-deps.sh --test)"
    exit 0
  fi
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "== systemd units"
mkdir "$work/units"
cp "$here"/systemd/* "$work/units/"
# Where the program will be there may be none, or another one, yet.
sed -i "s|^ExecStart=/usr/bin/flowsched |ExecStart=$binary |" "$work"/units/*.service
(cd "$work/units" && systemd-analyze verify ./*.service) 2>&1 | tee "$work/units.log"
if grep -q flowsched "$work/units.log"; then
  echo "systemd finds fault with the units" >&2
  exit 1
fi

echo "== Kubernetes manifest"
python3 - "$here/kubernetes/daemonset.yaml" <<'PYTHON'
import sys
import yaml

kinds = {part["kind"]: part for part in yaml.safe_load_all(open(sys.argv[1]))}
assert set(kinds) == {"Namespace", "ConfigMap", "DaemonSet"}, kinds
pod = kinds["DaemonSet"]["spec"]["template"]
labels = kinds["DaemonSet"]["spec"]["selector"]["matchLabels"]
assert labels.items() <= pod["metadata"]["labels"].items()
agent, = pod["spec"]["containers"]
assert agent["securityContext"]["capabilities"] == {
    "drop": ["ALL"], "add": ["BPF", "NET_ADMIN", "PERFMON"]}
assert not agent["securityContext"].get("privileged")
mounted = {mount["name"] for mount in agent["volumeMounts"]}
assert mounted == {volume["name"] for volume in pod["spec"]["volumes"]}
assert kinds["ConfigMap"]["metadata"]["name"] == "flowsched-agent"
# The metrics are on the node's address alone, where the probes look.
assert 'listen = "${NODE_ADDRESS}:9487"' in kinds["ConfigMap"]["data"]["agent.toml"]
assert {"name": "NODE_ADDRESS", "valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}}} in agent["env"]
assert pod["spec"]["hostNetwork"] and "host" not in agent["readinessProbe"]["httpGet"]
print("parsed:", ", ".join(sorted(kinds)))
PYTHON
python3 - "$here/kubernetes/controller.yaml" <<'PYTHON'
import sys
import yaml

kinds = {part["kind"]: part for part in yaml.safe_load_all(open(sys.argv[1]))}
assert set(kinds) == {"ConfigMap", "Service", "StatefulSet"}, kinds
pod = kinds["StatefulSet"]["spec"]["template"]
labels = kinds["StatefulSet"]["spec"]["selector"]["matchLabels"]
assert labels == kinds["Service"]["spec"]["selector"] and labels.items() <= pod["metadata"]["labels"].items()
controller, = pod["spec"]["containers"]
assert controller["securityContext"]["capabilities"] == {"drop": ["ALL"]}
claims = {claim["metadata"]["name"] for claim in kinds["StatefulSet"]["spec"]["volumeClaimTemplates"]}
mounted = {mount["name"] for mount in controller["volumeMounts"]}
assert mounted == claims | {volume["name"] for volume in pod["spec"]["volumes"]}
ports = {port["name"] for port in controller["ports"]}
assert {port["targetPort"] for port in kinds["Service"]["spec"]["ports"]} <= ports
print("parsed:", ", ".join(sorted(kinds)))
PYTHON
# The file that is installed is one that the controller accepts, once its certificates are there.
"$binary" controller decide --dry-run --config <(sed "s|^#state = .*|state = \"$work/state\"|" \
  "$here/controller.toml") | tee "$work/decided"
grep -q "Nothing was announced" "$work/decided"

echo "== Debian package"
"$here/debian/build.sh" "$binary" "$work"
for package in "$work"/*.deb; do dpkg-deb --info "$package"; done
if [ "$(id -u)" -ne 0 ] || ! grep -qw overlay /proc/filesystems; then
  echo "skipped: installing the package needs root and overlayfs"
  exit 0
fi
export work here
# Its own mounts and network, so that all of it goes with the process.
unshare --mount --net bash -euo pipefail -c '
  mkdir "$work/layers" "$work/root"
  mount -t tmpfs layers "$work/layers"
  mkdir "$work/layers/upper" "$work/layers/work"
  mount -t overlay overlay -o "lowerdir=/,upperdir=$work/layers/upper,workdir=$work/layers/work" \
    "$work/root"
  mount -t proc proc "$work/root/proc"
  mount -t sysfs sys "$work/root/sys"
  mount -t bpf bpf "$work/root/sys/fs/bpf"
  mount -t tmpfs run "$work/root/run"
  mount -t tmpfs dev "$work/root/dev"
  for device in null zero urandom; do
    touch "$work/root/dev/$device" && mount --bind "/dev/$device" "$work/root/dev/$device"
  done
  mkdir -p "$work/root/tmp/package" && cp "$work"/*.deb "$here/commands.sh" "$work/root/tmp/package/"
  exec chroot "$work/root" bash -euo pipefail -c "
    export PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive
    dpkg --force-depends -i /tmp/package/flowsched-agent_*.deb
    dpkg --force-depends -i /tmp/package/flowsched-controller_*.deb
    dpkg -r flowsched-controller && dpkg -P flowsched-controller
    test ! -e /etc/flowsched/controller.toml
    # No grep -q behind a pipe: it stops reading at its first hit, and the writer may fail for it.
    dpkg -s flowsched-agent | grep \"^Status: install ok installed\"
    getent passwd flowsched
    flowsched agent --help | grep uninstall
    bash /tmp/package/commands.sh
    # An upgrade keeps what the operator has set.
    dpkg --force-depends --force-confold -i /tmp/package/flowsched-agent_*.deb
    grep -q 908pkt /etc/flowsched/agent.toml
    # Tagging goes with the package.
    test -e /run/flowsched-bpf/pins/settings
    dpkg -r flowsched-agent
    test ! -e /run/flowsched-bpf/pins && test ! -e /run/flowsched/pins
    test ! -e /usr/bin/flowsched && test -e /etc/flowsched/agent.toml
    dpkg -P flowsched-agent
    test ! -e /etc/flowsched && test ! -e /lib/systemd/system/flowsched-agent.service
    ! getent passwd flowsched
  "
'
echo "PASSED"
