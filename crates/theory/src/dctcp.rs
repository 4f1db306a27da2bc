//! DCTCP's saw-tooth with N synchronised long flows (Alizadeh et al., SIGCOMM 2010, section
//! 3.3), in packets.

use libm::sqrt;

/// The steady state of N flows on one link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SawTooth {
    /// The window of a flow at which the queue reaches the marking threshold.
    pub window: f64,
    /// The estimated share of marked packets, from 0 to 1.
    pub alpha: f64,
    /// By how much a flow's window falls and rises.
    pub window_swing: f64,
    /// By how much the queue falls and rises.
    pub amplitude: f64,
    /// The longest queue.
    pub queue_max: f64,
    /// The shortest queue; below 0 the link idles and the other values do not hold.
    pub queue_min: f64,
    /// The mean queue.
    pub queue_mean: f64,
    /// Round trips from one cut to the next.
    pub period: f64,
}

impl SawTooth {
    /// The steady state of `flows` flows, with `bandwidth_delay` packets in flight on the empty
    /// path (capacity times round trip), and with marking from `threshold` packets in the queue on.
    pub fn new(bandwidth_delay: f64, threshold: f64, flows: u32) -> SawTooth {
        let n = f64::from(flows);
        let window = (bandwidth_delay + threshold) / n;
        let marked = (2.0 * window + 1.0) / ((window + 1.0) * (window + 1.0));
        let alpha = alpha(marked);
        let window_swing = (window + 1.0) * alpha / 2.0;
        let amplitude = n * window_swing;
        let queue_max = threshold + n;
        SawTooth {
            window,
            alpha,
            window_swing,
            amplitude,
            queue_max,
            queue_min: queue_max - amplitude,
            queue_mean: queue_max - amplitude / 2.0,
            period: window_swing,
        }
    }
}

/// The solution of `alpha^2 (1 - alpha / 4) = marked` in [0, 1], or 1 where there is none.
fn alpha(marked: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    // 53 halvings reach the precision of the number.
    for _ in 0..53 {
        let middle = (low + high) / 2.0;
        if middle * middle * (1.0 - middle / 4.0) < marked {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The paper's approximation of alpha for large windows, `sqrt(2 / window)`.
pub fn alpha_of_large_windows(window: f64) -> f64 {
    sqrt(2.0 / window)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_gigabit_with_the_simulated_round_trip() {
        // 10 Gbps, 85 us, 1500 B packets: 70.83 packets in flight.
        let one = SawTooth::new(10e9 * 85e-6 / 12_000.0, 65.0, 1);
        assert!((one.window - 135.833).abs() < 1e-3);
        let marked = (2.0 * one.window + 1.0) / (one.window + 1.0).powi(2);
        assert!((one.alpha * one.alpha * (1.0 - one.alpha / 4.0) - marked).abs() < 1e-12);
        assert_eq!(one.queue_max, 66.0);
        assert!(one.queue_min > 0.0, "one flow keeps the link busy: {one:?}");
    }

    #[test]
    fn large_windows_come_to_the_papers_approximations() {
        let saw_tooth = SawTooth::new(1e6, 1e5, 1);
        let expected = alpha_of_large_windows(saw_tooth.window);
        assert!((saw_tooth.alpha / expected - 1.0).abs() < 1e-3);
        // A = sqrt(2 N (C RTT + K)) / 2.
        let amplitude = libm::sqrt(2.0 * 1.1e6) / 2.0;
        assert!((saw_tooth.amplitude / amplitude - 1.0).abs() < 1e-3);
    }

    #[test]
    fn the_queue_hardly_swings_with_many_flows() {
        let two = SawTooth::new(70.0, 65.0, 2);
        let forty = SawTooth::new(70.0, 65.0, 40);
        assert!(forty.window_swing < two.window_swing);
        assert!(forty.alpha > two.alpha && forty.alpha < 1.0);
    }
}
