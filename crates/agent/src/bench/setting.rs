//! What all measurements share: the tagger, and a stream with both ends on one processor.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::socket::{setsockopt, sockopt};
use nix::unistd::Pid;

use crate::config::Config;
use crate::lab::{self, Pair};
use crate::tagger::{LoadOptions, Tagger};

/// How long a program is measured, and how long a connection warms up.
pub(super) const EACH: Duration = Duration::from_millis(200);
pub(super) const ADDRESS: &str = "10.77.0.2:5001";
/// A stream exceeds the last threshold at once, so that nearly all its packets have the last level.
const RULE: &str = "interfaces = [\"east\"]\n\
                    thresholds = \"1KB 2KB 3KB 4KB 5KB 6KB 7KB\"\n";
/// The processor of sender, kernel and receiver. None of them waits for another, so the throughput
/// is the inverse of the processor time per byte.
const PROCESSOR: usize = 0;
/// The most bytes in flight: as many as fit into the caches.
const BUFFER: usize = 1 << 17;
pub(super) const BLOCK: usize = 1 << 16;

pub(super) fn tagger(code_points: &str) -> Tagger {
    let config = Config::parse(&format!("{RULE}{code_points}"), Path::new("rule")).unwrap();
    let tagger = Tagger::load(&config, None, LoadOptions::default()).unwrap();
    tagger.apply(&config).unwrap();
    tagger
}

/// Pins this thread to the processor that is measured.
pub(super) fn stay() {
    let mut set = CpuSet::new();
    set.set(PROCESSOR).unwrap();
    sched_setaffinity(Pid::from_raw(0), &set).unwrap();
}

/// Reads everything that connections send.
pub(super) fn receive(host: &str) {
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

pub(super) fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    setsockopt(&stream, sockopt::SndBuf, &BUFFER).unwrap();
    stream
}

/// The connection's throughput in bytes per second.
pub(super) fn transfer(stream: &mut TcpStream, time: Duration) -> f64 {
    let block = [7; BLOCK];
    let (start, mut sent) = (Instant::now(), 0);
    while start.elapsed() < time {
        stream.write_all(&block).unwrap();
        sent += block.len();
    }
    sent as f64 / start.elapsed().as_secs_f64()
}

/// Lets both ends send and receive super-packets.
pub(super) fn offload(pair: &Pair) {
    for (host, interface) in [(&pair.a, "east"), (&pair.b, "west")] {
        lab::sh(&format!(
            "nsenter --net=/run/netns/{host} ethtool -K {interface} tx on tso on gso on gro on \
             >/dev/null; ip -n {host} link set {interface} gso_max_segs 65535"
        ));
    }
}
