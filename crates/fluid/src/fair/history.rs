//! What rates replace, so that a change can be undone to the last bit.

/// What has been replaced since [`History::begin`], in that order.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    is_recorded: bool,
    /// Bands with their levels, and what their flows took.
    pub(super) bands: Vec<(u32, f64, f64)>,
    /// Slots with their rates.
    pub(super) rates: Vec<(u32, f64)>,
    /// The flow that started or ended.
    pub(super) flow: Option<Membership>,
}

/// A flow is on its links, or is no more.
#[derive(Clone, Copy, Debug)]
pub(super) enum Membership {
    Starts(u32),
    Ends(u32),
}

impl History {
    /// Forgets everything. What follows is recorded or not.
    pub(super) fn begin(&mut self, is_recorded: bool) {
        self.is_recorded = is_recorded;
        self.bands.clear();
        self.rates.clear();
        self.flow = None;
    }

    /// The band has had this level, and its flows have taken so much.
    #[inline]
    pub(super) fn note_band(&mut self, band: u32, level: f64, taken: f64) {
        if self.is_recorded {
            self.bands.push((band, level, taken));
        }
    }

    /// The flow has had this rate.
    #[inline]
    pub(super) fn note_rate(&mut self, slot: u32, rate: f64) {
        if self.is_recorded {
            self.rates.push((slot, rate));
        }
    }

    /// A flow starts or ends.
    pub(super) fn note_flow(&mut self, membership: Membership) {
        if self.is_recorded {
            self.flow = Some(membership);
        }
    }
}
