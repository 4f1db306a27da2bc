//! For tests: two hosts in network namespaces of their own, joined by a cable. Packets are captured
//! at the far end. Everything is removed when the pair is dropped.
#![allow(dead_code, reason = "each of the test programs that share this uses a part of it")]

use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::sched::{CloneFlags, setns};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, setsockopt, socket, sockopt,
};

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// Two hosts. The first has interface `east` (10.77.0.1, fd77::1), the second `west`
/// (10.77.0.2, fd77::2).
pub struct Pair {
    /// The first host's namespace.
    pub a: String,
    /// The second host's namespace.
    pub b: String,
}

/// Whether this process is root. If it is not, prints that the test is skipped.
pub fn is_root(test: &str) -> bool {
    let root = nix::unistd::geteuid().is_root();
    if !root {
        eprintln!("skipped: {test} needs root");
    }
    root
}

/// Runs a command line. Panics if it fails.
pub fn sh(text: &str) -> String {
    let output = Command::new("sh").args(["-c", text]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}: {error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

impl Pair {
    /// Makes both hosts, without any offload: every packet that is captured is one on the wire.
    pub fn new() -> Pair {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = |side: &str| format!("fs{}-{number}{side}", std::process::id());
        let pair = Pair { a: name("a"), b: name("b") };
        let (a, b) = (&pair.a, &pair.b);
        sh("grep -q ' /sys/fs/bpf bpf' /proc/mounts || mount -t bpf bpf /sys/fs/bpf");
        sh(&format!("ip netns add {a} && ip netns add {b}"));
        pair.connect();
        for host in [a, b] {
            sh(&format!("ip -n {host} link set lo up"));
            let set = "net.ipv4.tcp_ecn=1";
            sh(&format!("nsenter --net=/run/netns/{host} sysctl -qw {set}"));
        }
        pair
    }

    /// Connects the hosts by a cable.
    pub fn connect(&self) {
        self.connect_as("");
    }

    /// Connects the hosts by a cable. The first host's interface has this index.
    pub fn connect_with_index(&self, index: u32) {
        self.connect_as(&format!("index {index}"));
    }

    fn connect_as(&self, index: &str) {
        let (a, b) = (&self.a, &self.b);
        sh(&format!("ip -n {a} link add east {index} type veth peer name west netns {b}"));
        for (host, interface, number) in [(a, "east", 1), (b, "west", 2)] {
            sh(&format!("ip -n {host} addr add 10.77.0.{number}/24 dev {interface}"));
            sh(&format!("ip -n {host} addr add fd77::{number}/64 dev {interface} nodad"));
            sh(&format!("ip -n {host} link set {interface} up"));
            sh(&format!(
                "nsenter --net=/run/netns/{host} ethtool -K {interface} tx off tso off gso off \
                 gro off >/dev/null && \
                 ip -n {host} link set {interface} gso_max_segs 1"
            ));
        }
    }

    /// Makes a third host behind the first, as a container runtime does (10.78.0.2). What it sends
    /// to the second host is forwarded. Returns its name.
    pub fn container(&self) -> String {
        let (host, container) = (&self.a, format!("{}c", self.a));
        sh(&format!(
            "ip netns add {container} && \
             ip link add inner netns {host} type veth peer name eth netns {container} && \
             ip -n {host} addr add 10.78.0.1/24 dev inner && ip -n {host} link set inner up && \
             ip -n {container} addr add 10.78.0.2/24 dev eth && \
             ip -n {container} link set eth up && \
             ip -n {container} route add default via 10.78.0.1 && \
             nsenter --net=/run/netns/{container} \
                 ethtool -K eth tx off tso off >/dev/null && \
             nsenter --net=/run/netns/{host} ethtool -K inner gro off >/dev/null && \
             nsenter --net=/run/netns/{host} sysctl -qw net.ipv4.ip_forward=1 && \
             ip -n {} route add 10.78.0.0/24 via 10.77.0.1",
            self.b
        ));
        container
    }

    /// Makes a VXLAN tunnel between both hosts, with number 42, to port 4789. Its ends are
    /// 10.88.0.1 and 10.88.0.2.
    pub fn tunnel(&self) {
        for (host, interface, own, other) in [(&self.a, "east", 1, 2), (&self.b, "west", 2, 1)] {
            sh(&format!(
                "ip -n {host} link add vx type vxlan id 42 dev {interface} \
                 remote 10.77.0.{other} dstport 4789 && \
                 ip -n {host} addr add 10.88.0.{own}/24 dev vx && ip -n {host} link set vx up && \
                 nsenter --net=/run/netns/{host} ethtool -K vx tx off >/dev/null"
            ));
        }
    }

    /// Removes the cable, which deletes the interfaces.
    pub fn disconnect(&self) {
        sh(&format!("ip -n {} link del east", self.a));
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for host in [&format!("{}c", self.a), &self.a, &self.b] {
            let _ = Command::new("ip").args(["netns", "del", host]).stderr(Stdio::null()).status();
        }
    }
}

/// Runs `action` on a host in a thread of its own.
pub fn on<T: Send + 'static>(
    host: &str,
    action: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    let path = format!("/run/netns/{host}");
    thread::spawn(move || {
        setns(File::open(path).unwrap(), CloneFlags::CLONE_NEWNET).unwrap();
        action()
    })
}

/// A running capture of the frames that arrive at a host or leave it, and the value that is made of
/// them.
pub struct Tap<T> {
    stop: Arc<AtomicBool>,
    made: JoinHandle<T>,
}

impl<T: Send + 'static> Tap<T> {
    /// Starts to pass the first `most` bytes of each frame to `see`.
    pub fn start(host: &str, most: usize, mut made: T, see: fn(&mut T, &[u8])) -> Tap<T> {
        let stop = Arc::new(AtomicBool::new(false));
        let ended = stop.clone();
        let (ready, is_ready) = std::sync::mpsc::channel();
        let made = on(host, move || {
            let socket = socket(
                AddressFamily::Packet,
                SockType::Raw,
                SockFlag::SOCK_NONBLOCK,
                SockProtocol::EthAll,
            )
            .unwrap();
            setsockopt(&socket, sockopt::RcvBufForce, &(64 << 20)).unwrap();
            ready.send(()).unwrap();
            let mut buffer = vec![0; most];
            loop {
                match recv(socket.as_raw_fd(), &mut buffer, MsgFlags::empty()) {
                    Ok(length) => see(&mut made, &buffer[..length]),
                    Err(_) if ended.load(Ordering::Relaxed) => return made,
                    Err(_) => thread::sleep(Duration::from_micros(200)),
                }
            }
        });
        is_ready.recv().unwrap();
        Tap { stop, made }
    }

    /// Stops, and returns the value that was made of all frames.
    pub fn end(self) -> T {
        thread::sleep(Duration::from_millis(50));
        self.stop.store(true, Ordering::Relaxed);
        self.made.join().unwrap()
    }
}

