//! The size classes that the papers report separately.

use flowsched_units::Bytes;
use serde::{Deserialize, Serialize};

/// A size class (PIAS NSDI 2015, 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SizeClass {
    /// Up to 100 KB.
    Small,
    /// More than 100 KB, up to 10 MB.
    Medium,
    /// More than 10 MB.
    Large,
}

impl SizeClass {
    /// All three, by size.
    pub const ALL: [SizeClass; 3] = [SizeClass::Small, SizeClass::Medium, SizeClass::Large];

    /// The class of a flow of that many payload bytes.
    pub fn containing(size: Bytes) -> SizeClass {
        match size.get() {
            0..=100_000 => SizeClass::Small,
            100_001..=10_000_000 => SizeClass::Medium,
            _ => SizeClass::Large,
        }
    }

    /// Its name in tables and summaries.
    pub const fn name(self) -> &'static str {
        match self {
            SizeClass::Small => "small",
            SizeClass::Medium => "medium",
            SizeClass::Large => "large",
        }
    }

    /// Its bounds in words.
    pub const fn bounds(self) -> &'static str {
        match self {
            SizeClass::Small => "up to 100 KB",
            SizeClass::Medium => "100 KB to 10 MB",
            SizeClass::Large => "over 10 MB",
        }
    }
}

/// Something for all flows and for each class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PerClass<T> {
    /// For all flows.
    pub all: T,
    /// For small ones.
    pub small: T,
    /// For medium ones.
    pub medium: T,
    /// For large ones.
    pub large: T,
}

impl<T> PerClass<T> {
    /// What `make` gives for all flows (`None`) and for each class.
    pub fn from_fn(mut make: impl FnMut(Option<SizeClass>) -> T) -> PerClass<T> {
        PerClass {
            all: make(None),
            small: make(Some(SizeClass::Small)),
            medium: make(Some(SizeClass::Medium)),
            large: make(Some(SizeClass::Large)),
        }
    }

    /// The one for a class, or for all flows.
    pub fn get(&self, class: Option<SizeClass>) -> &T {
        match class {
            None => &self.all,
            Some(SizeClass::Small) => &self.small,
            Some(SizeClass::Medium) => &self.medium,
            Some(SizeClass::Large) => &self.large,
        }
    }
}
