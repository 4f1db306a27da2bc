//! What hosts do: flows, their connections, and the packets that they send and receive.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;

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
use crate::passage::{AckAccount, DataAccount};
use crate::pool::{Pool, Taken};
use crate::shared::Shared;
use crate::slots::Slots;
use crate::team::{Cause, Team, Turn};
use crate::timers::{Armed, Side, Timers};

/// The hosts of a part of the network: which flows run, and what became of those that ended.
pub(crate) struct Hosts<'a, T: Transport, G: Tagging<T::Header>> {
    network: &'a Network,
    flows: &'a [Flow],
    transport: Arc<T>,
    tagger: Arc<G>,
    seed: u64,
    team: Team<'a>,
    senders: Slots<SendingEnd<T, G::Flow>>,
    receivers: Slots<ReceivingEnd<T>>,
    pools: Pools<T::Connection, G::Flow>,
    /// What the ends in this part know of each flow.
    pub(crate) outcomes: Vec<FlowOutcome>,
    connections: Connections,
    /// What each host remembers beyond its flows, and its timer.
    states: Vec<(T::Host, Armed)>,
    pub(crate) timers: Timers<(u32, Side)>,
    /// The number of flows that have ended since this was last set to zero.
    pub(crate) ended: u64,
    /// Bytes of the probes sent, headers included.
    pub(crate) probes: Bytes,
}

/// The connections of each pair of sender and receiver, each with what the tagger knows of it.
type Pools<C, F> = HashMap<(HostId, HostId), Pool<(C, F)>>;

/// A packet with one of these flags opens or ends a flow. It is not counted as a probe, although it may
/// carry the flag of one.
const NO_PROBE: Flags = Flags::SYN.with(Flags::TERM);

/// The sender of a flow under way.
struct SendingEnd<T: Transport, F> {
    sender: T::Sender,
    armed: Armed,
    tagger_flow: F,
    src: HostId,
    dst: HostId,
    connection: u32,
    account: AckAccount,
}

/// The receiver of a flow under way.
struct ReceivingEnd<T: Transport> {
    receiver: T::Receiver,
    armed: Armed,
    src: HostId,
    dst: HostId,
    is_delivered: bool,
    account: DataAccount,
}

