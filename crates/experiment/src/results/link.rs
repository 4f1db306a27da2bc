//! Links that an experiment names, to report their utilisation and queues.

use std::collections::BTreeMap;

use flowsched_units::{Kind, Time, Value};
use serde::{Deserialize, Serialize};

use super::{Distribution, PortRecord, PortRow};

/// The form of links in an experiment, for errors.
pub(crate) const FORM: &str = "links such as \"bottleneck: switch 0 to host 51 from 10ms to 19ms; uplink: leaf 0 to spine 0\"";

/// A direction of a link, and the time span of its figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedLink {
    /// The name of the link's figures.
    pub name: String,
    /// The host or switch that sends through it.
    pub owner: String,
    /// The host or switch at the other end.
    pub peer: String,
    /// The start of the time span.
    pub from: Time,
    /// The end of the time span; [`Time::MAX`] for the end of the run.
    pub to: Time,
}

impl NamedLink {
    /// Parses links that are separated by semicolons.
    ///
    /// # Errors
    /// Returns the first part that is not a link.
    pub fn parse_all(text: &str) -> Result<Vec<NamedLink>, String> {
        let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
        parts.map(|part| NamedLink::parse(part).ok_or_else(|| part.to_owned())).collect()
    }

    fn parse(text: &str) -> Option<NamedLink> {
        let (name, rest) = text.split_once(':')?;
        let (ends, (from, to)) = match rest.split_once(" from ") {
            Some((ends, times)) => (ends, times.split_once(" to ").map(window)??),
            None => (rest, (Time::ZERO, Time::MAX)),
        };
        let (owner, peer) = ends.split_once(" to ")?;
        let [name, owner, peer] = [name, owner, peer].map(|word| word.trim().to_owned());
        let is_whole = ![&name, &owner, &peer].into_iter().any(String::is_empty) && from < to;
        // A dot would split the name of a figure.
        let is_link = is_whole && !name.contains('.');
        is_link.then_some(NamedLink { name, owner, peer, from, to })
    }

    /// The place of its port among the ports of a run; `None` if there is no such link.
    pub fn port(&self, ports: &[PortRecord]) -> Option<usize> {
        ports.iter().position(|port| port.owner == self.owner && port.peer == self.peer)
    }
}

fn window((from, to): (&str, &str)) -> Option<(Time, Time)> {
    Some((time(from)?, time(to)?))
}

fn time(text: &str) -> Option<Time> {
    match Kind::Time.parse(text.trim()) {
        Ok(Value::Time(time)) => Some(time),
        _ => None,
    }
}

/// The figures of a link that the experiment names, over its time span.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkFigures {
    /// Its name.
    pub name: String,
    /// The bytes that it sent between the first and the last sample, divided by its capacity in
    /// that time. `None` with fewer than two samples.
    pub utilisation: Option<f64>,
    /// Bytes in its queue, over all samples.
    pub queue_bytes: Distribution,
    /// Packets in its queue, over all samples.
    pub queue_packets: Distribution,
}

/// Computes the figures of a link from port samples, one sample time after another.
#[derive(Clone, Debug)]
pub(super) struct LinkMeter {
    link: NamedLink,
    port: usize,
    bytes_per_second: f64,
    first: Option<PortRow>,
    last: Option<PortRow>,
    bytes: BTreeMap<u64, u64>,
    packets: BTreeMap<u64, u64>,
}

impl LinkMeter {
    /// A meter in a run with these ports; `None` if the link is not among them.
    pub(super) fn new(link: NamedLink, ports: &[PortRecord]) -> Option<LinkMeter> {
        let port = link.port(ports)?;
        let bytes_per_second = ports[port].rate.as_bytes_per_sec_f64();
        let (bytes, packets) = (BTreeMap::new(), BTreeMap::new());
        Some(LinkMeter { link, port, bytes_per_second, first: None, last: None, bytes, packets })
    }

