//! A bulk flow that its receiver or the network delays never returns to the top priority. It is one
//! message for as long as the application has more to send (PIAS ToN 2017, IV-A.1). Needs root.

#[path = "support/agent.rs"]
mod agent;
#[path = "support/crowded.rs"]
mod crowded;
#[path = "support/lab.rs"]
mod lab;
#[path = "support/seen.rs"]
mod seen;

use std::collections::BTreeMap;
use std::io::Read;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

use agent::Agent;
use crowded::Crowded;
use lab::{Capture, Pair, sh};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{setsockopt, sockopt};
use seen::Seen;

const SINK: &str = "10.77.0.2:5001";
const PORT: u16 = 5001;
const RULE: &str = "thresholds = \"20KB 100KB\"\ndscp = [40, 20, 3]\n[ageing]\ntimeouts = 0\n";
/// The bytes that a writer without enough processor time sends.
const LATE_BYTES: usize = 1_000_000;
/// The bytes that a sender that asks for room sends.
const POLITE_BYTES: usize = 250_000;
const ENDS: [&str; 2] = ["acknowledged", "sent"];

fn level_at(offset: u64) -> u8 {
    [40, 20, 3][usize::from(offset > 20_000) + usize::from(offset > 100_000)]
}

/// How a server reads from a connection.
#[derive(Clone, Copy)]
struct Reader {
    /// The size of its receive buffer in bytes.
    buffer: usize,
    /// The bytes that it reads at a time.
    chunk: usize,
    /// The pause after each read.
    pause: Duration,
}

fn read(host: &str, reader: Reader) {
    let (ready, is_ready) = std::sync::mpsc::channel();
    lab::on(host, move || {
        let listener = TcpListener::bind(SINK).unwrap();
        // Connections inherit the listener's buffer size.
        setsockopt(&listener, sockopt::RcvBuf, &reader.buffer).unwrap();
        ready.send(()).unwrap();
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            thread::spawn(move || {
                let mut chunk = vec![0; reader.chunk];
                while stream.read(&mut chunk).is_ok_and(|length| length > 0) {
                    thread::sleep(reader.pause);
                }
            });
        }
    });
    is_ready.recv().unwrap();
}

/// Sends `bytes` bytes on each of `connections` connections at once, from `host`. `buffer` is the size
/// of the send buffer; if it is large enough for all bytes, the sender never waits for room.
fn send(host: &str, connections: usize, bytes: usize, buffer: Option<usize>) {
    let sending: Vec<_> = (0..connections)
        .map(|_| {
            lab::on(host, move || {
                let mut stream = TcpStream::connect(SINK).unwrap();
                if let Some(buffer) = buffer {
                    setsockopt(&stream, sockopt::SndBufForce, &buffer).unwrap();
                }
                stream.write_all(&vec![7; bytes]).unwrap();
                stream.shutdown(std::net::Shutdown::Write).unwrap();
                // Wait until the other end has read everything.
                let _ = stream.read(&mut [0]);
            })
        })
        .collect();
    sending.into_iter().for_each(|one| one.join().unwrap());
}

/// Checks that every data packet has the level of its offset in its connection.
fn check(frames: &[Vec<u8>], connections: usize, bytes: usize, what: &str) {
    let seen: Vec<Seen> = frames.iter().filter_map(|frame| Seen::parse(frame)).collect();
    let mut first: BTreeMap<u16, u32> = BTreeMap::new();
    let mut last: BTreeMap<u16, u64> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut packets = 0;
    for packet in seen.iter().filter(|packet| packet.to == PORT) {
        if packet.syn {
            first.insert(packet.from, packet.seq.wrapping_add(1));
        }
        if packet.payload == 0 {
            continue;
        }
        let offset = u64::from(packet.seq.wrapping_sub(first[&packet.from]));
        let end = last.entry(packet.from).or_default();
        *end = (*end).max(offset + packet.payload as u64);
        packets += 1;
        if packet.dscp != level_at(offset) {
            wrong.push((packet.from, offset, packet.dscp));
        }
    }
    assert_eq!(first.len(), connections, "{what}: connections");
    assert!(last.values().all(|end| *end == bytes as u64), "{what}: {last:?}");
    let few = &wrong[..wrong.len().min(5)];
    assert!(wrong.is_empty(), "{what}: {} of {packets} have another level: {few:?}", wrong.len());
}

