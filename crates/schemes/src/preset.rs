//! The named combinations of parts that the papers call schemes.

use flowsched_units::Parameter;

use crate::catalogue::{self, part};
use crate::controller::pdq::settings::{EARLY_START, PROBE_SPACING};
use crate::part::Role;
use crate::port::parameters::{BUFFER, ECN_SCOPE, ECN_THRESHOLD, HOST_PORT, QUEUES};
use crate::tagger::THRESHOLDS;
use crate::tagger::priority_mapper::DP;
use crate::transport::explicit;
use crate::transport::pdq::settings::EARLY_TERMINATION;
use crate::transport::tcp::parameters::{
    FAST_RETRANSMIT, INITIAL_WINDOW, MAX_WINDOW, PROBE_TIMEOUTS, RESTART, RTO, RTO_BACKOFF, RTO_MIN,
};

/// A parameter, and the value that replaces its default, as written in a file.
pub type Changed = (&'static Parameter, &'static str);

/// A named combination of parts with the parameters of the paper.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name in an experiment file.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub about: &'static str,
    /// The paper.
    pub source: &'static str,
    /// The part for each role, in the order of [`Role::ALL`].
    pub parts: [&'static str; 4],
    /// Parameters whose value differs from the part's default.
    pub settings: &'static [Changed],
}

impl Preset {
    /// Whether the preset sends packets. Otherwise it is a schedule of flows.
    pub fn sends_packets(&self) -> bool {
        !part(Role::Transport, self.parts[1]).is_some_and(catalogue::is_schedule)
    }
}

