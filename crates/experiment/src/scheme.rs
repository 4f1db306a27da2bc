//! A `[[scheme]]` table: a preset, with some parts exchanged and some values changed.

use std::collections::BTreeSet;

use flowsched_schemes::catalogue;
use flowsched_schemes::combination::{COMMON, Combination};
use flowsched_schemes::combination::{COMPAT, NAME, PRESET};
use flowsched_schemes::discipline::DISCIPLINE;
use flowsched_schemes::flow_level::FlowLevel;
use flowsched_schemes::port::parameters::QUEUES;
use flowsched_schemes::tagger::THRESHOLDS;
use flowsched_schemes::{PRESETS, Role, Scheme};
use flowsched_units::{Parameter, SettingError, Settings, Value, shortened};

use crate::document::Table;
use crate::engine::Engine;
use crate::keys;
use crate::mistake::{Mistake, Mistakes};

/// A scheme of a scene.
#[derive(Clone, Debug)]
pub struct SchemeOfScene {
    /// A value for each of its parameters.
    pub settings: Settings,
    /// The keys that the file, its variation or the command line sets.
    pub written: BTreeSet<String>,
    /// The scheme's name in tables and charts.
    pub name: String,
    /// The scheme, ready to run.
    pub level: Level,
}

/// The form in which a scheme is run.
#[derive(Clone, Debug)]
pub enum Level {
    /// A scheme that sends packets.
    Packets(Box<Scheme>),
    /// The rates of flows. Either the scene's engine has no packets, or the scheme is a schedule,
    /// which has no packets in any engine.
    Flows(FlowLevel),
}

impl Level {
    fn build(settings: &Settings, engine: Engine) -> Result<Level, SettingError> {
        if engine == Engine::Fluid || catalogue::schedule(settings).is_some() {
            return FlowLevel::from_settings(settings).map(Level::Flows);
        }
        Scheme::from_settings(settings).map(|scheme| Level::Packets(Box::new(scheme)))
    }

    /// Whether senders send only what applications have handed over.
    pub(crate) fn waits_for_applications(&self) -> bool {
        match self {
            Level::Packets(scheme) => scheme.facts().waits_for_applications,
            Level::Flows(_) => false,
        }
    }

    /// Whether each flow keeps to one path.
    pub(crate) fn needs_one_path(&self) -> bool {
        match self {
            Level::Packets(scheme) => scheme.facts().needs_one_path,
            Level::Flows(_) => true,
        }
    }
}

/// Reads a table. `sizes_of` replaces a word for thresholds by sizes, given the number of queues.
pub(crate) fn read(
    table: &Table,
    engine: Engine,
    sizes_of: &mut dyn FnMut(&str, u64) -> Result<Value, SettingError>,
    mistakes: &mut Mistakes,
) -> Option<SchemeOfScene> {
    let combination = combination(table, mistakes)?;
    let compat = table.text(COMPAT.name).unwrap_or("none");
    let mut settings = combination.defaults(compat);
    if !keys::check(table, &parameters(&combination), &mut settings, mistakes) {
        return None;
    }
    let level =
        resolve_thresholds(&mut settings, sizes_of).and_then(|()| Level::build(&settings, engine));
    if engine == Engine::Packet
        && let Some(entry) = table.entries.get(DISCIPLINE.name)
    {
        let path = table.label_of(DISCIPLINE.name);
        let problem = "`discipline` needs `engine = \"fluid\"`.";
        mistakes.add(Mistake::new(&entry.key_place, path, problem));
    }
    match level {
        Ok(level) => {
            let written = table.entries.keys().cloned().collect();
            Some(SchemeOfScene { name: settings.text(&NAME), settings, written, level })
        }
        Err(error) => {
            let place = table.place_of(&error.key);
            mistakes.add(Mistake::of_setting(place, &table.label, &error));
            None
        }
    }
}

/// The keys that the table may have.
pub(crate) fn parameters(combination: &Combination) -> Vec<&'static Parameter> {
    let mut parameters: Vec<&Parameter> = COMMON.iter().collect();
    for parameter in combination.parameters() {
        if parameters.iter().all(|known| known.name != parameter.name) {
            parameters.push(parameter);
        }
    }
    parameters
}

/// The combination of parts that a resolved or checked table names.
pub(crate) fn combination_of(settings: &Settings) -> Option<Combination> {
    let parts = Role::ALL.map(|role| settings.text(role.parameter()));
    let parts = [0, 1, 2, 3].map(|index| Some(parts[index].as_str()));
    Combination::new(&settings.text(&PRESET), parts).ok()
}

fn combination(table: &Table, mistakes: &mut Mistakes) -> Option<Combination> {
    let presets: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    let preset = keys::word(table, PRESET.name, &presets, mistakes);
    let mut parts = [None; 4];
    let mut known = true;
    for (part, role) in parts.iter_mut().zip(Role::ALL) {
        if table.entries.contains_key(role.key()) {
            let names: Vec<&str> =
                catalogue::parts().filter(|part| part.role == role).map(|part| part.name).collect();
            *part = keys::word(table, role.key(), &names, mistakes);
            known &= part.is_some();
        }
    }
    Combination::new(preset.filter(|_| known)?, parts).ok()
}

fn resolve_thresholds(
    settings: &mut Settings,
    sizes_of: &mut dyn FnMut(&str, u64) -> Result<Value, SettingError>,
) -> Result<(), SettingError> {
    let Some(Value::Text(word)) = settings.get(&THRESHOLDS) else { return Ok(()) };
    let queues = match settings.get(&QUEUES) {
        Some(Value::Count(queues)) => *queues,
        _ => 1,
    };
    let sizes = sizes_of(&word.clone(), queues)?;
    settings.set(&THRESHOLDS, sizes);
    Ok(())
}

/// Refuses empty names, and names that several schemes have.
pub(crate) fn check_names(tables: &[Table], mistakes: &mut Mistakes) {
    for (index, table) in tables.iter().enumerate() {
        let Some(name) = table.name() else { continue };
        let path = table.label_of(NAME.name);
        let key = if table.entries.contains_key(NAME.name) { NAME } else { PRESET };
        let place = table.place_of(key.name);
        if name.trim().is_empty() {
            mistakes.add(Mistake::found(place, path, "\"\"", "a name"));
        } else if tables[..index].iter().any(|other| other.name() == Some(name)) {
            let found = format!("\"{name}\", the name of another scheme");
            let mistake = Mistake::found(place, path, found, "a name that no other scheme has");
            let name = shortened(name);
            mistakes.add(mistake.with_help(format!("add a key such as name = \"{name}-2\"")));
        }
    }
}
