//! Checks that ports serve batches as they would serve one packet after the other.

use flowsched_units::Time;

use super::line::serve_one_by_one;
use super::{Backlog, Line, Port, Sink};
use crate::packet::Packet;

/// What became of a batch and, if the sink `LOOKS`, what waited when packets came.
#[derive(Debug, Default, PartialEq)]
struct Served<const LOOKS: bool> {
    waiting: Vec<(Time, Backlog)>,
    sent: Vec<(Time, Packet)>,
    dropped: Vec<Packet>,
}

impl<const LOOKS: bool> Sink<Packet> for Served<LOOKS> {
    const LOOKS: bool = LOOKS;

    fn coming(&mut self, now: Time, packet: &mut Packet, mut waiting: impl FnMut() -> Backlog) {
        if LOOKS {
            packet.to = self.waiting.len() as u32;
            // For some packets, the sink does not ask what waits.
            if packet.seq % 3 > 0 {
                self.waiting.push((now, waiting()));
            }
        }
    }

    fn sent(&mut self, at: Time, packet: &Packet) {
        self.sent.push((at, *packet));
    }

    fn dropped(&mut self, packet: Packet) {
        self.dropped.push(packet);
    }
}

/// Compares two equal ports that take the same packets. Each packet comes with the number of nanoseconds
/// since the one before it. One port serves windows, whose lengths are in nanoseconds, and the other
/// serves one packet after the other. Then compares two ports whose sinks look at packets when they come.
pub(super) fn check<P: Port<Packet> + Clone>(
    ports: [P; 2],
    packets: impl IntoIterator<Item = (u64, Packet)> + Clone,
    windows: impl IntoIterator<Item = u64> + Clone,
) {
    check_looking::<false, P>(ports.clone(), packets.clone(), windows.clone());
    check_looking::<true, P>(ports, packets, windows);
}

fn check_looking<const LOOKS: bool, P: Port<Packet>>(
    [mut at_once, mut singly]: [P; 2],
    packets: impl IntoIterator<Item = (u64, Packet)>,
    windows: impl IntoIterator<Item = u64>,
) {
    let rate = "10Gbps".parse().unwrap();
    let (mut line, mut other_line) = (Line::new(rate), Line::new(rate));
    let mut now = Time::ZERO;
    let arrivals = packets.into_iter().map(|(gap, packet)| {
        now += Time::from_ns(gap);
        (now, packet)
    });
    let mut arrivals = arrivals.peekable();
    let mut end = Time::ZERO;
    for window in windows {
        end += Time::from_ns(window);
        let batch: Vec<_> = std::iter::from_fn(|| arrivals.next_if(|(at, _)| *at < end)).collect();
        let batch = || batch.iter().map(|(at, one)| (*at, one));
        let (mut served, mut other_served) = (Served::<LOOKS>::default(), Served::default());
        let sent = at_once.serve(&mut line, batch(), end, &mut served);
        let other_sent =
            serve_one_by_one(&mut singly, &mut other_line, batch(), end, &mut other_served);
        assert_eq!(served, other_served);
        assert_eq!(sent, other_sent);
        assert_eq!(at_once.backlog(), singly.backlog());
        assert_eq!(at_once.marks(), singly.marks());
        assert_eq!(line.free_at(), other_line.free_at());
    }
}
