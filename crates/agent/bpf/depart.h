/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* A packet leaves: at what time, with what in its flow's state, and what is counted and remembered
 * of it. What its headers say and whether it is tagged is not known here. */
#ifndef FLOWSCHED_DEPART_H
#define FLOWSCHED_DEPART_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/in.h>
#include <bpf/bpf_helpers.h>

#include "decide.h"
#include "flowsched.h"
#include "maps.h"
#include "parse.h"

/* Fixed when the program is loaded; what is not needed is then no part of it. */
const volatile bool trace; /* tests: rules may have FS_TRACE */

static __always_inline __u64 clock(struct __sk_buff *skb, const struct rule *rule)
{
	return rule->flags & FS_INJECTED_CLOCK ? skb->tstamp : bpf_ktime_get_ns();
}

/* TCP stamps its packets with the time at which they may leave, on the same clock, and reading
 * the clock anew would cost as much as all the rest. */
static __always_inline __u64 tcp_clock(struct __sk_buff *skb)
{
	__u64 stamp = skb->tstamp;

	return stamp ? stamp : bpf_ktime_get_ns();
}

/* The same of packets that are forwarded: a container's TCP has stamped its packets, too. */
static __always_inline __u64 forwarded_clock(struct __sk_buff *skb, const struct rule *rule)
{
	__u64 stamp = skb->tstamp;

	if (stamp && skb->tstamp_type == BPF_SKB_TSTAMP_DELIVERY_MONO)
		return stamp;
	return clock(skb, rule);
}

static __always_inline __u32 tick_now(struct __sk_buff *skb, const struct rule *rule)
{
	return rule->flags & FS_INJECTED_CLOCK ? skb->tstamp >> FS_INJECTED_TICK_BITS : bpf_jiffies64();
}

/* The time of a UDP packet; of several that a flow sends in one tick of the kernel's clock that of
 * the first, where the rule's idleness is many ticks long. Another tick is seen at no cost; to
 * read the clock takes twice as long as to find the flow. */
static __always_inline __u64 udp_clock(struct __sk_buff *skb, const struct rule *rule,
				       const struct flow_state *flow, __u32 tick)
{
	return flow->tick == tick && rule->flags & FS_TICKS ? flow->last_sent : clock(skb, rule);
}

static __always_inline __u32 bucket_of(__u64 size)
{
	__u32 exponent = 0, octave;
	__u64 rest = size;

	if (size < FS_EXACT_SIZES)
		return size;
#pragma unroll
	for (int shift = 32; shift; shift >>= 1) {
		if (rest >> shift) {
			rest >>= shift;
			exponent += shift;
		}
	}
	octave = exponent - FS_EXACT_BITS;
	if (octave >= FS_OCTAVES)
		return FS_BUCKETS - 1;
	return FS_EXACT_SIZES + octave * FS_OCTAVE_BUCKETS +
	       ((size >> (exponent - FS_OCTAVE_BITS)) & (FS_OCTAVE_BUCKETS - 1));
}

__noinline int record_size(__u64 size)
{
	__u32 bucket = bucket_of(size);
	__u64 *count = size ? bpf_map_lookup_elem(&histogram, &bucket) : NULL;

	if (count)
		__sync_fetch_and_add(count, 1);
	return 0;
}

/* What the application sets to tell where its messages begin. (Without a branch, which on a path
 * that is taken once in a while costs more.) */
static __always_inline __u32 token_of(struct __sk_buff *skb, const struct rule *rule)
{
	return (skb->mark & rule->mark_mask) | (skb->priority & rule->priority_mask);
}

static __always_inline void end_message(struct flow_state *flow)
{
	if (!flow->ended)
		record_size(message_size(flow));
	flow->ended = 1;
}

/* Decides, and remembers what was sent. `ahead`: how far the packet's first byte is behind the
 * last new byte sent; negative: sent before. */
static __always_inline __u8 depart(const struct rule *rule, struct counters *counters,
				   const struct packet *packet, struct flow_state *flow,
				   struct departure *departure, __s32 ahead, __u32 token,
				   __u64 idle_ns)
{
	struct decision decision;

	/* A FIN without data ends a message, and begins none. */
	if (packet->protocol == IPPROTO_TCP && !packet->payload) {
		departure->idle = 0;
	} else if (flow->token != token && ahead >= 0) {
		flow->token = token;
		departure->application_start = 1;
	}
	decision = decide(rule, flow, departure, idle_ns);
	if (decision.new_message) {
		if (!flow->ended)
			record_size(decision.ended_size);
		flow->ended = 0;
		if (departure->application_start)
			counters->messages_application++;
		else
			counters->messages_idle++;
	}
	counters->starved += decision.starved;
	if ((__s64)(departure->offset + packet->payload - flow->next_offset) > 0) {
		flow->next_offset = departure->offset + packet->payload;
		flow->next_seq = packet->seq + packet->payload;
	}
	/* What next_level() does not look at. */
	if (flow->aged_at || flow->timeouts || flow->token != token)
		flow->level_end = 0;
	if (packet->tcp_flags & TCP_FIN)
		end_message(flow);
	return decision.level;
}

/* The offset of a TCP packet's first byte in its flow. */
static __always_inline __u64 offset_of(const struct flow_state *flow, __s32 ahead)
{
	__s64 offset = (__s64)flow->next_offset + ahead;

	return offset > 0 ? offset : 0;
}

/* What a connection has sent before this packet: what was acknowledged and what is in flight. (Of a
 * connection that was answered, the SYN may count as a byte.) */
static __always_inline __u64 bytes_before(const struct packet *packet,
					  const struct bpf_tcp_sock *tcp)
{
	__u64 acknowledged = tcp->bytes_acked > 1 ? tcp->bytes_acked : 0;
	__u32 in_flight = packet->seq - tcp->snd_una;

	return acknowledged + ((__s32)in_flight > 0 ? in_flight : 0);
}

/* A connection that is older than the tagger. */
static __always_inline void start_socket_flow(struct flow_state *flow, const struct packet *packet,
					      struct bpf_tcp_sock *tcp, __u64 now, __u32 token)
{
	flow->next_seq = packet->seq;
	flow->next_offset = bytes_before(packet, tcp);
	flow->bytes_sent = flow->next_offset;
	flow->last_sent = now;
	flow->token = token;
}

/* (A function for the sake of its type, which the agent's tests are compiled from.) */
static __noinline int submit(struct trace_record *record)
{
	bpf_ringbuf_submit(record, 0);
	return 0;
}

/* For tests. */
static __always_inline void log_level(struct __sk_buff *skb, const struct departure *departure,
				      __u32 level)
{
	struct trace_record *record = bpf_ringbuf_reserve(&trace_records, sizeof(*record), 0);

	if (!record)
		return;
	record->socket = bpf_get_socket_cookie(skb);
	record->departure = *departure;
	record->level = level;
	submit(record);
}

/* For tests: what decide() would have been given of a packet that next_level() has decided on. */
static __noinline int log_next(struct __sk_buff *skb, const struct flow_state *flow, __u32 payload)
{
	struct bpf_tcp_sock *tcp = skb->sk ? bpf_tcp_sock(skb->sk) : NULL;
	struct departure departure = {};

	if (!tcp)
		return 0;
	departure.now = flow->last_sent;
	departure.offset = flow->next_offset - payload;
	departure.payload = payload;
	departure.timeouts_in_a_row = tcp->icsk_retransmits;
	log_level(skb, &departure, flow->level);
	return 0;
}

#endif
