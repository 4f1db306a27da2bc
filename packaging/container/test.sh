#!/usr/bin/env bash
# Builds the image that Containerfile describes, with a program that is built already, and runs it
# as the DaemonSet does: root file system read-only, three capabilities, in a network of its own,
# where a datagram must arrive tagged. Base images come from no registry: Debian's is made here.
#
#   test.sh BINARY    a flowsched that was built with the feature `agent`
set -euo pipefail

binary=$(realpath "${1:?usage: test.sh BINARY}")
here=$(cd "$(dirname "$0")" && pwd)

for tool in buildah mmdebstrap python3 unshare; do
  if ! command -v "$tool" >/dev/null; then
    echo "skipped: $tool is missing (apt-get install buildah mmdebstrap python3 util-linux)"
    exit 0
  fi
done
if [ "$(id -u)" -ne 0 ]; then
  echo "skipped: running the image needs root"
  exit 0
fi

work=$(mktemp -d)
near=fsc-$$-a far=fsc-$$-b
cleanup() {
  ip netns del "$near" 2>/dev/null || true
  ip netns del "$far" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT
images() {
  buildah --storage-driver vfs --root "$work/images" --runroot "$work/run" "$@"
}

echo "== base image"
mmdebstrap --quiet --variant=minbase bookworm "$work/base.tar"
printf 'FROM scratch\nADD base.tar /\n' >"$work/Base"
images bud --quiet --isolation chroot --tag docker.io/library/debian:bookworm-slim \
  --file "$work/Base" "$work"
rm "$work/base.tar"

echo "== the image, around $binary"
{
  printf 'FROM scratch AS build\nCOPY flowsched /src/target/release/flowsched\n'
  sed -n '/^FROM .*slim/,$p' "$here/Containerfile"
} >"$work/Containerfile"
install -D "$here/../agent.toml" "$work/context/packaging/agent.toml"
strip --strip-unneeded -o "$work/context/flowsched" "$binary"
images bud --quiet --isolation chroot --pull-never --tag flowsched-agent \
  --file "$work/Containerfile" "$work/context"
images inspect --type image --format '{{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.Cmd}}' \
  flowsched-agent
export root near far
root=$(images mount "$(images from --pull-never flowsched-agent)")
du -sh "$root" | cut -f1

echo "== the image, run"
ip netns add "$near"
ip netns add "$far"
ip link add east netns "$near" type veth peer name west netns "$far"
ip -n "$near" addr add 10.79.0.1/24 dev east
ip -n "$far" addr add 10.79.0.2/24 dev west
ip -n "$near" link set lo up
ip -n "$near" link set east up
ip -n "$far" link set west up
unshare --mount bash -euo pipefail -c '
  mount --bind "$root" "$root"
  mount -o remount,bind,ro "$root"
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount -t bpf bpf "$root/sys/fs/bpf"
  mount -t tmpfs run "$root/run"
  mount -t tmpfs config "$root/etc/flowsched"
  printf "interfaces = [\"east\"]\nthresholds = \"20KB\"\n[metrics]\nlisten = \"0.0.0.0:9487\"\n" \
    >"$root/etc/flowsched/agent.toml"
  agent() {
    nsenter --net="/run/netns/$near" chroot "$root" setpriv --no-new-privs \
      --bounding-set=-all,+bpf,+net_admin,+perfmon --inh-caps=-all,+bpf,+net_admin,+perfmon \
      flowsched agent "$@"
  }
  agent doctor
  agent start --dry-run --config /etc/flowsched/agent.toml
  agent start --config /etc/flowsched/agent.toml 2>"$root/run/log" &
  for _ in $(seq 300); do grep -q ready "$root/run/log" && break; sleep 0.2; done
  nsenter --net="/run/netns/$far" python3 -c "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
s.settimeout(20)
s.bind((\"10.79.0.2\", 4000))
tos = s.recvmsg(10, 64)[1][0][2][0]
assert tos >> 2 == 32, tos
print(\"a datagram arrived with DSCP\", tos >> 2)
" &
  far_end=$!
  # Again and again: the far end may not listen yet.
  while kill -0 "$far_end" 2>/dev/null; do
    nsenter --net="/run/netns/$near" bash -c "echo hello >/dev/udp/10.79.0.2/4000" || true
    sleep 0.5
  done
  wait "$far_end"
  nsenter --net="/run/netns/$near" bash -c "
    exec 3<>/dev/tcp/127.0.0.1/9487; printf \"GET /metrics HTTP/1.0\r\n\r\n\" >&3; cat <&3" 2>/dev/null |
    grep flowsched_packets_total || { cat "$root/run/log"; exit 1; }
  agent status
  agent stop
  wait
  agent uninstall
  test ! -e "$root/sys/fs/bpf/flowsched"
'
echo "PASSED"
