/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* Connections of this host that send a single segment, such as a short request: they keep no state, because
 * making and freeing it costs more than all else that the tagger does for them. If such a connection sends
 * more after all, the kernel's own socket says what the state would be. */
#ifndef FLOWSCHED_LONE_H
#define FLOWSCHED_LONE_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "count.h"
#include "decide.h"
#include "depart.h"
#include "flowsched.h"
#include "kernel.h"
#include "parse.h"
#include "socket.h"

#define NOT_LONE (-3)

#define SYN_ALONE 1
#define SYN_AND_LONE 2
#define BOTH_WAYS 3 /* SHUTDOWN_MASK: the application neither sends nor reads any more */
#define STREAM 1    /* SOCK_STREAM */
#define FIN_STATES                                                                             \
	(1 << BPF_TCP_FIN_WAIT1 | 1 << BPF_TCP_FIN_WAIT2 | 1 << BPF_TCP_CLOSING |              \
	 1 << BPF_TCP_LAST_ACK)

/* Segments sent before this packet, SYN and FIN among them. Each counts once, however often it was
 * sent. (TCP counts the segments of a new packet after the packet has left.) */
static __always_inline __u32 segments_before(const struct bpf_tcp_sock *tcp)
{
	return tcp->delivered + tcp->packets_out;
}

/* Payload bytes sent, those of this packet included. Each counts once. */
static __always_inline __u64 bytes_sent_once(const struct tcp_sock *kernel)
{
	return kernel->bytes_sent - kernel->bytes_retrans;
}

static __always_inline bool is_new(const struct packet *packet, const struct bpf_tcp_sock *tcp)
{
	return packet->seq == tcp->snd_nxt;
}

static __always_inline bool is_called(const struct tcp_sock *kernel)
{
	return kernel->inet_conn.icsk_inet.sk.sk_lock.owned;
}

static __always_inline bool is_shut(const struct tcp_sock *kernel)
{
	return kernel->inet_conn.icsk_inet.sk.sk_shutdown == BOTH_WAYS;
}

/* Whether a FIN was sent before this packet. */
static __always_inline bool has_sent_fin(struct bpf_sock *socket, const struct bpf_tcp_sock *tcp,
					 const struct tcp_sock *kernel)
{
	return 1 << (socket->state & 31) & FIN_STATES && tcp->snd_nxt == kernel->write_seq;
}

/* When the lone packet was sent. TCP keeps the time of the first packet in flight, or, if there is none,
 * of the last one that was acknowledged. It keeps microseconds: this is the latest time that it can be. */
static __always_inline __u64 lone_sent(const struct tcp_sock *kernel)
{
	return kernel->first_tx_mstamp * 1000 + 999;
}

/* Whether the tagger made no state for lone packets at the time of this one. */
static __always_inline bool is_in_lone_period(const struct rule *rule,
					      const struct tcp_sock *kernel)
{
	__u64 sent = lone_sent(kernel);

	return sent - 999 >= rule->lone_from && sent < rule->lone_to;
}

/* Whether a data packet is the first of its connection, a single segment, and all that the application has
 * written. */
static __always_inline bool is_lone(const struct packet *packet, struct bpf_sock *socket,
				    const struct bpf_tcp_sock *tcp)
{
	return tcp->data_segs_out == 1 && segments_before(tcp) == SYN_ALONE &&
	       !(packet->tcp_flags & TCP_FIN) &&
	       packet->tcp_flags & TCP_PSH &&
	       is_all_sent(socket, packet->seq + packet->payload) == FS_DRAINED;
}

/* The level of a FIN without data with which the application closes a connection that has sent a lone
 * packet, or nothing. The message ends. Only acknowledgements and what is sent again follow. */
