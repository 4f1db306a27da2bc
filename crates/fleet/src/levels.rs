//! Levels: demotion thresholds and the DSCP of each level. Agents' files, announcements and switch
//! configurations all pass the same checks.

use std::collections::BTreeSet;

use flowsched_units::{Bytes, PacketMeaning};
use serde::Deserialize;

use crate::dscp;
use crate::refused::Refused;

/// The maximum number of levels: the upper three bits of a DSCP distinguish eight.
pub const MOST_LEVELS: usize = 8;

/// Checked levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels {
    /// Bytes sent before demotion to the next level, in ascending order: one fewer than there are levels.
    pub thresholds: Vec<Bytes>,
    /// The code point of each level, the highest priority first.
    pub dscp: Vec<u8>,
}

/// Code points in the form of a configuration file.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(untagged, expecting = "the name of a ready-made map, or a list of code points")]
pub enum CodePoints {
    /// The name of a ready-made map.
    Named(String),
    /// The code points themselves.
    Listed(Vec<i64>),
}

impl Levels {
    /// Parses thresholds such as `"20KB 1MB"`, and code points. Without code points, uses the default for
    /// the number of levels.
    ///
    /// # Errors
    /// If a value is invalid; names the first one.
    pub fn parse(thresholds: &str, dscp: Option<CodePoints>) -> Result<Levels, Refused> {
        let thresholds = parse_thresholds(thresholds)?;
        let dscp = code_points(dscp, thresholds.len() + 1)?;
        Ok(Levels { thresholds, dscp })
    }

    /// How many levels there are.
    pub fn count(&self) -> usize {
        self.dscp.len()
    }
}

fn parse_thresholds(text: &str) -> Result<Vec<Bytes>, Refused> {
    let thresholds = text
        .split_whitespace()
        .map(|size| Bytes::parse(size, PacketMeaning::Payload))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|e| Refused::new("thresholds", format!("\"{}\"", e.found), e.allowed))?;
    check_thresholds(&thresholds)?;
    Ok(thresholds)
}

/// Checks thresholds.
///
/// # Errors
/// If there are too many thresholds, or one is below the one before.
pub fn check_thresholds(thresholds: &[Bytes]) -> Result<(), Refused> {
    let key = "thresholds";
    if thresholds.len() >= MOST_LEVELS {
        let allowed = format!("at most {}, one fewer than levels", MOST_LEVELS - 1);
        return Err(Refused::new(key, format!("{} of them", thresholds.len()), allowed));
    }
    match thresholds.windows(2).find(|pair| pair[1] < pair[0]) {
        Some(fall) => {
            let found = format!("{} after {}", fall[1], fall[0]);
            Err(Refused::new(key, found, "thresholds that do not fall"))
        }
        None => Ok(()),
    }
}

fn code_points(dscp: Option<CodePoints>, levels: usize) -> Result<Vec<u8>, Refused> {
    let code_points = match dscp {
        None => return Ok(dscp::default_for(levels)),
        Some(CodePoints::Named(name)) => match dscp::named(&name) {
            Some(map) => map.code_points.to_vec(),
            None => {
                let names: Vec<&str> = dscp::MAPS.iter().map(|map| map.name).collect();
                let allowed = format!("one of {}, or a list of code points", names.join(", "));
                return Err(Refused::new("dscp", format!("\"{name}\""), allowed));
            }
        },
        Some(CodePoints::Listed(listed)) => listed
            .iter()
            .map(|point| u8::try_from(*point).ok().filter(|point| *point < 64).ok_or(*point))
            .collect::<Result<_, _>>()
            .map_err(|point| Refused::new("dscp", point, "numbers from 0 to 63"))?,
    };
    if code_points.len() != levels {
        let allowed = format!("{levels}, one more than there are thresholds");
        return Err(Refused::new("dscp", format!("{} of them", code_points.len()), allowed));
    }
    let mut seen = BTreeSet::new();
    match code_points.iter().find(|point| !seen.insert(**point)) {
        Some(twice) => {
            Err(Refused::new("dscp", format!("{twice} twice"), "another code point for each level"))
        }
        None => Ok(code_points),
    }
}
