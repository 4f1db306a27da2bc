//! Computes figures of ports while samples pass. Memory grows with the number of ports, not with
//! time.

use super::link::LinkMeter;
use super::queue_watch::QueueWatch;
use super::run_start::RunStart;
use super::utilisation::UtilisationMeter;
use super::{Distribution, LinkFigures, PortRow};

/// The figures of ports in the summary.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PortFigures {
    /// See [`super::RunSummary::queue_bytes`].
    pub queue_bytes: Distribution,
    /// See [`super::LoadFigures::utilisation`].
    pub utilisation: Option<f64>,
    /// See [`super::RunSummary::convergence_us`].
    pub convergence_us: Option<f64>,
    /// See [`super::RunSummary::links`].
    pub links: Vec<LinkFigures>,
}

/// Examines each sample once.
#[derive(Clone, Debug)]
pub(super) struct PortWatch {
    queues: QueueWatch,
    utilisation: UtilisationMeter,
    links: Vec<LinkMeter>,
    /// The last sample of each port.
    last: Vec<PortRow>,
}

impl PortWatch {
    /// Prepares the figures of a run that begins like this.
    pub(super) fn new(start: &RunStart) -> PortWatch {
        let RunStart { ports, arrivals, random_starts, load_ports, links, .. } = start;
        let meters = links.iter().filter_map(|link| LinkMeter::new(link.clone(), ports));
        PortWatch {
            utilisation: UtilisationMeter::new(load_ports, ports, *arrivals),
            links: meters.collect(),
            queues: QueueWatch::new(ports, *arrivals, *random_starts),
            last: vec![PortRow::default(); ports.len()],
        }
    }

    /// Adds the samples of the next sample time.
    pub(super) fn take(&mut self, samples: &[PortRow]) {
        self.utilisation.add(samples);
        self.links.iter_mut().for_each(|link| link.add(samples));
        for sample in samples {
            self.last[sample.port as usize] = *sample;
            self.queues.take(sample);
        }
    }

    /// The last sample of every port.
    pub(super) fn last(&self) -> &[PortRow] {
        &self.last
    }

    /// Bytes in the queues of switches' ports, as [`QueueWatch`] counts them.
    pub(super) fn queue_bytes(&self) -> Distribution {
        Distribution::of_counts(self.queues.counts())
    }

    /// The figures of the links that the experiment names.
    pub(super) fn links(&self) -> Vec<LinkFigures> {
        self.links.iter().map(LinkMeter::figures).collect()
    }

    /// The utilisation of the links that the load refers to.
    pub(super) fn utilisation(&self) -> Option<f64> {
        self.utilisation.utilisation()
    }
}

#[cfg(test)]
mod tests {
    use flowsched_units::{Rate, Time};

    use super::super::PortRecord;
    use super::*;

    #[test]
    fn ports_of_switches_count_while_flows_arrive() {
        let port = |class: &str| PortRecord {
            owner: String::new(),
            peer: String::new(),
            class: class.to_owned(),
            rate: Rate::from_gbps(10),
        };
        let sample = |us, port, queue_bytes| PortRow {
            time: Time::from_us(us),
            port,
            queue_bytes,
            ..PortRow::default()
        };
        let ports = [port("host to leaf"), port("leaf to host")];
        let start = |arrivals, random_starts| {
            let ports = ports.to_vec();
            RunStart { ports, arrivals, random_starts, ..RunStart::default() }
        };
        let arrivals = Some((Time::from_us(10), Time::from_us(20)));
        let watch = |random| PortWatch::new(&start(arrivals, random));
        let mut watch_of_load = watch(true);
        let taken = [
            vec![sample(5, 1, 1_000_000), sample(10, 0, 2_000_000), sample(10, 1, 100)],
            vec![sample(20, 1, 300), sample(25, 1, 3_000_000)],
        ];
        taken.iter().for_each(|samples| watch_of_load.take(samples));
        let found = watch_of_load.queue_bytes();
        assert_eq!((found.count, found.mean, found.max), (2, Some(200.0), Some(300.0)));
        assert_eq!(watch_of_load.last()[1], sample(25, 1, 3_000_000));
        assert_eq!(PortWatch::new(&start(None, true)).queue_bytes().count, 0);
        let mut watch_of_burst = watch(false);
        taken.iter().for_each(|samples| watch_of_burst.take(samples));
        assert_eq!(watch_of_burst.queue_bytes().max, Some(3_000_000.0));
    }
}
