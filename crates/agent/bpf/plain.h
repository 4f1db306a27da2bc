/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* What nearly all packets are, read with a few comparisons: TCP or UDP right behind an IP header
 * without options or extension headers, all of it readable, and of the length that its header
 * says. Of all others parse.h knows. */
#ifndef FLOWSCHED_PLAIN_H
#define FLOWSCHED_PLAIN_H

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
#include "parse.h"

struct plain_packet {
	void *ip; /* where its IP header is */
	__u32 payload;
	__u32 seq;      /* of TCP */
	__u32 ports;    /* as they are in the header */
	__u32 segments; /* packets on the wire */
	__u8 tos;
	__u8 tcp_flags;
};

static __always_inline __u8 ip_version(const struct plain_packet *packet)
{
	return *(__u8 *)packet->ip >> 4;
}

/* The ethertype and the first two bytes behind it, read at once. */
static __always_inline __u32 first_word(struct __sk_buff *skb, void *ip, bool ethernet)
{
	if (ethernet)
		return bpf_ntohl(*(__u32 *)(ip - sizeof(__u16)));
	return bpf_ntohs(skb->protocol) << 16 | bpf_ntohs(*(__u16 *)ip);
}

/* Whether the IPv4 header, whose first two bytes are the last ones of `first`, has no options, is as
 * long as what is `there`, and is of a whole packet of this protocol. */
static __always_inline bool is_plain_ipv4(const struct iphdr *ip, __u32 first, __u32 there,
					  __u8 protocol)
{
	/* Fragment, time to live and protocol in one. */
	__u32 third = *(const __u32 *)((const void *)ip + offsetof(struct iphdr, frag_off));

	return likely((first & 0xffffff00) == (ETH_P_IP << 16 | 0x4500)) &&
	       likely((third & bpf_htonl(IP_MORE_OR_OFFSET << 16 | 0xff)) ==
		      bpf_htonl(protocol)) &&
	       likely(bpf_ntohs(ip->tot_len) == there);
}

static __always_inline bool is_plain_ipv6(const struct ipv6hdr *ip, __u32 first, __u32 there,
					  __u8 protocol)
{
	return (first & 0xfffff000) == (ETH_P_IPV6 << 16 | 0x6000) && ip->nexthdr == protocol &&
	       bpf_ntohs(ip->payload_len) + sizeof(*ip) == there;
}

static __always_inline __u8 ipv6_tos(__u32 first)
{
	return first >> 4;
}

/* What is behind the IP header at `l3`, `header` bytes further, if that is a whole TCP header. */
static __always_inline bool parse_plain_segment(struct plain_packet *packet, const __u8 *tcp,
						__u32 there)
{
	__u32 header = (tcp[12] >> 2) & 0x3c;

	packet->tcp_flags = tcp[13];
	packet->seq = bpf_ntohl(*(__u32 *)(tcp + 4));
	packet->ports = *(__u32 *)tcp;
	packet->payload = there - header;
	if (unlikely(header < sizeof(struct tcphdr) || header > there))
		return false;
	return true;
}

/* Whether there is plain TCP in IPv4 at `l3`, behind an Ethernet header or without one. */
static __always_inline bool parse_plain_tcp4(struct __sk_buff *skb, struct plain_packet *packet,
					     const __u32 l3, bool ethernet)
{
	struct iphdr *ip = readable(skb) + l3;
	__u32 there = skb->len - l3, first;

	if (unlikely((void *)(ip + 1) + sizeof(struct tcphdr) > readable_end(skb)))
		return false;
	first = first_word(skb, ip, ethernet);
	if (unlikely(!is_plain_ipv4(ip, first, there, IPPROTO_TCP)))
		return false;
	packet->ip = ip;
	packet->tos = first;
	return parse_plain_segment(packet, (void *)(ip + 1), there - sizeof(*ip));
}

static __always_inline bool parse_plain_tcp6(struct __sk_buff *skb, struct plain_packet *packet,
					     const __u32 l3, bool ethernet)
{
	struct ipv6hdr *ip = readable(skb) + l3;
	__u32 there = skb->len - l3, first;

	if (unlikely((void *)(ip + 1) + sizeof(struct tcphdr) > readable_end(skb)))
		return false;
	first = first_word(skb, ip, ethernet);
	if (unlikely(!is_plain_ipv6(ip, first, there, IPPROTO_TCP)))
		return false;
	packet->ip = ip;
	packet->tos = ipv6_tos(first);
	return parse_plain_segment(packet, (void *)(ip + 1), there - sizeof(*ip));
}

/* Where the inner IP header of a plain VXLAN packet is, whose outer one is IPv4. */
static __always_inline __u32 plain_vxlan_l3(bool ethernet)
{
	return (ethernet ? ETH_HLEN : 0) + sizeof(struct iphdr) + sizeof(struct udphdr) +
	       VXLAN_HEADER + ETH_HLEN;
}

/* The name of the flow of a plain TCP packet whose IP header is at `l3`. */
static __always_inline bool key_of_plain_tcp(struct __sk_buff *skb,
					     const struct plain_packet *packet,
					     struct flow_key *key, const __u32 l3, __u32 network)
{
	if (!name_hosts(skb, key, readable(skb) + l3, ip_version(packet)))
		return false;
	name_rest(key, packet->ports, network, IPPROTO_TCP);
	return true;
}

/* What is behind the IP header of a UDP packet, and the rest of its flow's name. */
static __always_inline bool parse_plain_datagram(struct plain_packet *packet,
						 struct flow_key *key, const __u32 *udp,
						 __u32 there)
{
	packet->ports = *udp;
	packet->payload = there - sizeof(struct udphdr);
	name_rest(key, packet->ports, 0, IPPROTO_UDP);
	return there >= sizeof(struct udphdr);
}

/* The same for UDP, and the name of its flow. */
static __always_inline bool parse_plain_udp4(struct __sk_buff *skb, struct plain_packet *packet,
					     struct flow_key *key, const __u32 l3, bool ethernet)
{
	struct iphdr *ip = readable(skb) + l3;
	__u32 there = skb->len - l3, first;

	if (unlikely((void *)(ip + 1) + sizeof(struct udphdr) > readable_end(skb)))
		return false;
	first = first_word(skb, ip, ethernet);
	if (unlikely(!is_plain_ipv4(ip, first, there, IPPROTO_UDP)))
		return false;
	packet->ip = ip;
	packet->tos = first;
	name_ipv4_hosts(key, ip);
	return parse_plain_datagram(packet, key, (void *)(ip + 1), there - sizeof(*ip));
}

static __always_inline bool parse_plain_udp6(struct __sk_buff *skb, struct plain_packet *packet,
					     struct flow_key *key, const __u32 l3, bool ethernet)
{
	struct ipv6hdr *ip = readable(skb) + l3;
	__u32 there = skb->len - l3, first;

	if (unlikely((void *)(ip + 1) + sizeof(struct udphdr) > readable_end(skb)))
		return false;
	first = first_word(skb, ip, ethernet);
	if (unlikely(!is_plain_ipv6(ip, first, there, IPPROTO_UDP)))
		return false;
	packet->ip = ip;
	packet->tos = ipv6_tos(first);
	name_ipv6_hosts(key, ip);
	return parse_plain_datagram(packet, key, (void *)(ip + 1), there - sizeof(*ip));
}

#endif
