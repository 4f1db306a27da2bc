//! D3's router: grants rates in the order in which they are asked for.
//!
//! Wilson et al., "Better never than late", SIGCOMM 2011, with the change of PDQ 2012, 5.1: "we add
//! a constraint to enforce the fair share bandwidth f_s to always be non-negative". Packets of flows
//! without deadlines ask for nothing and get the fair share: that is RCP with the exact number of
//! flows. D3's packets return their previous grant, so that routers keep only sums. Here the
//! controller remembers each flow's grant. The result is the same, and it does not drift when
//! packets are lost.

mod rate_adaptation;

use flowsched_units::{Kind, Parameter, Rate, SettingError, Settings, Time};

use crate::controller::{Controlled, Controller, ControllerPart, Language, Site};
use crate::flow_level::Fluid;
use crate::packet::{Flags, Header, Packet};
use crate::part::{Part, Role};
use crate::port::{Backlog, InOrder};
use crate::tagger::AnyTagger;
use crate::transport::Transport;
use crate::transport::d3::D3Header;
use rate_adaptation::RateAdaptation;

pub(crate) const ALPHA: Parameter = Parameter {
    name: "alpha",
    kind: Kind::Number { from: 0.0, to: 10.0 },
    default: Some("0.1"),
    about: "How fast the granted capacity follows the spare capacity.",
    source: "PDQ 2012, 5.1: \"the suggested parameters alpha = 0.1 and beta = 1\"",
};

pub(crate) const BETA: Parameter = Parameter {
    name: "beta",
    kind: Kind::Number { from: 0.0, to: 10.0 },
    default: Some("1"),
    about: "How fast the granted capacity falls with the queue.",
    source: "PDQ 2012, 5.1: \"the suggested parameters alpha = 0.1 and beta = 1\"",
};

pub(crate) const FAIR_SHARE_FROM_ZERO: Parameter = Parameter {
    name: "fair_share_from_zero",
    kind: Kind::Flag,
    default: Some("true"),
    about: "Whether the fair share is never negative, so that no flow has to return what it \
            was granted.",
    source: "PDQ 2012, 5.1",
};

const PARAMETERS: &[Parameter] = &[ALPHA, BETA, FAIR_SHARE_FROM_ZERO];

/// The parameters of D3's routers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct D3Control {
    /// The gain on spare capacity.
    pub alpha: f64,
    /// The gain on the queue.
    pub beta: f64,
    /// Whether the fair share is never negative.
    pub fair_share_from_zero: bool,
}

impl D3Control {
    /// Reads the keys.
    pub fn from_settings(settings: &Settings) -> D3Control {
        D3Control {
            alpha: settings.number(&ALPHA),
            beta: settings.number(&BETA),
            fair_share_from_zero: settings.flag(&FAIR_SHARE_FROM_ZERO),
        }
    }
}

impl ControllerPart<D3Header> for D3Control {
    const PART: Part = Part {
        role: Role::Controller,
        name: "d3",
        about: "D3's router: grants each flow the rate that it asks for while capacity lasts, and \
                a fair share of the rest. RCP's hosts ask for nothing and get the fair share.",
        source: "Wilson et al., SIGCOMM 2011; PDQ 2012, 5.1",
        parameters: &[PARAMETERS],
    };
    type Header = D3Header;
    type Hosts<T: Transport<Header = D3Header>> = T;
    type Tagger = AnyTagger;
    type Ports = InOrder;
    type Controller = D3Controller;

    fn build(settings: &Settings) -> Result<D3Control, SettingError> {
        Ok(D3Control::from_settings(settings))
    }

    fn hosts<T: Transport<Header = D3Header>>(&self, transport: T) -> T {
        transport
    }

    fn controller(&self, site: Site) -> D3Controller {
        D3Controller::new(*self, site)
    }

    fn fluid(&self) -> Fluid<()> {
        Ok(())
    }
}

