//! The packets that are tagged, by ports, prefixes and control groups.

use std::net::IpAddr;
use std::path::PathBuf;

use super::file;
use crate::error::AgentError;

/// The packets that are tagged: those that match an entry of each list that is not empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Ranges of ports, with the first and the last port. Either end of a connection may have the
    /// port.
    pub ports: Vec<(u16, u16)>,
    /// Destination prefixes.
    pub prefixes: Vec<(IpAddr, u8)>,
    /// Paths of control groups, relative to the root of the hierarchy or absolute.
    pub cgroups: Vec<PathBuf>,
}

/// Half of the size of the maps of `bpf/maps.h`, because a new configuration is written beside the
/// old one.
const MAX_SELECTED: usize = 2048;

impl Selection {
    pub(super) fn check(select: &file::Select) -> Result<Selection, AgentError> {
        for (key, list) in [("prefixes", &select.prefixes), ("cgroups", &select.cgroups)] {
            if list.len() > MAX_SELECTED {
                let found = format!("{} of them", list.len());
                let allowed = format!("at most {MAX_SELECTED}, which the map has room for");
                return Err(AgentError::setting(format!("select.{key}"), found, allowed));
            }
        }
        Ok(Selection {
            ports: select.ports.iter().map(|text| ports(text)).collect::<Result<_, _>>()?,
            prefixes: select.prefixes.iter().map(|text| prefix(text)).collect::<Result<_, _>>()?,
            cgroups: select.cgroups.iter().map(PathBuf::from).collect(),
        })
    }
}

fn ports(text: &str) -> Result<(u16, u16), AgentError> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.trim().parse(), last.trim().parse()) {
        (Ok(first), Ok(last)) if 0 < first && first <= last => Ok((first, last)),
        _ => Err(AgentError::setting(
            "select.ports",
            format!("\"{text}\""),
            "ports such as \"80\" or \"5001-5016\"",
        )),
    }
}

fn prefix(text: &str) -> Result<(IpAddr, u8), AgentError> {
    let parsed = match text.split_once('/') {
        Some((address, length)) => address.parse().ok().zip(length.parse().ok()),
        None => text.parse().ok().map(|address: IpAddr| (address, address_bits(address))),
    };
    match parsed {
        Some((address, length)) if length <= address_bits(address) => Ok((address, length)),
        _ => Err(AgentError::setting(
            "select.prefixes",
            format!("\"{text}\""),
            "prefixes such as \"10.1.0.0/16\" or \"2001:db8::/32\"",
        )),
    }
}

fn address_bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}
