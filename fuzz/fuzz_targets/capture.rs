//! Any bytes are a capture or are refused, and the flows of a capture are a trace.
//!
//! `cargo +nightly fuzz run capture`

#![no_main]

use flowsched_units::Time;
use flowsched_workload::{parse_trace, read_capture, write_trace};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(capture) = read_capture(bytes, Time::from_ms(1)) {
        let hosts = capture.hosts.len() as u32;
        assert_eq!(parse_trace(&write_trace(&capture.flows), hosts), Ok(capture.flows));
    }
});
