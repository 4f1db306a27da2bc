//! The topologies that an experiment can name, and their settings.

use flowsched_units::{Kind, Parameter, SettingError, Settings, Time, Value};

use crate::builder::{self, Link, NetworkBuilder};
use crate::error;
use crate::kinds;
use crate::network::Network;

/// A topology that describes itself.
#[derive(Clone, Copy, Debug)]
pub struct TopologyKind {
    /// Its name in the experiment file.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub about: &'static str,
    /// The paper that its defaults are from.
    pub source: &'static str,
    /// What can be set, beside [`crate::ROUTING`] and [`crate::LOSS`].
    pub parameters: &'static [Parameter],
    /// Connects switches and hosts; the settings are of their parameters' kinds.
    pub(crate) connect: fn(&Settings) -> Result<NetworkBuilder, SettingError>,
}

/// Every topology there is.
pub const TOPOLOGIES: &[TopologyKind] = &[
    kinds::leaf_spine::KIND,
    kinds::fat_tree::KIND,
    kinds::single_rooted_tree::KIND,
    kinds::star::KIND,
    kinds::dumbbell::KIND,
    kinds::bcube::KIND,
    kinds::jellyfish::KIND,
    kinds::custom::KIND,
];

/// The topology of that name.
pub fn kind(name: &str) -> Option<&'static TopologyKind> {
    TOPOLOGIES.iter().find(|kind| kind.name == name)
}

/// Builds the topology `kind` with `settings`, a value for each of its parameters and maybe for
/// those of [`crate::LOSS`].
///
/// # Errors
/// [`SettingError`] with the key `kind` if there is no such topology, or with a parameter's key
/// if its value is missing, out of bounds, or asks for a network that is too large.
pub fn build(kind: &str, settings: &Settings) -> Result<Network, SettingError> {
    let names = || TOPOLOGIES.iter().map(|kind| kind.name).collect::<Vec<_>>().join(", ");
    let topology = self::kind(kind).ok_or_else(|| SettingError::new("kind", kind, names()))?;
    for parameter in topology.parameters {
        check(parameter, settings)?;
    }
    let builder = (topology.connect)(settings)?;
    let finished = builder.finish();
    let mut network =
        finished.map_err(|error| SettingError::sentence("kind", error.to_string()))?;
    network.lose(settings)?;
    Ok(network)
}

/// The longest delay of a link.
pub(crate) const LONGEST_DELAY: Time = Time::from_ms(1_000);

/// Checks that the value is given, that it is of the parameter's kind, and that it is within the
/// bounds of links if it is for a link.
fn check(parameter: &Parameter, settings: &Settings) -> Result<(), SettingError> {
    let refuse = |found: String, allowed| SettingError::new(parameter.name, found, allowed);
    let allowed = parameter.kind.allowed();
    let Some(value) = settings.get(parameter) else {
        return Err(refuse("nothing".into(), allowed));
    };
    let found = value.to_string();
    // A text is valid whatever is at its ends. Reading it again would cut off the blanks there.
    let is_text = parameter.kind == Kind::Text && matches!(value, Value::Text(_));
    if !is_text && parameter.kind.parse(&found).as_ref() != Ok(value) {
        return Err(refuse(found, allowed));
    }
    match parameter.kind {
        Kind::Rate if !builder::is_link_rate(settings.rate(parameter)) => {
            Err(refuse(found, format!("a rate from {} to {}", error::SLOWEST, error::FASTEST)))
        }
        Kind::Time if settings.time(parameter) > LONGEST_DELAY => {
            Err(refuse(found, format!("a delay of at most {LONGEST_DELAY}")))
        }
        _ => Ok(()),
    }
}

/// The size of a network that is to be built.
pub(crate) struct Size {
    pub hosts: u64,
    pub core_links: u64,
    pub edge_switches: u64,
    pub switches: u64,
}

impl Size {
    /// Refuses a network that would be too large, before any of it is built. `parameter` is the one
    /// to make smaller.
    pub(crate) fn check(
        &self,
        parameter: &Parameter,
        settings: &Settings,
    ) -> Result<(), SettingError> {
        let ports = self.hosts.saturating_add(self.core_links).saturating_mul(2);
        let table = self.switches.saturating_mul(self.edge_switches);
        if ports <= error::LARGEST_PORT_COUNT && table <= error::LARGEST_TABLE {
            return Ok(());
        }
        let found = format!(
            "{}, which makes {} hosts, {} switches and {ports} ports",
            settings.count(parameter),
            self.hosts,
            self.switches
        );
        let allowed = format!(
            "at most {} ports and {} pairs of a switch and a top-of-rack switch in all",
            error::LARGEST_PORT_COUNT,
            error::LARGEST_TABLE
        );
        Err(SettingError::new(parameter, found, allowed))
    }
}

