//! Curves over time of the ports of links, from `ports.parquet`.

use std::collections::BTreeMap;

use flowsched_experiment::results::{Folder, NamedLink, PortRow, PortsOfRun};
use flowsched_units::Rate;

use super::error::DrawingError;
use super::runs::Runs;
use super::series::Series;
use super::thinned::{spread, thinned};
use crate::drawn::{Drawn, OverTime};

/// The most points of a curve.
const MOST: usize = 100;

/// The samples of one port.
struct Port {
    rate: Rate,
    samples: Vec<PortRow>,
}

/// A curve for each scheme and link, with the first seed.
pub(super) fn curves(
    of: OverTime,
    drawn: &Drawn,
    runs: &Runs<'_>,
    folder: &Folder,
) -> Result<Vec<Series>, DrawingError> {
    // The claims were checked when they were read.
    let links = drawn.named_links().map_err(DrawingError::lacks)?;
    let mut ports: BTreeMap<(String, usize), Port> = BTreeMap::new();
    folder.ports(|piece| {
        if !runs.is_first(&piece.run) {
            return;
        }
        for (place, link) in links.iter().enumerate() {
            let Some((rate, samples)) = samples(link, &piece) else { continue };
            let port = ports.entry((piece.run.scheme.clone(), place));
            let port = port.or_insert(Port { rate, samples: Vec::new() });
            port.samples.extend(samples);
        }
    })?;
    let pairs = runs
        .schemes
        .iter()
        .flat_map(|scheme| links.iter().enumerate().map(move |it| (*scheme, it)));
    let curve = |(scheme, (place, link)): (&str, (usize, &NamedLink))| {
        let name = match (runs.schemes.len(), links.len()) {
            (1, _) => link.name.clone(),
            (_, 1) => scheme.to_owned(),
            _ => format!("{scheme}, {}", link.name),
        };
        let port = ports.get(&(scheme.to_owned(), place)).filter(|port| port.samples.len() > 1);
        port.map(|port| Series::new(name, &port.points(of))).ok_or_else(|| {
            let NamedLink { owner, peer, .. } = link;
            DrawingError::lacks(format!(
                "`{scheme}` has fewer than two samples of {owner} to {peer}. Name ports of the experiment in `links`, \
                 and let its `sample_interval` be shorter than their time spans."
            ))
        })
    };
    pairs.map(curve).collect()
}

/// The rate of a link and the samples of its port in the link's time span; `None` if there is no such port.
fn samples<'a>(
    link: &NamedLink,
    piece: &'a PortsOfRun,
) -> Option<(Rate, impl Iterator<Item = PortRow> + use<'a>)> {
    let port = link.port(&piece.ports)?;
    let span = link.from..=link.to;
    let of_port =
        move |sample: &&PortRow| sample.port as usize == port && span.contains(&sample.time);
    Some((piece.ports[port].rate, piece.samples.iter().filter(of_port).copied()))
}

impl Port {
    fn points(&self, of: OverTime) -> Vec<(f64, f64)> {
        let rates = |unit: f64| self.bytes_per_second(unit);
        match of {
            OverTime::RateGbps => rates(1e9 / 8.0),
            OverTime::Utilisation => rates(self.rate.as_bytes_per_sec_f64()),
            OverTime::QueuePackets => {
                let point = |it: &PortRow| (it.time.as_us_f64(), it.queue_packets as f64);
                thinned(&self.samples.iter().map(point).collect::<Vec<_>>(), MOST)
            }
        }
    }

    /// The mean rate from each of a few samples to the next, in units of this many bytes per second. The last rate is
    /// there twice, so that the curve reaches the last sample.
    fn bytes_per_second(&self, unit: f64) -> Vec<(f64, f64)> {
        let kept = spread(&self.samples, MOST);
        let rate = |pair: &[PortRow]| {
            let (from, to) = (pair[0], pair[1]);
            let seconds = to.time.saturating_sub(from.time).as_secs_f64();
            let bytes = (to.tx_bytes - from.tx_bytes) as f64;
            (seconds > 0.0).then(|| (from.time.as_us_f64(), bytes / seconds / unit))
        };
        let mut rates: Vec<(f64, f64)> = kept.windows(2).filter_map(rate).collect();
        let end = kept.last().zip(rates.last().copied());
        rates.extend(end.map(|(last, (_, rate))| (last.time.as_us_f64(), rate)));
        rates
    }
}
