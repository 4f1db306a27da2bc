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

/* What of the kernel's own socket can be read; NULL if it is not TCP's. (From Linux 6.2 on costs
 * nothing, and whoever calls has made sure.) */
#define HAS_CASTS bpf_ksym_exists(bpf_rdonly_cast)
#define TCP_OF(socket) bpf_rdonly_cast(socket, bpf_core_type_id_kernel(struct tcp_sock))

static __always_inline struct tcp_sock *kernel_tcp(struct bpf_sock *socket)
{
	return HAS_CASTS ? TCP_OF(socket) : bpf_skc_to_tcp_sock(socket);
}

/* Whether all that the application has to send so far on a TCP socket is sent with the packet that
 * ends before `next_seq`: nothing is in the send buffer, and no write waits for room in it. Such a
 * write has more to send, however late its thread gets the processor. */
static __always_inline bool is_all_sent(struct bpf_sock *socket, __u32 next_seq)
{
	struct tcp_sock *tcp;
	__u32 unsent;

	if (HAS_CASTS) {
		tcp = TCP_OF(socket);
	} else {
		tcp = bpf_skc_to_tcp_sock(socket);
		if (!tcp)
			return false;
	}
	unsent = (tcp->write_seq - next_seq) | tcp->inet_conn.icsk_inet.sk.sk_write_pending;
	/* Whether that is 0, without a branch, which the compiler would make of it. */
	unsent |= -unsent;
	asm volatile("" : "+r"(unsent));
	return ~unsent >> 31;
}

/* Whether a write of the application sends the packet. Acknowledgements and timers send what was written
 * before. During a write the application owns the socket, and the backlog of packets that arrived
 * meanwhile is empty. */
static __noinline bool is_written_now(struct __sk_buff *skb)
{
	struct bpf_sock *socket = skb->sk;
	struct tcp_sock *tcp;

	if (!socket)
		return false;
	tcp = kernel_tcp(socket);
	return tcp && tcp->inet_conn.icsk_inet.sk.sk_lock.owned &&
	       !tcp->inet_conn.icsk_inet.sk.sk_backlog.len;
}

#endif
