//! What hosts do: flows, their connections, and the packets that they send and receive.

use std::collections::HashMap;

use flowsched_schemes::Packet;
use flowsched_schemes::packet::{Flags, Header};
use flowsched_schemes::port::{ConnectionId, Connections};
use flowsched_schemes::tagger::{Departure, Tagging};
use flowsched_schemes::transport::{
    Hosting, Outgoing, Phase, Receiving, Sending, Start, Transport,
};
use flowsched_schemes::world::{FlowOutcome, SenderState};
use flowsched_topology::{HostId, Network, mix};
use flowsched_units::{Bytes, PACKET_HEADER, PACKET_WIRE, Time};
use flowsched_workload::Flow;

use crate::job::Job;
use crate::passage::Account;
use crate::pool::{Pool, Taken};
use crate::timers::{Armed, Side, Timers};

/// All hosts: which flows run, and what became of those that ended.
pub(crate) struct Hosts<'a, T: Transport, G: Tagging<T::Header>> {
    network: &'a Network,
    flows: &'a [Flow],
    transport: T,
    tagger: G,
    seed: u64,
    /// By flow: its place in `running`, or [`ABSENT`].
    place_of: Vec<u32>,
    running: Vec<Running<T, G::Flow>>,
    /// Places in `running` that ended flows left.
    free: Vec<u32>,
    pools: Pools<T::Connection, G::Flow>,
    pub(crate) outcomes: Vec<FlowOutcome>,
    connections: Connections,
    /// What hosts remember beyond their flows, and their timers.
    states: Vec<(T::Host, Armed)>,
    pub(crate) timers: Timers<(u32, Side)>,
    /// Flows that ended since this was last set to zero.
    pub(crate) ended: u64,
    /// Probes sent, headers included.
    pub(crate) probes: Bytes,
}

/// By sender and receiver: their connections, each with what the tagger knows of it.
type Pools<C, F> = HashMap<(HostId, HostId), Pool<(C, F)>>;

/// What a probe is not: it carries the flag of one, but opens or ends a flow.
const NO_PROBE: Flags = Flags::SYN.with(Flags::TERM);

const ABSENT: u32 = u32::MAX;

/// A flow under way, both its ends.
struct Running<T: Transport, F> {
    sender: T::Sender,
    sender_armed: Armed,
    tagger_flow: F,
    src: HostId,
    dst: HostId,
    connection: u32,
    receiver: T::Receiver,
    receiver_armed: Armed,
    is_delivered: bool,
    account: Account,
}

