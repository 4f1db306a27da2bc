//! The file of claims, and what is refused.

use std::fs;

use flowsched_experiment::{Mistake, Place};
use flowsched_papers::Claims;

use crate::failure::Failure;

/// The claims, from the root of the repository.
pub const CLAIMS: &str = "papers/claims.toml";

/// Reads the file.
pub fn read_claims() -> Result<Claims, Failure> {
    let text = fs::read_to_string(CLAIMS).map_err(|source| Failure::System {
        what: format!("read {CLAIMS}; run the command in the root of flowsched's repository"),
        source,
    })?;
    let place = Place::Argument(CLAIMS.to_owned());
    Claims::parse(&text).map_err(|error| refused(&place, "claim", &error.to_string()))
}

/// A mistake in what `place` says, for `key`.
pub fn refused(place: &Place, key: &str, problem: &str) -> Failure {
    flowsched_experiment::Mistakes::from(Mistake::new(place, key, problem)).into()
}
