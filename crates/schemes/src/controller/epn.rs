//! EPN's priority controller: decides which flows of an output link use its HIGH queue.
//!
//! EPN 2018, III to IV-B, Algorithm 1. A switch mirrors the packets that hosts S-marked to its
//! controller, which keeps a list of the flows of every output link. Here each link has a
//! controller of its own, because the lists share nothing. The controllers of hosts' cards do
//! nothing.

mod flow_table;
pub mod header;

use std::collections::VecDeque;

use flowsched_units::{Kind, PACKET_HEADER, Parameter, Rate, SettingError, Settings, Time};

use super::{Controller, ControllerPart, Site};
use crate::flow_level::{Fluid, NoFluid};
use crate::packet::{Flags, Header, Packet};
use crate::part::{Part, Role};
use crate::port::{Backlog, Queued};
use crate::tagger::priority_mapper::PriorityMapper;
use crate::transport::{Carrying, Transport};

pub use flow_table::{Entry, FlowTable};
use header::{Br, Dp, EpnHeader, INITIAL_TTL, Tp};

pub(crate) const PROCESSING_DELAY: Parameter = Parameter {
    name: "processing_delay",
    kind: Kind::Time,
    default: Some("10us"),
    about: "Time from a packet's arrival at a switch until its controller acts on it.",
    source: "EPN 2018, V-B: software, on a server or the switch's CPU; how long is not said",
};

pub(crate) const COUNTER_INTERVAL: Parameter = Parameter {
    name: "counter_interval",
    kind: Kind::Time,
    default: Some("2ms"),
    about: "How often a controller reads the byte counters of flows in the HIGH queue and repeats \
            unanswered messages.",
    source: "EPN 2018, IV-B: \"every a few ms\"",
};

pub(crate) const COUNTER_READS: Parameter = Parameter {
    name: "counter_reads",
    kind: Kind::Count { from: 1, to: 1000 },
    default: Some("3"),
    about: "Readings without progress after which a flow counts as dead.",
    source: "EPN 2018, IV-B: \"several reads\"",
};

pub(crate) const FLOW_TIMEOUT: Parameter = Parameter {
    name: "flow_timeout",
    kind: Kind::Time,
    default: Some("1s"),
    about: "How long a controller remembers a flow in the LOW queue of which it sees no marked \
            packet.",
    source: "EPN 2018, IV-B: \"a long timeout\"",
};

pub(crate) const DSID: Parameter = Parameter {
    name: "dsid",
    kind: Kind::Flag,
    default: Some("true"),
    about: "Whether packets of a demoted flow name the switch that demoted it, so that other \
            switches ignore the flow. Otherwise two switches that disagree never settle.",
    source: "EPN 2018, IV-A",
};

const PARAMETERS: &[Parameter] =
    &[PROCESSING_DELAY, COUNTER_INTERVAL, COUNTER_READS, FLOW_TIMEOUT, DSID];

/// The parameters that all priority controllers share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpnSettings {
    processing_delay: Time,
    counter_interval: Time,
    counter_reads: u32,
    flow_timeout: Time,
    dsid: bool,
}

impl ControllerPart<()> for EpnSettings {
    const PART: Part = Part {
        role: Role::Controller,
        name: "epn",
        about: "EPN's switches: at each link, the flows with the best desired priorities fill the \
                HIGH queue, and all others wait in LOW; works only with the tagger \
                \"priority-mapper\".",
        source: "EPN 2018, III to V-B",
        parameters: &[PARAMETERS],
    };
    type Header = EpnHeader;
    type Hosts<T: Transport<Header = ()>> = Carrying<T, EpnHeader>;
    type Tagger = PriorityMapper;
    type Ports = Queued;
    type Controller = EpnController;

    /// # Errors
    /// If `counter_interval` is zero.
    fn build(settings: &Settings) -> Result<EpnSettings, SettingError> {
        let counter_interval = settings.time(&COUNTER_INTERVAL);
        if counter_interval == Time::ZERO {
            let found = counter_interval.to_string();
            return Err(SettingError::new(&COUNTER_INTERVAL, found, "more than no time"));
        }
        Ok(EpnSettings {
            processing_delay: settings.time(&PROCESSING_DELAY),
            counter_interval,
            counter_reads: settings.count(&COUNTER_READS) as u32,
            flow_timeout: settings.time(&FLOW_TIMEOUT),
            dsid: settings.flag(&DSID),
        })
    }

    fn hosts<T: Transport<Header = ()>>(&self, transport: T) -> Carrying<T, EpnHeader> {
        Carrying::new(transport)
    }

