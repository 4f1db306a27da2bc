//! Carries out the runs of an experiment in the lab, and simulates their twins.

use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use flowsched_experiment::results::RunKey;
use flowsched_lab::conduct::Conduct;
use flowsched_lab::run::{Extras, Lab};
use flowsched_run::{Outcome, RunError, Simulation, Simulator};
use flowsched_schemes::world::{PortSample, Watch};

use super::conduct::Conducts;
use super::twins::is_simulated;
use crate::captures::Wanted;
use crate::progress::say;

/// A simulator that carries out each run in the lab, and simulates each twin. It notes how late the lab was. A
/// run that was late is repeated, up to `tries` tries in total. The last try counts.
pub fn simulator(captures: Wanted, conducts: Conducts, tries: NonZeroU32) -> Box<Simulator> {
    Box::new(move |run: Simulation<'_>| {
        if is_simulated(&run.scheme().name) {
            return captures.simulate(run);
        }
        run_in_lab(run, &captures, &conducts, tries)
    })
}

fn run_in_lab(
    run: Simulation<'_>,
    captures: &Wanted,
    conducts: &Conducts,
    tries: NonZeroU32,
) -> Result<Outcome, RunError> {
    let (key, memcached) = (run.key(), run.served_by_memcached());
    let (job, scheme, mut watch) = run.into_packets()?;
    let one_try = |watch: &mut Watch<'_>| {
        let captures = captures.of_run(&key, job.network).map_err(|e| RunError::World(e.into()))?;
        let extras = Extras { captures, memcached: memcached.clone() };
        lab_here().run(&job, scheme, extras, watch).map_err(|error| RunError::World(error.into()))
    };
    let (outcome, conduct) = until_valid(&key, tries, &mut watch, one_try)?;
    conducts.note(key, &conduct).map_err(|error| RunError::World(error.into()))?;
    Ok(outcome)
}

/// Repeats a run until it is valid, has had all its tries, or is to stop. Only the last try's samples go
/// to `watch`: the samples of a try that may be repeated are kept until it has ended.
fn until_valid<E>(
    key: &RunKey,
    tries: NonZeroU32,
    watch: &mut Watch<'_>,
    mut run: impl FnMut(&mut Watch<'_>) -> Result<(Outcome, Conduct), E>,
) -> Result<(Outcome, Conduct), E> {
    let progress = watch.progress;
    let finished = progress.finished_flows.load(Ordering::Relaxed);
    for number in 1..tries.get() {
        let mut instants: Vec<Vec<PortSample>> = Vec::new();
        let mut keep = |samples: &[PortSample]| {
            instants.push(samples.to_vec());
            ControlFlow::Continue(())
        };
        let (outcome, conduct) = run(&mut Watch { samples: &mut keep, probing: None, ..*watch })?;
        if conduct.is_valid() || progress.stop.load(Ordering::Relaxed) {
            for samples in &instants {
                if (watch.samples)(samples).is_break() {
                    progress.stop.store(true, Ordering::Relaxed);
                }
            }
            return Ok((outcome, conduct));
        }
        let faults = conduct.faults().join("; ");
        say(&format!("the run of {key} is done again (try {} of {tries}): {faults}", number + 1));
        progress.finished_flows.store(finished, Ordering::Relaxed);
    }
    run(watch)
}

/// The lab, with this program as its agent if that is built in.
fn lab_here() -> Lab {
    let lab = Lab::default();
    match std::env::current_exe() {
        Ok(program) if cfg!(feature = "agent") => lab.with_agent(program),
        _ => lab,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use flowsched_experiment::results::Point;
    use flowsched_schemes::world::{Progress, Threads};
    use flowsched_units::Time;

    use super::*;

    /// Tries runs with these shares of late packets. Returns how many tries there were, the share of late
    /// packets that counted, and the times of the samples that were handed on.
    fn tried(late_shares: &[f64], tries: u32) -> (usize, f64, Vec<Time>) {
        let (progress, handed_on) = (Progress::default(), RefCell::new(Vec::new()));
        let mut keep = |samples: &[PortSample]| {
            handed_on.borrow_mut().extend(samples.iter().map(|sample| sample.time));
            ControlFlow::Continue(())
        };
        let mut watch = Watch {
            threads: Threads::one(),
            progress: &progress,
            samples: &mut keep,
            probing: None,
        };
        let key = RunKey { point: Point::default(), scheme: "pias".to_owned(), seed: 1 };
        let mut done = 0;
        let tries = NonZeroU32::new(tries).unwrap();
        let (_, conduct) = until_valid(&key, tries, &mut watch, |watch| {
            assert_eq!(watch.progress.finished_flows.load(Ordering::Relaxed), 0);
            watch.progress.finished_flows.store(7, Ordering::Relaxed);
            let late_share = late_shares[done];
            done += 1;
            let sample = PortSample { time: Time::from_us(done as u64), ..PortSample::default() };
            let _ = (watch.samples)(&[sample]);
            Ok::<_, RunError>((Outcome::default(), Conduct { late_share, ..Conduct::default() }))
        })
        .unwrap();
        (done, conduct.late_share, handed_on.into_inner())
    }

    #[test]
    fn a_late_run_is_done_again_and_its_samples_are_forgotten() {
        assert_eq!(tried(&[0.0], 3), (1, 0.0, vec![Time::from_us(1)]));
        assert_eq!(tried(&[0.02, 0.005], 3), (2, 0.005, vec![Time::from_us(2)]));
    }

    #[test]
    fn the_last_try_counts_even_if_it_is_late() {
        assert_eq!(tried(&[0.5], 1), (1, 0.5, vec![Time::from_us(1)]));
        assert_eq!(tried(&[0.5, 0.4, 0.3], 3), (3, 0.3, vec![Time::from_us(3)]));
    }
}
