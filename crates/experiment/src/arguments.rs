//! Applies the command line to a document: `--set`, `--vary`, `--seed`, `--quick`.

use flowsched_schemes::combination::NAME;
use flowsched_workload::PART_NAME;

use crate::document::{Document, Entry, Table};
use crate::mistake::{Mistake, Mistakes, Place};
use crate::parameters::{self, SEED, SEEDS};
use crate::vary::Variation;

/// Changes of an experiment file from the command line.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// Each `--set`: a dotted key and its value, joined by `=`.
    pub set: Vec<String>,
    /// Each `--vary`: a dotted key and its values, joined by `=`.
    pub vary: Vec<String>,
    /// `--seed`: the first seed.
    pub seed: Option<u64>,
    /// `--quick`: the file's `[quick]` values replace the others.
    pub quick: bool,
}

/// The parsed form of a dotted key. In the text, a scheme may be given by number or by name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    table: Which,
    name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Top,
    Topology,
    Workload,
    Probe,
    Part(usize),
    Listed(usize),
    Scheme(usize),
}

/// Keys that belong to an experiment as a whole, not to a run.
const SHARED: [&str; 3] = [parameters::NAME.name, SEED.name, SEEDS.name];

impl Key {
    /// The key in its one canonical spelling.
    fn path(&self) -> String {
        match self.table {
            Which::Top => self.name.clone(),
            Which::Topology => format!("topology.{}", self.name),
            Which::Workload => format!("workload.{}", self.name),
            Which::Probe => format!("probe.{}", self.name),
            Which::Part(index) => format!("workload.part.{index}.{}", self.name),
            Which::Listed(index) => format!("workload.flow.{index}.{}", self.name),
            Which::Scheme(index) => format!("scheme.{index}.{}", self.name),
        }
    }
}

impl Document {
    /// Changes the document as the arguments say. Returns the keys that vary.
    pub fn apply(&mut self, arguments: &Arguments, mistakes: &mut Mistakes) -> Vec<Variation> {
        let mut variations = self.own_variations(mistakes);
        self.apply_quick(arguments.quick, &mut variations, mistakes);
        for argument in &arguments.vary {
            let place = Place::Argument(format!("--vary {argument}"));
            let added = self.add_variation(&mut variations, argument, &place);
            added.unwrap_or_else(|mistake| mistakes.add(mistake));
        }
        // The names of schemes are those in the file, even if an earlier `--set` changes a name.
        let as_in_the_file = self.clone();
        for argument in &arguments.set {
            let place = Place::Argument(format!("--set {argument}"));
            let set = split(argument, &place, "value").and_then(|(text, value)| {
                let key = as_in_the_file.locate(text, &place)?;
                stop_varying(&mut variations, &key, text, &place)?;
                self.insert(&key, value, &place);
                Ok(())
            });
            set.unwrap_or_else(|mistake| mistakes.add(mistake));
        }
        if let Some(seed) = arguments.seed {
            let place = Place::Argument(format!("--seed {seed}"));
            let key = Key { table: Which::Top, name: SEED.name.into() };
            self.insert(&key, &seed.to_string(), &place);
        }
        variations
    }

    /// Sets the key of `variation` to its value number `index`.
    pub fn vary(&mut self, variation: &Variation, index: usize) {
        if let Ok(key) = self.locate(&variation.path, &variation.place) {
            self.insert(&key, &variation.values[index], &variation.place);
        }
    }

    /// Returns the variations of the file's `[vary]`, in the order of the file.
    fn own_variations(&self, mistakes: &mut Mistakes) -> Vec<Variation> {
        let mut entries: Vec<_> = self.vary.entries.iter().collect();
        entries.sort_by_key(|(_, entry)| entry.key_place.order());
        let mut variations: Vec<Variation> = Vec::new();
        for (text, entry) in entries {
            let variation = self.locate_varied(text, &entry.key_place).and_then(|key| {
                if variations.iter().any(|known| known.path == key.path()) {
                    return Err(Mistake::found(&entry.key_place, text, SECOND, "it once"));
                }
                Variation::parse(text, &key.path(), &entry.text, &entry.value_place)
            });
            match variation {
                Ok(variation) => variations.push(variation),
                Err(mistake) => mistakes.add(mistake),
            }
        }
        variations
    }

