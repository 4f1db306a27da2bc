//! `flowsched search`.

use std::fs;

use crate::common::Place;

/// Flows of 100 KB start at once to one receiver on a link of 1 Gbps. A flow takes 0.85 ms, so four
/// of them with 3 ms each cannot all be in time, and two can.
const AT_ONCE: &str = "[topology]\nkind = \"star\"\nhosts = 9\nhost_link = \"1Gbps\"\n\
    [workload]\nsizes = \"fixed 100KB\"\npattern = \"many-to-one\"\nsenders = \"in-turn\"\n\
    receiver = \"0\"\nat = \"0ms\"\nflows = 1\ndeadlines = \"fixed 3ms\"\n\
    [[scheme]]\npreset = \"pdq\"\n[[scheme]]\npreset = \"rcp\"\n";

#[test]
fn the_largest_number_of_flows_in_time_is_found_for_every_scheme() {
    let place = Place::new();
    fs::write(place.path("at-once.toml"), AT_ONCE).unwrap();
    let search = ["search", "at-once.toml", "--key", "workload.flows", "--to", "12"];
    let done = place.flowsched(&[&search[..], &["--format", "json"]].concat());
    assert_eq!(done.status, Some(0), "{}", done.errors);
    let json = done.json();
    let found = json["found"].as_array().unwrap();
    let largest = |scheme: &str| {
        found.iter().find(|found| found["scheme"] == scheme).unwrap()["largest"].as_u64().unwrap()
    };
    // In 3 ms less a round trip for the first packet, three flows fit one after the other, and four
    // do not.
    assert_eq!(largest("pdq"), 3);
    assert!((2..=3).contains(&largest("rcp")), "{}", largest("rcp"));
    let table = place.flowsched(&[&search[..], &["--threads", "1"]].concat());
    assert!(table.output.contains("pdq  3 (100.00%)"), "{}", table.output);
}

#[test]
fn a_search_that_cannot_be_is_refused() {
    let place = Place::new();
    fs::write(place.path("at-once.toml"), AT_ONCE).unwrap();
    let without = AT_ONCE.replace("deadlines = \"fixed 3ms\"\n", "");
    fs::write(place.path("without.toml"), without).unwrap();
    for (file, key, from, reason) in [
        ("without.toml", "workload.flows", "1", "no flow that has one"),
        ("at-once.toml", "workload.flow", "1", "workload.flow"),
        ("at-once.toml", "workload.flows", "20", "--from 20 --to 12"),
    ] {
        let done = place.flowsched(&["search", file, "--key", key, "--from", from, "--to", "12"]);
        assert_eq!(done.status, Some(2), "{}", done.errors);
        assert!(done.errors.contains(reason), "{}", done.errors);
    }
}

/// A share of NaN was printed as "NaN%", and one of 2 found nothing.
#[test]
fn a_share_that_is_none_is_refused() {
    let place = Place::new();
    fs::write(place.path("at-once.toml"), AT_ONCE).unwrap();
    let search = ["search", "at-once.toml", "--key", "workload.flows", "--to", "2"];
    for share in ["nan", "0", "-1", "1.01", "inf", "99%"] {
        let option = format!("--application-throughput={share}");
        let done = place.flowsched(&[&search[..], &[option.as_str()]].concat());
        assert_eq!((done.status, done.output.as_str()), (Some(2), ""), "{share}");
        assert!(done.errors.contains("a number over 0 and up to 1"), "{}", done.errors);
    }
}
