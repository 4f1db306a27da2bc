//! What schemes do when packets of one host are lost, or when nothing is sent for a while. The
//! host's card drops the packets that a test names.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use crate::common::{flow, run_with, scheme_of, small_fabric};
use flowsched_schemes::packet::Flags;
use flowsched_schemes::port::{Backlog, PfabricPort, Port, PriorityPort};
use flowsched_schemes::transport::tcp::Tcp;
use flowsched_schemes::{Packet, Scheme};
use flowsched_sim::{Job, Outcome, Progress};
use flowsched_topology::Routing;
use flowsched_units::Time;
use flowsched_workload::Flow;

/// Notes the packets that come to a host's card, and drops some of them by their place in the order
/// of arrival.
struct Blocked<P> {
    port: P,
    came: Rc<RefCell<Vec<Packet>>>,
    drops: Range<usize>,
}

impl<P: Port<Packet>> Port<Packet> for Blocked<P> {
    fn enqueue(&mut self, packet: Packet, elsewhere: u64, mut dropped: impl FnMut(Packet)) {
        let place = self.came.borrow().len();
        self.came.borrow_mut().push(packet);
        if self.drops.contains(&place) {
            return dropped(packet);
        }
        self.port.enqueue(packet, elsewhere, dropped);
    }

    fn dequeue(&mut self) -> Option<Packet> {
        self.port.dequeue()
    }

    fn backlog(&self) -> Backlog {
        self.port.backlog()
    }

    fn marks(&self) -> u64 {
        0
    }

    fn shares_memory(&self) -> bool {
        false
    }
}

/// Runs flows of host 0, whose card drops some packets. Returns what became of them, and the
/// packets that came to the card.
fn blocked<P: Port<Packet> + 'static>(
    flows: &[Flow],
    scheme: &Scheme,
    drops: Range<usize>,
    new_port: impl Fn() -> P,
) -> (Outcome, Vec<Packet>) {
    let network = small_fabric();
    let came = Rc::new(RefCell::new(Vec::new()));
    let number = Cell::new(0);
    let port = || {
        let is_card = number.replace(number.get() + 1) == 0;
        let (came, drops) =
            if is_card { (came.clone(), drops.clone()) } else { Default::default() };
        Blocked { port: new_port(), came, drops }
    };
    let job = Job {
        network: &network,
        routing: Routing::Ecmp,
        flows,
        seed: 1,
        sample_interval: Time::ZERO,
        until: None,
    };
    let tcp: Tcp = scheme.part().expect("TCP");
    (run_with(&job, scheme, tcp, port, &Progress::default()), came.take())
}

/// Runs a PIAS flow of 30 packets. The last eight are lost, and the first of these is lost again.
/// Returns the flow's timeouts, and the packets that came to the card.
fn starved(bookkeeping: &str) -> (u32, Vec<Packet>) {
    let scheme = scheme_of("pias", &[("bookkeeping", bookkeeping)]);
    let flows = [flow(0, 0, 5, 30, Time::ZERO)];
    let (outcome, came) = blocked(&flows, &scheme, 22..31, || PriorityPort::new(scheme.port));
    (outcome.flows[0].timeouts.all, came)
}

#[test]
fn a_pias_flow_that_times_out_twice_in_a_row_starts_again_at_the_top() {
    // PIAS ToN 2017, III-B.3: "if a flow experiences two consecutive timeouts, we set its bytes
    // sent back to zero".
    for bookkeeping in ["offset", "cumulative"] {
        let (timeouts, came) = starved(bookkeeping);
        assert_eq!(timeouts, 2);
        let of = |place: usize| (came[place].seq, came[place].priority);
        assert_eq!(of(29), (29, 3), "{bookkeeping}: past 20 packets");
        assert_eq!(of(30), (22, 3), "{bookkeeping}: one timeout is not enough");
        assert_eq!(of(31), (22, 0), "{bookkeeping}");
    }
}

