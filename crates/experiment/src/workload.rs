//! The `[workload]` table: drawn flows, a trace or several parts, with the files that they are read
//! from.

use flowsched_schemes::tagger::THRESHOLDS;
use flowsched_topology::Network;
use flowsched_units::{Parameter, SettingError, Settings, Value};
use flowsched_workload::parameters::{APPLICATION_RATE, SERVED_BY};
use flowsched_workload::parameters::{COOL_DOWN_FLOWS, FLOWS, LOAD, SIZES, TRACE, WARM_UP_FLOWS};
use flowsched_workload::sizes::SizeDistribution;
use flowsched_workload::{Flow, Load, PARAMETERS, PartError, WHOLE_KEYS, Workload};

use crate::document::{Document, Table};
use crate::drawn::{drawn, unreadable};
use crate::inputs::Inputs;
use crate::keys;
use crate::mistake::{Mistake, Mistakes, Place};
use crate::parts::{self, WorkloadParts};
use crate::relevance::{Starts, misplaced, starts_of};
use crate::thresholds::Demand;

/// The traffic of a scene.
#[derive(Clone, Debug)]
pub struct WorkloadOfScene {
    /// A value for each parameter that has a default or was given.
    pub settings: Settings,
    /// The source of the flows.
    pub traffic: Traffic,
}

/// The source of flows.
#[derive(Clone, Debug)]
pub enum Traffic {
    /// Flows are drawn, with these sizes.
    Drawn(SizeDistribution),
    /// Flows are those of a trace.
    Trace(Vec<Flow>),
    /// Flows belong to several parts, or are listed in the experiment.
    Parts(WorkloadParts),
}

impl WorkloadOfScene {
    /// The flow sequence of `seed`.
    pub(crate) fn flows(&self, network: &Network, seed: u64) -> Result<Workload, PartError> {
        let of_whole = |error| PartError { part: None, error };
        match &self.traffic {
            Traffic::Drawn(sizes) => {
                flowsched_workload::generate(&self.settings, network, sizes, seed).map_err(of_whole)
            }
            Traffic::Trace(flows) => {
                flowsched_workload::replay(&self.settings, network, flows.clone()).map_err(of_whole)
            }
            Traffic::Parts(WorkloadParts { parts, listed, .. }) => {
                flowsched_workload::compose(&self.settings, network, parts, listed, seed)
            }
        }
    }

    /// A copy of the workload with just enough flows to show whether the settings fit a network.
    pub(crate) fn few(&self) -> WorkloadOfScene {
        let mut few = self.clone();
        let count = |parameter| self.settings.count(parameter);
        let needed = count(&WARM_UP_FLOWS).saturating_add(count(&COOL_DOWN_FLOWS)) + 1;
        match &mut few.traffic {
            Traffic::Parts(parts) if self.flow_count() >= needed => {
                few.settings.set(&WARM_UP_FLOWS, Value::Count(0));
                few.settings.set(&COOL_DOWN_FLOWS, Value::Count(0));
                parts.make_few();
            }
            Traffic::Parts(_) => {}
            _ => few.settings.set(&FLOWS, Value::Count(needed.min(count(&FLOWS)))),
        }
        few
    }

    /// A copy of the workload. If it has more than `most` flows, the copy has about `most`: each part
    /// and each listed flow keeps at most an equal share of them, and all flows are measured.
    pub(crate) fn first(&self, most: u64) -> WorkloadOfScene {
        let mut first = self.clone();
        if self.flow_count() <= most {
            return first;
        }
        for parameter in [&WARM_UP_FLOWS, &COOL_DOWN_FLOWS] {
            first.settings.set(parameter, Value::Count(0));
        }
        match &mut first.traffic {
            Traffic::Parts(parts) => {
                let kinds = (parts.parts.len() + parts.listed.len()) as u64;
                parts.keep(most / kinds.clamp(1, most));
            }
            Traffic::Trace(flows) => flows.truncate(most as usize),
            Traffic::Drawn(_) => first.settings.set(&FLOWS, Value::Count(most)),
        }
        first
    }

    /// Whether some flows have an application that hands over bytes at a rate of its own.
    pub fn has_application_rates(&self) -> bool {
        let has_one = |settings: &Settings| settings.get(&APPLICATION_RATE).is_some();
        match &self.traffic {
            Traffic::Drawn(_) => has_one(&self.settings),
            Traffic::Trace(_) => false,
            Traffic::Parts(parts) => parts.settings().into_iter().any(has_one),
        }
    }

    /// The names of the parts whose flows memcached serves in the lab. A workload without parts counts
    /// as one part with an empty name.
    pub fn parts_of_memcached(&self) -> Vec<&str> {
        let is_served = |settings: &Settings| settings.get(&SERVED_BY).is_some();
        match &self.traffic {
            Traffic::Drawn(_) if is_served(&self.settings) => vec![""],
            Traffic::Drawn(_) | Traffic::Trace(_) => Vec::new(),
            Traffic::Parts(parts) => {
                let served = parts.parts.iter().filter(|part| is_served(&part.settings));
                served.map(|part| part.name.as_str()).collect()
            }
        }
    }

    /// The number of flows.
    pub fn flow_count(&self) -> u64 {
        match &self.traffic {
            Traffic::Drawn(_) => self.settings.count(&FLOWS),
            Traffic::Trace(flows) => flows.len() as u64,
            Traffic::Parts(parts) => parts.flow_count(&self.settings),
        }
    }

