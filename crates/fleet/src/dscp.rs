//! Ready-made DSCP maps: the code point of each level, the highest priority first.

/// A ready-made map.
pub struct DscpMap {
    /// The name in the configuration.
    pub name: &'static str,
    /// The code points by level.
    pub code_points: &'static [u8],
}

/// All ready-made maps. The lowest level has code point 0, like untagged traffic. The others are class
/// selectors (RFC 2474, 4.2.2): a switch that takes the top three bits of the DSCP as the queue number
/// puts them into the right queue.
pub const MAPS: &[DscpMap] = &[
    DscpMap { name: "cs8", code_points: &[56, 48, 40, 32, 24, 16, 8, 0] },
    DscpMap { name: "cs4", code_points: &[48, 32, 16, 0] },
    DscpMap { name: "cs2", code_points: &[32, 0] },
];

/// The map called `name`.
pub fn named(name: &str) -> Option<&'static DscpMap> {
    MAPS.iter().find(|map| map.name == name)
}

/// The default code points for this many levels: the first ones of the smallest map that is large
/// enough, and that map's last one for the lowest level.
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
