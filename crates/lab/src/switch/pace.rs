//! Measures how the switch paced the port before each host. It compares the rate and the queueing delay that
//! packets really had with those of the simulated port.

use flowsched_units::{Bytes, PACKET_WIRE, Rate, Time};

/// Packets handed to one host.
#[derive(Clone, Debug)]
pub struct Pace {
    /// The rate of the host's link.
    rate: Rate,
    /// When the last packet was due, and when the host got it.
    last: Option<(Time, Time)>,
    /// The link's total time for the packets that were due right after the one before.
    busy: Time,
    /// The total time between the hand-overs of these packets and of the ones right before them.
    took: Time,
    full: FullPackets,
}

/// Packets of full length, which have the same delay without queues on each path.
#[derive(Clone, Debug)]
struct FullPackets {
    packets: u64,
    /// The sum of their delays until they were due.
    delay: Time,
    shortest: Time,
    /// The sum of their lateness.
    late: Time,
}

/// How well the busiest host's port was paced in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pacing {
    /// The rate at which the host received while the port was busy, relative to the link's rate.
    pub rate: f64,
    /// The mean queueing delay of full packets, as the ports decide it.
    pub queueing: Time,
    /// Their mean lateness, which adds to `queueing`.
    pub late: Time,
}

impl Pace {
    /// The pace of a host that has got no packet yet, and whose link has this rate.
    pub fn new(rate: Rate) -> Pace {
        let zero = Time::ZERO;
        let full = FullPackets { packets: 0, delay: zero, shortest: Time::MAX, late: zero };
        Pace { rate, last: None, busy: zero, took: zero, full }
    }

    /// Notes that the host gets, at `now`, a packet of `wire` bytes that entered the network at `entered`
    /// and was due at `due`.
    pub fn note(&mut self, wire: Bytes, entered: Time, due: Time, now: Time) {
        let needed = self.rate.transmission_time(wire);
        if let Some((last_due, last)) = self.last.replace((due, now))
            && due.saturating_sub(last_due) <= needed
        {
            self.busy += needed;
            self.took += now.saturating_sub(last);
        }
        if wire >= Bytes::new(PACKET_WIRE) {
            let delay = due.saturating_sub(entered);
            self.full.packets += 1;
            self.full.delay += delay;
            self.full.shortest = self.full.shortest.min(delay);
            self.full.late += now.saturating_sub(due);
        }
    }

    /// The pacing of the host whose link was busy for the longest time; `None` if none was busy, or if this host got
    /// no full packet.
    pub fn of_busiest(paces: &[Pace]) -> Option<Pacing> {
        let busiest = paces.iter().max_by_key(|pace| pace.busy)?;
        let Pace { busy, took, full, .. } = busiest;
        let delay = full.delay.as_ps().checked_div(full.packets)?;
        (*took > Time::ZERO).then(|| Pacing {
            rate: busy.as_secs_f64() / took.as_secs_f64(),
            queueing: Time::from_ps(delay).saturating_sub(full.shortest),
            late: full.late / full.packets,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::from_us(us)
    }

    /// Full packets at 100 Mbps, 120 us each: the host gets the second 10 us late and the third on time. The
    /// fourth comes after a pause, in which the port is not busy.
    #[test]
    fn pauses_do_not_count_and_lateness_does() {
        let packet = Bytes::new(PACKET_WIRE);
        let mut pace = Pace::new(Rate::from_bps(100_000_000));
        for (entered, due, now) in [
            (0, 300, 300),
            (0, 420, 430),
            (0, 540, 540),
            (1_000, 1_300, 1_300),
            (1_100, 1_420, 1_450),
        ] {
            pace.note(packet, us(entered), us(due), us(now));
        }
        pace.note(Bytes::new(40), us(1_400), us(1_700), us(9_000));
        let idle = Pace::new(Rate::from_bps(100_000_000));
        let pacing = Pace::of_busiest(&[idle.clone(), pace]).unwrap();
        assert_eq!(pacing.rate, 360.0 / (130.0 + 110.0 + 150.0));
        assert_eq!(pacing.queueing, us((120 + 240 + 20) / 5));
        assert_eq!(pacing.late, us((10 + 30) / 5));
        assert_eq!(Pace::of_busiest(&[idle]), None);
    }
}
