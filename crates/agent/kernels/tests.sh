# What the emulated machine runs under each of the other kernels.
run live offset
run live vxlan
run live datagrams
run live link_layer
run messages small_send_buffer
run lone breaks_off
run lone sent_again_is
run faults killed
run faults at_once
run faults other_peoples
echo "== NIC scheduling with PRIO"
run nic dry_run
run nic overtake
run switch by_priority
run nic operators
run nic outlives
echo "== NIC scheduling with ETS"
rmmod sch_prio
find /lib/modules -name 'sch_prio.ko*' -exec rm {} \;
run nic overtake
