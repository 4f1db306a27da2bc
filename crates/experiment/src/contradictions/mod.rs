//! Finds settings that contradict each other. They are allowed, but probably mistakes.
//!
//! What lives here: one function per check of a scene, and how findings become warnings. What may
//! not: anything that changes or refuses an experiment.

mod buffers;
mod bursts;
mod load;
mod marking;
mod path;
mod surroundings;
mod thresholds;
mod together;

use flowsched_topology::Network;
use flowsched_units::{Settings, shortened};

use crate::experiment::Scene;
use crate::results::Point;
use crate::scheme::{Level, SchemeOfScene};
use surroundings::Surroundings;

/// A check of one scheme of a scene. Returns a sentence if the settings contradict each other.
type Check = fn(&Settings, &Surroundings<'_>) -> Option<String>;

/// The checks of schemes that send packets.
const OF_PACKETS: [Check; 5] = [
    marking::no_marks,
    marking::spurious_timeouts,
    marking::threshold_of_another_rate,
    buffers::initial_windows,
    buffers::bandwidth_delay_product,
];

/// The findings at all points of an experiment.
#[derive(Default)]
pub(crate) struct Contradictions {
    found: Vec<Found>,
}

/// The finding of one check about one scheme, or about a scene.
struct Found {
    /// The check: its place in [`OF_PACKETS`] plus 1, or 0 for a check outside this list.
    check: usize,
    /// The scheme; `None` if the finding is about the scene.
    scheme: Option<String>,
    /// The finding at the first point that has it.
    sentence: String,
    first: Point,
    /// The number of points that have the finding.
    points: usize,
}

impl Contradictions {
    /// Checks a scene on its network. `seed` is the experiment's first seed.
    pub fn check(&mut self, scene: &Scene, network: &Network, seed: u64) {
        let sends_packets = |scheme: &SchemeOfScene| matches!(scheme.level, Level::Packets(_));
        let surroundings = match scene.schemes.iter().any(sends_packets) {
            true => Surroundings::new(scene, network, seed),
            false => None,
        };
        for SchemeOfScene { settings, name, level, .. } in &scene.schemes {
            self.add(0, Some(name), thresholds::out_of_reach(settings, scene), scene);
            if let (Level::Packets(_), Some(surroundings)) = (level, &surroundings) {
                for (place, check) in OF_PACKETS.iter().enumerate() {
                    let sentence = check(settings, surroundings);
                    self.add(place + 1, Some(name), sentence, scene);
                }
            }
        }
        self.add(0, None, load::overloaded_core(scene, network), scene);
    }

    fn add(
        &mut self,
        check: usize,
        scheme: Option<&String>,
        sentence: Option<String>,
        scene: &Scene,
    ) {
        let Some(sentence) = sentence else { return };
        let is_known = |found: &&mut Found| found.check == check && found.scheme.as_ref() == scheme;
        match self.found.iter_mut().find(is_known) {
            Some(found) => found.points += 1,
            None => {
                let (scheme, first) = (scheme.cloned(), scene.point.clone());
                self.found.push(Found { check, scheme, sentence, first, points: 1 });
            }
        }
    }

    /// Makes warnings of the findings. Schemes with the same finding share a warning. `points` is
    /// the number of points of the experiment.
    pub fn into_warnings(self, points: usize) -> Vec<String> {
        let mut merged: Vec<(Vec<String>, String)> = Vec::new();
        for Found { scheme, mut sentence, first, points: of_these, .. } in self.found {
            if points > 1 {
                sentence += &format!(" First at {first}, in all at {of_these} of {points} points.");
            }
            let name = scheme.map(|name| format!("\"{}\"", shortened(&name)));
            match merged.iter_mut().find(|(names, known)| !names.is_empty() && *known == sentence) {
                Some((names, _)) => names.extend(name),
                None => merged.push((name.into_iter().collect(), sentence)),
            }
        }
        let warning = |(names, sentence): (Vec<String>, String)| match names.len() {
            0 => format!("workload: {sentence}"),
            1 => format!("scheme {}: {sentence}", names[0]),
            _ => format!("schemes {}: {sentence}", names.join(", ")),
        };
        merged.into_iter().map(warning).collect()
    }
}
