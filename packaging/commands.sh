#!/usr/bin/env bash
# Runs every command that the documentation shows, as root and without options, against an agent that
# was started as the installed systemd unit says: same user, capabilities, folders and mounts.
#
# For test.sh, in a file system and a network namespace that are thrown away.
set -euo pipefail

units=/lib/systemd/system
service=$units/flowsched-agent.service
mount=$units/run-flowsched\\x2dbpf.mount
manual=/usr/share/doc/flowsched-agent/agent.md
config=/etc/flowsched/agent.toml
log=/tmp/package/log
: >/tmp/package/ran

main=
# A test that fails leaves no agent behind.
trap 'test $? = 0 || test -z "$main" || kill "$main"' EXIT

fail() {
  echo "FAILED: $*" >&2
  cat "$log" >&2
  exit 1
}

key() { # unit, key
  sed -n "s/^$2=//p" "$1"
}

agent() { # arguments; run, recorded and shown
  echo "$*" >>/tmp/package/ran
  echo "\$ flowsched agent $*"
  flowsched agent "$@"
}

prints() { # text, arguments
  local text=$1 printed
  shift
  printed=$(agent "$@") || fail "flowsched agent $* exits with $?: $printed"
  sed -n '1,12p' <<<"$printed"
  case $printed in *"$text"*) ;; *) fail "flowsched agent $* does not print \"$text\"" ;; esac
}

wait_for() { # text in the log, and how many times
  for _ in $(seq 600); do
    if (($(grep -c "$1" "$log") >= ${2:-1})); then return; fi
    sleep 0.1
  done
  fail "the agent never says \"$1\""
}

# What systemd does before ExecStart.
prepare_service() {
  where=$(key "$mount" Where)
  user=$(key "$service" User) group=$(key "$service" Group)
  runtime=/run/$(key "$service" RuntimeDirectory)
  mkdir -p "$where"
  mountpoint -q "$where" ||
    mount -t "$(key "$mount" Type)" -o "$(key "$mount" Options)" "$(key "$mount" What)" "$where"
  install -d -o "$user" -g "$group" -m 0755 "$runtime"
  before=$(key "$service" ExecStartPre)
  case $before in
    +*) ${before#+} ;;
    *) fail "ExecStartPre is expected to run as root" ;;
  esac
}

# ProtectSystem=strict, ProtectKernelTunables, ReadWritePaths, and RuntimeDirectory.
enter_service() {
  local path
  for path in $runtime $(key "$service" ReadWritePaths); do
    mountpoint -q "$path" || mount --bind "$path" "$path"
  done
  for path in / /run /sys; do
    mount -o remount,bind,ro "$path"
  done
  local held
  held=-all,$(key "$service" AmbientCapabilities | sed 's/CAP_/+/g; s/ /,/g' | tr 'A-Z' 'a-z')
  # shellcheck disable=SC2046 # the command is words
  exec setpriv --reuid="$user" --regid="$group" --clear-groups --no-new-privs \
    --bounding-set="$held" --inh-caps="$held" --ambient-caps="$held" \
    $(key "$service" ExecStart)
}

start_service() {
  prepare_service
  : >"$log"
  export -f key enter_service
  export service runtime user group
  unshare --mount bash -euo pipefail -c enter_service 2>"$log" &
  main=$!
  wait_for ready
}

# The documented interface, with a far end that takes everything.
ip link set lo up
ip link add eth0 type veth peer name far
ip link set eth0 up
ip link set far up
ip addr add 10.79.0.1/24 dev eth0
ip neigh add 10.79.0.2 lladdr "$(cat /sys/class/net/far/address)" dev eth0

prints "tcx" doctor
prints "ok " check
prints "ok " check "$config"
prints "Nothing was attached" start --dry-run
start_service
prints "interface: eth0 by" status
prints "level" top --count 1
prints "flowsched_packets_total" metrics

echo "== a thousand messages"
# Whole packets: the fragments between two hosts are one flow.
for size in $(seq 1400); do
  printf '%*s' "$size" "" >/dev/udp/10.79.0.2/9
done
for _ in $(seq 60); do
  if flowsched agent thresholds --load 0.8 >/dev/null 2>&1; then break; fi
  sleep 1
done
prints "thresholds = " thresholds --load 0.8
prints "1" histogram

echo "== another configuration"
sed -i 's/909pkt/908pkt/' "$config"
wait_for "the new configuration is in force"
reload=$(key "$service" ExecReload)
${reload/\$MAINPID/$main}
prints "up to 1325680 B" status
printf '[nic]\nrate = "10Gbps"\n' >>"$config"
# The running agent applies the changed file, and then schedules the interface too.
wait_for "the new configuration is in force" 2
prints "tc qdisc" nic --dry-run
agent nic
tc qdisc show dev eth0 | grep f5c0: || fail "eth0 is not scheduled"
agent nic stop
if tc qdisc show dev eth0 | grep f5c0:; then fail "eth0 is still scheduled"; fi

echo "== the end"
prints "has ended" stop
wait "$main" || fail "the agent exits with $?"
prints "does not run" status
start_service
prints "the tagger and its maps are gone" uninstall
wait "$main" || fail "the agent exits with $?"
if agent status; then fail "status succeeds"; else test $? = 3 || fail "status exits with $?"; fi
test ! -e "$where/pins" || fail "pins are left: $(ls "$where/pins")"

echo "== all that is documented"
{
  grep -o 'flowsched agent [a-z][^`#]*' "$manual" | sed 's/flowsched agent //; s/ *$//'
  flowsched agent --help | sed -n '/^Commands:/,/^$/ s/^  \([a-z]*\) .*/\1/p' | grep -v help
} | sort -u | while read -r shown; do
  # The service is what starts.
  case $shown in start) continue ;; esac
  grep -q -- "^$shown" /tmp/package/ran || fail "\"flowsched agent $shown\" is shown, but not tested"
done

# For the removal of the package.
start_service
