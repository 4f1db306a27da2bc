//! Compares the BPF program with the MLFQ tagger in Rust: both get the same random packets, and the
//! resulting bytes must be equal. The kernel runs the very program that is attached, with the time
//! in the packet's time stamp. Needs root.

mod frames;
mod reference;

use std::path::Path;

use libbpf_rs::ProgramInput;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::bpf::Shared;
use crate::config::Config;
use crate::tagger::{LoadOptions, Tagger};
use frames::Frames;
use reference::Reference;

/// The number of packets for each rule.
const PACKETS: usize = 100_000;

/// Ten rules, which are applied one after another. No flow loses its count in between.
const RULES: [&str; 10] = [
    "thresholds = \"10KB 30KB 60KB 120KB 250KB 400KB 700KB\"",
    "thresholds = \"10KB 30KB 60KB 120KB 250KB 400KB 700KB\"\nbookkeeping = \"cumulative\"",
    "thresholds = \"100KB\"\n[ageing]\ntimeouts = 3",
    "thresholds = \"100KB\"\nbookkeeping = \"cumulative\"\n[ageing]\ntimeouts = 1\ngap = \"1ms\"",
    "thresholds = \"10KB 10KB 1MB\"\ndscp = [46, 34, 26, 10]\n[flows]\nidle = \"5ms\"",
    "thresholds = \"\"\ndscp = [12]",
    "thresholds = \"30KB 300KB\"\nrespect-dscp = true",
    "thresholds = \"30KB 300KB\"\n[ageing]\ntimeouts = 0\n[flows]\nidle = \"never\"",
    "thresholds = \"30KB 300KB\"\n[select]\nports = [\"1000-1015\", \"443\"]\nprefixes = [\"10.0.0.0/29\", \"fd00::/125\"]",
    "thresholds = \"30KB 300KB\"\n[message]\nstart = \"mark\"\nmark-mask = 0xf0",
];

/// `__sk_buff` as the test run expects it. Only these fields may be set.
#[repr(C)]
#[derive(Clone, Copy)]
struct Context([u8; 192]);

const MARK: usize = 8;
const TIME_STAMP: usize = 152;
const GSO_SEGMENTS: usize = 164;
const GSO_SIZE: usize = 176;

#[test]
fn a_million_packets_get_what_the_rust_tagger_gives_them() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: the differential test needs root");
        return;
    }
    let mut random = ChaCha8Rng::seed_from_u64(6);
    let first = config(RULES[0]);
    let options = LoadOptions { injected_clock: true, ..LoadOptions::default() };
    let tagger = Tagger::load(&first, None, options).unwrap();
    let mut frames = Frames::new();
    let mut reference = Reference::new();
    let mut now = 1_000_000_000;
    let mut seen = [0u64; 8];
    for (count, rule) in RULES.into_iter().enumerate() {
        if count == RULES.len() / 2 {
            // From here on, the program uses the helper, as if the kernel had removed the map's
            // program.
            use libbpf_rs::MapCore;
            tagger.skel().maps.writers.delete(&0u32.to_ne_bytes()).unwrap();
        }
        let config = config(rule);
        tagger.apply(&config).unwrap();
        reference.obey(&config);
        for number in 0..PACKETS {
            now += gap(&mut random);
            if random.random_bool(0.3) {
                let (answer, flow) = Frames::answer(&mut random);
                hear(&tagger, &answer, now);
                reference.hear(flow, now);
            }
            let frame = frames.next(&mut random, now);
            let level = reference.level(&frame, now);
            let expected = frame.tagged(level.map(|level| config.dscp[level]));
            let got = run(&tagger, &frame, now);
            assert!(got == expected, "{rule}\npacket {number}: {frame:?}\nlevel {level:?}");
            if let Some(level) = level {
                seen[level] += 1;
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 1000), "levels barely tried: {seen:?}");
    assert!(reference.held_up > 100, "answers held up {} messages", reference.held_up);
    compare_counters(&tagger, &reference);
    println!("differential: {} packets, levels {seen:?}", RULES.len() * PACKETS);
}

