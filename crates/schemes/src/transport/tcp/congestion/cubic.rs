//! CUBIC: a window that grows with the cube of the time since its last cut (RFC 9438).
//!
//! It is the default of Linux. HyStart, which ends slow start before a loss (RFC 9406), is left out.

use flowsched_units::{Settings, Time};

use super::{Acked, Algorithm, CongestionControl, Loss, Window};
use crate::flow_level::NoFluid;
use crate::on_linux::KernelControl;
use crate::part::{Part, Role};
use crate::transport::tcp::parameters;

/// RFC 9438, 4.1: C, in segments per cubic second.
const C: f64 = 0.4;
/// RFC 9438, 4.6: the factor of a cut.
const BETA: f64 = 0.7;
/// RFC 9438, 4.3: the growth in segments per round trip that gives Reno's average window with cuts by
/// [`BETA`].
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// RFC 9438, 4.2: the window grows by at most half of itself in a round trip.
const FASTEST: f64 = 1.5;

/// A stage of congestion avoidance, which ends with a loss.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stage {
    start: Time,
    /// Seconds from the start until the window is `plateau` again.
    climb: f64,
    /// The window at which the curve is flat.
    plateau: f64,
    /// The window that Reno would have.
    reno: f64,
}

/// What one connection remembers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cubic {
    stage: Option<Stage>,
    /// The window before the last cut, or less if it was smaller than at the cut before that (RFC 9438,
    /// 4.7). `None` before the first loss and after a timeout (4.8).
    most: Option<f64>,
    /// The window before the last cut.
    before_cut: f64,
}

impl Cubic {
    /// The state of a new connection.
    pub fn new() -> Cubic {
        Cubic { stage: None, most: None, before_cut: 0.0 }
    }

    fn begin(&self, now: Time, window: f64) -> Stage {
        let plateau = self.most.unwrap_or(window).max(window);
        Stage { start: now, climb: libm::cbrt((plateau - window) / C), plateau, reno: window }
    }

    /// Returns the growth for an ACK after slow start, as [`CongestionControl::on_ack`] does.
    #[inline(never)]
    fn avoid_congestion(&mut self, acked: Acked) -> f64 {
        let window = acked.window.size();
        let first = self.begin(acked.now, window);
        let stage = self.stage.get_or_insert(first);
        // `Window::grow_by` divides by the window.
        (stage.target(&acked, self.before_cut) - window) * window
    }
}

impl Default for Cubic {
    fn default() -> Cubic {
        Cubic::new()
    }
}

impl Stage {
    /// The window by the cubic function at `since` after the start (RFC 9438, 4.2, figure 1).
    fn curve(&self, since: Time) -> f64 {
        let away = since.as_secs_f64() - self.climb;
        C * away * away * away + self.plateau
    }

    /// The window after this ACK: Reno's, or a step towards the curve's value a round trip later.
    fn target(&mut self, acked: &Acked, before_cut: f64) -> f64 {
        let window = acked.window.size();
        let alpha = if self.reno >= before_cut { 1.0 } else { ALPHA };
        self.reno += alpha * f64::from(acked.segments) / window;
        let since = acked.now - self.start;
        if self.curve(since) < self.reno {
            return self.reno.max(window);
        }
        let cubic = self.curve(since + acked.round_trip).clamp(window, FASTEST * window);
        window + f64::from(acked.segments) * (cubic - window) / window
    }
}

impl CongestionControl for Cubic {
    fn uses_ecn(&self) -> bool {
        false
    }

    /// The time between flows belongs to no stage (RFC 9438, 5.8).
    fn start_flow(&mut self, _due: Time) {
        self.stage = None;
    }

    #[inline(always)]
    fn on_ack(&mut self, acked: &Acked) -> f64 {
        let in_slow_start = acked.window.in_slow_start();
        if in_slow_start {
            self.stage = None;
        }
        let grows = acked.may_grow && !in_slow_start;
        if grows { self.avoid_congestion(*acked) } else { 0.0 }
    }

    fn on_loss(&mut self, loss: Loss, window: Window) -> f64 {
        let size = window.size();
        self.stage = None;
        self.before_cut = size;
        self.most = match loss {
            Loss::TimedOut => None,
            // RFC 9438, 4.7: fast convergence.
            Loss::Reported if self.most.is_some_and(|most| size < most) => {
                Some(size * (1.0 + BETA) / 2.0)
            }
            Loss::Reported => Some(size),
        };
        BETA
    }
}

