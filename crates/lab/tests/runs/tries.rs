//! Runs an experiment in the lab and in the simulator, until the lab was on time.

use std::hint::black_box;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use flowsched_lab::conduct::Conduct;
use flowsched_lab::run::{Extras, Lab};
use flowsched_schemes::world::{Outcome, Progress};
use flowsched_units::Time;
use nix::time::{ClockId, clock_gettime};

use crate::first_run::FirstRun;
use crate::unwatched::unwatched;

/// Allows one lab at a time, because two would be late.
static MACHINE: Mutex<()> = Mutex::new(());

/// When a run counts, and how often it is tried. A lab is late if the machine has something else to do, and then the
/// run is done again.
#[derive(Clone, Copy)]
pub struct Tries {
    most: u32,
    /// The largest lateness of a packet, of the switch or of a host in a run that counts.
    latest: Time,
}

const TRIES: Tries = Tries { most: 10, latest: Time::MAX };
/// For runs of a fraction of a second, in which one late packet can delay a flow by more than the test allows.
pub const SHORT: Tries = Tries { most: 20, latest: Time::from_ms(1) };

impl Tries {
    /// Why a run does not count; empty if it counts.
    fn faults(self, conduct: &Conduct) -> String {
        let mut faults = conduct.faults();
        let late = conduct.most.max(conduct.longest_absence).max(conduct.host_most);
        if late > self.latest {
            faults.push(format!("a packet, the switch or a host was {late} late"));
        }
        faults.join("; ")
    }
}

/// The first run of an experiment: in the lab, and in the simulator.
pub fn run(file: &str) -> (Outcome, Conduct, Outcome) {
    run_in(TRIES, file)
}

/// Runs an experiment as [`run`] does, until a run counts or there are no more tries.
fn run_in(tries: Tries, file: &str) -> (Outcome, Conduct, Outcome) {
    let first = FirstRun::of(file);
    let (job, scheme) = (first.job(), first.scheme());
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut in_lab = run_in_lab(&first);
    for number in 1..tries.most {
        let faults = tries.faults(&in_lab.1);
        if faults.is_empty() {
            break;
        }
        eprintln!("try {number} of {} does not count: {faults}", tries.most);
        in_lab = run_in_lab(&first);
    }
    let (outcome, conduct) = in_lab;
    (outcome, conduct, flowsched_sim::run(&job, scheme, &Progress::default()))
}

/// Runs an experiment as [`run`] does, for assertions that only hold in runs that count.
///
/// # Panics
/// As [`counted`].
pub fn run_that_counts(file: &str) -> Option<(Outcome, Conduct, Outcome)> {
    counted(TRIES, file)
}

/// The share of the processors' time above which a hypervisor that takes it makes a lab late.
const MOST_STOLEN: f64 = 0.005;
/// How much longer a piece of work may take on average than at best, in time of the thread, on processors that no other
/// machine uses.
const MOST_UNEVEN: f64 = 1.3;

/// Runs an experiment as [`run_in`] does. Returns `None` if no try counts because a hypervisor gave the processors to
/// other machines, whether it says so or not.
///
/// # Panics
/// If no try counts although the machine had its processors, because assertions would then say nothing.
pub fn counted(tries: Tries, file: &str) -> Option<(Outcome, Conduct, Outcome)> {
    let [stolen, all] = processor_time();
    let ran = run_in(tries, file);
    let faults = tries.faults(&ran.1);
    if faults.is_empty() {
        return Some(ran);
    }
    let [stolen_then, all_then] = processor_time();
    let (share, uneven) = ((stolen_then - stolen) / (all_then - all), unevenness());
    assert!(
        share > MOST_STOLEN || uneven > MOST_UNEVEN,
        "no try counts, so that nothing is tested: {faults}; the same work takes {uneven:.2} times its least time"
    );
    eprintln!(
        "not tested, since a hypervisor took {:.1}% of the time, and the same work takes {uneven:.2} times its least \
         time: {faults}",
        100.0 * share
    );
    None
}

/// The processor time that a hypervisor gave to others, and all processor time, since the machine started
/// (proc_stat(5)).
fn processor_time() -> [f64; 2] {
    let text = std::fs::read_to_string("/proc/stat").unwrap();
    let all = text.lines().next().unwrap().split_whitespace().skip(1);
    let fields: Vec<f64> = all.map(|field| field.parse().unwrap()).collect();
    [fields[7], fields[..8].iter().sum()]
}

/// How much longer the same work takes on average than at best. It is time of the thread, so that other threads of this
/// machine do not count.
fn unevenness() -> f64 {
    let times: Vec<f64> = (0..1_000).map(|_| time_of_work()).collect();
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    mean / times.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The thread's time, in seconds, for a piece of work of about a millisecond.
fn time_of_work() -> f64 {
    let used = || Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap());
    let begin = used();
    let steps = 0..black_box(500_000_u32);
    black_box(steps.fold(1_u32, |state, step| black_box(state.wrapping_mul(1_664_525) ^ step)));
    (used() - begin).as_secs_f64()
}

fn run_in_lab(first: &FirstRun) -> (Outcome, Conduct) {
    let (job, parts) = (first.job(), &first.workload.parts);
    let folder = tempfile::tempdir().unwrap();
    let of_query = |flow: usize| parts.name_of(flow) == "query";
    let memcached = (0..job.flows.len()).map(of_query).collect();
    let extras = Extras { memcached, ..Extras::default() };
    let lab = Lab::in_folder(folder.path());
    let ran = unwatched(|watch| lab.run(&job, first.scheme(), extras, watch));
    let (outcome, conduct) = ran.unwrap();
    println!("{conduct:?}");
    assert!(conduct.longest_absence > Time::ZERO, "some time always passes between two looks");
    (outcome, conduct)
}

/// The completion time of a flow at its sender, in seconds.
pub fn fct(outcome: &Outcome, flow: usize) -> f64 {
    outcome.flows[flow].finished_at_sender.unwrap().as_secs_f64()
}
