//! Connections opened, used and closed, with a program and without.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use super::floors::Floors;
use super::pairs::{PAIRS, SLICE, in_pairs, median, median_and_interval};
use super::setting::{ADDRESS, EACH, stay, tagger};
use crate::entry::Entry;
use crate::lab::{self, Pair};
use crate::sys;

/// The number of connections that one client and one server open, use and close per second.
fn connections(time: Duration) -> f64 {
    let (start, mut answered) = (Instant::now(), 0);
    while start.elapsed() < time {
        assert!(lab::converse(ADDRESS), "a connection was lost");
        answered += 1;
    }
    f64::from(answered) / start.elapsed().as_secs_f64()
}

#[test]
#[ignore = "a measurement"]
fn connections_with_and_without() {
    if !lab::is_root("bench") {
        return;
    }
    let pair = Pair::new();
    // With few ports, the server's memory of closed connections soon reaches its largest size.
    lab::sh(&format!(
        "nsenter --net=/run/netns/{} sysctl -qw net.ipv4.ip_local_port_range='32768 34815'",
        pair.a
    ));
    lab::answer(&pair.b, ADDRESS, stay);
    lab::on(&pair.a, || {
        stay();
        let tagger = tagger("");
        let floors = Floors::load();
        let index = nix::net::if_::if_nametoindex("east").unwrap();
        connections(EACH);
        let programs = [
            ("the tagger", tagger.program(Entry::TagEthernet)),
            ("an empty program", floors.nothing()),
        ];
        for (what, program) in programs {
            let (losses, rates) = in_pairs(PAIRS, |runs| {
                let _link =
                    runs.then(|| sys::attach_tcx_first(program.as_fd(), index, true).unwrap());
                connections(SLICE)
            });
            let (loss, least, most) = median_and_interval(losses);
            let [without, with] = rates.map(median);
            println!(
                "connections opened, used and closed: {with:.0} a second with {what}, {without:.0} \
                 without, medians of {PAIRS} pairs; {loss:.1} % fewer (95 % interval {least:.1} to \
                 {most:.1} %)"
            );
        }
    })
    .join()
    .unwrap();
}
