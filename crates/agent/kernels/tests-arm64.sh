# What the emulated arm64 machine runs: whether the program that was compiled for arm64 passes the
# kernel's verifier, and does what the Rust tagger does once translated to the processor's code.
if [ "$(cat /proc/sys/net/core/bpf_jit_enable)" != 1 ]; then
  echo "FAILED: the kernel interprets BPF programs"
  failed=1
fi
run flowsched_agent differential::
run live offset
run live vxlan
run live datagrams
run live link_layer
run faults killed
run messages slow_reader
