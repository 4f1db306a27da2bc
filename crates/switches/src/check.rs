//! Checks whether a switch's configuration matches what agents expect: thresholds, levels, code points and
//! marking.

use std::collections::{BTreeMap, BTreeSet};

use crate::platform::Platform;
use crate::request::Request;

/// The result of one comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong; `None` if the switch matches.
    pub error: Option<String>,
    /// The whole result as one line.
    pub text: String,
}

/// Compares a switch's configuration with what agents need.
pub fn compare(request: &Request, platform: Platform, running: &str) -> Vec<Finding> {
    vec![
        thresholds(request, running),
        queues(request, platform, running),
        marks(request, platform, running),
    ]
}

fn finding(about: &str, error: Option<String>, fine: String) -> Finding {
    let text = error.clone().unwrap_or(fine);
    Finding { error, text: format!("{about}: {text}") }
}

/// Switches do not use thresholds. Configurations from this program name them in a comment, which is
/// compared if it is there.
fn thresholds(request: &Request, running: &str) -> Finding {
    let own = request.thresholds();
    let named = running.lines().find_map(|line| line.split_once("flowsched thresholds: "));
    let error = match named {
        Some((_, named)) if named.trim() != own => {
            Some(format!("the switch was configured for {}, agents have {own}", named.trim()))
        }
        _ => None,
    };
    finding("thresholds", error, format!("{own} (switches do not know them)"))
}

/// Compares the queue of each level's code point.
fn queues(request: &Request, platform: Platform, running: &str) -> Finding {
    let expected = by_code_point(platform, &platform.print(request).text);
    let found = by_code_point(platform, running);
    if found.is_empty() {
        let error = "no map from code points to queues was found".to_owned();
        return finding("code points", Some(error), String::new());
    }
    let wrong: Vec<String> = request
        .levels
        .dscp
        .iter()
        .filter_map(|dscp| {
            let (wanted, has) = (expected.get(dscp)?, found.get(dscp));
            let has_text = has.map_or("none", String::as_str);
            (has != Some(wanted)).then(|| format!("{dscp} goes to queue {has_text}, not {wanted}"))
        })
        .collect();
    let error = (!wrong.is_empty()).then(|| wrong.join("; "));
    finding("code points", error, format!("all {} levels have their queue", request.levels.count()))
}

fn by_code_point(platform: Platform, text: &str) -> BTreeMap<u8, String> {
    platform.read(text).into_iter().collect()
}

fn marks(request: &Request, platform: Platform, running: &str) -> Finding {
    let expected: BTreeSet<u64> =
        platform.marks(&platform.print(request).text).into_iter().collect();
    let found: BTreeSet<u64> = platform.marks(running).into_iter().collect();
    let list =
        |marks: &BTreeSet<u64>| marks.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let error = match found.is_empty() {
        true => Some("no ECN threshold was found".into()),
        false if found != expected => {
            Some(format!("ECN marks at {}, not at {}", list(&found), list(&expected)))
        }
        false => None,
    };
    finding("marking", error, format!("ECN marks at {}", list(&found)))
}
