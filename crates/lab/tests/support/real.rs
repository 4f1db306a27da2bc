//! The lab's hosts, with a socket at each card that sees the frames that cross it.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use flowsched_lab::LabError;
use flowsched_lab::address::{ipv4, mac};
use flowsched_lab::bursts::{Burst, Bursts};
use flowsched_lab::clock::Clock;
use flowsched_lab::congestion::Congestion;
use flowsched_lab::datagrams::{Datagrams, Sockets};
use flowsched_lab::edge::{Shared, edges};
use flowsched_lab::hosts::Hosts;
use flowsched_lab::stack::Stack;
use flowsched_lab::switch::form::Form;
use flowsched_lab::switch::headers::Headers;
use flowsched_lab::tap::Tap;
use flowsched_schemes::Scheme;
use flowsched_schemes::on_linux::RealHosts;
use flowsched_schemes::tagger::Tagging;
use flowsched_schemes::transport::Transport;
use flowsched_schemes::world::{Controllers, Ports, Progress};
use flowsched_sim::Job;
use flowsched_topology::HostId;
use flowsched_units::Time;
use flowsched_workload::Flow;

use crate::compared::{Crossed, Frames};
use crate::switched::{Setting, Switched, switched};
use crate::wires::Wire;

/// The first port that receivers listen on.
const PORT: u16 = 6_000;

/// When the simulator's hosts give up.
const LATEST: Time = Time::from_ms(60_000);

/// Hosts that are up.
pub struct Real {
    hosts: Hosts,
    cards: Vec<Wire>,
    _folder: tempfile::TempDir,
}

impl Real {
    /// Makes `count` hosts for a scheme. Over UDP, `header` bytes are added to a full packet.
    /// Also returns the other ends of the hosts' cables.
    pub fn up(count: u32, scheme: &Scheme, header: u32) -> (Real, Vec<Tap>) {
        let folder = tempfile::tempdir().unwrap();
        let (hosts, taps) = match scheme.on_linux().unwrap() {
            RealHosts::Kernel(on_linux) => {
                let congestion = Congestion::prepare(&on_linux.control).unwrap();
                Hosts::up(count, &Stack::Kernel(&on_linux, &congestion), folder.path()).unwrap()
            }
            RealHosts::OverUdp(_) => {
                Hosts::up(count, &Stack::OverUdp(header), folder.path()).unwrap()
            }
        };
        let card = |host| hosts.namespace(host).unwrap().run(|| Ok(Wire::of_card())).unwrap();
        let cards = (0..count).map(HostId).map(card).collect();
        (Real { hosts, cards, _folder: folder }, taps)
    }

    /// The frames that each host has sent to others, and those that it has got.
    fn crossed(&mut self) -> (Frames, Frames) {
        let hosts = self.hosts.count();
        let of_host = |(host, card): (HostId, &mut Wire)| {
            let is_own = |frame: &Vec<u8>| frame[6..12] == mac(host);
            let (mut sent, received): (Vec<_>, Vec<_>) = card.drain().into_iter().partition(is_own);
            // The kernel also speaks to multicast groups.
            sent.retain(|frame| Headers::read(frame, host, hosts).is_some());
            (sent, received)
        };
        (0..).map(HostId).zip(&mut self.cards).map(of_host).unzip()
    }

    /// Sends the flows over the kernel's TCP, all at once, each on a connection of its own.
    fn send_over_tcp(&self, flows: &[Flow], bursts: &Bursts) {
        thread::scope(|scope| {
            for flow in flows {
                let listener = self.inside(flow.dst, || {
                    TcpListener::bind((ipv4(flow.dst), PORT + flow.id as u16))
                });
                scope.spawn(move || {
                    let mut stream = listener.accept().unwrap().0;
                    let read = stream.read_to_end(&mut Vec::new()).unwrap();
                    assert_eq!(read as u64, flow.size.get());
                });
                scope.spawn(|| self.send(flow, bursts));
            }
        });
    }

    fn send(&self, flow: &Flow, bursts: &Bursts) {
        let to = SocketAddr::from((ipv4(flow.dst), PORT + flow.id as u16));
        let mut stream = self.inside(flow.src, || TcpStream::connect(to));
        let (before, size) = (0, flow.size);
        let burst = Burst { flow: flow.id, before, size, deadline: None };
        bursts.begin(stream.local_addr().unwrap(), burst);
        stream.write_all(&vec![0; size.get() as usize]).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
    }

    fn inside<T: Send>(
        &self,
        host: HostId,
        action: impl FnOnce() -> std::io::Result<T> + Send,
    ) -> T {
        let namespace = self.hosts.namespace(host).unwrap();
        let failed = |error| LabError::System { what: "use a socket".into(), source: error };
        namespace.run(|| action().map_err(failed)).unwrap()
    }
}

/// Has the lab's hosts send the job's flows, over UDP if that is the form of packets, and otherwise over the kernel's TCP.
pub fn from_hosts<T, G, P, C>(
    job: &Job<'_>,
    (form, priorities): (Form<T::Header>, usize),
    (transport, tagger): (T, G),
    (ports, controllers): (&P, &C),
    (mut real, taps): (Real, Vec<Tap>),
) -> (Switched<T::Header>, Crossed)
where
    T: Transport,
    G: Tagging<T::Header>,
    P: Ports<T::Header>,
    C: Controllers<T::Header>,
{
    let clock = Clock::starting_in(Duration::ZERO);
    let bursts = Arc::new(Bursts::default());
    let setting = |cables| Setting { job, form, cables, priorities, clock, least: 0 };
    let plain = |taps: Vec<Tap>| taps.into_iter().map(|tap| Box::new(tap) as _).collect();
    let over_tcp = || real.send_over_tcp(job.flows, &bursts);
    let run = match form {
        Form::Datagrams(codec) => {
            let sockets = Sockets::open(&real.hosts).unwrap();
            let own = Datagrams::new(job, (transport, tagger), codec, sockets, clock);
            let play = || drop(own.play(LATEST, &Progress::default()).unwrap());
            switched(setting(plain(taps)), ports, controllers, Box::new(play))
        }
        Form::Tunnel(tunnel) => {
            let shared = Shared { tagger, tunnel, bursts: bursts.clone(), priorities, clock };
            let edges = edges(job.network, taps, shared);
            switched(setting(edges), ports, controllers, Box::new(over_tcp))
        }
        Form::Tcp => switched(setting(plain(taps)), ports, controllers, Box::new(over_tcp)),
    };
    let (sent, received) = real.crossed();
    (run, Crossed { sent, received, has_edge: matches!(form, Form::Tunnel(_)) })
}