    /// Replaces values by those of the file's `[quick]` if `--quick` is given. The keys of
    /// `[quick]` are checked in any case.
    fn apply_quick(
        &mut self,
        is_asked: bool,
        variations: &mut [Variation],
        mistakes: &mut Mistakes,
    ) {
        let Some(quick) = self.quick.take() else {
            if is_asked {
                let place = Place::Argument("--quick".into());
                let allowed = "a file with a [quick] table, which says what is smaller";
                mistakes.add(Mistake::found(&place, "quick", "no [quick] table", allowed));
            }
            return;
        };
        let as_in_the_file = self.clone();
        for (text, entry) in &quick.entries {
            let changed = as_in_the_file.locate(text, &entry.key_place).and_then(|key| {
                let path = key.path();
                match variations.iter_mut().find(|variation| variation.path == path) {
                    Some(varied) if is_asked => {
                        *varied = Variation::parse(text, &path, &entry.text, &entry.value_place)?;
                    }
                    None if is_asked => self.insert(&key, &entry.text, &entry.value_place),
                    _ => {}
                }
                Ok(())
            });
            changed.unwrap_or_else(|mistake| mistakes.add(mistake));
        }
    }

    /// Adds the variation of a `--vary`, which replaces the file's variation of the same key.
    fn add_variation(
        &self,
        variations: &mut Vec<Variation>,
        argument: &str,
        place: &Place,
    ) -> Result<(), Mistake> {
        let (text, values) = split(argument, place, "values")?;
        let path = self.locate_varied(text, place)?.path();
        let variation = Variation::parse(text, &path, values, place)?;
        let before = variations.iter().position(|variation| variation.path == path);
        if let Some(index) = before {
            if matches!(variations[index].place, Place::Argument(_)) {
                return Err(Mistake::found(place, text, SECOND, "it once"));
            }
            variations.remove(index);
        }
        variations.push(variation);
        Ok(())
    }

    fn insert(&mut self, key: &Key, text: &str, place: &Place) {
        let table = match key.table {
            Which::Top => &mut self.top,
            Which::Topology => &mut self.topology,
            Which::Workload => &mut self.workload,
            Which::Probe => self.probe.get_or_insert_with(|| Table::empty("probe", place)),
            Which::Part(index) => &mut self.parts[index],
            Which::Listed(index) => &mut self.listed[index],
            Which::Scheme(index) => &mut self.schemes[index],
        };
        table.entries.insert(key.name.clone(), Entry::argument(text, place));
    }

    /// Finds the table and the name of the dotted `key`.
    fn locate(&self, key: &str, place: &Place) -> Result<Key, Mistake> {
        let found = |table, name: &str| Ok(Key { table, name: name.to_owned() });
        let Some((first, rest)) = key.split_once('.') else {
            if Document::TABLES.contains(&key) {
                let allowed = "a key of it, such as workload.load";
                return Err(Mistake::found(place, key, "a table", allowed));
            }
            return found(Which::Top, key);
        };
        match first {
            "topology" => found(Which::Topology, rest),
            "probe" => found(Which::Probe, rest),
            "workload" => match rest.split_once('.') {
                Some(("part", rest)) => {
                    let of_part = Element { what: "part", path: "workload.part", key, place };
                    let (index, name) = of_part.find(rest, &self.parts)?;
                    found(Which::Part(index), name)
                }
                Some(("flow", rest)) => {
                    let of_flow = Element { what: "flow", path: "workload.flow", key, place };
                    let (index, name) = of_flow.find(rest, &self.listed)?;
                    found(Which::Listed(index), name)
                }
                _ => found(Which::Workload, rest),
            },
            "scheme" => {
                let of_scheme = Element { what: "scheme", path: "scheme", key, place };
                let (index, name) = of_scheme.find(rest, &self.schemes)?;
                found(Which::Scheme(index), name)
            }
            _ => {
                let tables = ["topology", "workload", "probe", "scheme"];
                Err(Mistake::unknown(place, key, first, tables))
            }
        }
    }

