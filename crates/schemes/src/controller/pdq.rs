//! PDQ's switch: the most critical flows of a link send, the others are paused (PDQ 2012, 3.3).
//!
//! Each file has one idea: [`comparator`] says which flow is more critical, [`flow_list`] what is
//! remembered, [`flow_controller`] who sends (Algorithms 1 to 3), [`rate_controller`] how much
//! all may send together, [`leftover`] what flows beyond the memory get.

pub mod comparator;
pub mod flow_controller;
pub mod flow_list;
pub mod leftover;
pub mod rate_controller;
pub mod settings;

use flowsched_units::{Bytes, Rate, SettingError, Settings, Time};

use crate::controller::{Controlled, Controller, ControllerPart, Language, Site};
use crate::flow_level::Fluid;
use crate::packet::{Flags, Packet};
use crate::part::{Part, Role};
use crate::port::{Backlog, InOrder};
use crate::tagger::AnyTagger;
use crate::transport::Transport;
use crate::transport::pdq::multipath::MultipathHeader;
use crate::transport::pdq::{Pauser, PdqHeader, Scheduled};

use flow_controller::{Decision, FlowControl, FlowController, LinkState, Name};
use flow_list::Entry;
use leftover::Leftover;
use rate_controller::RateController;

impl<H: Scheduled> ControllerPart<H> for FlowControl {
    const PART: Part = Part {
        role: Role::Controller,
        name: "pdq",
        about: "PDQ's switch: accepts the most critical flows up to the link's rate and pauses the \
                others.",
        source: "PDQ 2012, 3.3",
        parameters: &[settings::PARAMETERS],
    };
    type Header = H;
    type Hosts<T: Transport<Header = H>> = T;
    type Tagger = AnyTagger;
    type Ports = InOrder;
    type Controller = PdqController;

    fn build(settings: &Settings) -> Result<FlowControl, SettingError> {
        Ok(FlowControl::from_settings(settings))
    }

    fn hosts<T: Transport<Header = H>>(&self, transport: T) -> T {
        transport
    }

    fn controller(&self, site: Site) -> PdqController {
        PdqController::new(*self, site)
    }

    fn fluid(&self) -> Fluid<()> {
        Ok(())
    }
}

impl Language for PdqHeader {
    type Controllers = Controlled<PdqHeader, FlowControl>;
}

impl Language for MultipathHeader {
    type Controllers = Controlled<MultipathHeader, FlowControl>;
}

/// The round-trip time before any flow has reported its own: "the RTT in data center networks is
/// typically very small (e.g., ~150 us)" (PDQ 2012, 3.3.2).
const TYPICAL_RTT: Time = Time::from_us(150);

/// PDQ's controller of one egress port.
///
/// The fields that every packet needs come first, in two cache lines.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct PdqController {
    rate: RateController,
    /// The mean round-trip time of the flows, at the last update at which one was known.
    mean_rtt: Option<Time>,
    flows: FlowController,
    rest: Leftover,
}

impl PdqController {
    /// The controller of the port at `site`.
    pub fn new(settings: FlowControl, site: Site) -> PdqController {
        PdqController {
            rate: RateController::new(settings.share_of(site.rate)),
            mean_rtt: None,
            flows: FlowController::new(settings, Pauser::of_port(site.port)),
            rest: Leftover::default(),
        }
    }

    /// Updates C and forgets silent flows. This is due every two round-trip times, once one is
    /// known.
    fn update(&mut self, now: Time, queue: u64) {
        self.mean_rtt = self.flows.list().mean_rtt().or(self.mean_rtt);
        if let Some(rtt) = self.mean_rtt {
            self.rate.update(now, queue, rtt);
            self.flows.forget_silent(now, rtt);
        }
    }

    /// Writes the share of a flow that there is no memory for into its packet's header.
    fn share<H: Scheduled>(&mut self, now: Time, packet: &mut Packet<H>, queue: u64) {
        let rtt = self.mean_rtt.unwrap_or(TYPICAL_RTT);
        let left = self.flows.left_over(self.rate.rate());
        let share = self.rest.share(now, left, u64::from(packet.wire), queue, rtt);
        let header = packet.header.scheduling();
        header.rate = header.rate.min(share);
        header.paused_by = (header.rate == Rate::from_bps(0)).then_some(self.flows.me());
    }
}

fn name<H: Scheduled>(packet: &Packet<H>) -> Name {
    Name { flow: packet.flow, path: packet.header.path() }
}

impl<H: Scheduled> Controller<H> for PdqController {
    /// Acceptance takes two phases, there and back (PDQ 2012, 3.3.2).
    const NEEDS_WAY_BACK: bool = true;
    const SENDS: bool = false;
    const LOOKS_AT_DEPARTURES: bool = false;
    const MINDS_HEADERS_ALONE: bool = true;

    fn on_forward(
        &mut self,
        now: Time,
        packet: &mut Packet<H>,
        mut backlog: impl FnMut() -> Backlog,
        _send: impl FnMut(Packet<H>),
    ) {
        if packet.flags.has(Flags::ACK) {
            return;
        }
        if self.rate.is_due(now) {
            self.update(now, backlog().bytes);
        }
        let name = name(packet);
        if packet.flags.has(Flags::TERM) {
            return self.flows.on_term(name);
        }
        let mean_rtt = self.mean_rtt.unwrap_or(TYPICAL_RTT);
        let link = LinkState { capacity: self.rate.rate(), mean_rtt };
        let decision = self.flows.on_data(now, name, packet.header.scheduling(), link);
        if decision == Decision::WithTheRest {
            self.share(now, packet, backlog().bytes);
        }
    }

    fn on_return(&mut self, _now: Time, packet: &mut Packet<H>) {
        if packet.flags.has(Flags::ACK) {
            self.flows.on_ack(name(packet), packet.header.scheduling());
        }
    }

    fn largest_state(&self) -> Option<Bytes> {
        Some(Entry::WIDTH * self.flows.most_remembered() as u64)
    }
}
