//! Ports that keep an account of every byte, independently of the engine's.

use std::cell::RefCell;
use std::rc::Rc;

use flowsched_schemes::packet::{Flags, Frame, Header};
use flowsched_schemes::port::{Backlog, Port};
use flowsched_schemes::{Packet, Scheme};
use flowsched_sim::{Job, Outcome, Progress};
use flowsched_topology::{HostId, Network};

/// What passed one port, in bytes on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    pub came: u64,
    pub left: u64,
    pub dropped: u64,
    pub drops: u64,
    pub waiting: u64,
    /// The most bytes that ever waited.
    pub most: u64,
    /// Data packets that came, probes and SYNs aside.
    pub data_packets: u64,
    /// Packets that came marked, and that left marked.
    pub came_marked: u64,
    pub left_marked: u64,
}

/// The accounts of all ports of a run, in the network's order.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    accounts: Rc<RefCell<Vec<Account>>>,
    /// For each port, the ports of its node.
    siblings: Rc<Vec<Vec<usize>>>,
}

impl Ledger {
    pub fn new(network: &Network) -> Ledger {
        let of = |owner| network.ports_of(owner).iter().map(|port| port.index()).collect();
        let siblings = network.ports().iter().map(|port| of(port.owner)).collect();
        Ledger { accounts: Rc::default(), siblings: Rc::new(siblings) }
    }

    /// Keeps the account of `port`, which is the next one in the network's order.
    pub fn port<P>(&self, port: P) -> Accounted<P> {
        let mut accounts = self.accounts.borrow_mut();
        accounts.push(Account::default());
        Accounted { port, index: accounts.len() - 1, ledger: self.clone() }
    }

    pub fn account(&self, port: usize) -> Account {
        self.accounts.borrow()[port]
    }

    /// Bytes that wait in the other ports of the same node.
    fn elsewhere(&self, port: usize) -> u64 {
        let accounts = self.accounts.borrow();
        let others = self.siblings[port].iter().filter(|other| **other != port);
        others.map(|other| accounts[*other].waiting).sum()
    }
}

/// A port whose account is kept.
pub struct Accounted<P> {
    port: P,
    index: usize,
    ledger: Ledger,
}

impl<H: Header, P: Port<Packet<H>>> Port<Packet<H>> for Accounted<P> {
    fn enqueue(&mut self, packet: Packet<H>, elsewhere: u64, mut dropped: impl FnMut(Packet<H>)) {
        if self.shares_memory() {
            assert_eq!(elsewhere, self.ledger.elsewhere(self.index), "what waits elsewhere");
        }
        let mut account = self.ledger.account(self.index);
        let bytes = u64::from(packet.wire_bytes());
        account.came += bytes;
        account.waiting += bytes;
        let special = Flags::ACK.with(Flags::SYN).with(Flags::PROBE);
        account.data_packets += u64::from(!packet.flags.has(special));
        account.came_marked += u64::from(packet.flags.has(Flags::CE));
        self.port.enqueue(packet, elsewhere, |packet: Packet<H>| {
            let bytes = u64::from(packet.wire_bytes());
            account.dropped += bytes;
            account.drops += 1;
            account.waiting -= bytes;
            dropped(packet);
        });
        account.most = account.most.max(account.waiting);
        self.ledger.accounts.borrow_mut()[self.index] = account;
    }

    fn dequeue(&mut self) -> Option<Packet<H>> {
        let packet = self.port.dequeue()?;
        let account = &mut self.ledger.accounts.borrow_mut()[self.index];
        let bytes = u64::from(packet.wire_bytes());
        account.left += bytes;
        account.waiting -= bytes;
        account.left_marked += u64::from(packet.flags.has(Flags::CE));
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.port.backlog()
    }

    fn marks(&self) -> u64 {
        self.port.marks()
    }

    fn shares_memory(&self) -> bool {
        self.port.shares_memory()
    }
}

/// Runs a job as [`flowsched_sim::run`] does, over accounted ports.
pub fn run(job: &Job<'_>, scheme: &Scheme) -> (Outcome, Ledger) {
    use flowsched_schemes::port::PriorityPort;
    use flowsched_schemes::transport::tcp::Tcp;
    use flowsched_topology::Routing;

    let ledger = Ledger::new(job.network);
    let tcp: Tcp = scheme.part().expect("TCP");
    let routing = if scheme.ns2_routing { Routing::Spray } else { job.routing };
    let new_port = || ledger.port(PriorityPort::new(scheme.port));
    let job = Job { routing, ..*job };
    (super::run_with(&job, scheme, tcp, new_port, &Progress::default()), ledger)
}

/// Asserts that every byte that came to a port was dropped there, waits there or was sent, and that
/// every byte that was sent is on its way, or came to a port of the far end if that is a switch.
pub fn balance(network: &Network, outcome: &Outcome, ledger: &Ledger) {
    balance_with(network, outcome, ledger, &vec![0; network.node_count() as usize]);
}

/// Asserts what [`balance`] does, where switches send bytes of their own: this many by node.
pub fn balance_with(network: &Network, outcome: &Outcome, ledger: &Ledger, of_their_own: &[u64]) {
    let ports = network.ports().len();
    let last = &outcome.ports[outcome.ports.len() - ports..];
    let mut arrived = of_their_own.to_vec();
    let mut came = vec![0; network.node_count() as usize];
    for (index, sample) in last.iter().enumerate() {
        let (port, account) = (&network.ports()[index], ledger.account(index));
        assert_eq!(sample.port as usize, index);
        assert_eq!(account.came, account.dropped + account.waiting + account.left, "port {index}");
        assert_eq!(account.left, sample.sent_bytes, "port {index}: sent");
        assert_eq!(account.waiting, sample.queue_bytes, "port {index}: queued");
        assert_eq!(account.drops, sample.drops, "port {index}: dropped");
        assert!(sample.in_flight_bytes <= sample.sent_bytes);
        arrived[port.peer.index()] += sample.sent_bytes - sample.in_flight_bytes;
        came[port.owner.index()] += account.came;
    }
    for switch in network.switches() {
        assert_eq!(arrived[switch.index()], came[switch.index()], "{}", network.name(switch));
    }
    let sent: u64 = last.iter().map(|sample| sample.sent_packets).sum();
    assert!(outcome.packet_hops <= sent);
    let in_flight: u64 = last.iter().map(|sample| sample.in_flight_bytes).sum();
    assert_eq!(in_flight == 0, outcome.packet_hops == sent, "packets on their way have bytes");
    assert_eq!(outcome.drops, last.iter().map(|sample| sample.drops).sum::<u64>());
    assert_eq!(outcome.ecn_marks, last.iter().map(|sample| sample.marks).sum::<u64>());
}

/// The account of the port that a host sends through.
pub fn card(network: &Network, ledger: &Ledger, host: HostId) -> Account {
    ledger.account(network.nic(host).index())
}
