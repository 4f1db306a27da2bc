/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* The decision: (rule, state of the flow, packet) -> level. The same as schemes/tagger/mlfq.rs,
 * step by step, and tested against it packet by packet. No clock, no packet, no map here. */
#ifndef FLOWSCHED_DECIDE_H
#define FLOWSCHED_DECIDE_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "flowsched.h"

#define NOT_NEXT (-1)
#define NO_END (~0ULL)

struct decision {
	__u8 level;
	__u8 new_message;
	__u8 starved;
	__u64 ended_size; /* of the message before, where a new one starts */
};

static __always_inline __u8 level_at(const struct rule *rule, __u64 count)
{
	__u8 level = 0;

#pragma unroll
	for (int i = 0; i < FS_LEVELS - 1; i++)
		level += count > rule->thresholds[i];
	return level;
}

/* Payload bytes of the message so far, without what was sent again. */
static __always_inline __u64 message_size(const struct flow_state *flow)
{
	return flow->next_offset > flow->size_from ? flow->next_offset - flow->size_from : 0;
}

/* The level at `count`, counted from `base`, and how far it goes. */
static __always_inline __u8 set_level(const struct rule *rule, struct flow_state *flow,
				      __u64 base, __u64 count)
{
	__u8 level = level_at(rule, count);
	__u64 bound = rule->thresholds[level & (FS_LEVELS - 1)], end = base + bound + 1;

	flow->level = level;
	flow->level_end = end <= bound ? NO_END : end;
	flow->generation = rule->generation;
	return level;
}

static __always_inline struct decision decide(const struct rule *rule, struct flow_state *flow,
					      const struct departure *departure, __u64 idle_ns)
{
	struct decision decision = {};
	__u64 silence = departure->now > flow->last_sent ? departure->now - flow->last_sent : 0;
	__u64 count;

	decision.new_message =
		departure->application_start || (departure->idle && silence >= idle_ns);
	if (departure->timeouts_in_a_row < flow->aged_at)
		flow->aged_at = 0;
	if (rule->ageing_timeouts &&
	    departure->timeouts_in_a_row - flow->aged_at >= rule->ageing_timeouts) {
		flow->aged_at = departure->timeouts_in_a_row;
		decision.starved = 1;
	}
	if (decision.new_message) {
		decision.ended_size = message_size(flow);
		flow->size_from = departure->offset;
	}
	if (decision.new_message || decision.starved) {
		flow->bytes_sent = 0;
		flow->message_offset = departure->offset;
	}
	flow->last_sent = departure->now;
	flow->bytes_sent += departure->payload;
	if (rule->flags & FS_CUMULATIVE) {
		decision.level = set_level(rule, flow, 0, flow->bytes_sent);
	} else {
		count = departure->offset > flow->message_offset ?
				departure->offset - flow->message_offset : 0;
		decision.level = set_level(rule, flow, flow->message_offset, count);
	}
	return decision;
}

/* The level of a packet that directly follows the flow's last one, in sequence and in time, and
 * below the same threshold: what decide() would say, and all that it would change, of nearly all
 * packets. NOT_NEXT, with nothing changed, of the others. `event`: not 0 if anything else than
 * more bytes may have happened. `has_options`: whether the rule may count bytes sent. */
static __always_inline int next_level(const struct rule *rule, struct flow_state *flow, __u64 now,
				      __u32 payload, __u32 event, __u64 idle_ns,
				      const bool has_options)
{
	__u64 count = flow->next_offset;

	event |= flow->generation ^ rule->generation;
	if (has_options && rule->flags & FS_CUMULATIVE)
		count = flow->bytes_sent + payload;
	if (unlikely(event || now - flow->last_sent >= idle_ns || count >= flow->level_end))
		return NOT_NEXT;
	flow->last_sent = now;
	flow->next_offset += payload;
	flow->next_seq += payload;
	flow->bytes_sent += payload;
	return flow->level;
}

#endif
