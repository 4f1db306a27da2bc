//! The segments of a sequence that have arrived, in any order.

use std::ops::Range;

use crate::transport::tcp::SegmentSet;

/// The segments that came in order from the first one on, and those that came beyond a gap.
#[derive(Clone, Debug, Default)]
pub struct Reassembly {
    expected: u32,
    beyond: SegmentSet,
}

impl Reassembly {
    /// The first segment that has not come.
    #[inline]
    pub fn expected(&self) -> u32 {
        self.expected
    }

    /// The unbroken run of segments around `segment` that came beyond the expected one.
    pub fn run_around(&self, segment: u32) -> Range<u32> {
        self.beyond.run_around(segment)
    }

    /// Adds a segment that came.
    #[inline]
    pub fn take_in(&mut self, segment: u32) {
        if segment != self.expected {
            if segment > self.expected {
                self.beyond.insert(segment);
            }
            return;
        }
        self.expected += 1;
        if self.beyond.count() > 0 {
            self.expected = self.beyond.run_end(self.expected);
        }
        self.beyond.advance(self.expected);
    }
}