    /// The traffic that thresholds are computed for. For flows that are drawn from one load, it has the
    /// sizes and the load of the settings. For fixed start times, traces and parts, both are measured
    /// from the flows.
    pub(crate) fn demand(&self, network: &Network) -> Result<Demand, SettingError> {
        let text =
            |parameter| self.settings.get(parameter).map(Value::to_string).unwrap_or_default();
        let workload = match &self.traffic {
            Traffic::Drawn(_) => Some(text(&SIZES)),
            _ => None,
        };
        let name = match &self.traffic {
            Traffic::Drawn(sizes) if starts_of(&self.settings) == Starts::Poisson => {
                let load = self.settings.number(&LOAD);
                let name = text(&SIZES);
                return Ok(Demand { name, workload, sizes: sizes.clone(), load });
            }
            Traffic::Drawn(_) => format!("{:?}", self.settings),
            Traffic::Trace(_) => text(&TRACE),
            Traffic::Parts(parts) => format!("{:?} {:?}", self.settings, parts.settings()),
        };
        let Workload { flows, load_measured, .. } =
            self.flows(network, 0).map_err(|PartError { error, .. }| error)?;
        let sizes = SizeDistribution::from_weighted(flows.iter().map(|flow| (flow.size, 1.0)));
        match (sizes, load_measured) {
            (Some(sizes), Some(load)) => {
                Ok(Demand { name, workload, sizes, load: busiest_below_one(load) })
            }
            _ => {
                let problem = "Thresholds are computed for a load, and flows that all start at \
                               once have none. Give sizes.";
                Err(SettingError::sentence(&THRESHOLDS, problem))
            }
        }
    }
}

/// The load of the busiest links that are not overloaded. An overloaded link's queue grows without end,
/// so it has no mean that thresholds could lower.
fn busiest_below_one(load: Load) -> f64 {
    let core = load.core_links.filter(|core| *core < 1.0);
    core.map_or(load.host_links, |core| load.host_links.max(core))
}

/// Reads the tables. `network` is `None` only if something is wrong with it.
pub(crate) fn read(
    document: &Document,
    network: Option<&Network>,
    inputs: &mut Inputs<'_>,
    mistakes: &mut Mistakes,
    warnings: &mut Vec<String>,
) -> Option<WorkloadOfScene> {
    let table = &document.workload;
    let mut settings = Settings::defaults(PARAMETERS);
    let parameters: Vec<&Parameter> = PARAMETERS.iter().collect();
    keys::check(table, &parameters, &mut settings, mistakes);
    let traffic = if !document.parts.is_empty() || !document.listed.is_empty() {
        parts::read(document, network, inputs, mistakes, warnings).map(Traffic::Parts)
    } else if table.entries.contains_key(TRACE.name) {
        warn_of_unused(table, warnings);
        trace(table, network, inputs, mistakes)
    } else {
        drawn(table, &settings, inputs, mistakes).map(Traffic::Drawn)
    };
    let workload = WorkloadOfScene { settings, traffic: traffic? };
    check_flows(document, &workload, network?, mistakes);
    Some(workload)
}

/// The keys of the table that affect the flows, for the resolved experiment.
pub(crate) fn relevant(workload: &WorkloadOfScene) -> Vec<&'static Parameter> {
    let is_relevant = |key: &str| match &workload.traffic {
        Traffic::Drawn(_) => key != TRACE.name && misplaced(&workload.settings, key).is_none(),
        Traffic::Trace(_) => WHOLE_KEYS.contains(&key),
        Traffic::Parts(parts) => {
            WHOLE_KEYS.contains(&key) || key == FLOWS.name && parts.share_a_count()
        }
    };
    PARAMETERS.iter().filter(|parameter| is_relevant(parameter.name)).collect()
}

fn warn_of_unused(table: &Table, warnings: &mut Vec<String>) {
    for (key, entry) in &table.entries {
        let known = PARAMETERS.iter().any(|parameter| parameter.name == key);
        if known && !WHOLE_KEYS.contains(&key.as_str()) {
            let path = table.label_of(key);
            let warning =
                format!("{}: {path} is not used: a trace has its own flows", entry.key_place);
            if !warnings.contains(&warning) {
                warnings.push(warning);
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
    let (path, place) = (table.text(TRACE.name)?, table.place_of(TRACE.name));
    let source = match inputs.read(path) {
        Ok(source) => source,
        Err(error) => {
            mistakes.add(unreadable(place, table.label_of(TRACE.name), path, &error, "a CSV file"));
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

/// Draws just enough flows to show whether the settings fit the network.
fn check_flows(
    document: &Document,
    workload: &WorkloadOfScene,
    network: &Network,
    mistakes: &mut Mistakes,
) {
    let few = workload.few();
    let starts = check_all_starts(workload);
    if let Err(PartError { part, error }) = starts.and_then(|()| few.flows(network, 0)) {
        let whole = &document.workload;
        let table = part.and_then(|part| document.parts.get(part));
        let given = |table: &&Table| table.entries.contains_key(&error.key);
        let place = match table {
            Some(part) if given(&part) || !given(&whole) => part.place_of(&error.key),
            _ => whole.place_of(&error.key),
        };
        let path = &table.unwrap_or(whole).label;
        mistakes.add(Mistake::of_setting(place, path, &error));
    }
}

/// Checks the start times of all drawn flows, if these times are fixed.
fn check_all_starts(workload: &WorkloadOfScene) -> Result<(), PartError> {
    let check = |part, settings, count| {
        flowsched_workload::check_starts(settings, count).map_err(|error| PartError { part, error })
    };
    match &workload.traffic {
        Traffic::Drawn(_) => check(None, &workload.settings, workload.flow_count()),
        Traffic::Trace(_) => Ok(()),
        Traffic::Parts(WorkloadParts { parts, .. }) => {
            let mut parts = parts.iter().enumerate();
            parts.try_for_each(|(place, part)| {
                check(Some(place), &part.settings, part.flows.unwrap_or(1))
            })
        }
    }
}
