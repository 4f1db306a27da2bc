//! Ready-made DSCP maps: the code point of each level, the highest priority first.

/// A map by its name in the configuration.
pub struct DscpMap {
    /// The name.
    pub name: &'static str,
    /// The code points by level.
    pub code_points: &'static [u8],
}

/// All ready-made maps. In each the lowest level is 0, what untagged traffic has; class
/// selectors (RFC 2474, 4.2.2) fall into the right queue of a switch that takes the top three
/// bits of the DSCP as the queue's number.
pub const MAPS: &[DscpMap] = &[
    DscpMap { name: "cs8", code_points: &[56, 48, 40, 32, 24, 16, 8, 0] },
    DscpMap { name: "cs4", code_points: &[48, 32, 16, 0] },
    DscpMap { name: "cs2", code_points: &[32, 0] },
];

/// The map of that name.
pub fn named(name: &str) -> Option<&'static DscpMap> {
    MAPS.iter().find(|map| map.name == name)
}

/// What is taken for this many levels where the configuration names none: the first levels of the
/// smallest map that has as many, and its last.
pub fn default_for(levels: usize) -> Vec<u8> {
    let smallest = MAPS.iter().rev().find(|map| map.code_points.len() >= levels);
    let Some(map) = smallest else { return Vec::new() };
    let mut code_points = map.code_points[..levels].to_vec();
    if let (Some(last), Some(lowest)) = (code_points.last_mut(), map.code_points.last()) {
        *last = *lowest;
    }
    code_points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_levels_has_a_map_without_repetition() {
        for levels in 1..=8 {
            let map = default_for(levels);
            assert_eq!(map.len(), levels);
            assert!(map.windows(2).all(|pair| pair[0] > pair[1]), "{map:?}");
            assert_eq!(map.last(), Some(&0));
        }
        assert_eq!(default_for(8), named("cs8").unwrap().code_points);
    }
}
