//! `flowsched`, the command: reads arguments, calls the other crates, and prints.
//!
//! What lives here: the command line, progress and signals, and what is printed. What may not: anything that shapes a
//! result.

mod advise;
mod arguments;
mod captures;
mod diff;
mod failure;
mod flows;
#[cfg(feature = "lab")]
mod lab;
mod list;
mod memory;
mod output;
mod program;
mod progress;
mod reference;
mod reproduce;
mod run;
mod search;
mod signals;
mod store;
mod switch_config;
mod thresholds;
mod traffic;

use std::process::ExitCode;

use arguments::{Cli, Command, ExperimentFile};
use clap::{CommandFactory, Parser};
use clap_mangen::Man;
use failure::Failure;
use output::print;

fn main() -> ExitCode {
    let done = match Cli::try_parse() {
        Ok(cli) => signals::make_file_limits_errors().and_then(|()| carry_out(cli.command)),
        // The user asked for help or the version.
        Err(message) if !message.use_stderr() => {
            message.print().map(|()| ExitCode::SUCCESS).map_err(Failure::from)
        }
        Err(mistake) => {
            // Nobody may be reading this, but the exit status still tells.
            let _ = mistake.print();
            return ExitCode::from(2);
        }
    };
    done.unwrap_or_else(|failure| {
        output::explain(&failure);
        ExitCode::from(failure.exit_status())
    })
}

fn carry_out(command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Run(arguments) => run::run(&arguments)?,
        Command::Report { dirs, out } => traffic::report(&dirs, out.as_deref())?,
        Command::Diff(wanted) => print(&diff::diff(&wanted)?)?,
        Command::Store(wanted) => print(&store::store(&wanted)?)?,
        Command::List { what } => print(&list::list(what))?,
        Command::Check(file) => print(&checked(&file)?)?,
        Command::Search(wanted) => search::search(&wanted)?,
        Command::Reproduce(wanted) => reproduce::reproduce(&wanted)?,
        Command::Explain { claim } => reproduce::explain(&claim)?,
        Command::Traffic(wanted) => traffic::traffic(&wanted)?,
        Command::Flows(wanted) => flows::flows(&wanted)?,
        Command::Thresholds(wanted) => print(&thresholds::thresholds(&wanted)?)?,
        Command::SwitchConfig(wanted) => switch_config::run(&wanted)?,
        Command::Advise(wanted) => advise::advise(&wanted)?,
        #[cfg(feature = "lab")]
        Command::Lab(lab) => lab::lab(&lab)?,
        #[cfg(feature = "agent")]
        Command::Agent(arguments) => return Ok(flowsched_agent::run(arguments)),
        #[cfg(feature = "controller")]
        Command::Controller(arguments) => return Ok(flowsched_controller::run(arguments)),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "flowsched", &mut script);
            print(&String::from_utf8_lossy(&script))?;
        }
        Command::Man { command } => manual_page(command.as_deref())?,
        Command::Reference { page } => print(&reference::page(page))?,
        Command::Pages { folder } => reproduce::write_pages(&folder)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Describes what an experiment without mistakes is going to run.
fn checked(file: &ExperimentFile) -> Result<String, Failure> {
    let experiment = output::read(file)?;
    let size = run::size(file, &experiment, run::threads(None))?;
    let count = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    };
    let schemes = experiment.scenes.first().map_or(0, |scene| scene.schemes.len());
    Ok(format!(
        "{}: no mistakes; {}, {}, {}: {}\n{size}\n",
        experiment.name,
        count(schemes, "scheme"),
        count(experiment.scenes.len(), "point"),
        count(experiment.seeds as usize, "seed"),
        count(experiment.runs().len(), "run"),
    ))
}

fn manual_page(command: Option<&str>) -> Result<(), Failure> {
    let mut flowsched = Cli::command();
    flowsched.build();
    let page = match command {
        None => flowsched,
        Some(name) => {
            let known = flowsched.find_subcommand(name).filter(|command| !command.is_hide_set());
            let Some(command) = known else {
                let names = Cli::command();
                let names = names.get_subcommands().filter(|command| !command.is_hide_set());
                return Err(failure::unknown_command(name, names.map(clap::Command::get_name)));
            };
            let display_name = format!("flowsched-{name}");
            command.clone().display_name(display_name)
        }
    };
    let mut text = Vec::new();
    Man::new(page).render(&mut text)?;
    print(&String::from_utf8_lossy(&text))
}