impl Algorithm for Cubic {
    const PART: Part = Part {
        role: Role::Transport,
        name: "cubic",
        about: "TCP CUBIC, the default of Linux, with Reno's loss recovery and without HyStart.",
        source: "RFC 9438",
        parameters: &[parameters::PARAMETERS],
    };
    const HEEDS_MARKS: bool = false;
    const FLUID: Result<(), NoFluid> = Ok(());

    fn from_settings(_settings: &Settings) -> Cubic {
        Cubic::new()
    }

    fn on_linux(&self) -> Option<KernelControl> {
        Some(KernelControl::plain("cubic", false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of 1000 segments that a loss has just cut, and what its connection remembers.
    fn after_a_cut() -> (Cubic, Window) {
        let mut window = Window::new(1_000, 1_000_000);
        let mut cubic = Cubic::new();
        let factor = cubic.on_loss(Loss::Reported, window);
        window.cut(1_000, factor);
        assert_eq!(window.size(), 700.0);
        (cubic, window)
    }

    /// An ACK for every segment of every window, for `rounds` round trips.
    fn grow(cubic: &mut Cubic, window: &mut Window, round_trip: Time, rounds: u64) {
        for round in 0..rounds {
            let segments = u64::from(window.segments());
            for ack in 0..segments {
                let now = round_trip * round + round_trip * ack / segments;
                let acked = Acked { now, round_trip, window: *window, ..Acked::plain() };
                window.grow_by(cubic.on_ack(&acked));
            }
        }
    }

    /// RFC 9438, 4.2: K is the cubic root of 300 / 0.4, 9.086 s, and the curve is flat there.
    #[test]
    fn a_long_path_follows_the_cubic_function() {
        let round_trip = Time::from_ms(100);
        for rounds in [30, 91, 182] {
            let (mut cubic, mut window) = after_a_cut();
            grow(&mut cubic, &mut window, round_trip, rounds);
            let away = rounds as f64 * 0.1 - 9.086;
            let expected = 1_000.0 + 0.4 * away * away * away;
            assert!((window.size() - expected).abs() < 5.0, "{} for {expected}", window.size());
        }
    }

    /// RFC 9438, 4.3: over a short path the window grows as Reno's does. It grows by 0.53 segments per
    /// round trip until it is as large as before the cut, and by one segment per round trip from there on.
    #[test]
    fn a_short_path_grows_as_reno_does() {
        let mut window = Window::new(10, 1_000_000);
        let mut cubic = Cubic::new();
        window.cut(10, cubic.on_loss(Loss::Reported, window));
        let mut reno = window;
        for _ in 0..60 {
            for _ in 0..reno.segments() {
                reno.grow_by(if reno.size() < 10.0 { ALPHA } else { 1.0 });
            }
        }
        grow(&mut cubic, &mut window, Time::from_us(100), 60);
        assert!((window.size() - reno.size()).abs() < 0.1, "{} for {}", window.size(), reno.size());
    }

    /// RFC 9438, 5.8: a connection that waits for its next flow does not grow meanwhile.
    #[test]
    fn the_time_between_flows_does_not_count() {
        let (mut cubic, mut window) = after_a_cut();
        let round_trip = Time::from_ms(100);
        cubic.on_ack(&Acked { round_trip, window, ..Acked::plain() });
        cubic.start_flow(Time::MAX);
        let now = Time::from_ms(60_000);
        window.grow_by(cubic.on_ack(&Acked { now, round_trip, window, ..Acked::plain() }));
        assert!(window.size() < 700.1, "{}", window.size());
    }

    /// RFC 9438, 4.7: a flow whose window is cut again before it has recovered leaves room to others.
    #[test]
    fn a_second_cut_lowers_the_plateau() {
        let (mut cubic, window) = after_a_cut();
        cubic.on_loss(Loss::Reported, window);
        assert_eq!(cubic.most, Some(700.0 * 1.7 / 2.0));
        cubic.on_loss(Loss::TimedOut, window);
        assert_eq!(cubic.begin(Time::ZERO, 300.0).plateau, 300.0, "4.8: K is 0 after a timeout");
    }

    #[test]
    fn slow_start_and_marks_are_not_its_own() {
        let mut cubic = Cubic::new();
        let window = Window::new(10, 1_000);
        assert!(window.in_slow_start());
        cubic.on_ack(&Acked { window, ..Acked::plain() });
        assert_eq!((cubic.stage, cubic.uses_ecn()), (None, false));
    }
}
