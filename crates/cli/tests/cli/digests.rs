//! Every preset gives the results that it gave before, on both packet engines and on the fluid one.

use std::fs::{self, File};
use std::path::Path;

use flowsched_schemes::{PRESETS, discipline::DISCIPLINES};
use parquet::file::reader::SerializedFileReader;

use crate::common::Place;

const EXPECTED: &str = include_str!("digests.txt");

/// A tree, whose ports have an order, and a network whose ports have none.
const TREE: &str = "kind = \"leaf-spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 4";
const NO_TREE: &str = "kind = \"bcube\"\nn = 2\nk = 2";

/// A name for the table, and the parts of an experiment beside its scheme.
struct Setting {
    name: &'static str,
    engine: &'static str,
    topology: &'static str,
    workload: &'static str,
}

const PACKETS: Setting = Setting {
    name: "windows",
    engine: "packet",
    topology: TREE,
    workload: "sizes = \"web-search-packets\"\nload = 0.8\nflows = 60",
};

const DEADLINES: &str = "sizes = \"uniform 2KB 400KB\"\nload = 0.7\n\
                     flows = 80\ndeadlines = \"exponential 20ms 3ms\"";

const SETTINGS: [Setting; 4] = [
    PACKETS,
    Setting { name: "deadlines", workload: DEADLINES, ..PACKETS },
    Setting { name: "events", topology: NO_TREE, workload: DEADLINES, ..PACKETS },
    Setting { name: "fluid", engine: "fluid", workload: DEADLINES, ..PACKETS },
];

/// The FNV-1a hash of a text.
fn digest(text: &str) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325;
    text.bytes()
        .fold(start, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// All rows of a table, as text.
fn rows(table: &Path) -> String {
    let reader = SerializedFileReader::new(File::open(table).unwrap()).unwrap();
    reader.into_iter().map(|row| format!("{}\n", row.unwrap())).collect()
}

/// The digest of both tables of a run under this scheme, or the key that is refused.
fn outcome(place: &Place, setting: &Setting, scheme: &str) -> String {
    let Setting { engine, topology, workload, .. } = setting;
    let text = format!(
        "engine = \"{engine}\"\nsample_interval = \"500us\"\nuntil = \"2s\"\n\
         [topology]\n{topology}\n[workload]\n{workload}\n[[scheme]]\n{scheme}\n"
    );
    place.write("digest.toml", &text);
    let _ = fs::remove_dir_all(place.path("digest"));
    let done = place.flowsched(&["run", "digest.toml", "--out", "digest"]);
    match done.status {
        Some(0) => {
            let folder = place.path("digest");
            let tables = ["flows.parquet", "ports.parquet"].map(|name| rows(&folder.join(name)));
            format!("{:016x}", digest(&tables.concat()))
        }
        Some(2) => "refused".to_owned(),
        other => panic!("{other:?}\n{text}\n{}", done.errors),
    }
}

/// One line for each setting and scheme.
fn table() -> String {
    let place = Place::new();
    let mut lines = String::new();
    let mut add = |setting: &Setting, label: &str, scheme: &str| {
        let found = outcome(&place, setting, scheme);
        lines += &format!("{} {label} {found}\n", setting.name);
    };
    for setting in &SETTINGS {
        for preset in PRESETS {
            add(setting, preset.name, &format!("preset = \"{}\"", preset.name));
        }
    }
    for preset in PRESETS {
        let scheme = format!("preset = \"{}\"\ncompat = \"ns2\"", preset.name);
        add(&PACKETS, &format!("{}/ns2", preset.name), &scheme);
    }
    for discipline in DISCIPLINES {
        let scheme = format!("preset = \"tcp\"\ndiscipline = \"{}\"", discipline.name);
        add(&SETTINGS[3], discipline.name, &scheme);
    }
    lines
}

/// A change here is a change of published results: say why in the change log.
#[test]
fn presets_give_the_results_that_they_gave() {
    let found = table();
    let differing: Vec<String> = found
        .lines()
        .zip(EXPECTED.lines())
        .filter(|(found, expected)| found != expected)
        .map(|(found, expected)| format!("{found}, where {expected} is expected"))
        .collect();
    assert!(differing.is_empty(), "{}\nAll of them:\n{found}", differing.join("\n"));
    assert_eq!(found.lines().count(), EXPECTED.lines().count(), "All of them:\n{found}");
}
