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

#define NO_SPACE (1 << 2) /* SOCK_NOSPACE */

/* Whether the application may have more to write than the send buffer has room for. Either the buffer is
 * full; or TCP has noted that a write found it full, which it does before it sends what is in the buffer
 * and until there is room again; or a write waits for room, until its thread runs. */
static __always_inline bool is_short_of_room(struct tcp_sock *tcp)
{
	struct sock *sock = &tcp->inet_conn.icsk_inet.sk;
	struct socket *file;

	if (sock->sk_write_pending || sock->sk_wmem_queued >= sock->sk_sndbuf)
		return true;
	file = sock->sk_socket;
	return file && file->flags & NO_SPACE;
}

/* Whether the kernel tells a sender that asks (poll, epoll) to wait: less is free than half of what is in
 * the send buffer. */
static __always_inline bool is_told_to_wait(struct tcp_sock *tcp)
{
	struct sock *sock = &tcp->inet_conn.icsk_inet.sk;
	int queued = sock->sk_wmem_queued;

	return sock->sk_sndbuf - queued < queued >> 1;
}

/* Whether the packet that ends before `next_seq` is the last that the application has to send on a TCP
 * socket so far: all that it has written is sent, and no full buffer keeps it from writing more. To be
 * asked of packets with PSH alone, which the last packet of a write has: what TCP sends before a write is
 * over seldom has it. (A function of its own, which most packets do not need.) */
static __noinline enum drained is_all_sent(struct bpf_sock *socket, __u32 next_seq)
{
	struct tcp_sock *tcp = kernel_tcp(socket);

	if (!tcp || tcp->write_seq != next_seq || is_short_of_room(tcp))
		return FS_NOT_DRAINED;
	return is_told_to_wait(tcp) ? FS_DRAINED_TIGHT : FS_DRAINED;
}

/* Whether the last acknowledgement of new data is `idle_ns` old. A sender that was told to wait writes as
 * soon as one has made room. */
static __noinline bool is_long_acknowledged(struct __sk_buff *skb, __u64 now, __u64 idle_ns)
{
	struct bpf_sock *socket = skb->sk;
	struct tcp_sock *tcp = socket ? kernel_tcp(socket) : NULL;
	__u64 heard;

	if (!tcp)
		return false;
	heard = tcp->delivered_mstamp * 1000;
	return now > heard && now - heard >= idle_ns;
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
