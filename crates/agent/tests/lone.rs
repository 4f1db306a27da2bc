//! Connections that send a single segment keep no state. Their tags, counts and records must be the
//! same as with a state, which a rule with an option gives them. Needs root.

#[path = "support/agent.rs"]
mod agent;
#[path = "support/lab.rs"]
mod lab;
#[path = "support/seen.rs"]
mod seen;

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::thread;
use std::time::Duration;

use agent::Agent;
use lab::{Capture, Pair, sh};
use nix::sys::socket::{MsgFlags, send, setsockopt, sockopt};
use seen::Seen;

const SINK: &str = "10.77.0.2:5001";
/// A server that reads nothing and sends a byte to each client.
const TALKER: &str = "10.77.0.2:5002";
/// A server on the tagged host.
const OWN: &str = "10.77.0.1:5003";
const RULE: &str = "thresholds = \"50B 200B\"\ndscp = [40, 20, 3]\n";
const MESSAGE: &str = "[message]\nidle = \"400ms\"\n";
/// Longer than the idle time of messages.
const PAUSE: Duration = Duration::from_millis(1000);
/// Enough for a packet to arrive.
const MOMENT: Duration = Duration::from_millis(20);
const FIRST: u64 = 100;
const SECOND: u64 = 150;

/// The tags, counts and records of a run.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    /// For each packet, the offset in the connection, the code point, and whether it is a FIN without
    /// data.
    packets: BTreeSet<(u32, u8, bool)>,
    flows: u64,
    begun: u64,
    ended: u64,
    sizes: String,
}

impl Outcome {
    fn new(agent: &Agent, frames: &[Vec<u8>]) -> Outcome {
        Outcome {
            packets: packets(frames),
            flows: agent.metric("flowsched_socket_flows_total"),
            begun: agent.metric("flowsched_messages_total{by=\"idle\"}"),
            ended: agent.metric("flowsched_message_bytes_count"),
            sizes: String::from_utf8(agent.run("histogram").stdout).unwrap(),
        }
    }

    fn expect(&self, flows: u64, begun: u64, sizes: &[u64], what: &str) {
        assert_eq!((self.flows, self.begun), (flows, begun), "{what}: {self:?}");
        assert_eq!(self.ended, sizes.len() as u64, "{what}: {self:?}");
        for size in sizes {
            let has_size = self.sizes.lines().any(|line| {
                let found = line.split(' ').next().and_then(|first| first.parse::<u64>().ok());
                found.is_some_and(|found| found.abs_diff(*size) * 100 <= *size)
            });
            assert!(has_size, "{what}: no message of {size} bytes: {self:?}");
        }
    }

    /// The code point of the data packet at an offset.
    fn code_point(&self, offset: u64) -> u8 {
        let found = self.packets.iter().find(|(at, _, fin)| u64::from(*at) == offset && !fin);
        found.unwrap_or_else(|| panic!("no packet at {offset}: {self:?}")).1
    }
}

/// Data packets and FINs that left the first host.
fn packets(frames: &[Vec<u8>]) -> BTreeSet<(u32, u8, bool)> {
    let seen: Vec<Seen> = frames.iter().filter_map(|frame| Seen::parse(frame)).collect();
    let sent = || seen.iter().filter(|packet| packet.from_first_host);
    let first = sent().find(|packet| packet.syn).unwrap().seq.wrapping_add(1);
    sent()
        .filter(|packet| packet.payload > 0 || packet.fin)
        .map(|packet| (packet.seq.wrapping_sub(first), packet.dscp, packet.payload == 0))
        .collect()
}

/// Accepts connections on the second host, and sends a byte to each, which clients need not read.
fn talk(host: &str) {
    let (ready, is_ready) = std::sync::mpsc::channel();
    lab::on(host, move || {
        let listener = TcpListener::bind(TALKER).unwrap();
        ready.send(()).unwrap();
        let mut streams = Vec::new();
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.write_all(&[1]);
            streams.push(stream);
        }
    });
    is_ready.recv().unwrap();
}

/// The actions of a client on the first host.
type Client = fn(&Pair);

