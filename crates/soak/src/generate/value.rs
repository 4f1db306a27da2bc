//! Draws a value for a parameter by its kind: often an ordinary value, sometimes the smallest, the
//! largest or a strange one.

use flowsched_units::{Bytes, Kind, Parameter, Rate, Time};

use crate::draw::Draw;

const TIMES: &[&str] = &["0us", "1ps", "1ns", "1us", "50us", "1ms", "10ms", "1s"];
const RATES: &[&str] = &["1bps", "1Kbps", "1Mbps", "100Mbps", "1Gbps", "10Gbps", "400Gbps"];
const SIZES: &[&str] =
    &["0B", "1B", "40B", "1460B", "1500B", "1pkt", "2pkt", "65pkt", "1MB", "1GB", "unlimited"];
/// Most values of a [`Kind::Count`] or [`Kind::Number`] are at most this much above the smallest.
const FEW: u64 = 16;
/// The largest count that is drawn, so that most networks fit the memory of a test machine.
const MANY: u64 = 5_000;

/// Draws a value of the parameter. In three cases of ten this is the default, if there is one.
///
/// Only the owner of a [`Kind::Text`] knows what it means, so a text always keeps its default.
/// `None` for a text without a default.
pub fn draw_value(draw: &mut Draw, parameter: &Parameter) -> Option<String> {
    match parameter.default {
        Some(default) if parameter.kind == Kind::Text || draw.chance(0.3) => {
            Some(default.to_owned())
        }
        None if parameter.kind == Kind::Text => None,
        _ => Some(of_kind(draw, parameter.kind)),
    }
}

/// Draws a value of the kind.
///
/// # Panics
/// If the kind is [`Kind::Text`].
pub fn of_kind(draw: &mut Draw, kind: Kind) -> String {
    match kind {
        Kind::Time => time(draw),
        Kind::Rate => rate(draw),
        Kind::Size(_) => size(draw),
        Kind::Sizes { words, .. } => sizes(draw, words, draw_few(words)),
        Kind::Count { from, to } => count(draw, from, to).to_string(),
        Kind::Number { from, to } => number(draw, from, to),
        Kind::Flag => draw.chance(0.5).to_string(),
        Kind::Choice(words) => draw.pick(words).to_owned(),
        Kind::Text => unreachable!("only its owner knows what a text means"),
    }
}

/// The number of sizes if nothing else determines it.
fn draw_few(words: &[&str]) -> u64 {
    u64::from(words.is_empty()) + 1
}

/// A time from 1 ns to 1 s.
pub fn time(draw: &mut Draw) -> String {
    if draw.chance(0.2) {
        return draw.pick(TIMES).to_owned();
    }
    Time::from_ns(draw.magnitude(1, 1_000_000_000)).to_string()
}

/// A rate, mostly from 10 Mbps to 400 Gbps.
pub fn rate(draw: &mut Draw) -> String {
    match draw.count(0, 9) {
        0 => draw.pick(RATES).to_owned(),
        1 => Rate::from_bps(draw.magnitude(1, 10_000_000)).to_string(),
        _ => Rate::from_bps(draw.magnitude(10_000_000, 400_000_000_000)).to_string(),
    }
}

/// A size from nothing to 1 GB.
pub fn size(draw: &mut Draw) -> String {
    if draw.chance(0.3) {
        return draw.pick(SIZES).to_owned();
    }
    Bytes::new(draw.magnitude(1, 1_000_000_000)).to_string()
}

/// Draws `count` sizes in ascending order, or one of the words instead.
pub fn sizes(draw: &mut Draw, words: &[&str], count: u64) -> String {
    if !words.is_empty() && draw.chance(0.4) {
        return draw.pick(words).to_owned();
    }
    let mut sizes: Vec<u64> = (0..count).map(|_| draw.magnitude(1, 100_000_000)).collect();
    sizes.sort_unstable();
    let sizes: Vec<String> = sizes.into_iter().map(|size| Bytes::new(size).to_string()).collect();
    sizes.join(" ")
}

fn count(draw: &mut Draw, from: u64, to: u64) -> u64 {
    match draw.count(0, 19) {
        0 => from,
        1 => to.min(MANY),
        2 => draw.magnitude(from, to.min(MANY)),
        _ => draw.magnitude(from, to.min(from + FEW)),
    }
}

fn number(draw: &mut Draw, from: f64, to: f64) -> String {
    let to = to.min(from + FEW as f64);
    match draw.count(0, 9) {
        0 => from.to_string(),
        1 => to.to_string(),
        _ => format!("{:.3}", draw.number(from, to)),
    }
}
