//! The M/G/1 queue: mean response times under FCFS, processor sharing, SRPT, preemptive
//! shortest job first and foreground-background.
//!
//! Formulas: Kleinrock, *Queueing Systems* volume 2, chapter 4; Schrage and Miller 1966 for
//! SRPT. Where sizes have atoms, flows of equal size (or equal remaining size) are served in
//! the order of arrival.

use flowsched_workload::sizes::SizeDistribution;

/// Poisson arrivals of flows to one link.
#[derive(Clone, Copy, Debug)]
pub struct Mg1<'a> {
    /// The sizes of the flows.
    pub sizes: &'a SizeDistribution,
    /// Share of the time that the link is busy, from 0 to less than 1.
    pub load: f64,
}

impl<'a> Mg1<'a> {
    /// Flows of these sizes at this load.
    ///
    /// # Panics
    /// If the load is not in [0, 1): there is no steady state.
    pub fn new(sizes: &'a SizeDistribution, load: f64) -> Mg1<'a> {
        assert!((0.0..1.0).contains(&load), "load {load}, expected one from 0 to less than 1");
        Mg1 { sizes, load }
    }

    /// Arrivals in the time of a byte.
    pub fn arrival_rate(&self) -> f64 {
        self.load / self.sizes.mean()
    }

    /// The load of the first `bytes` of each flow.
    pub fn load_truncated_at(&self, bytes: f64) -> f64 {
        self.arrival_rate() * self.sizes.partial_mean(bytes)
    }

    /// The mean work in the system if flows sent `bytes` at most: half of lambda
    /// `E[min(size, bytes)^2]`, over the idle share.
    pub fn work_truncated_at(&self, bytes: f64) -> f64 {
        self.arrival_rate() * self.sizes.partial_second_moment(bytes)
            / (2.0 * (1.0 - self.load_truncated_at(bytes)))
    }

    /// The load of flows of `bytes` or less.
    fn load_up_to(&self, bytes: f64) -> f64 {
        let above = 1.0 - self.sizes.cdf(bytes);
        self.arrival_rate() * (self.sizes.partial_mean(bytes) - bytes * above)
    }

    /// The load of flows of less than `bytes`.
    fn load_below(&self, bytes: f64) -> f64 {
        let not_below = 1.0 - self.sizes.below(bytes);
        self.arrival_rate() * (self.sizes.partial_mean(bytes) - bytes * not_below)
    }

    fn mean_of(&self, response: impl Fn(f64) -> f64) -> f64 {
        let [mean] = self.sizes.expectations(0.0, f64::INFINITY, |size| [response(size)]);
        mean
    }

    /// The mean response time of a flow of `size`, first come, first served (Pollaczek and
    /// Khinchine).
    pub fn fcfs(&self, size: f64) -> f64 {
        self.work_truncated_at(f64::INFINITY) + size
    }

    /// The mean response time of all flows, first come, first served.
    pub fn fcfs_mean(&self) -> f64 {
        self.fcfs(self.sizes.mean())
    }

    /// The mean response time of a flow of `size` under processor sharing.
    pub fn ps(&self, size: f64) -> f64 {
        size / (1.0 - self.load)
    }

    /// The mean response time of all flows under processor sharing.
    pub fn ps_mean(&self) -> f64 {
        self.ps(self.sizes.mean())
    }

    /// The mean response time of a flow of `size` under foreground-background (least attained
    /// service).
    pub fn fb(&self, size: f64) -> f64 {
        (self.work_truncated_at(size) + size) / (1.0 - self.load_truncated_at(size))
    }

    /// The mean response time of all flows under foreground-background.
    pub fn fb_mean(&self) -> f64 {
        self.mean_of(|size| self.fb(size))
    }

    /// The mean response time of a flow of `size` under preemptive shortest job first, by the
    /// original size.
    pub fn psjf(&self, size: f64) -> f64 {
        let above = 1.0 - self.sizes.cdf(size);
        let second = self.sizes.partial_second_moment(size) - size * size * above;
        let work = self.arrival_rate() * second / (2.0 * (1.0 - self.load_up_to(size)));
        (work + size) / (1.0 - self.load_below(size))
    }

    /// The mean response time of all flows under preemptive shortest job first.
    pub fn psjf_mean(&self) -> f64 {
        self.mean_of(|size| self.psjf(size))
    }

    /// The mean response time of a flow of `size` under shortest remaining processing time first.
    pub fn srpt(&self, size: f64) -> f64 {
        let service = self.integral_up_to(size, |left| 1.0 / (1.0 - self.load_below(left)));
        self.srpt_wait(size) + service
    }

    /// The mean response time of all flows under shortest remaining processing time first.
    pub fn srpt_mean(&self) -> f64 {
        let largest = self.sizes.quantile(1.0 - f64::EPSILON / 2.0);
        let service = self.integral_up_to(largest, |left| {
            (1.0 - self.sizes.below(left)) / (1.0 - self.load_below(left))
        });
        self.mean_of(|size| self.srpt_wait(size)) + service
    }

    /// The mean time until a flow of `size` is first served, under SRPT.
    fn srpt_wait(&self, size: f64) -> f64 {
        let work = self.arrival_rate() * self.sizes.partial_second_moment(size)
            / (2.0 * (1.0 - self.load_up_to(size)));
        work / (1.0 - self.load_below(size))
    }

    /// The integral of `value` from 0 to `end`, by Gauss and Legendre with two points on
    /// intervals that neither contain a jump of the distribution nor grow by more than 2%.
    fn integral_up_to(&self, end: f64, value: impl Fn(f64) -> f64) -> f64 {
        let node = 1.0 / (2.0 * libm::sqrt(3.0));
        let interval = |from: f64, to: f64| {
            let (middle, offset) = ((from + to) / 2.0, (to - from) * node);
            (to - from) / 2.0 * (value(middle - offset) + value(middle + offset))
        };
        let mut total = 0.0;
        let mut from = 0.0;
        for cut in self.cuts(end) {
            while from < cut {
                let to = cut.min(from + (from * 0.02).max(end * 1e-6));
                total += interval(from, to);
                from = to;
            }
        }
        total
    }

    /// The rising sizes up to `end` at which the distribution may jump, and `end`.
    fn cuts(&self, end: f64) -> Vec<f64> {
        const PACKET: f64 = 1460.0;
        let mut cuts: Vec<f64> = if self.sizes.is_in_whole_packets() {
            (1..).map(|packets| f64::from(packets) * PACKET).take_while(|cut| *cut < end).collect()
        } else {
            self.sizes.knots().into_iter().filter(|cut| *cut < end).collect()
        };
        cuts.push(end);
        cuts
    }
}

#[cfg(test)]
mod tests {
    use flowsched_units::Bytes;
    use flowsched_workload::sizes::by_name;