/// Runs `client` under the rule and `more`.
fn outcome(more: &str, client: Client) -> Outcome {
    let pair = Pair::new();
    let agent = Agent::start(&pair, &format!("{RULE}{more}{MESSAGE}"), &[]);
    lab::sink(&pair.b, SINK);
    talk(&pair.b);
    let capture = Capture::start(&pair.b);
    lab::on(&pair.a, {
        let names = Pair { a: pair.a.clone(), b: pair.b.clone() };
        move || {
            client(&std::mem::ManuallyDrop::new(names));
            wait_for_acknowledgements();
            thread::sleep(MOMENT);
        }
    })
    .join()
    .unwrap();
    Outcome::new(&agent, &capture.end())
}

/// Runs `client` without state and with it. Checks that both outcomes are equal, and returns them.
fn same(what: &str, client: Client) -> Outcome {
    let without = outcome("", client);
    let with = outcome("force-ect = true\n", client);
    assert_eq!(without, with, "{what}");
    without
}

fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Opens a connection that has sent a first request. The request is acknowledged.
fn asked(address: &str) -> TcpStream {
    let mut stream = connect(address);
    stream.write_all(&[1; FIRST as usize]).unwrap();
    wait_for_acknowledgements();
    stream
}

/// The same, with an answer that has arrived and is not read.
fn answered() -> TcpStream {
    let stream = asked(TALKER);
    stream.peek(&mut [0]).unwrap();
    stream
}

