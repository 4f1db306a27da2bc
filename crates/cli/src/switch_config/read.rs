//! Levels, rate, marking and buffer from a file: an agent's configuration, or an experiment.

use std::fs;
use std::path::Path;

use flowsched_experiment::{Mistake, Mistakes, Place};
use flowsched_fleet::levels::CodePoints;
use flowsched_fleet::{Levels, Refused, tc};
use flowsched_switches::Request;
use flowsched_units::{Bytes, PacketMeaning, Rate, Settings, Value};
use toml::Table;

use crate::arguments::ExperimentFile;
use crate::failure::Failure;
use crate::output;

/// A file's part in PIAS for a switch with these ports.
pub fn request(file: &Path, rate: Option<Rate>, ports: Vec<String>) -> Result<Request, Failure> {
    let text = fs::read_to_string(file).map_err(|e| unreadable(file, &e))?;
    let table: Table = text.parse().map_err(|e: toml::de::Error| {
        refused(&file.display().to_string(), e.message(), "a file in TOML format")
    })?;
    let mut request = match table.contains_key("interfaces") {
        true => of_agent(&table, rate).map_err(|error| in_file(file, error))?,
        false => of_experiment(file, rate)?,
    };
    request.ports = ports;
    Ok(request)
}

fn of_agent(table: &Table, rate: Option<Rate>) -> Result<Request, Refused> {
    let thresholds = text(table, "thresholds")?.unwrap_or_default();
    let dscp = match table.get("dscp") {
        None => None,
        Some(toml::Value::String(name)) => Some(CodePoints::Named(name.clone())),
        Some(toml::Value::Array(listed)) => {
            let points = listed.iter().map(|point| point.as_integer().unwrap_or(-1));
            Some(CodePoints::Listed(points.collect()))
        }
        Some(other) => {
            return Err(Refused::new("dscp", other, "the name of a map, or a list of code points"));
        }
    };
    let levels = Levels::parse(&thresholds, dscp)?;
    let empty = Table::new();
    let nic = table.get("nic").and_then(toml::Value::as_table).unwrap_or(&empty);
    let file_rate = text(nic, "rate")?.map(|text| {
        text.parse::<Rate>()
            .map_err(|e| Refused::new("nic.rate", format!("\"{}\"", e.found), e.allowed))
    });
    let rate = rate.or(file_rate.transpose()?).filter(|rate| rate.as_bps() > 0);
    let rate = rate.ok_or_else(|| {
        Refused::new("nic.rate", "none", "the rate of the switch's ports, or `--rate`")
    })?;
    let size = |key: &str, default: Bytes| match text(nic, key)? {
        None => Ok(default),
        Some(text) => Bytes::parse(&text, PacketMeaning::Wire)
            .map_err(|e| Refused::new(format!("nic.{key}"), e.found, e.allowed)),
    };
    let mark_at = size("mark-at", tc::default_mark_at(rate))?;
    let buffer = size("buffer", Bytes::new(16 * mark_at.get()))?;
    Ok(Request { levels, ports: Vec::new(), rate, mark_at, buffer })
}

fn text(table: &Table, key: &str) -> Result<Option<String>, Refused> {
    match table.get(key) {
        None => Ok(None),
        Some(toml::Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(Refused::new(key, other, "a text in quotes")),
    }
}

/// The first scheme with a tagger by bytes sent. Its levels get the code points that an agent gives
/// them.
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
    let mark_at = size("ecn_threshold").unwrap_or_else(|| tc::default_mark_at(rate));
    let buffer = size("buffer").unwrap_or(Bytes::new(16 * mark_at.get()));
    Ok(Request { levels, ports: Vec::new(), rate, mark_at, buffer })
}

fn in_file(file: &Path, error: Refused) -> Failure {
    let place = Place::Argument(file.display().to_string());
    Mistakes::from(Mistake::found(&place, &error.key, &error.found, error.allowed)).into()
}

/// What was found where something else is expected.
pub fn refused(place: &str, found: &str, allowed: &str) -> Failure {
    Mistakes::from(Mistake::found(&Place::Argument(place.into()), "", found, allowed)).into()
}

/// A file that cannot be read.
pub fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    refused(&path.display().to_string(), &error.to_string(), "a file that can be read")
}
