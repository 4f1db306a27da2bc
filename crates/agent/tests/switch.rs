//! Tests the output of `flowsched switch-config --platform linux-tc` on a real kernel: the order in which a
//! port sends packets, and which ones are marked. Needs root.

#[path = "support/lab.rs"]
mod lab;
#[path = "support/seen.rs"]
mod seen;

use std::net::UdpSocket;
use std::thread::sleep;
use std::time::Duration;

use flowsched_fleet::Levels;
use flowsched_switches::{Platform, Request};
use flowsched_units::{Bytes, Rate};
use lab::{Capture, Pair};
use nix::sys::socket::{setsockopt, sockopt};
use seen::Seen;

const SENT: usize = 200;
const ECT0: i32 = 2;
/// The code points of the levels.
const TOP: i32 = 48;
const MIDDLE: i32 = 32;
const LOWEST: i32 = 0;

/// Sends batches of datagrams out of the port, one right after another. A batch is given by its code
/// point and its number of datagrams.
fn send(pair: &Pair, batches: &'static [(i32, usize)]) {
    lab::on(&pair.a, move || {
        let open = |dscp: i32| {
            let socket = UdpSocket::bind("10.77.0.1:0").unwrap();
            setsockopt(&socket, sockopt::Ipv4Tos, &(dscp << 2 | ECT0)).unwrap();
            setsockopt(&socket, sockopt::SndBufForce, &(4 << 20)).unwrap();
            socket
        };
        // Open all sockets first: on a slow machine, the port may send a packet in the time that opening
        // one takes.
        let sockets: Vec<_> = batches.iter().map(|(dscp, count)| (open(*dscp), *count)).collect();
        for (socket, count) in &sockets {
            for _ in 0..*count {
                socket.send_to(&[1; 1000], "10.77.0.2:9").unwrap();
            }
        }
    })
    .join()
    .unwrap();
}

/// Runs the printed script on the first host. Returns whether the kernel has what it needs.
fn set_up(pair: &Pair, script: &std::path::Path) -> bool {
    let mut command = std::process::Command::new("nsenter");
    command.arg(format!("--net=/run/netns/{}", pair.a)).arg("sh").arg(script);
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    let is_missing = error.contains("qdisc kind is unknown");
    assert!(output.status.success() || is_missing, "{error}");
    !is_missing
}

#[test]
fn a_printed_port_sends_by_priority_and_marks_beyond_the_threshold() {
    if !lab::is_root("a_printed_port_sends_by_priority_and_marks_beyond_the_threshold") {
        return;
    }
    let pair = Pair::new();
    let request = Request {
        levels: Levels::parse("20KB 100KB", None).unwrap(),
        ports: vec!["east".into()],
        // So slow that the queue holds nearly everything that is sent.
        rate: Rate::from_bps(400_000),
        mark_at: Bytes::new(30_000),
        buffer: Bytes::new(480_000),
    };
    let script = Platform::LinuxTc.print(&request).text;
    let path = std::env::temp_dir().join(format!("flowsched-switch-{}", std::process::id()));
    std::fs::write(&path, script).unwrap();
    let is_set_up = set_up(&pair, &path);
    let _ = std::fs::remove_file(path);
    if !is_set_up {
        eprintln!("skipped: this kernel has no TBF, RED or PRIO (crates/agent/kernels/run.sh)");
        return;
    }
    let capture = Capture::start(&pair.b);
    // From here on, the neighbour's address is known, and the burst is spent.
    send(&pair, &[(0, 90)]);
    sleep(Duration::from_secs(1));
    send(&pair, &[(LOWEST, SENT), (MIDDLE, 3), (TOP, 3)]);
    sleep(Duration::from_secs(8));
    let frames = capture.end();
    let seen: Vec<Seen> = frames.iter().filter_map(|frame| Seen::parse(frame)).collect();
    let seen: Vec<&Seen> = seen.iter().filter(|packet| packet.to == 9).collect();
    let place = |dscp: u8| seen.iter().position(|packet| packet.dscp == dscp).unwrap();
    let last = |dscp: u8| seen.iter().rposition(|packet| packet.dscp == dscp).unwrap();
    assert!(last(TOP as u8) < place(MIDDLE as u8), "the middle level goes before the top");
    let behind = seen.len() - 1 - last(MIDDLE as u8);
    assert!(behind > SENT / 2, "only {behind} packets were overtaken");
    let marked = seen.iter().filter(|packet| packet.ecn == 3).count();
    let unmarked = seen.iter().filter(|packet| packet.ecn == 2).count();
    println!("{marked} marked, {unmarked} not, {behind} overtaken");
    assert!(marked > 50 && unmarked > 20, "{marked} marked, {unmarked} not");
}
