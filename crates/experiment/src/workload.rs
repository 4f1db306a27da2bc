//! The `[workload]` table: drawn flows or a trace, with the files that they come from.

use std::io;
use std::sync::Arc;

use flowsched_topology::Network;
use flowsched_units::{Parameter, SettingError, Settings, Value};
use flowsched_workload::sizes::{self, BUILT_IN, FORMS, SizeDistribution, SizesError};
use flowsched_workload::{Flow, PARAMETERS, PATTERNS, Workload};

use crate::document::Table;
use crate::inputs::Inputs;
use crate::keys;
use crate::mistake::{Mistake, Mistakes, Place, Source};
use crate::thresholds::Demand;

/// What a network is asked to carry.
#[derive(Clone, Debug)]
pub struct WorkloadOfScene {
    /// A value for each parameter that has a default or was given.
    pub settings: Settings,
    /// Where the flows come from.
    pub traffic: Traffic,
}

/// Where flows come from.
#[derive(Clone, Debug)]
pub enum Traffic {
    /// They are drawn, with these sizes.
    Drawn(SizeDistribution),
    /// They are those of a trace.
    Trace(Vec<Flow>),
}

/// The keys that mean something beside `trace`.
const WITH_TRACE: [&str; 3] = ["trace", "warm_up_flows", "cool_down_flows"];

impl WorkloadOfScene {
    /// The flow sequence of `seed`.
    pub(crate) fn flows(&self, network: &Network, seed: u64) -> Result<Workload, SettingError> {
        match &self.traffic {
            Traffic::Drawn(sizes) => {
                flowsched_workload::generate(&self.settings, network, sizes, seed)
            }
            Traffic::Trace(flows) => {
                flowsched_workload::replay(&self.settings, network, flows.clone())
            }
        }
    }

    /// What thresholds are worked out for: the sizes and the load that are asked for, or those
    /// of a trace, which are measured.
    pub(crate) fn demand(&self, network: &Network) -> Result<Demand, SettingError> {
        let text = |key| self.settings.get(key).map(Value::to_string).unwrap_or_default();
        let flows = match &self.traffic {
            Traffic::Drawn(sizes) => {
                let load = self.settings.number("load");
                return Ok(Demand { name: text("sizes"), sizes: sizes.clone(), load });
            }
            Traffic::Trace(flows) => flows,
        };
        let measured = self.flows(network, 0)?.load_measured;
        let sizes = SizeDistribution::from_weighted(flows.iter().map(|flow| (flow.size, 1.0)));
        match (sizes, measured) {
            (Some(sizes), Some(load)) => {
                let load = load.host_links.max(load.core_links.unwrap_or(0.0));
                Ok(Demand { name: text("trace"), sizes, load })
            }
            _ => {
                let found = "a word for a trace whose flows all start at once";
                let allowed = "sizes, since such a trace has no load";
                Err(SettingError::new("thresholds", found, allowed))
            }
        }
    }
}

/// Reads the table; `network` is there unless something is wrong with it.
pub(crate) fn read(
    table: &Table,
    network: Option<&Network>,
    inputs: &mut Inputs<'_>,
    mistakes: &mut Mistakes,
    notes: &mut Vec<String>,
) -> Option<WorkloadOfScene> {
    let mut settings = Settings::defaults(PARAMETERS);
    let parameters: Vec<&Parameter> = PARAMETERS.iter().collect();
    keys::check(table, &parameters, &mut settings, mistakes);
    let traffic = if table.entries.contains_key("trace") {
        note_unused(table, notes);
        trace(table, network, inputs, mistakes)
    } else {
        refuse_keys_of_other_patterns(table, &settings, mistakes);
        if !table.entries.contains_key("load") {
            let allowed = "a number over 0 and up to 1, or a trace";
            let path = table.path_of("load");
            mistakes.add(Mistake::found(&table.place, path, "nothing", allowed));
        }
        size_distribution(table, inputs, mistakes).map(Traffic::Drawn)
    };
    let load_is_known =
        settings.get("load").is_some() || matches!(traffic, Some(Traffic::Trace(_)));
    let workload = WorkloadOfScene { settings, traffic: traffic.filter(|_| load_is_known)? };
    check_flows(table, &workload, network?, mistakes);
    Some(workload)
}

/// The keys that shape the flows, for the resolved experiment.
pub(crate) fn relevant(settings: &Settings) -> impl Iterator<Item = &'static Parameter> {
    let with_trace = settings.get("trace").is_some();
    let pattern = settings.text("pattern");
    PARAMETERS.iter().filter(move |parameter| match with_trace {
        true => WITH_TRACE.contains(&parameter.name),
        false => owner_other_than(&pattern, parameter.name).is_none(),
    })
}