impl Language for D3Header {
    type Controllers = Controlled<D3Header, D3Control>;
}

/// What one flow asked for and was granted.
#[derive(Clone, Copy, Debug)]
struct Grant {
    flow: (u32, u32),
    desired: u64,
    allocated: u64,
    /// The grants of the two requests before the last one, the earlier one first.
    before: [u64; 2],
    rtt: Time,
    seen: Time,
}

impl Grant {
    fn new(flow: (u32, u32), now: Time) -> Grant {
        Grant { flow, desired: 0, allocated: 0, before: [0; 2], rtt: Time::ZERO, seen: now }
    }

    /// The least rate at which the flow has been told to send during the last round-trip time.
    /// A rate that one request is granted shows in the packets that arrive once the next request has
    /// come. Before the last request, packets therefore arrived at the first of the two rates in
    /// `before`, and since then at the second.
    fn in_force(&self) -> u64 {
        let [earlier, later] = self.before;
        earlier.min(later)
    }
}

/// A flow is forgotten after this many round-trip times without a request.
const SILENT_ROUND_TRIPS: u64 = 4;

/// D3's controller of one egress port; rates are in bits per second.
#[derive(Clone, Debug)]
pub struct D3Controller {
    settings: D3Control,
    /// C: the capacity that is granted.
    adaptation: RateAdaptation,
    /// Sorted by flow.
    grants: Vec<Grant>,
    /// A and D: the sums over all flows.
    allocated: u64,
    desired: u64,
    mean_rtt: Time,
}

impl D3Controller {
    /// The controller of the port at `site`.
    pub fn new(settings: D3Control, site: Site) -> D3Controller {
        D3Controller {
            settings,
            adaptation: RateAdaptation::new(settings.alpha, settings.beta, site.rate),
            grants: Vec::new(),
            allocated: 0,
            desired: 0,
            mean_rtt: Time::ZERO,
        }
    }

    /// Updates C and forgets silent flows, once per mean round-trip time.
    #[inline]
    fn adapt(&mut self, now: Time, mut backlog: impl FnMut() -> Backlog) {
        let is_due = self.adaptation.is_due(now, self.mean_rtt);
        // Once the queue has been empty, the shortest queue is known.
        if is_due || self.adaptation.least_queue() > 0 {
            let queue = backlog().bytes;
            self.adaptation.see(queue);
            if is_due {
                self.update(now, queue);
            }
        }
    }

    #[inline(never)]
    fn update(&mut self, now: Time, queue: u64) {
        let in_force = self.grants.iter().map(Grant::in_force).sum();
        self.adaptation.update(now, queue, self.mean_rtt, in_force);
        self.forget_silent(now);
        self.measure_rtt();
    }

    fn forget_silent(&mut self, now: Time) {
        let silence = self.mean_rtt * SILENT_ROUND_TRIPS;
        let (allocated, desired) = (&mut self.allocated, &mut self.desired);
        self.grants.retain(|grant| {
            let silence = silence.max(grant.rtt * SILENT_ROUND_TRIPS);
            let keep = now.saturating_sub(grant.seen) <= silence;
            if !keep {
                *allocated -= grant.allocated;
                *desired -= grant.desired;
            }
            keep
        });
    }

    fn measure_rtt(&mut self) {
        let known = self.grants.iter().map(|grant| grant.rtt).filter(|rtt| *rtt > Time::ZERO);
        let (sum, count) = known.fold((Time::ZERO, 0), |(sum, count), rtt| (sum + rtt, count + 1));
        if count > 0 {
            self.mean_rtt = sum / count;
        }
    }

