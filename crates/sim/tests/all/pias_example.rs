//! The example of the PIAS talk (NSDI 2015, "Simple Example Illustrating PIAS"), packet by
//! packet.
//!
//! Four priorities with thresholds of 2, 4 and 6 packets, strict priority. Flow 1 has 10 packets,
//! flows 2 to 4 have 2 each. The talk states the order of events and no times. Here a packet takes
//! one slot, and the flows arrive at slots 0, 0, 4 and 8. Flow 3 arrives when flow 2 has finished
//! and flow 1 has been demoted to priority 2, flow 4 when flow 3 has finished and flow 1 has been
//! demoted to priority 3. What the talk calls priority 1 is 0 here.

use std::cell::RefCell;
use std::rc::Rc;

use crate::common::scheme;
use flowsched_schemes::Packet;
use flowsched_schemes::packet::Flags;
use flowsched_schemes::port::{Backlog, Port, PriorityPort};
use flowsched_schemes::transport::tcp::Tcp;
use flowsched_sim::{Job, Outcome, Progress};
use flowsched_topology::{HostId, Link, Network, NetworkBuilder, Routing};
use flowsched_units::{Bytes, Rate, Time};
use flowsched_workload::Flow;

/// The transmission time of a packet of 1500 B at 1 Gbps.
const SLOT: Time = Time::from_us(12);

/// What a port served: the flow (from 1) and the priority (from 1) of each data packet.
type Served = Rc<RefCell<Vec<(u32, u8)>>>;

/// A port that notes what it serves.
struct Noted {
    port: PriorityPort<Packet>,
    served: Served,
}

impl Noted {
    fn note(&self, packet: Option<Packet>) -> Option<Packet> {
        if let Some(packet) = packet.filter(|packet| !packet.flags.has(Flags::ACK)) {
            self.served.borrow_mut().push((packet.flow + 1, packet.priority + 1));
        }
        packet
    }
}

impl Port<Packet> for Noted {
    fn enqueue(&mut self, packet: Packet, elsewhere: u64, dropped: impl FnMut(Packet)) {
        self.port.enqueue(packet, elsewhere, dropped);
    }

    fn dequeue(&mut self) -> Option<Packet> {
        let packet = self.port.dequeue();
        self.note(packet)
    }

    fn backlog(&self) -> Backlog {
        Port::<Packet>::backlog(&self.port)
    }

    fn marks(&self) -> u64 {
        Port::<Packet>::marks(&self.port)
    }

    fn shares_memory(&self) -> bool {
        false
    }
}

/// Host 0 receives over the link of the example. Senders are so fast that all of a flow is there at
/// once (a packet takes 1.5 ns).
fn network() -> Network {
    let mut builder = NetworkBuilder::new();
    let switch = builder.tier("switch", 1)[0];
    builder.host(switch, Link { rate: Rate::from_gbps(1), delay: Time::ZERO });
    builder.hosts(4, switch, Link { rate: Rate::from_gbps(8_000), delay: Time::ZERO });
    builder.finish().unwrap()
}

fn flow(number: u32, packets: u64, slot: u64) -> Flow {
    let src = HostId(number);
    crate::common::flow(number - 1, src.0, 0, packets, SLOT * slot)
}

/// Runs the flows. Returns what the bottleneck served, and how the flows ended.
fn run(flows: &[Flow], bookkeeping: &str) -> (Vec<(u32, u8)>, Outcome) {
    let scheme = scheme(
        "pias",
        "none",
        &[
            ("queues", "4"),
            ("thresholds", "2pkt 4pkt 6pkt"),
            ("bookkeeping", bookkeeping),
            ("ecn_threshold", "unlimited"),
        ],
    );
    let network = network();
    let job = Job {
        network: &network,
        routing: Routing::Ecmp,
        flows,
        seed: 1,
        sample_interval: Time::ZERO,
        until: None,
    };
    let tcp: Tcp = scheme.part().expect("TCP");
    // What each port served, in the network's order.
    let served = RefCell::new(Vec::<Served>::new());
    let new_port = || {
        let own = Served::default();
        served.borrow_mut().push(own.clone());
        Noted { port: PriorityPort::new(scheme.port), served: own }
    };
    let outcome = crate::common::run_with(&job, &scheme, tcp, new_port, &Progress::default());
    let bottleneck = network.port_to(HostId(0)).index();
    let served = served.borrow()[bottleneck].borrow().clone();
    (served, outcome)
}

/// The slot at whose end a flow's last packet arrives. Panics if the packet arrives within a slot.
fn finished(outcome: &Outcome, flow: u32) -> u64 {
    let end = outcome.flows[flow as usize - 1].finished_at_receiver.unwrap();
    let access = Rate::from_gbps(8_000).transmission_time(Bytes::new(1500));
    assert_eq!((end - access).as_ps() % SLOT.as_ps(), 0, "flow {flow} ends within a slot: {end}");
    (end - access).as_ps() / SLOT.as_ps()
}

#[test]
fn the_talks_example_packet_by_packet() {
    let flows = [flow(1, 10, 0), flow(2, 2, 0), flow(3, 2, 4), flow(4, 2, 8)];
    let (served, outcome) = run(&flows, "cumulative");
    // "Flow 1 and 2 transmit simultaneously", both at the highest priority.
    // "Flow 2 finishes while flow 1 is demoted to priority 2": flow 3, which arrives just after
    // flow 1's first packet of priority 2 has begun, goes before the others.
    // And so on: "Eventually, flow 1 finishes in priority 4".
    let expected = [
        (1, 1),
        (2, 1),
        (1, 1),
        (2, 1),
        (1, 2),
        (3, 1),
        (3, 1),
        (1, 2),
        (1, 3),
        (4, 1),
        (4, 1),
        (1, 3),
        (1, 4),
        (1, 4),
        (1, 4),
        (1, 4),
    ];
    assert_eq!(served, expected);
    let ends = [1, 2, 3, 4].map(|number| finished(&outcome, number));
    assert_eq!(ends, [16, 4, 7, 11]);
    assert_eq!(outcome.drops + outcome.retransmissions + outcome.timeouts, 0);
}

/// If the offset of its first byte counts, a packet at a threshold is not yet beyond it. Flow 1 is
/// demoted one packet later each time, and flows 2 to 4 end when they did before.
#[test]
fn by_offset_the_long_flow_is_demoted_a_packet_later() {
    let flows = [flow(1, 10, 0), flow(2, 2, 0), flow(3, 2, 4), flow(4, 2, 8)];
    let (served, outcome) = run(&flows, "offset");
    let of_flow_1 = served.iter().filter(|(flow, _)| *flow == 1).map(|(_, priority)| *priority);
    assert!(of_flow_1.eq([1, 1, 1, 2, 2, 3, 3, 4, 4, 4]));
    let ends = [1, 2, 3, 4].map(|number| finished(&outcome, number));
    assert_eq!(ends, [16, 4, 7, 11]);
}

/// Without priorities (first in, first out), flows 3 and 4 wait for flow 1.
#[test]
fn without_priorities_the_short_flows_wait() {
    let flows = [flow(1, 10, 0), flow(2, 2, 0), flow(3, 2, 4), flow(4, 2, 8)];
    let scheme = scheme("dctcp", "none", &[("ecn_threshold", "unlimited")]);
    let outcome = crate::common::run(&network(), Routing::Ecmp, &flows, &scheme);
    let ends = [1, 2, 3, 4].map(|number| finished(&outcome, number));
    assert_eq!(ends, [12, 4, 14, 16]);
}
