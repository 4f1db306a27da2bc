//! Shows the progress of the runs on standard error: a bar on a terminal, otherwise a line for each
//! run.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use flowsched_experiment::results::RunSummary;
use flowsched_run::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often the bar is drawn.
const INTERVAL: Duration = Duration::from_millis(100);

/// After a silence of this length, a program looks as if it hangs.
const LONG: Duration = Duration::from_secs(2);

/// Shows progress until it is dropped.
pub struct Display {
    runs: usize,
    finished: usize,
    bar: Option<Bar>,
}

struct Bar {
    bar: ProgressBar,
    /// Dropping this ends the drawing.
    end: Option<Sender<()>>,
    drawing: Option<JoinHandle<()>>,
}

impl Display {
    /// Shows the progress of `runs` runs, of which `finished` are finished. The others have `flows`
    /// flows in total.
    pub fn new(runs: usize, finished: usize, flows: u64, progress: &Arc<Progress>) -> Display {
        let draw = || Bar::draw(message(finished, runs), flows, progress.clone());
        Display { runs, finished, bar: std::io::stderr().is_terminal().then(draw) }
    }

    /// Shows that one more run is finished.
    pub fn finished(&mut self, run: &RunSummary) {
        self.finished += 1;
        match &self.bar {
            Some(Bar { bar, .. }) => bar.set_message(message(self.finished, self.runs)),
            None => say(&line(self.finished, self.runs, run)),
        }
    }
}

fn message(finished: usize, runs: usize) -> String {
    format!("run {finished} of {runs}")
}

impl Bar {
    fn draw(message: String, flows: u64, progress: Arc<Progress>) -> Bar {
        let bar = ProgressBar::with_draw_target(Some(flows), ProgressDrawTarget::stderr());
        let template = "{wide_bar} {percent:>3}% of {len} flows, {msg}, {eta} left";
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(message);
        let (end, ended) = channel::<()>();
        let drawn = bar.clone();
        let drawing = std::thread::spawn(move || {
            while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                drawn.set_position(progress.finished_flows.load(Ordering::Relaxed));
            }
        });
        Bar { bar, end: Some(end), drawing: Some(drawing) }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.end.take();
        if let Some(drawing) = self.drawing.take() {
            // A panic there has been reported, and the runs do not depend on it.
            let _ = drawing.join();
        }
        self.bar.finish_and_clear();
    }
}

fn line(count: usize, runs: usize, run: &RunSummary) -> String {
    let point = if run.point.is_empty() { String::new() } else { format!(" at {}", run.point) };
    let stopped = if run.complete { "" } else { ", cut short" };
    let done = match run.packet_hops {
        0 => format!("{:.1} M events", run.events as f64 / 1e6),
        hops => format!("{:.1} M packet-hops", hops as f64 / 1e6),
    };
    format!(
        "run {count} of {runs}: {} with seed {}{point}: {} of {} flows finished, {done} in {:.1} s\
         {stopped}",
        run.scheme, run.seed, run.finished, run.flows, run.cpu_s,
    )
}

/// Does `work`, and prints `what` if the work takes long.
pub fn say_if_long<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let (end, ended) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if ended.recv_timeout(LONG) == Err(RecvTimeoutError::Timeout) {
                say(what);
            }
        });
        let done = work();
        drop(end);
        done
    })
}

/// Prints a line on standard error. Ignores errors, because nobody may be reading.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
