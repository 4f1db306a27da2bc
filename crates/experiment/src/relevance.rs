//! Which keys of a workload have an effect, given its other keys.

use flowsched_units::Settings;
use flowsched_workload::PATTERNS;
use flowsched_workload::parameters::{AT, EVERY, LOAD, LOAD_OF, PATTERN, SHARE, STAGGER};

/// Where the starts of flows come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Starts {
    /// From a load.
    Poisson,
    /// From `at`.
    Fixed,
}

const OF_POISSON: [&str; 3] = [LOAD.name, LOAD_OF.name, SHARE.name];
const OF_FIXED: [&str; 3] = [AT.name, EVERY.name, STAGGER.name];

/// Where the starts of flows with these settings come from.
pub(crate) fn starts_of(settings: &Settings) -> Starts {
    if settings.get(&AT).is_some() { Starts::Fixed } else { Starts::Poisson }
}

/// Whether both keys say how flows start, one by a load, the other at given times.
pub(crate) fn exclude_each_other(one: &str, other: &str) -> bool {
    let apart = |one, other| OF_POISSON.contains(one) && OF_FIXED.contains(other);
    apart(&one, &other) || apart(&other, &one)
}

/// Why `key` has no meaning beside the other keys, if it has none.
pub(crate) fn misplaced(settings: &Settings, key: &str) -> Option<String> {
    let pattern = settings.text(&PATTERN);
    if let Some(owners) = owner_other_than(&pattern, key) {
        return Some(format!(
            "`{key}` works with the pattern {owners}, and the pattern here is {pattern}. Remove \
             `{key}` or change `pattern`."
        ));
    }
    match starts_of(settings) {
        Starts::Poisson if key != AT.name && OF_FIXED.contains(&key) => Some(format!(
            "`{key}` needs `at`, the time of the first start. Add `at` or remove `{key}`."
        )),
        Starts::Fixed if OF_POISSON.contains(&key) => Some(format!(
            "`{key}` conflicts with `at`: start times are either random or fixed. Remove one of \
                 them."
        )),
        _ => None,
    }
}

/// The patterns that `key` belongs to, if `pattern` is not one of them.
pub(crate) fn owner_other_than(pattern: &str, key: &str) -> Option<String> {
    let owners: Vec<&str> = PATTERNS
        .iter()
        .filter(|pattern| pattern.own_keys.contains(&key))
        .map(|pattern| pattern.name)
        .collect();
    (!owners.is_empty() && !owners.contains(&pattern)).then(|| owners.join(" or "))
}
