/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* From a frame to the flow it belongs to and the bytes it carries. Reads only; what it cannot
 * read with certainty it says so of, and the packet goes out as it came. */
#ifndef FLOWSCHED_PARSE_H
#define FLOWSCHED_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "flowsched.h"

#define IP_MORE_OR_OFFSET 0x3fff
#define MAX_OFFSET 0xfff /* headers that are further in are not looked for */
#define VLAN_HEADER 4
#define VXLAN_HEADER 8
#define VXLAN_HAS_NETWORK 0x08
#define IPV6_EXTENSIONS 6

enum parsed {
	PARSED,
	PARSED_SHORT,   /* more of the packet has to be made readable */
	PARSED_OTHER,   /* not IP, or neither TCP nor UDP */
	PARSED_UNCLEAR,
};

struct packet {
	__u32 l3;       /* offset of the outer IP header, the one that is written */
	__u32 inner;    /* offset of the innermost IP header, the one that names the flow */
	__u32 l4;       /* offset of the innermost transport header */
	__u32 end;      /* offset of the first byte after the innermost IP packet */
	__u32 payload;
	__u32 seq;
	__u32 network;   /* 0, or 1 << 24 | VXLAN network identifier */
	__u8 ip_version; /* of the outer header */
	__u8 inner_version;
	__u8 protocol;
	__u8 tos;        /* of the outer header */
	__u8 tcp_flags;
	__u8 fragment;
	__u8 padding[2];
};

#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_RST 0x04
#define TCP_PSH 0x08

/* Pointers that the kernel's verifier knows as such only while no compiler treats them as the
 * 32-bit numbers that `struct __sk_buff` declares. */
static __always_inline void *readable(struct __sk_buff *skb)
{
	void *start;

	asm volatile("%[start] = *(u32 *)(%[skb] + %[at])"
		     : [start] "=r"(start)
		     : [skb] "r"(skb), [at] "i"(offsetof(struct __sk_buff, data)));
	return start;
}

static __always_inline void *readable_end(struct __sk_buff *skb)
{
	void *end;

	asm volatile("%[end] = *(u32 *)(%[skb] + %[at])"
		     : [end] "=r"(end)
		     : [skb] "r"(skb), [at] "i"(offsetof(struct __sk_buff, data_end)));
	return end;
}

/* Where `offset` is, or NULL if that is too far in. Says twice what the bound is, since the
 * verifier forgets it where the compiler computes with a copy. */
static __always_inline void *header_at(struct __sk_buff *skb, __u32 offset)
{
	if (offset > MAX_OFFSET)
		return NULL;
	asm volatile("%[offset] &= %[mask]" : [offset] "+r"(offset) : [mask] "i"(MAX_OFFSET));
	return readable(skb) + offset;
}

static __always_inline int parse_ipv4(struct __sk_buff *skb, struct packet *packet, __u32 offset,
				      __u8 *tos)
{
	struct iphdr *ip = header_at(skb, offset);
	__u32 header, total, there = skb->len - offset;

	if (!ip)
		return PARSED_UNCLEAR;
	if ((void *)(ip + 1) > readable_end(skb))
		return PARSED_SHORT;
	header = ip->ihl * 4;
	if (ip->version != 4 || header < sizeof(*ip))
		return PARSED_UNCLEAR;
	total = bpf_ntohs(ip->tot_len);
	/* The length of a packet that is still to be cut into segments may not fit its field. */
	if (skb->gso_size || total == 0)
		total = there;
	if (total > there || total < header)
		return PARSED_UNCLEAR;
	*tos = ip->tos;
	packet->l4 = offset + header;
	packet->end = offset + total;
	packet->fragment = (ip->frag_off & bpf_htons(IP_MORE_OR_OFFSET)) != 0;
	packet->protocol = ip->protocol;
	return PARSED;
}

/* Whether more headers may follow one of this kind. */
static __always_inline bool is_extension(__u8 next)
{
	return next == IPPROTO_HOPOPTS || next == IPPROTO_ROUTING || next == IPPROTO_DSTOPTS ||
	       next == IPPROTO_FRAGMENT || next == IPPROTO_AH;
}

/* Goes on from the extension header at packet->l4, of the kind in packet->protocol, to what
 * follows the last. Not static, as all functions below that are not: the verifier then checks
 * each once, not once a path of its caller. */
