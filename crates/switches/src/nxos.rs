//! Cisco NX-OS.

use std::collections::BTreeMap;

use crate::request::Request;
use crate::scan::number_after;

pub(crate) fn print(request: &Request) -> String {
    let mut text = request.heading("!");
    for (dscp, queue) in request.queues().filter(|(_, queue)| *queue > 0) {
        text.push_str(&format!("class-map type qos match-any PIAS-{queue}\n  match dscp {dscp}\n"));
    }
    text.push_str("policy-map type qos PIAS-IN\n");
    for (_, queue) in request.queues().filter(|(_, queue)| *queue > 0) {
        text.push_str(&format!("  class PIAS-{queue}\n    set qos-group {queue}\n"));
    }
    text.push_str("  class class-default\n    set qos-group 0\n");
    let (bytes, count) = (request.mark_at.get(), request.levels.count());
    text.push_str("policy-map type queuing PIAS-OUT\n");
    for (level, (_, queue)) in request.queues().enumerate() {
        let class =
            if queue == 0 { "c-out-8q-q-default".into() } else { format!("c-out-8q-q{queue}") };
        text.push_str(&format!("  class type queuing {class}\n"));
        // The last queue gets the remaining bandwidth, which has the effect of the lowest priority.
        let schedule = match level + 1 == count {
            true => "bandwidth remaining percent 100".into(),
            false => format!("priority level {}", level + 1),
        };
        text.push_str(&format!("    {schedule}\n"));
        text.push_str(&format!(
            "    random-detect minimum-threshold {bytes} bytes maximum-threshold {bytes} bytes \
             drop-probability 100 weight 0 ecn\n"
        ));
    }
    for port in &request.ports {
        text.push_str(&format!("interface {port}\n  service-policy type qos input PIAS-IN\n"));
    }
    text.push_str("system qos\n  service-policy type queuing output PIAS-OUT\n");
    text
}

pub(crate) fn read(text: &str) -> Vec<(u8, String)> {
    let mut points: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    let mut groups: BTreeMap<&str, &str> = BTreeMap::new();
    let mut class = "";
    for line in text.lines().map(str::trim) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["class-map", "type", "qos", "match-any", name] | ["class", name] => class = name,
            ["match", "dscp", listed] => {
                let listed = listed.split(',').filter_map(|point| point.parse::<u8>().ok());
                points.entry(class).or_default().extend(listed);
            }
            ["set", "qos-group", group] => {
                groups.insert(class, group);
            }
            _ => {}
        }
    }
    let default = groups.get("class-default").copied().unwrap_or("0");
    let queue_of = |point: u8| {
        let class = points.iter().find(|(_, listed)| listed.contains(&point))?.0;
        groups.get(class).copied()
    };
    if points.is_empty() {
        return Vec::new();
    }
    (0..64).map(|point| (point, queue_of(point).unwrap_or(default).to_owned())).collect()
}

pub(crate) fn marks(text: &str) -> Vec<u64> {
    text.lines().filter_map(|line| number_after(line, "random-detect minimum-threshold ")).collect()
}