    use super::*;

    fn close(found: f64, expected: f64, relative: f64) {
        assert!((found - expected).abs() <= relative * expected.abs(), "{found} for {expected}");
    }

    #[test]
    fn exponential_sizes_are_served_as_in_the_m_m_1_queue() {
        let sizes = SizeDistribution::exponential(Bytes::new(1_000_000));
        for load in [0.3, 0.8] {
            let queue = Mg1::new(&sizes, load);
            let expected = 1e6 / (1.0 - load);
            close(queue.fcfs_mean(), expected, 1e-12);
            close(queue.ps_mean(), expected, 1e-12);
            // Without memory, what was served says nothing about what is left.
            close(queue.fb_mean(), expected, 1e-6);
        }
    }

    #[test]
    fn srpt_of_exponential_sizes_is_the_formula_written_out_for_them() {
        let sizes = SizeDistribution::exponential(Bytes::new(1_000_000));
        for load in [0.5, 0.9] {
            let queue = Mg1::new(&sizes, load);
            close(queue.srpt_mean() / 1e6, srpt_of_exponential(load), 1e-5);
        }
    }

    /// Schrage and Miller's formula written out for exponential sizes of mean 1.
    fn srpt_of_exponential(load: f64) -> f64 {
        let below = |x: f64| load * (1.0 - (1.0 + x) * (-x).exp());
        let squares = |x: f64| 2.0 - (2.0 + 2.0 * x + x * x) * (-x).exp() + x * x * (-x).exp();
        let step = 1e-4;
        (0..400_000)
            .map(|i| (f64::from(i) + 0.5) * step)
            .map(|x| {
                let wait = load * squares(x) / (2.0 * (1.0 - below(x)).powi(2));
                (-x).exp() * (wait + 1.0 / (1.0 - below(x))) * step
            })
            .sum()
    }

    #[test]
    fn equal_sizes_make_every_size_based_discipline_fcfs() {
        let sizes = SizeDistribution::fixed(Bytes::new(1000));
        let queue = Mg1::new(&sizes, 0.7);
        let expected = 1000.0 * (1.0 + 0.7 / (2.0 * 0.3));
        for found in [queue.fcfs_mean(), queue.srpt_mean(), queue.psjf_mean()] {
            close(found, expected, 1e-9);
        }
        // Foreground-background shares the link, so that all flows end with the busy period.
        close(queue.fb_mean(), 1000.0 / 0.3 * (1.0 + 0.7 / 0.6), 1e-9);
    }

    #[test]
    fn disciplines_are_ordered_as_they_must_be() {
        for name in ["web-search-packets", "web-search-bytes", "university-packets"] {
            let sizes = by_name(name).unwrap();
            let queue = Mg1::new(&sizes, 0.8);
            // Foreground-background may be worse than sharing where long flows are much alike.
            for blind in [queue.fb_mean(), queue.ps_mean()] {
                let means = [queue.srpt_mean(), queue.psjf_mean(), blind];
                assert!(means.is_sorted(), "{name}: {means:?}");
            }
            let [mean] = sizes.expectations(0.0, sizes.max(), |size| [queue.psjf(size)]);
            close(mean, queue.psjf_mean(), 1e-12);
        }
        let sizes = by_name("university-packets").unwrap();
        let queue = Mg1::new(&sizes, 0.8);
        let [mean] = sizes.expectations(0.0, sizes.max(), |size| [queue.srpt(size)]);
        close(mean, queue.srpt_mean(), 1e-6);
    }

    #[test]
    fn a_flow_alone_takes_its_own_time() {
        let sizes = by_name("web-search-bytes").unwrap();
        let queue = Mg1::new(&sizes, 0.0);
        for found in [queue.fcfs(5e4), queue.ps(5e4), queue.fb(5e4), queue.psjf(5e4)] {
            close(found, 5e4, 1e-12);
        }
        close(queue.srpt(5e4), 5e4, 1e-12);
    }
}
