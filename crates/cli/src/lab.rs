//! `flowsched lab`: an experiment with real packets, into a results folder, beside its simulation.

pub mod conduct;
mod ignored;
mod scale;
pub mod simulator;
mod twins;

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;

use flowsched_experiment::results::{Folder, World};
use flowsched_experiment::{Experiment, Level, Scene, WorkloadOfScene};
use flowsched_lab::memcached::Servers;
use flowsched_lab::namespaces::owner;
use flowsched_lab::run::Lab;
use flowsched_run::{SettingError, no_packets};
use flowsched_schemes::Scheme;
use flowsched_schemes::on_linux::{HostTags, LinuxHosts, RealHosts};

use crate::arguments::{self, Format, LabRun};
use crate::captures;
use crate::failure::{Failure, unforeseen};
use crate::output;
use crate::progress::say;
use crate::run::{folder_of, run_by};
use conduct::Conducts;

/// Carries out a command of the lab.
pub fn lab(command: &arguments::Lab) -> Result<(), Failure> {
    match command {
        arguments::Lab::Run(wanted) => run(wanted),
        arguments::Lab::Down => {
            let removed = owner::clean_up(Path::new(owner::FOLDER))
                .map_err(|error| Failure::World(error.into()))?;
            let what = if removed == 1 { "folder" } else { "folders" };
            output::print(&format!("removed {removed} {what} of ended labs\n"))
        }
    }
}

fn run(wanted: &LabRun) -> Result<(), Failure> {
    let LabRun { experiment: file, out, resume, pcap, format } = wanted;
    let folder = out.clone().unwrap_or_else(|| folder_of(&file.file));
    let refused = |error: SettingError| unforeseen(&file.file, &error);
    let experiment = output::read(file)?;
    check(&experiment).map_err(refused)?;
    check_programs(&experiment)?;
    for warning in ignored::warnings(&experiment) {
        say(&format!("warning: {warning}"));
    }
    let scale = scale::statement(&experiment).map_err(refused)?;
    let arguments = arguments::Run {
        experiment: file.clone(),
        out: out.clone(),
        resume: *resume,
        threads: Some(NonZeroUsize::MIN),
        pcap: pcap.clone(),
        format: *format,
    };
    let captures = captures::wanted(&arguments, &folder, &experiment)?;
    let conducts = Conducts::new(&folder, *resume);
    let show = |dir: &Path| show(dir, *format, &scale);
    let both = twins::beside_simulations(experiment);
    let simulator = simulator::simulator(captures, conducts, NonZeroU32::MIN);
    run_by(&arguments, both, World::Lab, simulator, &show)
}

/// Prints the results, how late the lab was, and the scale.
fn show(dir: &Path, format: Format, scale: &[String]) -> Result<(), Failure> {
    let runs = conduct::read(dir);
    if format == Format::Json {
        let summary = serde_json::to_value(Folder::open(dir)?.summary());
        let mut json = summary.unwrap_or_default();
        json["lab"] = conduct::to_value(&runs);
        json["scale"] = scale.into();
        return output::print(&format!("{json:#}\n"));
    }
    output::report(dir, format)?;
    let folder = Folder::open(dir)?;
    let pairs = twins::pairs(folder.summary());
    let beside = flowsched_report::beside(folder.summary(), &pairs, textwrap::termwidth());
    output::print(&format!("\nThe lab beside the simulation\n{beside}"))?;
    output::print(&conduct::table(&runs, dir))?;
    output::print(&format!("\nScale\n  {}\n", scale.join("\n  ")))?;
    conduct::warn(&runs);
    Ok(())
}

/// Refuses what has no form on real packets, before anything runs.
pub fn check(experiment: &Experiment) -> Result<(), SettingError> {
    for scene in &experiment.scenes {
        Lab::check_hosts(&scene.network()?)?;
        if scene.workload.has_application_rates() {
            return Err(no_application_rates());
        }
        if scene.probe.is_some() {
            let problem = "The lab records nothing over time. Remove `[probe]`, or run the file with \
                           `flowsched run`.";
            return Err(SettingError::sentence("probe", problem));
        }
        twins::check_names(&scene.schemes)?;
        for scheme in &scene.schemes {
            match &scheme.level {
                Level::Packets(scheme) => check_hosts(scheme, &scene.workload)?,
                Level::Flows(_) => return Err(no_packets()),
            }
        }
    }
    Ok(())
}

/// Refuses an experiment whose programs this machine does not have.
fn check_programs(experiment: &Experiment) -> Result<(), Failure> {
    let is_served = |scene: &Scene| !scene.workload.parts_of_memcached().is_empty();
    if experiment.scenes.iter().any(is_served) {
        Servers::check_program().map_err(|error| Failure::World(error.into()))?;
    }
    Ok(())
}

/// Refuses a scheme that real hosts do not run, or not beside memcached.
fn check_hosts(scheme: &Scheme, workload: &WorkloadOfScene) -> Result<(), SettingError> {
    let why = match scheme.on_linux()? {
        RealHosts::OverUdp => "speak its own protocol over UDP",
        RealHosts::Kernel(LinuxHosts { tags: HostTags::AtTheEdge, .. }) => {
            "have to know when flows begin, which memcached does not tell"
        }
        RealHosts::Kernel(_) => return Ok(()),
    };
    if workload.parts_of_memcached().is_empty() {
        return Ok(());
    }
    let problem =
        format!("the hosts of the scheme {why}. Remove `served_by`, or run another scheme.");
    Err(SettingError::sentence("workload.part.served_by", problem))
}

fn no_application_rates() -> SettingError {
    let problem = "`application_rate` is of simulated flows only: in the lab each flow is handed to TCP at \
                   once. Remove it.";
    SettingError::sentence("workload.application_rate", problem.to_owned())
}