    fn locate_varied(&self, text: &str, place: &Place) -> Result<Key, Mistake> {
        let key = self.locate(text, place)?;
        let shared = match key.table {
            Which::Top => SHARED.contains(&key.name.as_str()),
            Which::Topology | Which::Workload | Which::Probe | Which::Listed(_) => false,
            Which::Scheme(_) => key.name == NAME.name,
            Which::Part(_) => key.name == PART_NAME.name,
        };
        if shared {
            let found = format!("\"{}\", which every run shares", key.name);
            return Err(Mistake::found(place, text, found, "a key that shapes a run"));
        }
        Ok(key)
    }
}

/// A dotted key that leads into one table of a list.
struct Element<'a> {
    /// What a table of the list is called in messages.
    what: &'static str,
    /// The part of the key before the number or name.
    path: &'static str,
    /// The whole key.
    key: &'a str,
    place: &'a Place,
}

impl Element<'_> {
    /// Returns the table's place in the list, and the key within the table. `rest` is `NAME.KEY` or
    /// `NUMBER.KEY`.
    fn find<'b>(&self, rest: &'b str, tables: &[Table]) -> Result<(usize, &'b str), Mistake> {
        let (selector, name) = rest.rsplit_once('.').ok_or_else(|| {
            let path = self.path;
            let allowed = format!("{path}.NAME.KEY or {path}.NUMBER.KEY, counted from 0");
            Mistake::found(self.place, self.key, format!("no key of a {}", self.what), allowed)
        })?;
        Ok((self.index(selector, tables)?, name))
    }

    /// The place of the table with this number or name.
    fn index(&self, selector: &str, tables: &[Table]) -> Result<usize, Mistake> {
        let count = tables.len();
        if count == 0 {
            let allowed = format!("a [[{}]] table in the file", self.path);
            let found = format!("a key of a {}", self.what);
            return Err(Mistake::found(self.place, self.key, found, allowed));
        }
        if let Some(index) = selector.parse().ok().filter(|index| *index < count) {
            return Ok(index);
        }
        let names: Vec<Option<&str>> = tables.iter().map(Table::name).collect();
        let mut indices = (0..count).filter(|index| names[*index] == Some(selector));
        match (indices.next(), indices.next()) {
            (Some(index), None) => Ok(index),
            (Some(_), Some(_)) => {
                let found = format!("\"{selector}\", which several {}s are called", self.what);
                let allowed = format!("a {}'s number, from 0 to {}", self.what, count - 1);
                Err(Mistake::found(self.place, self.key, found, allowed))
            }
            _ => {
                let numbers = format!("or a number from 0 to {}", count.saturating_sub(1));
                let names = names.into_iter().flatten().chain([numbers.as_str()]);
                Err(Mistake::unknown(self.place, self.key, selector, names))
            }
        }
    }
}

const SECOND: &str = "the key a second time";

/// Removes the file's variation of a key that a `--set` sets. Refuses a key that a `--vary` varies.
fn stop_varying(
    variations: &mut Vec<Variation>,
    key: &Key,
    text: &str,
    place: &Place,
) -> Result<(), Mistake> {
    let of_key = |variation: &Variation| variation.path == key.path();
    match variations.iter().find(|variation| of_key(variation)) {
        Some(Variation { place: Place::Argument(vary), .. }) => {
            Err(Mistake::found(place, text, format!("{vary} as well"), "one of the two"))
        }
        _ => {
            variations.retain(|variation| !of_key(variation));
            Ok(())
        }
    }
}

