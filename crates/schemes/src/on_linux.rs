//! A scheme's hosts on Linux: a congestion control of the kernel and its settings, or the simulator's senders over UDP.

mod ignored;

use flowsched_units::{Bytes, Kind, Parameter, Time};

pub use ignored::{Ignored, ignored_keys};

/// The TCP that the lab's hosts run.
pub const LAB_SENDERS: Parameter = Parameter {
    name: "lab_senders",
    kind: Kind::Choice(&["kernel", "simulator"]),
    default: Some("kernel"),
    about: "The TCP of hosts in the lab: the kernel's if it has this scheme, or the simulator's, whose packets travel \
            in UDP. With \"simulator\", the kernel's TCP has no part in a difference from the simulation.",
    source: "the project",
};

/// A congestion control of the Linux kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelControl {
    /// What the kernel calls it.
    pub name: &'static str,
    /// Whether its connections negotiate ECN (RFC 3168).
    pub uses_ecn: bool,
    /// Its settings, if it is DCTCP, which not every kernel has.
    pub dctcp: Option<KernelDctcp>,
}

/// The settings of DCTCP (RFC 8257, 4.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelDctcp {
    /// The weight of the newest window.
    pub g: f64,
    /// The estimate that a new connection starts from.
    pub initial_alpha: f64,
}

impl KernelControl {
    /// A congestion control that every kernel has, without settings.
    pub const fn plain(name: &'static str, uses_ecn: bool) -> KernelControl {
        KernelControl { name, uses_ecn, dctcp: None }
    }
}

/// What hosts write on the packets of the kernel's TCP.
#[derive(Clone, Debug, PartialEq)]
pub enum HostTags {
    /// Nothing.
    None,
    /// A priority that falls with the bytes that a flow has sent, as the agent writes it.
    BytesSent(AgentTags),
    /// The priority of the flow's size, which the application writes.
    Size(SizeTags),
    /// What the scheme's own tagger writes, at the edge of the host: its header goes into VXLAN.
    AtTheEdge {
        /// The sizes at which what it writes changes, the smallest first.
        sizes: Vec<Bytes>,
    },
}

/// The largest size of each priority but the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeTags(pub Vec<Bytes>);

impl SizeTags {
    /// How many priorities there are.
    pub fn priorities(&self) -> usize {
        self.0.len() + 1
    }

    /// The priority of a flow of `size` bytes.
    pub fn priority_of(&self, size: Bytes) -> u8 {
        self.0.iter().take_while(|largest| size > **largest).count() as u8
    }
}

/// How the agent tags packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentTags {
    /// The thresholds in payload bytes, one fewer than priorities.
    pub thresholds: Vec<Bytes>,
    /// The idle time after which a connection's next packet has the top priority again. `None` if instead
    /// the first packet of every new flow has it; the application then announces new flows.
    pub message_idle: Option<Time>,
    /// Whether all bytes sent count, retransmissions too, rather than a packet's place in its flow.
    pub is_cumulative: bool,
    /// Timeouts in a row after which a flow starts again at the top; 0: never.
    pub ageing_timeouts: u32,
}

/// Hosts whose TCP is the kernel's.
#[derive(Clone, Debug, PartialEq)]
pub struct LinuxHosts {
    /// The congestion control.
    pub control: KernelControl,
    /// What they write on packets.
    pub tags: HostTags,
    /// Segments sent before the first ACK.
    pub initial_window: u32,
    /// The most segments in flight: the smaller one of the largest congestion window and the receive
    /// window.
    pub max_window: u32,
    /// The shortest retransmission timeout.
    pub rto_min: Time,
    /// Connections that a pair of hosts has open from the start; 0 if every flow opens its own.
    pub open_connections: u32,
    /// Whether receivers acknowledge each packet at once. Otherwise they acknowledge every second one.
    pub acks_every_packet: bool,
}

/// Hosts that run the simulator's senders and receivers, over UDP.
#[derive(Clone, Debug, PartialEq)]
pub struct UdpHosts {
    /// The shortest retransmission timeout, if the senders have that parameter.
    pub rto_min: Option<Time>,
    /// What hosts with the kernel's TCP would write on packets, if they could. The simulator's tagger writes as much.
    pub tags: Option<HostTags>,
}

/// A scheme's hosts on Linux.
#[derive(Clone, Debug, PartialEq)]
pub enum RealHosts {
    /// Their TCP is the kernel's.
    Kernel(LinuxHosts),
    /// They run the simulator's senders and receivers, over UDP.
    OverUdp(UdpHosts),
}

/// The differentiated services code point (DSCP) of one of `priorities` priorities, of which 0 is the
/// highest: a class selector (RFC 2474, 4.2.2.2). The lowest priority has the code point of packets that
/// nobody tags.
pub fn code_point(priority: usize, priorities: usize) -> u8 {
    8 * priorities.saturating_sub(1 + priority).min(7) as u8
}
