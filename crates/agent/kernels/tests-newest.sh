# What the emulated machine runs under the newest kernel: a part of tests.sh, one test or two for each
# of tagging, messages, other programs, and scheduling.
run live offset
run live vxlan
run messages small_send_buffer
run lone sent_again_is
run faults other_peoples
run nic overtake
run switch by_priority
