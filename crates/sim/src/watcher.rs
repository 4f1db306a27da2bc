//! Looks at chosen ports and flows while a run is under way, at an interval or at every change.
//!
//! This module decides when to look and finds what is new since the last look. It does not know what a
//! port or a flow is. An engine is compiled with [`Watcher`] or with [`Nobody`], so a run without a
//! probe has nothing of this.

use std::collections::HashMap;
use std::ops::ControlFlow;

use flowsched_schemes::Packet;
use flowsched_schemes::packet::Header;
use flowsched_schemes::tagger::Tagging;
use flowsched_schemes::transport::Transport;
use flowsched_schemes::world::{Every, FlowState, PortSample, PortState, Probing, Seen};
use flowsched_units::Time;

use crate::fabric::{NOT_DATA, Observable};
use crate::hosts::Hosts;

/// What looks at a run.
pub(crate) trait Watching<T: Transport, G: Tagging<T::Header>, F> {
    /// Whether it looks at all. If it does, the engine handles one event at a time.
    const LOOKS: bool;

    /// A host sends a packet.
    fn note_sent(&mut self, packet: &Packet<T::Header>);

    /// Looks at the instants before `next`. Everything before `next` has happened, and nothing after.
    fn look_before(
        &mut self,
        next: Time,
        fabric: &mut F,
        hosts: &Hosts<'_, T, G>,
    ) -> ControlFlow<()>;
}

/// Looks at nothing.
pub(crate) struct Nobody;

impl<T: Transport, G: Tagging<T::Header>, F> Watching<T, G, F> for Nobody {
    const LOOKS: bool = false;

    #[inline(always)]
    fn note_sent(&mut self, _: &Packet<T::Header>) {}

