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
    /// All three classes, in ascending order of size.
    pub const ALL: [SizeClass; 3] = [SizeClass::Small, SizeClass::Medium, SizeClass::Large];

    /// The class of a flow of `size` payload bytes.
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

/// A value for all flows, and one for each class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PerClass<T> {
    /// The value for all flows.
    pub all: T,
    /// The value for small flows.
    pub small: T,
    /// The value for medium flows.
    pub medium: T,
    /// The value for large flows.
    pub large: T,
}

impl<T> PerClass<T> {
    /// Makes the values with `make`, which gets `None` for all flows, then each class.
    pub fn from_fn(mut make: impl FnMut(Option<SizeClass>) -> T) -> PerClass<T> {
        PerClass {
            all: make(None),
            small: make(Some(SizeClass::Small)),
            medium: make(Some(SizeClass::Medium)),
            large: make(Some(SizeClass::Large)),
        }
    }

    /// The value for a class, or for all flows with `None`.
    pub fn get(&self, class: Option<SizeClass>) -> &T {
        match class {
            None => &self.all,
            Some(SizeClass::Small) => &self.small,
            Some(SizeClass::Medium) => &self.medium,
            Some(SizeClass::Large) => &self.large,
        }
    }
}
