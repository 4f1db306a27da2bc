// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0
/* DCTCP (RFC 8257) as a congestion control of the kernel's, for kernels that have none.
 *
 * The estimate alpha moves once a window by the share of bytes that ACKs reported as marked (3.3); a mark
 * multiplies the window by 1 - alpha/2, a loss halves it (3.5); a receiver echoes the mark of each packet (3.2).
 * Growth is Reno's. The kernel does everything else: it asks for the new threshold once a window, and brings the
 * window there over a round trip (RFC 6937).
 */
#include "kernel.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Alpha and g as shares of this. */
#define ONE (1 << 20)
/* RFC 5681, 3.1, equation 4. */
#define SMALLEST_THRESHOLD 2

/* The weight of the newest window, and the estimate of a new connection. */
const volatile __u32 g = ONE / 16;
const volatile __u32 initial_alpha = ONE;
/* Whether every ACK and every cut is written to `records`: for tests. */
const volatile bool is_recording = false;

/* What happened at a sender. */
struct record {
	/* Which connection. */
	__u64 socket;
	/* Nothing sent before this is unacknowledged, and nothing from this on was sent: bytes. */
	__u32 unacknowledged, next;
	/* Bytes of a segment. */
	__u32 segment;
	/* Whether the ACK said that packets were marked. For a cut: whether the threshold is that of marks. */
	__u32 is_marked;
	/* After it. */
	__u32 alpha;
	/* The window, in segments; for a cut, before it. */
	__u32 window;
	/* For a cut: what the window is to be. */
	__u32 threshold;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} records SEC(".maps");

/* What is remembered of a connection, in the room that the kernel has for that. */
struct dctcp {
	__u32 alpha;
	/* The observation window ends when this byte is acknowledged. */
	__u32 window_end;
	/* Of the last ACK. */
	__u32 unacknowledged;
	/* The window before the last cut. */
	__u32 window_before;
	/* Since the observation window began: bytes acknowledged, and those with marks. */
	__u64 acknowledged, marked;
	/* Whether the last packet that came was marked, and what was expected after it. */
	__u32 was_marked, expected;
	/* What the kernel does about losses. */
	__u32 state;
};

_Static_assert(sizeof(struct dctcp) <= sizeof(((struct inet_connection_sock *)0)->icsk_ca_priv),
	       "the kernel has no more room");

static struct dctcp *remembered(struct sock *sk)
{
	return (void *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

static void record(struct sock *sk, __u32 is_marked, __u32 threshold)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	struct dctcp *its = remembered(sk);
	struct record *entry;

	if (!is_recording)
		return;
	entry = bpf_ringbuf_reserve(&records, sizeof(*entry), 0);
	if (!entry)
		return;
	entry->socket = (__u64)sk;
	entry->unacknowledged = tcp->snd_una;
	entry->next = tcp->snd_nxt;
	entry->segment = tcp->mss_cache;
	entry->is_marked = is_marked;
	entry->alpha = its->alpha;
	entry->window = tcp->snd_cwnd;
	entry->threshold = threshold;
	bpf_ringbuf_submit(entry, 0);
}

SEC("struct_ops")
void BPF_PROG(dctcp_init, struct sock *sk)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	struct dctcp *its = remembered(sk);

	its->alpha = initial_alpha;
	its->unacknowledged = its->window_end = tcp->snd_una;
	its->acknowledged = its->marked = 0;
	its->window_before = 0;
	its->was_marked = 0;
	its->expected = tcp->rcv_nxt;
	its->state = 0;
}

/* An ACK came. SACK options are ignored (3.3). */
SEC("struct_ops")
void BPF_PROG(dctcp_in_ack_event, struct sock *sk, __u32 flags)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	struct dctcp *its = remembered(sk);
	__u32 bytes = tcp->snd_una - its->unacknowledged;
	__u32 is_marked = !!(flags & CA_ACK_ECE);

	its->unacknowledged = tcp->snd_una;
	its->acknowledged += bytes;
	if (is_marked)
		its->marked += bytes;
	if ((__s32)(tcp->snd_una - its->window_end) > 0) {
		__u64 share = its->marked * ONE / its->acknowledged;

		its->alpha = ((__u64)its->alpha * (ONE - g) + share * g) / ONE;
		its->window_end = tcp->snd_nxt;
		its->acknowledged = its->marked = 0;
	}
	record(sk, is_marked, 0);
}

