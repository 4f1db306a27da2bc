//! No tagging: every packet has the highest priority.

use crate::catalogue::{Part, Role};

/// The catalogue's entry.
pub const PART: Part = Part {
    role: Role::Tagger,
    name: "none",
    about: "Every packet has the highest priority.",
    source: "RFC 9293",
    parameters: &[],
};