/// Splits an argument at `=` into the key and its value.
fn split<'a>(argument: &'a str, place: &Place, what: &str) -> Result<(&'a str, &'a str), Mistake> {
    match argument.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim(), value.trim())),
        _ => {
            let allowed = format!("key={what}, such as workload.load=0.6");
            Err(Mistake::found(place, "", format!("\"{argument}\""), allowed))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mistake::Source;

    const FILE: &str = "[workload]\nload = 0.8\n[vary]\nworkload.load = \"0.5,0.6\"\n\
                        [[scheme]]\npreset = \"tcp\"\n[[scheme]]\npreset = \"pias\"\n\
                        [[scheme]]\npreset = \"pias\"\nname = \"pias2\"\n";

    fn apply(set: &[&str], vary: &[&str]) -> (Document, Vec<Variation>, String) {
        let mut document = Document::parse(&Source::new("a.toml", FILE)).unwrap();
        let owned = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect();
        let arguments = Arguments { set: owned(set), vary: owned(vary), ..Arguments::default() };
        let mut mistakes = Mistakes::new();
        let variations = document.apply(&arguments, &mut mistakes);
        (document, variations, mistakes.to_string())
    }

    #[test]
    fn schemes_go_by_number_or_name() {
        let (document, _, mistakes) =
            apply(&["scheme.0.g=1", "scheme.pias.queues=4", "scheme.pias2.queues=2"], &[]);
        assert_eq!(mistakes, "");
        let given = |index: usize, key| document.schemes[index].text(key).map(str::to_owned);
        assert_eq!(given(0, "g").as_deref(), Some("1"));
        assert_eq!(given(1, "queues").as_deref(), Some("4"));
        assert_eq!(given(2, "queues").as_deref(), Some("2"));
    }

    #[test]
    fn the_command_line_overrules_what_the_file_varies() {
        assert_eq!(apply(&[], &[]).1.len(), 1);
        assert_eq!(apply(&["workload.load=0.7"], &[]).1.len(), 0);
        let (_, variations, _) = apply(&[], &["workload.load=0.7,0.8,0.9"]);
        assert_eq!(variations.len(), 1);
        assert_eq!(variations[0].values, ["0.7", "0.8", "0.9"]);
    }

    #[test]
    fn arguments_that_lead_nowhere_are_refused_by_name() {
        let set = [
            "load",
            "=3",
            "wrkload.load=1",
            "scheme.queues=1",
            "scheme.pais.queues=1",
            "scheme.9.queues=1",
        ];
        let vary = ["seeds=1,2", "scheme.0.name=a,b", "workload.load=0..", "flows=1,2", "flows=3"];
        insta::assert_snapshot!(apply(&set, &vary).2, @r#"
        --vary seeds=1,2: seeds: found "seeds", which every run shares, expected a key that shapes a run
        --vary scheme.0.name=a,b: scheme.0.name: found "name", which every run shares, expected a key that shapes a run
        --vary workload.load=0..: workload.load: found "0..", expected values such as "0.5,0.8" or a range with its step, "0.5..0.9:0.1"; the step is missing
        --vary flows=3: flows: found the key a second time, expected it once
        --set load: found "load", expected key=value, such as workload.load=0.6
        --set =3: found "=3", expected key=value, such as workload.load=0.6
        --set wrkload.load=1: wrkload.load: found "wrkload", expected topology, workload, probe, scheme; did you mean "workload"?
        --set scheme.queues=1: scheme.queues: found no key of a scheme, expected scheme.NAME.KEY or scheme.NUMBER.KEY, counted from 0
        --set scheme.pais.queues=1: scheme.pais.queues: found "pais", expected tcp, pias, pias2, or a number from 0 to 2; did you mean "pias"?
        --set scheme.9.queues=1: scheme.9.queues: found "9", expected tcp, pias, pias2, or a number from 0 to 2
        "#);
    }
}
