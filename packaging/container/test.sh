#!/usr/bin/env bash
# Builds the image that Containerfile describes, and runs it as the DaemonSet does: root file system
# read-only, three capabilities, in a network of its own, where a datagram must arrive tagged. Base
# images come from no registry: they are made here, of Debian's packages and this machine's Rust.
#
#   test.sh BINARY    around a flowsched that was built with the feature `agent`
#   test.sh --whole   the recipe as it stands, its build stage included
set -euo pipefail

case ${1:?usage: test.sh BINARY, or test.sh --whole} in
  --whole) binary= ;;
  *) binary=$(realpath "$1") ;;
esac
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

base() { # tag, folder to be added, lines of its recipe...; to mmdebstrap: packages
  local tag=$1 added=$2
  shift 2
  mmdebstrap --quiet --variant=minbase ${packages:+--include="$packages"} bookworm "$work/base.tar"
  tar --create --file "$work/added.tar" --directory "$added" .
  { printf 'FROM scratch\nADD base.tar added.tar /\n'; printf '%s\n' "$@"; } >"$work/Base"
  images bud --quiet --isolation chroot --tag "docker.io/library/$tag" --file "$work/Base" "$work"
  rm -r "$work/base.tar" "$work/added.tar" "$added"
}

echo "== base images"
mkdir "$work/nothing"
packages= base debian:bookworm-slim "$work/nothing"
if [ -z "$binary" ]; then
  # What Rust's own image is: Debian with a compiler, and a toolchain below /usr/local. With the
  # certificates that this machine trusts, since it may reach the registries through a proxy.
  mkdir -p "$work/rust/usr/local/rust" "$work/rust/etc/ssl/certs"
  cp -r "$(rustc --print sysroot)"/{bin,lib} "$work/rust/usr/local/rust/"
  cp /etc/ssl/certs/ca-certificates.crt "$work/rust/etc/ssl/certs/"
  packages=gcc,g++,make,pkg-config,libc6-dev,ca-certificates base \
    "$(sed -n 's|^FROM docker.io/library/\(rust:[^ ]*\) .*|\1|p' "$here/Containerfile")" \
    "$work/rust" 'ENV PATH=/usr/local/rust/bin:/usr/sbin:/usr/bin:/sbin:/bin'
fi

if [ -z "$binary" ]; then
  echo "== the image, by the whole recipe"
  images bud --isolation chroot --pull-never --tag flowsched-agent \
    --file "$here/Containerfile" "$here/../.."
else
  echo "== the image, around $binary"
  {
    printf 'FROM scratch AS build\nCOPY flowsched /src/target/release/flowsched\n'
    sed -n '/^FROM .*slim/,$p' "$here/Containerfile"
  } >"$work/Containerfile"
  install -D "$here/../agent.toml" "$work/context/packaging/agent.toml"
  strip --strip-unneeded -o "$work/context/flowsched" "$binary"
  images bud --quiet --isolation chroot --pull-never --tag flowsched-agent \
    --file "$work/Containerfile" "$work/context"
fi
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