/// The patterns that `key` belongs to, if `pattern` is not one of them.
fn owner_other_than(pattern: &str, key: &str) -> Option<String> {
    let owners: Vec<&str> = PATTERNS
        .iter()
        .filter(|pattern| pattern.own_keys.contains(&key))
        .map(|pattern| pattern.name)
        .collect();
    (!owners.is_empty() && !owners.contains(&pattern)).then(|| owners.join(" and "))
}

fn refuse_keys_of_other_patterns(table: &Table, settings: &Settings, mistakes: &mut Mistakes) {
    let pattern = settings.text("pattern");
    for (key, entry) in &table.entries {
        if let Some(owners) = owner_other_than(&pattern, key) {
            let found = format!("a key of {owners}");
            let allowed = format!("keys of pattern = \"{pattern}\"");
            let path = table.path_of(key);
            mistakes.add(Mistake::found(&entry.key_place, path, found, allowed));
        }
    }
}

fn note_unused(table: &Table, notes: &mut Vec<String>) {
    for (key, entry) in &table.entries {
        let known = PARAMETERS.iter().any(|parameter| parameter.name == key);
        if known && !WITH_TRACE.contains(&key.as_str()) {
            let path = table.path_of(key);
            let note =
                format!("{}: {path} is not used: a trace has its own flows", entry.key_place);
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
}

fn trace(
    table: &Table,
    network: Option<&Network>,
    inputs: &mut Inputs<'_>,
    mistakes: &mut Mistakes,
) -> Option<Traffic> {
    let (path, place) = (table.text("trace")?, table.place_of("trace"));
    let source = match inputs.read(path) {
        Ok(source) => source,
        Err(error) => {
            mistakes.add(unreadable(place, table.path_of("trace"), path, &error, "a CSV file"));
            return None;
        }
    };
    match flowsched_workload::parse_trace(&source.text, network?.host_count()) {
        Ok(flows) => Some(Traffic::Trace(flows)),
        Err(error) => {
            let place = Place::line(&source, error.line as usize);
            mistakes.add(Mistake::found(&place, error.column, error.found, error.allowed));
            None
        }
    }
}

fn size_distribution(
    table: &Table,
    inputs: &mut Inputs<'_>,
    mistakes: &mut Mistakes,
) -> Option<SizeDistribution> {
    let (place, key) = (table.place_of("sizes"), table.path_of("sizes"));
    let Some(text) = table.text("sizes") else {
        let allowed = "a built-in name, a form such as \"fixed 20KB\", a CDF file, or a trace";
        let mistake = Mistake::found(place, key, "nothing", allowed);
        mistakes.add(mistake.with_help("`flowsched list workloads` shows what there is"));
        return None;
    };
    match sizes(text, &key, place, &mut |path| inputs.read(path)) {
        Ok(sizes) => Some(sizes),
        Err(mistake) => {
            mistakes.add(mistake);
            None
        }
    }
}

/// The distribution that `text` stands for: a built-in name, a form such as `fixed 20KB`, or a
/// CDF file that `open` finds.
///
/// # Errors
/// A [`Mistake`] of `key` at `place`, or one of the CDF file at its line.
pub fn sizes(
    text: &str,
    key: &str,
    place: &Place,
    open: &mut dyn FnMut(&str) -> io::Result<Arc<Source>>,
) -> Result<SizeDistribution, Mistake> {
    match sizes::by_name(text) {
        Ok(sizes) => return Ok(sizes),
        Err(SizesError::Malformed { found, allowed }) => {
            return Err(Mistake::found(place, key, found, allowed));
        }
        Err(SizesError::Unknown { .. }) => {}
    }
    let source = open(text).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let names = BUILT_IN.iter().map(|built_in| built_in.name);
            let names = names.chain(FORMS.iter().map(|form| form.usage));
            let mistake = Mistake::unknown(place, key, text, names);
            let problem = format!("{}, or a CDF file, and there is none here", mistake.problem);
            Mistake { problem, ..mistake }
        }
        _ => unreadable(place, key.to_owned(), text, &error, "a CDF file"),
    })?;
    sizes::parse_cdf(&source.text).map_err(|error| {
        Mistake::found(&Place::line(&source, error.line), "", error.found, error.allowed)
    })
}

fn unreadable(place: &Place, key: String, path: &str, error: &io::Error, allowed: &str) -> Mistake {
    let found = format!("\"{path}\", which cannot be read ({error})");
    Mistake::found(place, key, found, allowed)
        .with_help("paths are relative to the experiment file")
}

/// Draws as few flows as show whether the settings fit the network.
fn check_flows(
    table: &Table,
    workload: &WorkloadOfScene,
    network: &Network,
    mistakes: &mut Mistakes,
) {
    let mut few = workload.clone();
    let count = |key| workload.settings.count(key);
    let needed = count("warm_up_flows").saturating_add(count("cool_down_flows")) + 1;
    few.settings.set("flows", Value::Count(needed.min(count("flows"))));
    if let Err(error) = few.flows(network, 0) {
        mistakes.add(Mistake::of_setting(table.place_of(&error.key), &table.path, &error));
    }
}
