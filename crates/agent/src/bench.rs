//! What the tagger costs: `make bench-agent`. Not part of the tests; needs root and an idle
//! machine, and prints what it finds.

use std::io::Write;
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::config::Config;
use crate::lab::{self, Pair};
use crate::sys;
use crate::tagger::{Entry, LoadOptions, Tagger};

const RUNS: usize = 11;
const EACH: Duration = Duration::from_millis(400);
const ADDRESS: &str = "10.77.0.2:5001";
const RULE: &str = "interfaces = [\"east\"]\n\
                    thresholds = \"20KB 60KB 150KB 400KB 900KB 2MB 5MB\"\n";

fn tagger() -> Tagger {
    let config = Config::parse(RULE, Path::new("rule")).unwrap();
    let tagger = Tagger::load(&config, None, LoadOptions::default()).unwrap();
    tagger.apply(&config).unwrap();
    tagger
}

/// Bytes that one connection gets across in [`EACH`].
fn transfer() -> f64 {
    let mut stream = TcpStream::connect(ADDRESS).unwrap();
    let block = vec![7; 1 << 18];
    let (start, mut sent) = (Instant::now(), 0);
    while start.elapsed() < EACH {
        stream.write_all(&block).unwrap();
        sent += block.len();
    }
    sent as f64 / start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Nanoseconds of the program behind `program` for each packet of a transfer.
fn nanoseconds(program: BorrowedFd<'_>) -> f64 {
    let before = sys::program_facts(program).unwrap();
    transfer();
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
    lab::sink(&pair.b, ADDRESS);
    lab::on(&pair.a, || {
        let tagger = tagger();
        let index = nix::net::if_::if_nametoindex("east").unwrap();
        let _measured = sys::measure_run_time().unwrap();
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
            "run time a packet: {:.0} ns, of an empty program {:.0} ns; the tagger's own: median \
             {:.0} ns of {RUNS} runs",
            median(tagging),
            median(nothing),
            median(extra)
        );
    })
    .join()
    .unwrap();
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
        lab::sink(&pair.b, ADDRESS);
        lab::on(&pair.a, move || {
            let tagger = tagger();
            let index = nix::net::if_::if_nametoindex("east").unwrap();
            transfer();
            // Pairs of runs next to each other, so that what else the machine does falls on both.
            let losses: Vec<f64> = (0..2 * RUNS)
                .map(|run| {
                    let with = || {
                        let _link =
                            sys::attach_tcx(tagger.program(Entry::Ethernet), index).unwrap();
                        transfer()
                    };
                    let (with, without) = if run % 2 == 0 {
                        let with = with();
                        (with, transfer())
                    } else {
                        let without = transfer();
                        (with(), without)
                    };
                    (1.0 - with / without) * 100.0
                })
                .collect();
            let mean = losses.iter().sum::<f64>() / losses.len() as f64;
            let variance = losses.iter().map(|loss| (loss - mean).powi(2)).sum::<f64>()
                / (losses.len() - 1) as f64;
            let half = 2.08 * (variance / losses.len() as f64).sqrt();
            println!(
                "throughput lost with {what}: {mean:.1} % (95 % interval {:.1} to {:.1} %, median \
                 {:.1} %, {} pairs)",
                mean - half,
                mean + half,
                median(losses),
                2 * RUNS
            );
        })
        .join()
        .unwrap();
    }
}
