//! `flowsched diff`: how two results folders differ.

use std::io;

use flowsched_experiment::results::{Diff, Folder};

use crate::arguments::{self, Format};
use crate::failure::Failure;

/// The differences, in the format that is asked for.
pub fn diff(wanted: &arguments::Diff) -> Result<String, Failure> {
    let (before, after) = (Folder::open(&wanted.before)?, Folder::open(&wanted.after)?);
    let diff = Diff::new(&before, &after)?;
    Ok(match wanted.format {
        Format::Table => flowsched_report::diff(&diff, textwrap::termwidth()),
        Format::Json => serde_json::to_string_pretty(&diff).map_err(io::Error::from)? + "\n",
    })
}
