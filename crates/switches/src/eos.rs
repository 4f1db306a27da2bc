//! Arista EOS.

use crate::request::Request;
use crate::scan::number_after;

pub(crate) fn print(request: &Request) -> String {
    let mut text = request.heading("!");
    for (dscp, queue) in request.all_code_points() {
        text.push_str(&format!("qos map dscp {dscp} to traffic-class {queue}\n"));
    }
    for queue in 0..request.levels.count() {
        text.push_str(&format!("qos map traffic-class {queue} to tx-queue {queue}\n"));
    }
    let bytes = request.mark_at.get();
    for port in &request.ports {
        text.push_str(&format!("!\ninterface {port}\n   qos trust dscp\n"));
        for queue in (0..request.levels.count()).rev() {
            text.push_str(&format!(
                "   tx-queue {queue}\n      priority strict\n      random-detect ecn \
                 minimum-threshold {bytes} bytes maximum-threshold {bytes} bytes \
                 max-mark-probability 100\n"
            ));
        }
    }
    text
}

pub(crate) fn read(text: &str) -> Vec<(u8, String)> {
    let map = |line: &str| {
        let rest = line.trim().strip_prefix("qos map dscp ")?;
        let (points, class) = rest.split_once(" to traffic-class ")?;
        // Running configurations write several code points in one line.
        let points = points.split_whitespace().filter_map(|point| point.parse().ok());
        Some(points.map(|point| (point, class.trim().to_owned())).collect::<Vec<_>>())
    };
    text.lines().filter_map(map).flatten().collect()
}

pub(crate) fn marks(text: &str) -> Vec<u64> {
    text.lines()
        .filter_map(|line| number_after(line, "random-detect ecn minimum-threshold "))
        .collect()
}
