/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* The long way, which any packet may go: all headers, all of the rule's options. */
#ifndef FLOWSCHED_LONG_H
#define FLOWSCHED_LONG_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/ip.h>
#include <bpf/bpf_helpers.h>

#include "count.h"
#include "flowsched.h"
#include "maps.h"
#include "parse.h"
#include "select.h"
#include "state.h"
#include "write.h"

#define LINEAR 256
#define ECN_BITS 3
#define ECT0 2

/* Tags any packet; where it is to be written in place, says what. */
__noinline int tag_any(struct __sk_buff *skb, bool ethernet)
{
	__u32 slot = settings.active & 1;
	const struct rule *rule = rule_of(slot);
	struct counters *counters = counters_here();
	struct packet packet = {};
	int parsed, level;
	__u8 tos;

	if (!counters)
		return NEXT;
	parsed = parse_packet(skb, &packet, ethernet, rule->vxlan_port);
	if (parsed == PARSED_SHORT) {
		bpf_skb_pull_data(skb, skb->len < LINEAR ? skb->len : LINEAR);
		parsed = parse_packet(skb, &packet, ethernet, rule->vxlan_port);
	}
	if (parsed != PARSED)
		return leave_alone(skb, counters, parsed == PARSED_OTHER ? FS_NOT_IP : FS_UNCLEAR);
	if (rule->flags & FS_RESPECT_DSCP && packet.tos >> 2)
		return leave_alone(skb, counters, FS_RESPECTED);
	if (rule->flags & FS_SELECTS && !selected(skb, &packet, slot))
		return leave_alone(skb, counters, FS_NOT_SELECTED);
	level = level_of(skb, &packet, slot);
	if (level < 0)
		return leave_alone(skb, counters, FS_NO_STATE);
	tos = rule->dscp[level & (FS_LEVELS - 1)] << 2 | (packet.tos & ECN_BITS);
	if (level & LEVEL_ECT && !(tos & ECN_BITS)) {
		tos |= ECT0;
		counters->ect_forced++;
	}
	if (tos != packet.tos && is_for_us_alone(skb, packet.ip_version)) {
		count_any_tagged(counters, skb, level, packet.payload);
		return in_place(packet.l3, packet.ip_version, tos);
	}
	if (tos != packet.tos) {
		void *ip = header_at(skb, packet.l3);

		if (!ip || ip + sizeof(struct iphdr) > readable_end(skb) ||
		    write_tos(skb, packet.l3, ip, packet.ip_version, tos))
			return leave_alone(skb, counters, FS_NOT_WRITTEN);
	}
	count_any_tagged(counters, skb, level, packet.payload);
	return NEXT;
}

#endif
