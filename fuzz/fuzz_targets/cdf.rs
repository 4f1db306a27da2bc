//! Any text is a CDF or is refused, and what is read has a mean within its bounds.
//!
//! `cargo +nightly fuzz run cdf`

#![no_main]

use flowsched_workload::sizes::parse_cdf;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(sizes) = parse_cdf(text) {
        let (low, mean, high) = (sizes.quantile(0.0), sizes.mean(), sizes.max());
        let slack = 1.0 + high * 1e-9;
        assert!(low - slack <= mean && mean <= high + slack, "{low} {mean} {high}");
    }
});
