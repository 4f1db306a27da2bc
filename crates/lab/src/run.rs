//! A run of the lab: an experiment's flows, between real hosts, through its network.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flowsched_schemes::controller::Controller;
use flowsched_schemes::on_linux::{AgentTags, HostTags, LinuxHosts, RealHosts};
use flowsched_schemes::packet::Header;
use flowsched_schemes::port::Port;
use flowsched_schemes::tagger::Tagging;
use flowsched_schemes::transport::Transport;
use flowsched_schemes::world::{
    Controllers, FlowOutcome, Outcome, Parts, PortSample, Ports, Progress, Watch, World,
};
use flowsched_schemes::{Packet, Scheme};
use flowsched_sim::Job;
use flowsched_topology::Network;
use flowsched_units::{Bytes, PACKET_WIRE, SettingError, Time};
use flowsched_workload::LONGEST_RUN;

use crate::address::MOST_HOSTS;
use crate::agents::Agents;
use crate::clock::Clock;
use crate::code_points::levels;
use crate::conduct::Conduct;
use crate::congestion::Congestion;
use crate::datagrams::{Datagrams, Sockets};
use crate::error::LabError;
use crate::hosts::Hosts;
use crate::namespaces::owner;
use crate::stack::Stack;
use crate::switch::{Levels, Switch};
use crate::tap::Tap;
use crate::traffic::{Manners, Tags, Traffic};

/// From when everything is ready until time 0.
const AHEAD: Duration = Duration::from_millis(50);

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
    /// A lab that keeps its folder in this one.
    pub fn in_folder(folder: &Path) -> Lab {
        Lab { folder: folder.to_owned(), agent: None }
    }

    /// The same, with a program that tags packets as `PROGRAM agent start`.
    #[must_use]
    pub fn with_agent(self, program: PathBuf) -> Lab {
        Lab { agent: Some(program), ..self }
    }

    /// Refuses a network of too many hosts, or of too few.
    ///
    /// # Errors
    /// That of the key `topology`.
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

    /// Runs a job under a scheme in real time. Also says how well the lab kept to it.
    ///
    /// # Errors
    /// If the scheme does not run on real packets, or the system refuses something.
    pub fn run(
        &self,
        job: &Job<'_>,
        scheme: &Scheme,
        watch: &mut Watch<'_>,
    ) -> Result<(Outcome, Conduct), LabError> {
        let job = &job.under(scheme);
        match scheme.on_linux()? {
            RealHosts::Kernel(on_linux) => {
                let congestion = Congestion::prepare(&on_linux.control)?;
                self.run_kernel(on_linux, &congestion, job, scheme, watch)
            }
            RealHosts::OverUdp => scheme.run_in(OverUdp { job, folder: &self.folder, watch }),
        }
    }

    /// The same with the kernel's TCP.
    pub(crate) fn run_kernel(
        &self,
        on_linux: LinuxHosts,
        congestion: &Congestion,
        job: &Job<'_>,
        scheme: &Scheme,
        watch: &mut Watch<'_>,
    ) -> Result<(Outcome, Conduct), LabError> {
        let stack = Stack::Kernel(&on_linux, congestion);
        let (hosts, cables) = Hosts::up(job.network.host_count(), &stack, &self.folder)?;
        let (_agents, priorities) = match &on_linux.tags {
            HostTags::None => (None, 1),
            HostTags::Size(sizes) => (None, sizes.priorities()),
            HostTags::BytesSent(tags) => {
                let program = self.agent.as_deref().ok_or(LabError::NoAgent)?;
                let agents = Agents::start(&hosts, tags, program)?;
                (Some(agents), tags.thresholds.len() + 1)
            }
        };
        let levels = levels(priorities);
        scheme.run_in(OverTcp { job, hosts, cables, on_linux, levels, watch })
    }
}

