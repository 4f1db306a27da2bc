//! What a controller sees of the packets that leave its port.

use std::cell::RefCell;
use std::rc::Rc;

use crate::common::{flow, network, scheme};
use flowsched_schemes::controller::{Controller, Site};
use flowsched_schemes::port::{Backlog, PriorityPort};
use flowsched_schemes::tagger::AnyTagger;
use flowsched_schemes::transport::tcp::Tcp;
use flowsched_schemes::{Packet, Parts};
use flowsched_sim::{Job, Progress, run_parts};
use flowsched_topology::Routing;
use flowsched_units::{Bytes, Rate, Time};
use flowsched_workload::Flow;

/// A packet whose first bit left: the time, the packet's bytes, and what waited behind it.
type Departure = (Time, u32, Backlog);

/// Notes what leaves each port.
struct Notes {
    port: usize,
    rate: Rate,
    departures: Rc<RefCell<Vec<Vec<Departure>>>>,
    /// Bytes that wait in the port by the controller's own account.
    waiting: u64,
}

impl Controller<()> for Notes {
    fn on_forward(
        &mut self,
        now: Time,
        packet: &mut Packet,
        mut backlog: impl FnMut() -> Backlog,
        _: impl FnMut(Packet),
    ) {
        let departures = &self.departures.borrow()[self.port];
        let before = departures.last().map_or(Time::ZERO, |(time, ..)| *time);
        assert!(before <= now, "a packet comes at {now}, and one left at {before}");
        assert_eq!(backlog().bytes, self.waiting, "all that left before is known");
        self.waiting += u64::from(packet.wire);
    }

    fn on_departure(&mut self, now: Time, packet: &mut Packet, behind: Backlog) {
        self.waiting -= u64::from(packet.wire);
        assert_eq!(behind.bytes, self.waiting);
        let departures = &mut self.departures.borrow_mut()[self.port];
        if let Some((time, wire, waited)) = departures.last() {
            let end = *time + self.rate.transmission_time(Bytes::new(u64::from(*wire)));
            assert!(now >= end, "a packet leaves at {now}, before {end}");
            assert!(waited.packets == 0 || now == end, "the link is idle from {end} to {now}");
        }
        departures.push((now, packet.wire.into(), behind));
    }

    fn on_return(&mut self, _now: Time, _packet: &mut Packet) {}
}

/// A controller sees each packet that leaves once, in order and before any later event. It sees the
/// time at which the first bit leaves, and the queue behind it.
#[test]
fn every_departure_is_shown_in_its_order_and_with_its_time() {
    // Rates that give whole numbers of picoseconds.
    let network = network("leaf-spine", &[("leaves", "2"), ("hosts_per_leaf", "3")]);
    let flows: Vec<Flow> =
        (0..5).map(|id| flow(id, id + 1, 0, 40, Time::from_us(7 * u64::from(id)))).collect();
    let scheme = scheme("dctcp", "none", &[("buffer", "unlimited")]);
    let departures = Rc::new(RefCell::new(vec![Vec::new(); network.ports().len()]));
    let transport: Tcp = scheme.part().expect("TCP");
    let tagger: AnyTagger = scheme.part().expect("a tagger");
    let controllers = |site: Site| Notes {
        port: site.port as usize,
        rate: site.rate,
        departures: departures.clone(),
        waiting: 0,
    };
    let ports = |_: Site| PriorityPort::new(scheme.port);
    let job = Job {
        network: &network,
        routing: Routing::Ecmp,
        flows: &flows,
        seed: 1,
        sample_interval: Time::from_us(13),
        until: None,
    };
    let parts = Parts { transport, tagger, ports, controllers };
    let outcome = run_parts(&job, parts, &Progress::default());
    let departures = departures.borrow();
    for sample in &outcome.ports[outcome.ports.len() - departures.len()..] {
        let seen = &departures[sample.port as usize];
        assert_eq!(seen.len() as u64, sample.sent_packets, "port {}", sample.port);
    }
    let most = departures.iter().flatten().map(|(_, _, behind)| behind.packets).max();
    assert!(most > Some(50), "a queue of {most:?} packets");
}
