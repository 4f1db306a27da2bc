//! The agent's objects on the machine, and what is left of them after `uninstall`.

use std::collections::BTreeSet;
use std::path::Path;
use std::thread;
use std::time::Duration;

use libbpf_rs::query::{LinkInfoIter, LinkTypeInfo, ProgInfoIter, ProgInfoQueryOptions};
use libbpf_rs::{MapCore, MapHandle, ProgramAttachType};

use crate::agent::Agent;
use crate::lab::{Pair, sh};
use crate::oracle::Violation;

/// Programs and maps in the kernel, by their ids.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    programs: BTreeSet<u32>,
    maps: BTreeSet<u32>,
}

impl Loaded {
    /// Adds everything that the agent has loaded so far: its pinned maps, all programs that use one
    /// of them, and all maps of these programs.
    pub fn add(&mut self, agent: &Agent) {
        let Ok(pins) = std::fs::read_dir(&agent.pins) else { return };
        let names = pins.flatten().map(|pin| pin.file_name().to_string_lossy().into_owned());
        let is_map = |name: &String| !name.starts_with("program_") && !name.starts_with("link_");
        let pinned: BTreeSet<u32> = names
            .filter(is_map)
            .filter_map(|name| MapHandle::from_pinned_path(Path::new(&agent.pins).join(name)).ok())
            .filter_map(|map| map.info().ok())
            .map(|map| map.info.id)
            .collect();
        let options = ProgInfoQueryOptions::default().include_map_ids(true);
        for program in ProgInfoIter::with_query_opts(options) {
            if program.map_ids.iter().any(|map| pinned.contains(map)) {
                self.programs.insert(program.id);
                self.maps.extend(&program.map_ids);
            }
        }
        self.maps.extend(&pinned);
    }

    /// The number of the programs that run on packets leaving an interface, by either hook.
    pub fn attached(&self, pair: &Pair, interface: &str) -> usize {
        let is_ours = |link: &LinkTypeInfo, program| match link {
            // The link of an interface that is gone remains, but is on no other interface.
            LinkTypeInfo::Tcx(tcx) => {
                tcx.ifindex != 0
                    && matches!(tcx.attach_type, ProgramAttachType::TcxEgress)
                    && self.programs.contains(&program)
            }
            _ => false,
        };
        let links =
            LinkInfoIter::default().filter(|link| is_ours(&link.info, link.prog_id)).count();
        let filters = sh(&format!("tc -n {} filter show dev {interface} egress", pair.a));
        links + filters.lines().filter(|line| line.contains(" tag_")).count()
    }

    /// The programs and maps that still exist. The kernel frees them a moment after their last use.
    fn still_there(&self) -> Option<String> {
        let mut left = String::new();
        for _ in 0..200 {
            let programs = ProgInfoIter::default().filter(|one| self.programs.contains(&one.id));
            let programs: Vec<u32> = programs.map(|one| one.id).collect();
            let maps: Vec<u32> = self.maps.iter().copied().filter(|id| is_map(*id)).collect();
            if programs.is_empty() && maps.is_empty() {
                return None;
            }
            left = format!("programs {programs:?}, maps {maps:?}");
            thread::sleep(Duration::from_millis(50));
        }
        Some(left)
    }
}

/// Whether there is a map with this id. The map is not opened: a map of programs that is opened and
/// closed while the kernel empties it is never freed (seen on Linux 6.18).
#[allow(unsafe_code)]
fn is_map(id: u32) -> bool {
    let mut next = 0;
    // SAFETY: the place for the next number outlives the call.
    let result = unsafe { libbpf_sys::bpf_map_get_next_id(id - 1, &raw mut next) };
    result == 0 && next == id
}

/// The setup of an interface, except for clsact and for the interface's index and addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup(String);

impl Setup {
    pub fn read(pair: &Pair, interface: &str) -> Setup {
        let link = sh(&format!("ip -n {} -details link show dev {interface}", pair.a));
        let words: Vec<&str> = link.split_whitespace().collect();
        let value = |name: &str| {
            let at = words.iter().position(|word| *word == name);
            format!("{name} {}", at.and_then(|at| words.get(at + 1)).unwrap_or(&""))
        };
        let mut text = ["gso_max_size", "gso_max_segs"].map(value).join("\n");
        for what in ["qdisc", "class", "filter"] {
            let shown = sh(&format!("tc -n {} {what} show dev {interface}", pair.a));
            for line in shown.lines().filter(|line| !line.starts_with("qdisc clsact")) {
                text += &format!("\n{line}");
            }
        }
        Setup(text)
    }
}

/// Returns what is left after `uninstall` and was not there before. `has_filter`: whether somebody
/// else uses clsact.
pub fn left_behind(
    pair: &Pair,
    agent: &Agent,
    loaded: &Loaded,
    before: &Setup,
    has_filter: bool,
) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut add = |what: &str, text: String| {
        found.push(Violation::new(&format!("left behind: {what}"), text));
    };
    if agent.is_installed() {
        add("pins", format!("{:?}", names(Path::new(&agent.pins))));
    }
    let run = names(&agent.folder.join("run"));
    if !run.is_empty() {
        add("files in the run directory", format!("{run:?}"));
    }
    let after = Setup::read(pair, "east");
    if after != *before {
        add("settings of the interface", format!("before:\n{}\nafter:\n{}", before.0, after.0));
    }
    let clsact = sh(&format!("tc -n {} qdisc show dev east | grep clsact || true", pair.a));
    let filters = sh(&format!("tc -n {} filter show dev east egress", pair.a));
    if clsact.is_empty() == has_filter || filters.contains(" u32 ") != has_filter {
        add("other use of clsact", format!("{has_filter}, but {clsact}{filters}"));
    }
    let incoming = sh(&format!("tc -n {} filter show dev east ingress", pair.a));
    let all = filters + &incoming;
    if all.contains(" bpf ") {
        add("filters", all);
    }
    if let Some(left) = loaded.still_there() {
        add("programs or maps in the kernel", left);
    }
    found
}

fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}
