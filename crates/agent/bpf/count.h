/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* What is counted of packets: of those that are tagged by their level, of the others by why they are not.
 * Every packet ends with one of these functions. */
#ifndef FLOWSCHED_COUNT_H
#define FLOWSCHED_COUNT_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "flowsched.h"
#include "maps.h"

/* Continue with the next program: TCX_NEXT on tcx, TC_ACT_UNSPEC on clsact. */
#define NEXT (-1)

/* Packets on the wire, as far as the kernel has counted them: see count_uncounted. */
static __always_inline __u32 wire_packets(struct __sk_buff *skb)
{
	__u32 segments = skb->gso_segs;

	return segments ? segments : 1;
}

static __always_inline struct seen_counters *seen_on(struct counters *counters,
						     struct __sk_buff *skb)
{
	return &counters->seen[skb->ifindex & (FS_SEEN_SLOTS - 1)];
}

/* `packets`: those on the wire. */
static __always_inline void count_seen(struct counters *counters, struct __sk_buff *skb,
				       __u32 packets)
{
	struct seen_counters *seen = seen_on(counters, skb);

	seen->packets++;
	seen->wire_packets += packets;
	seen->wire_bytes += skb->wire_len;
}

/* Of a super-packet from a virtual machine, the kernel has not counted the segments. */
static __always_inline bool is_uncounted(struct __sk_buff *skb)
{
	return skb->gso_segs == 0 && skb->gso_size != 0;
}

/*
 * Counts the segments of such a packet but the first. `bytes` is the payload, or the whole length
 * where the payload is not known; the packet is of no level where `level` is FS_LEVELS.
 */
__noinline int count_uncounted(struct __sk_buff *skb, __u32 level, __u32 bytes)
{
	struct counters *counters = counters_here();
	__u32 size = skb->gso_size;

	if (!counters || size == 0 || bytes <= size)
		return 0;
	bytes = (bytes - 1) / size;
	if (level < FS_LEVELS)
		counters->levels[level].wire_packets += bytes;
	seen_on(counters, skb)->wire_packets += bytes;
	return 0;
}

static __noinline int leave_alone(struct __sk_buff *skb, struct counters *counters,
				  enum left_alone reason)
{
	counters->left_alone[reason]++;
	count_seen(counters, skb, wire_packets(skb));
	if (is_uncounted(skb))
		count_uncounted(skb, FS_LEVELS, skb->len);
	return NEXT;
}

static __noinline int leave_plain_alone(struct __sk_buff *skb, enum left_alone reason)
{
	struct counters *counters = counters_here();

	return counters && reason < FS_LEFT_KINDS ? leave_alone(skb, counters, reason) : NEXT;
}

/* `packets`: those on the wire. */
static __always_inline void count_tagged(struct counters *counters, struct __sk_buff *skb,
					 __u32 level, __u32 payload, __u32 packets)
{
	struct level_counters *counted = &counters->levels[level & (FS_LEVELS - 1)];

	counted->packets++;
	counted->payload_bytes += payload;
	counted->wire_bytes += skb->wire_len;
	counted->wire_packets += packets;
	count_seen(counters, skb, packets);
}

/* The same for packets whose segments the kernel may not have counted. */
static __always_inline void count_any_tagged(struct counters *counters, struct __sk_buff *skb,
					     __u32 level, __u32 payload)
{
	count_tagged(counters, skb, level, payload, wire_packets(skb));
	if (is_uncounted(skb))
		count_uncounted(skb, level & (FS_LEVELS - 1), payload);
}

#endif