/* Marks: what the window is to be. The kernel asks once a window, and also when a loss is found. */
SEC("struct_ops")
__u32 BPF_PROG(dctcp_ssthresh, struct sock *sk)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	struct dctcp *its = remembered(sk);
	__u32 window = tcp->snd_cwnd;
	__u32 threshold = window - (__u64)window * its->alpha / (2 * ONE);

	its->window_before = window;
	if (threshold < SMALLEST_THRESHOLD)
		threshold = SMALLEST_THRESHOLD;
	record(sk, 1, threshold);
	return threshold;
}

/* A loss: half of the window, whatever the marks say. */
static void react_to_loss(struct sock *sk)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	__u32 half = tcp->snd_cwnd / 2;

	remembered(sk)->window_before = tcp->snd_cwnd;
	tcp->snd_ssthresh = half < SMALLEST_THRESHOLD ? SMALLEST_THRESHOLD : half;
	record(sk, 0, tcp->snd_ssthresh);
}

SEC("struct_ops")
void BPF_PROG(dctcp_set_state, struct sock *sk, __u8 state)
{
	struct dctcp *its = remembered(sk);

	if (state == TCP_CA_Recovery && its->state != TCP_CA_Recovery)
		react_to_loss(sk);
	its->state = state;
}

/* A packet came whose mark differs from that of the one before: what waits to be acknowledged is acknowledged
 * with the old mark, and the packet at once with its own (3.2). */
static void echo(struct sock *sk, __u32 is_marked)
{
	struct inet_connection_sock *connection = (struct inet_connection_sock *)sk;
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	struct dctcp *its = remembered(sk);

	if (its->was_marked != is_marked) {
		if (connection->icsk_ack.pending & ICSK_ACK_TIMER) {
			if (its->was_marked)
				tcp->ecn_flags |= TCP_ECN_DEMAND_CWR;
			else
				tcp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
			bpf_tcp_send_ack(tcp, its->expected);
		}
		connection->icsk_ack.pending |= ICSK_ACK_NOW;
	}
	its->expected = tcp->rcv_nxt;
	its->was_marked = is_marked;
	if (is_marked)
		tcp->ecn_flags |= TCP_ECN_DEMAND_CWR;
	else
		tcp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
}

SEC("struct_ops")
void BPF_PROG(dctcp_cwnd_event, struct sock *sk, __u32 event)
{
	if (event == CA_EVENT_ECN_IS_CE || event == CA_EVENT_ECN_NO_CE)
		echo(sk, event == CA_EVENT_ECN_IS_CE);
	else if (event == CA_EVENT_LOSS)
		react_to_loss(sk);
}

SEC("struct_ops")
void BPF_PROG(dctcp_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	tcp_reno_cong_avoid(sk, ack, acked);
}

/* There was no loss after all. */
SEC("struct_ops")
__u32 BPF_PROG(dctcp_undo_cwnd, struct sock *sk)
{
	__u32 now = ((struct tcp_sock *)sk)->snd_cwnd, before = remembered(sk)->window_before;

	return now > before ? now : before;
}

/* Whoever registers it gives it a name of its own. */
SEC(".struct_ops.link")
struct tcp_congestion_ops dctcp = {
	.init = (void *)dctcp_init,
	.in_ack_event = (void *)dctcp_in_ack_event,
	.ssthresh = (void *)dctcp_ssthresh,
	.cong_avoid = (void *)dctcp_cong_avoid,
	.set_state = (void *)dctcp_set_state,
	.cwnd_event = (void *)dctcp_cwnd_event,
	.undo_cwnd = (void *)dctcp_undo_cwnd,
	.flags = TCP_CONG_NEEDS_ECN,
	.name = "dctcp_lab",
};
