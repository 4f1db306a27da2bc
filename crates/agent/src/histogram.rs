//! Message sizes on a logarithmic scale, in the buckets of `bucket_of` in `bpf/depart.h`. Sizes below
//! 256 B are exact. Above, the width of a bucket is at most 1/128 of any size in it, so its middle is
//! within 0.4% of all of them.

use flowsched_units::Bytes;

use crate::bpf::types::constant;

const EXACT_BITS: u64 = constant::FS_EXACT_BITS.0 as u64;
const EXACT: u64 = constant::FS_EXACT_SIZES.0 as u64;
const OCTAVE_BITS: u64 = constant::FS_OCTAVE_BITS.0 as u64;
const OCTAVE_BUCKETS: u64 = constant::FS_OCTAVE_BUCKETS.0 as u64;
const OCTAVES: u64 = constant::FS_OCTAVES.0 as u64;
/// The number of buckets.
pub(crate) const BUCKETS: usize = constant::FS_BUCKETS.0 as usize;

/// The bucket that holds messages of `size` bytes.
pub(crate) fn bucket_of(size: u64) -> usize {
    if size < EXACT {
        return size as usize;
    }
    let exponent = u64::from(size.ilog2());
    let octave = exponent - EXACT_BITS;
    if octave >= OCTAVES {
        return BUCKETS - 1;
    }
    (EXACT + octave * OCTAVE_BUCKETS + ((size >> (exponent - OCTAVE_BITS)) & (OCTAVE_BUCKETS - 1)))
        as usize
}

/// The smallest and the largest size in a bucket.
pub(crate) fn bounds(bucket: usize) -> (u64, u64) {
    let bucket = bucket as u64;
    if bucket < EXACT {
        return (bucket, bucket);
    }
    let octave = (bucket - EXACT) / OCTAVE_BUCKETS;
    let place = (bucket - EXACT) % OCTAVE_BUCKETS;
    let width = (EXACT / OCTAVE_BUCKETS) << octave;
    let first = (OCTAVE_BUCKETS + place) * width;
    (first, first + width - 1)
}

/// The number of messages of each size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>,
}

impl Histogram {
    pub(crate) fn new(counts: Vec<u64>) -> Histogram {
        Histogram { counts }
    }

    /// The number of messages.
    pub fn messages(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The sizes that occurred, in ascending order. Each is the middle of its bucket, with the
    /// number of messages.
    pub fn sizes(&self) -> impl Iterator<Item = (Bytes, u64)> {
        self.counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(bucket, count)| {
            let (first, last) = bounds(bucket);
            (Bytes::new(first.midpoint(last)), *count)
        })
    }

    /// The size that the share `quantile` of the messages does not exceed; `None` without messages.
    pub fn quantile(&self, quantile: f64) -> Option<Bytes> {
        let rank = (quantile * self.messages() as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        self.sizes().find_map(|(size, count)| {
            seen += count;
            (seen >= rank).then_some(size)
        })
    }

    /// A distribution file, as `flowsched thresholds` and experiments read it. Each line has a size
    /// in bytes and the share of messages that are not larger.
    pub fn distribution(&self) -> String {
        let total = self.messages();
        let mut text = String::from("# bytes  cumulative probability\n");
        let mut seen = 0;
        for (size, count) in self.sizes() {
            let before = seen as f64 / total as f64;
            seen += count;
            let after = seen as f64 / total as f64;
            // Write a step at this size, rather than a slope up from the last size.
            text.push_str(&format!("{} {before}\n{} {after}\n", size.get(), size.get()));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_is_within_a_percent_of_its_buckets_middle() {
        for size in (0..100_000).chain((17..47).flat_map(|e| [1 << e, (1 << e) + 1, (3 << e) - 1]))
        {
            let (first, last) = bounds(bucket_of(size));
            assert!(first <= size && size <= last, "{size}: {first}..={last}");
            let middle = first.midpoint(last);
            assert!(middle.abs_diff(size) * 200 <= size, "{size} is counted as {middle}");
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn the_distribution_climbs_to_one() {
        let mut counts = vec![0; BUCKETS];
        (counts[100], counts[200], counts[bucket_of(1_000_000)]) = (5, 3, 2);
        let histogram = Histogram::new(counts);
        assert_eq!(histogram.quantile(0.5), Some(Bytes::new(100)));
        assert_eq!(histogram.quantile(0.8), Some(Bytes::new(200)));
        let text = histogram.distribution();
        assert!(text.starts_with("# bytes") && text.trim_end().ends_with(" 1"), "{text}");
        assert!(text.contains("100 0\n100 0.5\n200 0.5\n200 0.8\n"), "{text}");
    }
}
