/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* What nearly all packets are, read with a few comparisons: TCP or UDP right behind an IP header
 * without options or extension headers, all of it readable, and of the length that its header
 * says. Of all others parse.h knows. */
#ifndef FLOWSCHED_PLAIN_H
#define FLOWSCHED_PLAIN_H

#include <stdbool.h>
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
#include "parse.h"

struct plain_packet {
	void *ip; /* where its IP header is */
	__u32 payload;
	__u32 seq;   /* of TCP, as are the following */
	__u32 ports; /* as they are in the header */
	__u8 ip_version;
	__u8 tos;
	__u8 tcp_flags;
};

/* Whether it is plain TCP. */
static __always_inline bool parse_plain_tcp(struct __sk_buff *skb, struct plain_packet *packet,
					    bool ethernet)
{
	const __u32 l3 = ethernet ? ETH_HLEN : 0;
	void *data = readable(skb), *end = readable_end(skb);
	struct iphdr *ip = data + l3;
	__u32 there = skb->len - l3, header;
	__u16 ethertype;
	__u8 *tcp;

	if ((void *)(ip + 1) + sizeof(struct tcphdr) > end)
		return false;
	ethertype = ethernet ? *(__u16 *)(data + 2 * ETH_ALEN) : skb->protocol;
	packet->ip = ip;
	if (likely(ethertype == bpf_htons(ETH_P_IP))) {
		tcp = (void *)(ip + 1);
		header = sizeof(*ip);
		if (*(__u8 *)ip != (4 << 4 | sizeof(*ip) / 4) || ip->protocol != IPPROTO_TCP ||
		    ip->tot_len != bpf_htons(there) ||
		    ip->frag_off & bpf_htons(IP_MORE_OR_OFFSET))
			return false;
		packet->tos = ip->tos;
		packet->ip_version = 4;
	} else {
		struct ipv6hdr *ip6 = data + l3;

		tcp = (void *)(ip6 + 1);
		header = sizeof(*ip6);
		if (ethertype != bpf_htons(ETH_P_IPV6) ||
		    (void *)(ip6 + 1) + sizeof(struct tcphdr) > end ||
		    ip6->version != 6 || ip6->nexthdr != IPPROTO_TCP ||
		    ip6->payload_len != bpf_htons(there - sizeof(*ip6)))
			return false;
		packet->tos = ip6->priority << 4 | ip6->flow_lbl[0] >> 4;
		packet->ip_version = 6;
	}
	header += (tcp[12] & 0xf0) >> 2;
	packet->tcp_flags = tcp[13];
	packet->seq = bpf_ntohl(*(__u32 *)(tcp + 4));
	packet->ports = *(__u32 *)tcp;
	packet->payload = there - header;
	/* What is as long as its header says in 16 bits, and no shorter than its headers. */
	return there <= 0xffff && there >= header && (tcp[12] & 0xf0) >= 5 << 4;
}

/* The name of a plain TCP packet's flow. */
static __always_inline bool key_of_plain_tcp(struct __sk_buff *skb,
					     const struct plain_packet *packet,
					     struct flow_key *key, bool ethernet)
{
	void *ip = readable(skb) + (ethernet ? ETH_HLEN : 0);

	if (!name_hosts(skb, key, ip, packet->ip_version))
		return false;
	key->source_port = packet->ports;
	key->destination_port = packet->ports >> 16;
	key->protocol = IPPROTO_TCP;
	return true;
}

/* The same for UDP, whose ports are behind the IP header; and the name of its flow. In code of its
 * own, so that neither path has to step over the other. */
static __always_inline bool parse_plain_udp(struct __sk_buff *skb, struct plain_packet *packet,
					    struct flow_key *key, bool ethernet)
{
	const __u32 l3 = ethernet ? ETH_HLEN : 0;
	void *data = readable(skb), *end = readable_end(skb);
	struct iphdr *ip = data + l3;
	__u32 there = skb->len - l3, header;
	struct udphdr *udp;
	__u16 ethertype;

	if ((void *)(ip + 1) + sizeof(*udp) > end)
		return false;
	ethertype = ethernet ? *(__u16 *)(data + 2 * ETH_ALEN) : skb->protocol;
	packet->ip = ip;
	__builtin_memset(key, 0, sizeof(*key));
	if (likely(ethertype == bpf_htons(ETH_P_IP))) {
		udp = (void *)(ip + 1);
		header = sizeof(*ip) + sizeof(*udp);
		if (unlikely(*(__u8 *)ip != (4 << 4 | sizeof(*ip) / 4) ||
			     ip->protocol != IPPROTO_UDP || ip->tot_len != bpf_htons(there) ||
			     ip->frag_off & bpf_htons(IP_MORE_OR_OFFSET)))
			return false;
		packet->tos = ip->tos;
		packet->ip_version = 4;
		name_ipv4_hosts(key, ip);
	} else {
		struct ipv6hdr *ip6 = data + l3;

		udp = (void *)(ip6 + 1);
		header = sizeof(*ip6) + sizeof(*udp);
		if (ethertype != bpf_htons(ETH_P_IPV6) || (void *)(udp + 1) > end ||
		    ip6->version != 6 || ip6->nexthdr != IPPROTO_UDP ||
		    ip6->payload_len != bpf_htons(there - sizeof(*ip6)))
			return false;
		packet->tos = ip6->priority << 4 | ip6->flow_lbl[0] >> 4;
		packet->ip_version = 6;
		name_ipv6_hosts(key, ip6);
	}
	key->source_port = udp->source;
	key->destination_port = udp->dest;
	key->protocol = IPPROTO_UDP;
	packet->payload = there - header;
	return there <= 0xffff && there >= header;
}

#endif
