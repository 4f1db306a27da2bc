//! The share of the processors that bulk flows use, with the tagger and without.

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

use super::pairs::{in_pairs, median, median_and_interval, processor_seconds};
use super::setting::{ADDRESS, BLOCK, connect, offload, tagger, transfer};
use crate::entry::Entry;
use crate::lab::{self, Pair};
use crate::sys;

/// The length of a slice: long compared with the ticks in which the kernel accounts for processor
/// time.
const LONG_SLICE: Duration = Duration::from_secs(1);
const LONG_PAIRS: usize = 40;

/// Receives and discards all data, with one thread per connection.
fn receive_side_by_side(host: &str) {
    let (ready, is_ready) = std::sync::mpsc::channel();
    lab::on(host, move || {
        let listener = TcpListener::bind("0.0.0.0:5001").unwrap();
        ready.send(()).unwrap();
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            thread::spawn(move || {
                let mut buffer = vec![0; BLOCK];
                while stream.read(&mut buffer).is_ok_and(|length| length > 0) {}
            });
        }
    });
    is_ready.recv().unwrap();
}

/// The bytes that eight connections transfer together in a slice, with one thread each.
fn transfer_by_all(streams: &mut [TcpStream]) -> f64 {
    thread::scope(|scope| {
        let transfers: Vec<_> = streams
            .iter_mut()
            .map(|stream| scope.spawn(|| transfer(stream, LONG_SLICE) * LONG_SLICE.as_secs_f64()))
            .collect();
        transfers.into_iter().map(|transfer| transfer.join().unwrap()).sum()
    })
}

/// PIAS ToN 2017, IV-A.1: the extra share of the processors with eight bulk flows, here at the
/// highest rate that two network namespaces reach.
#[test]
#[ignore = "a measurement"]
fn processor_share_of_eight_bulk_flows() {
    if !lab::is_root("bench") {
        return;
    }
    let pair = Pair::new();
    offload(&pair);
    receive_side_by_side(&pair.b);
    lab::on(&pair.a, move || {
        let tagger = tagger("dscp = [56, 48, 40, 32, 24, 16, 8, 4]\n");
        let index = nix::net::if_::if_nametoindex("east").unwrap();
        let mut streams: Vec<TcpStream> = (0..8).map(|_| connect(ADDRESS)).collect();
        transfer_by_all(&mut streams);
        let processors = thread::available_parallelism().unwrap().get() as f64;
        // Bytes, and the share of all processors, without and with.
        let (mut rates, mut shares) = ([const { Vec::new() }; 2], [const { Vec::new() }; 2]);
        let (costs, _) = in_pairs(LONG_PAIRS, |tags| {
            let program = tagger.program(Entry::TagEthernet);
            let _link = tags.then(|| sys::attach_tcx_first(program.as_fd(), index, true).unwrap());
            let (start, before) = (Instant::now(), processor_seconds());
            let bytes = transfer_by_all(&mut streams);
            let (time, worked) = (start.elapsed().as_secs_f64(), processor_seconds() - before);
            rates[usize::from(tags)].push(bytes * 8.0 / time / 1e9);
            shares[usize::from(tags)].push(worked / time / processors * 100.0);
            bytes / worked
        });
        let (cost, least, most) = median_and_interval(costs);
        let [rates, shares] = [rates, shares].map(|values| values.map(median));
        println!(
            "eight bulk flows: {:.1} Gbps with {:.1} % of {processors} processors, {:.1} Gbps with \
             {:.1} % without the tagger; a byte takes {cost:.1} % more processor time (median of \
             {LONG_PAIRS} pairs, 95 % interval {least:.1} to {most:.1} %)",
            rates[1], shares[1], rates[0], shares[0]
        );
    })
    .join()
    .unwrap();
}