fn rule(end: &str) -> String {
    format!("{RULE}[message]\nidle = \"500us\"\nend = \"{end}\"\n")
}

/// A rule whose pause is longer than a busy processor delays a sender, and shorter than the delays of the receiver's
/// reads or acknowledgements in the tests that use it.
fn patient_rule(end: &str) -> String {
    format!("{RULE}[message]\nidle = \"20ms\"\nend = \"{end}\"\n")
}

#[test]
fn a_slow_reader_does_not_return_its_sender_to_the_top() {
    if !lab::is_root("a_slow_reader_does_not_return_its_sender_to_the_top") {
        return;
    }
    for end in ENDS {
        let pair = Pair::new();
        let _agent = Agent::start(&pair, &rule(end), &[]);
        let pause = Duration::from_millis(5);
        read(&pair.b, Reader { buffer: 16_384, chunk: 8_192, pause });
        let capture = Capture::start(&pair.b);
        send(&pair.a, 1, 1_000_000, None);
        check(&capture.end(), 1, 1_000_000, end);
    }
}

#[test]
fn a_small_window_on_a_long_path_does_not_return_its_sender_to_the_top() {
    if !lab::is_root("a_small_window_on_a_long_path_does_not_return_its_sender_to_the_top") {
        return;
    }
    for end in ENDS {
        let pair = Pair::new();
        delay_acknowledgements(&pair);
        let _agent = Agent::start(&pair, &rule(end), &[]);
        read(&pair.b, Reader { buffer: 16_384, chunk: 65_536, pause: Duration::ZERO });
        let capture = Capture::start(&pair.b);
        send(&pair.a, 1, 1_000_000, None);
        check(&capture.end(), 1, 1_000_000, end);
    }
}

/// Makes the acknowledgement path of the pair slow: each acknowledgement takes more than 2 ms.
fn delay_acknowledgements(pair: &Pair) {
    slow_acknowledgements(pair, "200kbit");
}

/// Lets acknowledgements return at this rate.
fn slow_acknowledgements(pair: &Pair, rate: &str) {
    sh(&format!(
        "tc -n {} qdisc add dev west root tbf rate {rate} burst 1600 limit 100000",
        pair.b
    ));
}

/// The send buffer is full, and all of it is on its way. The writer waits inside one write.
#[test]
fn a_small_send_buffer_does_not_return_its_sender_to_the_top() {
    if !lab::is_root("a_small_send_buffer_does_not_return_its_sender_to_the_top") {
        return;
    }
    for end in ENDS {
        let pair = Pair::new();
        // Each acknowledgement takes more than 50 ms.
        slow_acknowledgements(&pair, "10kbit");
        let _agent = Agent::start(&pair, &patient_rule(end), &[]);
        read(&pair.b, Reader { buffer: 1 << 20, chunk: 65_536, pause: Duration::ZERO });
        let capture = Capture::start(&pair.b);
        send(&pair.a, 1, 150_000, Some(8_192));
        check(&capture.end(), 1, 150_000, end);
    }
}

/// The sender writes little at a time, and only when the kernel says that there is room. The kernel
/// makes it wait before its send buffer is full, while all of the buffer is on its way.
#[test]
fn a_sender_that_asks_for_room_does_not_return_to_the_top() {
    if !lab::is_root("a_sender_that_asks_for_room_does_not_return_to_the_top") {
        return;
    }
    for end in ENDS {
        let pair = Pair::new();
        let _agent = Agent::start(&pair, &patient_rule(end), &[]);
        let pause = Duration::from_millis(60);
        read(&pair.b, Reader { buffer: 16_384, chunk: 8_192, pause });
        let capture = Capture::start(&pair.b);
        lab::on(&pair.a, || ask_and_write(8_000, 2_000, POLITE_BYTES)).join().unwrap();
        check(&capture.end(), 1, POLITE_BYTES, end);
    }
}

