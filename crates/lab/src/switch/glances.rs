//! How long frames may have waited until the switch read them.
//!
//! Nothing tells the switch when a frame came. But a frame that it reads came after the last time at which it looked at
//! all cables, because that look did not find the frame.

use flowsched_units::Time;

/// The times at which the switch looked at its cables.
#[derive(Clone, Copy, Debug)]
pub struct Glances {
    /// The last look found all frames that had come by then.
    known: Time,
    /// How long the switch had not looked before it found the frames that it reads now.
    absence: Time,
    /// When it found these frames.
    found: Time,
}

/// How late the switch reads a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waited {
    /// On average over all times at which the frame may have come.
    pub mean: Time,
    /// If the frame came as early as it may have come.
    pub most: Time,
}

impl Glances {
    /// The switch begins to look at `now`.
    pub fn from(now: Time) -> Glances {
        Glances { known: now, absence: Time::ZERO, found: now }
    }

    /// Notes a look from `begin` to `end`. It might sleep for `sleep` if there was no frame; zero means that it only
    /// looked. `has_frames` says whether it found frames.
    pub fn note(&mut self, begin: Time, end: Time, sleep: Time, has_frames: bool) {
        let is_awake = sleep == Time::ZERO;
        // A frame that comes while the switch sleeps wakes it.
        self.absence = (if is_awake { end } else { begin }).saturating_sub(self.known);
        self.found = end;
        self.known = match (is_awake, has_frames) {
            (true, _) => begin,
            (false, true) => end,
            // If the switch slept longer than it wanted, it was absent for the rest.
            (false, false) => end.min(begin + sleep),
        };
    }

    /// How late a frame is that the switch reads at `now`.
    pub fn waited(&self, now: Time) -> Waited {
        let since = now.saturating_sub(self.found);
        Waited { mean: self.absence / 2 + since, most: self.absence + since }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::from_us(us)
    }

    fn waited(mean: u64, most: u64) -> Waited {
        Waited { mean: us(mean), most: us(most) }
    }

    #[test]
    fn a_frame_came_after_the_look_that_did_not_find_it() {
        let mut glances = Glances::from(us(0));
        glances.note(us(10), us(12), us(0), false);
        glances.note(us(28), us(30), us(0), true);
        assert_eq!(glances.waited(us(30)), waited(10, 20), "from 10 us to 30 us");
        assert_eq!(glances.waited(us(35)), waited(15, 25), "5 us after others");
    }

    #[test]
    fn sleep_is_no_absence_but_oversleeping_is() {
        let mut glances = Glances::from(us(0));
        glances.note(us(10), us(500), us(1_000), true);
        assert_eq!(glances.waited(us(500)), waited(5, 10), "it woke for the frame");
        glances.note(us(510), us(1_510), us(1_000), false);
        glances.note(us(1_520), us(1_530), us(0), true);
        assert_eq!(glances.waited(us(1_530)), waited(10, 20), "it woke in time");
        glances.note(us(1_600), us(4_000), us(1_000), false);
        glances.note(us(4_010), us(4_020), us(0), true);
        assert_eq!(glances.waited(us(4_020)), waited(710, 1_420), "it slept until 2,600 us");
    }
}
