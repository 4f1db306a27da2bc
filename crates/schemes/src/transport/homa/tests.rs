//! Tests of Homa's parts by themselves, against the paper's rules and against a plain model.

mod ends;
mod scheduling;

use flowsched_units::{Settings, Value};

use super::header::{HomaHeader, Kind};
use super::{Homa, HomaHosts};
use crate::combination::Combination;
use crate::packet::Packet;
use crate::transport::TransportPart;

/// The preset's settings with `changes`, which are written as in a file.
fn settings(changes: &[(&str, &str)]) -> Settings {
    let combination = Combination::new("homa", [None; 4]).unwrap();
    let mut settings = combination.defaults("none");
    for (name, text) in changes {
        let parameter = combination.parameters().find(|one| one.name == *name).unwrap();
        settings.set(*name, parameter.kind.parse(text).unwrap());
    }
    settings
}

fn homa(changes: &[(&str, &str)]) -> Homa {
    HomaHosts::build(&settings(changes)).unwrap()
}

fn packet(flow: u32, seq: u32, kind: Kind, until: u32) -> Packet<HomaHeader> {
    let header = HomaHeader { kind, priority: 5, until };
    Packet { flow, seq, header, ..Packet::default() }
}

#[test]
fn what_does_not_fit_is_refused_by_its_key() {
    let refused = |changes: &[(&str, &str)]| HomaHosts::build(&settings(changes)).unwrap_err().key;
    assert_eq!(
        refused(&[("queues", "2"), ("unscheduled_cutoffs", "1KB 2KB")]),
        "unscheduled_cutoffs"
    );
    assert_eq!(refused(&[("unscheduled_cutoffs", "2KB 1KB")]), "unscheduled_cutoffs");
    assert_eq!(refused(&[("resend_interval", "999ns")]), "resend_interval");
}

#[test]
fn amounts_are_whole_packets_and_messages_as_many_as_levels() {
    let of = |changes: &[(&str, &str)]| {
        let settings = homa(changes).settings;
        (settings.rtt_segments, settings.overcommitment, settings.scheduled.count)
    };
    assert_eq!(of(&[]), (7, 7, 7), "9.7 KB in packets of 1460 B; W4 and W5 in 5.2");
    assert_eq!(of(&[("unscheduled_cutoffs", "1KB 2KB 3KB")]), (7, 4, 4), "W3");
    assert_eq!(of(&[("rtt_bytes", "1B"), ("overcommitment", "2")]), (1, 2, 7));
    assert_eq!(of(&[("queues", "1")]).2, 1);
    let mut plain = settings(&[]);
    plain.set("port", Value::Text("fifo".into()));
    assert_eq!(HomaHosts::build(&plain).unwrap().settings.scheduled.lowest, 0, "no queues key");
}
