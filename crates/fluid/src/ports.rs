//! What every port has sent.

use flowsched_schemes::world::PortSample;
use flowsched_units::Time;

use crate::paths::Paths;
use crate::side_traffic::SideTraffic;
use crate::transfers::Transfers;

/// Counters of all ports. They include flows that have ended. What active flows have sent is added
/// only to samples.
#[derive(Clone, Debug)]
pub(crate) struct Ports {
    /// The bits that each port has sent.
    sent: Vec<f64>,
    /// Every port at the last sample time.
    samples: Vec<PortSample>,
}

impl Ports {
    pub(crate) fn new(count: usize) -> Ports {
        Ports { sent: vec![0.0; count], samples: Vec::new() }
    }

    /// Adds this many bits to the counters of the links of `path`.
    pub(crate) fn add(&mut self, path: &[u32], bits: f64) {
        path.iter().for_each(|port| self.sent[*port as usize] += bits);
    }

    /// Samples every port at `now`.
    pub(crate) fn sample(
        &mut self,
        now: Time,
        transfers: &Transfers,
        paths: &Paths,
        side_traffic: &SideTraffic,
    ) -> &[PortSample] {
        let mut sent = self.sent.clone();
        for (slot, transfer) in transfers.iter() {
            let bits = transfer.sent_at(now);
            paths.path(slot).iter().for_each(|port| sent[*port as usize] += bits);
            let (way_back, ratio) = side_traffic.way_back(slot);
            way_back.iter().for_each(|port| sent[*port as usize] += bits * ratio);
        }
        let sample = |(port, bits): (usize, &f64)| PortSample {
            time: now,
            port: port as u32,
            sent_bytes: (bits / 8.0).round() as u64,
            ..PortSample::default()
        };
        self.samples.clear();
        self.samples.extend(sent.iter().enumerate().map(sample));
        &self.samples
    }

    /// The time of the last sample.
    pub(crate) fn last_sample(&self) -> Option<Time> {
        self.samples.last().map(|sample| sample.time)
    }
}
