//! Random experiment files.
//!
//! What lives here: which tables a file has, and how the file is written. What may not: the
//! tables' keys, which the modules below draw from the catalogues of the crates that own them, so
//! that a new topology, part or pattern is covered as soon as it is listed there.

mod scheme;
mod table;
mod top;
mod topology;
mod value;
mod workload;

use flowsched_units::Kind;

use crate::draw::Draw;
use table::{Entry, Table};

/// The name of the experiment file of a case.
pub const FILE: &str = "case.toml";

/// The most bytes of payload that the flows of a case have, over all its runs together.
const MOST_BYTES: u64 = 60_000_000;

/// A random experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The seed that the experiment is drawn from.
    pub seed: u64,
    /// The name and content of each file. The first one is [`FILE`].
    pub files: Vec<(String, String)>,
    /// Arguments of the command line after the file.
    pub arguments: Vec<String>,
}

impl Case {
    /// The experiment of `seed`.
    pub fn new(seed: u64) -> Case {
        let draw = &mut Draw::new(seed, "case");
        let top = top::Top::draw(draw);
        let schemes = scheme::tables(draw, top.is_fluid);
        let budget = MOST_BYTES / (top.seeds * schemes.len() as u64);
        let mut inputs = Vec::new();
        let mut tables = vec![top.table(draw, &schemes), topology::table(draw, top.is_fluid)];
        tables.extend(workload::tables(draw, budget, &mut inputs));
        tables.extend(schemes);
        let mut file = String::new();
        tables.iter().for_each(|table| table.write(&mut file));
        let mut arguments = Vec::new();
        if draw.chance(0.12)
            && let Some(variation) = variation(draw, &tables)
        {
            arguments.extend(["--vary".into(), variation]);
        }
        let files = std::iter::once((FILE.to_owned(), file)).chain(inputs).collect();
        Case { seed, files, arguments }
    }
}

/// A `--vary` argument for a key that the file gives: the key's own value, and one or two drawn ones
/// without repetitions. `None` if the table that is drawn has no key to vary.
fn variation(draw: &mut Draw, tables: &[Table]) -> Option<String> {
    let table = &tables[draw.count(0, tables.len() as u64 - 1) as usize];
    let is_varied = |entry: &&Entry| !matches!(entry.kind, Kind::Text | Kind::Sizes { .. });
    let entries: Vec<&Entry> = table.entries.iter().filter(is_varied).collect();
    if entries.is_empty() || table.path == "seed" {
        return None;
    }
    let entry = draw.pick(&entries);
    let mut values = vec![entry.value.clone()];
    for _ in 0..draw.count(1, 2) {
        let value = value::of_kind(draw, entry.kind);
        if !values.contains(&value) {
            values.push(value);
        }
    }
    Some(format!("{}{}={}", table.path, entry.key, values.join(",")))
}

#[cfg(test)]
mod tests {
    use flowsched_schemes::PRESETS;
    use flowsched_topology::TOPOLOGIES;
    use flowsched_workload::PATTERNS;

    use super::*;

    #[test]
    fn a_seed_gives_the_same_case_every_time_and_another_seed_another() {
        let cases: Vec<Case> = (0..50).map(Case::new).collect();
        for (seed, case) in (0..).zip(&cases) {
            assert_eq!(Case::new(seed), *case);
            assert!(cases[..seed as usize].iter().all(|other| other.files != case.files));
        }
    }

    #[test]
    fn every_topology_preset_and_pattern_is_drawn() {
        let text: String =
            (0..1_500).flat_map(|seed| Case::new(seed).files).map(|(_, text)| text).collect();
        let topologies = TOPOLOGIES.iter().map(|kind| format!("kind = \"{}\"", kind.name));
        let presets = PRESETS.iter().map(|preset| format!("preset = \"{}\"", preset.name));
        let patterns = PATTERNS.iter().map(|pattern| format!("pattern = \"{}\"", pattern.name));
        for line in topologies.chain(presets).chain(patterns) {
            assert!(text.contains(&line), "{line}");
        }
        for table in ["[[workload.part]]", "[[workload.flow]]", "trace = ", "engine = \"fluid\""] {
            assert!(text.contains(table), "{table}");
        }
    }
}