/// Waits until everything that TCP has sent in this thread's namespace is acknowledged, FINs too.
fn wait_for_acknowledgements() {
    // The fifth field is the bytes that are not acknowledged, a colon, and the bytes that are not read.
    let waits = |line: &str| !line.split_whitespace().nth(4).unwrap().starts_with("00000000:");
    for _ in 0..3000 {
        let connections = std::fs::read_to_string("/proc/thread-self/net/tcp").unwrap();
        if !connections.lines().skip(1).any(waits) {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("something is not acknowledged after 30 s");
}

/// Closes the connection with a RST.
fn break_off(stream: TcpStream) {
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    setsockopt(&stream, sockopt::Linger, &linger).unwrap();
}

#[test]
fn a_request_is_recorded_once_when_its_connection_closes() {
    if !lab::is_root("a_request_is_recorded_once_when_its_connection_closes") {
        return;
    }
    let closed = same("closed", |_| drop(asked(SINK)));
    closed.expect(1, 0, &[FIRST], "closed");
    assert_eq!(closed.code_point(0), 40);
    assert!(closed.packets.contains(&(FIRST as u32, 20, true)), "{closed:?}");
    let at_once = same("closed at once", |_| {
        connect(SINK).write_all(&[1; FIRST as usize]).unwrap();
    });
    at_once.expect(1, 0, &[FIRST], "closed at once");
    same("nothing sent", |_| drop(connect(SINK))).expect(1, 0, &[], "nothing sent");
    let answer = same("answered", |pair| {
        let listener = TcpListener::bind(OWN).unwrap();
        let client = lab::on(&pair.b, || {
            let _ = TcpStream::connect(OWN).unwrap().read(&mut [0; 200]);
        });
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(&[1; FIRST as usize]).unwrap();
        drop(stream);
        client.join().unwrap();
    });
    answer.expect(1, 0, &[FIRST], "answered");
}

#[test]
fn a_request_is_recorded_once_when_its_connection_breaks_off() {
    if !lab::is_root("a_request_is_recorded_once_when_its_connection_breaks_off") {
        return;
    }
    same("RST", |_| break_off(asked(SINK))).expect(1, 0, &[FIRST], "RST");
    same("unread", |_| drop(answered())).expect(1, 0, &[FIRST], "unread");
}

#[test]
fn a_request_is_recorded_once_when_its_connection_is_shut() {
    if !lab::is_root("a_request_is_recorded_once_when_its_connection_is_shut") {
        return;
    }
    same("RST, nothing sent", |_| break_off(connect(SINK))).expect(0, 0, &[], "RST, nothing sent");
    let half_shut = same("shut", |_| {
        let stream = answered();
        stream.shutdown(Shutdown::Write).unwrap();
        thread::sleep(MOMENT);
    });
    half_shut.expect(1, 0, &[FIRST], "shut");
    let shut = same("shut both ways", |_| {
        let stream = answered();
        stream.shutdown(Shutdown::Both).unwrap();
        thread::sleep(MOMENT);
    });
    shut.expect(1, 0, &[FIRST], "shut both ways");
    let linger = same("shut, then RST", |_| {
        let stream = answered();
        stream.shutdown(Shutdown::Both).unwrap();
        thread::sleep(MOMENT);
        break_off(stream);
    });
    linger.expect(1, 0, &[FIRST], "shut, then RST");
}

#[test]
fn a_second_request_begins_a_message_after_a_pause_alone() {
    if !lab::is_root("a_second_request_begins_a_message_after_a_pause_alone") {
        return;
    }
    let paused = same("paused", |_| {
        let mut stream = asked(SINK);
        thread::sleep(PAUSE);
        stream.write_all(&[1; SECOND as usize]).unwrap();
    });
    paused.expect(1, 1, &[FIRST, SECOND], "paused");
    assert_eq!(paused.code_point(FIRST), 40);
    let without_sack = same("without SACK", |pair| {
        let host = &pair.a;
        sh(&format!("nsenter --net=/run/netns/{host} sysctl -qw net.ipv4.tcp_sack=0"));
        let mut stream = asked(SINK);
        thread::sleep(PAUSE);
        stream.write_all(&[1; SECOND as usize]).unwrap();
    });
    without_sack.expect(1, 1, &[FIRST, SECOND], "without SACK");
    let at_once = same("at once", |_| {
        let mut stream = asked(SINK);
        stream.write_all(&[1; SECOND as usize]).unwrap();
    });
    at_once.expect(1, 0, &[FIRST + SECOND], "at once");
    assert_eq!(at_once.code_point(FIRST), 20);
    // After 200 ms, TCP's own timer sends what the application has written but holds back.
    let held_back = same("held back", |_| {
        let stream = asked(SINK);
        thread::sleep(PAUSE);
        let more_follows = MsgFlags::from_bits_retain(libc::MSG_MORE);
        send(stream.as_raw_fd(), &[1; SECOND as usize], more_follows).unwrap();
        thread::sleep(PAUSE);
    });
    held_back.expect(1, 0, &[FIRST + SECOND], "held back");
    assert_eq!(held_back.code_point(FIRST), 20);
}

#[test]
fn bulk_after_a_request_is_tagged_by_its_offset() {
    if !lab::is_root("bulk_after_a_request_is_tagged_by_its_offset") {
        return;
    }
    const BULK: usize = 30_000;
    let bulk = same("bulk", |_| asked(SINK).write_all(&[1; BULK]).unwrap());
    bulk.expect(1, 0, &[FIRST + BULK as u64], "bulk");
    for (offset, dscp, _) in &bulk.packets {
        let expected = [40, 20, 3][usize::from(*offset > 50) + usize::from(*offset > 200)];
        assert_eq!(*dscp, expected, "offset {offset}");
    }
}

/// From now on, the second host does not receive from the first.
fn deafen(pair: &Pair) {
    sh(&format!("ip -n {} addr del 10.77.0.2/24 dev west", pair.b));
}

/// Lets the second host receive again after a few time-outs of the first, and waits until it has
/// received what was sent.
fn hear_again(pair: &Pair) {
    thread::sleep(Duration::from_millis(900));
    sh(&format!("ip -n {} addr add 10.77.0.2/24 dev west", pair.b));
    wait_for_acknowledgements();
}

#[test]
fn a_request_that_is_sent_again_is_counted_once() {
    if !lab::is_root("a_request_that_is_sent_again_is_counted_once") {
        return;
    }
    let again = same("again", |pair| {
        let mut stream = connect(SINK);
        deafen(pair);
        stream.write_all(&[1; FIRST as usize]).unwrap();
        hear_again(pair);
        thread::sleep(PAUSE);
        stream.write_all(&[1; SECOND as usize]).unwrap();
    });
    again.expect(1, 1, &[FIRST, SECOND], "again");
}

#[test]
fn a_request_that_is_sent_again_after_its_end_is_counted_once() {
    if !lab::is_root("a_request_that_is_sent_again_after_its_end_is_counted_once") {
        return;
    }
    let closed = same("again, closed", |pair| {
        let mut stream = connect(SINK);
        deafen(pair);
        stream.write_all(&[1; FIRST as usize]).unwrap();
        drop(stream);
        hear_again(pair);
    });
    closed.expect(1, 0, &[FIRST], "again, closed");
    let nothing = same("FIN again", |pair| {
        let stream = connect(SINK);
        deafen(pair);
        drop(stream);
        hear_again(pair);
    });
    nothing.expect(1, 0, &[], "FIN again");
}

/// Runs `action` while the queue has no room. Packets that TCP sends do not leave, and a timer sends
/// them again.
fn without_room(pair: &Pair, action: impl FnOnce()) {
    sh(&format!("tc -n {} qdisc add dev east root bfifo limit 10", pair.a));
    action();
    sh(&format!("tc -n {} qdisc del dev east root", pair.a));
    wait_for_acknowledgements();
}

#[test]
fn what_finds_no_room_in_the_queue_is_counted_once() {
    if !lab::is_root("what_finds_no_room_in_the_queue_is_counted_once") {
        return;
    }
    let request = same("request", |pair| {
        let mut stream = connect(SINK);
        without_room(pair, || stream.write_all(&[1; FIRST as usize]).unwrap());
        thread::sleep(PAUSE);
        stream.write_all(&[1; SECOND as usize]).unwrap();
    });
    request.expect(1, 1, &[FIRST, SECOND], "request");
    let end = same("end", |pair| {
        let stream = asked(SINK);
        without_room(pair, || drop(stream));
    });
    end.expect(1, 0, &[FIRST], "end");
    let nothing = same("end of nothing", |pair| {
        let stream = connect(SINK);
        without_room(pair, || drop(stream));
    });
    nothing.expect(1, 0, &[], "end of nothing");
}

/// The state of a connection that has sent a request must survive the agent and the rule.
#[test]
fn a_second_request_is_known_after_a_restart_and_another_rule() {
    if !lab::is_root("a_second_request_is_known_after_a_restart_and_another_rule") {
        return;
    }
    let selected = "[select]\nports = [\"5001\"]\n";
    let pair = Pair::new();
    lab::sink(&pair.b, SINK);
    let mut agent = Agent::start(&pair, &format!("{RULE}{MESSAGE}"), &[]);
    let mut streams = lab::on(&pair.a, || [asked(SINK), asked(SINK)]).join().unwrap();
    agent.signal("-KILL");
    agent.wait();
    agent.launch(&[]);
    thread::sleep(PAUSE);
    let [restarted, reloaded] = &mut streams;
    restarted.write_all(&[1; SECOND as usize]).unwrap();
    agent.forget();
    agent.configure(&format!("{RULE}{MESSAGE}{selected}"));
    agent.wait_for("in force");
    reloaded.write_all(&[1; SECOND as usize]).unwrap();
    drop(streams);
    thread::sleep(MOMENT);
    let counted = |agent: &Agent| {
        (
            agent.metric("flowsched_socket_flows_total"),
            agent.metric("flowsched_messages_total{by=\"idle\"}"),
            agent.metric("flowsched_message_bytes_count"),
        )
    };
    assert_eq!(counted(&agent), (2, 2, 4));
    // Another port is not selected, so the tagger never saw such a connection.
    talk(&pair.b);
    let mut unseen = lab::on(&pair.a, || asked(TALKER)).join().unwrap();
    agent.forget();
    agent.configure(&format!("{RULE}{MESSAGE}"));
    agent.wait_for("in force");
    thread::sleep(PAUSE);
    assert_eq!(counted(&agent), (2, 2, 4));
    unseen.write_all(&[1; SECOND as usize]).unwrap();
    thread::sleep(MOMENT);
    assert_eq!(counted(&agent), (3, 2, 4), "a connection that was not seen is older");
}
