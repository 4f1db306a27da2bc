//! The `[[workload.part]]` and `[[workload.flow]]` tables.
//!
//! A part takes the keys that it does not set from `[workload]`, except the number of flows.

use flowsched_topology::Network;
use flowsched_units::{Parameter, Settings, Value};
use flowsched_workload::parameters::{AT, FLOWS, LOAD, PATTERN, TRACE};
use flowsched_workload::{
    LISTED_PARAMETERS, Listed, PARAMETERS, PART_NAME, Part, SHARE, WHOLE_KEYS,
};

use crate::document::{Document, Table};
use crate::drawn::drawn;
use crate::inputs::Inputs;
use crate::keys;
use crate::mistake::{Mistake, Mistakes};
use crate::relevance::{Starts, exclude_each_other, misplaced, owner_other_than, starts_of};

/// The parts of a workload, and its listed flows.
#[derive(Clone, Debug)]
pub struct WorkloadParts {
    /// The parts, whose flows are drawn.
    pub parts: Vec<Part>,
    /// The listed flows.
    pub listed: Vec<Listed>,
    /// The settings of each listed flow.
    pub(crate) listed_settings: Vec<Settings>,
}

impl WorkloadParts {
    /// The number of flows. `whole` has the count that parts without a count of their own share.
    pub(crate) fn flow_count(&self, whole: &Settings) -> u64 {
        let own: u64 = self.parts.iter().filter_map(|part| part.flows).sum();
        let shared = if self.share_a_count() { whole.count(&FLOWS) } else { 0 };
        let listed = self.listed.iter().map(|listed| u64::from(listed.copies));
        own + shared + listed.sum::<u64>()
    }

    /// Whether some parts share the flow count of the whole.
    pub(crate) fn share_a_count(&self) -> bool {
        self.parts.iter().any(|part| part.flows.is_none())
    }

    /// The settings of all parts and listed flows.
    pub(crate) fn settings(&self) -> Vec<&Settings> {
        self.parts.iter().map(|part| &part.settings).chain(&self.listed_settings).collect()
    }

    /// Reduces each part to one flow.
    pub(crate) fn make_few(&mut self) {
        self.parts.iter_mut().for_each(|part| part.flows = Some(1));
    }

    /// Reduces each part, and the copies of each listed flow, to at most this many flows.
    pub(crate) fn keep(&mut self, most: u64) {
        for part in &mut self.parts {
            part.flows = Some(part.flows.unwrap_or(most).min(most));
        }
        for listed in &mut self.listed {
            listed.copies = listed.copies.min(most as u32);
        }
    }
}

/// The keys of a part.
fn parameters() -> impl Iterator<Item = &'static Parameter> {
    let of_part = PARAMETERS.iter().filter(|parameter| !WHOLE_KEYS.contains(&parameter.name));
    std::iter::once(&PART_NAME).chain(of_part).chain(std::iter::once(&SHARE))
}

/// The keys that shape a part's flows, for the resolved experiment.
pub(crate) fn relevant(part: &Part) -> Vec<&'static Parameter> {
    let is_relevant = |parameter: &&Parameter| match parameter.name {
        key if key == FLOWS.name => part.flows.is_some(),
        key => misplaced(&part.settings, key).is_none(),
    };
    parameters().filter(is_relevant).collect()
}

/// Reads all tables. `network` is `None` only if something is wrong with it.
pub(crate) fn read(
    document: &Document,
    network: Option<&Network>,
    inputs: &mut Inputs<'_>,
    mistakes: &mut Mistakes,
    warnings: &mut Vec<String>,
) -> Option<WorkloadParts> {
    let whole = &document.workload;
    if let Some(entry) = whole.entries.get(TRACE.name) {
        let problem = "`trace` conflicts with parts and listed flows: the trace has all flows. Remove \
                       one or the other.";
        mistakes.add(Mistake::new(&entry.key_place, whole.label_of(TRACE.name), problem));
        return None;
    }
    check_names(&document.parts, mistakes);
    check_shares(&document.parts, whole, mistakes);
    let tables: Vec<Table> = document.parts.iter().map(|part| inherit(part, whole)).collect();
    warn_of_unused(document, &tables, warnings);
    let parts: Vec<Option<Part>> =
        tables.iter().map(|table| part(table, inputs, mistakes)).collect();
    let listed: Vec<Option<(Listed, Settings)>> =
        document.listed.iter().map(|table| listed(table, network, mistakes)).collect();
    let parts = parts.into_iter().collect::<Option<Vec<Part>>>()?;
    let (listed, listed_settings) =
        listed.into_iter().collect::<Option<Vec<_>>>()?.into_iter().unzip();
    Some(WorkloadParts { parts, listed, listed_settings })
}

/// The table of a part, with the keys that it takes from the whole.
fn inherit(part: &Table, whole: &Table) -> Table {
    let mut table = part.clone();
    let pattern = part.text(PATTERN.name).or(whole.text(PATTERN.name));
    let mut settings = Settings::defaults(parameters());
    if let Some(pattern) = pattern {
        settings.set(&PATTERN, Value::Text(pattern.to_owned()));
    }
    for (key, entry) in &whole.entries {
        let is_of_part = parameters().any(|parameter| parameter.name == key) && key != FLOWS.name;
        let is_excluded = part.entries.keys().any(|own| exclude_each_other(own, key));
        let is_of_other_pattern = part.entries.contains_key(PATTERN.name)
            && owner_other_than(&settings.text(&PATTERN), key).is_some();
        if is_of_part && !is_excluded && !is_of_other_pattern {
            table.entries.entry(key.clone()).or_insert_with(|| entry.clone());
        }
    }
    table
}

