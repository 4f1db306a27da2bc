//! Compares the socket path with the tagger in Rust. The kernel logs what it saw of real
//! connections, and the tagger in Rust decides each logged departure again. Needs root.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use flowsched_schemes::tagger::Departure;
use flowsched_schemes::tagger::mlfq::{Bookkeeping, MessageStart, Mlfq, MlfqFlow};
use flowsched_units::Time;
use libbpf_rs::RingBufferBuilder;

use crate::bpf::{Shared, types};
use crate::config::Config;
use crate::entry::Entry;
use crate::lab::{self, Pair};
use crate::sys;
use crate::tagger::{LoadOptions, Tagger};

const SINK: &str = "10.77.0.2:5001";

#[test]
fn real_connections_get_what_the_rust_tagger_gives_them() {
    if !lab::is_root("real_connections_get_what_the_rust_tagger_gives_them") {
        return;
    }
    for bookkeeping in ["offset", "cumulative"] {
        let records = connections(bookkeeping);
        assert!(records.len() > 1000, "only {} packets were logged", records.len());
        let rule = rule(bookkeeping);
        let mut flows: BTreeMap<u64, MlfqFlow> = BTreeMap::new();
        let (mut restarts, mut timeouts, mut levels) = (0, 0, [0; 3]);
        for record in &records {
            let seen = record.departure;
            let departure = Departure {
                now: Time::from_ns(seen.now),
                offset: seen.offset,
                payload: seen.payload,
                idle: seen.idle != 0,
                timeouts_in_a_row: seen.timeouts_in_a_row,
            };
            let level = rule.tag(flows.entry(record.socket).or_default(), &departure);
            assert_eq!(u32::from(level), record.level, "{bookkeeping}: {seen:?}");
            levels[usize::from(level)] += 1;
            restarts += u32::from(seen.idle != 0 && seen.offset > 0);
            timeouts = timeouts.max(seen.timeouts_in_a_row);
        }
        assert!(restarts > 5 && timeouts >= 2, "{restarts} idle, {timeouts} timeouts in a row");
        assert!(levels.iter().all(|count| *count > 10), "{levels:?}");
    }
}

fn rule(bookkeeping: &str) -> Mlfq {
    let config = config(bookkeeping);
    let counted = if config.cumulative { Bookkeeping::Cumulative } else { Bookkeeping::Offset };
    Mlfq::new(&config.thresholds, counted)
        .unwrap()
        .with_message_start(MessageStart::Idle(config.message_idle.unwrap()))
        .with_ageing(config.ageing_timeouts)
}

fn config(bookkeeping: &str) -> Config {
    let text = format!(
        "interfaces = [\"east\"]\nthresholds = \"20KB 100KB\"\nbookkeeping = \"{bookkeeping}\"\n"
    );
    Config::parse(&text, Path::new("rule")).unwrap()
}

/// The kernel's log of a few connections. The far end does not receive for a while.
fn connections(bookkeeping: &'static str) -> Vec<types::trace_record> {
    let pair = Pair::new();
    lab::sink(&pair.b, SINK);
    let (far, near) = (pair.b.clone(), pair.a.clone());
    lab::on(&pair.a, move || {
        let config = config(bookkeeping);
        let options = LoadOptions { trace: true, ..LoadOptions::default() };
        let tagger = Tagger::load(&config, None, options).unwrap();
        tagger.apply(&config).unwrap();
        let index = nix::net::if_::if_nametoindex("east").unwrap();
        let link =
            sys::attach_tcx_first(tagger.program(Entry::TagEthernet).as_fd(), index, true).unwrap();
        let records = RefCell::new(Vec::new());
        let mut ring = RingBufferBuilder::new();
        ring.add(&tagger.skel().maps.trace_records, |bytes| {
            records.borrow_mut().push(types::trace_record::from_bytes(bytes));
            0
        })
        .unwrap();
        let ring = ring.build().unwrap();
        lab::send(&near, SINK, vec![150_000; 5], Duration::from_millis(10));
        lab::send(&near, SINK, vec![30_000; 10], Duration::from_millis(2));
        let deaf = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            lab::sh(&format!("ip -n {far} addr del 10.77.0.2/24 dev west; sleep 1.2"));
            lab::sh(&format!("ip -n {far} addr add 10.77.0.2/24 dev west"));
        });
        lab::send(&near, SINK, vec![20_000; 40], Duration::from_millis(3));
        deaf.join().unwrap();
        std::thread::sleep(Duration::from_secs(2));
        ring.consume().unwrap();
        drop(link);
        drop(ring);
        records.into_inner()
    })
    .join()
    .unwrap()
}
