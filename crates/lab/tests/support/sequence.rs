//! Sequences of packets that hosts send: drawn at random, or recorded from a simulation.

use std::thread;
use std::time::Duration;

use flowsched_lab::clock::Clock;
use flowsched_lab::switch::form::Form;
use flowsched_schemes::Packet;
use flowsched_schemes::packet::{Flags, Header};
use flowsched_schemes::tagger::Tagging;
use flowsched_schemes::transport::Transport;
use flowsched_schemes::world::{Controllers, Parts, Ports, Progress};
use flowsched_sim::{Job, run_parts};
use flowsched_topology::HostId;
use flowsched_units::{PACKET_PAYLOAD, Time};
use flowsched_workload::{Flow, stream};
use rand::Rng;

use crate::compared::{Crossed, Frames};
use crate::frames::{as_sent, frame};
use crate::noting::{Log, Noting, SamePorts};
use crate::switched::{Setting, Switched, switched};
use crate::wires::{Wire, wires};

/// Frames that hosts send at once: about 46 KB, of which the link to the receiver takes a third meanwhile. The rest is
/// more than any buffer here.
const BURST: usize = 60;
/// Bursts, and the time between two.
const BURSTS: usize = 2;
const PAUSE: Time = Time::from_ms(5);
/// The number of hosts that frames go to, those with the lowest numbers. The other hosts send.
const RECEIVERS: u32 = 2;
/// The share of the frames that go to host 0, whose port therefore drops some.
const TO_BUSIEST: f64 = 0.9;

/// A packet that a host sends.
#[derive(Clone, Copy, Debug)]
pub struct Sent<H> {
    pub at: Time,
    pub from: HostId,
    pub packet: Packet<H>,
}

/// Bursts of random packets between this many hosts, at ports with this many priorities.
pub fn random<H: Header>(hosts: u32, priorities: usize, seed: u64) -> Vec<Sent<H>> {
    let mut random = stream(seed, "frames", 0);
    let mut draw = |number: usize| {
        let from = HostId(random.random_range(RECEIVERS..hosts));
        let to = u32::from(!random.random_bool(TO_BUSIEST));
        let flow = 6 * from.0 + 3 * to + random.random_range(0..3);
        let flags = Flags::default().with_if(random.random_bool(0.8), Flags::ECT);
        let wire = 40 + random.random_range(0..1_460);
        let mut packet = Packet::data(flow, to, 0, wire, flags);
        packet.priority = random.random_range(0..priorities as u8);
        let burst = (number / BURST) as u64;
        Sent { at: Time::from_ps(burst * PAUSE.as_ps()), from, packet }
    };
    (0..BURST * BURSTS).map(&mut draw).collect()
}

/// Bursts of random packets of these flows, and of answers to them, as they are in frames of this form. Their headers
/// are random too.
pub fn random_headers<H: Header>(
    form: &Form<H>,
    flows: &[Flow],
    priorities: usize,
    seed: u64,
) -> Vec<Sent<H>> {
    let mut random = stream(seed, "headers", 0);
    let mut draw = |number: usize| {
        let flow = &flows[random.random_range(0..flows.len())];
        let is_answer = random.random_bool(0.3);
        let (from, to) = if is_answer { (flow.dst, flow.src) } else { (flow.src, flow.dst) };
        let mut flags = Flags::default().with_if(is_answer, Flags::ACK);
        for (flag, share) in [(Flags::ECT, 0.8), (Flags::PROBE, 0.1), (Flags::TERM, 0.05)] {
            flags = flags.with_if(random.random_bool(share), flag);
        }
        let segments = flow.size.get().div_ceil(PACKET_PAYLOAD) as u32;
        let (seq, wire) = (random.random_range(0..segments), 40 + random.random_range(0..1_460));
        let mut packet = Packet::data(flow.id, to.0, seq, wire, flags);
        packet.priority = random.random_range(0..priorities as u8);
        packet.header = random_header(form, &mut random);
        let burst = (number / BURST) as u64;
        let at = Time::from_ps(burst * PAUSE.as_ps());
        Sent { at, from, packet: as_sent(form, packet) }
    };
    (0..BURST * BURSTS).map(&mut draw).collect()
}