    /// Handles a rate request. Returns the rate that the flow is granted from now on.
    fn grant(&mut self, now: Time, flow: (u32, u32), header: &D3Header) -> Rate {
        let place = self.grants.binary_search_by_key(&flow, |grant| grant.flow);
        let place = place.unwrap_or_else(|place| {
            self.grants.insert(place, Grant::new(flow, now));
            place
        });
        let flows = self.grants.len() as f64;
        let capacity = self.adaptation.capacity();
        let grant = &mut self.grants[place];
        grant.seen = now;
        grant.before = [grant.before[1], grant.allocated];
        grant.rtt = header.rtt;
        if self.mean_rtt == Time::ZERO {
            self.mean_rtt = header.rtt;
        }
        self.allocated -= grant.allocated;
        self.desired = self.desired - grant.desired + header.desired.as_bps();
        grant.desired = header.desired.as_bps();
        let left = capacity - self.allocated as f64;
        let mut share = (capacity - self.desired as f64) / flows;
        if self.settings.fair_share_from_zero {
            share = share.max(0.0);
        }
        let desired = grant.desired as f64;
        // A flow that is granted nothing may still send one header per round-trip time: D3's base
        // rate.
        let granted = if left > desired { desired + share } else { left };
        grant.allocated = granted.max(0.0) as u64;
        self.allocated += grant.allocated;
        Rate::from_bps(grant.allocated)
    }

    fn remove(&mut self, flow: (u32, u32)) {
        if let Ok(place) = self.grants.binary_search_by_key(&flow, |grant| grant.flow) {
            let grant = self.grants.remove(place);
            self.allocated -= grant.allocated;
            self.desired -= grant.desired;
        }
    }
}

impl Controller<D3Header> for D3Controller {
    /// ACKs need no look, because headers gather all grants on the way to the receiver.
    const LOOKS_ONE_WAY: bool = true;
    const SENDS: bool = false;
    const LOOKS_AT_DEPARTURES: bool = false;

    #[inline]
    fn on_forward(
        &mut self,
        now: Time,
        packet: &mut Packet<D3Header>,
        backlog: impl FnMut() -> Backlog,
        _send: impl FnMut(Packet<D3Header>),
    ) {
        if packet.flags.has(Flags::ACK) {
            self.adaptation.add(u64::from(packet.wire));
            return;
        }
        self.adapt(now, backlog);
        self.adaptation.add(u64::from(packet.wire));
        let flow = (packet.flow, packet.header.path());
        if packet.flags.has(Flags::TERM) {
            self.remove(flow);
        } else if packet.header.is_request.is_set() {
            let granted = self.grant(now, flow, &packet.header);
            packet.header.allocated = packet.header.allocated.min(granted);
        }
    }

