/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* The decision: (rule, state of the flow, packet) -> level. The same as schemes/tagger/mlfq.rs,
 * step by step, and tested against it packet by packet. No clock, no packet, no map here. */
#ifndef FLOWSCHED_DECIDE_H
#define FLOWSCHED_DECIDE_H

#include "flowsched.h"

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
	if (rule->flags & FS_CUMULATIVE)
		count = flow->bytes_sent;
	else
		count = departure->offset > flow->message_offset ?
				departure->offset - flow->message_offset : 0;
	decision.level = level_at(rule, count);
	return decision;
}

#endif
