//! Reads levels, rate, marking and buffer from a file, which is an agent's configuration or an
//! experiment.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use flowsched_experiment::{Mistake, Mistakes, Place, Source};
use flowsched_fleet::levels::CodePoints;
use flowsched_fleet::nic::{self, Nic, NicTable};
use flowsched_fleet::{Levels, Refused, tc};
use flowsched_switches::Request;
use flowsched_units::{Bytes, Rate, Settings, Value};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Table;

use crate::arguments::ExperimentFile;
use crate::failure::Failure;
use crate::output;

/// The keys of an agent's file that concern switches; the agent checks the others.
#[derive(Deserialize)]
struct AgentFile {
    thresholds: String,
    dscp: Option<CodePoints>,
    #[serde(default)]
    nic: NicTable,
}

/// What a file says about PIAS, for a switch with these ports.
pub fn request(file: &Path, rate: Option<Rate>, ports: Vec<String>) -> Result<Request, Failure> {
    let text = fs::read_to_string(file).map_err(|e| unreadable(file, &e))?;
    let source = Source::new(file.display().to_string(), text);
    let table: Table = read_toml(&source)?;
    let mut request = match table.contains_key("interfaces") {
        true => of_agent(read_toml(&source)?, rate).map_err(|error| in_file(file, error))?,
        false => of_experiment(file, rate)?,
    };
    request.ports = ports;
    Ok(request)
}

/// Reads TOML; a mistake names its line.
pub fn read_toml<T: DeserializeOwned>(source: &Arc<Source>) -> Result<T, Mistakes> {
    toml::from_str(&source.text).map_err(|error| {
        let place = Place::File { source: source.clone(), span: error.span().unwrap_or(0..0) };
        Mistakes::from(Mistake::new(&place, "", error.message()))
    })
}

fn of_agent(file: AgentFile, rate: Option<Rate>) -> Result<Request, Refused> {
    let levels = Levels::parse(&file.thresholds, file.dscp)?;
    let Nic { rate, mark_at, buffer } = Nic::check(&file.nic, rate).map_err(|error| {
        let is_missing = error.key == "nic.rate" && error.found == "none";
        let or_option = if is_missing { ", or `--rate`" } else { "" };
        Refused { allowed: error.allowed + or_option, ..error }
    })?;
    Ok(Request { levels, ports: Vec::new(), rate, mark_at, buffer })
}

/// Takes the first scheme with a tagger by bytes sent. Its levels get the code points that an agent
/// would give them.
fn of_experiment(file: &Path, rate: Option<Rate>) -> Result<Request, Failure> {
    let experiment = ExperimentFile {
        file: file.to_owned(),
        set: Vec::new(),
        vary: Vec::new(),
        quick: false,
        seed: None,
    };
    let experiment = output::read(&experiment)?;
    let missing = |allowed: &str| refused(&file.display().to_string(), "none", allowed);
    let scene = experiment.scenes.first().ok_or_else(|| missing("an experiment with a scheme"))?;
    let is_pias = |settings: &&Settings| matches!(settings.named("tagger"), Some(Value::Text(tagger)) if tagger == "mlfq");
    let settings = scene.schemes.iter().map(|scheme| &scheme.settings).find(is_pias);
    let settings = settings.ok_or_else(|| missing("a scheme with preset = \"pias\""))?;
    let thresholds = match settings.named("thresholds") {
        Some(Value::Sizes(thresholds)) => thresholds.clone(),
        _ => return Err(missing("thresholds of the scheme")),
    };
    let listed: Vec<String> = thresholds.iter().map(|bytes| format!("{}B", bytes.get())).collect();
    let levels = Levels::parse(&listed.join(" "), None).map_err(|error| in_file(file, error))?;
    let size = |name: &str| match settings.named(name) {
        Some(Value::Size(bytes)) if *bytes != Bytes::MAX => Some(*bytes),
        _ => None,
    };
    let network = scene.network().map_err(|error| crate::failure::unforeseen(file, &error))?;
    let rate = rate.unwrap_or_else(|| network.host_capacity());
    if !nic::is_line_rate(rate) {
        let found = format!("hosts at {rate}");
        return Err(refused(&file.display().to_string(), &found, nic::RATES));
    }
    let mark_at = size("ecn_threshold").unwrap_or_else(|| tc::default_mark_at(rate));
    let buffer = size("buffer").unwrap_or(Bytes::new(16 * mark_at.get()));
    Ok(Request { levels, ports: Vec::new(), rate, mark_at, buffer })
}

fn in_file(file: &Path, error: Refused) -> Failure {
    let place = Place::Argument(file.display().to_string());
    Mistakes::from(Mistake::found(&place, &error.key, &error.found, error.allowed)).into()
}

/// The failure for `place`, which has `found` where `allowed` is expected.
pub fn refused(place: &str, found: &str, allowed: &str) -> Failure {
    Mistakes::from(Mistake::found(&Place::Argument(place.into()), "", found, allowed)).into()
}

/// The failure for a file that cannot be read.
pub fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    refused(&path.display().to_string(), &error.to_string(), "a file that can be read")
}
