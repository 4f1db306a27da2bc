//! Shares of small flows: figures of a distribution of sizes, which need no run.

use std::fmt;

use flowsched_units::{Bytes, PacketMeaning};
use flowsched_workload::sizes::{SizeDistribution, by_name};
use serde::{Deserialize, Serialize};

use crate::measured::Measured;
use crate::setting::Setting;

/// The keys that a reading can change.
const KEYS: [&str; 2] = ["sizes", "below"];

/// The share that the small flows of a distribution have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// The distribution, as in `sizes` of a workload, such as `"web-search-bytes"`. It cannot be a file.
    pub sizes: String,
    /// The total that the share is of.
    pub of: Of,
    /// The size below which flows are small, such as `"100KB"`.
    pub below: String,
}

/// The total that a share is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    /// All flows.
    Flows,
    /// The bytes of all flows.
    Bytes,
}

impl Share {
    /// The share, from 0 to 1. Nothing is random, so both ends of its interval are the share itself.
    ///
    /// # Errors
    /// A sentence if there is no such distribution or size.
    pub fn compute(&self) -> Result<Measured, String> {
        let sizes: SizeDistribution = by_name(&self.sizes).map_err(|error| error.to_string())?;
        let below = Bytes::parse(&self.below, PacketMeaning::Payload);
        let below = below.map_err(|error| error.to_string())?.get() as f64;
        let share = match self.of {
            Of::Flows => sizes.below(below),
            Of::Bytes => sizes.share_of_bytes_below(below),
        };
        Ok(Measured { figure: share, interval: Some((share, share)), extremes: None, seeds: 0 })
    }

    /// This share with other values of some keys.
    pub(crate) fn with(&self, set: &Setting) -> Share {
        let mut other = self.clone();
        for (key, value) in set {
            match key.as_str() {
                "sizes" => other.sizes.clone_from(value),
                "below" => other.below.clone_from(value),
                _ => {}
            }
        }
        other
    }

    /// Whether a share has all these keys.
    pub(crate) fn has_keys(set: &Setting) -> bool {
        set.keys().all(|key| KEYS.contains(&key.as_str()))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Share { sizes, below, .. } = self;
        match self.of {
            Of::Flows => write!(f, "the share of flows smaller than {below}")?,
            Of::Bytes => write!(f, "the share of bytes in flows smaller than {below}")?,
        }
        write!(f, ", computed from the sizes `{sizes}`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_an_even_distribution_are_known() {
        let share = |of, below: &str| {
            let (sizes, below) = ("uniform 1MB 3MB".to_owned(), below.to_owned());
            Share { sizes, of, below }.compute().unwrap().figure
        };
        assert!((share(Of::Flows, "2MB") - 0.5).abs() < 1e-9);
        // Flows of 1 to 2 MB have 1.5 MB on average, all flows 2 MB.
        assert!((share(Of::Bytes, "2MB") - 0.375).abs() < 1e-9);
        assert_eq!((share(Of::Flows, "1MB"), share(Of::Bytes, "1MB")), (0.0, 0.0));
        assert_eq!((share(Of::Flows, "4MB"), share(Of::Bytes, "4MB")), (1.0, 1.0));
    }

    #[test]
    fn a_share_of_nothing_is_refused() {
        let share = |sizes: &str, below: &str| {
            let (sizes, below) = (sizes.to_owned(), below.to_owned());
            Share { sizes, of: Of::Flows, below }.compute().unwrap_err()
        };
        assert!(share("web-serch", "100KB").contains("web-serch"));
        assert!(share("web-search-bytes", "small").contains("small"));
    }

    #[test]
    fn readings_change_a_share() {
        let share = Share { sizes: "a".to_owned(), of: Of::Bytes, below: "69KB".to_owned() };
        let set = Setting::from([("below".to_owned(), "100KB".to_owned())]);
        assert_eq!(share.with(&set), Share { below: "100KB".to_owned(), ..share });
        assert!(Share::has_keys(&set));
        assert!(!Share::has_keys(&Setting::from([("workload.load".to_owned(), "0.5".to_owned())])));
    }
}
