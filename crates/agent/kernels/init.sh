
# The first and only process of the emulated machine. `modules` is set above.
export PATH=/bin:/sbin:/usr/bin:/usr/sbin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev 2>/dev/null
mount -t bpf bpf /sys/fs/bpf
mount -t cgroup2 cgroup /sys/fs/cgroup
mount -t tmpfs tmp /tmp
mount -t tmpfs run /run
mkdir -p /run/netns
for module in $modules; do modprobe "$module" 2>/dev/null; done
ip link set lo up
echo "== $(cat /proc/version)"
failed=0
run() {
  "$@" --test-threads=1 || failed=1
}
/tests/examples/flowsched-agent doctor || failed=1
run /tests/deps/live offset
run /tests/deps/live vxlan
run /tests/deps/live datagrams
run /tests/deps/live link_layer
run /tests/deps/faults killed
run /tests/deps/faults at_once
run /tests/deps/faults other_peoples
echo "== NIC scheduling with PRIO"
run /tests/deps/nic dry_run
run /tests/deps/nic overtake
run /tests/deps/nic operators
run /tests/deps/nic outlives
echo "== NIC scheduling with ETS"
rmmod sch_prio
find /lib/modules -name 'sch_prio.ko*' -exec rm {} \;
run /tests/deps/nic overtake
if [ $failed = 0 ]; then echo PASSED; else echo FAILED; fi
poweroff -f
