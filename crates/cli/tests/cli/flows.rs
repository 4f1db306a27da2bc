//! `flowsched flows`: from a packet capture to a run.

use std::fs;

use crate::common::Place;

/// Two TCP segments of 1000 and 500 B, 10.0.0.2 to 10.0.0.1, 2 ms apart: Ethernet frames of which
/// 54 B, the headers, were captured.
fn capture() -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 54, 1] {
        bytes.extend(word.to_le_bytes());
    }
    for (microseconds, sequence, length) in [(0u32, 1u32, 1000u32), (2000, 1001, 500)] {
        for word in [1, microseconds, 54, 54 + length] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend([[0; 12].as_slice(), &[8, 0, 0x45, 0]].concat());
        bytes.extend((40 + length as u16).to_be_bytes());
        bytes.extend([0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1, 0, 7, 0, 80]);
        bytes.extend(sequence.to_be_bytes());
        bytes.extend([0, 0, 0, 0, 0x50, 0x10, 255, 255, 0, 0, 0, 0]);
    }
    bytes
}

const TRACE: &str = "start_s,src,dst,size_bytes\n0,1,0,1500\n";

#[test]
fn a_capture_becomes_a_trace_that_runs() {
    let place = Place::new();
    fs::write(place.path("web.pcap"), capture()).unwrap();
    let printed = place.flowsched(&["flows", "web.pcap"]);
    assert_eq!((printed.status, printed.output.as_str()), (Some(0), TRACE), "{}", printed.errors);
    assert!(
        printed.errors.contains("1 flows between 2 hosts, from 2 packets"),
        "{}",
        printed.errors
    );

    let arguments = ["flows", "web.pcap", "-o", "web.csv", "--hosts", "hosts.csv", "--idle", "1ms"];
    let written = place.flowsched(&arguments);
    assert_eq!((written.status, written.output.as_str()), (Some(0), ""), "{}", written.errors);
    let read = |file: &str| fs::read_to_string(place.path(file)).unwrap();
    assert_eq!(read("web.csv"), "start_s,src,dst,size_bytes\n0,1,0,1000\n0.002,1,0,500\n");
    assert_eq!(read("hosts.csv"), "host,address\n0,10.0.0.1\n1,10.0.0.2\n");
    let checked = place.flowsched(&["check", "small.toml", "--set", "workload.trace=web.csv"]);
    assert_eq!(checked.status, Some(0), "{}", checked.errors);
}

#[test]
fn what_is_no_capture_is_refused() {
    let place = Place::new();
    for (file, said) in [("small.toml", "not a packet capture"), ("none.pcap", "no readable file")]
    {
        let done = place.flowsched(&["flows", file]);
        assert_eq!(done.status, Some(2), "{file}");
        assert!(done.errors.contains(file) && done.errors.contains(said), "{}", done.errors);
    }
}

#[test]
fn files_are_replaced_only_with_force() {
    let place = Place::new();
    fs::write(place.path("web.pcap"), capture()).unwrap();
    for (option, file) in [("-o", "web.csv"), ("--hosts", "hosts.csv")] {
        place.write(file, "mine");
        let refused = place.flowsched(&["flows", "web.pcap", option, file]);
        assert_eq!((refused.status, refused.output.as_str()), (Some(2), ""), "{option}");
        assert!(refused.errors.contains("the file exists"), "{}", refused.errors);
        assert_eq!(fs::read_to_string(place.path(file)).unwrap(), "mine");
        let forced = place.flowsched(&["flows", "web.pcap", option, file, "--force"]);
        assert_eq!(forced.status, Some(0), "{}", forced.errors);
        assert_ne!(fs::read_to_string(place.path(file)).unwrap(), "mine");
    }
    for outputs in [["-o", "web.pcap", "--force"], ["--hosts", "web.pcap", "--force"]] {
        let done = place.flowsched(&[&["flows", "web.pcap"][..], &outputs].concat());
        assert_eq!(done.status, Some(2), "{}", done.errors);
    }
    let same = ["flows", "web.pcap", "-o", "new.csv", "--hosts", "new.csv"];
    assert_eq!(place.flowsched(&same).status, Some(2));
    assert_eq!(fs::read(place.path("web.pcap")).unwrap(), capture());
}
