//! Multilevel feedback queue (PIAS): a flow's priority falls as it sends more bytes.
//!
//! PIAS ToN 2017, III-B.1: K priorities and K-1 demotion thresholds; a new flow starts at the
//! highest priority, and a flow that times out repeatedly may start again (III-B.3), as may one
//! that begins a new message (IV-A.1).

use flowsched_units::{Bytes, Kind, Parameter, SettingError, Settings, Time};

use super::thresholds::{THRESHOLDS, Thresholds};
use super::{AckPriority, Departure, PlainTagger, Tag, TaggerPart, Work};
use crate::flow_level::{Sharing, Tagged};
use crate::on_linux::{AgentTags, HostTags};
use crate::part::{Part, Role};

pub(crate) const BOOKKEEPING: Parameter = Parameter {
    name: "bookkeeping",
    kind: Kind::Choice(&["offset", "cumulative"]),
    default: Some("offset"),
    about: "\"offset\": by the packet's place in its flow, so that a retransmission keeps \
            its first priority; \"cumulative\": by all bytes sent, this packet and \
            retransmissions included.",
    source: "offset: the PIAS authors' simulator; cumulative: their kernel prototype",
};

/// What begins a new message.
pub const MESSAGE_START: Parameter = Parameter {
    name: "message_start",
    kind: Kind::Choice(&["flow", "idle"]),
    default: Some("flow"),
    about: "When the count of bytes sent restarts: with each flow; or, if the host does not know \
            flows, when a connection has been idle for message_idle and everything sent is \
            acknowledged.",
    source: "flow: PIAS ToN 2017, V-C; idle: IV-A.1",
};

pub(crate) const MESSAGE_IDLE: Parameter = Parameter {
    name: "message_idle",
    kind: Kind::Time,
    default: Some("500us"),
    about: "How long a connection is idle before a new message is assumed.",
    source: "PIAS ToN 2017, IV-A.1",
};

pub(crate) const AGEING_TIMEOUTS: Parameter = Parameter {
    name: "ageing_timeouts",
    kind: Kind::Count { from: 0, to: 255 },
    default: Some("2"),
    about: "Timeouts in a row after which a starved flow starts again at the top; 0: never.",
    source: "PIAS ToN 2017, III-B.3 (the kernel prototype: 3)",
};

pub(crate) const ACK_PRIORITY: Parameter = Parameter {
    name: "ack_priority",
    kind: Kind::Choice(&["top", "echo"]),
    default: Some("top"),
    about: "The priority of pure ACKs: the highest, or that of the packet they acknowledge.",
    source: "the PIAS authors' simulator",
};

const PARAMETERS: &[Parameter] =
    &[THRESHOLDS, BOOKKEEPING, MESSAGE_START, MESSAGE_IDLE, AGEING_TIMEOUTS, ACK_PRIORITY];

/// How bytes sent are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bookkeeping {
    /// By the offset of the packet's first byte in its message.
    Offset,
    /// By all payload bytes sent since the message began, this packet's included.
    Cumulative,
}

/// What restarts the count of bytes sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageStart {
    /// Each flow.
    Flow,
    /// Idleness of the connection for at least this long, with nothing outstanding.
    Idle(Time),
}

/// The rule that all flows of a host share.
#[derive(Clone, Debug, PartialEq)]
pub struct Mlfq {
    thresholds: Thresholds,
    bookkeeping: Bookkeeping,
    message_start: MessageStart,
    ageing_timeouts: u32,
    /// The priority of pure ACKs.
    ack_priority: AckPriority,
}

/// What is remembered of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MlfqFlow {
    /// Payload bytes sent since the message began.
    bytes_sent: u64,
    /// The offset in the flow at which the message began.
    message_offset: u64,
    /// When the last packet left.
    last_sent: Time,
    /// The number of timeouts in a row at which the flow last started again.
    aged_at: u32,
}

impl Mlfq {
    /// A rule with the given thresholds and bookkeeping. It restarts the count of bytes sent with
    /// each flow, and never ages.
    ///
    /// # Errors
    /// Those of [`Mlfq::build`], for one queue more than there are thresholds.
    pub fn new(thresholds: &[Bytes], bookkeeping: Bookkeeping) -> Result<Mlfq, SettingError> {
        let mlfq = Mlfq {
            thresholds: Thresholds::new(thresholds),
            bookkeeping,
            message_start: MessageStart::Flow,
            ageing_timeouts: 0,
            ack_priority: AckPriority::Top,
        };
        mlfq.thresholds.check(thresholds.len() + 1)?;
        Ok(mlfq)
    }

    /// The same rule, but a message starts when `message_start` says.
    pub fn with_message_start(self, message_start: MessageStart) -> Mlfq {
        Mlfq { message_start, ..self }
    }

    /// The same rule, but a flow starts again after `timeouts` timeouts in a row; with 0 it never
    /// does.
    pub fn with_ageing(self, timeouts: u32) -> Mlfq {
        Mlfq { ageing_timeouts: timeouts, ..self }
    }

