#!/bin/bash
# Runs in the machine that test.sh boots, as a service of systemd: the life of the package and its unit.
set -euo pipefail

config=/etc/flowsched/agent.toml
package=(/package/*.deb)
unit=flowsched-agent

finish() {
  local code=$?
  if [ $code = 0 ]; then
    echo PASSED
  else
    journalctl --no-pager --boot --unit=$unit || true
    echo FAILED
  fi
  systemctl poweroff --no-block
}
trap finish EXIT

fail() {
  echo "FAILED: $*"
  exit 1
}

agent() {
  echo "\$ flowsched agent $*"
  flowsched agent "$@"
}

wait_until() { # command
  for _ in $(seq 300); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.1
  done
  fail "never true: $*"
}

process() {
  systemctl show --property=MainPID --value $unit
}

# The configured interface. Its far end, in a network of its own, notes the code point of each datagram.
ip netns add far
ip link add eth0 type veth peer name eth0 netns far
ip addr add 10.79.0.1/24 dev eth0
ip link set eth0 up
ip -n far addr add 10.79.0.2/24 dev eth0
ip -n far link set eth0 up
cat >/run/receive.py <<'PYTHON'
import socket
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
receiver.bind(("10.79.0.2", 4000))
counts = open("/run/code-points", "w", buffering=1)
while True:
    _, ancillary, _, _ = receiver.recvmsg(2000, 64)
    counts.write(f"{ancillary[0][2][0] >> 2}\n")
PYTHON
cat >/run/send.py <<'PYTHON'
import socket, time
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True:
    sender.sendto(b"7" * 100, ("10.79.0.2", 4000))
    time.sleep(0.001)
PYTHON
nsenter --net=/run/netns/far python3 /run/receive.py &
python3 /run/send.py &
wait_until test -s /run/code-points

forget() { # what has arrived
  : >/run/code-points
  sleep 0.2
}

# Whether all datagrams that arrive, since forget, have this code point.
all_have() { # code point, when
  sleep 0.3
  local seen
  seen=$(grep -a -o '[0-9]\+' /run/code-points | sort | uniq -c | tr '\n' ';')
  echo "code points $2: $seen"
  [ "$(grep -a -o '[0-9]\+' /run/code-points | sort -u)" = "$1" ] || fail "not all have $1 $2"
}

echo "== installed"
all_have 0 "before the package"
dpkg -i "${package[@]}"
if systemctl is-active $unit; then fail "the unit starts without being asked"; fi
# One level for all datagrams.
printf 'interfaces = ["eth0"]\nthresholds = "1GB 2GB"\ndscp = [40, 20, 3]\n' >$config
agent check
systemctl enable --now $unit
systemctl is-active $unit
sleep 0.2
forget
all_have 40 "after the start"
agent status
[ "$(stat -c %U "/proc/$(process)")" = flowsched ] || fail "the agent has another user"
systemctl show --property=MemoryCurrent,MemoryMax,NotifyAccess,Result $unit
journalctl --no-pager --unit=$unit | grep "ready"
# With three capabilities it finds what it has attached.
sleep 2
[ "$(journalctl --unit=$unit | grep -c "eth0: tagged by")" = 1 ] || fail "attached again and again"
if journalctl --unit=$unit | grep "no interface is called"; then fail "eth0 is not seen"; fi

echo "== reloaded, restarted, killed, stopped, started"
sed -i 's/40, 20/41, 20/' $config
systemctl reload $unit
wait_until sh -c "flowsched agent status | grep 'DSCP 41'"
forget
before=$(process)
systemctl restart $unit
[ "$(process)" != "$before" ] || fail "no other process"
before=$(process)
kill -9 "$before"
wait_until sh -c "p=\$(systemctl show --property=MainPID --value $unit); [ \$p != $before ] && [ \$p != 0 ]"
wait_until systemctl is-active $unit
systemctl stop $unit
[ "$(systemctl show --property=Result --value $unit)" = success ] || fail "stop is a failure"
agent status | grep "does not run"
systemctl start $unit
all_have 41 "all along"

echo "== a mistake in the configuration"
cp $config /run/good.toml
echo 'colour = "blue"' >>$config
if systemctl restart $unit; then fail "a mistake is not noticed"; fi
sleep 3
[ "$(systemctl show --property=NRestarts --value $unit)" = 0 ] || fail "started again and again"
[ "$(systemctl show --property=ExecMainStatus --value $unit)" = 2 ] || fail "another exit code than 2"
cp /run/good.toml $config
systemctl start $unit
all_have 41 "with a mistake"

echo "== upgraded"
before=$(process)
dpkg --force-confold -i "${package[@]}"
[ "$(process)" != "$before" ] || fail "the old program runs on"
systemctl is-active $unit
grep "41, 20" $config
all_have 41 "in the upgrade"

echo "== uninstalled, and started again"
agent uninstall
wait_until sh -c "! systemctl is-active $unit"
[ "$(systemctl show --property=Result --value $unit)" = success ] || fail "uninstall is a failure"
forget
all_have 0 "after uninstall"
systemctl start $unit
sleep 0.2
forget
all_have 41 "after another start"

echo "== removed and purged"
dpkg -r flowsched-agent
forget
all_have 0 "after the package"
if systemctl is-active $unit; then fail "the agent runs on"; fi
if mountpoint /run/flowsched-bpf; then fail "the file system of the pins is left"; fi
test -e $config
dpkg -P flowsched-agent
for left in /etc/flowsched /run/flowsched /run/flowsched-bpf; do
  if [ -e $left ]; then fail "$left is left"; fi
done
if getent passwd flowsched; then fail "the user is left"; fi
if systemctl list-units --all --no-legend '*flowsched*' | grep .; then fail "units are left"; fi
if systemctl --failed --no-legend | grep flowsched; then fail "units have failed"; fi