fn warn_of_unused(document: &Document, tables: &[Table], warnings: &mut Vec<String>) {
    for (key, entry) in &document.workload.entries {
        let is_known = PARAMETERS.iter().any(|parameter| parameter.name == key);
        let is_used = match key.as_str() {
            key if key == FLOWS.name => {
                tables.iter().any(|table| !table.entries.contains_key(FLOWS.name))
            }
            key if WHOLE_KEYS.contains(&key) => true,
            key => tables.iter().any(|table| {
                table.entries.get(key).is_some_and(|used| used.key_place == entry.key_place)
            }),
        };
        if is_known && !is_used {
            let path = document.workload.label_of(key);
            let warning = format!("{}: {path} is not used: no part takes it", entry.key_place);
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
    }
}

fn part(table: &Table, inputs: &mut Inputs<'_>, mistakes: &mut Mistakes) -> Option<Part> {
    let mut settings = Settings::defaults(parameters());
    let all: Vec<&Parameter> = parameters().collect();
    let is_sound = keys::check(table, &all, &mut settings, mistakes);
    let sizes = drawn(table, &settings, inputs, mistakes);
    let flows = table.entries.contains_key(FLOWS.name).then(|| settings.count(&FLOWS));
    if starts_of(&settings) == Starts::Fixed && flows.is_none() {
        let path = table.label_of(FLOWS.name);
        let allowed = "the number of flows, which a part with fixed start times must give";
        mistakes.add(Mistake::found(&table.place, path, "nothing", allowed));
        return None;
    }
    let name = table.text(PART_NAME.name).unwrap_or_default().to_owned();
    is_sound.then_some(Part { name, settings, sizes: sizes?, flows })
}

fn listed(
    table: &Table,
    network: Option<&Network>,
    mistakes: &mut Mistakes,
) -> Option<(Listed, Settings)> {
    let parameters: Vec<&Parameter> = LISTED_PARAMETERS.iter().collect();
    let mut settings = Settings::defaults(LISTED_PARAMETERS);
    if !keys::check(table, &parameters, &mut settings, mistakes) {
        return None;
    }
    match Listed::from_settings(&settings, network?.host_count()) {
        Ok(listed) => Some((listed, settings)),
        Err(error) => {
            mistakes.add(Mistake::of_setting(table.place_of(&error.key), &table.label, &error));
            None
        }
    }
}

/// How far the sum of shares may be from 1, since shares may be rounded.
const ROUNDING: f64 = 1e-6;

/// Refuses shares of the whole's load that do not add up to 1, because the load would differ from
/// the one in the file. Parts with a load of their own, or with fixed start times, have no share.
fn check_shares(parts: &[Table], whole: &Table, mistakes: &mut Mistakes) {
    if !whole.entries.contains_key(LOAD.name) {
        return;
    }
    let has_own_starts =
        |part: &&Table| [LOAD, AT].iter().any(|key| part.entries.contains_key(key.name));
    let sharing: Vec<&Table> = parts.iter().filter(|part| !has_own_starts(part)).collect();
    // Values that are no numbers are refused where values are read.
    let share = |part: &&Table| {
        part.text(SHARE.name).unwrap_or("1").parse::<f64>().ok().filter(|share| share.is_finite())
    };
    let Some(shares) = sharing.iter().map(share).collect::<Option<Vec<f64>>>() else { return };
    let sum: f64 = shares.iter().sum();
    if sharing.is_empty() || (sum - 1.0).abs() <= ROUNDING {
        return;
    }
    let place = sharing.iter().find(|part| part.entries.contains_key(SHARE.name));
    let part = place.unwrap_or(&sharing[0]);
    let terms: Vec<String> = sharing
        .iter()
        .zip(&shares)
        .map(|(part, share)| format!("{share} of {}", part.label))
        .collect();
    let problem = format!(
        "the shares of the load add up to {}, not 1: {}. Give every part a share, or a load of \
         its own.",
        (sum * 1e6).round() / 1e6,
        terms.join(", ")
    );
    mistakes.add(Mistake::new(part.place_of(SHARE.name), part.label_of(SHARE.name), problem));
}

/// Refuses parts without a name, and names that several parts have.
fn check_names(tables: &[Table], mistakes: &mut Mistakes) {
    for (index, table) in tables.iter().enumerate() {
        let (path, place) = (table.label_of(PART_NAME.name), table.place_of(PART_NAME.name));
        match table.text(PART_NAME.name) {
            None => mistakes.add(Mistake::found(place, path, "nothing", "a name")),
            Some(name) if name.trim().is_empty() => {
                mistakes.add(Mistake::found(place, path, "\"\"", "a name"));
            }
            Some(name)
                if tables[..index].iter().any(|other| other.text(PART_NAME.name) == Some(name)) =>
            {
                let found = format!("\"{name}\", the name of another part");
                mistakes.add(Mistake::found(place, path, found, "a name that no other part has"));
            }
            Some(_) => {}
        }
    }
}
