
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
set -o pipefail
run() { # test program, part of the tests' names
  "/tests/deps/$1" "$2" --test-threads=1 | tee /tmp/said || failed=1
  if grep -q '^running 0 tests' /tmp/said; then
    echo "FAILED: $1 has no test whose name contains $2"
    failed=1
  fi
}
/tests/examples/flowsched-agent doctor || failed=1
. /tests/list.sh
if [ $failed = 0 ]; then echo PASSED; else echo FAILED; fi
poweroff -f
