//! Plays the flows of a run: with the traffic generator, and with memcached where the workload asks
//! for it.

use std::sync::atomic::Ordering;
use std::thread;

use flowsched_schemes::world::Progress;
use flowsched_units::Time;
use flowsched_workload::Flow;

use crate::clock::Clock;
use crate::error::LabError;
use crate::memcached::Queries;
use crate::played::Played;
use crate::traffic::Traffic;

/// The flows of a run, split by who plays them. In each list, a flow's number is its place.
#[derive(Clone, Debug, Default)]
pub struct Split {
    /// The flows of the traffic generator.
    pub traffic: Vec<Flow>,
    /// The flows that memcached serves.
    pub memcached: Vec<Flow>,
    /// For each flow of the run, whether memcached serves it, and its place in its list.
    places: Vec<(bool, u32)>,
}

impl Split {
    /// Splits flows. Memcached serves those that are marked in `memcached`, and none if that is
    /// empty.
    pub fn new(flows: &[Flow], memcached: &[bool]) -> Split {
        let mut split = Split::default();
        for (index, flow) in flows.iter().enumerate() {
            let is_value = memcached.get(index).copied().unwrap_or_default();
            let list = if is_value { &mut split.memcached } else { &mut split.traffic };
            let id = list.len() as u32;
            list.push(Flow { id, ..*flow });
            split.places.push((is_value, id));
        }
        split
    }

    /// Plays all flows to their ends, or until `progress` says to stop or `until` comes.
    ///
    /// # Errors
    /// The error of the traffic or of the queries; that of the traffic if both fail.
    pub fn play(
        &self,
        traffic: Traffic<'_>,
        queries: Queries<'_>,
        clock: Clock,
        until: Time,
        progress: &Progress,
    ) -> Result<Played, LabError> {
        let stop_if_failed = |played: Result<_, LabError>| {
            played.inspect_err(|_| progress.stop.store(true, Ordering::Relaxed))
        };
        let (traffic, memcached) = thread::scope(|scope| {
            let asking = scope.spawn(|| stop_if_failed(queries.play(clock, until, progress)));
            let traffic = stop_if_failed(traffic.play(until, progress));
            (traffic, asking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let (traffic, memcached) = (traffic?, memcached?);
        let outcome = |(is_value, place): &(bool, u32)| {
            let played = if *is_value { &memcached } else { &traffic };
            played.flows[*place as usize]
        };
        Ok(Played {
            flows: self.places.iter().map(outcome).collect(),
            starts: traffic.starts.and(memcached.starts),
            uncounted: traffic.uncounted.or(memcached.uncounted),
            ..Played::default()
        })
    }
}
