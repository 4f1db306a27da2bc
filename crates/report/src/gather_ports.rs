//! Gathers port samples piece by piece: queue lengths, and what ports did while flows arrived.

use flowsched_experiment::results::{PortRecord, PortRow, RunKey};
use flowsched_units::Time;

use crate::gathered::{ByScheme, PortClass, PortsInRun};

/// Takes one run after the other, each in pieces. Keeps a few numbers per port of the current run.
#[derive(Debug, Default)]
pub(crate) struct PortGatherer {
    current: Option<Run>,
}

/// The run whose pieces are arriving.
#[derive(Debug)]
struct Run {
    key: RunKey,
    ports: Vec<(PortRecord, PortSoFar)>,
}

/// What is known about one port so far.
#[derive(Clone, Copy, Debug, Default)]
struct PortSoFar {
    /// Its first sample in the window.
    first: Option<PortRow>,
    /// Its last sample in the window.
    last: Option<PortRow>,
    /// Its last sample.
    end: Option<PortRow>,
}

impl PortGatherer {
    /// Takes the next `samples` of `run`, in the order of time. `window` is the time in which its
    /// measured flows started. It is `None` if none did, and then all samples count. The pieces of
    /// a run must follow each other and list the same `ports`.
    pub fn add(
        &mut self,
        gathered: &mut ByScheme,
        run: &RunKey,
        window: Option<(Time, Time)>,
        ports: &[PortRecord],
        samples: &[PortRow],
    ) {
        if self.current.as_ref().is_none_or(|current| current.key != *run) {
            self.finish(gathered);
            let ports = ports.iter().map(|port| (port.clone(), PortSoFar::default())).collect();
            self.current = Some(Run { key: run.clone(), ports });
        }
        let Some(current) = &mut self.current else { return };
        let classes = classes_of(gathered, &current.key);
        let places: Vec<usize> =
            current.ports.iter().map(|(port, _)| place(classes, &port.class)).collect();
        for sample in samples {
            let index = sample.port as usize;
            let Some((_, progress)) = current.ports.get_mut(index) else { continue };
            let counts = within(window, sample.time);
            progress.add(sample, counts);
            if counts {
                classes[places[index]].queues.add(sample.queue_bytes as f64);
            }
        }
    }

    /// Ends the current run.
    pub fn finish(&mut self, gathered: &mut ByScheme) {
        let Some(run) = self.current.take() else { return };
        let classes = classes_of(gathered, &run.key);
        let before: Vec<usize> = classes.iter().map(|class| class.runs.len()).collect();
        for (port, progress) in &run.ports {
            let place = place(classes, &port.class);
            let class = &mut classes[place];
            let at = before.get(place).copied().unwrap_or(0);
            if class.runs.len() == at {
                class.runs.push(PortsInRun::default());
            }
            progress.end_in(&mut class.runs[at], port.rate.as_bytes_per_sec_f64());
        }
    }
}

fn classes_of<'a>(gathered: &'a mut ByScheme, run: &RunKey) -> &'a mut Vec<PortClass> {
    &mut gathered.entry((run.point.clone(), run.scheme.clone())).or_default().ports
}

/// The place of the class called `name`. Adds the class if it is not there.
fn place(classes: &mut Vec<PortClass>, name: &str) -> usize {
    classes.iter().position(|class| class.name == name).unwrap_or_else(|| {
        classes.push(PortClass { name: name.to_owned(), ..PortClass::default() });
        classes.len() - 1
    })
}

fn within(window: Option<(Time, Time)>, time: Time) -> bool {
    window.is_none_or(|(from, to)| (from..=to).contains(&time))
}

impl PortSoFar {
    fn add(&mut self, sample: &PortRow, counts: bool) {
        self.end = Some(*sample);
        if counts {
            self.first.get_or_insert(*sample);
            self.last = Some(*sample);
        }
    }