/// Asks for room in a send buffer of `buffer` bytes before each write.
fn ask_and_write(buffer: usize, at_once: usize, bytes: usize) {
    let mut stream = TcpStream::connect(SINK).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_nonblocking(true).unwrap();
    setsockopt(&stream, sockopt::SndBufForce, &buffer).unwrap();
    let mut left = bytes;
    while left > 0 {
        let mut asked = [PollFd::new(stream.as_fd(), PollFlags::POLLOUT)];
        poll(&mut asked, PollTimeout::NONE).unwrap();
        left -= stream.write(&vec![7; at_once.min(left)]).unwrap();
    }
    stream.set_nonblocking(false).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let _ = stream.read(&mut [0]);
}

/// The send buffer drains while the writer, which should fill it again, waits for a processor.
#[test]
fn a_writer_that_runs_late_does_not_return_to_the_top() {
    if !lab::is_root("a_writer_that_runs_late_does_not_return_to_the_top") {
        return;
    }
    for end in ENDS {
        let pair = Pair::new();
        delay_acknowledgements(&pair);
        let _agent = Agent::start(&pair, &rule(end), &[]);
        read(&pair.b, Reader { buffer: 16_384, chunk: 65_536, pause: Duration::ZERO });
        let capture = Capture::start(&pair.b);
        let sending = lab::on(&pair.a, || {
            let mut stream = TcpStream::connect(SINK).unwrap();
            setsockopt(&stream, sockopt::SndBufForce, &16_384).unwrap();
            let crowded = Crowded::new(3);
            stream.write_all(&vec![7; LATE_BYTES]).unwrap();
            drop(crowded);
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            let _ = stream.read(&mut [0]);
        });
        sending.join().unwrap();
        check(&capture.end(), 1, LATE_BYTES, end);
    }
}

#[test]
fn a_narrow_link_does_not_return_its_flows_to_the_top() {
    if !lab::is_root("a_narrow_link_does_not_return_its_flows_to_the_top") {
        return;
    }
    for (end, connections) in [(ENDS[0], 2), (ENDS[1], 2), (ENDS[0], 16), (ENDS[1], 16)] {
        let pair = Pair::new();
        sh(&format!(
            "tc -n {} qdisc add dev east root tbf rate 20mbit burst 3000 limit 60000",
            pair.a
        ));
        let _agent = Agent::start(&pair, &rule(end), &[]);
        read(&pair.b, Reader { buffer: 1 << 20, chunk: 65_536, pause: Duration::ZERO });
        let capture = Capture::start(&pair.b);
        send(&pair.a, connections, 400_000, None);
        check(&capture.end(), connections, 400_000, &format!("{end}, {connections} flows"));
    }
}

/// A connection that is forwarded has no socket here. Only arriving packets distinguish a pause of the
/// receiver from one of the sender.
#[test]
fn a_slow_reader_of_a_forwarded_flow_does_not_return_it_to_the_top() {
    if !lab::is_root("a_slow_reader_of_a_forwarded_flow_does_not_return_it_to_the_top") {
        return;
    }
    for hook in [&[][..], &["--clsact"]] {
        let pair = Pair::new();
        let _agent = Agent::start(&pair, &format!("{RULE}[flows]\nidle = \"50ms\"\n"), hook);
        let container = pair.container();
        // Shorter than the 200 ms after which TCP's own timer sends into a small window. Nothing but the
        // pause itself would show that the timer ended it.
        let pause = Duration::from_millis(150);
        read(&pair.b, Reader { buffer: 65_536, chunk: 131_072, pause });
        let capture = Capture::start(&pair.b);
        // Write everything at once, so that no pause is the application's.
        send(&container, 1, 400_000, Some(2_000_000));
        check(&capture.end(), 1, 400_000, "forwarded");
    }
}
