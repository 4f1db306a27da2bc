/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* What the kernel's own TCP socket says of the application: whether it has written more than was
 * sent, and whether it is writing now. A message of a local connection ends when nothing is left
 * to send (PIAS ToN 2017, IV-A.1), which no header tells. */
#ifndef FLOWSCHED_SOCKET_H
#define FLOWSCHED_SOCKET_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kernel.h"

/* The socket behind a packet that is known to be of a local TCP connection. */
static __always_inline struct tcp_sock *tcp_of(struct __sk_buff *skb)
{
	/* From Linux 6.2 on; costs nothing. */
	if (bpf_ksym_exists(bpf_rdonly_cast) && bpf_ksym_exists(bpf_cast_to_kern_ctx)) {
		struct sk_buff *packet = bpf_cast_to_kern_ctx(skb);

		return bpf_rdonly_cast(packet->sk, bpf_core_type_id_kernel(struct tcp_sock));
	}
	return skb->sk ? bpf_skc_to_tcp_sock(skb->sk) : NULL;
}

/* Whether all that the application has written so far is sent with the packet that ends before
 * `next_seq`. */
static __always_inline bool is_all_sent(struct __sk_buff *skb, __u32 next_seq)
{
	struct tcp_sock *tcp = tcp_of(skb);

	return tcp && tcp->write_seq == next_seq;
}

/* Whether a write of the application sends the packet. Acknowledgements and timers send what was written
 * before. During a write the application owns the socket, and the backlog of packets that arrived
 * meanwhile is empty. */
static __noinline bool is_written_now(struct __sk_buff *skb)
{
	struct tcp_sock *tcp = tcp_of(skb);

	return tcp && tcp->inet_conn.icsk_inet.sk.sk_lock.owned &&
	       !tcp->inet_conn.icsk_inet.sk.sk_backlog.len;
}

#endif
