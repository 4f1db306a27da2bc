//! Linux: every port of a software switch gets the tree that the host agent builds on its interface.

use flowsched_fleet::tc;

use crate::request::Request;
use crate::scan::number_after;

pub(crate) fn print(request: &Request) -> String {
    let mut text = String::from("#!/bin/sh\n") + &request.heading("#") + "set -e\n";
    for port in &request.ports {
        let tree = tc::Tree {
            interface: port,
            rate: request.rate,
            mark_at: request.mark_at,
            buffer: request.buffer,
            dscp: &request.levels.dscp,
        };
        for command in tree.commands(tc::Bands::Prio) {
            text.push_str(&format!("tc {command}\n"));
        }
    }
    text
}

/// Reads the `tc` commands that `print` writes.
pub(crate) fn read(text: &str) -> Vec<(u8, String)> {
    let filter = |line: &str| {
        let rest = &line[line.find("match ip dsfield 0x")? + "match ip dsfield 0x".len()..];
        let (value, _) = rest.split_once(' ')?;
        let (_, class) = line.split_once("flowid ")?;
        Some((u8::from_str_radix(value, 16).ok()? >> 2, class.trim().to_owned()))
    };
    text.lines().filter_map(filter).collect()
}

pub(crate) fn marks(text: &str) -> Vec<u64> {
    text.lines()
        .filter(|line| line.contains(" red "))
        .filter_map(|l| number_after(l, " min "))
        .collect()
}
