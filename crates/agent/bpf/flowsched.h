/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* What the BPF program and the agent share: constants and the values of the maps. The Rust side of both
 * is generated from the program's BTF, so that there is one definition of each. */
#ifndef FLOWSCHED_H
#define FLOWSCHED_H

#include <linux/types.h>

enum constant {
	/* Whoever changes the layout of a type below raises it: an agent refuses the pinned maps of
	 * another layout. */
	FS_LAYOUT = 8,
	FS_RULES = 2, /* one in force, one being written */
	FS_LEVELS = 8,
	FS_SEEN_SLOTS = 64,
	/* Histogram of message sizes: sizes below FS_EXACT_SIZES have a bucket each, every further
	 * octave has FS_OCTAVE_BUCKETS, so that a bucket is at most 1/128 of its size wide. */
	FS_EXACT_BITS = 8,
	FS_EXACT_SIZES = 1 << FS_EXACT_BITS,
	FS_OCTAVE_BITS = 7,
	FS_OCTAVE_BUCKETS = 1 << FS_OCTAVE_BITS,
	FS_OCTAVES = 40,
	FS_BUCKETS = FS_EXACT_SIZES + FS_OCTAVES * FS_OCTAVE_BUCKETS,
	/* Binary digits of a tick of the clock that tests inject, in ns. */
	FS_INJECTED_TICK_BITS = 22,
};

enum rule_flag {
	FS_CUMULATIVE = 1 << 0,      /* by all bytes sent; without it by offset in the message */
	FS_RESPECT_DSCP = 1 << 1,    /* leave packets that have a DSCP */
	FS_FORCE_ECT = 1 << 2,       /* ECT(0) on data of connections that negotiated ECN */
	FS_SELECT_PORTS = 1 << 3,    /* only flows with a port that is in the set */
	FS_SELECT_PREFIXES = 1 << 4, /* only flows to a prefix that is in the set */
	FS_SELECT_CGROUPS = 1 << 5,  /* only sockets below a cgroup that is in the set */
	FS_TICKS = 1 << 6,           /* the time of UDP flows is read once a tick */
	FS_SENT_ENDS = 1 << 7,       /* a message may end before it is acknowledged */
	FS_TOKENS = 1 << 8,          /* the application may announce a message */
	FS_TRACE = 1 << 9,           /* tests: log the socket path */
	FS_INJECTED_CLOCK = 1 << 10, /* tests: the time is skb->tstamp */
	/* Flags that plain packets do not need; all others are options. */
	FS_NO_OPTIONS = FS_TICKS | FS_SENT_ENDS | FS_INJECTED_CLOCK,
};

/* Of the rule, what plain packets seldom need. */
#define FS_OPTIONS (~FS_NO_OPTIONS)

/* What of a rule every packet needs comes first, in one cache line. */
struct rule {
	enum rule_flag flags;            /* any number of them */
	__u32 generation;                /* another one for every rule; never 0 */
	__u64 message_idle_ns;           /* the largest number: never a new message */
	__u8 dscp[FS_LEVELS];
	__u64 flow_idle_ns;              /* the same for flows known by their 5-tuple alone */
	__u32 mark_mask;                 /* other bits under these masks start a message; */
	__u32 priority_mask;             /* one of the two, or both, are 0 */
	__u16 vxlan_port;                /* 0: do not look into VXLAN */
	__u8 padding[2];
	__u32 ageing_timeouts;           /* 0: never */
	__u64 timeout_gap_ns;            /* silence before an old sequence that is a timeout */
	__u64 thresholds[FS_LEVELS];     /* bytes; those not used are the largest number */
	__u64 lone_from;                 /* ns; when connections began to send one packet without */
	__u64 lone_to;                   /* a state, and when they stopped; see lone.h */
	__u8 ports[65536 / 8];
};

/* Everything that a reload changes. */
struct settings {
	__u32 active;
	enum constant layout; /* FS_LAYOUT of who wrote it; 0: nobody yet */
	struct rule rules[FS_RULES];
};

struct prefix_key {
	__u32 prefix_len; /* counts the 32 bits of slot too */
	__u32 slot;       /* which of the two rules it belongs to */
	__u8 address[16]; /* IPv4 as ::ffff:a.b.c.d */
};