/// All presets.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "tcp",
        about: "TCP Reno with SACK over drop-tail FIFO ports, without ECN.",
        source: "RFC 5681, 6298, 6675",
        parts: ["none", "reno", "fifo", "none"],
        settings: &[(&ECN_THRESHOLD, "unlimited")],
    },
    Preset {
        name: "cubic",
        about: "TCP CUBIC, the default of Linux, over drop-tail FIFO ports, without ECN.",
        source: "RFC 9438",
        parts: ["none", "cubic", "fifo", "none"],
        settings: &[(&ECN_THRESHOLD, "unlimited")],
    },
    Preset {
        name: "ecn-star",
        about: "TCP that halves its window on ECN marks, at a threshold tuned to the link.",
        source: "RFC 3168; Wu et al., CoNEXT 2012 (PIAS ToN 2017, III-B.3)",
        parts: ["none", "ecn-star", "fifo", "none"],
        settings: &[],
    },
    Preset {
        name: "dctcp",
        about: "DCTCP over FIFO ports: the window shrinks by the share of marked packets.",
        source: "RFC 8257; PIAS ToN 2017, V-C",
        parts: ["none", "dctcp", "fifo", "none"],
        settings: &[],
    },
    Preset {
        name: "l2dct",
        about: "L2DCT over FIFO ports: DCTCP that favours flows which have sent little.",
        source: "Munir et al., INFOCOM 2013; PIAS ToN 2017, V-C.1",
        parts: ["none", "l2dct", "fifo", "none"],
        settings: &[],
    },
    Preset {
        name: "d2tcp",
        about: "D2TCP over FIFO ports: DCTCP that favours flows whose deadlines are near.",
        source: "Vamanan et al., SIGCOMM 2012",
        parts: ["none", "d2tcp", "fifo", "none"],
        settings: &[],
    },
    Preset {
        name: "pias",
        about: "Priorities fall with bytes sent, strict-priority ports with ECN, DCTCP.",
        source: "PIAS ToN 2017, III-B",
        parts: ["mlfq", "dctcp", "strict-priority", "none"],
        settings: &[],
    },
    Preset {
        name: "tcp2q",
        about: "TCP[a]Q with 2 queues: each flow in the queue of its size, TCP with ECN.",
        source: "pFabric: Alizadeh et al., SIGCOMM 2013, 6; EPN 2018, VI-A",
        parts: ["size-known", "ecn-star", "strict-priority", "none"],
        settings: &[(&QUEUES, "2")],
    },
    Preset {
        name: "tcp8q",
        about: "TCP[a]Q with 8 queues: each flow in the queue of its size, TCP with ECN.",
        source: "pFabric: Alizadeh et al., SIGCOMM 2013, 6; EPN 2018, VI-A",
        parts: ["size-known", "ecn-star", "strict-priority", "none"],
        settings: &[(&QUEUES, "8")],
    },
    Preset {
        name: "sjf",
        about: "Ideal SJF: as many priorities as there are flow sizes, DCTCP.",
        source: "Slytherin 2018, IV-3",
        parts: ["size-known", "dctcp", "pfabric", "none"],
        // Buffer and marking as the schemes that it is compared with (Slytherin 2018, III-C.2).
        settings: &[(&THRESHOLDS, ""), (&BUFFER, "360KB"), (&ECN_THRESHOLD, "90KB")],
    },
    Preset {
        name: "slytherin",
        about: "Packets that met congestion at an earlier hop, and ACKs, go first; DCTCP.",
        source: "Slytherin 2018, III",
        parts: ["none", "dctcp", "slytherin", "none"],
        // 25% of the buffer: Slytherin 2018, III-C.2. A card that marked would let the first switch
        // promote: III-B.
        settings: &[(&ECN_THRESHOLD, "90KB"), (&HOST_PORT, "fifo")],
    },
    Preset {
        name: "las",
        about: "Least attained service: pFabric with bytes sent as the rank.",
        source: "PIAS ToN 2017, V-C.1",
        parts: ["bytes-sent", "reno", "pfabric", "none"],
        settings: PFABRIC_TRANSPORT,
    },
    Preset {
        name: "pfabric",
        about: "Remaining size decides which packet goes next and which is dropped; a minimal \
                transport that starts at line rate.",
        source: "Alizadeh et al., SIGCOMM 2013; PIAS ToN 2017, V-C",
        parts: ["remaining", "reno", "pfabric", "none"],
        settings: PFABRIC_TRANSPORT,
    },
    Preset {
        name: "epn",
        about: "EPN: at each link, the flows with the least left to send use the first of two \
                queues; TCP with ECN.",
        source: "EPN 2018",
        parts: ["priority-mapper", "ecn-star", "weighted-round-robin", "epn"],
        settings: EPN_PORT,
    },
    Preset {
        name: "epn-agnostic",
        about: "EPN without known sizes: 16 exponential levels by bytes sent.",
        source: "EPN 2018, IV-C and VI-C",
        parts: ["priority-mapper", "ecn-star", "weighted-round-robin", "epn"],
        settings: &[EPN_PORT[0], EPN_PORT[1], (&DP, "sent")],
    },
    Preset {
        name: "pdq",
        about: "PDQ(Full): the most critical flows send, all others are paused; Early Start, \
                Early Termination, Suppressed Probing.",
        source: "PDQ 2012, 3",
        parts: PDQ,
        settings: PDQ_PORT,
    },
    Preset {
        name: "pdq-basic",
        about: "PDQ(Basic): without Early Start, Early Termination and Suppressed Probing.",
        source: "PDQ 2012, 5.1",
        parts: PDQ,
        settings: &[
            PDQ_PORT[0],
            PDQ_PORT[1],
            (&EARLY_START, "0"),
            (&EARLY_TERMINATION, "false"),
            (&PROBE_SPACING, "0"),
        ],
    },
    Preset {
        name: "pdq-es",
        about: "PDQ(ES): with Early Start, without Early Termination and Suppressed Probing.",
        source: "PDQ 2012, 5.1",
        parts: PDQ,
        settings: &[PDQ_PORT[0], PDQ_PORT[1], (&EARLY_TERMINATION, "false"), (&PROBE_SPACING, "0")],
    },
    Preset {
        name: "pdq-es-et",
        about: "PDQ(ES+ET): with Early Start and Early Termination, without Suppressed Probing.",
        source: "PDQ 2012, 5.1",
        parts: PDQ,
        settings: &[PDQ_PORT[0], PDQ_PORT[1], (&PROBE_SPACING, "0")],
    },
    Preset {
        name: "m-pdq",
        about: "M-PDQ: PDQ(Full) with each flow spread over several paths.",
        source: "PDQ 2012, 6",
        parts: ["none", "m-pdq", "fifo", "pdq"],
        settings: PDQ_PORT,
    },
    Preset {
        name: "d3",
        about: "D3: switches grant rates that meet deadlines, in the order of the requests.",
        source: "Wilson et al., SIGCOMM 2011; PDQ 2012, 5.1",
        parts: ["none", "d3", "fifo", "d3"],
        settings: PDQ_PORT,
    },
    Preset {
        name: "rcp",
        about: "RCP with the exact number of flows: switches tell each flow its fair share.",
        source: "Dukkipati and McKeown, CCR 2006; PDQ 2012, 5.1",
        parts: ["none", "rcp", "fifo", "d3"],
        settings: PDQ_PORT,
    },
    Preset {
        name: "homa",
        about: "Homa: receivers grant the shortest messages, each at its own priority; packets \
                sent without a grant have the priority of the message's size.",
        source: "Montazeri et al., SIGCOMM 2018",
        parts: ["homa", "homa", "strict-priority", "none"],
        settings: &[(&ECN_THRESHOLD, "unlimited")],
    },
    Preset {
        name: "hpcc",
        about: "HPCC: switches write their load into packets, and senders keep the most loaded link \
                of each path just below full.",
        source: "Li et al., SIGCOMM 2019",
        parts: ["none", "hpcc", "fifo", "telemetry"],
        // HPCC's network loses nothing, so ports have memory for any burst, and time-outs exceed
        // any queueing delay.
        settings: &[(&BUFFER, "32MB"), (&ECN_THRESHOLD, "unlimited"), (&explicit::RTO_MIN, "20ms")],
    },
    Preset {
        name: "phost",
        about: "pHost: receivers send one token per packet time, to the flow with the fewest \
                missing packets; short flows begin with tokens.",
        source: "Gao et al., CoNEXT 2015",
        parts: ["phost", "phost", "strict-priority", "none"],
        settings: &[(&QUEUES, "3"), (&ECN_THRESHOLD, "unlimited")],
    },
    Preset {
        name: "optimal",
        about: "Not a protocol: the schedule of an omniscient scheduler at the level of flows. As \
                few late flows as possible, then the shortest remaining flow first. A bound on one \
                bottleneck, elsewhere a heuristic.",
        source: "PDQ 2012, 3 and 5.2.1",
        parts: ["none", "omniscient", "fifo", "none"],
        settings: &[],
    },
];

