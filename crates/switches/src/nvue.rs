//! NVIDIA Cumulus Linux, as NVUE commands.

use crate::request::Request;
use crate::scan::number_after;

pub(crate) fn print(request: &Request) -> String {
    let mut text = request.heading("#");
    let mut set = |line: String| text.push_str(&format!("nv set {line}\n"));
    set("qos mapping pias trust l3".into());
    for (dscp, queue) in request.all_code_points() {
        set(format!("qos mapping pias dscp {dscp} switch-priority {queue}"));
    }
    let last = request.levels.count() - 1;
    for queue in 0..=last {
        set(format!("qos egress-queue-mapping pias switch-priority {queue} traffic-class {queue}"));
    }
    set(format!("qos egress-scheduler pias traffic-class 0-{last} mode strict"));
    let classes = format!("qos congestion-control pias traffic-class 0-{last}");
    let bytes = request.mark_at.get();
    set(format!("{classes} ecn enable"));
    set(format!("{classes} min-threshold {bytes}"));
    set(format!("{classes} max-threshold {bytes}"));
    set(format!("{classes} probability 100"));
    for port in &request.ports {
        for part in ["mapping", "egress-queue-mapping", "egress-scheduler", "congestion-control"] {
            set(format!("interface {port} qos {part} profile pias"));
        }
    }
    text.push_str("nv config apply\n");
    text
}

pub(crate) fn read(text: &str) -> Vec<(u8, String)> {
    let map = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["nv", "set", "qos", "mapping", _, "dscp", dscp, "switch-priority", queue] => {
                Some((dscp.parse().ok()?, (*queue).to_owned()))
            }
            _ => None,
        }
    };
    text.lines().filter_map(map).collect()
}

pub(crate) fn marks(text: &str) -> Vec<u64> {
    text.lines().filter_map(|line| number_after(line, " min-threshold ")).collect()
}
