//! Juniper Junos, as `set` commands.

use std::collections::BTreeMap;

use flowsched_units::Rate;

use crate::request::Request;
use crate::scan::number_after;

const COS: &str = "set class-of-service";

pub(crate) fn print(request: &Request) -> String {
    let mut text = request.heading("#");
    let mut set = |line: String| text.push_str(&format!("{COS} {line}\n"));
    for queue in 0..request.levels.count() {
        set(format!("forwarding-classes class pias-{queue} queue-num {queue}"));
    }
    for (dscp, queue) in request.all_code_points() {
        set(format!(
            "classifiers dscp PIAS forwarding-class pias-{queue} loss-priority low code-points \
             {dscp:06b}"
        ));
    }
    // Fill levels are percentages of a buffer whose size `buffer-size temporal` gives.
    let fill = (100 * request.mark_at.get()).div_ceil(request.buffer.get().max(1)).clamp(1, 99);
    set(format!(
        "drop-profiles PIAS interpolate fill-level {fill} fill-level {} drop-probability 0 \
         drop-probability 100",
        fill + 1
    ));
    for queue in 0..request.levels.count() {
        let scheduler = format!("schedulers pias-{queue}");
        set(format!("{scheduler} priority strict-high"));
        set(format!("{scheduler} buffer-size temporal {}", microseconds(request)));
        set(format!("{scheduler} explicit-congestion-notification"));
        set(format!(
            "{scheduler} drop-profile-map loss-priority any protocol any drop-profile PIAS"
        ));
        set(format!("scheduler-maps PIAS forwarding-class pias-{queue} scheduler pias-{queue}"));
    }
    for port in &request.ports {
        set(format!("interfaces {port} scheduler-map PIAS"));
        set(format!("interfaces {port} unit 0 classifiers dscp PIAS"));
    }
    text
}

/// The buffer in microseconds at the line rate.
fn microseconds(request: &Request) -> u64 {
    let rate: Rate = request.rate;
    (rate.transmission_time(request.buffer).as_us_f64().ceil() as u64).max(1)
}

pub(crate) fn read(text: &str) -> Vec<(u8, String)> {
    let mut queues = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [
            "set",
            "class-of-service",
            "forwarding-classes",
            "class",
            name,
            "queue-num",
            queue,
        ] = words.as_slice()
        {
            queues.insert(*name, *queue);
        }
    }
    let point = |line: &str| {
        let (_, rest) = line.split_once("forwarding-class ")?;
        let (name, rest) = rest.split_once(" loss-priority ")?;
        let (_, bits) = rest.split_once("code-points ")?;
        Some((u8::from_str_radix(bits.trim(), 2).ok()?, (*queues.get(name)?).to_owned()))
    };
    let classifiers = text.lines().filter(|line| line.contains(" classifiers dscp "));
    classifiers.filter_map(point).collect()
}

/// The marking thresholds as percentages of the buffer: Junos does not take bytes.
pub(crate) fn marks(text: &str) -> Vec<u64> {
    text.lines().filter_map(|line| number_after(line, "interpolate fill-level ")).collect()
}
