//! Compares the switch's cables: TAP, which the lab uses, and AF_XDP over veth. Prints a table in Markdown.
//!
//! `cargo run --release -p flowsched-lab --example cables`, as root, on a quiet machine with two cores. Frames
//! are UDP datagrams of the kernel's sockets. Everything is in namespaces that end with this program. It needs the
//! commands `ip`, `ethtool`, `renice` and `chrt`.

mod afxdp;

use std::error::Error;
use std::net::UdpSocket;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use afxdp::{AfXdp, XdpFlags};
use etherparse::PacketBuilder;
use flowsched_lab::LabError;
use flowsched_lab::address::{ipv4, mac};
use flowsched_lab::namespaces::Namespace;
use flowsched_lab::tap::{Cable, INTERFACE, Tap};
use flowsched_topology::HostId;
use nix::poll::{PollFd, PollFlags, poll};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::RcvBufForce;
use nix::unistd::{Pid, gettid};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The switch's end of the pair of veth interfaces.
const OUTER: &str = "outer";
const HOST: HostId = HostId(0);
const OTHER: HostId = HostId(1);
const PORT: u16 = 9_000;
/// Bytes that a UDP datagram carries in a full frame.
const PAYLOAD: usize = 1_472;
/// Frames that are sent or handed over at once: less than every ring holds.
const BURST: usize = 8_000;
/// The number of bursts, of which the median counts.
const BURSTS: usize = 25;
const STREAM: Duration = Duration::from_secs(2);
/// The number of frames whose delay is measured, and the time between them.
const PROBES: usize = 4_000;
const BETWEEN: Duration = Duration::from_millis(1);
/// The frames that the switch reads from one host before others have their turn.
const TURN: usize = 32;
const RECEIVE_BUFFER: usize = 256 << 20;

/// The switch's end of a cable, to which frames can be written.
trait Card: Cable + Send {
    /// Hands the host a frame. Returns whether there was room.
    fn send(&mut self, frame: &[u8]) -> std::io::Result<bool>;
}

