// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0
/* Tags packets that leave an interface with the DSCP of their flow's priority (PIAS ToN 2017,
 * III-B.1, IV-A.1).
 *
 * Whatever fails, the packet goes out as it came, and the next program on the hook runs.
 *
 * Functions that are not static are checked by the verifier once each, not once a path of their
 * callers; they may not be given pointers into maps, and look those up again. */
#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "count.h"
#include "hear.h"
#include "maps.h"
#include "short.h"
#include "write.h"

/* Where no program to go on to is in the map. */
__noinline int write_without(struct __sk_buff *skb, __u32 what)
{
	if (write_anyhow(skb, what))
		leave_plain_alone(skb, FS_NOT_WRITTEN);
	return NEXT;
}

/* Goes on to the program that writes in place, if one is to be. */
static __always_inline int written(struct __sk_buff *skb, int what)
{
	if (unlikely(what >= 0) && !survey)
		goto write;
	return NEXT;
write:
	IN_PLACE(skb) = what;
	bpf_tail_call_static(skb, &writers, 0);
	return write_without(skb, what);
}

SEC("tcx/egress")
int tag_ethernet(struct __sk_buff *skb)
{
	return written(skb, tag(skb, true));
}

/* For interfaces without a link-layer header: tun, WireGuard, IP tunnels. */
SEC("tcx/egress")
int tag_ip(struct __sk_buff *skb)
{
	return written(skb, tag(skb, false));
}

/* On what arrives: notes when the other ends of forwarded connections were last heard of. */
SEC("tcx/ingress")
int hear_ethernet(struct __sk_buff *skb)
{
	hear(skb, true);
	return NEXT;
}

SEC("tcx/ingress")
int hear_ip(struct __sk_buff *skb)
{
	hear(skb, false);
	return NEXT;
}

/* Is gone on to, never attached. */
SEC("tcx/egress")
int write_tag(struct __sk_buff *skb)
{
	write_in_place(skb, IN_PLACE(skb));
	return NEXT;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