static __always_inline int lone_fin_level(const struct rule *rule, struct counters *counters,
					  const struct packet *packet, struct bpf_sock *socket,
					  const struct bpf_tcp_sock *tcp)
{
	struct tcp_sock *kernel = kernel_tcp(socket);
	__u64 size;

	if (!kernel || !is_new(packet, tcp) || !is_called(kernel) || !is_shut(kernel))
		return NOT_LONE;
	if (segments_before(tcp) == SYN_ALONE && !tcp->data_segs_out) {
		counters->flows_socket++;
		return 0;
	}
	if (segments_before(tcp) != SYN_AND_LONE || !is_in_lone_period(rule, kernel))
		return NOT_LONE;
	size = bytes_sent_once(kernel);
	record_size(size);
	return level_at(rule, size);
}

/* The level of a packet whose connection has no state and needs none; NOT_LONE of others. What is done
 * and counted is what would be with a state. */
static __always_inline int lone_level(const struct rule *rule, struct counters *counters,
				      const struct packet *packet, struct bpf_sock *socket,
				      const struct bpf_tcp_sock *tcp)
{
	if (rule->flags & FS_OPTIONS || tcp->icsk_retransmits)
		return NOT_LONE;
	if (!packet->payload)
		return lone_fin_level(rule, counters, packet, socket, tcp);
	if (!is_lone(packet, socket, tcp))
		return NOT_LONE;
	counters->flows_socket++;
	return 0;
}

/* Whether a new packet was tried before: a queue had no room for it, and a timer sends it again. Its
 * connection has sent nothing else. */
static __always_inline bool was_tried(struct __sk_buff *skb, const struct packet *packet,
				      struct bpf_sock *socket, const struct bpf_tcp_sock *tcp)
{
	struct tcp_sock *kernel = kernel_tcp(socket);

	if (!kernel || !is_new(packet, tcp) || segments_before(tcp) != SYN_ALONE ||
	    is_called(kernel))
		return false;
	return packet->payload ? tcp->data_segs_out > wire_packets(skb) : is_shut(kernel);
}

/* Whether the message of the lone packet has ended: with a FIN that was sent, or that a queue had no room
 * for, so that a timer sends it again. */
static __always_inline bool has_ended(const struct packet *packet, const struct bpf_tcp_sock *tcp,
				      const struct tcp_sock *kernel, bool fin)
{
	if (!is_new(packet, tcp))
		return fin;
	return !packet->payload && is_shut(kernel) && !is_called(kernel);
}

/* Starts the state of a connection that has sent a lone packet as if it had had one since. False, and
 * nothing is changed, if it has sent none or if the tagger was not there. */
static __always_inline bool start_after_lone(const struct rule *rule, struct flow_state *flow,
					     const struct packet *packet, struct bpf_sock *socket,
					     const struct bpf_tcp_sock *tcp)
{
	struct tcp_sock *kernel = kernel_tcp(socket);
	__u64 size, before = bytes_before(packet, tcp);
	bool fin;

	if (!kernel || !is_in_lone_period(rule, kernel))
		return false;
	fin = has_sent_fin(socket, tcp, kernel);
	if (segments_before(tcp) - SYN_AND_LONE > fin)
		return false;
	size = bytes_sent_once(kernel);
	if (is_new(packet, tcp)) {
		size -= packet->payload;
		/* Of a packet that was cut up on its way here, this may be a part. */
		flow->next_offset = size < before ? size : before;
		flow->next_seq = packet->seq;
	} else {
		flow->next_offset = size;
		flow->next_seq = tcp->snd_nxt - fin;
	}
	flow->bytes_sent = flow->next_offset;
	flow->last_sent = lone_sent(kernel);
	flow->drained = FS_DRAINED;
	flow->ended = has_ended(packet, tcp, kernel, fin);
	return true;
}

/* A connection without state breaks off. If it has sent a lone packet and no FIN, its message ends.
 * (Resets that belong to no connection come from a raw socket of the kernel's.) */
static __always_inline void break_off_lone(const struct rule *rule, struct bpf_sock *socket,
					   const struct bpf_tcp_sock *tcp)
{
	struct tcp_sock *kernel = kernel_tcp(socket);

	if (kernel && kernel->inet_conn.icsk_inet.sk.sk_type == STREAM &&
	    segments_before(tcp) == SYN_AND_LONE && is_in_lone_period(rule, kernel))
		record_size(bytes_sent_once(kernel));
}

#endif
