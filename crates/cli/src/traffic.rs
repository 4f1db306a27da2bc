//! `flowsched traffic`: makes flows between real hosts, and puts the results of several clients
//! together.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flowsched_experiment::results::{World, check_free};
use flowsched_experiment::{Mistake, Mistakes, Place};
use flowsched_traffic::client::{self, Totals};
use flowsched_traffic::config::Config;
use flowsched_traffic::server::Server;
use flowsched_traffic::tables::{self, Head};
use flowsched_traffic::{Settings, TrafficError};

use crate::arguments::{Format, Traffic, TrafficClient};
use crate::failure::Failure;
use crate::output;
use crate::program::program;
use crate::progress::say;

/// Carries out a command.
pub fn traffic(command: &Traffic) -> Result<(), Failure> {
    match command {
        Traffic::Server { listen } => serve(*listen),
        Traffic::Client(wanted) => ask(wanted),
    }
}

fn serve(listen: SocketAddrV4) -> Result<(), Failure> {
    let stop = stop_at_signals()?;
    let mut server = Server::listen(listen).map_err(failed)?;
    let source = |source| Failure::System { what: "ask for the address".into(), source };
    say(&format!("listening on {}", server.address().map_err(source)?));
    server.serve(&stop).map_err(failed)
}

fn ask(wanted: &TrafficClient) -> Result<(), Failure> {
    let TrafficClient { config: file, out, scheme, format, .. } = wanted;
    let config = Config::read(file).map_err(failed)?;
    let settings = settings(wanted, &config)?;
    if scheme.chars().any(char::is_control) || scheme.is_empty() {
        return Err(mistake(Path::new("--scheme"), "a name is one line of text."));
    }
    check_free(out, "")?;
    let stop = stop_at_signals()?;
    let head = Head::now(scheme, settings.seed, own_address(&config.servers), &config.servers);
    let lines = head.create(out).map_err(failed)?;
    let totals = client::run(&config, &settings, lines, &stop).map_err(failed)?;
    say(&summary(&totals));
    if stop.load(Ordering::Relaxed) {
        say("stopped before all requests were made: the results have what was measured until then");
    }
    let program = program().in_world(World::Machines);
    tables::write(std::slice::from_ref(out), out, program).map_err(failed)?;
    output::report(out, *format)?;
    if totals.flows > 0 && totals.finished == 0 && !stop.load(Ordering::Relaxed) {
        return Err(Failure::NoFlow { flows: totals.flows, broken: totals.broken });
    }
    Ok(())
}

/// The client's settings beside its configuration.
fn settings(wanted: &TrafficClient, config: &Config) -> Result<Settings, Failure> {
    let TrafficClient { config: file, seed, load, requests, duration, wait, .. } = wanted;
    if load.is_some_and(|load| load.as_bps() == 0) {
        return Err(mistake(Path::new("--load"), "it is 0. Use a rate above 0, such as 800Mbps."));
    }
    let Some(load) = load.or(config.load) else {
        return Err(mistake(
            file,
            "there is no load. Use --load RATE, or add `load RATE` to the file.",
        ));
    };
    let requests = requests.or(config.requests);
    if requests.is_none() && duration.is_none() {
        let problem = "nothing ends the traffic. Use --requests or --duration, or add `num_reqs NUMBER` to \
                       the file.";
        return Err(mistake(file, problem));
    }
    let wait = Duration::from_nanos(wait.as_ps() / 1_000);
    Ok(Settings { seed: *seed, load, requests, duration: *duration, wait })
}

/// Prints the table of a results folder, or of several clients' folders put together in `out`.
pub fn report(dirs: &[PathBuf], out: Option<&Path>) -> Result<(), Failure> {
    match (dirs, out) {
        ([dir], None) => output::report(dir, Format::Table),
        (_, None) => {
            let problem = "several folders are put together in another one. Name it with --out.";
            Err(mistake(Path::new("report"), problem))
        }
        (dirs, Some(out)) => {
            if let Some(other) = dirs.iter().find(|dir| !tables::is_of_client(dir)) {
                let problem = "`flowsched traffic client` did not write this folder: it has no flows.txt. \
                               Only clients' folders can be put together.";
                return Err(mistake(other, problem));
            }
            if let Some(twice) = twice(dirs) {
                let problem = "this folder is named twice, so that its flows would count twice. Name each \
                               folder once.";
                return Err(mistake(twice, problem));
            }
            tables::write(dirs, out, program().in_world(World::Machines)).map_err(failed)?;
            output::report(out, Format::Table)
        }
    }
}

/// The first folder that is named a second time, in the same words or in others.
fn twice(dirs: &[PathBuf]) -> Option<&PathBuf> {
    let real: Vec<PathBuf> =
        dirs.iter().map(|dir| dir.canonicalize().unwrap_or_else(|_| dir.clone())).collect();
    let is_repeated = |place: &usize| real[..*place].contains(&real[*place]);
    (0..dirs.len()).find(is_repeated).map(|place| &dirs[place])
}

fn summary(totals: &Totals) -> String {
    let Totals { requests, flows, finished, broken, connections, latest_start } = totals;
    let latest = latest_start.as_micros();
    format!(
        "{requests} requests, {flows} flows, {finished} finished, {} unfinished ({broken} broken), \
         {connections} connections; the latest request was {latest} us late",
        flows - finished
    )
}

/// A flag that Ctrl-C and a termination signal set.
fn stop_at_signals() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let registered = signal_hook::flag::register(signal, stop.clone());
        registered.map_err(|source| Failure::System { what: "handle signals".into(), source })?;
    }
    Ok(stop)
}

/// The local address of packets to the first server.
fn own_address(servers: &[SocketAddrV4]) -> Ipv4Addr {
    let ask = || {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
        socket.connect(servers.first()?).ok()?;
        match socket.local_addr().ok()? {
            SocketAddr::V4(address) => Some(*address.ip()),
            SocketAddr::V6(_) => None,
        }
    };
    ask().unwrap_or(Ipv4Addr::UNSPECIFIED)
}

fn mistake(place: &Path, problem: &str) -> Failure {
    let place = Place::Argument(place.display().to_string());
    Mistakes::from(Mistake::new(&place, "", problem)).into()
}

fn failed(error: TrafficError) -> Failure {
    match error {
        TrafficError::Results(error) => error.into(),
        TrafficError::Line { path, line, problem } => {
            let place = match line {
                0 => path,
                _ => PathBuf::from(format!("{}:{line}", path.display())),
            };
            mistake(&place, &problem)
        }
        other => Failure::World(other.into()),
    }
}
