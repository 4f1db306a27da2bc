//! Hosts without a network, for worlds that bring packets from host to host themselves.
//!
//! Senders, receivers and timers are those of a simulation. The caller takes the packets that hosts
//! send, and brings those that arrive. The caller also sets the time, which never goes back.

use flowsched_schemes::Packet;
use flowsched_schemes::port::Connections;
use flowsched_schemes::tagger::Tagging;
use flowsched_schemes::transport::Transport;
use flowsched_schemes::world::{FlowOutcome, Parts};
use flowsched_topology::HostId;
use flowsched_units::Time;

use crate::hosts::Hosts;
use crate::job::Job;
use crate::shared::shared;
use crate::team::Team;

/// All hosts of a job.
pub struct Ends<'a, T: Transport, G: Tagging<T::Header>> {
    hosts: Hosts<'a, T, G>,
}

impl<T: Transport, G: Tagging<T::Header>> std::fmt::Debug for Ends<'_, T, G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ends")
    }
}

impl<'a, T: Transport, G: Tagging<T::Header>> Ends<'a, T, G> {
    /// The job's hosts, before any flow has started.
    pub fn new(job: &Job<'a>, transport: T, tagger: G) -> Ends<'a, T, G> {
        let connections = Connections::new(job.flows.len());
        let parts = shared(job, Parts { transport, tagger, ports: (), controllers: () });
        Ends { hosts: Hosts::new(job, &parts, connections, Team::alone()) }
    }

    /// Starts a flow of the job. The packets that its sender sends at once go to `send`.
    pub fn start(&mut self, flow: u32, now: Time, send: impl FnMut(HostId, Packet<T::Header>)) {
        self.hosts.start(flow, now, send);
    }

    /// Handles a packet of one of the job's flows that arrives: data at the flow's receiver, anything
    /// else at its sender.
    pub fn receive(
        &mut self,
        packet: &Packet<T::Header>,
        now: Time,
        send: impl FnMut(HostId, Packet<T::Header>),
    ) {
        self.hosts.receive(packet, now, send);
    }

    /// When [`Ends::on_timer`] is due: [`Time::MAX`] if it is not before something else happens.
    pub fn deadline(&self) -> Time {
        self.hosts.timers.first()
    }

    /// Handles the timer that runs out first.
    pub fn on_timer(&mut self, now: Time, send: impl FnMut(HostId, Packet<T::Header>)) {
        self.hosts.on_timer(now, send);
    }

    /// The number of flows that have ended since the last call.
    pub fn take_ended(&mut self) -> u64 {
        std::mem::take(&mut self.hosts.ended)
    }

    /// The outcomes of all flows, including those that have not ended.
    pub fn into_outcomes(mut self) -> Vec<FlowOutcome> {
        self.hosts.close();
        self.hosts.outcomes
    }
}
