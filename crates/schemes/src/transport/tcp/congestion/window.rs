//! The congestion window (RFC 5681).

/// The congestion window and the slow-start threshold, in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    size: f64,
    slow_start_threshold: f64,
    largest: f64,
}

/// RFC 5681, 3.1, equation 4: the threshold after a loss is at least two segments.
const SMALLEST_THRESHOLD: f64 = 2.0;

impl Window {
    /// A window of `initial` segments, in slow start, that is never larger than `largest`.
    pub fn new(initial: u32, largest: u32) -> Window {
        let largest = f64::from(largest);
        Window { size: f64::from(initial).min(largest), slow_start_threshold: largest, largest }
    }

    /// Whole segments that may be outstanding.
    #[inline]
    pub fn segments(&self) -> u32 {
        self.size as u32
    }

    /// The size in segments, with fractions of a segment.
    #[inline]
    pub fn size(&self) -> f64 {
        self.size
    }

    /// Whether an ACK adds a whole segment.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.size < self.slow_start_threshold
    }

    /// Sets the size, at least one segment.
    pub fn resize(&mut self, segments: u32) {
        self.size = f64::from(segments).clamp(1.0, self.largest);
    }

    /// Grows the window for an ACK of new data: by one segment in slow start, and by one segment per window's
    /// worth of ACKs after it (RFC 5681, 3.1).
    #[inline]
    pub fn grow(&mut self) {
        self.grow_by(1.0);
    }

    /// Grows the window for an ACK of new data: by one segment in slow start, and by `segments` per window's
    /// worth of ACKs after it.
    #[inline]
    pub fn grow_by(&mut self, segments: f64) {
        if self.size >= self.largest {
            return;
        }
        let growth = if self.in_slow_start() { 1.0 } else { segments / self.size };
        let size = self.size + growth;
        self.size = if size > self.largest { self.largest } else { size };
    }

    /// Multiplies the window by `factor` because marks report congestion. The window stays at or above
    /// `smallest` segments; a window that is smaller already does not change. The new window also becomes the
    /// slow-start threshold, which is at least two segments.
    pub fn shrink(&mut self, factor: f64, smallest: u32) {
        let smallest = f64::from(smallest).min(self.size);
        self.size = (self.size * factor).max(smallest);
        self.slow_start_threshold = self.size.max(SMALLEST_THRESHOLD);
    }

    /// Sets the window to `factor` times the `outstanding` segments in flight, and to two segments at least,
    /// after a loss that later segments report (RFC 6675, 5, step 4.2).
    pub fn cut(&mut self, outstanding: u32, factor: f64) {
        self.slow_start_threshold = (f64::from(outstanding) * factor).max(SMALLEST_THRESHOLD);
        self.size = self.slow_start_threshold;
    }

    /// Starts again after a timeout: in slow start, from one segment to `factor` times the `outstanding`
    /// segments in flight (RFC 5681, 3.1).
    pub fn collapse(&mut self, outstanding: u32, factor: f64) {
        self.cut(outstanding, factor);
        self.size = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_by_a_segment_an_ack_and_then_by_one_a_window() {
        let mut window = Window::new(2, 100);
        for _ in 0..8 {
            window.grow();
        }
        assert_eq!(window.segments(), 10);
        window.cut(10, 0.5);
        assert_eq!(window.segments(), 5);
        for _ in 0..6 {
            window.grow();
        }
        assert_eq!(window.segments(), 6, "one more after a window of ACKs");
        window.collapse(6, 0.5);
        assert_eq!(window.segments(), 1);
        window.grow();
        window.grow();
        assert_eq!(window.segments(), 3, "slow start again");
        window.grow();
        assert_eq!(window.segments(), 3, "up to half of what was outstanding");
    }

    #[test]
    fn stays_within_one_and_the_largest() {
        let mut window = Window::new(200, 100);
        assert_eq!(window.segments(), 100);
        window.grow();
        assert_eq!(window.segments(), 100);
        for _ in 0..20 {
            window.shrink(0.5, 1);
        }
        assert_eq!(window.segments(), 1);
        window.resize(5);
        window.shrink(0.5, 2);
        window.shrink(0.5, 2);
        assert_eq!(window.segments(), 2);
        window.resize(1);
        window.shrink(0.5, 2);
        assert_eq!(window.segments(), 1, "marks do not make it larger");
    }
}
