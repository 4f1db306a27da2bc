/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* The maps, all pinned, so that they outlive the agent. */
#ifndef FLOWSCHED_MAPS_H
#define FLOWSCHED_MAPS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "flowsched.h"

/* A variable, whose address is a constant of the program: no lookup. */
struct settings settings SEC(".data.settings");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counters);
} counters_of_cpu SEC(".maps");

/* The first half is written here, the second by the agent, for flows that it finds idle. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2 * FS_BUCKETS);
	__type(key, __u32);
	__type(value, __u64);
} histogram SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct agent_counters);
} agent_counters SEC(".maps");

/* State of local TCP connections; goes with the socket. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct flow_state);
} sockets SEC(".maps");

/* State of all other flows. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct flow_key);
	__type(value, struct flow_state);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, struct prefix_key);
	__type(value, __u32);
} prefixes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, struct cgroup_key);
	__type(value, __u32);
} cgroups SEC(".maps");

/* Decisions of the socket path; made only where `trace` is set. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} trace_records SEC(".maps");

/* The program that writes in place. Another map for every load: the kernel empties it when nobody but
 * a program has it, so that it is pinned. */
int write_tag(struct __sk_buff *skb);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__array(values, int(void *));
} writers SEC(".maps") = { .values = { [0] = (void *)&write_tag } };

static __always_inline const struct rule *rule_of(__u32 slot)
{
	return &settings.rules[slot & (FS_RULES - 1)];
}

/* The rule for a packet, as a value that the compiler keeps: it would compute the address anew
 * wherever it is used. */
static __always_inline const struct rule *rule_in_force(void)
{
	const struct rule *rule = rule_of(settings.active);

	asm volatile("" : "+r"(rule));
	return rule;
}

static __always_inline struct counters *counters_here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&counters_of_cpu, &zero);
}

#endif
