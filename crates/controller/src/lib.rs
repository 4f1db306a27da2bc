//! The controller of a fleet: collects flow sizes from agents, chooses thresholds, and distributes
//! them (PIAS ToN 2017, I, III-B.1, III-C).
//!
//! What lives here: collecting (`scrape`, `prometheus`), deciding (`decide`, `rollout`), and
//! distributing (`serve`, `etcd`). What may not: how agents tag packets, and what they accept.
//! The code that decides is pure: it reads no clock, no file and no network.

mod args;
mod board;
mod certificates;
mod config;
mod daemon;
mod decide;
mod error;
mod etcd;
mod folder;
mod http;
mod local;
mod log;
mod prometheus;
mod rollout;
mod sample;
mod scrape;
mod serve;
mod windows;

use std::process::ExitCode;

pub use args::ControllerArgs;
pub use config::{Config, Guard};
pub use decide::{Decision, Reason, Situation, decide};
pub use error::ControllerError;
pub use windows::{Window, Windows};

use args::{ConfigArgs, ControllerCommand};
use flowsched_units::Bytes;
use folder::Folder;
use http::Server;
use prometheus::Queries;
use rollout::State;
use scrape::Collected;
use tokio::runtime::Builder;

/// Runs a command, and prints its error on standard error.
pub fn run(args: ControllerArgs) -> ExitCode {
    match carry_out(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("flowsched controller: error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn carry_out(args: &ControllerArgs) -> Result<(), ControllerError> {
    match &args.command {
        ControllerCommand::Run(ConfigArgs { config }) => wait(daemon::run(Config::read(config)?)),
        ControllerCommand::Status(ConfigArgs { config }) => wait(status(&Config::read(config)?)),
        ControllerCommand::Decide(decide) => wait(dry_run(&Config::read(&decide.config.config)?)),
        ControllerCommand::Certificates(wanted) => certificates::run(wanted),
    }
}

/// Blocks until a task ends.
fn wait(task: impl Future<Output = Result<(), ControllerError>>) -> Result<(), ControllerError> {
    let failed = |e: std::io::Error| ControllerError::Failed(format!("cannot start threads: {e}"));
    let runtime =
        Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(failed)?;
    let result = runtime.block_on(task);
    // A decision in another thread may take long, and its result is no longer needed.
    runtime.shutdown_background();
    result
}

async fn status(config: &Config) -> Result<(), ControllerError> {
    let url = format!("http://{}", config.status);
    let mut server = Server::new(&url, None, None, http::PAGE).map_err(ControllerError::Failed)?;
    let text = server.get("/status").await.map_err(|error| {
        ControllerError::Failed(format!("{error}; is `flowsched controller run` there?"))
    })?;
    print!("{text}");
    Ok(())
}

/// Decides from the data in Prometheus, or from the data that `run` has collected, and prints
/// the decision of each group.
async fn dry_run(config: &Config) -> Result<(), ControllerError> {
    let folder = Folder::create(&config.state)?;
    for (name, group) in &config.groups {
        let state = folder.read::<State>(daemon::STATE, name)?;
        let state = state.unwrap_or_else(|| State::new(&config.levels.thresholds));
        let server = prometheus::server(&config.collect).map_err(ControllerError::Failed)?;
        let windows = match server {
            Some(mut server) => {
                let queries = Queries::new(&config.collect, group);
                queries.windows(&mut server).await.map_err(ControllerError::Failed)?
            }
            None => {
                let collected: Option<Collected> = folder.read(daemon::COLLECTED, name)?;
                collected.unwrap_or_default().windows
            }
        };
        let current: Vec<Bytes> = state.thresholds.iter().copied().map(Bytes::new).collect();
        let Decision { thresholds, reason } = decide(&Situation {
            windows: &windows,
            link: group.link_rate,
            current: &current,
            unchanged: None,
            guard: &config.guard,
        });
        println!("group {name}: {reason}");
        if let Some(thresholds) = thresholds {
            let list: Vec<String> = thresholds.iter().map(ToString::to_string).collect();
            println!("  thresholds = \"{}\"", list.join(" "));
        }
    }
    println!("Nothing was announced.");
    Ok(())
}
