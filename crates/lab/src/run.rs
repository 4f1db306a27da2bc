//! Runs an experiment in the lab: its flows cross its network between real hosts.

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use flowsched_capture::Captures;
use flowsched_schemes::Scheme;
use flowsched_schemes::on_linux::{AgentTags, HostTags, LinuxHosts, RealHosts, UdpHosts};
use flowsched_schemes::packet::Header;
use flowsched_schemes::tagger::Tagging;
use flowsched_schemes::transport::Transport;
use flowsched_schemes::world::{Controllers, Outcome, Parts, PortSample, Ports, Watch, World};
use flowsched_sim::Job;
use flowsched_topology::Network;
use flowsched_units::SettingError;

use crate::address::MOST_HOSTS;
use crate::agents::Agents;
use crate::bursts::Bursts;
use crate::clock::Clock;
use crate::code_points::levels;
use crate::conduct::Conduct;
use crate::congestion::Congestion;
use crate::datagrams::{Datagrams, Sockets};
use crate::edge::{Shared, edges};
use crate::error::LabError;
use crate::hosts::Hosts;
use crate::machine::Needs;
use crate::memcached::{Queries, Servers};
use crate::namespaces::owner;
use crate::play::play;
use crate::players::Split;
use crate::stack::Stack;
use crate::switch::Switch;
use crate::switch::form::Form;
use crate::switch::headers::Levels;
use crate::tap::{Cable, Tap};
use crate::traffic::{Manners, Pool, Tags, Traffic};

/// The time from when everything is ready until time 0.
const AHEAD: Duration = Duration::from_millis(50);

/// The inputs of a run beside its job and scheme.
#[derive(Debug, Default)]
pub struct Extras {
    /// The ports whose frames are captured.
    pub captures: Captures,
    /// For each flow, whether it is a value that its receiver gets from a memcached on its sender. If
    /// this is empty, no flow is.
    pub memcached: Vec<bool>,
}

/// Runs experiments between hosts of this machine.
#[derive(Clone, Debug)]
pub struct Lab {
    /// Where labs keep their folders.
    folder: PathBuf,
    /// The program that tags packets as `PROGRAM agent start`, if there is one.
    agent: Option<PathBuf>,
}

impl Default for Lab {
    fn default() -> Lab {
        Lab::in_folder(Path::new(owner::FOLDER))
    }
}

impl Lab {
    /// A lab that keeps its folder in `folder`.
    pub fn in_folder(folder: &Path) -> Lab {
        Lab { folder: folder.to_owned(), agent: None }
    }

    /// This lab with a program that tags packets as `PROGRAM agent start`.
    #[must_use]
    pub fn with_agent(self, program: PathBuf) -> Lab {
        Lab { agent: Some(program), ..self }
    }

    /// Refuses a network of too many hosts, or of too few.
    ///
    /// # Errors
    /// A setting error of the key `topology`.
    pub fn check_hosts(network: &Network) -> Result<(), SettingError> {
        let found = network.host_count();
        if (2..=MOST_HOSTS).contains(&found) {
            return Ok(());
        }
        let problem = format!(
            "The lab runs 2 to {MOST_HOSTS} hosts, and the topology has {found}. Change its number of \
             hosts."
        );
        Err(SettingError::sentence("topology", problem))
    }