    fn end_in(&self, run: &mut PortsInRun, bytes_per_second: f64) {
        let Some(end) = self.end else { return };
        run.packets += end.tx_packets;
        run.drops += end.drops;
        run.marks += end.ecn_marks;
        run.utilisation.extend(self.utilisation(bytes_per_second));
    }

    /// The share of a link's capacity that was used within the window, or over the whole run if
    /// the window holds fewer than two samples.
    fn utilisation(&self, bytes_per_second: f64) -> Option<f64> {
        let (first, last) = match (self.first?, self.last?) {
            (first, last) if first.time < last.time => (first, last),
            _ => (PortRow::default(), self.end?),
        };
        let seconds = last.time.saturating_sub(first.time).as_secs_f64();
        let bytes = last.tx_bytes.saturating_sub(first.tx_bytes) as f64;
        (seconds > 0.0 && bytes_per_second > 0.0).then(|| bytes / (bytes_per_second * seconds))
    }
}

#[cfg(test)]
mod tests {
    use flowsched_experiment::results::Point;
    use flowsched_units::Rate;

    use super::*;

    fn ports() -> Vec<PortRecord> {
        let port = |class: &str| PortRecord {
            owner: String::new(),
            peer: String::new(),
            class: class.to_owned(),
            rate: Rate::from_gbps(8),
        };
        vec![port("up"), port("down"), port("up")]
    }

    fn samples() -> Vec<PortRow> {
        let sample = |us: u64, port: u32| PortRow {
            time: Time::from_us(us),
            port,
            queue_bytes: 100 * us,
            // Ports send only within the window.
            tx_bytes: 250 * (us.clamp(5, 15) - 5) * u64::from(port + 1),
            tx_packets: us,
            drops: us / 10,
            ecn_marks: u64::from(port) * us / 5,
            ..PortRow::default()
        };
        (0..=20).flat_map(|us| (0..3).map(move |port| sample(us, port))).collect()
    }

    fn run(seed: u64) -> RunKey {
        RunKey { point: Point::default(), scheme: "a".to_owned(), seed }
    }

    /// Two runs in pieces of `size` samples.
    fn in_pieces(size: usize) -> Vec<PortClass> {
        let mut gathered = ByScheme::new();
        let mut gatherer = PortGatherer::default();
        let window = Some((Time::from_us(5), Time::from_us(15)));
        for seed in [1, 2] {
            for piece in samples().chunks(size) {
                gatherer.add(&mut gathered, &run(seed), window, &ports(), piece);
            }
        }
        gatherer.finish(&mut gathered);
        gathered.into_values().next().unwrap().ports
    }

    #[test]
    fn pieces_make_the_same_as_the_whole() {
        let whole = in_pieces(1_000);
        for size in [1, 2, 7, 62] {
            let pieces = in_pieces(size);
            assert_eq!(pieces.len(), whole.len());
            for (piece, whole) in pieces.iter().zip(&whole) {
                assert_eq!((&piece.name, &piece.runs), (&whole.name, &whole.runs));
                assert_eq!(piece.queues.cumulative(), whole.queues.cumulative());
            }
        }
    }

    #[test]
    fn figures_are_of_the_window_and_counts_of_the_whole_run() {
        let classes = in_pieces(1_000);
        let names: Vec<&str> = classes.iter().map(|class| class.name.as_str()).collect();
        assert_eq!(names, ["up", "down"]);
        let (up, down) = (&classes[0], &classes[1]);
        // Ports 0 and 2 of 1000 bytes per microsecond, 11 samples in the window, two runs.
        assert_eq!(up.queues.count(), 2 * 2 * 11);
        assert_eq!(up.queues.percentile(1000), Some(1_500.0));
        assert_eq!(up.runs.len(), 2);
        assert_eq!(up.runs[0].utilisations(), [0.25, 0.75]);
        assert_eq!(up.runs[0].utilisation(), Some(0.5));
        assert_eq!(up.runs[1].dropped(), 4.0 / 44.0);
        assert_eq!((down.runs.len(), down.runs[1].marked()), (2, 0.2));
    }
}
