// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0
/* Programs that do one thing that the tagger needs, and nothing else: what a packet costs at least.
 * They are measured beside the tagger and are no part of the agent. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define NEXT (-1)
#define IP_AT 14
#define IP_BYTES 12 /* up to the checksum */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64[11]);
} sockets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64[6]);
	__type(value, __u64[11]);
} flows SEC(".maps");

/* What the hook costs: the zero of all figures. */
SEC("tcx/egress")
int nothing(struct __sk_buff *skb)
{
	return NEXT;
}

/* One counter of this processor. */
SEC("tcx/egress")
int counter(struct __sk_buff *skb)
{
	__u32 zero = 0;
	__u64 *count = bpf_map_lookup_elem(&counts, &zero);

	if (count)
		*count += 1;
	return NEXT;
}

/* The state in a socket, which is looked up as a full one first. */
SEC("tcx/egress")
int socket_state(struct __sk_buff *skb)
{
	struct bpf_sock *socket = skb->sk;
	__u64 *state;

	if (!socket)
		return NEXT;
	socket = bpf_sk_fullsock(socket);
	if (!socket)
		return NEXT;
	state = bpf_sk_storage_get(&sockets, socket, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (state)
		*state += 1;
	return NEXT;
}

/* The state of a flow in a hash of 5-tuples. */
SEC("tcx/egress")
int hash_state(struct __sk_buff *skb)
{
	__u64 key[6] = { 1, 2, 3, 4, 5, 6 }, fresh[11] = {};
	__u64 *state = bpf_map_lookup_elem(&flows, key);

	if (state)
		*state += 1;
	else
		bpf_map_update_elem(&flows, key, fresh, BPF_ANY);
	return NEXT;
}

SEC("tcx/egress")
int clock(struct __sk_buff *skb)
{
	return bpf_ktime_get_ns() ? NEXT : NEXT - 1;
}

/* The first bytes of an IPv4 header, as they are. */
SEC("tcx/egress")
int write(struct __sk_buff *skb)
{
	void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	__u32 head[IP_BYTES / 4], *ip = data + IP_AT;

	if (data + IP_AT + IP_BYTES > end)
		return NEXT;
	head[0] = ip[0];
	head[1] = ip[1];
	head[2] = ip[2];
	bpf_skb_store_bytes(skb, IP_AT, head, sizeof(head), 0);
	return NEXT;
}

/* The same word by word in place, in a program that is gone on to. In front of it the kernel puts code that
 * makes a packet writable which shares its head, as all of TCP's do. */
SEC("tcx/egress")
int write_in_place(struct __sk_buff *skb)
{
	void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	volatile __u16 *ip = data + IP_AT;

	if (data + IP_AT + IP_BYTES > end)
		return NEXT;
	ip[0] = ip[0];
	ip[5] = ip[5];
	return NEXT;
}

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__array(values, int(void *));
} writers SEC(".maps") = { .values = { [0] = (void *)&write_in_place } };

SEC("tcx/egress")
int go_on_and_write(struct __sk_buff *skb)
{
	bpf_tail_call_static(skb, &writers, 0);
	return NEXT;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