/// EPN 2018, V-C: "we configure per-queue ECN for EPN"; VI-C: "an ECN threshold to be 40 packets",
/// the only threshold that the paper gives.
const EPN_PORT: &[Changed] = &[(&ECN_SCOPE, "queue"), (&ECN_THRESHOLD, "40pkt")];

/// PDQ's hosts and switches over FIFO ports.
const PDQ: [&str; 4] = ["none", "pdq", "fifo", "pdq"];

/// "A switch buffer of 4 MByte, and FIFO tail-drop queues" (PDQ 2012, Figure 2).
const PDQ_PORT: &[Changed] = &[(&BUFFER, "4MB"), (&ECN_THRESHOLD, "unlimited")];

/// pFabric's minimal TCP (Alizadeh et al., SIGCOMM 2013, 4.2). Windows start at the bandwidth-delay
/// product. Losses are found by timeouts alone, of about three round-trip times. After five
/// timeouts in a row a flow probes. Sizes are those of PIAS ToN 2017, V-C; the largest window is
/// that of its authors' simulator.
const PFABRIC_TRANSPORT: &[Changed] = &[
    (&INITIAL_WINDOW, "70"),
    (&MAX_WINDOW, "139"),
    (&RESTART, "every-flow"),
    (&RTO_MIN, "250us"),
    (&RTO, "fixed"),
    (&RTO_BACKOFF, "false"),
    (&FAST_RETRANSMIT, "false"),
    (&PROBE_TIMEOUTS, "5"),
];
