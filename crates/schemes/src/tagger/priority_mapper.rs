//! EPN's priority mapper: the desired priority (DP) of a host's flows, and the transmission
//! priority (TP) that switches gave them.
//!
//! EPN 2018, III: "the priority mapper maintains a mapping between the flow's DP and TP, and tags
//! this information on every packet of the flow". It also marks the packets that controllers must
//! see (S-marking, IV-B), and does what their messages say.

use flowsched_units::{
    Bytes, Kind, PACKET_PAYLOAD, PacketMeaning, Parameter, SettingError, Settings, Time,
};

use super::{Departure, TaggerPart, Tagging, Work};
use crate::controller::epn::header::{Br, Dp, EpnHeader, INITIAL_TTL, MOST_DP_BITS, Tp};
use crate::flow_level::{Sharing, Tagged};
use crate::knowledge::Start;
use crate::on_linux::HostTags;
use crate::packet::{Flags, Packet};
use crate::part::{Part, Role};

pub(crate) const DP: Parameter = Parameter {
    name: "dp",
    kind: Kind::Choice(&["remaining", "size", "sent"]),
    default: Some("remaining"),
    about: "A flow's desired priority: its remaining size (SRPT), its size (SJF), or, for unknown \
            sizes, its level in a feedback queue by bytes sent.",
    source: "EPN 2018, IV-C; remaining: III",
};

pub(crate) const DP_BITS: Parameter = Parameter {
    name: "dp_bits",
    kind: Kind::Count { from: 8, to: MOST_DP_BITS as u64 },
    default: Some("15"),
    about: "Bits of a desired priority by bytes: 5 for the exponent, the rest digits.",
    source: "EPN 2018, Figure 2: what the other fields leave of VXLAN's 32 reserved bits",
};

pub(crate) const TINY: Parameter = Parameter {
    name: "tiny",
    kind: Kind::Size(PacketMeaning::Payload),
    default: Some("69KB"),
    about: "Flows smaller than this are always in the HIGH queue, and no controller sees them. The \
            same holds for the first bytes, up to this size, of a flow of unknown size.",
    source: "EPN 2018, IV-A, VI-C and VI-D: the bandwidth-delay product",
};

pub(crate) const LEVELS: Parameter = Parameter {
    name: "levels",
    kind: Kind::Count { from: 1, to: 64 },
    default: Some("16"),
    about: "Levels of the feedback queue, with dp = \"sent\".",
    source: "EPN 2018, VI-C",
};

pub(crate) const BASE_THRESHOLD: Parameter = Parameter {
    name: "base_threshold",
    kind: Kind::Size(PacketMeaning::Payload),
    default: Some("200KB"),
    about: "Bytes sent at which a flow leaves the first level, with dp = \"sent\".",
    source: "EPN 2018, VI-C",
};

pub(crate) const THRESHOLD_FACTOR: Parameter = Parameter {
    name: "threshold_factor",
    kind: Kind::Count { from: 1, to: 16 },
    default: Some("2"),
    about: "The ratio of each threshold to the one before it, with dp = \"sent\".",
    source: "EPN 2018, VI-C",
};

pub(crate) const MARK_INTERVAL: Parameter = Parameter {
    name: "mark_interval",
    kind: Kind::Time,
    default: Some("1ms"),
    about: "The least time between two packets of a flow that are marked for controllers because \
            its desired priority changed.",
    source: "EPN 2018, IV-D limits their rate and does not say to what; with 24 ports busy, \
             1 ms keeps a switch near the 30,000 packets a second of V-B",
};

pub(crate) const PROBE_INTERVAL: Parameter = Parameter {
    name: "probe_interval",
    kind: Kind::Time,
    default: Some("5ms"),
    about: "How often a flow in the LOW queue marks a packet for controllers. A flow in the HIGH queue that has sent \
            nothing for so long marks its next packet: a controller may have removed it as dead.",
    source: "EPN 2018, IV-B: \"say several ms\"",
};

const PARAMETERS: &[Parameter] =
    &[DP, DP_BITS, TINY, LEVELS, BASE_THRESHOLD, THRESHOLD_FACTOR, MARK_INTERVAL, PROBE_INTERVAL];

/// What a flow's desired priority is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Desire {
    /// SRPT.
    Remaining,
    /// SJF.
    Size,
    /// A feedback queue.
    Sent,
}

/// The rule that all flows of a host share.
#[derive(Clone, Debug, PartialEq)]
pub struct PriorityMapper {
    desire: Desire,
    dp_bits: u32,
    tiny: Bytes,
    /// Bytes sent at which a flow leaves each level but the last.
    thresholds: Vec<u64>,
    mark_interval: Time,
    probe_interval: Time,
}

/// What is remembered of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MappedFlow {
    /// Payload bytes sent, retransmissions included (V-A: "a counter for the sent bytes").
    sent: u64,
    /// The desired priority that controllers saw last.
    dp: Dp,
    tp: Tp,
    br: Br,
    dsid: u8,
    /// When the last packet for controllers was marked.
    marked_at: Time,
    /// When the last packet was sent.
    sent_at: Time,
    /// Whether the next packet is marked for controllers.
    mark_next: bool,
}

impl PriorityMapper {
    /// Reads the parameters above.
    pub fn from_settings(settings: &Settings) -> PriorityMapper {
        let (base, factor) = (settings.size(&BASE_THRESHOLD), settings.count(&THRESHOLD_FACTOR));
        let thresholds = std::iter::successors(Some(base.get()), |threshold| {
            Some(threshold.saturating_mul(factor))
        });
        PriorityMapper {
            desire: match settings.text(&DP).as_str() {
                "size" => Desire::Size,
                "sent" => Desire::Sent,
                _ => Desire::Remaining,
            },
            dp_bits: settings.count(&DP_BITS) as u32,
            tiny: settings.size(&TINY),
            thresholds: thresholds.take(settings.count(&LEVELS) as usize - 1).collect(),
            mark_interval: settings.time(&MARK_INTERVAL),
            probe_interval: settings.time(&PROBE_INTERVAL),
        }
    }