    /// Runs a job under a scheme in real time. Also returns how well the lab kept to real time. Samples go to `watch` in
    /// the calling thread, which may wait for a disk; the threads of the run do not wait for it.
    ///
    /// # Errors
    /// If the scheme does not run on real packets, or the system refuses a request.
    pub fn run(
        &self,
        job: &Job<'_>,
        scheme: &Scheme,
        extras: Extras,
        watch: &mut Watch<'_>,
    ) -> Result<(Outcome, Conduct), LabError> {
        Needs { agent: false, memcached: extras.memcached.contains(&true) }.check()?;
        let (progress, threads) = (watch.progress, watch.threads);
        let (hand_on, handed_on) = channel::<Vec<PortSample>>();
        thread::scope(|scope| {
            let running = scope.spawn(move || {
                let mut keep = |samples: &[PortSample]| {
                    // If nobody receives, the other side has panicked, and this scope ends with that panic.
                    let _ = hand_on.send(samples.to_vec());
                    ControlFlow::Continue(())
                };
                let mut watch = Watch { threads, progress, samples: &mut keep, probing: None };
                self.run_in_this_thread(job, scheme, extras, &mut watch)
            });
            for samples in handed_on {
                if (watch.samples)(&samples).is_break() {
                    progress.stop.store(true, Ordering::Relaxed);
                }
            }
            running.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
    }

    fn run_in_this_thread(
        &self,
        job: &Job<'_>,
        scheme: &Scheme,
        extras: Extras,
        watch: &mut Watch<'_>,
    ) -> Result<(Outcome, Conduct), LabError> {
        let job = &job.under(scheme);
        match scheme.on_linux()? {
            RealHosts::Kernel(on_linux) => {
                let congestion = Congestion::prepare(&on_linux.control)?;
                self.run_kernel(on_linux, &congestion, job, scheme, extras, watch)
            }
            RealHosts::OverUdp(_) if extras.memcached.contains(&true) => Err(LabError::NoTcp),
            RealHosts::OverUdp(UdpHosts { rto_min, .. }) => {
                let (folder, captures) = (self.folder.as_path(), extras.captures);
                let (outcome, conduct) = scheme.run_in(OverUdp { job, folder, captures, watch })?;
                Ok((outcome, Conduct { least_timeout: rto_min, ..conduct }))
            }
        }
    }

    /// Runs a job between hosts with the kernel's TCP.
    pub(crate) fn run_kernel(
        &self,
        on_linux: LinuxHosts,
        congestion: &Congestion,
        job: &Job<'_>,
        scheme: &Scheme,
        extras: Extras,
        watch: &mut Watch<'_>,
    ) -> Result<(Outcome, Conduct), LabError> {
        let stack = Stack::Kernel(&on_linux, congestion);
        let (hosts, cables) = Hosts::up(job.network.host_count(), &stack, &self.folder)?;
        let (_agents, priorities) = match &on_linux.tags {
            HostTags::None => (None, 1),
            HostTags::Size(sizes) => (None, sizes.priorities()),
            HostTags::AtTheEdge { .. } if extras.memcached.contains(&true) => {
                return Err(LabError::Untold);
            }
            HostTags::AtTheEdge { .. } => (None, scheme.port.queues),
            HostTags::BytesSent(tags) => {
                let program = self.agent.as_deref().ok_or(LabError::NoAgent)?;
                let agents = Agents::start(&hosts, tags, program)?;
                (Some(agents), tags.thresholds.len() + 1)
            }
        };
        let levels = levels(priorities);
        let Extras { captures, memcached } = extras;
        let split = &Split::new(job.flows, &memcached);
        let servers = Servers::start(&hosts, &split.memcached)?;
        let before = servers.waited();
        let least_timeout = Some(on_linux.rto_min);
        let (outcome, conduct) = scheme.run_in(OverTcp {
            job,
            split,
            hosts,
            cables,
            on_linux,
            levels,
            captures,
            watch,
        })?;
        let waited = servers.waited().saturating_sub(before);
        let server_wait = waited.as_secs_f64() / outcome.end.as_secs_f64().max(f64::MIN_POSITIVE);
        Ok((outcome, Conduct { server_wait, least_timeout, ..conduct }))
    }
}

/// The lab as a world whose hosts have the kernel's TCP.
struct OverTcp<'j, 'n, 'w, 's> {
    job: &'j Job<'n>,
    split: &'j Split,
    hosts: Hosts,
    cables: Vec<Tap>,
    on_linux: LinuxHosts,
    levels: Levels,
    captures: Captures,
    watch: &'w mut Watch<'s>,
}

impl World for OverTcp<'_, '_, '_, '_> {
    type Output = Result<(Outcome, Conduct), LabError>;

    fn run<T, G, P, C>(self, parts: Parts<T, G, P, C>) -> Self::Output
    where
        T: Transport,
        G: Tagging<T::Header>,
        P: Ports<T::Header>,
        C: Controllers<T::Header>,
    {
        let OverTcp { job, split, hosts, cables, on_linux, levels, captures, watch } = self;
        let Parts { tagger, ports, controllers, .. } = parts;
        let form = Form::of_kernel(&on_linux.tags).ok_or(LabError::NoForm)?;
        let bursts = Arc::new(Bursts::default());
        let LinuxHosts { open_connections, max_window, tags, .. } = on_linux;
        let tags = match tags {
            HostTags::BytesSent(AgentTags { message_idle: None, .. }) => Tags::Announced,
            HostTags::Size(sizes) => Tags::Size(Arc::new(sizes)),
            HostTags::AtTheEdge { .. } => Tags::Told(bursts.clone()),
            HostTags::None | HostTags::BytesSent(_) => Tags::None,
        };
        let manners = Manners { open_connections, max_window, tags };
        // Making sockets takes long, so time 0 comes after it.
        let division = hosts.division().cloned();
        let pool = Pool::new(&hosts, manners, &split.traffic)?;
        let queries = Queries::new(&split.memcached, &hosts)?;
        let clock = Clock::starting_in(AHEAD);
        let cables: Vec<Box<dyn Cable + '_>> = match form {
            Form::Tunnel(tunnel) => {
                let priorities = usize::from(levels[0]) + 1;
                edges(job.network, cables, Shared { tagger, tunnel, bursts, priorities, clock })
            }
            _ => cables.into_iter().map(|cable| Box::new(cable) as _).collect(),
        };
        let switch = Switch::new(job, &ports, controllers, cables, (form, levels), clock, captures);
        let traffic = Traffic::new(&split.traffic, pool, clock)?;
        play(job, switch, clock, division.as_ref(), watch, |until, progress| {
            split.play(traffic, queries, clock, until, progress)
        })
    }
}

/// The lab as a world whose hosts are the simulator's.
struct OverUdp<'j, 'n, 'w, 's> {
    job: &'j Job<'n>,
    /// Where labs keep their folders.
    folder: &'j Path,
    captures: Captures,
    watch: &'w mut Watch<'s>,
}

impl World for OverUdp<'_, '_, '_, '_> {
    type Output = Result<(Outcome, Conduct), LabError>;

    fn run<T, G, P, C>(self, parts: Parts<T, G, P, C>) -> Self::Output
    where
        T: Transport,
        G: Tagging<T::Header>,
        P: Ports<T::Header>,
        C: Controllers<T::Header>,
    {
        let OverUdp { job, folder, captures, watch } = self;
        let codec = T::Header::CODEC.ok_or(LabError::NoForm)?;
        let form = (Form::Datagrams(codec), levels(1));
        let stack = Stack::OverUdp(T::Header::WIRE_BYTES);
        let (hosts, cables) = Hosts::up(job.network.host_count(), &stack, folder)?;
        let sockets = Sockets::open(&hosts)?;
        let clock = Clock::starting_in(AHEAD);
        let Parts { transport, tagger, ports, controllers } = parts;
        let switch = Switch::new(job, &ports, controllers, cables, form, clock, captures);
        play(job, switch, clock, hosts.division(), watch, |until, progress| {
            Datagrams::new(job, (transport, tagger), codec, sockets, clock).play(until, progress)
        })
    }
}
