//! The throughput of one stream, with the tagger and without.

use std::net::TcpStream;
use std::os::fd::AsFd;

use super::pairs::{PAIRS, SLICE, in_pairs, median_and_interval, processor_seconds};
use super::setting::{ADDRESS, EACH, connect, offload, receive, stay, tagger, transfer};
use crate::entry::Entry;
use crate::lab::{self, Pair};
use crate::sys;

/// The sums over slices of one kind.
#[derive(Default)]
struct Sum {
    bytes: f64,
    processor: f64,
}

impl Sum {
    fn slice(&mut self, stream: &mut TcpStream) -> f64 {
        let before = processor_seconds();
        let rate = transfer(stream, SLICE);
        self.processor += processor_seconds() - before;
        self.bytes += rate * SLICE.as_secs_f64();
        rate
    }

    fn ns_a_byte(&self) -> f64 {
        self.processor * 1e9 / self.bytes
    }
}

#[test]
#[ignore = "a measurement"]
fn throughput_with_and_without() {
    if !lab::is_root("bench") {
        return;
    }
    for (what, is_offloaded) in [("MTU-sized packets", false), ("super-packets of 64 KiB", true)] {
        let pair = Pair::new();
        if is_offloaded {
            offload(&pair);
        }
        receive(&pair.b);
        lab::on(&pair.a, move || {
            stay();
            let tagger = tagger("dscp = [56, 48, 40, 32, 24, 16, 8, 4]\n");
            let index = nix::net::if_::if_nametoindex("east").unwrap();
            let mut stream = connect(ADDRESS);
            transfer(&mut stream, EACH);
            let (mut with, mut without) = (Sum::default(), Sum::default());
            let (losses, _) = in_pairs(PAIRS, |tags| {
                let program = tagger.program(Entry::TagEthernet);
                let _link =
                    tags.then(|| sys::attach_tcx_first(program.as_fd(), index, true).unwrap());
                let sum = if tags { &mut with } else { &mut without };
                sum.slice(&mut stream)
            });
            let (loss, least, most) = median_and_interval(losses);
            println!(
                "throughput lost with {what}: {loss:.1} % (median of {PAIRS} pairs, 95 % interval \
                 {least:.1} to {most:.1} %); processor time a byte {:.3} ns with, {:.3} ns without",
                with.ns_a_byte(),
                without.ns_a_byte()
            );
        })
        .join()
        .unwrap();
    }
}
