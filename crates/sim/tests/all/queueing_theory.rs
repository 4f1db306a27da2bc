//! One link against the M/G/1 queue. For Poisson arrivals of flows of whole packets, the engine
//! gives what closed forms say of the discipline that the parts amount to:
//!
//! - Bursts into a FIFO: first come, first served.
//! - Windows of one packet: processor sharing.
//! - Bursts into a port that orders packets by what is left of their flow: shortest remaining
//!   processing time.
//! - Bursts into a port that orders packets by what their flow has sent: foreground-background.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

use crate::common::one_link::{self, ClosedForm, ONE_PACKET, Window, endless, packets};
use flowsched_schemes::Packet;
use flowsched_schemes::packet::Frame;
use flowsched_schemes::port::{Backlog, Port, PriorityPort};
use flowsched_sim::Outcome;
use flowsched_theory::Mg1;
use flowsched_topology::Network;
use flowsched_units::{Bytes, PACKET_PAYLOAD};
use flowsched_workload::Flow;
use flowsched_workload::sizes::{SizeDistribution, by_name};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Service {
    FirstComeFirstServed,
    ProcessorSharing,
    ShortestRemaining,
    ForegroundBackground,
}
use Service::{FirstComeFirstServed, ForegroundBackground, ProcessorSharing, ShortestRemaining};

/// A port that serves the flow whose first waiting packet has the lowest rank. Of equals, it serves
/// the one whose packet came first. A flow's packets go in order.
struct RankPort {
    rank: Rc<dyn Fn(&Packet) -> u32>,
    /// The packets of each flow, each with its place in the order of arrival.
    queues: HashMap<u32, VecDeque<(u64, Packet)>>,
    /// The rank and the place of each flow's first packet.
    first: BTreeSet<(u32, u64, u32)>,
    came: u64,
    backlog: Backlog,
}

impl RankPort {
    fn new(rank: Rc<dyn Fn(&Packet) -> u32>) -> RankPort {
        RankPort {
            rank,
            queues: HashMap::new(),
            first: BTreeSet::new(),
            came: 0,
            backlog: Backlog::default(),
        }
    }
}

impl Port<Packet> for RankPort {
    fn enqueue(&mut self, packet: Packet, _: u64, _: impl FnMut(Packet)) {
        self.came += 1;
        self.backlog.bytes += u64::from(packet.wire_bytes());
        self.backlog.packets += 1;
        let queue = self.queues.entry(packet.flow).or_default();
        if queue.is_empty() {
            self.first.insert(((self.rank)(&packet), self.came, packet.flow));
        }
        queue.push_back((self.came, packet));
    }

    fn dequeue(&mut self) -> Option<Packet> {
        let (_, _, flow) = self.first.pop_first()?;
        let queue = self.queues.get_mut(&flow)?;
        let (_, packet) = queue.pop_front()?;
        if let Some((place, next)) = queue.front() {
            self.first.insert(((self.rank)(next), *place, flow));
        }
        self.backlog.bytes -= u64::from(packet.wire_bytes());
        self.backlog.packets -= 1;
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn marks(&self) -> u64 {
        0
    }

    fn shares_memory(&self) -> bool {
        false
    }
}

fn run(network: &Network, flows: &[Flow], discipline: Service) -> Outcome {
    let window = match discipline {
        ProcessorSharing => Window::Packets(1),
        _ => Window::Burst,
    };
    let scheme = endless("tcp", window, &[]);
    let packets: Rc<[u32]> = flows.iter().map(|flow| packets(flow.size)).collect();
    let rank: Rc<dyn Fn(&Packet) -> u32> = match discipline {
        ShortestRemaining => Rc::new(move |packet| packets[packet.flow as usize] - packet.seq),
        _ => Rc::new(|packet| packet.seq),
    };
    match discipline {
        FirstComeFirstServed | ProcessorSharing => {
            one_link::run(network, flows, &scheme, || PriorityPort::new(scheme.port))
        }
        ShortestRemaining | ForegroundBackground => {
            one_link::run(network, flows, &scheme, || RankPort::new(rank.clone()))
        }
    }
}

/// The closed form's response time of flows by size, in packet times.
struct Theory<'a> {
    queue: Mg1<'a>,
    discipline: Service,
    known: RefCell<HashMap<u32, f64>>,
}

