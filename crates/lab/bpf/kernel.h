/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* The fields of the kernel's own types that the program uses. libbpf finds their offsets in the BTF of the
 * running kernel. */
#ifndef FLOWSCHED_KERNEL_H
#define FLOWSCHED_KERNEL_H

#include <stdbool.h>

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock {
	int sk_state;
};

struct inet_connection_sock {
	struct {
		__u8 pending;
	} icsk_ack;
	__u64 icsk_ca_priv[13];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u32 rcv_nxt, snd_nxt, snd_una, snd_cwnd, snd_ssthresh, mss_cache;
	__u8 ecn_flags;
};

#pragma clang attribute pop

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *);
	void (*cong_avoid)(struct sock *, __u32, __u32);
	void (*set_state)(struct sock *, __u8);
	void (*cwnd_event)(struct sock *, __u32);
	void (*in_ack_event)(struct sock *, __u32);
	__u32 (*undo_cwnd)(struct sock *);
	void (*init)(struct sock *);
	__u32 flags;
	char name[16];
};

/* include/net/tcp.h and include/net/inet_connection_sock.h: the same in all kernels that have struct_ops links. */
#define TCP_CONG_NEEDS_ECN 2
#define TCP_ECN_DEMAND_CWR 4
#define TCP_CA_Recovery 3
#define CA_ACK_ECE 4
#define CA_EVENT_LOSS 3
#define CA_EVENT_ECN_NO_CE 4
#define CA_EVENT_ECN_IS_CE 5
#define ICSK_ACK_TIMER 2
#define ICSK_ACK_NOW 16

extern void tcp_reno_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym;

#endif
