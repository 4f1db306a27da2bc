//! The lab's time: the time since an epoch that all of its threads share.

use std::time::{Duration, Instant, SystemTime};

use flowsched_units::Time;

/// Two clocks that were read at the same moment, time 0.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    epoch: Instant,
    /// The epoch on the clock of the kernel's timestamps.
    wall: SystemTime,
}

impl Clock {
    /// A clock whose time 0 is this long from now.
    pub fn starting_in(time: Duration) -> Clock {
        Clock { epoch: Instant::now() + time, wall: SystemTime::now() + time }
    }

    /// The time now; 0 before the epoch.
    pub fn now(&self) -> Time {
        from_duration(Instant::now().saturating_duration_since(self.epoch))
    }

    /// The time of a kernel timestamp, given since the beginning of 1970; 0 before the epoch.
    pub fn at(&self, since_1970: Duration) -> Time {
        let stamp = SystemTime::UNIX_EPOCH + since_1970;
        from_duration(stamp.duration_since(self.wall).unwrap_or_default())
    }
}

fn from_duration(duration: Duration) -> Time {
    Time::from_ns(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

/// The longest duration not above `time`, to a nanosecond.
pub(crate) fn to_duration(time: Time) -> Duration {
    Duration::from_nanos(time.as_ps() / 1_000)
}
