//! Compares the lab's own DCTCP with the simulator's, on the ACKs that a real sender gets.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use flowsched_schemes::on_linux::RealHosts;
use flowsched_schemes::transport::tcp::congestion::{
    Acked, Ahead, CongestionControl, Dctcp, DctcpSettings, Loss, Window,
};
use flowsched_units::Time;
use libbpf_rs::RingBufferBuilder;
use libbpf_rs::query::LinkInfoIter;

use super::*;
use crate::run::{Extras, Lab};
use first_run::FirstRun;
use unwatched::unwatched;

#[path = "../../tests/support/first_run.rs"]
mod first_run;
#[path = "../../tests/support/unwatched.rs"]
mod unwatched;

/// Two senders that share a link of 20 Mbps, whose port marks from 8 packets on.
fn experiment(buffer: &str) -> FirstRun {
    FirstRun::of(&format!(
        "
        topology = {{ kind = \"star\", hosts = 3, host_link = \"20Mbps\", host_delay = \"200us\" }}
        workload = {{ pattern = \"many-to-one\", receiver = 0, sizes = \"fixed 1MB\", flows = 2, at = \"0ms\" }}
        scheme = [{{ preset = \"dctcp\", ecn_threshold = \"8pkt\", buffer = \"{buffer}\" }}]
        "
    ))
}

/// A buffer in which everything has room.
const AMPLE: &str = "1MB";
/// A buffer of little more than the marking threshold, which slow start overruns.
const SHORT: &str = "10pkt";

/// `struct record` of the BPF program.
#[derive(Clone, Copy, Debug)]
struct Record {
    socket: u64,
    unacknowledged: u32,
    next: u32,
    segment: u32,
    is_marked: bool,
    alpha: f64,
    window: u32,
    /// The new threshold, in a record of a cut. It is that of a loss unless `is_marked`. When the kernel finds a loss, it
    /// first asks for the threshold of marks, which is another record.
    threshold: Option<u32>,
}

impl Record {
    fn read(bytes: &[u8]) -> Record {
        let word = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap());
        Record {
            socket: u64::from_ne_bytes(bytes[..8].try_into().unwrap()),
            unacknowledged: word(8),
            next: word(12),
            segment: word(16),
            is_marked: word(20) != 0,
            alpha: f64::from(word(24)) / f64::from(ONE),
            window: word(28),
            threshold: Some(word(32)).filter(|threshold| *threshold > 0),
        }
    }
}

/// What the senders of a real run recorded, by connection, and how many packets were dropped.
fn recorded(settings: &KernelDctcp, buffer: &str) -> (BTreeMap<u64, Vec<Record>>, u64) {
    let congestion = Congestion::register(settings, true).unwrap();
    let first = experiment(buffer);
    let (job, scheme) = (first.job(), first.scheme());
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::in_folder(folder.path());
    let RealHosts::Kernel(on_linux) = scheme.on_linux().unwrap() else { panic!("TCP") };
    let ran = unwatched(|watch| {
        lab.run_kernel(on_linux, &congestion, &job, scheme, Extras::default(), watch)
    });
    let (outcome, _) = ran.unwrap();
    assert!(outcome.ecn_marks > 0, "{outcome:?}");

    let records: RefCell<BTreeMap<u64, Vec<Record>>> = RefCell::default();
    let mut ring = RingBufferBuilder::new();
    let own = congestion.own.as_ref().unwrap();
    ring.add(&own.records, |bytes| {
        let record = Record::read(bytes);
        records.borrow_mut().entry(record.socket).or_default().push(record);
        0
    })
    .unwrap();
    ring.build().unwrap().poll(Duration::ZERO).unwrap();
    let mut records = records.take();
    // Receivers and idle connections send no data; the end of a connection counts as a byte.
    records.retain(|_, records| {
        let (first, last) = (records[0], records[records.len() - 1]);
        last.next.wrapping_sub(first.next) > first.segment
    });
    assert_eq!(records.len(), 2, "senders");
    (records, outcome.drops)
}

/// Both have the same estimate and the same cuts, ACK by ACK. The kernel's estimate has 20 bits.
#[test]
fn alpha_and_the_cuts_are_the_simulators() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: alpha_and_the_cuts_are_the_simulators needs root");
        return;
    }
    for settings in [
        KernelDctcp { g: 1.0 / 16.0, initial_alpha: 1.0 },
        KernelDctcp { g: 0.3, initial_alpha: 0.5 },
    ] {
        let (connections, drops) = recorded(&settings, AMPLE);
        assert_eq!(drops, 0);
        for records in connections.values() {
            let counts = replay(&settings, records);
            println!("{} records, {counts:?}", records.len());
            assert!(counts.marks > 10 && counts.cuts > 3 && counts.losses == 0, "{counts:?}");
        }
    }
}

/// RFC 8257, 3.5: a loss halves the window whatever alpha is, and marks still multiply it by 1 - alpha/2.
#[test]
fn a_loss_halves_the_window_whatever_alpha_is() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: a_loss_halves_the_window_whatever_alpha_is needs root");
        return;
    }
    let settings = KernelDctcp { g: 0.3, initial_alpha: 0.1 };
    let (connections, drops) = recorded(&settings, SHORT);
    let counts: Vec<Counts> =
        connections.values().map(|records| replay(&settings, records)).collect();
    println!("{drops} drops, {counts:?}");
    let sum = |count: fn(&Counts) -> usize| counts.iter().map(count).sum::<usize>();
    assert!(sum(|counts| counts.losses) > 0 && sum(|counts| counts.cuts) > 3, "{counts:?}");
}

/// What a sender's records had.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// ACKs with marks.
    marks: usize,
    /// Cuts because of marks.
    cuts: usize,
    /// Cuts because of losses.
    losses: usize,
}

/// Replays a sender's records to the simulator's DCTCP, in bytes as the kernel counts, and compares the two.
fn replay(settings: &KernelDctcp, records: &[Record]) -> Counts {
    let KernelDctcp { g, initial_alpha } = *settings;
    let mut dctcp = Dctcp::new(DctcpSettings { g, initial_alpha });
    // The handshake's last ACK, or the first one of data, comes before the first byte.
    let begin = records[0].unacknowledged;
    let place = |byte: u32| byte.wrapping_sub(begin);
    let (mut counts, mut before) = (Counts::default(), 0);
    for (number, record) in records.iter().enumerate() {
        if let Some(threshold) = record.threshold {
            let wanted = cut(&mut dctcp, record);
            assert!(threshold.abs_diff(wanted) <= 1, "cut {number} to {threshold}, not {wanted}");
            let is_loss = |record: &&Record| record.threshold.is_some() && !record.is_marked;
            if is_loss(&record) {
                counts.losses += 1;
            } else if records.get(number + 1).filter(is_loss).is_none() {
                counts.cuts += 1;
            }
            continue;
        }
        let unacknowledged = place(record.unacknowledged);
        let segments = unacknowledged - before;
        before = unacknowledged;
        counts.marks += usize::from(record.is_marked);
        if number == 0 {
            continue;
        }
        dctcp.on_ack(&Acked {
            segments,
            marked: record.is_marked,
            unacknowledged,
            next: place(record.next),
            now: Time::ZERO,
            window: Window::new(record.window, u32::MAX),
            may_grow: false,
            round_trip: Time::ZERO,
        });
        let (ours, real) = (dctcp.alpha(), record.alpha);
        assert!((ours - real).abs() < 1e-4, "ACK {number}: {real}, not {ours}: {record:?}");
    }
    counts
}

/// The window in segments to which the simulator's DCTCP cuts that of a record, with all of it in flight. It is at
/// least two (RFC 5681, 3.1).
fn cut(dctcp: &mut Dctcp, record: &Record) -> u32 {
    let mut window = Window::new(record.window, u32::MAX);
    if record.is_marked {
        let (now, round_trip) = (Time::ZERO, Time::ZERO);
        let ahead = Ahead { now, segments: 0, window: record.window, round_trip };
        window.shrink(dctcp.mark_factor(&ahead), 1);
    } else {
        let factor = dctcp.on_loss(Loss::Reported, window);
        window.cut(record.window, factor);
    }
    window.segments().max(2)
}

/// Each of two labs has a DCTCP of its own, which ends with the lab. Another test may register one under the name that
/// is free then, so this test looks for the link.
#[test]
fn every_lab_has_one_of_its_own_and_takes_it_along() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: every_lab_has_one_of_its_own_and_takes_it_along needs root");
        return;
    }
    let register = || Congestion::register(&OF_KERNELS, false).unwrap();
    let (one, other) = (register(), register());
    assert_ne!(one.name(), other.name());
    assert!(is_offered(one.name()) && is_offered(other.name()));
    let (gone, kept) = (link_of(&one), link_of(&other));
    drop(one);
    // A process that another test forks keeps the link until it executes its program.
    let ends = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        !is_there(gone)
    });
    assert!(ends, "the link is still there");
    assert!(is_there(kept) && is_offered(other.name()));
}

/// Whether the kernel offers a congestion control of this name.
fn is_offered(name: &str) -> bool {
    let list = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    std::fs::read_to_string(list).unwrap().split_whitespace().any(|offered| offered == name)
}

/// The kernel's number of the link that keeps a DCTCP of the lab's own.
fn link_of(congestion: &Congestion) -> u32 {
    congestion.own.as_ref().unwrap().link.info().unwrap().id
}

/// Whether the kernel has a link of this number.
fn is_there(link: u32) -> bool {
    LinkInfoIter::default().any(|info| info.id == link)
}

#[test]
fn what_the_kernel_has_is_used_as_it_is() {
    let reno = Congestion::prepare(&KernelControl::plain("reno", false)).unwrap();
    assert!(reno.name() == "reno" && reno.own.is_none());
    assert!(is_in_kernel("reno") && !is_in_kernel("no-such-one"));
}
