//! Retransmission timeouts of a flow, and how many of them came in a row.

/// Counts the retransmission timeouts of a flow.
///
/// Timeouts are in a row if nothing of the flow is acknowledged between them (PIAS ToN 2017,
/// III-B.3: "two consecutive timeout events").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// All timeouts.
    pub all: u32,
    /// Timeouts since the last acknowledgement.
    pub in_a_row: u32,
    /// Rows of two or more.
    pub repeated: u32,
    /// Timeouts of the longest row.
    pub longest: u32,
}

impl Timeouts {
    /// Counts one more timeout.
    #[inline]
    pub fn add(&mut self) {
        self.all += 1;
        self.in_a_row += 1;
        self.repeated += u32::from(self.in_a_row == 2);
        self.longest = self.longest.max(self.in_a_row);
    }

    /// Ends the present row, because something was acknowledged.
    #[inline]
    pub fn end_row(&mut self) {
        self.in_a_row = 0;
    }

    /// The counts for `all` timeouts in `rows` rows. `None` if these timeouts may be spread over the rows in
    /// several ways that differ in [`Timeouts::repeated`] or [`Timeouts::longest`].
    pub fn in_rows(all: u32, rows: u32) -> Option<Timeouts> {
        let further = all.saturating_sub(rows);
        let is_certain = rows <= 1 || further <= 1;
        is_certain.then(|| Timeouts {
            all,
            in_a_row: 0,
            repeated: u32::from(further > 0),
            longest: if all == 0 { 0 } else { further + 1 },
        })
    }

    /// The timeouts of two parts of one flow. Rows do not extend from one part to the other.
    pub fn and(self, other: Timeouts) -> Timeouts {
        Timeouts {
            all: self.all + other.all,
            in_a_row: self.in_a_row.max(other.in_a_row),
            repeated: self.repeated + other.repeated,
            longest: self.longest.max(other.longest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `!`: a timeout; `.`: an acknowledgement.
    fn noted(events: &str) -> Timeouts {
        let mut timeouts = Timeouts::default();
        for event in events.chars() {
            if event == '!' { timeouts.add() } else { timeouts.end_row() }
        }
        timeouts
    }

    #[test]
    fn a_row_of_two_or_more_is_repeated_once() {
        let expected = Timeouts { all: 7, in_a_row: 1, repeated: 2, longest: 3 };
        assert_eq!(noted("!.!!.!!!..!"), expected);
        assert_eq!(noted("!.!.!.").repeated, 0);
    }

    #[test]
    fn numbers_of_timeouts_and_rows_tell_what_the_rows_are_or_nothing() {
        for (events, rows) in [(".", 0), ("!.", 1), ("!.!.", 2), ("!!!.", 1), ("!.!!.!.", 3)] {
            let known = noted(events);
            assert_eq!(Timeouts::in_rows(known.all, rows), Some(known), "{events}");
        }
        assert_eq!(Timeouts::in_rows(4, 2), None, "1 and 3, or 2 and 2");
    }

    #[test]
    fn rows_of_two_parts_stay_apart() {
        let both = noted("!!.!").and(noted("!!!"));
        assert_eq!(both, Timeouts { all: 6, in_a_row: 3, repeated: 2, longest: 3 });
    }
}