    #[inline(always)]
    fn look_before(&mut self, _: Time, _: &mut F, _: &Hosts<'_, T, G>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// A probe, and what it saw last.
pub(crate) struct Watcher<'a> {
    probing: Probing<'a>,
    /// The state of each of the probe's ports when it was last seen.
    ports: Vec<Option<PortState>>,
    /// Each of the probe's flows.
    flows: Vec<WatchedFlow>,
    /// The place of each flow in `flows`.
    place_of: HashMap<u32, usize>,
    /// The first instant that was not looked at.
    unseen: Time,
    /// What was seen before the next event, to be sorted by time.
    rows: Vec<Seen>,
}

#[derive(Clone, Debug, Default)]
struct WatchedFlow {
    /// The priority of the last data packet.
    priority: Option<u8>,
    /// Bytes of all data packets sent, headers included.
    sent_bytes: u64,
    last: Option<(FlowState, u64)>,
}

impl<'a> Watcher<'a> {
    pub(crate) fn new(probing: Probing<'a>) -> Watcher<'a> {
        let probe = probing.probe;
        Watcher {
            ports: vec![None; probe.ports.len()],
            flows: vec![WatchedFlow::default(); probe.flows.len()],
            place_of: probe.flows.iter().enumerate().map(|(place, flow)| (*flow, place)).collect(),
            probing,
            unseen: Time::ZERO,
            rows: Vec::new(),
        }
    }

    /// Notes the state of all ports and flows at `now`, and their rates since the last look.
    fn look<T, G, H>(&mut self, now: Time, fabric: &mut impl Observable<H>, hosts: &Hosts<'_, T, G>)
    where
        T: Transport,
        G: Tagging<T::Header>,
        H: Header,
    {
        for (port, last) in self.probing.probe.ports.iter().zip(&mut self.ports) {
            let state = fabric.look(*port, now);
            self.rows.push(port_row(state, last.replace(state)));
        }
        for (flow, watched) in self.probing.probe.flows.iter().zip(&mut self.flows) {
            let state = watched.look(*flow, now, hosts);
            let before = std::mem::replace(&mut watched.last, state);
            if let Some((mut state, sent)) = state {
                let measured = || {
                    let (before, sent_before) = before?;
                    let seconds = (now - before.time).as_secs_f64();
                    Some(8.0 * (sent - sent_before) as f64 / seconds)
                };
                state.rate = state.rate.or_else(measured);
                self.rows.push(Seen::Flow(state));
            }
        }
    }

    /// Notes what the last event changed, at the time of that event, and each packet that leaves a port
    /// before `next`.
    fn look_for_changes<T, G, H>(
        &mut self,
        next: Time,
        fabric: &mut impl Observable<H>,
        hosts: &Hosts<'_, T, G>,
    ) where
        T: Transport,
        G: Tagging<T::Header>,
        H: Header,
    {
        for (flow, watched) in self.probing.probe.flows.iter().zip(&mut self.flows) {
            let state = watched.look(*flow, self.unseen, hosts);
            let last = std::mem::replace(&mut watched.last, state);
            if let Some((state, _)) = state
                && last.is_none_or(|(last, _)| last.has_changed(&state))
            {
                self.rows.push(Seen::Flow(state));
            }
        }
        for (port, last) in self.probing.probe.ports.iter().zip(&mut self.ports) {
            let mut at = self.unseen;
            while at < next {
                let state = fabric.look(*port, at);
                if last.is_none_or(|last| last.sample.has_changed(&state.sample)) {
                    self.rows.push(port_row(state, last.replace(state)));
                }
                at = fabric.next_departure(*port);
            }
        }
        self.rows.sort_by_key(time_of);
    }
}

impl<T, G, F> Watching<T, G, F> for Watcher<'_>
where
    T: Transport,
    G: Tagging<T::Header>,
    F: Observable<T::Header>,
{
    const LOOKS: bool = true;

    fn note_sent(&mut self, packet: &Packet<T::Header>) {
        if !packet.flags.has(NOT_DATA)
            && let Some(place) = self.place_of.get(&packet.flow)
        {
            let watched = &mut self.flows[*place];
            watched.priority = Some(packet.priority);
            watched.sent_bytes += u64::from(packet.wire);
        }
    }

    fn look_before(
        &mut self,
        next: Time,
        fabric: &mut F,
        hosts: &Hosts<'_, T, G>,
    ) -> ControlFlow<()> {
        while self.unseen < next {
            match self.probing.probe.every {
                Every::Interval(interval) => {
                    self.look(self.unseen, fabric, hosts);
                    self.unseen = self.unseen.saturating_add(interval);
                }
                Every::Change => {
                    self.look_for_changes(next, fabric, hosts);
                    self.unseen = next;
                }
            }
            self.rows.drain(..).try_for_each(&mut self.probing.seen)?;
        }
        ControlFlow::Continue(())
    }
}

impl WatchedFlow {
    /// The state of the flow at `now` and the bytes that it has sent; `None` if it is not under way.
    fn look<T: Transport, G: Tagging<T::Header>>(
        &self,
        flow: u32,
        now: Time,
        hosts: &Hosts<'_, T, G>,
    ) -> Option<(FlowState, u64)> {
        let sender = hosts.look(flow)?;
        let rate = sender.rate.map(|rate| rate.as_bps() as f64);
        let state = FlowState { time: now, flow, rate, sender, priority: self.priority };
        Some((state, self.sent_bytes))
    }
}

/// A port's row, with its rate since the last one.
fn port_row(state: PortState, last: Option<PortState>) -> Seen {
    let sent = |state: &PortState, before: &PortState| {
        let bytes = (state.sample.sent_bytes - before.sample.sent_bytes) as f64;
        8.0 * (bytes - state.unsent_bytes + before.unsent_bytes)
    };
    let rate = last.map(|last| {
        let seconds = (state.sample.time - last.sample.time).as_secs_f64();
        sent(&state, &last) / seconds
    });
    Seen::Port { sample: state.sample, rate }
}

fn time_of(seen: &Seen) -> Time {
    match seen {
        Seen::Port { sample: PortSample { time, .. }, .. } => *time,
        Seen::Flow(state) => state.time,
    }
}
