//! Handles Ctrl-C and other signals while an experiment runs.
//!
//! Every other command has nothing to lose, and ends at once by the system's default.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use flowsched_run::Progress;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::failure::Failure;
use crate::progress::say;

/// How long the program goes on after a signal, to write the results so far.
const GRACE: Duration = Duration::from_millis(800);

/// Signals this soon after the first one are the same request: GNU `timeout` sends one to the program
/// and one to its process group, and so does a shell that passes its own signals on.
const SAME_REQUEST: Duration = Duration::from_millis(100);

/// The handling of signals:
///
/// - The first signal ends the simulations. Their results so far are written, if that takes no longer
///   than [`GRACE`].
/// - The next signal, or a signal after the simulations, ends the program at once.
pub struct Interrupts {
    simulates: Arc<AtomicBool>,
}

impl Interrupts {
    /// Listens, and sets `progress.stop` at the first signal. A signal that is ignored when the program
    /// starts, as under `nohup`, stays ignored. `remedy` is the command that continues from the results
    /// so far.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn listen(progress: &Arc<Progress>, remedy: &'static str) -> Result<Interrupts, Failure> {
        let failure = |source| Failure::System { what: "listen to signals".into(), source };
        let ignored = ignored_signals();
        let wanted =
            [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_in(ignored, *signal));
        let mut signals = Signals::new(wanted).map_err(failure)?;
        let simulates = Arc::new(AtomicBool::new(true));
        let (progress, simulating) = (Arc::clone(progress), Arc::clone(&simulates));
        let listen = move || {
            let mut first: Option<Instant> = None;
            for _ in signals.forever() {
                if first.is_some_and(|first| first.elapsed() < SAME_REQUEST) {
                    continue;
                }
                first.get_or_insert_with(Instant::now);
                if !simulating.load(Ordering::SeqCst) {
                    say(&format!("error: interrupted; {remedy} completes the results"));
                    std::process::exit(1);
                }
                let is_second = progress.stop.swap(true, Ordering::SeqCst);
                if is_second {
                    say(&format!(
                        "error: interrupted without results; {remedy} keeps the finished runs and \
                         runs the rest"
                    ));
                    std::process::exit(1);
                }
                say("stopping; once more to stop without results");
                std::thread::spawn(|| end_soon(remedy));
            }
        };
        std::thread::Builder::new().name("signals".into()).spawn(listen).map_err(failure)?;
        Ok(Interrupts { simulates })
    }

    /// Notes that all simulations have ended.
    pub fn simulations_ended(&self) {
        self.simulates.store(false, Ordering::SeqCst);
    }
}

/// Makes a write beyond the process's limit on file sizes fail with an error, in place of a signal that
/// ends the program.
///
/// # Errors
/// If the system refuses.
pub fn make_file_limits_errors() -> Result<(), Failure> {
    let set = signal_hook::flag::register(SIGXFSZ, Arc::default());
    set.map(drop).map_err(|source| Failure::System { what: "listen to signals".into(), source })
}

/// Ends the program a while after a signal, if the results of the simulations are not written by then.
/// Finished runs are on the disk, and lost ones can be run again.
fn end_soon(remedy: &str) {
    std::thread::sleep(GRACE);
    say(&format!(
        "error: interrupted before all results were written; {remedy} keeps the finished runs and \
         runs the rest"
    ));
    std::process::exit(1);
}

/// The ignored signals as a mask, whose lowest bit is signal 1.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

fn is_in(mask: u64, signal: i32) -> bool {
    mask >> (signal - 1) & 1 == 1
}
