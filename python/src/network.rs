//! Networks as lists of nodes and links.

use flowsched_topology::{LinkEnd, Network, TOPOLOGIES, kind};
use flowsched_units::{Parameter, SettingError, Settings};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::{errors, json};

/// The network of the topology `name` as JSON: its nodes, and one link for each port. `settings` are pairs
/// of keys and values.
#[pyfunction]
pub(crate) fn network(
    py: Python<'_>,
    name: &str,
    settings: Vec<(String, String)>,
) -> PyResult<String> {
    let built = py.detach(|| build(name, &settings));
    let network = built.map_err(|error| errors::setting("topology", &error))?;
    json::text(&described(&network))
}

fn build(name: &str, given: &[(String, String)]) -> Result<Network, SettingError> {
    let Some(kind) = kind(name) else {
        let names: Vec<&str> = TOPOLOGIES.iter().map(|kind| kind.name).collect();
        return Err(SettingError::new("kind", format!("\"{name}\""), names.join(", ")));
    };
    let mut settings = Settings::defaults(kind.parameters);
    for (key, text) in given {
        let is_key = |parameter: &&Parameter| parameter.name == key;
        let Some(parameter) = kind.parameters.iter().find(is_key) else {
            let names: Vec<&str> = kind.parameters.iter().map(|known| known.name).collect();
            return Err(SettingError::new(key, "a key that it does not have", names.join(", ")));
        };
        let value = parameter.kind.parse(text);
        settings
            .set(parameter.name, value.map_err(|problem| SettingError::sentence(key, problem))?);
    }
    flowsched_topology::build(kind.name, &settings)
}

fn described(network: &Network) -> Value {
    let hosts = network.hosts().map(|host| (host.node(), "host"));
    let tiers = network.tiers().iter();
    let switches = tiers.flat_map(|tier| {
        tier.nodes.clone().map(|node| (flowsched_topology::NodeId(node), tier.name))
    });
    let nodes: Vec<Value> = hosts
        .chain(switches)
        .map(|(node, tier)| json!({ "name": network.name(node), "tier": tier }))
        .collect();
    let link = |port: &LinkEnd| {
        json!({
            "from": port.owner.0,
            "to": port.peer.0,
            "rate_bps": port.rate.as_bps(),
            "rate": port.rate.to_string(),
            "delay_ps": port.delay.as_ps(),
            "delay": port.delay.to_string(),
        })
    };
    let links: Vec<Value> = network.ports().iter().map(link).collect();
    json!({ "nodes": nodes, "links": links })
}