    fn controller(&self, site: Site) -> EpnController {
        EpnController::new(*self, site)
    }

    fn fluid(&self) -> Fluid<()> {
        Err(NoFluid {
            key: Role::Controller.key(),
            why: "its messages are packets",
            instead: "none",
        })
    }
}

/// The priority controller of one output link. The fields that every packet needs come first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct EpnController {
    table: FlowTable,
    /// When the controller acts next.
    deadline: Time,
    is_host: bool,
    link_br: Br,
    link_gbps: u32,
    settings: EpnSettings,
    /// Packets that the switch mirrored to the controller and that the controller has not handled
    /// yet.
    mirrored: VecDeque<Mirrored>,
    next_reading: Time,
}

/// What a controller needs of a mirrored packet.
#[derive(Clone, Copy, Debug)]
struct Mirrored {
    due: Time,
    flow: u32,
    header: EpnHeader,
}

impl EpnController {
    /// A controller that knows no flow.
    pub fn new(settings: EpnSettings, site: Site) -> EpnController {
        EpnController {
            table: FlowTable::default(),
            deadline: Time::MAX,
            is_host: site.is_host,
            link_br: Br::of_link(site.rate),
            link_gbps: whole_gbps(site.rate),
            settings,
            mirrored: VecDeque::new(),
            next_reading: Time::MAX,
        }
    }

    /// The flows that it knows.
    pub fn table(&self) -> &FlowTable {
        &self.table
    }

    /// Forgets all flows: "A priority controller fails and reboots, it forgets all its current flow
    /// information" (IV-B).
    pub fn restart(&mut self) {
        self.table = FlowTable::default();
        self.mirrored.clear();
        self.next_reading = Time::MAX;
        self.deadline = Time::MAX;
    }

    /// Computes when the controller acts next.
    fn plan(&mut self) {
        let due = self.mirrored.front().map_or(Time::MAX, |mirrored| mirrored.due);
        self.deadline = due.min(self.next_reading);
    }

    /// Runs Algorithm 1 for an S-marked packet.
    fn on_sampled(&mut self, now: Time, packet: Mirrored, mut send: impl FnMut(Packet<EpnHeader>)) {
        let Mirrored { flow, header, .. } = packet;
        let before = self.table.remove(flow);
        let is_elsewhere = header.dsid != 0 && header.dsid != header.ttl;
        let has_ended = header.dp == Dp::END;
        if is_elsewhere || has_ended {
            // Line 2, and FIN. Selecting anew lets the flow that comes next take the place at
            // once, as in VI-B, instead of with the next packet that happens to be mirrored.
            return self.select(now, send);
        }
        let (bytes, bytes_read) = before.map_or((0, 0), |entry| (entry.bytes, entry.bytes_read));
        let entry = Entry {
            flow,
            dp: header.dp,
            rate: header.br.gbps().min(self.link_gbps),
            br: header.br.min(self.link_br),
            switch: header.ttl,
            tp: header.tp,
            told_at: Time::MAX,
            seen_at: now,
            bytes,
            bytes_read,
            silent_readings: 0,
        };
        self.table.insert(entry);
        let mut is_told = false;
        self.select(now, |message| {
            is_told |= message.flow == flow;
            send(message);
        });
        // IV-A: "the switch will send an EPN notification to the source if the switch's output
        // link speed is smaller than the value in the EPN header". The flow's TP is what it was.
        if header.br > self.link_br && !is_told {
            send(message(&entry, self.settings.dsid));
        }
    }

    /// Runs lines 4 to 7 of Algorithm 1.
    fn select(&mut self, now: Time, mut send: impl FnMut(Packet<EpnHeader>)) {
        let has_dsid = self.settings.dsid;
        self.table.select(self.link_gbps, |entry| {
            entry.told_at = now;
            entry.silent_readings = 0;
            send(message(entry, has_dsid));
        });
        if self.next_reading == Time::MAX && !self.table.entries().is_empty() {
            self.next_reading = now + self.settings.counter_interval;
        }
    }

    /// Whether the next reading may find a flow dead if the counters stay as they are until then.
    fn may_find_a_flow_dead(&self) -> bool {
        let reads = self.settings.counter_reads;
        let may_be_dead =
            |entry: &Entry| entry.bytes == entry.bytes_read && entry.silent_readings + 1 >= reads;
        reads == 1 || self.table.entries().iter().any(may_be_dead)
    }

