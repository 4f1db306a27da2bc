# What the emulated machine runs under the newest kernel, beside what other tests run under this
# machine's own.
run live offset
run live vxlan
run messages small_send_buffer
run lone sent_again_is
run faults other_peoples
run nic overtake
run switch by_priority
