//! Records the values that a change replaces, so that it can be undone to the last bit.

/// The values that were replaced since [`History::begin`], the first one first.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    is_recorded: bool,
    /// Bands with their old levels, and what their flows took.
    pub(super) bands: Vec<(u32, f64, f64)>,
    /// Slots with their old rates.
    pub(super) rates: Vec<(u32, f64)>,
    /// The flow that started or ended.
    pub(super) flow: Option<Membership>,
}

/// A flow starts on its links, or ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Membership {
    Starts(u32),
    Ends(u32),
}

impl History {
    /// Forgets everything. What follows is recorded if `is_recorded`.
    pub(super) fn begin(&mut self, is_recorded: bool) {
        self.is_recorded = is_recorded;
        self.bands.clear();
        self.rates.clear();
        self.flow = None;
    }

    /// Records the old level of a band, and what its flows took.
    #[inline]
    pub(super) fn note_band(&mut self, band: u32, level: f64, taken: f64) {
        if self.is_recorded {
            self.bands.push((band, level, taken));
        }
    }

    /// Records the old rate of a flow.
    #[inline]
    pub(super) fn note_rate(&mut self, slot: u32, rate: f64) {
        if self.is_recorded {
            self.rates.push((slot, rate));
        }
    }

    /// Records that a flow starts or ends.
    pub(super) fn note_flow(&mut self, membership: Membership) {
        if self.is_recorded {
            self.flow = Some(membership);
        }
    }
}
