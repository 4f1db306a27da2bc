// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0
/* Tags packets that leave an interface with the DSCP of their flow's priority (PIAS ToN 2017,
 * III-B.1, IV-A.1).
 *
 * Whatever fails, the packet goes out as it came, and the next program on the hook runs.
 *
 * Functions that are not static are checked by the verifier once each, not once a path of their
 * callers; they may not be given pointers into maps, and look those up again. */
#include <stdbool.h>
#include <stddef.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "decide.h"
#include "depart.h"
#include "flowsched.h"
#include "hear.h"
#include "maps.h"
#include "parse.h"
#include "plain.h"
#include "select.h"
#include "state.h"
#include "write.h"

/* Continue with the next program: TCX_NEXT on tcx, TC_ACT_UNSPEC on clsact. */
#define NEXT (-1)
#define LINEAR 256
#define ECN_BITS 3
#define ECT0 2

/* Of the rule, what plain packets seldom need. */
#define FS_OPTIONS (~(FS_CUMULATIVE | FS_TICKS | FS_SENT_ENDS))

/* Packets on the wire that this one becomes. */
/* Packets on the wire, as far as the kernel has counted them: see count_uncounted. */
static __always_inline __u32 wire_packets(struct __sk_buff *skb)
{
	__u32 segments = skb->gso_segs;

	return segments ? segments : 1;
}

