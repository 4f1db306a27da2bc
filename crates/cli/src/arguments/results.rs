//! Commands about results that are there: `diff` and `store`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::format::Format;

pub(super) const DIFF_EXAMPLES: &str = "\
Examples:
  flowsched diff results/before results/after
  flowsched diff results/a results/b --format json | jq '.schemes[].fct.small.mean'

The folders may be of older versions of flowsched. Changes are of the second folder against the
first, over runs of the same scheme, seed and point whose flows are the same in both.";

/// `flowsched diff`.
#[derive(Args, Debug)]
pub struct Diff {
    /// The folder that is compared with
    #[arg(value_name = "BEFORE")]
    pub before: PathBuf,
    /// The other folder
    #[arg(value_name = "AFTER")]
    pub after: PathBuf,
    /// How the differences are printed
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// `flowsched store`.
#[derive(Debug, Subcommand)]
pub enum Store {
    /// List the results in a store of `flowsched reproduce` or of a sweep
    #[command(after_help = "Example:\n  flowsched store list results/reproduce")]
    List {
        /// The store
        dir: PathBuf,
    },
    /// Remove what other versions of flowsched wrote to a store: nothing asks for it again
    #[command(after_help = STORE_EXAMPLES)]
    Remove {
        /// The store
        dir: PathBuf,
        /// Remove also what is older than this, 30d or 12h
        #[arg(long, value_name = "AGE", value_parser = age)]
        older_than: Option<Duration>,
    },
}

const STORE_EXAMPLES: &str = "\
Examples:
  flowsched store remove results/reproduce
  flowsched store remove results/sweep --older-than 30d";

/// Reads an age in days or hours.
fn age(text: &str) -> Result<Duration, &'static str> {
    let seconds =
        |number: &str, unit: u64| number.parse().ok().and_then(|n: u64| n.checked_mul(unit));
    let age = match (text.strip_suffix('d'), text.strip_suffix('h')) {
        (Some(days), _) => seconds(days, 86_400),
        (_, Some(hours)) => seconds(hours, 3_600),
        _ => None,
    };
    age.map(Duration::from_secs).ok_or("expected days or hours, such as 30d or 12h")
}
