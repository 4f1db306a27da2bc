/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* The fields of the kernel's own types that the program reads. libbpf finds their offsets in the BTF
 * of the running kernel. */
#ifndef FLOWSCHED_KERNEL_H
#define FLOWSCHED_KERNEL_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int owned;
} socket_lock_t;

/* What an application has of a socket. */
struct socket {
	unsigned long flags;
};

struct sock {
	socket_lock_t sk_lock;
	struct socket *sk_socket;
	int sk_write_pending;
	int sk_wmem_queued;
	int sk_sndbuf;
	struct {
		int len;
	} sk_backlog;
	__u16 sk_type;
	__u8 sk_shutdown;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u32 write_seq;
	__u64 bytes_sent;
	__u64 bytes_retrans;
	__u64 first_tx_mstamp;
	__u64 delivered_mstamp;
};

struct sk_buff {
	struct sock *sk;
	__u8 cloned : 1;
	__u8 ip_summed : 2;
};

#pragma clang attribute pop

/* From Linux 6.2 on; neither costs anything. */
extern void *bpf_cast_to_kern_ctx(void *) __weak __ksym;
extern void *bpf_rdonly_cast(const void *, __u32) __weak __ksym;

#endif