impl<'a, T: Transport, G: Tagging<T::Header>> Hosts<'a, T, G> {
    pub(crate) fn new<P, C>(
        job: &Job<'a>,
        parts: &Shared<T, G, P, C>,
        connections: Connections,
        team: Team<'a>,
    ) -> Hosts<'a, T, G> {
        let (flows, network) = (job.flows, job.network);
        let (transport, tagger) = (Arc::clone(&parts.transport), Arc::clone(&parts.tagger));
        let state = |host| transport.host(network.port(network.nic(host)).rate);
        let states = network.hosts().map(|host| (state(host), Armed::default())).collect();
        Hosts {
            network: job.network,
            flows,
            transport,
            tagger,
            seed: mix(job.seed),
            team,
            senders: Slots::new(flows.len()),
            receivers: Slots::new(flows.len()),
            pools: HashMap::new(),
            outcomes: vec![FlowOutcome::default(); flows.len()],
            connections,
            states,
            timers: Timers::default(),
            ended: 0,
            probes: Bytes::ZERO,
        }
    }

    /// Starts a flow that has an end in this part. The packets that it sends at once go to `send`.
    /// Returns whether its sender is in this part.
    pub(crate) fn start(
        &mut self,
        id: u32,
        now: Time,
        send: impl FnMut(HostId, Packet<T::Header>),
    ) -> bool {
        let flow = self.flows[id as usize];
        let Flow { src, dst, .. } = flow;
        if self.team.has(dst) {
            let receiver = self.transport.receiver(flow.size);
            let (armed, account) = (Armed::default(), DataAccount::default());
            let is_delivered = false;
            let end = ReceivingEnd { receiver, armed, src, dst, is_delivered, account };
            self.receivers.insert(id, end);
        }
        let is_sender_here = self.team.has(src);
        if is_sender_here {
            self.start_sender(id, &flow, now);
            self.act(id, now, || Cause::Start(id), |_, _, _| (), send);
        }
        is_sender_here
    }

    fn start_sender(&mut self, id: u32, flow: &Flow, now: Time) {
        let (connection, mut tagger_flow, number) = self.take_connection(flow);
        let rate = self.network.port(self.network.nic(flow.src)).rate;
        let random = mix(self.seed ^ (u64::from(id) << 32));
        let Flow { src, dst, size, deadline, application_rate, .. } = *flow;
        let start = Start { flow: id, now, size, deadline, application_rate, rate, random };
        self.tagger.start_flow(&mut tagger_flow, &start);
        self.outcomes[id as usize].connection = number;
        self.connections.note(id, ConnectionId { from: src.0, to: dst.0, number });
        let end = SendingEnd {
            sender: self.transport.sender(&start, connection),
            armed: Armed::default(),
            tagger_flow,
            src,
            dst,
            connection: number,
            account: AckAccount::default(),
        };
        self.senders.insert(id, end);
    }

    /// Takes a connection for the flow. Returns the connection, what the tagger knows of it, and its
    /// number.
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

    /// Loads the state that this packet needs when it arrives, so that the state is in the cache by
    /// then.
    #[inline]
    pub(crate) fn expect(&self, packet: &Packet<T::Header>) {
        if packet.flags.has(Flags::ACK) {
            if let Some(end) = self.senders.get(packet.flow) {
                black_box((end.src, end.armed));
            }
        } else if let Some(end) = self.receivers.get(packet.flow) {
            black_box(end.src);
        }
    }

    /// Handles a packet that arrives at its host. The packets that the host sends then go to `send`.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        packet: &Packet<T::Header>,
        now: Time,
        send: impl FnMut(HostId, Packet<T::Header>),
    ) {
        if packet.flags.has(Flags::ACK) {
            self.receive_ack(packet, now, send);
        } else if packet.flags.has(Flags::MESSAGE) {
            if let Some(end) = self.senders.get_mut(packet.flow) {
                self.tagger.on_message(&mut end.tagger_flow, packet);
            }
        } else {
            self.receive_data(packet, now, send);
        }
    }

    #[inline(never)]
    fn receive_ack(
        &mut self,
        packet: &Packet<T::Header>,
        now: Time,
        send: impl FnMut(HostId, Packet<T::Header>),
    ) {
        let network = self.network;
        let cause = || Cause::Arrival(network.port_to(HostId(packet.to)));
        let on_ack = |transport: &T, end: &mut SendingEnd<T, G::Flow>, host: &mut T::Host| {
            end.account.note(packet);
            end.sender.on_ack(transport, host, now, packet);
        };
        self.act_now(packet.flow, now, cause, on_ack, send);
    }

    #[inline(always)]
    fn receive_data(
        &mut self,
        packet: &Packet<T::Header>,
        now: Time,
        mut send: impl FnMut(HostId, Packet<T::Header>),
    ) {
        let Some(end) = self.receivers.get_mut(packet.flow) else { return };
        let ReceivingEnd { src, dst, .. } = *end;
        if end.is_delivered && !self.team.has(src) {
            let cause = Cause::Arrival(self.network.port_to(dst));
            if self.team.has_ended(packet.flow, src, Turn { at: now, cause }) {
                return;
            }
        }
        end.account.note(packet);
        let (flows, tagger) = (self.flows, &*self.tagger);
        let (host, host_armed) = &mut self.states[dst.index()];
        end.receiver.on_data(
            &self.transport,
            host,
            now,
            packet,
            #[inline(always)]
            |answer| {
                // Nearly all answers are to the sender of the packet.
                let is_own = answer.flow == packet.flow;
                let to = if is_own { src } else { flows[answer.flow as usize].src };
                send(dst, address(answer, to, tagger));
            },
        );
        if end.receiver.is_delivered() && !end.is_delivered {
            end.is_delivered = true;
            self.outcomes[packet.flow as usize].finished_at_receiver = Some(now);
        }
        let deadline = end.receiver.deadline();
        self.timers.arm(&mut end.armed, deadline, (packet.flow, Side::Receiver));
        if size_of::<T::Host>() > 0 {
            self.timers.arm(host_armed, host.deadline(), (dst.0, Side::Host));
        }
    }

    /// Handles the timer that runs out first. Returns false if the timer no longer concerned anybody.
    pub(crate) fn on_timer(
        &mut self,
        now: Time,
        send: impl FnMut(HostId, Packet<T::Header>),
    ) -> bool {
        let Some((time, (id, side))) = self.timers.pop() else { return false };
        match side {
            Side::Sender => self.on_sender_timer(time, id, now, send),
            Side::Receiver => self.on_receiver_timer(time, id, now, send),
            Side::Host => self.on_host_timer(time, id, now, send),
        }
    }

    fn on_sender_timer(
        &mut self,
        time: Time,
        id: u32,
        now: Time,
        send: impl FnMut(HostId, Packet<T::Header>),
    ) -> bool {
        let Some(end) = self.senders.get_mut(id) else { return false };
        let is_due = end.armed.disarm(time);
        if is_due {
            let on_timer = |transport: &T, end: &mut SendingEnd<T, G::Flow>, host: &mut T::Host| {
                end.sender.on_timer(transport, host, now);
            };
            self.act(id, now, || Cause::Timer(id, Side::Sender), on_timer, send);
        }
        is_due
    }

    fn on_receiver_timer(
        &mut self,
        time: Time,
        id: u32,
        now: Time,
        mut send: impl FnMut(HostId, Packet<T::Header>),
    ) -> bool {
        let Some(end) = self.receivers.get_mut(id) else { return false };
        let ReceivingEnd { src, dst, is_delivered, .. } = *end;
        if !end.armed.disarm(time) {
            return false;
        }
        let turn = Turn { at: now, cause: Cause::Timer(id, Side::Receiver) };
        if is_delivered && !self.team.has(src) && self.team.has_ended(id, src, turn) {
            return false;
        }
        let (flows, tagger) = (self.flows, &*self.tagger);
        let (host, host_armed) = &mut self.states[dst.index()];
        end.receiver.on_timer(&self.transport, host, now, |answer| {
            send(dst, address(answer, flows[answer.flow as usize].src, tagger));
        });
        self.timers.arm(&mut end.armed, end.receiver.deadline(), (id, Side::Receiver));
        self.timers.arm(host_armed, host.deadline(), (dst.0, Side::Host));
        true
    }

    fn on_host_timer(
        &mut self,
        time: Time,
        id: u32,
        now: Time,
        mut send: impl FnMut(HostId, Packet<T::Header>),
    ) -> bool {
        let (host, armed) = &mut self.states[id as usize];
        if !armed.disarm(time) {
            return false;
        }
        let is_due = host.deadline() <= now;
        if is_due {
            let (flows, tagger) = (self.flows, &*self.tagger);
            host.on_timer(&self.transport, now, |answer| {
                send(HostId(id), address(answer, flows[answer.flow as usize].src, tagger));
            });
            self.send_next(id, now, &mut send);
        }
        let (host, armed) = &mut self.states[id as usize];
        self.timers.arm(armed, host.deadline(), (id, Side::Host));
        is_due
    }

    /// Lets the host name one sender after another, and sends what these may send now.
    fn send_next(&mut self, host: u32, now: Time, mut send: impl FnMut(HostId, Packet<T::Header>)) {
        while let Some(flow) = self.states[host as usize].0.next_sender(&self.transport, now) {
            let cause = || Cause::Timer(host, Side::Host);
            self.act(flow, now, cause, |_, _, _| (), &mut send);
        }
    }

    /// Calls `happens` for a flow's sender, which then sends what it may send now. Ends the flow if all
    /// is acknowledged or the sender gives up. Does nothing if the flow has ended.
    #[inline(never)]
    fn act(
        &mut self,
        id: u32,
        now: Time,
        cause: impl FnOnce() -> Cause,
        happens: impl FnOnce(&T, &mut SendingEnd<T, G::Flow>, &mut T::Host),
        send: impl FnMut(HostId, Packet<T::Header>),
    ) {
        self.act_now(id, now, cause, happens, send);
    }

    /// Does what `act` does, inlined for the arrival of ACKs.
    #[inline(always)]
    fn act_now(
        &mut self,
        id: u32,
        now: Time,
        cause: impl FnOnce() -> Cause,
        happens: impl FnOnce(&T, &mut SendingEnd<T, G::Flow>, &mut T::Host),
        mut send: impl FnMut(HostId, Packet<T::Header>),
    ) {
        let Some(end) = self.senders.get_mut(id) else { return };
        let (host, host_armed) = &mut self.states[end.src.index()];
        happens(&self.transport, end, host);
        let SendingEnd { sender, tagger_flow, src, dst, .. } = &mut *end;
        sender.send_all(
            &self.transport,
            host,
            now,
            #[inline(always)]
            |outgoing| {
                let packet = tagged(id, *dst, &outgoing, now, &*self.tagger, tagger_flow);
                if packet.flags.has(Flags::PROBE) & !packet.flags.has(NO_PROBE) {
                    self.probes += Bytes::new(packet.wire.into());
                }
                send(*src, packet);
            },
        );
        if size_of::<T::Host>() > 0 {
            self.timers.arm(host_armed, host.deadline(), (end.src.0, Side::Host));
        }
        match end.sender.phase() {
            Phase::Sending => {
                self.timers.arm(&mut end.armed, end.sender.deadline(), (id, Side::Sender));
            }
            phase => self.end(id, phase, Turn { at: now, cause: cause() }),
        }
    }

    /// Ends the flow's sender in this phase, and its receiver in whichever part that is.
    #[inline(never)]
    fn end(&mut self, id: u32, phase: Phase, turn: Turn) {
        let Some(end) = self.senders.get_mut(id) else { return };
        let outcome = &mut self.outcomes[id as usize];
        match phase {
            Phase::Sending => {}
            Phase::Acknowledged => outcome.finished_at_sender = Some(turn.at),
            Phase::GaveUp => outcome.gave_up = Some(turn.at),
        }
        let (src, dst) = (end.src, end.dst);
        close_sender(outcome, end);
        if self.transport.open_connections() > 0 {
            let connection = end.sender.finish(turn.at);
            if let Some(pool) = self.pools.get_mut(&(src, dst)) {
                pool.give_back(end.connection, turn.at, (connection, end.tagger_flow));
            }
        }
        self.senders.remove(id);
        self.ended += 1;
        if self.team.has(dst) {
            self.end_receiver(id);
        } else {
            self.team.tell_ending(id, dst, turn);
        }
        self.rest();
    }

    /// Ends the receivers whose senders ended in other parts before the last meeting.
    pub(crate) fn hear_endings(&mut self) {
        let team = self.team;
        team.hear_endings(|flow| self.end_receiver(flow));
        self.rest();
    }

    fn end_receiver(&mut self, id: u32) {
        if let Some(end) = self.receivers.remove(id) {
            end.account.close(&mut self.outcomes[id as usize].passage);
        }
    }

    /// Removes the timers of flows if no flow is under way.
    fn rest(&mut self) {
        if self.senders.is_empty() && self.receivers.is_empty() {
            self.timers.retain(|(_, side)| *side == Side::Host);
        }
    }

    /// What a probe sees of a flow's sender; `None` if the flow is not under way.
    pub(crate) fn look(&self, flow: u32) -> Option<SenderState> {
        Some(self.senders.get(flow)?.sender.state())
    }

    /// Notes the results so far of flows that have not ended.
    pub(crate) fn close(&mut self) {
        for (id, end) in self.senders.iter() {
            close_sender(&mut self.outcomes[id as usize], end);
        }
        for (id, end) in self.receivers.iter() {
            end.account.close(&mut self.outcomes[id as usize].passage);
        }
    }
}

/// Notes the results of a flow's sender.
fn close_sender<T: Transport, F>(outcome: &mut FlowOutcome, end: &SendingEnd<T, F>) {
    outcome.retransmissions = end.sender.retransmissions();
    outcome.timeouts = end.sender.timeouts();
    end.account.close(&mut outcome.passage);
}

/// Makes the packet that a sender sends, with its address and its tag.
#[inline(always)]
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
