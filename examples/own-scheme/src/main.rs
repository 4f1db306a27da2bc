//! Compares a scheme of our own with DCTCP and PIAS.

mod congestion;
mod tagger;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use flowsched_experiment::results::{Program, Summary};
use flowsched_experiment::{Arguments, Experiment};
use flowsched_run::{Outcome, SettingError, Simulation};
use flowsched_schemes::Parts;
use flowsched_schemes::controller::NoController;
use flowsched_schemes::port::{QueuePart, StrictPriority};
use flowsched_schemes::transport::tcp::{Tcp, settings::TcpSettings};

use congestion::LastWindow;
use tagger::PacketsSent;

fn main() -> ExitCode {
    match compare() {
        Ok(summary) => print!("{}", flowsched_report::terminal(&summary, 80)),
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Runs every scheme of the experiment, and leaves its results in a folder.
fn compare() -> Result<Summary, Box<dyn Error>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("experiment.toml");
    let experiment = Experiment::read(&file, &Arguments::default())?;
    let program = Program { command: "own-scheme".to_owned(), ..Program::default() };
    let results = Path::new("results/own-scheme");
    Ok(flowsched_run::run(experiment, results, program, simulate)?)
}

/// Simulates the scheme "own" with the parts of this program, and the others as the file says.
fn simulate(run: Simulation<'_>) -> Result<Outcome, SettingError> {
    let scheme = run.scheme();
    if scheme.name != "own" {
        return run.run();
    }
    let ports = StrictPriority::build(&scheme.settings)?.ports().clone();
    run.run_parts(Parts {
        transport: Tcp::new(TcpSettings::from_settings(&scheme.settings), LastWindow),
        tagger: PacketsSent { lowest: ports.queues() as u8 - 1 },
        ports,
        controllers: |_| NoController,
    })
}