    #[inline]
    fn desired(&self, flow: &MappedFlow, work: &Work) -> Dp {
        match self.desire {
            Desire::Remaining => {
                Dp::of_bytes(u64::from(work.remaining) * PACKET_PAYLOAD, self.dp_bits)
            }
            Desire::Size => Dp::of_bytes(work.size.get(), self.dp_bits),
            Desire::Sent => {
                let passed = |threshold: &&u64| flow.sent > **threshold;
                Dp::of_level(self.thresholds.iter().take_while(passed).count() as u16)
            }
        }
    }

    /// IV-A: "we just put these tiny flows into the HIGH queue and the priority controller will
    /// simply ignore them". A flow of unknown size is tiny until it has sent as much as the limit.
    fn is_tiny(&self, flow: &MappedFlow, work: &Work) -> bool {
        match self.desire {
            Desire::Sent => flow.sent < self.tiny.get(),
            Desire::Remaining | Desire::Size => work.size < self.tiny,
        }
    }

    /// Whether a packet that would carry `dp` is marked for controllers (IV-B). A flow that was silent for long probes
    /// whatever its queue, because a controller removes a flow whose counter "remains unchanged for several reads".
    fn is_due(&self, flow: &MappedFlow, dp: Dp, now: Time) -> bool {
        let since = |then| now.saturating_sub(then);
        let has_changed = dp != flow.dp && since(flow.marked_at) >= self.mark_interval;
        let silent_since = if flow.tp == Tp::LOW { flow.marked_at } else { flow.sent_at };
        flow.mark_next || has_changed || since(silent_since) >= self.probe_interval
    }
}

impl TaggerPart for PriorityMapper {
    const PART: Part = Part {
        role: Role::Tagger,
        name: "priority-mapper",
        about: "EPN's hosts: packets carry a desired priority by size, remaining size or bytes \
                sent, and use the queue that switches choose; works only with the controller \
                \"epn\".",
        source: "EPN 2018, III to V-A",
        parameters: &[PARAMETERS],
    };

    fn build(settings: &Settings, _queues: usize) -> Result<PriorityMapper, SettingError> {
        Ok(PriorityMapper::from_settings(settings))
    }

    fn fluid(&self) -> Tagged {
        Tagged::without_ranks(Sharing::MaxMin)
    }

    fn on_linux(&self) -> Option<HostTags> {
        let levels = self.thresholds.iter().filter(|_| self.desire == Desire::Sent);
        let sizes = std::iter::once(self.tiny).chain(levels.map(|bytes| Bytes::new(*bytes)));
        Some(HostTags::AtTheEdge { sizes: sizes.collect() })
    }
}

impl Tagging<EpnHeader> for PriorityMapper {
    type Flow = MappedFlow;

    /// IV-A: "when a flow starts, the priority mapper will first fill its output link rate in the
    /// BR field". The flow starts HIGH, and switches may demote it from there (VI-B).
    fn start_flow(&self, flow: &mut MappedFlow, start: &Start) {
        *flow =
            MappedFlow { br: Br::of_link(start.rate), mark_next: true, ..MappedFlow::default() };
    }

    #[inline]
    fn tag(
        &self,
        flow: &mut MappedFlow,
        departure: &Departure,
        work: &Work,
        packet: &mut Packet<EpnHeader>,
    ) {
        let is_tiny = self.is_tiny(flow, work);
        let mut dp = self.desired(flow, work);
        let mut is_sampled = false;
        if !is_tiny {
            let is_first_time = !packet.flags.has(Flags::RETRANSMISSION);
            let ends = departure.offset + u64::from(departure.payload) == work.size.get();
            if ends && is_first_time {
                (dp, is_sampled) = (Dp::END, true);
            } else {
                is_sampled = packet.flags.has(Flags::SYN) || self.is_due(flow, dp, departure.now);
            }
        }
        if is_sampled {
            (flow.dp, flow.marked_at, flow.mark_next) = (dp, departure.now, false);
        }
        flow.sent += u64::from(departure.payload);
        flow.sent_at = departure.now;
        packet.priority = flow.tp.queue();
        let MappedFlow { tp, br, dsid, .. } = *flow;
        packet.header =
            EpnHeader { dp, tp, br, dsid, is_sampled: is_sampled.into(), ttl: INITIAL_TTL };
    }

    /// The highest, because controllers schedule what flows send, not what comes back.
    #[inline]
    fn ack_priority(&self, _acknowledged: u8) -> u8 {
        Tp::HIGH.queue()
    }

    /// Does what a controller says, and answers with the next packet: "this is equivalent to send
    /// an acknowledgment to the switch" (IV-B).
    ///
    /// Only the switch that demoted a flow may promote it (IV-A). A promotion that another switch
    /// sent before it knew of the demotion is ignored.
    fn on_message(&self, flow: &mut MappedFlow, message: &Packet<EpnHeader>) {
        let EpnHeader { tp, br, dsid, .. } = message.header;
        flow.br = flow.br.min(br);
        flow.mark_next = true;
        match (flow.tp, tp) {
            (_, Tp::LOW) => (flow.tp, flow.dsid) = (Tp::LOW, dsid),
            (Tp::LOW, Tp::HIGH) if flow.dsid == dsid => (flow.tp, flow.dsid) = (Tp::HIGH, 0),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