__noinline int skip_extensions(struct __sk_buff *skb, struct packet *packet)
{
	__u32 at, next;

	if (!packet)
		return PARSED_UNCLEAR;
	at = packet->l4;
	next = packet->protocol;
	for (int i = 0; i < IPV6_EXTENSIONS && is_extension(next); i++) {
		__u8 header[8];

		if (at + sizeof(header) > packet->end ||
		    bpf_skb_load_bytes(skb, at, header, sizeof(header)))
			return PARSED_UNCLEAR;
		/* A fragment that is whole in itself ("atomic") is none. */
		if (next == IPPROTO_FRAGMENT && (header[2] | (header[3] & 0xf9))) {
			packet->fragment = 1;
			packet->protocol = header[0];
			packet->l4 = at + sizeof(header);
			return PARSED;
		}
		if (next == IPPROTO_AH)
			at += (header[1] + 2) * 4;
		else if (next != IPPROTO_FRAGMENT)
			at += (header[1] + 1) * 8;
		else
			at += sizeof(header);
		next = header[0];
	}
	packet->l4 = at;
	packet->protocol = next;
	return PARSED;
}

static __always_inline int parse_ipv6(struct __sk_buff *skb, struct packet *packet, __u32 offset,
				      __u8 *tos)
{
	struct ipv6hdr *ip = header_at(skb, offset);
	__u32 total, there = skb->len - offset;

	if (!ip)
		return PARSED_UNCLEAR;
	if ((void *)(ip + 1) > readable_end(skb))
		return PARSED_SHORT;
	if (ip->version != 6)
		return PARSED_UNCLEAR;
	total = sizeof(*ip) + bpf_ntohs(ip->payload_len);
	if (skb->gso_size || ip->payload_len == 0)
		total = there;
	if (total > there)
		return PARSED_UNCLEAR;
	*tos = ip->priority << 4 | ip->flow_lbl[0] >> 4;
	packet->l4 = offset + sizeof(*ip);
	packet->end = offset + total;
	packet->protocol = ip->nexthdr;
	return is_extension(ip->nexthdr) ? skip_extensions(skb, packet) : PARSED;
}

/* Payload and sequence number of what starts at packet->l4. */
static __always_inline int parse_transport(struct __sk_buff *skb, struct packet *packet)
{
	void *transport = header_at(skb, packet->l4);
	__u32 length = packet->end - packet->l4, header;

	if (!transport || packet->end < packet->l4)
		return PARSED_UNCLEAR;
	if (packet->protocol == IPPROTO_TCP) {
		struct tcphdr *tcp = transport;

		if (packet->fragment)
			goto fragment;
		if (length < sizeof(*tcp))
			return PARSED_UNCLEAR;
		if ((void *)(tcp + 1) > readable_end(skb))
			return PARSED_SHORT;
		header = tcp->doff * 4;
		if (header < sizeof(*tcp) || header > length)
			return PARSED_UNCLEAR;
		packet->tcp_flags = ((__u8 *)tcp)[13];
		packet->seq = bpf_ntohl(tcp->seq);
		packet->payload = length - header;
		return PARSED;
	}
	if (packet->protocol == IPPROTO_UDP) {
		struct udphdr *udp = transport;

		if (packet->fragment)
			goto fragment;
		if (length < sizeof(*udp))
			return PARSED_UNCLEAR;
		if ((void *)(udp + 1) > readable_end(skb))
			return PARSED_SHORT;
		packet->payload = length - sizeof(*udp);
		return PARSED;
	}
	return PARSED_OTHER;
fragment:
	packet->payload = length;
	return PARSED;
}

static __always_inline int parse_ip(struct __sk_buff *skb, struct packet *packet, __u32 offset,
				    __u16 ethertype, __u8 *tos)
{
	int parsed;

	packet->inner = offset;
	packet->inner_version = ethertype == bpf_htons(ETH_P_IP) ? 4 : 6;
	if (ethertype == bpf_htons(ETH_P_IP))
		parsed = parse_ipv4(skb, packet, offset, tos);
	else if (ethertype == bpf_htons(ETH_P_IPV6))
		parsed = parse_ipv6(skb, packet, offset, tos);
	else
		return PARSED_OTHER;
	return parsed == PARSED ? parse_transport(skb, packet) : parsed;
}

/* The ethertype behind up to two VLAN headers, and where what it names begins. */
static __always_inline int parse_ethernet(struct __sk_buff *skb, __u32 *offset, __u16 *ethertype)
{
	__u32 at = *offset + 2 * ETH_ALEN;

	for (int i = 0; i < 3; i++) {
		__u16 *type = header_at(skb, at);

		if (!type)
			return PARSED_UNCLEAR;
		if ((void *)(type + 1) > readable_end(skb))
			return PARSED_SHORT;
		*ethertype = *type;
		if (*ethertype != bpf_htons(ETH_P_8021Q) && *ethertype != bpf_htons(ETH_P_8021AD))
			break;
		at += VLAN_HEADER;
	}
	*offset = at + sizeof(*ethertype);
	return PARSED;
}

/* The flow inside a VXLAN packet whose UDP header is at packet->l4. The outer header stays the
 * one that is written. */