impl<'a> Theory<'a> {
    fn new(sizes: &'a SizeDistribution, load: f64, discipline: Service) -> Theory<'a> {
        Theory { queue: Mg1::new(sizes, load), discipline, known: RefCell::default() }
    }

    fn exactly(&self, packets: u32) -> f64 {
        *self.known.borrow_mut().entry(packets).or_insert_with(|| {
            let bytes = f64::from(packets) * PACKET_PAYLOAD as f64;
            let response = match self.discipline {
                FirstComeFirstServed => self.queue.fcfs(bytes),
                ProcessorSharing => self.queue.ps(bytes),
                ShortestRemaining => self.queue.srpt(bytes),
                ForegroundBackground => self.queue.fb(bytes),
            };
            response / PACKET_PAYLOAD as f64
        })
    }
}

impl ClosedForm for Theory<'_> {
    fn mean(&self) -> f64 {
        let bytes = match self.discipline {
            FirstComeFirstServed => self.queue.fcfs_mean(),
            ProcessorSharing => self.queue.ps_mean(),
            ShortestRemaining => self.queue.srpt_mean(),
            ForegroundBackground => self.queue.fb_mean(),
        };
        bytes / PACKET_PAYLOAD as f64
    }

    /// Exact up to 64 packets. For more, this interpolates between sizes 3% apart.
    fn of_size(&self, packets: u32) -> f64 {
        if packets <= 64 || self.discipline != ShortestRemaining {
            return self.exactly(packets);
        }
        let mut low = 64;
        let mut high = 66;
        while high < packets {
            low = high;
            high += high.div_ceil(32);
        }
        let (from, to) = (self.exactly(low), self.exactly(high));
        from + (to - from) * f64::from(packets - low) / f64::from(high - low)
    }
}

fn meets(sizes: &SizeDistribution, discipline: Service, load: f64, count: u64) {
    println!("{discipline:?}, load {load}");
    let theory = Theory::new(sizes, load, discipline);
    let run = |network: &Network, flows: &[Flow]| run(network, flows, discipline);
    one_link::meets(sizes, load, count, &theory, ONE_PACKET, run);
}

fn exponential(discipline: Service) {
    let mean = Bytes::new(20 * PACKET_PAYLOAD);
    let sizes = SizeDistribution::exponential(mean).in_whole_packets().unwrap();
    meets(&sizes, discipline, 0.7, 6000);
}

fn web_search(discipline: Service) {
    meets(&by_name("web-search-packets").unwrap(), discipline, 0.5, 400);
}

#[test]
fn bursts_into_a_fifo_of_exponential_sizes_are_first_come_first_served() {
    exponential(FirstComeFirstServed);
}

#[test]
fn one_packet_windows_of_exponential_sizes_share_the_processor() {
    exponential(ProcessorSharing);
}

#[test]
fn ranks_by_what_is_left_of_exponential_sizes_are_srpt() {
    exponential(ShortestRemaining);
}

#[test]
fn ranks_by_what_was_sent_of_exponential_sizes_are_foreground_background() {
    exponential(ForegroundBackground);
}

#[test]
fn bursts_into_a_fifo_of_web_search_are_first_come_first_served() {
    web_search(FirstComeFirstServed);
}

#[test]
fn one_packet_windows_of_web_search_share_the_processor() {
    web_search(ProcessorSharing);
}

#[test]
fn ranks_by_what_is_left_of_web_search_are_srpt() {
    web_search(ShortestRemaining);
}

#[test]
fn ranks_by_what_was_sent_of_web_search_are_foreground_background() {
    web_search(ForegroundBackground);
}
