//! Any text is a trace or is refused, and what is read is written and read back as the same.
//!
//! `cargo +nightly fuzz run trace`

#![no_main]

use flowsched_workload::{parse_trace, write_trace};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(flows) = parse_trace(text, 16) {
        assert_eq!(parse_trace(&write_trace(&flows), 16), Ok(flows));
    }
});
