//! The plan of a client: its requests and their start times, drawn one by one from seeded streams.

use flowsched_units::Time;
use flowsched_workload::{Arrivals, stream};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::config::{Config, Weighted};
use crate::settings::Settings;

/// A request: flows that start together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Planned {
    /// The start time, from the start of the traffic.
    pub(crate) at: Time,
    /// The server of each flow, as an index in the configuration.
    pub(crate) servers: Vec<usize>,
    /// Bytes of each flow.
    pub(crate) bytes: u32,
    pub(crate) dscp: u8,
    pub(crate) rate_mbps: u32,
}

/// The requests to come.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    config: &'a Config,
    arrivals: Arrivals,
    sizes: ChaCha8Rng,
    choices: ChaCha8Rng,
    left: u64,
    until: Time,
}

impl<'a> Plan<'a> {
    /// The plan for these settings.
    pub(crate) fn new(config: &'a Config, settings: &Settings) -> Plan<'a> {
        let Settings { seed, load, requests, duration, .. } = *settings;
        Plan {
            config,
            arrivals: Arrivals::new(config.mean_gap_s(load) * 1e12, seed, 0),
            sizes: stream(seed, "sizes", 0),
            choices: stream(seed, "choices", 0),
            left: requests.unwrap_or(u64::MAX),
            until: duration.unwrap_or(Time::MAX),
        }
    }

    fn choose(&mut self, among: &[Weighted]) -> u32 {
        let total: u64 = among.iter().map(|one| u64::from(one.weight)).sum();
        let mut drawn = self.choices.random_range(0..total.max(1));
        for one in among {
            match drawn.checked_sub(one.weight.into()) {
                Some(rest) => drawn = rest,
                None => return one.value,
            }
        }
        among.last().map_or(0, |last| last.value)
    }
}

impl Iterator for Plan<'_> {
    type Item = Planned;

    fn next(&mut self) -> Option<Planned> {
        self.left = self.left.checked_sub(1)?;
        let at = self.arrivals.next().filter(|at| *at < self.until)?;
        let config = self.config;
        let size = config.sizes.sample(self.sizes.random()).get();
        let fanout = self.choose(&config.fanouts);
        let dscp = self.choose(&config.dscps) as u8;
        let rate_mbps = self.choose(&config.rates_mbps);
        let count = config.servers.len();
        let servers = (0..fanout).map(|_| self.choices.random_range(0..count)).collect();
        let bytes = (size / u64::from(fanout)).clamp(1, u32::MAX.into()) as u32;
        Some(Planned { at, servers, bytes, dscp, rate_mbps })
    }
}
