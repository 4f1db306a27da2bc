//! The run time per packet, minus that of an empty program in the same minute.

use std::net::UdpSocket;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use libbpf_rs::Program;

use super::floors::Floors;
use super::pairs::median;
use super::setting::{ADDRESS, EACH, connect, receive, stay, tagger, transfer};
use crate::entry::Entry;
use crate::lab::{self, Pair};
use crate::sys;

/// [`ADDRESS`] at the other end of a tunnel.
const TUNNELLED: &str = "10.88.0.2:5001";
const RUNS: usize = 11;

/// The number of datagrams that are sent before the sender waits for the receiver.
const WINDOW: usize = 32;
const DATAGRAM: usize = 1200;

/// Reads datagrams, and tells the sender after each window of them.
fn receive_datagrams(host: &str) {
    let (ready, is_ready) = std::sync::mpsc::channel();
    lab::on(host, move || {
        stay();
        let socket = UdpSocket::bind(ADDRESS).unwrap();
        ready.send(()).unwrap();
        let mut buffer = [0; DATAGRAM];
        for count in 1usize.. {
            let Ok((_, from)) = socket.recv_from(&mut buffer) else { return };
            if count.is_multiple_of(WINDOW) {
                let _ = socket.send_to(&[0], from);
            }
        }
    });
    is_ready.recv().unwrap();
}

fn send_datagrams(socket: &UdpSocket, time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        for _ in 0..WINDOW {
            socket.send(&[7; DATAGRAM]).unwrap();
        }
        socket.recv(&mut [0]).unwrap();
    }
}

/// The traffic while a program's run time is measured.
#[derive(Clone, Copy)]
enum Load {
    Stream,
    Datagrams,
    /// A stream of another host that this host forwards.
    Forwarded,
    /// A stream in a VXLAN tunnel.
    Tunnelled,
}

impl Load {
    fn send(self, container: &str) {
        let stream = |address| {
            transfer(&mut connect(address), EACH);
        };
        match self {
            Load::Stream => stream(ADDRESS),
            Load::Tunnelled => stream(TUNNELLED),
            Load::Forwarded => {
                let send = move || {
                    stay();
                    stream(ADDRESS);
                };
                lab::on(container, send).join().unwrap();
            }
            Load::Datagrams => {
                let socket = UdpSocket::bind("10.77.0.1:0").unwrap();
                socket.connect(ADDRESS).unwrap();
                send_datagrams(&socket, EACH);
            }
        }
    }
}

/// The run time of the program behind `program` per packet, in nanoseconds.
fn nanoseconds(program: BorrowedFd<'_>, load: Load, container: &str) -> f64 {
    let before = sys::program_facts(program).unwrap();
    load.send(container);
    let after = sys::program_facts(program).unwrap();
    (after.run_time_ns - before.run_time_ns) as f64 / (after.runs - before.runs) as f64
}

const OTHERS: &str = "dscp = [56, 48, 40, 32, 24, 16, 8, 4]\n";
/// The cases: their names, the traffic, and the rule apart from its thresholds.
const CASES: [(&str, Load, &str); 16] = [
    ("TCP, every packet gets another code point", Load::Stream, OTHERS),
    ("TCP, the last level is code point 0", Load::Stream, ""),
    ("TCP, respect-dscp", Load::Stream, "respect-dscp = true\n"),
    ("TCP, force-ect", Load::Stream, "force-ect = true\n"),
    ("TCP, message.start", Load::Stream, "[message]\nstart = \"priority\"\n"),
    ("TCP, select.ports", Load::Stream, "[select]\nports = [\"5001\"]\n"),
    ("TCP, select.prefixes", Load::Stream, "[select]\nprefixes = [\"10.77.0.0/24\"]\n"),
    ("TCP, not selected", Load::Stream, "[select]\nports = [\"5002\"]\n"),
    ("UDP, every packet gets another code point", Load::Datagrams, OTHERS),
    ("UDP, the last level is code point 0", Load::Datagrams, ""),
    ("UDP, select.ports", Load::Datagrams, "[select]\nports = [\"5001\"]\n"),
    ("UDP, every packet begins a message", Load::Datagrams, "[flows]\nidle = \"1us\"\n"),
    ("TCP that is forwarded, another code point", Load::Forwarded, OTHERS),
    ("TCP that is forwarded, code point 0", Load::Forwarded, ""),
    ("TCP in VXLAN, another code point", Load::Tunnelled, OTHERS),
    ("TCP in VXLAN, code point 0", Load::Tunnelled, ""),
];

/// What all measurements share.
struct Bench {
    index: u32,
    container: String,
    floors: Floors,
}

impl Bench {
    /// The run time of `program` per packet in nanoseconds, while it is the only program on the
    /// interface.
    fn nanoseconds(&self, program: &Program<'_>, load: Load) -> f64 {
        let _link = sys::attach_tcx_first(program.as_fd(), self.index, true).unwrap();
        nanoseconds(program.as_fd(), load, &self.container)
    }

    /// Measures `program` and an empty one alternately.
    fn compare(&self, what: &str, program: &Program<'_>, load: Load) {
        let (mut all, mut nothing, mut extra) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..RUNS {
            let one = self.nanoseconds(program, load);
            let empty = self.nanoseconds(self.floors.nothing(), load);
            all.push(one);
            nothing.push(empty);
            extra.push(one - empty);
        }
        println!(
            "run time a packet, {what}: {:.0} ns, of an empty program {:.0} ns; its own: median \
             {:.0} ns of {RUNS} runs",
            median(all),
            median(nothing),
            median(extra)
        );
    }
}

#[test]
#[ignore = "a measurement"]
fn run_time_of_a_packet() {
    if !lab::is_root("bench") {
        return;
    }
    let pair = Pair::new();
    receive(&pair.b);
    receive_datagrams(&pair.b);
    pair.tunnel();
    let container = pair.container();
    lab::on(&pair.a, move || {
        stay();
        let index = nix::net::if_::if_nametoindex("east").unwrap();
        let _measured = sys::measure_run_time().unwrap();
        let bench = Bench { index, container, floors: Floors::load() };
        for (with, load) in [("TCP", Load::Stream), ("UDP", Load::Datagrams)] {
            for (what, program) in bench.floors.all() {
                bench.compare(&format!("floor with {with}, {what}"), program, load);
            }
        }
        for (what, load, more) in CASES {
            let tagger = tagger(more);
            bench.compare(what, tagger.program(Entry::TagEthernet), load);
        }
    })
    .join()
    .unwrap();
}
