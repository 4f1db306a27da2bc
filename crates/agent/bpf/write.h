/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* Writes a packet's type of service, with bpf_skb_store_bytes alone: a direct write would make the
 * kernel put code in front of the program that drops the packet when memory is short. */
#ifndef FLOWSCHED_WRITE_H
#define FLOWSCHED_WRITE_H

#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

/* The checksum of an IPv4 header whose type of service was changed (RFC 1624). */
static __always_inline __u16 checksum_after(__u16 checksum, __u8 before, __u8 tos)
{
	__u32 sum = (__u16)~checksum + (__u16)~before + tos;

	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/* Writes type of service and checksum in one go, so that there is no half-written header. */
static __always_inline long write_ipv4(struct __sk_buff *skb, __u32 l3, const __u32 *ip,
				       __u8 tos)
{
	__u32 first = bpf_ntohl(ip[0]), third = bpf_ntohl(ip[2]);
	__u32 head[3] = {
		bpf_htonl((first & 0xff00ffff) | tos << 16),
		ip[1],
		bpf_htonl((third & 0xffff0000) | checksum_after(third, first >> 16, tos)),
	};

	return bpf_skb_store_bytes(skb, l3, head, sizeof(head), 0);
}

static __always_inline long write_ipv6(struct __sk_buff *skb, __u32 l3, const __u8 *ip, __u8 tos)
{
	__u8 head[2] = { 6 << 4 | tos >> 4, (ip[1] & 0x0f) | tos << 4 };

	return bpf_skb_store_bytes(skb, l3, head, sizeof(head), BPF_F_RECOMPUTE_CSUM);
}

static __always_inline long write_tos(struct __sk_buff *skb, __u32 l3, void *ip, __u8 version,
				      __u8 tos)
{
	return version == 4 ? write_ipv4(skb, l3, ip, tos) : write_ipv6(skb, l3, ip, tos);
}

#endif
