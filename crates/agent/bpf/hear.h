/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* Notes when the receiver of a forwarded TCP connection last sent a packet. This host has no socket of
 * such a connection, so only these packets tell a pause of the receiver from one of the sender. */
#ifndef FLOWSCHED_HEAR_H
#define FLOWSCHED_HEAR_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/in.h>
#include <bpf/bpf_helpers.h>

#include "depart.h"
#include "flowsched.h"
#include "maps.h"
#include "parse.h"

/* Whether this host forwards TCP. Until it does, packets that arrive are not read. */
bool hears_others;

/* Writes only the first time: a cache line that nobody writes stays in every processor's cache. */
static __always_inline void listen_to_others(void)
{
	if (!hears_others)
		hears_others = true;
}

/* Makes the key that of the flow in the other direction. */
static __always_inline void turn_round(struct flow_key *key)
{
	__u64 address[2];
	__u16 port = key->source_port;

	__builtin_memcpy(address, key->source, sizeof(address));
	__builtin_memcpy(key->source, key->destination, sizeof(address));
	__builtin_memcpy(key->destination, address, sizeof(address));
	key->source_port = key->destination_port;
	key->destination_port = port;
}

static __noinline int note_heard(struct __sk_buff *skb, const struct rule *rule,
				 const struct packet *packet)
{
	struct flow_state *flow;
	struct flow_key key;

	if (!key_of(skb, packet, &key))
		return 0;
	turn_round(&key);
	flow = bpf_map_lookup_elem(&flows, &key);
	if (flow)
		flow->last_heard = clock(skb, rule);
	return 0;
}

static __always_inline void hear(struct __sk_buff *skb, bool ethernet)
{
	const struct rule *rule = rule_of(settings.active);
	struct packet packet = {};

	if (!hears_others || parse_packet(skb, &packet, ethernet, rule->vxlan_port) != PARSED)
		return;
	if (packet.protocol == IPPROTO_TCP && !packet.fragment)
		note_heard(skb, rule, &packet);
}

#endif
