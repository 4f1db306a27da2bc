//! `flowsched lab`: runs an experiment with real packets beside its simulation, into a results
//! folder.

pub mod conduct;
mod ignored;
mod scale;
pub mod simulator;
mod twins;

use std::num::NonZeroUsize;
use std::path::Path;

use flowsched_experiment::results::{Folder, World};
use flowsched_experiment::{Experiment, Level, Scene, SchemeOfScene, WorkloadOfScene};
use flowsched_lab::machine::Needs;
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
    let LabRun { experiment: file, out, resume, tries, pcap, format } = wanted;
    let folder = out.clone().unwrap_or_else(|| folder_of(&file.file));
    let refused = |error: SettingError| unforeseen(&file.file, &error);
    let experiment = output::read(file)?;
    check(&experiment).map_err(refused)?;
    check_machine(&experiment)?;
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
    let simulator = simulator::simulator(captures, conducts, *tries);
    run_by(&arguments, both, World::Lab, simulator, &show)
}

/// Adds how late the lab was, and the scale, to the results, writes their page, and prints them.
fn show(dir: &Path, format: Format, scale: &[String]) -> Result<(), Failure> {
    let mut folder = Folder::open(dir)?;
    folder.note_lab(conduct::read(dir), scale.to_owned())?;
    output::report(dir, format)?;
    for warning in flowsched_report::lab_warnings(folder.summary()) {
        say(&format!("warning: {warning}"));
    }
    Ok(())
}

/// Refuses settings that have no form on real packets, before anything runs.
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

/// Refuses a machine, or a user, that cannot run the experiment.
pub fn check_machine(experiment: &Experiment) -> Result<(), Failure> {
    let is_served = |scene: &Scene| !scene.workload.parts_of_memcached().is_empty();
    let has_agents = |scheme: &SchemeOfScene| match &scheme.level {
        Level::Packets(scheme) => matches!(
            scheme.on_linux(),
            Ok(RealHosts::Kernel(LinuxHosts { tags: HostTags::BytesSent(_), .. }))
        ),
        Level::Flows(_) => false,
    };
    let needs = Needs {
        agent: experiment.scenes.iter().any(|scene| scene.schemes.iter().any(has_agents)),
        memcached: experiment.scenes.iter().any(is_served),
    };
    needs.check().map_err(|error| Failure::World(error.into()))
}

/// Refuses a scheme that real hosts do not run, or not beside memcached.
fn check_hosts(scheme: &Scheme, workload: &WorkloadOfScene) -> Result<(), SettingError> {
    let why = match scheme.on_linux()? {
        RealHosts::OverUdp(_) => {
            "are the simulator's, over UDP, and memcached needs the kernel's TCP"
        }
        RealHosts::Kernel(LinuxHosts { tags: HostTags::AtTheEdge { .. }, .. }) => {
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
    let problem = "`application_rate` is of simulated flows only: in the lab applications hand over each flow \
                   at once. Remove it.";
    SettingError::sentence("workload.application_rate", problem.to_owned())
}
