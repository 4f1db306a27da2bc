/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* The level of any packet, by the state of its flow: in the socket of a local TCP connection, in the
 * hash of all others. */
#ifndef FLOWSCHED_STATE_H
#define FLOWSCHED_STATE_H

#include <linux/bpf.h>
#include <linux/in.h>
#include <bpf/bpf_helpers.h>

#include "decide.h"
#include "depart.h"
#include "flowsched.h"
#include "hear.h"
#include "lone.h"
#include "maps.h"
#include "parse.h"
#include "socket.h"

#define ECN_NEGOTIATED 1

/* What socket_level says beside the level. */
#define LEVEL_ECT 0x100 /* set ECT(0) */
#define NO_LEVEL (-1)
#define NO_CONNECTION (-2) /* a socket that keeps no state, such as one in TIME_WAIT */

static __always_inline __u32 forced_ect(const struct rule *rule, const struct packet *packet,
					struct bpf_tcp_sock *tcp)
{
	if (likely(!(rule->flags & FS_FORCE_ECT)))
		return 0;
	return packet->payload && tcp->ecn_flags & ECN_NEGOTIATED ? LEVEL_ECT : 0;
}

/* Decides on a packet of a connection whose state is known. */
static __noinline int depart_socket(struct __sk_buff *skb, const struct packet *packet,
				    const struct rule *rule, struct flow_state *flow,
				    struct bpf_tcp_sock *tcp)
{
	struct counters *counters = counters_here();
	struct departure departure = {};
	__s32 ahead = packet->seq - flow->next_seq;
	__u8 level;

	if (!counters)
		return NO_LEVEL;
	departure.now = tcp_clock(skb);
	departure.offset = offset_of(flow, ahead);
	departure.payload = packet->payload;
	departure.timeouts_in_a_row = tcp->icsk_retransmits;
	departure.idle = ahead >= 0 && flow->drained &&
			 (rule->flags & FS_SENT_ENDS || tcp->snd_una == packet->seq) &&
			 is_written_now(skb) &&
			 (flow->drained != FS_DRAINED_TIGHT ||
			  is_long_acknowledged(skb, departure.now, rule->message_idle_ns));
	level = depart(rule, counters, packet, flow, &departure, ahead, token_of(skb, rule),
		       rule->message_idle_ns);
	/* What is sent again says nothing new. */
	if (departure.offset + departure.payload == flow->next_offset)
		flow->drained = packet->tcp_flags & TCP_PSH && skb->sk ?
					is_all_sent(skb->sk, flow->next_seq) : FS_NOT_DRAINED;
	if (trace)
		log_level(skb, &departure, level);
	return level;
}

/* The level of a packet of a local TCP connection, with LEVEL_ECT where ECT(0) is to be set;
 * NO_LEVEL if there is no memory for its state. */