    /// The demotion thresholds, in payload bytes sent.
    pub fn thresholds(&self) -> Vec<Bytes> {
        self.thresholds.sizes()
    }

    /// How many priorities there are.
    pub fn priorities(&self) -> usize {
        self.thresholds.priorities()
    }

    /// The priority of the packet that departs, 0 being the highest.
    pub fn tag(&self, flow: &mut MlfqFlow, departure: &Departure) -> u8 {
        self.start_again_where_due(flow, departure);
        flow.last_sent = departure.now;
        flow.bytes_sent += u64::from(departure.payload);
        let count = match self.bookkeeping {
            Bookkeeping::Offset => departure.offset.saturating_sub(flow.message_offset),
            Bookkeeping::Cumulative => flow.bytes_sent,
        };
        self.thresholds.priority_at(count)
    }

    fn start_again_where_due(&self, flow: &mut MlfqFlow, departure: &Departure) {
        let new_message = match self.message_start {
            MessageStart::Flow => false,
            MessageStart::Idle(gap) => {
                departure.idle && departure.now.saturating_sub(flow.last_sent) >= gap
            }
        };
        if departure.timeouts_in_a_row < flow.aged_at {
            flow.aged_at = 0;
        }
        let starved = self.ageing_timeouts > 0
            && departure.timeouts_in_a_row - flow.aged_at >= self.ageing_timeouts;
        if starved {
            flow.aged_at = departure.timeouts_in_a_row;
        }
        if new_message || starved {
            flow.bytes_sent = 0;
            flow.message_offset = departure.offset;
        }
    }

    /// A new flow begins on the connection. It is a new message if [`MessageStart::Flow`] is set.
    pub fn start_flow(&self, flow: &mut MlfqFlow) {
        flow.aged_at = 0;
        // Offsets count from the start of each flow, but the message may have begun before it.
        flow.message_offset = 0;
        if self.message_start == MessageStart::Flow {
            flow.bytes_sent = 0;
        }
    }
}

impl TaggerPart for Mlfq {
    const PART: Part = Part {
        role: Role::Tagger,
        name: "mlfq",
        about: "Priorities fall with the bytes a flow has sent.",
        source: "PIAS ToN 2017, III-B.1",
        parameters: &[PARAMETERS],
    };

    /// # Errors
    /// If there is not one threshold fewer than queues, or one is below the one before it, or
    /// a word still stands for the thresholds.
    fn build(settings: &Settings, queues: usize) -> Result<Mlfq, SettingError> {
        let mlfq = Mlfq {
            thresholds: Thresholds::from_settings(settings, &THRESHOLDS)?,
            bookkeeping: match settings.text(&BOOKKEEPING).as_str() {
                "cumulative" => Bookkeeping::Cumulative,
                _ => Bookkeeping::Offset,
            },
            message_start: match settings.text(&MESSAGE_START).as_str() {
                "idle" => MessageStart::Idle(settings.time(&MESSAGE_IDLE)),
                _ => MessageStart::Flow,
            },
            ageing_timeouts: settings.count(&AGEING_TIMEOUTS) as u32,
            ack_priority: match settings.text(&ACK_PRIORITY).as_str() {
                "echo" => AckPriority::Echo,
                _ => AckPriority::Top,
            },
        };
        mlfq.thresholds.check(queues)?;
        Ok(mlfq)
    }

    fn fluid(&self) -> Tagged {
        Tagged::without_ranks(Sharing::BytesSent(self.thresholds()))
    }

    fn on_linux(&self) -> Option<HostTags> {
        let message_idle = match self.message_start {
            MessageStart::Flow => None,
            MessageStart::Idle(gap) => Some(gap),
        };
        Some(HostTags::BytesSent(AgentTags {
            thresholds: self.thresholds(),
            message_idle,
            is_cumulative: self.bookkeeping == Bookkeeping::Cumulative,
            ageing_timeouts: self.ageing_timeouts,
        }))
    }
}

impl PlainTagger for Mlfq {
    type Memory = MlfqFlow;

    fn start_flow(&self, flow: &mut MlfqFlow) {
        Mlfq::start_flow(self, flow);
    }

    #[inline]
    fn tag(&self, flow: &mut MlfqFlow, departure: &Departure, _work: &Work) -> Tag {
        Tag { priority: Mlfq::tag(self, flow, departure), rank: 0 }
    }

    #[inline]
    fn ack_priority(&self, acknowledged: u8) -> u8 {
        match self.ack_priority {
            AckPriority::Top => 0,
            AckPriority::Echo => acknowledged,
        }
    }
}

#[cfg(test)]
mod tests {
    use flowsched_units::Value;
    use proptest::prelude::*;

    use super::*;

    fn packet(offset: u64) -> Departure {
        Departure { now: Time::ZERO, offset, payload: 1460, idle: false, timeouts_in_a_row: 0 }
    }

    fn thresholds(packets: &[u64]) -> Vec<Bytes> {
        packets.iter().map(|count| Bytes::new(count * 1460)).collect()
    }

