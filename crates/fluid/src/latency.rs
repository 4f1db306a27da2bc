//! The parts of a flow's completion time besides its bytes: headers, announcement, and the delivery
//! of the last packet.

use flowsched_schemes::flow_level::{
    Acceptance, Acknowledgements, Admission, CriticalBy, FlowLevel, Sharing, SizeBy,
};
use flowsched_topology::{Network, PortId};
use flowsched_units::{Bytes, PACKET_HEADER, PACKET_PAYLOAD, Time};
use flowsched_workload::{Flow, wire_bytes};

use crate::requests::until_noticed;

/// The bits that `size` bytes of payload occupy on a link, each packet with a `header`.
pub(crate) fn wire_bits(size: Bytes, header: Bytes) -> f64 {
    let packets = size.get().div_ceil(PACKET_PAYLOAD);
    8.0 * (size.get() + packets * header.get()) as f64
}

/// The bits of acknowledgements that go back for every bit of a flow of `size` bytes of payload.
pub(crate) fn ratio_back(size: Bytes, scheme: &FlowLevel) -> f64 {
    let Acknowledgements { size: of_each, packets, .. } = scheme.acknowledgements;
    let count = size.get().div_ceil(PACKET_PAYLOAD).div_ceil(u64::from(packets));
    8.0 * (count * of_each.get()) as f64 / wire_bits(size, scheme.header)
}

/// The bits that a flow of `size` bytes of payload still announces as remaining when it ends.
fn last_announced(size: Bytes, scheme: &FlowLevel) -> f64 {
    match scheme.sharing {
        Sharing::InOrder(CriticalBy { size: SizeBy::Estimated { step }, .. }) => {
            let steps = size.get() / step.get() + 1;
            steps as f64 * wire_bits(step, scheme.header)
        }
        // Hardly any random size is that small.
        Sharing::InOrder(CriticalBy { size: SizeBy::Random, .. }) => f64::INFINITY,
        _ => 0.0,
    }
}

/// Times of one flow that do not depend on others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Latency {
    /// The time from the flow's start until it competes.
    pub(crate) before: Time,
    /// The time from when the last bit has passed the slowest link, if the flow fills this link,
    /// until the last bit has arrived.
    pub(crate) last_packet: Time,
    /// The time from then until the sender has the acknowledgement.
    pub(crate) acknowledgement: Time,
    /// Whether switches foresee the flow's end.
    is_foreseen: bool,
    /// The round trip of a full packet and its acknowledgement. Zero where no flow waits for one.
    pub(crate) round_trip: Time,
}

/// The time of `count` round trips.
pub(crate) fn round_trips(count: f64, round_trip: Time) -> Time {
    Time::from_ps((round_trip.as_ps() as f64 * count) as u64)
}

impl Latency {
    /// When the last bit has to be sent so that the acknowledgement arrives by `deadline`.
    pub(crate) fn due_time(&self, deadline: Time) -> Time {
        deadline.saturating_sub(self.last_packet.saturating_add(self.acknowledgement))
    }

    /// The rate of the flow's probes in each direction while it waits, bit/s. A probe is a header.
    pub(crate) fn probe_rate(&self, scheme: &FlowLevel) -> f64 {
        let bits = 8.0 * scheme.header.get() as f64;
        let interval =
            |acceptance: Acceptance| acceptance.probe_interval * self.round_trip.as_secs_f64();
        scheme.admission.acceptance().map_or(0.0, |acceptance| bits / interval(acceptance))
    }

    /// The time from the last bit of a flow until other flows have its share. The flow sends at
    /// `cards` times the rate of a card.
    pub(crate) fn after(&self, cards: f64, scheme: &FlowLevel) -> Time {
        match scheme.admission {
            Admission::AtOnce => Time::ZERO,
            Admission::ByRequest => until_noticed(self.round_trip),
            Admission::ByAcceptance(acceptance) => {
                let count = match self.is_foreseen {
                    true => acceptance.hand_over(cards),
                    false => acceptance.hand_over_unforeseen(),
                };
                round_trips(count, self.round_trip)
            }
        }
    }

    /// The latency in an omniscient schedule, in which no flow announces itself or waits for an
    /// answer.
    pub(crate) fn known(before: Time, last_packet: Time, acknowledgement: Time) -> Latency {
        let (is_foreseen, round_trip) = (true, Time::ZERO);
        Latency { before, last_packet, acknowledgement, is_foreseen, round_trip }
    }

    /// The latency of one of this many `subflows` of a flow, over this path. With 1, that of the
    /// whole flow.
    pub(crate) fn of_flow(
        flow: &Flow,
        path: &[PortId],
        subflows: u32,
        network: &Network,
        scheme: &FlowLevel,
    ) -> Latency {
        let ports = || path.iter().map(|port| network.port(*port));
        let header = Bytes::new(PACKET_HEADER);
        let sum =
            |times: &mut dyn Iterator<Item = Time>| times.fold(Time::ZERO, Time::saturating_add);
        let acknowledgement =
            sum(&mut ports()
                .map(|port| port.delay.saturating_add(port.rate.transmission_time(header))));
        let bottleneck = ports().map(|port| port.rate).min().unwrap_or_default();
        let bytes = bottleneck.transmission_time(wire_bytes(flow.size));
        let ideal = network.ideal_fct_along(path, flow.size);
        let base_rtt = |packet| network.base_rtt_along(path, packet, scheme.header);
        let round_trip = match scheme.admission {
            Admission::AtOnce => Time::ZERO,
            _ => base_rtt(Bytes::new(PACKET_PAYLOAD) + scheme.header),
        };
        Latency {
            round_trip,
            is_foreseen: scheme.admission.acceptance().is_some_and(|acceptance| {
                let share = Bytes::new(flow.size.get() / u64::from(subflows));
                let announced = last_announced(share, scheme) / bottleneck.as_bps() as f64;
                announced < acceptance.early_start * round_trip.as_secs_f64()
            }),
            before: match scheme.round_trips_before {
                0 => Time::ZERO,
                count => base_rtt(scheme.header).saturating_mul(count.into()),
            },
            last_packet: ideal.saturating_sub(bytes.saturating_add(acknowledgement)),
            acknowledgement,
        }
    }
}
