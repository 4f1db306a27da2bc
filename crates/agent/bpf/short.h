/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* The short way, which nearly all packets go: the next one of a connection of this host or of a flow that
 * is known by its 5-tuple. The same as the long way does, and nothing where that is not certain. */
#ifndef FLOWSCHED_SHORT_H
#define FLOWSCHED_SHORT_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "count.h"
#include "decide.h"
#include "depart.h"
#include "flowsched.h"
#include "hear.h"
#include "long.h"
#include "maps.h"
#include "parse.h"
#include "plain.h"
#include "select.h"
#include "socket.h"
#include "state.h"
#include "write.h"

#define NOT_PLAIN (-2)

/* Whether a plain packet goes out as it came, and why: what tag_any() would say. Prefixes and
 * control groups are not looked at: the next packet of a flow goes where the one before went. */
static __always_inline int plain_left_alone(const struct rule *rule, __u8 tos, __u16 source_port,
					    __u16 destination_port)
{
	if (rule->flags & FS_RESPECT_DSCP && tos >> 2)
		return FS_RESPECTED;
	if (rule->flags & FS_SELECT_PORTS && !port_selected(rule, source_port) &&
	    !port_selected(rule, destination_port))
		return FS_NOT_SELECTED;
	return FS_LEFT_KINDS;
}

/* Writes and counts what was decided. `is_shared`: TCP has a copy of the packet, to send it again. */
static __always_inline int tag_plain(struct __sk_buff *skb, const struct rule *rule,
				     const struct plain_packet *packet, __u32 level,
				     bool ethernet, const bool is_shared)
{
	struct counters *counters = counters_here();
	__u8 tos = rule->dscp[level & (FS_LEVELS - 1)] << 2 | (packet->tos & ECN_BITS);
	const __u32 l3 = ethernet ? ETH_HLEN : 0;

	if (unlikely(!counters))
		return NEXT;
	if (tos != packet->tos)
		goto write;
count:
	count_tagged(counters, skb, level, packet->payload, packet->segments);
	return NEXT;
write:
	if (!is_shared && is_for_us_alone(skb, ip_version(packet)))
		goto leave;
	if (likely(!write_tos(skb, l3, packet->ip, ip_version(packet), tos)))
		goto count;
	return leave_alone(skb, counters, FS_NOT_WRITTEN);
leave:
	count_tagged(counters, skb, level, packet->payload, packet->segments);
	return in_place(l3, ip_version(packet), tos);
}

/* The level of a plain packet of a local TCP connection, if it is not just the next one: as
 * socket_level(). (In a function of its own, whose frame is no part of a longer chain of calls.) */
static __noinline int plain_socket_level(struct __sk_buff *skb, __u32 payload, __u32 seq,
					 __u8 tcp_flags)
{
	struct packet packet = {
		.payload = payload,
		.seq = seq,
		.protocol = IPPROTO_TCP,
		.tcp_flags = tcp_flags,
	};

	return socket_level(skb, &packet, settings.active);
}

/* Whether the application tells that a message begins. */
static __always_inline __u32 is_announced(struct __sk_buff *skb, const struct rule *rule,
					  const struct flow_state *flow, const bool has_options)
{
	return has_options ? flow->token ^ token_of(skb, rule) : 0;
}

/* The level of the next packet of a TCP connection that is known by its 5-tuple; NOT_NEXT of others. */
static __always_inline int next_forwarded(struct __sk_buff *skb, const struct rule *rule,
					  const struct plain_packet *packet,
					  struct flow_state *flow, const bool has_options)
{
	__u32 event = (packet->seq - flow->next_seq) |
		      is_announced(skb, rule, flow, has_options);

	listen_to_others();
	return next_level(rule, flow, forwarded_clock(skb, rule), packet->payload, event,
			  rule->flow_idle_ns, has_options);
}

/* The next packet of a connection between others, which passes through this host. */
static __always_inline int tag_plain_forwarded(struct __sk_buff *skb, const struct rule *rule,
					       const struct plain_packet *packet,
					       struct flow_key *key, bool ethernet,
					       const bool has_options)
{
	struct flow_state *flow;
	int level;

	/* Control groups are of sockets. */
	if ((has_options && rule->flags & FS_SELECT_CGROUPS) ||
	    !key_of_plain_tcp(skb, packet, key, ethernet ? ETH_HLEN : 0, 0))
		return NOT_PLAIN;
	flow = bpf_map_lookup_elem(&flows, key);
	if (unlikely(!flow))
		return NOT_PLAIN;
	level = next_forwarded(skb, rule, packet, flow, has_options);
	if (unlikely(level == NOT_NEXT))
		return NOT_PLAIN;
	return tag_plain(skb, rule, packet, level, ethernet, false);
}

/* The next packet of a TCP connection in a VXLAN tunnel, whose outer header is plain IPv4; NOT_PLAIN of
 * others. (Goes back for the call
 * of tag_any(): the kernel allows no more stack in a chain of calls.) */