    /// Adds the samples of one sample time, one for each port in the order of ports.
    pub(super) fn add(&mut self, samples: &[PortRow]) {
        let Some(sample) = samples.get(self.port) else { return };
        if !(self.link.from..=self.link.to).contains(&sample.time) {
            return;
        }
        self.first.get_or_insert(*sample);
        self.last = Some(*sample);
        *self.bytes.entry(sample.queue_bytes).or_default() += 1;
        *self.packets.entry(sample.queue_packets).or_default() += 1;
    }

    /// The figures of the samples so far.
    pub(super) fn figures(&self) -> LinkFigures {
        LinkFigures {
            name: self.link.name.clone(),
            utilisation: self.utilisation(),
            queue_bytes: Distribution::of_counts(&self.bytes),
            queue_packets: Distribution::of_counts(&self.packets),
        }
    }

    fn utilisation(&self) -> Option<f64> {
        let (first, last) = self.first.zip(self.last)?;
        let seconds = last.time.saturating_sub(first.time).as_secs_f64();
        let sent = (last.tx_bytes - first.tx_bytes) as f64;
        (seconds > 0.0).then(|| sent / (seconds * self.bytes_per_second))
    }
}

#[cfg(test)]
mod tests {
    use flowsched_units::Rate;

    use super::*;

    #[test]
    fn links_are_read_with_and_without_a_time() {
        let links = NamedLink::parse_all("a b: switch 0 to host 51 from 10ms to 19ms; up:x to y;");
        let link = |name: &str, owner: &str, peer: &str, from, to| NamedLink {
            name: name.to_owned(),
            owner: owner.to_owned(),
            peer: peer.to_owned(),
            from,
            to,
        };
        let ms = |ms: u64| Time::from_us(ms * 1000);
        let first = link("a b", "switch 0", "host 51", ms(10), ms(19));
        assert_eq!(links, Ok(vec![first, link("up", "x", "y", Time::ZERO, Time::MAX)]));
        let wrong = ["a", "a: b", ": b to c", "a: b to c from 1ms", "a: b to c from 2ms to 1ms"];
        for text in wrong.into_iter().chain(["a: b to c from 1 to 2", "a.b: c to d"]) {
            assert_eq!(NamedLink::parse_all(text), Err(text.to_owned()), "{text}");
        }
    }

    #[test]
    fn figures_are_of_the_samples_in_the_time() {
        let port = |owner: &str| PortRecord {
            owner: owner.to_owned(),
            peer: "host 1".to_owned(),
            class: String::new(),
            rate: Rate::from_gbps(8),
        };
        let ports = [port("host 0"), port("switch 0")];
        let link = NamedLink::parse_all("a: switch 0 to host 1 from 10us to 30us").unwrap();
        let mut meter = LinkMeter::new(link[0].clone(), &ports).unwrap();
        assert_eq!(meter.figures(), LinkFigures { name: "a".to_owned(), ..Default::default() });
        for (us, tx_bytes, queue_packets) in
            [(5, 0, 9), (10, 1_000, 2), (20, 6_000, 4), (30, 16_000, 6), (40, 99_000, 9)]
        {
            let sample = |port| PortRow {
                time: Time::from_us(us),
                port,
                tx_bytes: tx_bytes * u64::from(port),
                queue_packets,
                queue_bytes: 1_500 * queue_packets,
                ..PortRow::default()
            };
            meter.add(&[sample(0), sample(1)]);
        }
        let figures = meter.figures();
        // 15,000 bytes in 20 us, at 1,000 bytes per microsecond.
        assert_eq!(figures.utilisation, Some(0.75));
        assert_eq!((figures.queue_packets.mean, figures.queue_packets.max), (Some(4.0), Some(6.0)));
        assert_eq!(figures.queue_bytes.mean, Some(6_000.0));
        assert!(LinkMeter::new(link[0].clone(), &ports[..1]).is_none());
    }
}