    /// IV-B: "the priority controller will read the counter periodically [...]. If the counter
    /// remains unchanged for several reads, the flow is detected as dead and removed from the
    /// list." A flow that was demoted and does not answer has no counter; its silence counts.
    fn read_counters(&mut self, now: Time, mut send: impl FnMut(Packet<EpnHeader>)) {
        let EpnSettings { counter_interval, counter_reads, flow_timeout, dsid, .. } = self.settings;
        self.table.retain(|entry, tp| {
            let is_alive = match tp {
                Tp::HIGH => entry.bytes != entry.bytes_read,
                _ => entry.told_at == Time::MAX,
            };
            entry.bytes_read = entry.bytes;
            entry.silent_readings = if is_alive { 0 } else { entry.silent_readings + 1 };
            let is_forgotten = tp == Tp::LOW && now - entry.seen_at >= flow_timeout;
            if is_forgotten || entry.silent_readings >= counter_reads {
                return false;
            }
            // The answer to a message is a marked packet. Without an answer, the message may have
            // been lost.
            if entry.told_at.saturating_add(counter_interval) <= now {
                send(message(entry, dsid));
            }
            true
        });
        self.next_reading = Time::MAX;
        self.select(now, send);
    }
}

/// "The EPN message is simply a copy of the packet headers (i.e., IP, EPN and TCP) with the new TP
/// tagged in the EPN header" (III); its DSID is the switch that sends it.
fn message(entry: &Entry, has_dsid: bool) -> Packet<EpnHeader> {
    Packet {
        flow: entry.flow,
        wire: (PACKET_HEADER as u32 + EpnHeader::WIRE_BYTES) as u16,
        priority: Tp::HIGH.queue(),
        header: EpnHeader {
            dp: entry.dp,
            tp: entry.tp,
            br: entry.br,
            dsid: if has_dsid { entry.switch } else { 0 },
            is_sampled: false.into(),
            ttl: INITIAL_TTL,
        },
        ..Packet::default()
    }
}

/// The part of a link's rate that the bottleneck rates of flows may fill, in Gbps. It is rounded
/// down, because bottleneck rates are rounded up, but is at least 1.
fn whole_gbps(rate: Rate) -> u32 {
    u32::try_from(rate.as_bps() / 1_000_000_000).unwrap_or(u32::MAX).max(1)
}

impl Controller<EpnHeader> for EpnController {
    const LOOKS_ONE_WAY: bool = true;

    #[inline]
    fn on_forward(
        &mut self,
        now: Time,
        packet: &mut Packet<EpnHeader>,
        _backlog: impl FnMut() -> Backlog,
        _send: impl FnMut(Packet<EpnHeader>),
    ) {
        if self.is_host || packet.flags.has(Flags::ACK.with(Flags::MESSAGE)) {
            return;
        }
        packet.header.ttl = packet.header.ttl.saturating_sub(1);
        self.table.count(packet.flow, u32::from(packet.wire));
        if packet.header.is_sampled.is_set() {
            let due = now + self.settings.processing_delay;
            self.mirrored.push_back(Mirrored { due, flow: packet.flow, header: packet.header });
            self.deadline = self.deadline.min(due);
        }
    }

    #[inline]
    fn on_return(&mut self, _now: Time, _packet: &mut Packet<EpnHeader>) {}

    #[inline]
    fn is_blind(&self) -> bool {
        self.is_host
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.deadline
    }

    fn on_timer(&mut self, now: Time, mut send: impl FnMut(Packet<EpnHeader>)) {
        while let Some(mirrored) = self.mirrored.front().copied()
            && mirrored.due <= now
        {
            self.mirrored.pop_front();
            self.on_sampled(now, mirrored, &mut send);
        }
        if self.next_reading <= now {
            self.read_counters(now, send);
        }
        self.plan();
    }

    /// Packets have an effect only after the processing delay. A reading depends on what is counted
    /// until then only if it may find a flow dead.
    fn settled_until(&self, now: Time) -> Time {
        if self.is_host {
            return Time::MAX;
        }
        let EpnSettings { processing_delay, counter_interval, .. } = self.settings;
        let known = now.saturating_add(processing_delay.min(counter_interval));
        let is_open = self.next_reading < known && self.may_find_a_flow_dead();
        if is_open { self.next_reading } else { known }
    }

    fn foresee(&self, until: Time, mut send: impl FnMut(Time, Packet<EpnHeader>)) {
        let mut later = self.clone();
        while later.deadline() < until {
            let now = later.deadline();
            later.on_timer(now, |message| send(now, message));
        }
    }
}

#[cfg(test)]
mod tests;