__noinline int socket_level(struct __sk_buff *skb, struct packet *packet, __u32 slot)
{
	const struct rule *rule = rule_of(slot);
	struct counters *counters = counters_here();
	struct bpf_sock *socket = skb->sk;
	struct bpf_tcp_sock *tcp;
	struct flow_state *flow;
	int level;

	if (!packet || !counters)
		return NO_LEVEL;
	if (!socket)
		return NO_CONNECTION;
	tcp = bpf_tcp_sock(socket);
	if (!tcp)
		return NO_CONNECTION;
	flow = bpf_sk_storage_get(&sockets, tcp, NULL, 0);
	if (!flow) {
		level = lone_level(rule, counters, packet, socket, tcp);
		if (level != NOT_LONE)
			return level;
		flow = bpf_sk_storage_get(&sockets, tcp, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	}
	if (!flow)
		return NO_LEVEL;
	if (!flow->generation && !start_after_lone(rule, flow, packet, socket, tcp)) {
		start_socket_flow(flow, packet, tcp, tcp_clock(skb), token_of(skb, rule));
		counters->flows_socket += !was_tried(skb, packet, socket, tcp);
	}
	level = depart_socket(skb, packet, rule, flow, tcp);
	return level < 0 ? level : level | forced_ect(rule, packet, tcp);
}

/* Of flows without a socket only what passes is known: a timeout is an old sequence after a
 * silence, in a row if it is the same sequence again. */
static __always_inline void count_timeouts(const struct rule *rule, struct flow_state *flow,
					   __u32 seq, __s32 ahead, __u64 now)
{
	if (ahead >= 0) {
		flow->timeouts = 0;
	} else if (now > flow->last_sent && now - flow->last_sent >= rule->timeout_gap_ns) {
		flow->timeouts = flow->timeouts && flow->timeout_seq == seq ? flow->timeouts + 1 : 1;
		flow->timeout_seq = seq;
	}
}

/* Whether the receiver has been silent for `idle_ns`, too. A sender that its receiver's window or the
 * network holds up goes on as soon as it hears from the receiver. If that was just now, the pause did
 * not end a message. */
static __always_inline bool is_quiet(const struct flow_state *flow, __u64 now, __u64 idle_ns)
{
	return !flow->last_heard ||
	       (now > flow->last_heard && now - flow->last_heard >= idle_ns);
}

static __noinline struct flow_state *new_hash_flow(const struct flow_key *key, __u32 seq,
							__u64 now, __u32 token)
{
	struct flow_state fresh = {
		.next_seq = seq,
		.last_sent = now,
		.token = token,
	};

	if (bpf_map_update_elem(&flows, key, &fresh, BPF_ANY))
		return NULL;
	return bpf_map_lookup_elem(&flows, key);
}

/* Decides on a packet of a flow whose state was found by its 5-tuple. */
static __noinline int depart_hash(struct __sk_buff *skb, const struct packet *packet,
				  const struct rule *rule, struct flow_state *flow, __u64 now)
{
	struct counters *counters = counters_here();
	__u32 token = token_of(skb, rule);
	struct departure departure = {};
	__s32 ahead = 0;

	if (!counters)
		return NO_LEVEL;
	departure.now = now;
	departure.offset = flow->next_offset;
	if (packet->protocol == IPPROTO_TCP && !packet->fragment) {
		listen_to_others();
		ahead = packet->seq - flow->next_seq;
		departure.offset = offset_of(flow, ahead);
		count_timeouts(rule, flow, packet->seq, ahead, departure.now);
	}
	if (!(packet->tcp_flags & TCP_FIN)) {
		__u32 event = ahead | flow->timeouts | (token ^ flow->token);
		int level = next_level(rule, flow, departure.now, packet->payload, event,
				       rule->flow_idle_ns, true);

		if (level != NOT_NEXT)
			return level;
	}
	departure.payload = packet->payload;
	departure.timeouts_in_a_row = flow->timeouts;
	departure.idle = ahead >= 0 && is_quiet(flow, now, rule->flow_idle_ns);
	return depart(rule, counters, packet, flow, &departure, ahead, token, rule->flow_idle_ns);
}

/* The level of a packet of the flow `key`, which is on the stack of the function that this is part of:
 * kernels before 6.2 look up nothing else. */
static __always_inline int named_level(struct __sk_buff *skb, const struct packet *packet,
				       __u32 slot, const struct flow_key *key)
{
	const struct rule *rule = rule_of(slot);
	struct counters *counters = counters_here();
	struct flow_state *flow;
	__u64 now;

	if (!counters)
		return NO_LEVEL;
	flow = bpf_map_lookup_elem(&flows, key);
	if (!flow) {
		flow = new_hash_flow(key, packet->seq, clock(skb, rule), token_of(skb, rule));
		counters->flows_hash++;
	}
	if (!flow)
		return NO_LEVEL;
	if (packet->protocol == IPPROTO_UDP) {
		__u32 tick = tick_now(skb, rule);

		now = udp_clock(skb, rule, flow, tick);
		flow->tick = tick;
	} else {
		now = forwarded_clock(skb, rule);
	}
	return depart_hash(skb, packet, rule, flow, now);
}

/* The level of a packet of a flow that is known by its 5-tuple, or NO_LEVEL. */
__noinline int hash_level(struct __sk_buff *skb, struct packet *packet, __u32 slot)
{
	struct flow_key key;

	if (!packet || !key_of(skb, packet, &key))
		return NO_LEVEL;
	return named_level(skb, packet, slot, &key);
}

/* The same for a UDP packet whose flow's name is known. */
__noinline int datagram_level(struct __sk_buff *skb, const struct flow_key *name, __u32 payload,
			      __u32 slot)
{
	struct packet packet = { .payload = payload, .protocol = IPPROTO_UDP };
	struct flow_key key;

	if (!name)
		return NO_LEVEL;
	key = *name;
	return named_level(skb, &packet, slot, &key);
}

/* A connection of this host that opens or breaks off: what its socket remembers is over. False if it is
 * none. */
static __noinline bool end_socket_flow(struct __sk_buff *skb, __u8 tcp_flags)
{
	struct bpf_sock *socket = skb->sk;
	struct flow_state *flow;
	struct bpf_tcp_sock *tcp;

	if (!socket)
		return false;
	tcp = bpf_tcp_sock(socket);
	if (!tcp)
		return false;
	flow = bpf_sk_storage_get(&sockets, tcp, NULL, 0);
	if (flow) {
		end_message(flow);
		/* A socket may be connected anew, to somebody else. */
		*flow = (struct flow_state){};
	} else if (tcp_flags & TCP_RST) {
		break_off_lone(rule_of(settings.active), socket, tcp);
	}
	return true;
}

/* A connection that opens or breaks off: what was remembered under its name is over. */
__noinline int end_flow(struct __sk_buff *skb, struct packet *packet)
{
	struct counters *counters = counters_here();
	struct flow_state *flow;
	struct flow_key key;

	if (!packet || !counters || (!packet->network && end_socket_flow(skb, packet->tcp_flags)))
		return 0;
	if (!key_of(skb, packet, &key))
		return 0;
	flow = bpf_map_lookup_elem(&flows, &key);
	if (flow) {
		end_message(flow);
		if (!bpf_map_delete_elem(&flows, &key))
			counters->flows_closed++;
	}
	return 0;
}

/* The level of any packet. */
__noinline int level_of(struct __sk_buff *skb, struct packet *packet, __u32 slot)
{
	if (!packet)
		return NO_LEVEL;
	if (packet->protocol == IPPROTO_TCP && !packet->fragment) {
		if (packet->tcp_flags & (TCP_SYN | TCP_RST)) {
			end_flow(skb, packet);
			return 0;
		}
		/* Pure ACKs go at the top and are no part of a message. */
		if (!packet->payload && !(packet->tcp_flags & TCP_FIN))
			return 0;
		if (!packet->network && skb->sk) {
			int level = socket_level(skb, packet, slot);

			if (level != NO_CONNECTION)
				return level;
		}
	}
	return hash_level(skb, packet, slot);
}

#endif