#[test]
fn a_pause_on_a_connection_with_nothing_under_way_begins_a_pias_message() {
    // PIAS ToN 2017, IV-A.1: "If the time gap since the last function call is larger than a
    // threshold (500us in our experiments) and the TCP send buffer is empty now, we regard this
    // as the beginning of a new message and reset bytes sent back to 0".
    let scheme = scheme_of("pias", &[("message_start", "idle"), ("bookkeeping", "cumulative")]);
    // The flows start 400 us and 600 us apart. All packets of a flow leave at once.
    let starts = [Time::ZERO, Time::from_us(400), Time::from_us(1000)];
    let flows = [0, 1, 2].map(|id| flow(id, 0, 5, 10, starts[id as usize]));
    // The last packet of the last flow is lost. The flow then waits for longer than 500 us, but
    // with that packet under way.
    let (outcome, came) = blocked(&flows, &scheme, 29..30, || PriorityPort::new(scheme.port));
    assert!(outcome.flows.iter().all(|flow| flow.connection == 0));
    assert_eq!(outcome.flows.iter().map(|flow| flow.timeouts.all).collect::<Vec<_>>(), [0, 0, 1]);
    let priorities: Vec<u8> = came.iter().map(|packet| packet.priority).collect();
    // Thresholds of 5, 10 and 20 packets; the second flow belongs to the first one's message.
    let expected = [[0; 5], [1; 5], [2; 5], [2; 5], [0; 5], [1; 5]].concat();
    assert_eq!(priorities[..30], expected);
    assert_eq!(priorities[30..], [2], "the lost packet again");
}

/// Runs a pFabric flow on the idle fabric, whose sender's card drops the first packets. Returns
/// when the flow ends, its timeouts, and the packets that came to the card.
fn blocked_pfabric(packets: u64, drops: usize) -> (Time, u32, Vec<Packet>) {
    let scheme = scheme_of("pfabric", &[]);
    let flows = [flow(0, 0, 5, packets, Time::ZERO)];
    let (outcome, came) = blocked(&flows, &scheme, 0..drops, || PfabricPort::new(scheme.port));
    let outcome = outcome.flows[0];
    (outcome.finished_at_sender.unwrap(), outcome.timeouts.all, came)
}

#[test]
fn pfabric_starts_at_the_bandwidth_delay_product() {
    // Alizadeh et al., SIGCOMM 2013, 4.2: flows start at line rate; PIAS ToN 2017, V-C: 70
    // packets, "approximately equal to the bandwidth-delay product".
    let packet = Time::from_ns(1200);
    let fct = |packets| blocked_pfabric(packets, 0).0;
    assert_eq!(fct(70), fct(1) + packet * 69, "70 packets leave in a row");
    // The 71st packet waits for the first ACK, which comes 0.68 us after the 70th packet has left.
    assert_eq!(fct(71), fct(70) + packet + Time::from_ns(680));
}

#[test]
fn pfabric_finds_losses_by_timeouts_alone() {
    // PIAS ToN 2017, V-C: "RTOmin is 250us (~ 3 RTT) for pFabric", and no duplicate ACKs count.
    let (end, timeouts, came) = blocked_pfabric(60, 1);
    let rto = Time::from_us(250);
    assert_eq!(timeouts, 1);
    assert!(end > rto && end < rto + Time::from_us(90), "{end}");
    let again: Vec<u32> = came.iter().skip(60).map(|packet| packet.seq).collect();
    assert_eq!(again, [0], "the others were reported by SACK");
    assert_eq!(came[60].rank(), 1, "one packet remains");
}

#[test]
fn pfabric_probes_after_five_timeouts_in_a_row() {
    // Alizadeh et al., SIGCOMM 2013, 4.2: probe mode after repeated timeouts; five of them, as
    // in the PIAS authors' simulator, and no back-off.
    let (end, timeouts, came) = blocked_pfabric(1, 7);
    let probes: Vec<bool> = came.iter().map(|packet| packet.flags.has(Flags::PROBE)).collect();
    let (no, yes) = (false, true);
    assert_eq!(probes, [no, no, no, no, no, yes, yes, yes, no]);
    assert!(came.iter().filter(|packet| packet.flags.has(Flags::PROBE)).all(|p| p.wire == 41));
    assert_eq!(timeouts, 7);
    // The first probe that gets through is answered, then the packet goes.
    let all = Time::from_us(250) * 7;
    assert!(end > all + Time::from_us(160) && end < all + Time::from_us(180), "{end}");
}
