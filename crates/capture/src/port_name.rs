//! Names of ports: `leaf0:3` is the fourth port of leaf 0, and `leaf0:host3` the port to host 3.
//!
//! Hosts and switches have the same names as in ports.parquet, with or without the spaces.

use flowsched_topology::{Network, NodeId, PortId};

use crate::error::CaptureError;

/// The port of `network` called `name`: the name of a host or switch, a colon, and either the number of
/// one of its ports in the order of ports.parquet, or the name of the host or switch at the other end.
///
/// # Errors
/// [`CaptureError::NoPort`] if there is no such port or the name is ambiguous.
pub fn find_port(network: &Network, name: &str) -> Result<PortId, CaptureError> {
    find(network, name).map_err(|why| CaptureError::NoPort { name: name.to_owned(), why })
}

/// The ports of `network` called `names`, in their order.
///
/// # Errors
/// Those of [`find_port`], and [`CaptureError::SamePort`] if two names are of one port.
pub fn find_ports(network: &Network, names: &[String]) -> Result<Vec<PortId>, CaptureError> {
    let mut ports = Vec::new();
    for name in names {
        let port = find_port(network, name)?;
        if let Some(place) = ports.iter().position(|other| *other == port) {
            let (first, second) = (names[place].clone(), name.clone());
            return Err(CaptureError::SamePort { first, second });
        }
        ports.push(port);
    }
    Ok(ports)
}

fn find(network: &Network, name: &str) -> Result<PortId, String> {
    // Names of nodes may contain colons: try every colon, and take the longest name.
    let splits: Vec<_> = name.match_indices(':').map(|(at, _)| name.split_at(at)).collect();
    if splits.is_empty() {
        return Err("it has no colon".to_owned());
    }
    let mut owners = splits.into_iter().filter_map(|(owner, which)| {
        Some((node(network, owner)?, which.strip_prefix(':')?.trim()))
    });
    let Some((owner, which)) = owners.next_back() else {
        return Err("there is no such host or switch".to_owned());
    };
    let ports = network.ports_of(owner);
    let is_to_it = |port: &&PortId| same(&network.name(network.port(**port).peer), which);
    let to_it: Vec<&PortId> = ports.iter().filter(is_to_it).collect();
    match (to_it.as_slice(), which.parse::<usize>()) {
        ([port], _) => Ok(**port),
        ([], Ok(number)) => ports.get(number).copied().ok_or_else(|| {
            format!("{} has ports 0 to {}", network.name(owner), ports.len().saturating_sub(1))
        }),
        ([], Err(_)) => Err(format!("{} has no link to {which}", network.name(owner))),
        _ => Err(format!("{} has several links to {which}; use a number", network.name(owner))),
    }
}

fn node(network: &Network, name: &str) -> Option<NodeId> {
    let nodes = network.hosts().map(|host| host.node()).chain(network.switches());
    nodes.into_iter().find(|node| same(&network.name(*node), name))
}

fn same(name: &str, written: &str) -> bool {
    let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    letters(name) == letters(written)
}