    #[test]
    fn a_flow_is_demoted_as_it_sends() {
        // PIAS ToN 2017, III-B.1: "As more bytes are sent, the packets of this flow will be tagged
        // with decreasing priorities".
        let mlfq = Mlfq::new(&thresholds(&[2, 4, 6]), Bookkeeping::Cumulative).unwrap();
        let mut flow = MlfqFlow::default();
        let priorities: Vec<u8> =
            (0..8).map(|index| mlfq.tag(&mut flow, &packet(index * 1460))).collect();
        assert_eq!(priorities, [0, 0, 1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn a_retransmission_keeps_its_priority_by_offset_only() {
        for (bookkeeping, expected) in [(Bookkeeping::Offset, 0), (Bookkeeping::Cumulative, 1)] {
            let mlfq = Mlfq::new(&thresholds(&[2]), bookkeeping).unwrap();
            let mut flow = MlfqFlow::default();
            for index in 0..5 {
                mlfq.tag(&mut flow, &packet(index * 1460));
            }
            assert_eq!(mlfq.tag(&mut flow, &packet(0)), expected, "{bookkeeping:?}");
        }
    }

    #[test]
    fn a_starved_flow_starts_again_every_so_many_timeouts() {
        // PIAS ToN 2017, III-B.3: "if a flow experiences two consecutive timeouts, we set its bytes
        // sent back to zero".
        let mlfq = Mlfq::new(&thresholds(&[1]), Bookkeeping::Cumulative).unwrap().with_ageing(2);
        let mut flow = MlfqFlow::default();
        let mut after =
            |timeouts_in_a_row| mlfq.tag(&mut flow, &Departure { timeouts_in_a_row, ..packet(0) });
        assert_eq!([after(0), after(0), after(1)], [0, 1, 1]);
        assert_eq!([after(2), after(2), after(3), after(4)], [0, 1, 1, 0], "after two and four");
        assert_eq!([after(0), after(1), after(2)], [1, 1, 0], "progress clears the count");
    }

    #[test]
    fn a_message_starts_after_idleness_with_nothing_outstanding() {
        // PIAS ToN 2017, IV-A.1: "If the time gap since the last function call is larger than a
        // threshold (500us in our experiments) and the TCP send buffer is empty now, we regard this
        // as the beginning of a new message and reset bytes sent back to 0".
        let gap = Time::from_us(500);
        let mlfq = Mlfq::new(&thresholds(&[1]), Bookkeeping::Cumulative)
            .unwrap()
            .with_message_start(MessageStart::Idle(gap));
        let mut flow = MlfqFlow::default();
        let mut at = |us, idle| {
            mlfq.tag(&mut flow, &Departure { now: Time::from_us(us), idle, ..packet(0) })
        };
        assert_eq!([at(1000, true), at(1001, false), at(1500, true)], [0, 1, 1], "too early");
        assert_eq!([at(2000, false), at(2500, true)], [1, 0], "unacknowledged, then in time");
        mlfq.start_flow(&mut flow);
        assert_eq!(mlfq.tag(&mut flow, &Departure { now: Time::from_us(2501), ..packet(0) }), 1);
    }

    #[test]
    fn thresholds_that_fall_or_are_too_few_are_refused() {
        let error = Mlfq::new(&thresholds(&[4, 2]), Bookkeeping::Offset).unwrap_err();
        assert_eq!(error.key, "thresholds");
        let mut settings = Settings::defaults(PARAMETERS);
        assert!(Mlfq::build(&settings, 8).is_err(), "a word is not thresholds");
        settings.set("thresholds", Value::Sizes(thresholds(&[1, 2])));
        assert!(Mlfq::build(&settings, 4).is_err());
        assert!(Mlfq::build(&settings, 3).is_ok());
    }

    proptest! {
        #[test]
        fn cumulative_never_promotes_without_a_restart(
            mut steps in prop::collection::vec(0u64..1_000_000, 0..7),
            offsets in prop::collection::vec(0u64..100, 1..200),
        ) {
            steps.sort_unstable();
            let thresholds: Vec<Bytes> = steps.into_iter().map(Bytes::new).collect();
            let mlfq = Mlfq::new(&thresholds, Bookkeeping::Cumulative).unwrap();
            let mut flow = MlfqFlow::default();
            let mut last = 0;
            for offset in offsets {
                let priority = mlfq.tag(&mut flow, &packet(offset * 1460));
                prop_assert!(priority >= last);
                last = priority;
            }
        }

        #[test]
        fn by_offset_the_priority_never_rises_with_the_offset(
            mut steps in prop::collection::vec(0u64..1_000_000, 0..7),
            a in 0u64..2_000_000, b in 0u64..2_000_000,
        ) {
            steps.sort_unstable();
            let thresholds: Vec<Bytes> = steps.into_iter().map(Bytes::new).collect();
            let mlfq = Mlfq::new(&thresholds, Bookkeeping::Offset).unwrap();
            let mut flow = MlfqFlow::default();
            let (low, high) = (a.min(b), a.max(b));
            let first = mlfq.tag(&mut flow, &packet(low));
            prop_assert!(first <= mlfq.tag(&mut flow, &packet(high)));
        }
    }
}
