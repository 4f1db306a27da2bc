//! An agent that surveys counts levels and changes no packet: packets arrive as without an agent. Needs root.

#[path = "support/agent.rs"]
mod agent;
#[path = "support/lab.rs"]
mod lab;
#[path = "support/seen.rs"]
mod seen;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::net::{TcpStream, UdpSocket};
use std::time::Duration;

use agent::Agent;
use lab::{Capture, Pair};
use nix::sys::socket::{setsockopt, sockopt};
use seen::Seen;

/// Three levels, and every setting that changes a packet.
const RULE: &str = "thresholds = \"20KB 100KB\"\ndscp = [40, 20, 3]\nforce-ect = true\n";
const SINKS: [&str; 2] = ["10.77.0.2:5001", "[fd77::2]:5002"];
/// The application's own code point is 10.
const OWN: i32 = 10 << 2;

/// Sends TCP and datagrams, by IPv4 and IPv6, with and without a code point of the application's own. Returns
/// the code points and ECN bits of the packets that arrive at each port.
fn classes(pair: &Pair) -> BTreeMap<(u16, bool), BTreeSet<(u8, u8)>> {
    let capture = Capture::start(&pair.b);
    for own in [0, OWN] {
        lab::on(&pair.a, move || {
            for sink in SINKS {
                let mut stream = TcpStream::connect(sink).unwrap();
                setsockopt(&stream, sockopt::Ipv4Tos, &own).unwrap();
                if sink.starts_with('[') {
                    setsockopt(&stream, sockopt::Ipv6TClass, &own).unwrap();
                }
                stream.write_all(&vec![7; 300_000]).unwrap();
            }
            let socket = UdpSocket::bind("10.77.0.1:0").unwrap();
            setsockopt(&socket, sockopt::Ipv4Tos, &own).unwrap();
            for _ in 0..150 {
                let _ = socket.send_to(&[9; 1000], "10.77.0.2:5003");
                std::thread::sleep(Duration::from_millis(1));
            }
        })
        .join()
        .unwrap();
    }
    std::thread::sleep(Duration::from_millis(300));
    let mut classes: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    let mut segments = BTreeSet::new();
    for packet in capture.end().iter().filter_map(|frame| Seen::parse(frame)) {
        let is_data = packet.payload > 0;
        // TCP sets no ECT on retransmissions (RFC 3168, 6.1.5).
        let is_again = is_data && packet.to != 5003 && !segments.insert((packet.from, packet.seq));
        if packet.from_first_host && (5001..=5003).contains(&packet.to) && !is_again {
            // A FIN may or may not have ECT.
            let ecn = if is_data { packet.ecn } else { 0 };
            classes.entry((packet.to, is_data)).or_default().insert((packet.dscp, ecn));
        }
    }
    classes
}

#[test]
fn a_survey_counts_levels_and_writes_no_packet() {
    if !lab::is_root("a_survey_counts_levels_and_writes_no_packet") {
        return;
    }
    for hook in [&[][..], &["--clsact"]] {
        let pair = Pair::new();
        SINKS.into_iter().for_each(|sink| lab::sink(&pair.b, sink));
        let without = classes(&pair);
        let data = |port| without[&(port, true)].clone();
        assert_eq!(data(5001), [(0, 2), (10, 2)].into(), "{without:?}");
        assert_eq!(data(5002), [(0, 2), (10, 2)].into(), "{without:?}");
        assert_eq!(data(5003), [(0, 0), (10, 0)].into(), "{without:?}");

        let surveyor = Agent::start(&pair, &format!("{RULE}survey = true\n"), hook);
        assert_eq!(classes(&pair), without, "{hook:?}: a survey changes packets");
        for (level, dscp) in [40, 20, 3].into_iter().enumerate() {
            let name = format!("flowsched_packets_total{{level=\"{level}\",dscp=\"{dscp}\"}}");
            assert!(surveyor.metric(&name) > 30, "{hook:?}: level {level} is not counted");
        }
        assert!(surveyor.ok("histogram").lines().count() > 2, "{hook:?}: sizes are not counted");
        drop(surveyor);

        let _tagger = Agent::start(&pair, RULE, hook);
        let tagged = classes(&pair);
        let code_points: BTreeSet<u8> = tagged[&(5001, true)].iter().map(|seen| seen.0).collect();
        assert_eq!(code_points, [40, 20, 3].into(), "{hook:?}: the test sees no tags: {tagged:?}");
    }
}