struct cgroup_key {
	__u64 id;
	__u64 slot;
};

/* Addresses and ports in network order; of a fragmented packet the ports are 0. */
struct flow_key {
	__u64 source[2]; /* IPv4 as ::ffff:a.b.c.d */
	__u64 destination[2];
	__u16 source_port;
	__u16 destination_port;
	__u32 network; /* 0, or 1 << 24 | VXLAN network identifier */
	__u32 protocol;
	__u32 padding;
};

/* Whether the last packet left the application nothing to send. */
enum drained {
	FS_NOT_DRAINED,
	FS_DRAINED,
	FS_DRAINED_TIGHT, /* but maybe something to write: there was little room in the send buffer */
};

/* What is remembered of a flow; what every packet needs comes first, in one cache line. */
struct flow_state {
	__u64 last_sent;      /* ns */
	__u64 next_offset;    /* offset of the first byte that was never sent */
	__u64 bytes_sent;     /* charged since the message began */
	__u64 level_end;      /* offset, or bytes sent, at which the level may differ; 0: at once */
	__u32 next_seq;       /* TCP sequence number of next_offset */
	__u32 generation;     /* of the rule that the last level is by; 0: no packet yet */
	__u32 aged_at;        /* count of timeouts in a row at which it was last made new */
	__u32 token;          /* mark or priority that the message was sent with */
	__u8 level;           /* of the last packet */
	__u8 ended;           /* its size is in the histogram */
	__u8 drained;         /* an enum drained; local TCP */
	__u8 padding;
	__u32 tick;           /* of the kernel's clock, in which last_sent was read; UDP */
	__u32 timeouts;       /* in a row; flows known by 5-tuple */
	__u32 timeout_seq;    /* of the last timeout seen; flows known by 5-tuple */
	__u64 message_offset; /* offset at which the message, or its last new start, began */
	__u64 size_from;      /* offset at which the message began, whatever its new starts */
	__u64 last_heard;     /* ns; when the other end last sent a packet; forwarded TCP */
};

/* A packet as the decision sees it. */
struct departure {
	__u64 now;
	__u64 offset;
	__u32 payload;
	__u32 timeouts_in_a_row;
	__u8 idle;
	__u8 application_start;
};

enum left_alone {
	FS_NOT_IP,       /* ARP and the like, or neither TCP nor UDP */
	FS_UNCLEAR,      /* truncated, malformed, or headers that are not known */
	FS_NOT_SELECTED,
	FS_RESPECTED,    /* the application's own DSCP */
	FS_NO_STATE,     /* no memory for the flow's state */
	FS_NOT_WRITTEN,  /* the header could not be written */
	FS_LEFT_KINDS,
};

/* Together, so that a packet touches one cache line of them. */
struct level_counters {
	__u64 packets;        /* as the stack hands them down: a super-packet is one */
	__u64 payload_bytes;
	__u64 wire_bytes;
	__u64 wire_packets;   /* segments of super-packets count one by one */
};

/* Packets that passed the tagger. Some drivers count a super-packet as one, others its segments. */
struct seen_counters {
	__u64 packets;        /* as the stack hands them down: a super-packet is one */
	__u64 wire_packets;   /* segments of super-packets count one by one */
	__u64 wire_bytes;
};

struct counters {
	struct level_counters levels[FS_LEVELS];
	__u64 left_alone[FS_LEFT_KINDS];
	__u64 messages_idle;        /* started by idleness */
	__u64 messages_application; /* started by the application's mark or priority */
	__u64 starved;              /* made new by timeouts */
	__u64 flows_socket;         /* connections of this host */
	__u64 flows_hash;           /* states made */
	__u64 flows_closed;         /* of those in the hash, by SYN or RST */
	__u64 ect_forced;
	struct seen_counters seen[FS_SEEN_SLOTS]; /* by interface index modulo their number */
};

/* Written by the agent alone. */
struct agent_counters {
	__u64 flows_swept; /* taken out of the hash as idle */
	__u64 reloads;
	__u64 reloads_refused;
};

/* One decision on the socket path, for replay through the Rust tagger. */
struct trace_record {
	__u64 socket;
	struct departure departure;
	__u32 level;
};

#endif