/// A running capture of all frames that arrive at a host or leave it.
pub struct Capture(Tap<Vec<Vec<u8>>>);

impl Capture {
    /// Starts to capture.
    pub fn start(host: &str) -> Capture {
        Capture(Tap::start(host, 1 << 16, Vec::new(), |all, frame| all.push(frame.to_vec())))
    }

    /// Stops, and returns all frames.
    pub fn end(self) -> Vec<Vec<u8>> {
        self.0.end()
    }
}

/// Starts a server that reads everything it receives, until the test ends.
pub fn sink(host: &str, address: &'static str) {
    let (ready, is_ready) = std::sync::mpsc::channel();
    on(host, move || {
        let listener = TcpListener::bind(address).unwrap();
        ready.send(()).unwrap();
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            thread::spawn(move || {
                let mut buffer = vec![0; 1 << 18];
                while stream.read(&mut buffer).is_ok_and(|length| length > 0) {}
            });
        }
    });
    is_ready.recv().unwrap();
}

/// Connects to `address` and sends messages of these sizes, with a `pause` after each.
pub fn send(host: &str, address: &'static str, sizes: Vec<usize>, pause: Duration) {
    on(host, move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        for size in sizes {
            stream.write_all(&vec![7; size]).unwrap();
            wait_until_acknowledged(&stream);
            thread::sleep(pause);
        }
    })
    .join()
    .unwrap();
}

/// Waits until everything on the connection is acknowledged, because a busy machine may send late.
fn wait_until_acknowledged(stream: &TcpStream) {
    let port = format!(":{:04X}", stream.local_addr().unwrap().port());
    loop {
        let sockets = std::fs::read_to_string("/proc/thread-self/net/tcp").unwrap();
        let socket = sockets.lines().find(|line| {
            line.split_whitespace().nth(1).is_some_and(|local| local.ends_with(&port))
        });
        // The fifth column has the lengths of both queues.
        let queues = socket.and_then(|line| line.split_whitespace().nth(4));
        if queues.is_none_or(|queues| queues.starts_with("00000000:")) {
            break;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// The length of the question of `converse`. The server sends `ANSWER`.
pub const QUESTION: usize = 100;
const ANSWER: [u8; 1] = [7];

/// Starts a server that answers the question of each connection and closes it, in one thread, until
/// the test ends. First runs `prepare` in that thread.
pub fn answer(host: &str, address: &'static str, prepare: fn()) {
    let (ready, is_ready) = std::sync::mpsc::channel();
    on(host, move || {
        prepare();
        let listener = TcpListener::bind(address).unwrap();
        ready.send(()).unwrap();
        let mut question = [0; QUESTION];
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            if stream.read_exact(&mut question).is_ok() {
                let _ = stream.write_all(&ANSWER);
            }
        }
    });
    is_ready.recv().unwrap();
}

/// Opens a connection, asks, reads the answer to its end and closes. A client that waits for the
/// server cannot overflow the server's queue of connections. Returns whether it was answered.
pub fn converse(address: &str) -> bool {
    let Ok(mut stream) = TcpStream::connect(address) else { return false };
    let mut heard = Vec::new();
    stream.write_all(&[1; QUESTION]).is_ok()
        && stream.read_to_end(&mut heard).is_ok()
        && heard == ANSWER
}

/// The value of a counter of `nstat` on a host.
pub fn counted(host: &str, name: &str) -> u64 {
    let text = sh(&format!("nsenter --net=/run/netns/{host} nstat -asz {name}"));
    let line = text.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
