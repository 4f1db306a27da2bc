//! Flows that a file lists one by one.

use flowsched_topology::HostId;
use flowsched_units::{Bytes, Kind, PacketMeaning, Parameter, SettingError, Settings, Time, Value};

use crate::application::application_rate;
use crate::flow::{Flow, LARGEST_FLOW, LATEST};
use crate::parameters::APPLICATION_RATE;

/// A flow that is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// What its part is called, if that is said.
    pub part: Option<String>,
    /// The flow.
    pub flow: Flow,
    /// How many such flows there are.
    pub copies: u32,
}

const START: Parameter = Parameter {
    name: "start",
    kind: Kind::Time,
    default: Some("0ms"),
    about: "Its start time, from the start of the run.",
    source: "none: with the run",
};

const SRC: Parameter = Parameter {
    name: "src",
    kind: Kind::Count { from: 0, to: u32::MAX as u64 },
    default: None,
    about: "The sending host's number.",
    source: "none: must be given",
};

const DST: Parameter = Parameter {
    name: "dst",
    kind: Kind::Count { from: 0, to: u32::MAX as u64 },
    default: None,
    about: "The receiving host's number.",
    source: "none: must be given",
};

const SIZE: Parameter = Parameter {
    name: "size",
    kind: Kind::Size(PacketMeaning::Payload),
    default: None,
    about: "Payload.",
    source: "none: must be given",
};

const DEADLINE: Parameter = Parameter {
    name: "deadline",
    kind: Kind::Time,
    default: None,
    about: "Its deadline, as a time from the start of the run, as in a trace.",
    source: "none: no deadline",
};

const COPIES: Parameter = Parameter {
    name: "copies",
    kind: Kind::Count { from: 1, to: 1_000_000 },
    default: Some("1"),
    about: "Number of such flows.",
    source: "none; Slytherin 2018, V-C starts 20 at once",
};

const PART: Parameter = Parameter {
    name: "part",
    kind: Kind::Text,
    default: None,
    about: "The part that it belongs to in results.",
    source: "none; \"listed\" where there are parts",
};

/// The keys of a `[[workload.flow]]`.
pub const LISTED_PARAMETERS: &[Parameter] =
    &[START, SRC, DST, SIZE, DEADLINE, APPLICATION_RATE, COPIES, PART];

impl Listed {
    /// The flow of a table, for a network of `hosts` hosts.
    ///
    /// # Errors
    /// [`SettingError`] if a value is missing, a host is not there or sends to itself, the size
    /// or the application's rate is 0, the size is over [`LARGEST_FLOW`], an instant is beyond
    /// [`LATEST`], or the deadline is not after the start.
    pub fn from_settings(settings: &Settings, hosts: u32) -> Result<Listed, SettingError> {
        let src = host(settings, &SRC, hosts)?;
        let dst = host(settings, &DST, hosts)?;
        if src == dst {
            let found = format!("host {} again", dst.0);
            return Err(SettingError::new(&DST, found, "another host than src"));
        }
        let start = settings.time(&START);
        if start >= LATEST {
            let allowed = format!("a time before {LATEST}");
            return Err(SettingError::new(&START, start.to_string(), allowed));
        }
        let size = match settings.get(&SIZE) {
            Some(Value::Size(size)) if Bytes::ZERO < *size && *size <= LARGEST_FLOW => *size,
            other => return Err(refused(&SIZE, other, format!("from 1B to {LARGEST_FLOW}"))),
        };
        let deadline = deadline(settings, start)?;
        let part = match settings.get(&PART) {
            Some(Value::Text(part)) if part.trim().is_empty() => {
                return Err(SettingError::new(&PART, "\"\"", "a name"));
            }
            Some(Value::Text(part)) => Some(part.clone()),
            _ => None,
        };
        let application_rate = application_rate(settings)?;
        let flow = Flow { deadline, application_rate, ..Flow::new(0, src, dst, size, start) };
        let copies = u32::try_from(settings.count(&COPIES)).unwrap_or(u32::MAX);
        Ok(Listed { part, flow, copies })
    }
}

fn host(settings: &Settings, parameter: &Parameter, hosts: u32) -> Result<HostId, SettingError> {
    match settings.get(parameter) {
        Some(Value::Count(host)) if *host < u64::from(hosts) => Ok(HostId(*host as u32)),
        other => {
            let allowed = format!("a host of the topology, 0 to {}", hosts.saturating_sub(1));
            Err(refused(parameter, other, allowed))
        }
    }
}

fn deadline(settings: &Settings, start: Time) -> Result<Option<Time>, SettingError> {
    match settings.get(&DEADLINE) {
        None => Ok(None),
        Some(Value::Time(due)) if start < *due && *due <= LATEST => Ok(Some(*due)),
        other => {
            let allowed = format!("an instant after its start at {start} and up to {LATEST}");
            Err(refused(&DEADLINE, other, allowed))
        }
    }
}

fn refused(parameter: &Parameter, found: Option<&Value>, allowed: String) -> SettingError {
    let found = found.map_or("nothing".into(), Value::to_string);
    SettingError::new(parameter, found, allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(values: &[(&str, &str)]) -> Result<Listed, SettingError> {
        let mut settings = Settings::defaults(LISTED_PARAMETERS);
        let good = [("src", "0"), ("dst", "3"), ("size", "1MB"), ("start", "1ms")];
        for (key, text) in good.iter().chain(values) {
            let parameter = LISTED_PARAMETERS.iter().find(|known| known.name == *key).unwrap();
            settings.set(*key, parameter.kind.parse(text).unwrap());
        }
        Listed::from_settings(&settings, 4)
    }

    #[test]
    fn a_flow_is_what_its_table_says() {
        let found = listed(&[("deadline", "1.5ms"), ("part", "long"), ("copies", "3")]).unwrap();
        let (src, dst) = (HostId(0), HostId(3));
        let (start, due) = (Time::from_ms(1), Time::from_us(1_500));
        let size = Bytes::new(1_000_000);
        let flow = Flow { deadline: Some(due), ..Flow::new(0, src, dst, size, start) };
        assert_eq!(found, Listed { part: Some("long".into()), flow, copies: 3 });
    }

    #[test]
    fn what_cannot_be_is_refused_by_its_key() {
        let bad = [
            ("src", "4"),
            ("dst", "4"),
            ("dst", "0"),
            ("size", "0B"),
            ("size", "5TiB"),
            ("size", "unlimited"),
            ("start", "5000000s"),
            ("deadline", "1ms"),
            ("deadline", "0.5ms"),
            ("deadline", "10000001s"),
            ("part", " "),
        ];
        for (key, text) in bad {
            if let Ok(value) =
                LISTED_PARAMETERS.iter().find(|p| p.name == key).unwrap().kind.parse(text)
            {
                let error = listed(&[(key, text)]).unwrap_err();
                assert_eq!(error.key, key, "{value}: {error}");
            }
        }
        for key in ["src", "dst", "size"] {
            let mut settings = Settings::defaults(LISTED_PARAMETERS);
            let good = [
                ("src", Value::Count(0)),
                ("dst", Value::Count(1)),
                ("size", Value::Size(Bytes::new(1))),
            ];
            for (name, value) in good.into_iter().filter(|(name, _)| *name != key) {
                settings.set(name, value);
            }
            assert_eq!(Listed::from_settings(&settings, 4).unwrap_err().key, key);
        }
    }
}