static __always_inline void count_seen(struct counters *counters, struct __sk_buff *skb,
				       __u32 packets)
{
	counters->seen[skb->ifindex & (FS_SEEN_SLOTS - 1)] += packets;
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
	count_seen(counters, skb, bytes);
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

static __always_inline void count_tagged(struct counters *counters, struct __sk_buff *skb,
					 __u32 level, __u32 payload)
{
	struct level_counters *counted = &counters->levels[level & (FS_LEVELS - 1)];
	__u32 packets = wire_packets(skb);

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
	count_tagged(counters, skb, level, payload);
	if (is_uncounted(skb))
		count_uncounted(skb, level & (FS_LEVELS - 1), payload);
}

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

/* Writes and counts what was decided. */
static __always_inline int tag_plain(struct __sk_buff *skb, const struct rule *rule,
				     const struct plain_packet *packet, __u32 level,
				     bool ethernet)
{
	struct counters *counters = counters_here();
	__u8 tos = rule->dscp[level & (FS_LEVELS - 1)] << 2 | (packet->tos & ECN_BITS);

	if (unlikely(!counters))
		return NEXT;
	if (tos != packet->tos) {
		const __u32 l3 = ethernet ? ETH_HLEN : 0;

		if (is_for_us_alone(skb, packet->ip_version)) {
			count_tagged(counters, skb, level, packet->payload);
			return in_place(l3, packet->ip_version, tos);
		}
		if (unlikely(write_tos(skb, l3, packet->ip, packet->ip_version, tos)))
			return leave_alone(skb, counters, FS_NOT_WRITTEN);
	}
	count_tagged(counters, skb, level, packet->payload);
	return NEXT;
}

/* What the decision on a plain packet is to know of it. */
static __always_inline struct packet plain_packet(const struct plain_packet *plain, __u8 protocol)
{
	return (struct packet){ .payload = plain->payload, .protocol = protocol };
}

/* Whether it is not known yet if the rule is for this flow. */
static __always_inline bool is_to_be_selected(const struct rule *rule,
					      const struct flow_state *flow)
{
	return rule->flags & (FS_SELECT_PREFIXES | FS_SELECT_CGROUPS) &&
	       flow->generation != rule->generation;
}

/* The next packet of a connection between others, which passes through this host. */
static __always_inline int tag_plain_forwarded(struct __sk_buff *skb, __u32 slot,
					       const struct plain_packet *packet,
					       struct flow_key *key, bool ethernet)
{
	const struct rule *rule = rule_of(slot);
	struct flow_state *flow;
	int level;

	/* Control groups are of sockets. */
	if (rule->flags & FS_SELECT_CGROUPS || !key_of_plain_tcp(skb, packet, key, ethernet))
		return tag_any(skb, ethernet);
	flow = bpf_map_lookup_elem(&flows, key);
	if (unlikely(!flow))
		return tag_any(skb, ethernet);
	listen_to_others();
	level = next_level(rule, flow, clock(skb), packet->payload,
			   (packet->seq - flow->next_seq) | flow->timeouts |
				   (flow->token ^ token_of(skb, rule)),
			   rule->flow_idle_ns);
	if (unlikely(level == NOT_NEXT))
		return tag_any(skb, ethernet);
	return tag_plain(skb, rule, packet, level, ethernet);
}

/* The next packet of a connection of this host. */
static __always_inline int tag_plain_tcp(struct __sk_buff *skb, __u32 slot,
					 const struct plain_packet *packet, struct flow_key *key,
					 bool ethernet)
{
	const struct rule *rule = rule_of(slot);
	struct bpf_sock *socket = skb->sk;
	struct flow_state *flow;
	int level = 0;

	if (unlikely(rule->flags & FS_OPTIONS)) {
		int reason = plain_left_alone(rule, packet->tos, packet->ports,
					      packet->ports >> 16);

		if (reason != FS_LEFT_KINDS)
			return leave_plain_alone(skb, reason);
		/* Which flows were selected is known of those that have been decided on; whether ECT is
		 * to be forced, the socket knows. */
		if (packet->payload ? rule->flags & FS_FORCE_ECT && !(packet->tos & ECN_BITS) :
				      rule->flags & (FS_SELECT_PREFIXES | FS_SELECT_CGROUPS))
			return tag_any(skb, ethernet);
	}
	/* Pure ACKs go at the top and are no part of a message. */
	if (likely(packet->payload)) {
		/* The kernel's test runs give packets a socket of no kind. */
		if (unlikely(injected_clock || !socket))
			return tag_plain_forwarded(skb, slot, packet, key, ethernet);
		flow = bpf_sk_storage_get(&sockets, socket, NULL, 0);
		if (unlikely(!flow))
			return tag_any(skb, ethernet);
		level = next_level(rule, flow, tcp_clock(skb), packet->payload,
				   (packet->seq - flow->next_seq) |
					   (flow->token ^ token_of(skb, rule)),
				   rule->message_idle_ns);
		if (unlikely(level == NOT_NEXT)) {
			struct packet other = plain_packet(packet, IPPROTO_TCP);
			struct bpf_tcp_sock *tcp = bpf_tcp_sock(socket);

			if (!tcp || is_to_be_selected(rule, flow))
				return tag_any(skb, ethernet);
			other.seq = packet->seq;
			level = depart_socket(skb, &other, slot, flow, tcp);
			if (level < 0)
				return leave_plain_alone(skb, FS_NO_STATE);
		} else {
			flow->drained = is_all_sent(skb, flow->next_seq);
			if (trace)
				log_next(skb, flow, packet->payload);
		}
	}
	return tag_plain(skb, rule, packet, level, ethernet);
}

/* The next packet of a UDP flow. */
static __always_inline int tag_plain_udp(struct __sk_buff *skb, __u32 slot,
					 const struct plain_packet *packet, struct flow_key *key,
					 bool ethernet)
{
	const struct rule *rule = rule_of(slot);
	__u32 tick = tick_now(skb);
	struct flow_state *flow;
	__u64 now;
	int level;

	if (unlikely(bpf_ntohs(key->destination_port) == rule->vxlan_port))
		return tag_any(skb, ethernet);

	if (unlikely(rule->flags & FS_OPTIONS)) {
		int reason = plain_left_alone(rule, packet->tos, key->source_port,
					      key->destination_port);

		if (reason != FS_LEFT_KINDS)
			return leave_plain_alone(skb, reason);
		/* Sockets in different control groups may send in one flow. */
		if (rule->flags & FS_SELECT_CGROUPS)
			return tag_any(skb, ethernet);
	}
	flow = bpf_map_lookup_elem(&flows, key);
	if (unlikely(!flow))
		return tag_any(skb, ethernet);
	now = udp_clock(skb, rule, flow, tick);
	level = next_level(rule, flow, now, packet->payload, flow->token ^ token_of(skb, rule),
			   rule->flow_idle_ns);
	if (unlikely(level == NOT_NEXT)) {
		struct packet other = plain_packet(packet, IPPROTO_UDP);

		if (is_to_be_selected(rule, flow))
			return tag_any(skb, ethernet);
		level = depart_hash(skb, &other, slot, flow, now);
		if (level < 0)
			return leave_plain_alone(skb, FS_NO_STATE);
	}
	flow->tick = tick;
	return tag_plain(skb, rule, packet, level, ethernet);
}

/* Tags what nearly all packets are: the next one of a connection of this host, or of a UDP flow.
 * Of all others tag_any() does the work, and nothing is done here. There is no call here but of
 * the kernel, and little else: between two packets the processor forgets all but a little of this
 * program. */
static __always_inline int tag(struct __sk_buff *skb, bool ethernet)
{
	__u32 slot = settings.active & 1;
	struct plain_packet packet;
	struct flow_key key;

	if (unlikely(is_uncounted(skb)))
		return tag_any(skb, ethernet);
	if (likely(parse_plain_tcp(skb, &packet, ethernet))) {
		if (unlikely(packet.tcp_flags & (TCP_SYN | TCP_RST | TCP_FIN)))
			return tag_any(skb, ethernet);
		return tag_plain_tcp(skb, slot, &packet, &key, ethernet);
	}
	if (parse_plain_udp(skb, &packet, &key, ethernet))
		return tag_plain_udp(skb, slot, &packet, &key, ethernet);
	return tag_any(skb, ethernet);
}

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
	if (what < 0)
		return NEXT;
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

/* What a program costs that does nothing: the zero of the cost bench. */
SEC("tcx/egress")
int nothing(struct __sk_buff *skb)
{
	return NEXT;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
