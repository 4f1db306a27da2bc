//! What the tagger costs: `make bench-agent`. Not part of the tests; needs root and an idle
//! machine, and prints what it finds.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::socket::{setsockopt, sockopt};
use nix::unistd::Pid;

use crate::config::Config;
use crate::lab::{self, Pair};
use crate::sys;
use crate::tagger::{Entry, LoadOptions, Tagger};

const RUNS: usize = 11;
const EACH: Duration = Duration::from_millis(400);
/// Throughput is compared in slices that are short against what else the machine does: both of a
/// pair are then disturbed alike.
const SLICE: Duration = Duration::from_millis(30);
const PAIRS: usize = 400;
const ADDRESS: &str = "10.77.0.2:5001";
const RULE: &str = "interfaces = [\"east\"]\n\
                    thresholds = \"20KB 60KB 150KB 400KB 900KB 2MB 5MB\"\n";
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
        let listener = TcpListener::bind(ADDRESS).unwrap();
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

fn connect() -> TcpStream {
    let stream = TcpStream::connect(ADDRESS).unwrap();
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

/// Nanoseconds of the program behind `program` for each packet of a transfer.
fn nanoseconds(program: BorrowedFd<'_>) -> f64 {
    let before = sys::program_facts(program).unwrap();
    transfer(&mut connect(), EACH);
    let after = sys::program_facts(program).unwrap();
    (after.run_time_ns - before.run_time_ns) as f64 / (after.runs - before.runs) as f64
}

#[test]
#[ignore = "a measurement"]
fn run_time_of_a_packet() {
    if !lab::is_root("bench") {
        return;
    }
    let pair = Pair::new();
    receive(&pair.b);
    lab::on(&pair.a, || {
        stay();
        let index = nix::net::if_::if_nametoindex("east").unwrap();
        let _measured = sys::measure_run_time().unwrap();
        let cases = [
            ("every packet gets another code point", "dscp = [56, 48, 40, 32, 24, 16, 8, 4]\n"),
            ("the last level is code point 0", ""),
            ("an option is set that takes the long way", "respect-dscp = true\n"),
        ];
        for (what, code_points) in cases {
            let tagger = tagger(code_points);
            let (mut tagging, mut nothing, mut extra) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..RUNS {
                let link = sys::attach_tcx(tagger.program(Entry::Ethernet), index).unwrap();
                let tagged = nanoseconds(tagger.program(Entry::Ethernet).as_fd());
                drop(link);
                let empty_program = &tagger.skel().progs.nothing;
                let link = sys::attach_tcx(empty_program, index).unwrap();
                let empty = nanoseconds(empty_program.as_fd());
                drop(link);
                tagging.push(tagged);
                nothing.push(empty);
                extra.push(tagged - empty);
            }
            println!(
                "run time a packet where {what}: {:.0} ns, of an empty program {:.0} ns; the \
                 tagger's own: median {:.0} ns of {RUNS} runs",
                median(tagging),
                median(nothing),
                median(extra)
            );
        }
    })
    .join()
    .unwrap();
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

#[test]
#[ignore = "a measurement"]
fn throughput_with_and_without() {
    if !lab::is_root("bench") {
        return;
    }
    for (what, offload) in [("MTU-sized packets", false), ("super-packets of 64 KiB", true)] {
        let pair = Pair::new();
        if offload {
            for (host, interface) in [(&pair.a, "east"), (&pair.b, "west")] {
                lab::sh(&format!(
                    "nsenter --net=/run/netns/{host} ethtool -K {interface} tx on tso on gso on \
                     gro on >/dev/null; ip -n {host} link set {interface} gso_max_segs 65535"
                ));
            }
        }
        receive(&pair.b);
        lab::on(&pair.a, move || {
            stay();
            let tagger = tagger("dscp = [56, 48, 40, 32, 24, 16, 8, 4]\n");
            let index = nix::net::if_::if_nametoindex("east").unwrap();
            let mut stream = connect();
            transfer(&mut stream, EACH);
            let (mut with, mut without) = (Sum::default(), Sum::default());
            let losses: Vec<f64> = (0..PAIRS)
                .map(|pair| {
                    let mut rates = [0.0; 2];
                    // Which is first alternates, so that what drifts falls on both.
                    for tags in [pair % 2 == 0, pair % 2 == 1] {
                        let program = tagger.program(Entry::Ethernet);
                        let _link = tags.then(|| sys::attach_tcx(program, index).unwrap());
                        let sum = if tags { &mut with } else { &mut without };
                        rates[usize::from(tags)] = sum.slice(&mut stream);
                    }
                    (1.0 - rates[1] / rates[0]) * 100.0
                })
                .collect();
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