/// The lab as a world whose hosts have the kernel's TCP.
struct OverTcp<'j, 'n, 'w, 's> {
    job: &'j Job<'n>,
    hosts: Hosts,
    cables: Vec<Tap>,
    on_linux: LinuxHosts,
    levels: Levels,
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
        debug_assert!(!C::Controller::IS_THERE, "hosts speak plain TCP");
        let OverTcp { job, hosts, cables, on_linux, levels, watch } = self;
        let clock = Clock::starting_in(AHEAD);
        let Parts { ports, controllers, .. } = parts;
        let switch = Switch::new(job, &ports, &controllers, cables, levels, clock);
        let tags = match on_linux.tags {
            HostTags::BytesSent(AgentTags { message_idle: None, .. }) => Tags::Announced,
            HostTags::Size(sizes) => Tags::Size(Arc::new(sizes)),
            HostTags::None | HostTags::BytesSent(_) => Tags::None,
        };
        let manners = Manners { open_connections: on_linux.open_connections, tags };
        let traffic = Traffic::new(job.flows, &hosts, manners, clock)?;
        play(job, switch, clock, watch, |until, progress| traffic.play(until, progress))
    }
}

/// The lab as a world whose hosts speak the scheme's own protocol.
struct OverUdp<'j, 'n, 'w, 's> {
    job: &'j Job<'n>,
    /// Where labs keep their folders.
    folder: &'j Path,
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
        let OverUdp { job, folder, watch } = self;
        let codec = T::Header::CODEC.ok_or(LabError::NoCodec)?;
        let stack = Stack::OverUdp(T::Header::WIRE_BYTES);
        let (hosts, cables) = Hosts::up(job.network.host_count(), &stack, folder)?;
        let sockets = Sockets::open(&hosts)?;
        let clock = Clock::starting_in(AHEAD);
        let Parts { transport, tagger, ports, controllers } = parts;
        let switch = Switch::new(job, &ports, &controllers, cables, levels(1), clock);
        play(job, switch, clock, watch, |until, progress| {
            Datagrams::new(job, (transport, tagger), codec, sockets, clock).play(until, progress)
        })
    }
}

/// Has hosts play the flows in one thread, and the switch bring packets in another, until the hosts have done.
fn play<H, P, C>(
    job: &Job<'_>,
    mut switch: Switch<'_, Tap, H, P, C>,
    clock: Clock,
    watch: &mut Watch<'_>,
    hosts: impl FnOnce(Time, &Progress) -> Result<(Vec<FlowOutcome>, Time), LabError> + Send,
) -> Result<(Outcome, Conduct), LabError>
where
    H: Header,
    P: Port<Packet<H>>,
    C: Controller<H>,
{
    let until = job.until.map_or(LONGEST_RUN, |until| until.min(LONGEST_RUN));
    let is_over = AtomicBool::new(false);
    let (progress, samples) = (watch.progress, &mut watch.samples);
    let mut ports = Vec::new();
    let played = std::thread::scope(|scope| {
        let player = scope.spawn(|| {
            let played = hosts(until, progress);
            is_over.store(true, Ordering::Relaxed);
            played
        });
        let switched = switch.run(&is_over, job.sample_interval, |network, now| {
            network.sample(now, &mut ports);
            if samples(&ports).is_break() {
                progress.stop.store(true, Ordering::Relaxed);
            }
            ports.clear();
        });
        if switched.is_err() {
            progress.stop.store(true, Ordering::Relaxed);
        }
        let played = player.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        switched.map_err(|error| LabError::system("switch packets", error)).and(played)
    });
    let (flows, latest_start) = played?;
    let end = clock.now();
    let network = switch.network();
    let settled = end.min(network.next());
    network.sample(settled, &mut ports);
    let is_stopped = samples(&ports).is_break() || progress.stop.load(Ordering::Relaxed);
    let conduct = Conduct::new(switch.counts(), latest_start, packet_time(job.network));
    let lost = switch.network().losses().lost();
    Ok((outcome(flows, &ports, lost, end, is_stopped), conduct))
}

/// What a full packet takes on the slowest link.
fn packet_time(network: &Network) -> Time {
    let packet = Bytes::new(PACKET_WIRE);
    let times = network.ports().iter().map(|port| port.rate.transmission_time(packet));
    times.max().unwrap_or_default()
}

fn outcome(
    flows: Vec<FlowOutcome>,
    ports: &[PortSample],
    drops: u64,
    end: Time,
    stopped: bool,
) -> Outcome {
    Outcome {
        packet_hops: ports.iter().map(|port| port.sent_packets).sum(),
        drops,
        ecn_marks: ports.iter().map(|port| port.marks).sum(),
        timeouts: flows.iter().map(|flow| u64::from(flow.timeouts.all)).sum(),
        retransmissions: flows.iter().map(|flow| u64::from(flow.retransmissions)).sum(),
        stopped,
        end,
        flows,
        ..Outcome::default()
    }
}