/// The largest count of switches or hosts in one place.
pub(crate) const MANY: u64 = 1 << 20;

/// A parameter; the topologies' lists are tables of these.
pub(crate) const fn parameter(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    about: &'static str,
    source: &'static str,
) -> Parameter {
    Parameter { name, kind, default: Some(default), about, source }
}

pub(crate) const LIKE_LEAF_SPINE: &str = "as in leaf-spine";

/// The delay of a link.
pub(crate) const LINK_DELAY: Parameter =
    parameter("link_delay", Kind::Time, "0.2us", "Delay of a link, one way.", LIKE_LEAF_SPINE);

/// The delay in a host.
pub(crate) const HOST_DELAY: Parameter = parameter(
    "host_delay",
    Kind::Time,
    "20us",
    "Delay in a host, added to its link in each direction.",
    LIKE_LEAF_SPINE,
);

/// A host's link. Its delay includes the delay in the host, in each direction.
pub(crate) fn host_link(settings: &Settings, rate: &Parameter) -> Link {
    let delay = settings.time(&LINK_DELAY) + settings.time(&HOST_DELAY);
    Link { rate: settings.rate(rate), delay }
}

/// A link between switches.
pub(crate) fn core_link(settings: &Settings, rate: &Parameter) -> Link {
    Link { rate: settings.rate(rate), delay: settings.time(&LINK_DELAY) }
}

/// A count that [`check`] found to be at most [`MANY`].
pub(crate) fn count(settings: &Settings, parameter: &Parameter) -> u32 {
    u32::try_from(settings.count(parameter)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(kind: &str, key: &str, value: Value) -> SettingError {
        let mut settings = Settings::defaults(super::kind(kind).unwrap().parameters);
        settings.set(key, value);
        build(kind, &settings).unwrap_err()
    }

    #[test]
    fn every_topology_builds_with_its_defaults_and_has_a_name_of_its_own() {
        for (index, kind) in TOPOLOGIES.iter().enumerate() {
            let settings = Settings::defaults(kind.parameters);
            let is_complete = kind.parameters.iter().all(|parameter| parameter.default.is_some());
            assert_eq!(build(kind.name, &settings).is_ok(), is_complete, "{}", kind.name);
            assert!(TOPOLOGIES[..index].iter().all(|other| other.name != kind.name));
        }
    }

    #[test]
    fn bad_values_are_refused_by_their_key() {
        let rate = |text: &str| Value::Rate(text.parse().unwrap());
        let cases = [
            ("leaf-spine", "leaves", Value::Count(0)),
            ("leaf-spine", "spines", Value::Count(0)),
            ("leaf-spine", "leaves", Value::Count(1 << 40)),
            ("leaf-spine", "leaves", Value::Count(1 << 20)),
            ("leaf-spine", "leaves", Value::Text("nine".into())),
            ("leaf-spine", "host_link", rate("0bps")),
            ("leaf-spine", "host_link", rate("999bps")),
            ("leaf-spine", "fabric_link", rate("9Tbps")),
            ("leaf-spine", "link_delay", Value::Time(Time::MAX)),
            ("leaf-spine", "host_delay", Value::Time(Time::MAX)),
            ("fat-tree", "k", Value::Count(7)),
            ("fat-tree", "k", Value::Count(0)),
            ("fat-tree", "k", Value::Count(1 << 30)),
            ("fat-tree", "k", Value::Count(1_000)),
            ("single-rooted-tree", "racks", Value::Count(0)),
            ("single-rooted-tree", "racks", Value::Count(1 << 20)),
            ("star", "hosts", Value::Text("16".into())),
            ("star", "hosts", Value::Count(0)),
            ("star", "hosts", Value::Count(u64::MAX)),
            ("dumbbell", "hosts_per_side", Value::Count(0)),
            ("dumbbell", "bottleneck_link", rate("0bps")),
        ];
        for (kind, key, value) in cases {
            let error = refusal(kind, key, value.clone());
            assert_eq!(error.key, key, "{kind} {key} {value}: {error}");
        }
    }

    #[test]
    fn a_missing_value_and_an_unknown_topology_are_refused() {
        assert_eq!(build("star", &Settings::new()).unwrap_err().key, "hosts");
        let error = build("torus", &Settings::new()).unwrap_err();
        assert_eq!(error.key, "kind");
        assert!(error.problem.contains("leaf-spine"), "{error}");
    }

    #[test]
    fn a_network_may_have_more_than_65536_hosts() {
        let kind = super::kind("leaf-spine").unwrap();
        let mut settings = Settings::defaults(kind.parameters);
        settings.set("leaves", Value::Count(100));
        settings.set("hosts_per_leaf", Value::Count(1_000));
        assert_eq!(build("leaf-spine", &settings).unwrap().host_count(), 100_000);
    }
}
