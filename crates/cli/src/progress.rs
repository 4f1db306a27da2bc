//! How far the runs are, on standard error: a bar on a terminal, a line a run elsewhere.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use flowsched_experiment::results::RunRecord;
use flowsched_sim::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often the bar is drawn.
const INTERVAL: Duration = Duration::from_millis(100);

/// Shows progress until it is dropped.
pub struct Display {
    runs: usize,
    bar: Option<Bar>,
}

struct Bar {
    bar: ProgressBar,
    /// Dropped to end the drawing.
    end: Option<Sender<()>>,
    drawing: Option<JoinHandle<()>>,
}

impl Display {
    /// For so many runs of so many flows in all.
    pub fn new(runs: usize, flows: u64, progress: &Arc<Progress>) -> Display {
        let on_terminal = std::io::stderr().is_terminal();
        Display { runs, bar: on_terminal.then(|| Bar::draw(runs, flows, progress.clone())) }
    }

    /// One more run is there, the `count`th.
    pub fn finished(&self, count: usize, run: &RunRecord) {
        match &self.bar {
            Some(Bar { bar, .. }) => bar.set_message(format!("run {count} of {}", self.runs)),
            None => say(&line(count, self.runs, run)),
        }
    }
}

impl Bar {
    fn draw(runs: usize, flows: u64, progress: Arc<Progress>) -> Bar {
        let bar = ProgressBar::with_draw_target(Some(flows), ProgressDrawTarget::stderr());
        let template = "{wide_bar} {percent:>3}% of {len} flows, {msg}, {eta} left";
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(format!("run 0 of {runs}"));
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

fn line(count: usize, runs: usize, run: &RunRecord) -> String {
    let finished = run.flows.iter().filter(|flow| flow.finished()).count();
    let point = if run.point.is_empty() { String::new() } else { format!(" at {}", run.point) };
    let stopped = if run.stopped { ", cut short" } else { "" };
    let done = match run.counters.packet_hops {
        0 => format!("{:.1} M events", run.counters.events as f64 / 1e6),
        hops => format!("{:.1} M packet-hops", hops as f64 / 1e6),
    };
    format!(
        "run {count} of {runs}: {} with seed {}{point}: {finished} of {} flows finished, \
         {done} in {:.1} s{stopped}",
        run.scheme,
        run.seed,
        run.flows.len(),
        run.counters.cpu_s,
    )
}

/// Says something on standard error; nobody may be listening.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