impl<'a, T: Transport, G: Tagging<T::Header>> Hosts<'a, T, G> {
    pub(crate) fn new(
        job: &Job<'a>,
        transport: T,
        tagger: G,
        connections: Connections,
    ) -> Hosts<'a, T, G> {
        let (flows, network) = (job.flows, job.network);
        let state = |host| transport.host(network.port(network.nic(host)).rate);
        let states = network.hosts().map(|host| (state(host), Armed::default())).collect();
        Hosts {
            network: job.network,
            flows,
            transport,
            tagger,
            seed: mix(job.seed),
            place_of: vec![ABSENT; flows.len()],
            running: Vec::new(),
            free: Vec::new(),
            pools: HashMap::new(),
            outcomes: vec![FlowOutcome::default(); flows.len()],
            connections,
            states,
            timers: Timers::default(),
            ended: 0,
            probes: Bytes::ZERO,
        }
    }

    /// A flow starts; what it sends at once goes to `send`.
    pub(crate) fn start(
        &mut self,
        id: u32,
        now: Time,
        send: impl FnMut(HostId, Packet<T::Header>),
    ) {
        let flow = self.flows[id as usize];
        let (connection, mut tagger_flow, number) = self.take_connection(&flow);
        let rate = self.network.port(self.network.nic(flow.src)).rate;
        let random = mix(self.seed ^ (u64::from(id) << 32));
        let Flow { size, deadline, application_rate, .. } = flow;
        let start = Start { flow: id, now, size, deadline, application_rate, rate, random };
        self.tagger.start_flow(&mut tagger_flow, &start);
        let running = Running {
            sender: self.transport.sender(&start, connection),
            sender_armed: Armed::default(),
            tagger_flow,
            src: flow.src,
            dst: flow.dst,
            connection: number,
            receiver: self.transport.receiver(flow.size),
            receiver_armed: Armed::default(),
            is_delivered: false,
            account: Account::default(),
        };
        let place = match self.free.pop() {
            Some(place) => {
                self.running[place as usize] = running;
                place
            }
            None => {
                self.running.push(running);
                self.running.len() as u32 - 1
            }
        };
        self.place_of[id as usize] = place;
        self.outcomes[id as usize].connection = number;
        self.connections.note(id, ConnectionId { from: flow.src.0, to: flow.dst.0, number });
        self.pump(id, place, now, send);
    }

    /// A connection of the pair, what the tagger knows of it, and its number.
    fn take_connection(&mut self, flow: &Flow) -> (T::Connection, G::Flow, u32) {
        let (network, transport) = (self.network, &self.transport);
        let open = transport.open_connections();
        if open == 0 {
            return (transport.new_connection(), G::Flow::default(), 0);
        }
        let pool = self.pools.entry((flow.src, flow.dst)).or_insert_with(|| {
            let (data, ack) = (Bytes::new(PACKET_WIRE), Bytes::new(PACKET_HEADER));
            Pool::new(open, network.base_rtt(flow.src, flow.dst, data, ack))
        });
        match pool.take() {
            Taken::Used(number, (connection, tagger_flow)) => (connection, tagger_flow, number),
            Taken::Unused(number, round_trip) => {
                (transport.open_connection(round_trip), G::Flow::default(), number)
            }
            Taken::New(number) => (transport.new_connection(), G::Flow::default(), number),
        }
    }

    /// A packet arrives at the host that it was for.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        packet: &Packet<T::Header>,
        now: Time,
        send: impl FnMut(HostId, Packet<T::Header>),
    ) {
        let place = self.place_of[packet.flow as usize];
        if place == ABSENT {
            // A late copy: its flow has ended at both ends.
            return;
        }
        if packet.flags.has(Flags::ACK) {
            let running = &mut self.running[place as usize];
            running.account.on_ack(packet);
            let (host, _) = &mut self.states[running.src.index()];
            running.sender.on_ack(&self.transport, host, now, packet);
            self.pump_now(packet.flow, place, now, send);
        } else if packet.flags.has(Flags::MESSAGE) {
            self.tagger.on_message(&mut self.running[place as usize].tagger_flow, packet);
        } else {
            self.receive_data(place, packet, now, send);
        }
    }

    #[inline]
    fn receive_data(
        &mut self,
        place: u32,
        packet: &Packet<T::Header>,
        now: Time,
        mut send: impl FnMut(HostId, Packet<T::Header>),
    ) {
        let running = &mut self.running[place as usize];
        running.account.on_data(packet);
        let Running { src, dst, .. } = *running;
        let (flows, tagger) = (self.flows, &self.tagger);
        let (host, host_armed) = &mut self.states[dst.index()];
        running.receiver.on_data(&self.transport, host, now, packet, |answer| {
            // Nearly all answers are to the sender of the packet.
            let is_own = answer.flow == packet.flow;
            let to = if is_own { src } else { flows[answer.flow as usize].src };
            send(dst, address(answer, to, tagger));
        });
        if !running.is_delivered && running.receiver.is_delivered() {
            running.is_delivered = true;
            self.outcomes[packet.flow as usize].finished_at_receiver = Some(now);
        }
        let deadline = running.receiver.deadline();
        self.timers.arm(&mut running.receiver_armed, deadline, (packet.flow, Side::Receiver));
        if size_of::<T::Host>() > 0 {
            self.timers.arm(host_armed, host.deadline(), (dst.0, Side::Host));
        }
    }

    /// The first timer runs out.
    pub(crate) fn on_timer(&mut self, now: Time, send: impl FnMut(HostId, Packet<T::Header>)) {
        let Some((time, (id, side))) = self.timers.pop() else { return };
        if side == Side::Host {
            return self.on_host_timer(time, id, now, send);
        }
        let place = self.place_of[id as usize];
        if place == ABSENT {
            return;
        }
        let running = &mut self.running[place as usize];
        if side == Side::Receiver {
            if running.receiver_armed.disarm(time) {
                self.on_receiver_timer(id, place, now, send);
            }
        } else if running.sender_armed.disarm(time) {
            let (host, _) = &mut self.states[running.src.index()];
            running.sender.on_timer(&self.transport, host, now);
            self.pump(id, place, now, send);
        }
    }

    fn on_receiver_timer(
        &mut self,
        id: u32,
        place: u32,
        now: Time,
        mut send: impl FnMut(HostId, Packet<T::Header>),
    ) {
        let running = &mut self.running[place as usize];
        let (dst, flows, tagger) = (running.dst, self.flows, &self.tagger);
        let (host, host_armed) = &mut self.states[dst.index()];
        running.receiver.on_timer(&self.transport, host, now, |answer| {
            send(dst, address(answer, flows[answer.flow as usize].src, tagger));
        });
        let deadline = running.receiver.deadline();
        self.timers.arm(&mut running.receiver_armed, deadline, (id, Side::Receiver));
        self.timers.arm(host_armed, host.deadline(), (dst.0, Side::Host));
    }

    fn on_host_timer(
        &mut self,
        time: Time,
        id: u32,
        now: Time,
        mut send: impl FnMut(HostId, Packet<T::Header>),
    ) {
        let (host, armed) = &mut self.states[id as usize];
        if !armed.disarm(time) {
            return;
        }
        let (flows, tagger) = (self.flows, &self.tagger);
        host.on_timer(&self.transport, now, |answer| {
            send(HostId(id), address(answer, flows[answer.flow as usize].src, tagger));
        });
        while let Some(flow) = self.states[id as usize].0.next_sender(&self.transport, now) {
            let place = self.place_of[flow as usize];
            if place != ABSENT {
                self.pump(flow, place, now, &mut send);
            }
        }
        let (host, armed) = &mut self.states[id as usize];
        self.timers.arm(armed, host.deadline(), (id, Side::Host));
    }

    /// Sends what the sender may send now, and ends the flow if all is acknowledged or the flow
    /// is given up.
    #[inline(never)]
    fn pump(
        &mut self,
        id: u32,
        place: u32,
        now: Time,
        send: impl FnMut(HostId, Packet<T::Header>),
    ) {
        self.pump_now(id, place, now, send);
    }

    /// The same, in line where ACKs arrive.
    #[inline(always)]
    fn pump_now(
        &mut self,
        id: u32,
        place: u32,
        now: Time,
        mut send: impl FnMut(HostId, Packet<T::Header>),
    ) {
        let running = &mut self.running[place as usize];
        let (host, host_armed) = &mut self.states[running.src.index()];
        while let Some(outgoing) = running.sender.poll(&self.transport, host, now) {
            let flow = &mut running.tagger_flow;
            let packet = tagged(id, running.dst, &outgoing, now, &self.tagger, flow);
            if packet.flags.has(Flags::PROBE) & !packet.flags.has(NO_PROBE) {
                self.probes += Bytes::new(packet.wire.into());
            }
            send(running.src, packet);
        }
        if size_of::<T::Host>() > 0 {
            self.timers.arm(host_armed, host.deadline(), (running.src.0, Side::Host));
        }
        match running.sender.phase() {
            Phase::Sending => {
                let deadline = running.sender.deadline();
                self.timers.arm(&mut running.sender_armed, deadline, (id, Side::Sender));
            }
            Phase::Acknowledged => {
                self.outcomes[id as usize].finished_at_sender = Some(now);
                self.end(id, place, now);
            }
            Phase::GaveUp => {
                self.outcomes[id as usize].gave_up = Some(now);
                self.end(id, place, now);
            }
        }
    }

    fn end(&mut self, id: u32, place: u32, now: Time) {
        let running = &mut self.running[place as usize];
        let outcome = &mut self.outcomes[id as usize];
        outcome.retransmissions = running.sender.retransmissions();
        outcome.timeouts = running.sender.timeouts();
        outcome.passage = running.account.passage;
        if self.transport.open_connections() > 0 {
            let connection = running.sender.finish(now);
            if let Some(pool) = self.pools.get_mut(&(running.src, running.dst)) {
                pool.give_back(running.connection, now, (connection, running.tagger_flow));
            }
        }
        self.place_of[id as usize] = ABSENT;
        self.free.push(place);
        self.ended += 1;
        if self.free.len() == self.running.len() {
            // No flow is left to whom a timer could mean anything; hosts keep theirs.
            self.timers.clear();
            if size_of::<T::Host>() > 0 {
                self.arm_hosts();
            }
        }
    }

    fn arm_hosts(&mut self) {
        for (id, (host, armed)) in self.states.iter_mut().enumerate() {
            *armed = Armed::default();
            self.timers.arm(armed, host.deadline(), (id as u32, Side::Host));
        }
    }

    /// What a probe sees of a flow's sender; `None` if the flow is not under way.
    pub(crate) fn look(&self, flow: u32) -> Option<SenderState> {
        let place = *self.place_of.get(flow as usize)?;
        Some(self.running.get(place as usize)?.sender.state())
    }

    /// Notes what flows that have not ended did so far.
    pub(crate) fn close(&mut self) {
        for (id, place) in self.place_of.iter().enumerate().filter(|(_, place)| **place != ABSENT) {
            let Running { sender, account, .. } = &self.running[*place as usize];
            self.outcomes[id].passage = account.passage;
            self.outcomes[id].retransmissions = sender.retransmissions();
            self.outcomes[id].timeouts = sender.timeouts();
        }
    }
}

#[inline]
fn tagged<H: Header, G: Tagging<H>>(
    id: u32,
    dst: HostId,
    outgoing: &Outgoing<H>,
    now: Time,
    tagger: &G,
    tagger_flow: &mut G::Flow,
) -> Packet<H> {
    let departure = Departure {
        now,
        offset: outgoing.offset,
        payload: outgoing.payload,
        idle: outgoing.idle,
        timeouts_in_a_row: outgoing.timeouts_in_a_row,
    };
    let wire = (outgoing.payload + PACKET_HEADER as u32 + H::WIRE_BYTES) as u16;
    let mut packet = Packet::data(id, dst.0, outgoing.seq, wire, outgoing.flags);
    packet.header = outgoing.header;
    tagger.tag(tagger_flow, &departure, &outgoing.work, &mut packet);
    packet
}

/// Puts address and priority on an ACK.
#[inline]
fn address<H: Header>(mut ack: Packet<H>, to: HostId, tagger: &impl Tagging<H>) -> Packet<H> {
    ack.to = to.0;
    ack.priority = tagger.ack_priority(ack.priority);
    ack
}
