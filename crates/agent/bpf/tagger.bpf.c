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

#define NOT_PLAIN (-2)

/* Of the rule, what plain packets seldom need. */
#define FS_OPTIONS (~(FS_TICKS | FS_SENT_ENDS | FS_INJECTED_CLOCK))

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
		flow->drained = is_all_sent(socket, flow->next_seq);
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
		if (!end_socket_flow(skb))
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
		return NOT_PLAIN;
	flow->tick = tick;
	return tag_plain(skb, rule, packet, level, ethernet, false);
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
	if (unlikely(what >= 0))
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