/// A header that a frame of this form can hold.
fn random_header<H: Header>(form: &Form<H>, random: &mut impl Rng) -> H {
    match form {
        Form::Tcp => H::default(),
        Form::Tunnel(tunnel) => (tunnel.from_bits)(random.random(), random.random_range(2..=64)),
        Form::Datagrams(codec) => {
            // Some bytes have few values, such as those of a flag.
            let mut byte =
                || if random.random() { random.random() } else { random.random_range(0..2) };
            let mut draw = |_| (codec.read)(&(0..codec.bytes).map(|_| byte()).collect::<Vec<u8>>());
            (0..1_000).find_map(&mut draw).unwrap()
        }
    }
}

/// The packets that hosts hand to their cards in a simulation of these parts, as they are in frames of this form.
pub fn recorded<T, G, P, C>(
    job: &Job<'_>,
    form: &Form<T::Header>,
    (transport, tagger): (T, G),
    ports: &P,
    controllers: &C,
) -> Vec<Sent<T::Header>>
where
    T: Transport,
    G: Tagging<T::Header>,
    P: Ports<T::Header>,
    C: Controllers<T::Header>,
{
    let log = Log::default();
    let (ports, controllers) = (SamePorts(ports), Noting { inner: controllers, log: log.clone() });
    run_parts(job, Parts { transport, tagger, ports, controllers }, &Progress::default());
    let log = log.take();
    let sent = log.iter().filter(|event| !event.is_departure);
    let mut all: Vec<_> = sent
        .map(|event| {
            let packet = as_sent(form, event.packet);
            Sent { at: event.at, from: HostId(event.port), packet }
        })
        .collect();
    all.sort_by_key(|sent| (sent.at, sent.from.0));
    all
}

/// The sequence in which hosts send some packets later: never, if `delay` is [`Time::MAX`].
pub fn delayed<H>(
    mut sequence: Vec<Sent<H>>,
    is_late: impl Fn(&Sent<H>) -> bool,
    delay: Time,
) -> Vec<Sent<H>> {
    for sent in sequence.iter_mut().filter(|sent| is_late(sent)) {
        sent.at = sent.at.saturating_add(delay);
    }
    sequence.retain(|sent| sent.at < Time::MAX);
    sequence.sort_by_key(|sent| (sent.at, sent.from.0));
    sequence
}

/// The frames of each host in a sequence, in this form.
pub fn frames_of<H: Header>(
    form: &Form<H>,
    hosts: u32,
    sequence: &[Sent<H>],
    priorities: usize,
) -> Frames {
    let mut frames = vec![Vec::new(); hosts as usize];
    for (number, Sent { from, packet, .. }) in (0..).zip(sequence) {
        frames[from.index()].push(frame(form, *from, packet, number, priorities));
    }
    frames
}

/// Has the test send frames, each at the time of its packet.
pub fn replay<H: Header>(
    job: &Job<'_>,
    (form, priorities): (Form<H>, usize),
    (ports, controllers): (&impl Ports<H>, &impl Controllers<H>),
    sequence: &[Sent<H>],
    sent: Frames,
) -> (Switched<H>, Crossed) {
    let (mut hosts, cables) = wires(sent.len() as u32);
    let cables = cables.into_iter().map(|cable| Box::new(cable) as _).collect();
    let clock = Clock::starting_in(Duration::ZERO);
    let setting = Setting { job, form, cables, priorities, clock, least: sequence.len() };
    let mut next: Vec<_> = sent.iter().map(|frames| frames.iter()).collect();
    let mut all = sequence
        .iter()
        .map(|sent| (sent.at, sent.from, next[sent.from.index()].next().unwrap().as_slice()));
    // What hosts send at the very beginning waits for the switch, however slow the machine is.
    let start = sequence[0].at;
    let first = sequence.iter().filter(|sent| sent.at == start).count();
    play(all.by_ref().take(first), &hosts, clock);
    let ends: &[Wire] = &hosts;
    let run = switched(setting, ports, controllers, Box::new(|| play(all, ends, clock)));
    let received = hosts.iter_mut().map(Wire::drain).collect();
    (run, Crossed { sent, received, has_edge: false })
}

/// Has hosts send these frames, none before its time.
fn play<'f>(frames: impl Iterator<Item = (Time, HostId, &'f [u8])>, wires: &[Wire], clock: Clock) {
    for (at, from, frame) in frames {
        let wait = at.saturating_sub(clock.now());
        if wait > Time::ZERO {
            thread::sleep(Duration::from_nanos(wait.as_ps() / 1_000));
        }
        wires[from.index()].push(frame);
    }
}