__noinline int parse_vxlan(struct __sk_buff *skb, struct packet *packet)
{
	__u8 vxlan[VXLAN_HEADER], inner_tos;
	__u16 ethertype = 0;
	__u32 at, network;
	int parsed;

	if (!packet)
		return PARSED_UNCLEAR;
	at = packet->l4 + sizeof(struct udphdr);
	if (bpf_skb_load_bytes(skb, at, vxlan, sizeof(vxlan)) || !(vxlan[0] & VXLAN_HAS_NETWORK))
		return PARSED_UNCLEAR;
	network = 1 << 24 | vxlan[4] << 16 | vxlan[5] << 8 | vxlan[6];
	at += VXLAN_HEADER;
	parsed = parse_ethernet(skb, &at, &ethertype);
	if (parsed != PARSED)
		return parsed;
	packet->network = network;
	return parse_ip(skb, packet, at, ethertype, &inner_tos);
}

/* Whether this is the destination port of the packet's transport header. */
static __always_inline bool is_to_port(struct __sk_buff *skb, const struct packet *packet,
				       __u16 port)
{
	struct udphdr *udp = header_at(skb, packet->l4);

	return udp && (void *)(udp + 1) <= readable_end(skb) && udp->dest == bpf_htons(port);
}

/* `packet` is to be all zero. */
__noinline int parse_packet(struct __sk_buff *skb, struct packet *packet, bool ethernet,
			    __u16 vxlan_port)
{
	__u16 ethertype = skb->protocol;
	__u32 at = 0;
	int parsed;

	if (!packet)
		return PARSED_UNCLEAR;
	if (ethernet) {
		parsed = parse_ethernet(skb, &at, &ethertype);
		if (parsed != PARSED)
			return parsed;
	}
	packet->l3 = at;
	packet->ip_version = ethertype == bpf_htons(ETH_P_IP) ? 4 : 6;
	parsed = parse_ip(skb, packet, at, ethertype, &packet->tos);
	if (parsed == PARSED && vxlan_port && !packet->fragment &&
	    packet->protocol == IPPROTO_UDP && is_to_port(skb, packet, vxlan_port))
		return parse_vxlan(skb, packet);
	return parsed;
}

/* Two words, in this order in memory. */
static __always_inline __u64 two_words(__u32 first, __u32 second)
{
	union {
		__u32 words[2];
		__u64 both;
	} value = { .words = { first, second } };

	return value.both;
}

/* The parts of a flow's name, written in words of eight bytes: a read of such a word, or of a half of
 * it, does not wait for the write. */
static __always_inline void name_ipv4_hosts(struct flow_key *key, const struct iphdr *ip)
{
	key->source[0] = key->destination[0] = 0;
	key->source[1] = two_words(bpf_htonl(0xffff), ip->saddr);
	key->destination[1] = two_words(bpf_htonl(0xffff), ip->daddr);
}

static __always_inline void name_ipv6_hosts(struct flow_key *key, const struct ipv6hdr *ip)
{
	__builtin_memcpy(key->source, &ip->saddr, 16);
	__builtin_memcpy(key->destination, &ip->daddr, 16);
}

/* `ports`: both, as they are in the header. */
static __always_inline void name_rest(struct flow_key *key, __u32 ports, __u32 network,
				      __u8 protocol)
{
	__u64 *rest = (__u64 *)&key->source_port;

	rest[0] = two_words(ports, network);
	rest[1] = two_words(protocol, 0);
}

/* The addresses of the IP header at `ip`; false if they are not there. */
static __always_inline bool name_hosts(struct __sk_buff *skb, struct flow_key *key, void *ip,
				       __u8 version)
{
	if (version == 4) {
		struct iphdr *ip4 = ip;

		if ((void *)(ip4 + 1) > readable_end(skb))
			return false;
		name_ipv4_hosts(key, ip4);
	} else {
		struct ipv6hdr *ip6 = ip;

		if ((void *)(ip6 + 1) > readable_end(skb))
			return false;
		name_ipv6_hosts(key, ip6);
	}
	return true;
}

/* The name of the packet's flow. */
static __always_inline bool key_of(struct __sk_buff *skb, const struct packet *packet,
				   struct flow_key *key)
{
	void *ip = header_at(skb, packet->inner);
	__u32 *ports = header_at(skb, packet->l4), both = 0;

	if (!ip || !ports || !name_hosts(skb, key, ip, packet->inner_version))
		return false;
	/* Only the first fragment has ports: all fragments between two hosts are one flow. */
	if (!packet->fragment) {
		if ((void *)(ports + 1) > readable_end(skb))
			return false;
		both = *ports;
	}
	name_rest(key, both, packet->network, packet->protocol);
	return true;
}

#endif
