/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* Which flows the rule is for. */
#ifndef FLOWSCHED_SELECT_H
#define FLOWSCHED_SELECT_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "flowsched.h"
#include "maps.h"
#include "parse.h"

#define FS_SELECTS (FS_SELECT_PORTS | FS_SELECT_PREFIXES | FS_SELECT_CGROUPS)
#define CGROUP_DEPTH 8

static __noinline bool prefix_selected(const struct flow_key *flow, __u32 slot)
{
	struct prefix_key key = { .prefix_len = 160, .slot = slot };

	__builtin_memcpy(key.address, flow->destination, sizeof(key.address));
	return bpf_map_lookup_elem(&prefixes, &key) != NULL;
}

static __noinline bool cgroup_selected(struct __sk_buff *skb, __u32 slot)
{
	struct cgroup_key key = { .slot = slot };

	if (!skb->sk || !bpf_sk_fullsock(skb->sk))
		return false;
	for (int level = 0; level < CGROUP_DEPTH; level++) {
		key.id = bpf_skb_ancestor_cgroup_id(skb, level);
		if (!key.id)
			return false;
		if (bpf_map_lookup_elem(&cgroups, &key))
			return true;
	}
	return false;
}

static __always_inline bool port_selected(const struct rule *rule, __u16 port)
{
	__u32 number = bpf_ntohs(port), byte = number >> 3;

	/* The verifier forgets the bound of what was turned from one byte order to the other. */
	asm volatile("%[byte] &= %[mask]" : [byte] "+r"(byte) : [mask] "i"(sizeof(rule->ports) - 1));
	return rule->ports[byte] >> (number & 7) & 1;
}

/* Whether the flow is one that is to be tagged. */
__noinline int selected(struct __sk_buff *skb, struct packet *packet, __u32 slot)
{
	const struct rule *rule = rule_of(slot);
	struct flow_key flow;

	if (!packet || !key_of(skb, packet, &flow))
		return false;
	if (rule->flags & FS_SELECT_PORTS && !port_selected(rule, flow.source_port) &&
	    !port_selected(rule, flow.destination_port))
		return false;
	if (rule->flags & FS_SELECT_PREFIXES && !prefix_selected(&flow, slot))
		return false;
	return !(rule->flags & FS_SELECT_CGROUPS) || cgroup_selected(skb, slot);
}

#endif
