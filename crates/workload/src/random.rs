//! Seeded random streams.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The random stream for one `purpose` of one `entity` under `seed`.
///
/// Streams of different seeds, purposes or entities have nothing in common, so that drawing more
/// from one changes no other: at another load, flows have the same sizes, ends and order. Only
/// the first 16 bytes of the purpose count.
pub fn stream(seed: u64, purpose: &str, entity: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    for (key, letter) in key[8..24].iter_mut().zip(purpose.bytes()) {
        *key = letter;
    }
    key[24..].copy_from_slice(&entity.to_le_bytes());
    ChaCha8Rng::from_seed(key)
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;

    #[test]
    fn streams_differ_by_seed_purpose_and_entity_and_are_the_same_everywhere() {
        let first = |seed, purpose, entity| stream(seed, purpose, entity).random::<u64>();
        let draws = [
            first(1, "sizes", 0),
            first(2, "sizes", 0),
            first(1, "pairs", 0),
            first(1, "sizes", 1),
        ];
        for (index, draw) in draws.iter().enumerate() {
            assert!(!draws[..index].contains(draw));
        }
        assert_eq!(first(1, "sizes", 0), 14_227_427_235_375_334_338);
    }
}
