//! What the tagger costs: `make bench-agent`. Not part of the tests; needs root and an idle
//! machine, and prints what it finds.

mod floors;
mod packets;

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::socket::{setsockopt, sockopt};
use nix::unistd::Pid;

use crate::config::Config;
use crate::entry::Entry;
use crate::lab::{self, Pair};
use crate::sys;
use crate::tagger::{LoadOptions, Tagger};
use floors::Floors;

const EACH: Duration = Duration::from_millis(200);
/// Throughput is compared in slices that are short against what else the machine does: both of a
/// pair are then disturbed alike.
const SLICE: Duration = Duration::from_millis(30);
const PAIRS: usize = 400;
/// Slices that are long against the ticks in which the kernel accounts for processors.
const LONG_SLICE: Duration = Duration::from_secs(1);
const LONG_PAIRS: usize = 40;
const ADDRESS: &str = "10.77.0.2:5001";
/// The same at the other end of a tunnel.
const TUNNELLED: &str = "10.88.0.2:5001";
/// A stream is past the last threshold at once, so that nearly all its packets have the last level.
const RULE: &str = "interfaces = [\"east\"]\n\
                    thresholds = \"1KB 2KB 3KB 4KB 5KB 6KB 7KB\"\n";
/// Sender, kernel and receiver are all on this processor, so that nobody waits for anybody: what
/// gets across is the inverse of the processor time that it takes.
const PROCESSOR: usize = 0;
/// What may be under way between them: as the caches hold it.
const BUFFER: usize = 1 << 17;
const BLOCK: usize = 1 << 16;

fn tagger(code_points: &str) -> Tagger {
    let config = Config::parse(&format!("{RULE}{code_points}"), Path::new("rule")).unwrap();
    let tagger = Tagger::load(&config, None, LoadOptions::default()).unwrap();
    tagger.apply(&config).unwrap();
    tagger
}

/// Keeps this thread on the processor that is measured.
fn stay() {
    let mut set = CpuSet::new();
    set.set(PROCESSOR).unwrap();
    sched_setaffinity(Pid::from_raw(0), &set).unwrap();
}

/// Reads all that connections send.
fn receive(host: &str) {
    let (ready, is_ready) = std::sync::mpsc::channel();
    lab::on(host, move || {
        stay();
        let listener = TcpListener::bind("0.0.0.0:5001").unwrap();
        ready.send(()).unwrap();
        let mut buffer = vec![0; BLOCK];
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            setsockopt(&stream, sockopt::RcvBuf, &BUFFER).unwrap();
            while stream.read(&mut buffer).is_ok_and(|length| length > 0) {}
        }
    });
    is_ready.recv().unwrap();
}

fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    setsockopt(&stream, sockopt::SndBuf, &BUFFER).unwrap();
    stream
}

/// Bytes a second that the connection takes.
fn transfer(stream: &mut TcpStream, time: Duration) -> f64 {
    let block = [7; BLOCK];
    let (start, mut sent) = (Instant::now(), 0);
    while start.elapsed() < time {
        stream.write_all(&block).unwrap();
        sent += block.len();
    }
    sent as f64 / start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The median, and where it is with 95 % confidence whatever the distribution (by the binomial
/// distribution of how many values are below it).
fn median_and_interval(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    let count = values.len() as f64;
    let reach = (0.98 * count.sqrt()).ceil() as usize;
    let middle = values.len() / 2;
    (values[middle], values[middle - reach], values[(middle + reach).min(values.len() - 1)])
}

/// Seconds that all processors together have worked, as the kernel accounts it.
fn processor_seconds() -> f64 {
    let text = fs::read_to_string("/proc/stat").unwrap();
    let line = text.lines().next().unwrap();
    let ticks: Vec<f64> = line.split_whitespace().skip(1).map(|n| n.parse().unwrap()).collect();
    // Columns 3 and 4 are idle and waiting for disks; 8 and on are in the first ones already.
    (ticks[..8].iter().sum::<f64>() - ticks[3] - ticks[4]) / 100.0
}

/// What slices of one kind came to.
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

/// Both ends send and take super-packets.
fn offload(pair: &Pair) {
    for (host, interface) in [(&pair.a, "east"), (&pair.b, "west")] {
        lab::sh(&format!(
            "nsenter --net=/run/netns/{host} ethtool -K {interface} tx on tso on gso on gro on \
             >/dev/null; ip -n {host} link set {interface} gso_max_segs 65535"
        ));
    }
}

/// Takes and throws away what comes, on as many processors as there are.
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

/// Measures a rate in pairs of slices, with the tagger and without: the percentages lost, and the
/// rates without and with.
fn in_pairs(pairs: usize, mut rate: impl FnMut(bool) -> f64) -> (Vec<f64>, [Vec<f64>; 2]) {
    let (mut losses, mut all) = (Vec::new(), [Vec::new(), Vec::new()]);
    for pair in 0..pairs {
        let mut rates = [0.0; 2];
        // Which is first alternates, so that what drifts falls on both.
        for tags in [pair % 2 == 0, pair % 2 == 1] {
            rates[usize::from(tags)] = rate(tags);
            all[usize::from(tags)].push(rates[usize::from(tags)]);
        }
        losses.push((1.0 - rates[1] / rates[0]) * 100.0);
    }
    (losses, all)
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

/// Bytes that eight connections take together in a slice, one thread each.
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

/// How many are opened, used and closed a second by one client and one server.
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
    // Few ports: the server's memory of closed connections is soon as full as it gets.
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