/// In most cases the time between packets of a busy host, sometimes a pause.
fn gap(random: &mut ChaCha8Rng) -> u64 {
    match random.random_range(0..10_000) {
        0 => random.random_range(0..200_000_000),
        1..30 => random.random_range(0..12_000_000),
        _ => random.random_range(0..4_000),
    }
}

fn config(rule: &str) -> Config {
    Config::parse(&format!("interfaces = [\"none\"]\n{rule}\n"), Path::new("rule")).unwrap()
}

/// The context of a packet at the time `now`.
fn context(now: u64, more: &[(usize, u32)]) -> Context {
    let mut context = Context([0; 192]);
    let mut set = |at: usize, bytes: &[u8]| context.0[at..at + bytes.len()].copy_from_slice(bytes);
    set(TIME_STAMP, &now.to_ne_bytes());
    for (at, value) in more {
        set(*at, &value.to_ne_bytes());
    }
    context
}

/// Passes the frame to the program for arriving packets.
fn hear(tagger: &Tagger, frame: &[u8], now: u64) {
    let mut context = context(now, &[]);
    let mut out = vec![0; frame.len()];
    let input = ProgramInput {
        context_in: Some(&mut context.0),
        data_in: Some(frame),
        data_out: Some(&mut out),
        ..ProgramInput::default()
    };
    let output = tagger.skel().progs.hear_ethernet.test_run(input).unwrap();
    assert_eq!(output.return_value as i32, -1, "the next program on the hook does not run");
    assert!(out == frame, "what arrives was changed");
}

fn run(tagger: &Tagger, frame: &frames::Frame, now: u64) -> Vec<u8> {
    // The kernel does not count the segments of packets from a virtual machine.
    let from_machine = now.is_multiple_of(2);
    let segments = if frame.gso_size == 0 || from_machine { 0 } else { frame.wire_packets() };
    let more = [(MARK, frame.mark), (GSO_SIZE, frame.gso_size), (GSO_SEGMENTS, segments)];
    let mut context = context(now, &more);
    let mut out = vec![0; frame.bytes.len()];
    let input = ProgramInput {
        context_in: Some(&mut context.0),
        data_in: Some(&frame.bytes),
        data_out: Some(&mut out),
        ..ProgramInput::default()
    };
    let output = tagger
        .skel()
        .progs
        .tag_ethernet
        .test_run(input)
        .unwrap_or_else(|e| panic!("{e}: {frame:?}"));
    assert_eq!(output.return_value as i32, -1, "the next program on the hook does not run");
    out
}

fn compare_counters(tagger: &Tagger, reference: &Reference) {
    use libbpf_rs::{MapCore, MapFlags};
    let map = &tagger.skel().maps.counters_of_cpu;
    let cores = map.lookup_percpu(&0u32.to_ne_bytes(), MapFlags::ANY).unwrap().unwrap();
    let sum = |field: fn(&crate::bpf::types::counters) -> u64| -> u64 {
        cores.iter().map(|bytes| field(&crate::bpf::types::counters::from_bytes(bytes))).sum()
    };
    assert_eq!(sum(|c| c.levels.iter().map(|l| l.packets).sum()), reference.tagged);
    assert_eq!(sum(|c| c.left_alone.iter().sum()), reference.left_alone);
    assert_eq!(sum(|c| c.levels.iter().map(|l| l.payload_bytes).sum()), reference.payload_bytes);
    assert_eq!(sum(|c| c.levels.iter().map(|l| l.wire_packets).sum()), reference.wire_packets);
    assert_eq!(sum(|c| c.messages_application), reference.application_starts);
    assert!(sum(|c| c.starved) > 10, "hardly a flow starved");
}