static __noinline int tag_plain_vxlan(struct __sk_buff *skb, const struct rule *rule,
				      __u32 segments, __u8 tos, bool ethernet)
{
	struct plain_packet outer = { .segments = segments, .tos = tos };
	struct plain_packet inner;
	struct flow_state *flow;
	struct flow_key key;
	__u32 *vxlan;
	int level;

	if (!parse_plain_tcp4(skb, &inner, plain_vxlan_l3(ethernet), true) ||
	    inner.tcp_flags & (TCP_SYN | TCP_RST | TCP_FIN) || !inner.payload ||
	    rule->flags & (FS_SELECTS | FS_RESPECT_DSCP))
		return NOT_PLAIN;
	outer.ip = readable(skb) + (ethernet ? ETH_HLEN : 0);
	vxlan = outer.ip + sizeof(struct iphdr) + sizeof(struct udphdr);
	if ((void *)(vxlan + 2) > readable_end(skb) || !(*(__u8 *)vxlan & VXLAN_HAS_NETWORK) ||
	    !key_of_plain_tcp(skb, &inner, &key, plain_vxlan_l3(ethernet),
			      1 << 24 | bpf_ntohl(vxlan[1]) >> 8))
		return NOT_PLAIN;
	flow = bpf_map_lookup_elem(&flows, &key);
	if (!flow)
		return NOT_PLAIN;
	level = next_forwarded(skb, rule, &inner, flow, true);
	if (level == NOT_NEXT)
		return NOT_PLAIN;
	outer.payload = inner.payload;
	return tag_plain(skb, rule, &outer, level, ethernet, false);
}

/* Whether a packet, by the rule's options, is to go the long way: which flows were selected is known of
 * those that have been decided on; whether ECT is to be forced, the socket knows. */
static __always_inline bool is_tcp_optional(const struct rule *rule,
					    const struct plain_packet *packet)
{
	return packet->payload ? rule->flags & FS_FORCE_ECT && !(packet->tos & ECN_BITS) :
				 rule->flags & (FS_SELECT_PREFIXES | FS_SELECT_CGROUPS);
}

/* The next packet of a connection of this host. */
static __always_inline int tag_plain_tcp(struct __sk_buff *skb, const struct rule *rule,
					 const struct plain_packet *packet, struct flow_key *key,
					 bool ethernet, const bool has_options)
{
	struct bpf_sock *socket = skb->sk;
	struct flow_state *flow;
	int level = 0, reason;
	__u64 now;

	if (has_options) {
		reason = plain_left_alone(rule, packet->tos, packet->ports, packet->ports >> 16);
		if (reason != FS_LEFT_KINDS)
			return leave_plain_alone(skb, reason);
		if (is_tcp_optional(rule, packet))
			return NOT_PLAIN;
	}
	/* Pure ACKs go at the top and are no part of a message. */
	if (likely(packet->payload)) {
		if (unlikely(!socket))
			goto forwarded;
		flow = bpf_sk_storage_get(&sockets, socket, NULL, 0);
		if (unlikely(!flow))
			goto unknown;
		now = skb->tstamp;
		if (unlikely(!now))
			goto decide;
		level = next_level(rule, flow, now, packet->payload,
				   (packet->seq - flow->next_seq) |
					   is_announced(skb, rule, flow, has_options),
				   rule->message_idle_ns, has_options);
		if (unlikely(level == NOT_NEXT))
			goto decide;
		flow->drained = packet->tcp_flags & TCP_PSH ?
					is_all_sent(socket, flow->next_seq) : FS_NOT_DRAINED;
		if (has_options && trace)
			log_next(skb, flow, packet->payload);
	}
decided:
	return tag_plain(skb, rule, packet, level, ethernet, true);
decide:
	if (has_options)
		return NOT_PLAIN;
unknown:
	if (has_options && bpf_tcp_sock(socket))
		return NOT_PLAIN;
	if (has_options)
		goto forwarded;
	level = plain_socket_level(skb, packet->payload, packet->seq, packet->tcp_flags);
	if (level >= 0)
		goto decided;
	if (level == NO_LEVEL)
		return leave_plain_alone(skb, FS_NO_STATE);
forwarded:
	return tag_plain_forwarded(skb, rule, packet, key, ethernet, has_options);
}

/* The first and the last packet of a connection of this host. */
static __always_inline int tag_plain_end(struct __sk_buff *skb, const struct rule *rule,
					 struct plain_packet *packet, bool ethernet)
{
	int level = 0;

