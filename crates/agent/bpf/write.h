/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* Writes a packet's type of service: with bpf_skb_store_bytes, or, at a third of its cost, in place.
 * A program that writes in place gets code put in front by the kernel that copies the packet if it
 * shares its head with another, and drops it if memory is short. Hence a program of its own, which
 * is gone on to with packets alone that share nothing. */
#ifndef FLOWSCHED_WRITE_H
#define FLOWSCHED_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/bpf.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "kernel.h"
#include "parse.h"

/* Fixed when the program is loaded: count as if packets were tagged, and write none. */
const volatile bool survey;

/* What is to be written in place, as a number that is not negative. */
#define IN_PLACE_IPV6 0x100
#define IN_PLACE_L3_SHIFT 9

/* What a program leaves behind for the one it goes on to. */
#define IN_PLACE(skb) ((skb)->cb[0])

#define SUMMED_WHOLE 2 /* CHECKSUM_COMPLETE: a sum over all that the packet holds */

/* Whether nobody else has the packet's head, so that it can be written in place, and no sum over
 * the packet is kept that this would change (an IPv4 header's sum stays what it is). What TCP sends
 * it shares with itself, to send it again. */
static __always_inline bool is_for_us_alone(struct __sk_buff *skb, __u8 version)
{
	struct sk_buff *packet;

	if (!bpf_ksym_exists(bpf_cast_to_kern_ctx))
		return false;
	packet = bpf_cast_to_kern_ctx(skb);
	return !BPF_CORE_READ_BITFIELD(packet, cloned) &&
	       (version == 4 || BPF_CORE_READ_BITFIELD(packet, ip_summed) != SUMMED_WHOLE);
}

static __always_inline int in_place(__u32 l3, __u8 version, __u8 tos)
{
	return l3 << IN_PLACE_L3_SHIFT | (version == 6 ? IN_PLACE_IPV6 : 0) | tos;
}

/* The checksum of an IPv4 header one of whose 16-bit words was changed (RFC 1624); such sums are the
 * same in either byte order. */
static __always_inline __u16 checksum_after(__u16 checksum, __u16 before, __u16 word)
{
	__u32 sum = (__u16)~checksum + (__u16)~before + word;

	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	return ~sum;
}

/* The first 16-bit word of an IPv4 header with another type of service. */
static __always_inline __u16 word_with(__u16 word, __u8 tos)
{
	return (word & bpf_htons(0xff00)) | bpf_htons(tos);
}

/* Writes type of service and checksum in one go, so that there is no half-written header. */
static __always_inline long write_ipv4(struct __sk_buff *skb, __u32 l3, const struct iphdr *ip,
				       __u8 tos)
{
	const __u16 *words = (const __u16 *)ip;
	__u16 first = word_with(words[0], tos);
	/* In words as large as those that the kernel copies. */
	union {
		__u16 words[6];
		struct {
			__u64 start;
			__u32 rest;
		};
	} head = { .start = *(const __u64 *)words, .rest = *(const __u32 *)(words + 4) };

	head.words[0] = first;
	head.words[5] = checksum_after(words[5], words[0], first);
	return bpf_skb_store_bytes(skb, l3, &head, offsetof(struct iphdr, saddr), 0);
}

static __always_inline long write_ipv6(struct __sk_buff *skb, __u32 l3, const __u8 *ip, __u8 tos)
{
	__u8 head[2] = { 6 << 4 | tos >> 4, (ip[1] & 0x0f) | tos << 4 };

	return bpf_skb_store_bytes(skb, l3, head, sizeof(head), BPF_F_RECOMPUTE_CSUM);
}

static __always_inline long write_tos(struct __sk_buff *skb, __u32 l3, void *ip, __u8 version,
				      __u8 tos)
{
	if (survey)
		return 0;
	return version == 4 ? write_ipv4(skb, l3, ip, tos) : write_ipv6(skb, l3, ip, tos);
}

/* Whoever says what is to be written has read the header, so that it is there. */
static __always_inline void write_in_place(struct __sk_buff *skb, __u32 what)
{
	struct iphdr *ip = header_at(skb, what >> IN_PLACE_L3_SHIFT);
	__u8 tos = what;

	if (!ip || (void *)(ip + 1) > readable_end(skb))
		return;
	if (what & IN_PLACE_IPV6) {
		struct ipv6hdr *ip6 = (void *)ip;

		ip6->priority = tos >> 4;
		ip6->flow_lbl[0] = (ip6->flow_lbl[0] & 0x0f) | tos << 4;
	} else {
		__u16 *words = (__u16 *)ip, word = word_with(words[0], tos);

		ip->check = checksum_after(ip->check, words[0], word);
		words[0] = word;
	}
}

/* The same with the helper. */
static __always_inline long write_anyhow(struct __sk_buff *skb, __u32 what)
{
	__u32 l3 = what >> IN_PLACE_L3_SHIFT;
	struct iphdr *ip = header_at(skb, l3);

	if (!ip || (void *)(ip + 1) > readable_end(skb))
		return -1;
	return write_tos(skb, l3, ip, what & IN_PLACE_IPV6 ? 6 : 4, what);
}

#endif