    fn on_return(&mut self, _now: Time, _packet: &mut Packet<D3Header>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    const GBPS: u64 = 1_000_000_000;

    fn controller() -> D3Controller {
        let settings = D3Control { alpha: 0.1, beta: 1.0, fair_share_from_zero: true };
        let rate = Rate::from_bps(GBPS);
        D3Controller::new(settings, Site { port: 0, rate, is_host: false })
    }

    /// Requests `desired` thousandths of the link's rate. Returns the grant in thousandths.
    fn ask(controller: &mut D3Controller, flow: u32, desired: u64) -> u64 {
        ask_at(controller, Time::ZERO, flow, desired)
    }

    fn ask_at(controller: &mut D3Controller, now: Time, flow: u32, desired: u64) -> u64 {
        let header = D3Header {
            is_request: true.into(),
            desired: Rate::from_bps(desired * GBPS / 1000),
            allocated: Rate::from_bps(GBPS),
            rtt: Time::ZERO,
        };
        let mut packet = Packet { flow, header, ..Packet::default() };
        controller.on_forward(now, &mut packet, Backlog::default, |_| {});
        packet.header.allocated.as_bps() * 1000 / GBPS
    }

    fn end(controller: &mut D3Controller, flow: u32) {
        let mut packet = Packet { flow, flags: Flags::TERM, ..Packet::default() };
        controller.on_forward(Time::ZERO, &mut packet, Backlog::default, |_| {});
    }

    /// "D3 satisfies as many flows as possible according to the flow request rate in the order
    /// of their arrival" (PDQ 2012, 2.1).
    #[test]
    fn who_comes_first_is_granted_first() {
        let mut controller = controller();
        assert_eq!(ask(&mut controller, 0, 600), 1000, "what it asks for and all that is left");
        assert_eq!(ask(&mut controller, 1, 600), 0, "all is granted");
        assert_eq!(ask(&mut controller, 0, 600), 600, "the fair share is zero now");
        assert_eq!(ask(&mut controller, 1, 600), 400, "what is left");
        end(&mut controller, 0);
        assert_eq!(ask(&mut controller, 1, 600), 1000);
    }

    /// "When the total demand exceeds the switch capacity, the fair share rate becomes negative.
    /// ... This can cause a flow to return the allocated bandwidth it already reserved" (PDQ
    /// 2012, 5.1).
    #[test]
    fn the_fair_share_is_never_negative() {
        let mut fixed = controller();
        let mut original = controller();
        original.settings.fair_share_from_zero = false;
        let second_grant = |controller: &mut D3Controller| {
            ask(controller, 0, 600);
            ask(controller, 1, 600);
            ask(controller, 0, 600)
        };
        assert_eq!(second_grant(&mut fixed), 600);
        assert_eq!(second_grant(&mut original), 500, "600 + (1000 - 1200) / 2");
    }

    /// RCP with the exact number of flows (PDQ 2012, 5.1).
    #[test]
    fn flows_without_deadlines_share_alike() {
        let mut controller = controller();
        for flow in 0..4 {
            ask(&mut controller, flow, 0);
        }
        for _ in 0..2 {
            for flow in 0..4 {
                ask(&mut controller, flow, 0);
            }
        }
        assert_eq!([0, 1, 2, 3].map(|flow| ask(&mut controller, flow, 0)), [250; 4]);
        end(&mut controller, 3);
        assert_eq!(ask(&mut controller, 0, 0), 333);
    }

    /// u counts ACKs, too.
    #[test]
    fn acks_take_their_part_of_the_link() {
        let mut controller = controller();
        controller.mean_rtt = Time::from_us(200);
        let mut ack = Packet { flags: Flags::ACK, wire: 30_000, ..Packet::default() };
        controller.on_forward(Time::from_us(100), &mut ack, Backlog::default, |_| {});
        ask_at(&mut controller, Time::from_us(200), 0, 0);
        // The ACK is a fifth more than the link carries; u does not include the request itself yet.
        assert!((controller.adaptation.capacity() - 0.98e9).abs() < 1.0);
    }

    /// Ten newcomers have been granted the link; what they send is still on its way.
    #[test]
    fn what_newcomers_do_not_send_yet_is_not_granted_again() {
        let mut controller = controller();
        controller.mean_rtt = Time::from_us(200);
        for round in 0..3 {
            let now = Time::from_us(200 * round);
            for flow in 0..10 {
                ask_at(&mut controller, now, flow, 0);
            }
            assert!(controller.adaptation.capacity() <= 1e9, "{round}");
        }
        assert_eq!(controller.allocated, GBPS);
    }

    /// Another link limits the first of two flows to a quarter of this link. The second flow sends
    /// what it is granted, and gets the other three quarters.
    #[test]
    fn a_flow_gets_what_one_that_is_held_up_elsewhere_leaves() {
        let mut controller = controller();
        controller.mean_rtt = Time::from_us(200);
        let [mut sent, mut granted] = [0, 0];
        for round in 0..100 {
            let now = Time::from_us(200 * round);
            // A thousandth of the link is 25 bytes in 200 us.
            controller.adaptation.add(25 * (sent + sent.min(250)));
            sent = granted;
            ask_at(&mut controller, now, 0, 0);
            granted = ask_at(&mut controller, now, 1, 0);
        }
        assert!((740..=750).contains(&granted), "{granted}");
    }
}