	packet->segments = wire_packets(skb);
	if (rule->flags & FS_OPTIONS || is_uncounted(skb))
		return NOT_PLAIN;
	if (packet->tcp_flags & (TCP_SYN | TCP_RST)) {
		if (!end_socket_flow(skb, packet->tcp_flags))
			return NOT_PLAIN;
	} else {
		level = plain_socket_level(skb, packet->payload, packet->seq, packet->tcp_flags);
		if (level == NO_LEVEL)
			return leave_plain_alone(skb, FS_NO_STATE);
		if (level == NO_CONNECTION)
			return NOT_PLAIN;
	}
	return tag_plain(skb, rule, packet, level, ethernet, false);
}

/* The next packet of a UDP flow. */
static __always_inline int tag_plain_udp(struct __sk_buff *skb, const struct rule *rule,
					 const struct plain_packet *packet, struct flow_key *key,
					 bool ethernet, const bool has_options)
{
	__u32 tick = tick_now(skb, rule);
	struct flow_state *flow;
	int level, reason;
	__u64 now;

	if (has_options) {
		reason = plain_left_alone(rule, packet->tos, packet->ports, packet->ports >> 16);
		if (reason != FS_LEFT_KINDS)
			return leave_plain_alone(skb, reason);
		/* Sockets in different control groups may send in one flow. */
		if (rule->flags & FS_SELECT_CGROUPS)
			return NOT_PLAIN;
	}
	flow = bpf_map_lookup_elem(&flows, key);
	if (unlikely(!flow))
		return NOT_PLAIN;
	now = udp_clock(skb, rule, flow, tick);
	level = next_level(rule, flow, now, packet->payload,
			   is_announced(skb, rule, flow, has_options), rule->flow_idle_ns,
			   has_options);
	if (unlikely(level == NOT_NEXT))
		goto decide;
	flow->tick = tick;
decided:
	return tag_plain(skb, rule, packet, level, ethernet, false);
decide:
	if (has_options)
		return NOT_PLAIN;
	level = datagram_level(skb, key, packet->payload, settings.active);
	if (level >= 0)
		goto decided;
	return leave_plain_alone(skb, FS_NO_STATE);
}

/*
 * Tags what nearly all packets are: the next one of a connection of this host, or of a UDP flow. Of all
 * others tag_any() does the work, and nothing is done here.
 *
 * Between two packets the processor forgets all but a little of this program: what costs is how many
 * lines of code a packet needs, and each jump. Hence no calls but of the kernel; two copies of each
 * path, one of which knows no options; and everything rare at the end, behind a label, as clang leaves
 * the parts of a BPF program in the order of the source, whatever is likely.
 */
static __always_inline int tag(struct __sk_buff *skb, bool ethernet)
{
	const struct rule *rule = rule_in_force();
	const __u32 l3 = ethernet ? ETH_HLEN : 0;
	struct plain_packet packet;
	struct flow_key key;
	int what;

	if (unlikely(!parse_plain_tcp4(skb, &packet, l3, ethernet)))
		goto not_tcp4;
tcp:
	if (unlikely(packet.tcp_flags & (TCP_SYN | TCP_RST | TCP_FIN)))
		goto ends;
	packet.segments = skb->gso_segs;
	if (unlikely(!packet.segments))
		goto tcp_uncounted;
tcp_counted:
	if (unlikely(rule->flags & FS_OPTIONS))
		goto tcp_options;
	what = tag_plain_tcp(skb, rule, &packet, &key, ethernet, false);
	if (unlikely(what == NOT_PLAIN))
		goto any;
	return what;

not_tcp4:
	if (unlikely(!parse_plain_udp4(skb, &packet, &key, l3, ethernet)))
		goto not_udp4;
udp:
	packet.segments = skb->gso_segs;
	if (likely(!packet.segments)) {
		packet.segments = 1;
		if (unlikely(skb->gso_size))
			goto any;
	}
	if (unlikely(bpf_ntohs(packet.ports >> 16) == rule->vxlan_port))
		goto vxlan;
	if (unlikely(rule->flags & FS_OPTIONS))
		goto udp_options;
	what = tag_plain_udp(skb, rule, &packet, &key, ethernet, false);
	if (unlikely(what == NOT_PLAIN))
		goto any;
	return what;

ends:
	what = tag_plain_end(skb, rule, &packet, ethernet);
	goto end;
tcp_uncounted:
	packet.segments = 1;
	if (skb->gso_size)
		goto any;
	goto tcp_counted;
not_udp4:
	if (parse_plain_tcp6(skb, &packet, l3, ethernet))
		goto tcp;
	if (parse_plain_udp6(skb, &packet, &key, l3, ethernet))
		goto udp;
	goto any;
vxlan:
	if (ip_version(&packet) != 4)
		goto any;
	what = tag_plain_vxlan(skb, rule, packet.segments, packet.tos, ethernet);
	goto end;
tcp_options:
	what = tag_plain_tcp(skb, rule, &packet, &key, ethernet, true);
	goto end;
udp_options:
	what = tag_plain_udp(skb, rule, &packet, &key, ethernet, true);
end:
	if (what != NOT_PLAIN)
		return what;
any:
	return tag_any(skb, ethernet);
}

#endif
