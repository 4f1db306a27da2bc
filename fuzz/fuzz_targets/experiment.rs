//! Any text is an experiment or is refused, and what is read reads back from its resolved copy
//! as the same.
//!
//! `cargo +nightly fuzz run experiment fuzz/corpus/experiment experiments`

#![no_main]

use std::io;

use flowsched_experiment::{Arguments, Experiment, Source};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if is_costly(text) {
        return;
    }
    let files = [("in.cdf", "0 0\n1000 1\n"), ("in.csv", "start_s,src,dst,size_bytes\n0,0,1,9\n")];
    let open = |path: &str| {
        let file = files.iter().find(|(name, _)| path.trim_start_matches("inputs/") == *name);
        let (name, text) = file.ok_or(io::Error::from(io::ErrorKind::NotFound))?;
        Ok(Source { name: (*name).into(), text: (*text).into() })
    };
    let read =
        |text: &str| Experiment::parse(&Source::new("a.toml", text), &Arguments::default(), &open);
    match read(text) {
        Ok(experiment) => match read(experiment.resolved()) {
            Ok(again) => assert_eq!(experiment.resolved(), again.resolved()),
            Err(mistakes) => panic!("{mistakes}\n{}", experiment.resolved()),
        },
        Err(mistakes) => assert!(!mistakes.is_empty() && !mistakes.to_string().is_empty()),
    }
});

/// Networks of thousands of hosts or ports, and warm-up flows by the million, are allowed and take long.
fn is_costly(text: &str) -> bool {
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
    text.lines().any(|line| {
        let costly = [
            "lea", "spin", "host", "rack", "k", "flows", "serv", "vary", "scheme", "switches",
            "ports", "degree",
        ];
        digits(line) > 2 && costly.iter().any(|key| line.contains(key)) || digits(line) > 24
    })
}