impl Card for Tap {
    fn send(&mut self, frame: &[u8]) -> std::io::Result<bool> {
        match nix::unistd::write(self.file(), frame) {
            Ok(length) => Ok(length == frame.len()),
            Err(nix::Error::EAGAIN) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// A host and the switch's end of its cable.
struct Bed {
    host: Namespace,
    /// The namespace of the outer interface, which goes with it.
    _outer: Option<Namespace>,
    cable: Box<dyn Card>,
}

/// The measurements of a cable.
struct Figures {
    name: &'static str,
    /// Time of a core per frame.
    host_sends: Duration,
    switch_reads: Duration,
    switch_hands_over: Duration,
    /// Frames per second with the host on another core.
    read: f64,
    handed_over: f64,
    /// The time from the call that hands a frame over until the program has it: median and 99th percentile.
    delay: (Duration, Duration),
}

fn main() -> Result<()> {
    // The switch's thread goes before others in the lab, too.
    command(&format!("renice -n -20 -p {}", std::process::id()))?;
    println!(
        "| cable | host sends | switch reads | switch hands over | one core reads | one core hands over \
         | delay p50 | delay p99 |\n|---|---|---|---|---|---|---|---|"
    );
    for (name, make) in [
        ("TAP", tap as fn() -> Result<Bed>),
        ("AF_XDP, SKB mode", || af_xdp(XdpFlags::SKB_MODE)),
        ("AF_XDP, driver mode", || af_xdp(XdpFlags::DRV_MODE)),
    ] {
        println!("{}", row(&measure(name, make()?)?));
    }
    Ok(())
}

fn row(figures: &Figures) -> String {
    let ns = |time: Duration| format!("{} ns", time.as_nanos());
    let us = |time: Duration| format!("{:.1} us", time.as_secs_f64() * 1e6);
    let rate = |frames: f64| {
        let wire = (PAYLOAD + 20 + 8 + 14) as f64 * 8.0;
        format!("{:.0} frames/s ({:.1} Gbps)", frames, frames * wire / 1e9)
    };
    let cells = [
        figures.name.to_owned(),
        ns(figures.host_sends),
        ns(figures.switch_reads),
        ns(figures.switch_hands_over),
        rate(figures.read),
        rate(figures.handed_over),
        us(figures.delay.0),
        us(figures.delay.1),
    ];
    format!("| {} |", cells.join(" | "))
}

fn tap() -> Result<Bed> {
    let host = Namespace::new()?;
    let cable = Box::new(host.run(Tap::new)?);
    configure(&host)?;
    Ok(Bed { host, _outer: None, cable })
}

fn af_xdp(mode: XdpFlags) -> Result<Bed> {
    let (host, outer) = (Namespace::new()?, Namespace::new()?);
    quieten(&outer)?;
    let queues = "numtxqueues 1 numrxqueues 1";
    let pair = format!(
        "ip link add {INTERFACE} {queues} type veth peer name {OUTER} {queues} netns {}",
        outer.path().display()
    );
    host.run(|| command(&pair))?;
    let off = |name| {
        format!(
            "ethtool -K {name} tx off rx off sg off tso off gso off gro off txvlan off rxvlan off"
        )
    };
    host.run(|| command(&off(INTERFACE)))?;
    configure(&host)?;
    let cable = outer.run(|| {
        command(&off(OUTER))?;
        command(&format!("ip link set {OUTER} up"))?;
        AfXdp::new(OUTER, mode).map_err(|e| system("open an AF_XDP socket", e))
    })?;
    Ok(Bed { host, _outer: Some(outer), cable: Box::new(cable) })
}

/// Gives the host's card its address and a neighbour, as in the lab.
fn configure(host: &Namespace) -> Result<()> {
    quieten(host)?;
    let address = |host| mac(host).map(|byte| format!("{byte:02x}")).join(":");
    for line in [
        format!("ip link set {INTERFACE} address {} txqueuelen 20000 arp off up", address(HOST)),
        format!("ip address add {}/24 dev {INTERFACE}", ipv4(HOST)),
        format!(
            "ip neighbour add {} lladdr {} dev {INTERFACE} nud permanent",
            ipv4(OTHER),
            address(OTHER)
        ),
    ] {
        host.run(|| command(&line))?;
    }
    Ok(())
}

/// Turns IPv6 off, because it sends packets of its own.
fn quieten(namespace: &Namespace) -> Result<()> {
    for which in ["all", "default"] {
        let path = format!("/proc/sys/net/ipv6/conf/{which}/disable_ipv6");
        namespace.run(|| std::fs::write(&path, "1").map_err(|e| system(&path, e)))?;
    }
    Ok(())
}

fn command(line: &str) -> std::result::Result<(), LabError> {
    let mut words = line.split(' ');
    let output = Command::new(words.next().unwrap_or_default()).args(words).output();
    let output = output.map_err(|e| system(line, e))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(system(line, std::io::Error::other(said)))
}

fn system(what: &str, source: std::io::Error) -> LabError {
    LabError::System { what: what.to_owned(), source }
}

fn measure(name: &'static str, mut bed: Bed) -> Result<Figures> {
    let socket = bed.host.run(|| open().map_err(|e| system("open a socket", e)))?;
    let cable = &mut *bed.cable;
    pin(0)?;
    check_frame(cable, &socket)?;
    let (host_sends, switch_reads) = read_bursts(cable, &socket)?;
    let switch_hands_over = hand_over_bursts(cable, &socket)?;
    let read = read_stream(cable, &socket)?;
    let handed_over = hand_over_stream(cable, &socket)?;
    let delay = delays(cable, &socket)?;
    Ok(Figures { name, host_sends, switch_reads, switch_hands_over, read, handed_over, delay })
}

fn open() -> std::io::Result<UdpSocket> {
    let socket = UdpSocket::bind((ipv4(HOST), PORT))?;
    socket.connect((ipv4(OTHER), PORT))?;
    socket.set_read_timeout(Some(Duration::from_millis(200)))?;
    setsockopt(&socket, RcvBufForce, &RECEIVE_BUFFER)?;
    Ok(socket)
}

fn pin(core: usize) -> Result<()> {
    let mut set = CpuSet::new();
    set.set(core)?;
    Ok(sched_setaffinity(Pid::from_raw(0), &set)?)
}

/// A full frame from the other host, with right checksums.
fn frame() -> Result<Vec<u8>> {
    let builder = PacketBuilder::ethernet2(mac(OTHER), mac(HOST))
        .ipv4(ipv4(OTHER).octets(), ipv4(HOST).octets(), 64)
        .udp(PORT, PORT);
    let mut frame = Vec::new();
    builder.write(&mut frame, &[0; PAYLOAD])?;
    Ok(frame)
}

/// Checks that a frame comes whole, alone and with its checksum.
fn check_frame(cable: &mut dyn Card, socket: &UdpSocket) -> Result<()> {
    socket.send(&[7; PAYLOAD])?;
    thread::sleep(Duration::from_millis(10));
    let mut buffer = [0; 2_048];
    let length = cable.receive(&mut buffer)?.ok_or("no frame came")?;
    let packet = etherparse::PacketHeaders::from_ethernet_slice(&buffer[..length])?;
    let (Some(etherparse::NetHeaders::Ipv4(ip, _)), Some(etherparse::TransportHeader::Udp(udp))) =
        (packet.net, packet.transport)
    else {
        return Err("a frame is not UDP over IPv4".into());
    };
    let checksum = udp.calc_checksum_ipv4(&ip, &[7; PAYLOAD])?;
    if (length, udp.checksum) == (PAYLOAD + 42, checksum) {
        Ok(())
    } else {
        Err("a wrong frame".into())
    }
}

/// The host sends bursts, and the switch then reads each one. Returns the time that each takes per frame.
fn read_bursts(cable: &mut dyn Card, socket: &UdpSocket) -> Result<(Duration, Duration)> {
    let (mut sends, mut reads) = (Vec::new(), Vec::new());
    let mut buffer = [0; 2_048];
    for _ in 0..BURSTS {
        let start = Instant::now();
        for _ in 0..BURST {
            socket.send(&[0; PAYLOAD])?;
        }
        sends.push(start.elapsed() / BURST as u32);
        thread::sleep(Duration::from_millis(2));
        let start = Instant::now();
        let mut frames = 0;
        while cable.receive(&mut buffer)?.is_some() {
            frames += 1;
        }
        reads.push(start.elapsed() / BURST as u32);
        if frames != BURST {
            return Err(format!("the switch reads {frames} of {BURST} frames").into());
        }
    }
    Ok((quantile(&mut sends, 0.5), quantile(&mut reads, 0.5)))
}

/// The switch hands bursts over while no program waits for them. Returns the time per frame.
fn hand_over_bursts(cable: &mut dyn Card, socket: &UdpSocket) -> Result<Duration> {
    let frame = frame()?;
    let mut times = Vec::new();
    for _ in 0..BURSTS {
        let start = Instant::now();
        for _ in 0..BURST {
            cable.send(&frame)?;
        }
        times.push(start.elapsed() / BURST as u32);
        let frames = drain(socket);
        if frames != BURST {
            return Err(format!("the host receives {frames} of {BURST} frames").into());
        }
    }
    Ok(quantile(&mut times, 0.5))
}

/// Reads datagrams until none comes for a while. Returns how many came.
fn drain(socket: &UdpSocket) -> usize {
    let mut buffer = [0; PAYLOAD];
    std::iter::from_fn(|| socket.recv(&mut buffer).ok()).count()
}

/// Has the switch read on one core while a host sends on the other. Returns the frames that it reads per second.
fn read_stream(cable: &mut dyn Card, socket: &UdpSocket) -> Result<f64> {
    thread::scope(|scope| {
        let start = Instant::now();
        let sender = scope.spawn(move || {
            pin(1).map_err(|e| e.to_string())?;
            while start.elapsed() < STREAM {
                // The card may have no room.
                let _ = socket.send(&[0; PAYLOAD]);
            }
            Ok::<_, String>(())
        });
        let mut buffer = [0; 2_048];
        let mut frames = 0;
        while start.elapsed() < STREAM {
            poll(&mut [PollFd::new(cable.file(), PollFlags::POLLIN)], 10u8)?;
            for _ in 0..TURN {
                frames += u32::from(cable.receive(&mut buffer)?.is_some());
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        sender.join().map_err(|_| "the sender panicked")??;
        while cable.receive(&mut buffer)?.is_some() {}
        Ok(f64::from(frames) / seconds)
    })
}

/// Has a program receive on one core while the switch hands over on the other. Returns the frames that it receives
/// per second.
fn hand_over_stream(cable: &mut dyn Card, socket: &UdpSocket) -> Result<f64> {
    let frame = frame()?;
    thread::scope(|scope| {
        let receiver = scope.spawn(|| pin(1).map_err(|e| e.to_string()).map(|()| drain(socket)));
        let start = Instant::now();
        while start.elapsed() < STREAM {
            cable.send(&frame)?;
        }
        let seconds = start.elapsed().as_secs_f64();
        let frames = receiver.join().map_err(|_| "the receiver panicked")??;
        Ok(frames as f64 / seconds)
    })
}

/// The median and the 99th percentile of the delays from when the switch begins to hand a frame over until a waiting
/// program on the other core has it. The program has a real-time priority, so that other programs of the machine do
/// not delay it.
fn delays(cable: &mut dyn Card, socket: &UdpSocket) -> Result<(Duration, Duration)> {
    let frame = frame()?;
    let mut delays: Vec<Duration> = thread::scope(|scope| {
        let receiver = scope.spawn(|| {
            pin(1).map_err(|e| e.to_string())?;
            command(&format!("chrt -f -p 1 {}", gettid())).map_err(|e| e.to_string())?;
            let mut buffer = [0; PAYLOAD];
            let received = |_| socket.recv(&mut buffer).map(|_| Instant::now());
            let times: std::io::Result<Vec<Instant>> = (0..PROBES).map(received).collect();
            times.map_err(|e| e.to_string())
        });
        let mut begun = Vec::new();
        let mut next = Instant::now();
        for _ in 0..PROBES {
            next += BETWEEN;
            while Instant::now() < next {
                std::hint::spin_loop();
            }
            begun.push(Instant::now());
            cable.send(&frame)?;
        }
        let ended = receiver.join().map_err(|_| "the receiver panicked")??;
        let pairs = ended.iter().zip(&begun);
        Ok::<_, Box<dyn Error>>(pairs.map(|(end, begin)| *end - *begin).collect())
    })?;
    Ok((quantile(&mut delays, 0.5), quantile(&mut delays, 0.99)))
}

fn quantile(times: &mut [Duration], share: f64) -> Duration {
    times.sort_unstable();
    times[((times.len() - 1) as f64 * share) as usize]
}
