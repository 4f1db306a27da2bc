//! How well the lab kept to real time, and whether a run is valid.

use flowsched_units::Time;

use crate::played::{LATE_START, Played};
use crate::switch::Counts;
use crate::switch::pace::{Pace, Pacing};

/// The largest share of late packets, of events that hosts handled late, of late flows, and of time that a
/// server waits, in a valid run.
const LATE_SHARE: f64 = 0.01;

/// How well the lab kept to real time in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conduct {
    /// Packets that were handed to their hosts.
    pub packets: u64,
    /// Packets that hosts sent, by priority, the highest first.
    pub priorities: [u64; 8],
    /// The lateness that half of the packets did not exceed.
    pub median: Time,
    /// The lateness that 99% of the packets did not exceed.
    pub p99: Time,
    /// The lateness of the latest packet.
    pub most: Time,
    /// The lateness above which a packet or an event is late: the time of a full packet on the slowest link.
    pub limit: Time,
    /// The share of packets that were later than `limit`.
    pub late_share: f64,
    /// The share of events, which are packets and timers, that the simulator's hosts handled more than `limit`
    /// late; 0 for hosts with the kernel's TCP.
    pub host_late_share: f64,
    /// The largest lateness with which the simulator's hosts handled an event; 0 for hosts with the kernel's
    /// TCP.
    pub host_most: Time,
    /// How the port before the busiest host was paced; `None` if none was busy.
    pub pacing: Option<Pacing>,
    /// The share of packets that the switch read more than `limit` late. A packet counts as late by the mean over the
    /// times at which it may have come.
    pub read_late_share: f64,
    /// The longest time that a packet may have waited until the switch read it.
    pub longest_absence: Time,
    /// The senders' `rto_min`; `None` if they have no such parameter.
    pub least_timeout: Option<Time>,
    /// The longest time from a flow's planned start to its start.
    pub latest_start: Time,
    /// The share of flows that began more than [`LATE_START`] late.
    pub late_starts: f64,
    /// The time that a memcached server waited for a processor, relative to the run: the largest of all servers.
    pub server_wait: f64,
    /// Packets that a host had no room for.
    pub overrun: u64,
    /// Frames that were malformed or for no host of the lab.
    pub refused: u64,
}

impl Conduct {
    pub(crate) fn new(counts: &Counts, played: &Played, limit: Time) -> Conduct {
        let lateness = &counts.handed.lateness;
        let Played { starts, lateness: of_hosts, overrun, .. } = played;
        Conduct {
            packets: lateness.count(),
            priorities: counts.priorities,
            median: lateness.quantile(0.5),
            p99: lateness.quantile(0.99),
            most: lateness.most(),
            limit,
            late_share: lateness.share_beyond(limit),
            host_late_share: of_hosts.share_beyond(limit),
            host_most: of_hosts.most(),
            pacing: Pace::of_busiest(&counts.handed.paces),
            read_late_share: counts.reading.share_beyond(limit),
            longest_absence: counts.longest_absence,
            least_timeout: None,
            latest_start: starts.latest,
            late_starts: starts.late_share(),
            server_wait: 0.0,
            overrun: counts.handed.overrun + overrun,
            refused: counts.refused,
        }
    }

    /// Whether the run counts: at most 1% of its packets, of its hosts' events and of its flows were late, nothing was
    /// late by as much as a time-out, servers waited for a processor for at most 1% of the run, and hosts had room for
    /// all packets. A packet must be read and handed over in time.
    pub fn is_valid(&self) -> bool {
        self.faults().is_empty()
    }

    /// The reasons why the run does not count, as clauses; empty if it counts.
    pub fn faults(&self) -> Vec<String> {
        let Conduct { late_share, most, host_late_share, host_most, .. } = *self;
        let Conduct { late_starts, server_wait, overrun, .. } = *self;
        let limit = self.limit.as_us_f64();
        let percent = |share: f64| format!("{:.1}%", 100.0 * share);
        let mut faults = Vec::new();
        if late_share > LATE_SHARE {
            faults.push(format!(
                "{} of the packets were more than {limit:.0} us late",
                percent(late_share)
            ));
        }
        if self.read_late_share > LATE_SHARE {
            faults.push(format!(
                "the switch read {} of the packets more than {limit:.0} us late",
                percent(self.read_late_share)
            ));
        }
        if host_late_share > LATE_SHARE {
            faults.push(format!(
                "the simulator's hosts handled {} of their packets and timers more than {limit:.0} us late",
                percent(host_late_share)
            ));
        }
        for (most, event) in [
            (most, "a packet was"),
            (self.longest_absence, "the switch was"),
            (host_most, "the simulator's hosts were"),
        ] {
            let Some(timeout) = self.least_timeout.filter(|timeout| most >= *timeout) else {
                continue;
            };
            let most = most.as_us_f64() / 1_000.0;
            faults
                .push(format!("{event} {most:.0} ms late, and hosts may time out after {timeout}"));
        }
        if late_starts > LATE_SHARE {
            faults.push(format!(
                "{} of the flows began more than {LATE_START} late, the latest {:.0} ms",
                percent(late_starts),
                self.latest_start.as_us_f64() / 1_000.0
            ));
        }
        if server_wait > LATE_SHARE {
            let share = percent(server_wait);
            faults.push(format!("a memcached waited for a processor for {share} of the run"));
        }
        if overrun > 0 {
            faults.push(format!("hosts had no room for {overrun} packets"));
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_lateness_spoils_a_run() {
        let ms = Time::from_ms;
        let good = Conduct {
            late_share: 0.01,
            most: ms(9),
            read_late_share: 0.01,
            longest_absence: ms(9),
            host_late_share: 0.01,
            host_most: ms(9),
            least_timeout: Some(ms(10)),
            late_starts: 0.01,
            server_wait: 0.01,
            ..Conduct::default()
        };
        assert_eq!((good.faults(), good.is_valid()), (Vec::new(), true));
        for (bad, word) in [
            (Conduct { late_share: 0.02, ..good }, "packets were more than"),
            (
                Conduct { most: ms(48), ..good },
                "a packet was 48 ms late, and hosts may time out after 10ms",
            ),
            (
                Conduct { read_late_share: 0.02, ..good },
                "the switch read 2.0% of the packets more than",
            ),
            (
                Conduct { longest_absence: ms(11), ..good },
                "the switch was 11 ms late, and hosts may time out after 10ms",
            ),
            (
                Conduct { host_late_share: 0.02, ..good },
                "hosts handled 2.0% of their packets and timers more than",
            ),
            (
                Conduct { host_most: ms(12), ..good },
                "hosts were 12 ms late, and hosts may time out after 10ms",
            ),
            (Conduct { late_starts: 0.02, ..good }, "flows began more than 5ms late"),
            (Conduct { server_wait: 0.02, ..good }, "a memcached waited for a processor for 2.0%"),
            (Conduct { overrun: 3, ..good }, "no room for 3 packets"),
        ] {
            let faults = bad.faults().join("; ");
            assert!(!bad.is_valid() && faults.contains(word), "{faults}");
        }
        let without_timeouts = Conduct {
            most: ms(48),
            longest_absence: ms(48),
            host_most: ms(48),
            least_timeout: None,
            ..good
        };
        assert!(without_timeouts.is_valid());
    }
}
