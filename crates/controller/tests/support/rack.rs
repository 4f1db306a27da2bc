//! For tests: a rack of hosts in network namespaces on one bridge. Each host has an agent and sends real
//! TCP traffic to its neighbour. The packets that cross the bridge are counted. Needs root.
#![allow(dead_code, reason = "each of the test programs that share this uses a part of it")]

use std::io::Write;
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

use super::lab::{Tap, on, sh, sink};
use super::rig::{Process, Rig, example};

/// The TCP port that hosts send to.
pub const PORT: u16 = 5001;
/// The controller's address.
pub const CONTROLLER: &str = "10.66.0.254";

/// Hosts on a bridge.
pub struct Rack {
    pub switch: String,
    name: String,
    pub count: usize,
}

impl Rack {
    pub fn new(count: usize) -> Rack {
        let name = format!("fc{}", std::process::id());
        let rack = Rack { switch: format!("{name}sw"), name, count };
        sh("grep -q ' /sys/fs/bpf bpf' /proc/mounts || mount -t bpf bpf /sys/fs/bpf");
        let switch = &rack.switch;
        sh(&format!(
            "ip netns add {switch} && ip -n {switch} link set lo up && \
             ip -n {switch} link add br0 type bridge && ip -n {switch} link set br0 up && \
             ip -n {switch} addr add {CONTROLLER}/24 dev br0"
        ));
        for number in 1..=count {
            let host = rack.host(number);
            sh(&format!(
                "ip netns add {host} && ip -n {host} link set lo up && \
                 ip -n {host} link add eth0 type veth peer name p{number} netns {switch} && \
                 ip -n {switch} link set p{number} master br0 && \
                 ip -n {switch} link set p{number} up && \
                 ip -n {host} addr add {}/24 dev eth0 && ip -n {host} link set eth0 up",
                address(number)
            ));
        }
        rack
    }

    /// A host's namespace.
    pub fn host(&self, number: usize) -> String {
        format!("{}h{number}", self.name)
    }

    /// Starts all agents, with `table` at the end of their files, and waits until they are ready.
    pub fn agents(&self, rig: &Rig, table: impl Fn(usize) -> String) -> Vec<Process> {
        let start = |number| self.agent(rig, number, &table(number));
        let agents: Vec<Process> = (1..=self.count).map(start).collect();
        for agent in &agents {
            agent.wait_for("ready");
        }
        agents
    }

    /// Starts one agent.
    pub fn agent(&self, rig: &Rig, number: usize, table: &str) -> Process {
        self.agent_after(&[], rig, number, table)
    }

    /// Starts one agent, with `before` in front of the program.
    pub fn agent_after(&self, before: &[&str], rig: &Rig, number: usize, table: &str) -> Process {
        let config = rig.path(&format!("agent{number}.toml"));
        let text = format!(
            "interfaces = [\"eth0\"]\nthresholds = \"2KB 4KB\"\ndscp = [48, 32, 16]\n\
             [metrics]\nlisten = \"{}:9487\"\n{table}",
            address(number)
        );
        std::fs::write(&config, text).unwrap();
        let mut command = self.command_after(before, rig, number);
        command.args(["start", "--config"]).arg(config);
        Process::start(&mut command, &rig.path(&format!("agent{number}.log")))
    }

    /// The agent's program on a host.
    pub fn command(&self, rig: &Rig, number: usize) -> Command {
        self.command_after(&[], rig, number)
    }

    fn command_after(&self, before: &[&str], rig: &Rig, number: usize) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/run/netns/{}", self.host(number))).args(before);
        command.arg(example("flowsched-agent")).arg("--pins").arg(self.pins(number));
        command.arg("--run-dir").arg(rig.path(&format!("run{number}")));
        command
    }

    fn pins(&self, number: usize) -> String {
        format!("/sys/fs/bpf/{}-{number}", self.name)
    }

    /// The value of a host's metric. `name` may include labels; without them, the values of all series
    /// are added.
    pub fn metric(&self, rig: &Rig, number: usize, name: &str) -> u64 {
        let output = self.command(rig, number).arg("metrics").output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let values = text.lines().filter_map(|line| {
            let rest = line.strip_prefix(name)?;
            (rest.starts_with(['{', ' '])).then(|| rest.rsplit(' ').next()?.parse::<u64>().ok())?
        });
        values.sum()
    }

    /// The output of the agent's `status`.
    pub fn status(&self, rig: &Rig, number: usize) -> String {
        let output = self.command(rig, number).arg("status").output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Uninstalls all agents.
    pub fn uninstall(&self, rig: &Rig) {
        for number in 1..=self.count {
            let _ = self.command(rig, number).arg("uninstall").output();
        }
    }

    /// Lets every host send messages to the next one, until told to stop.
    pub fn traffic(&self, sizes: &'static [usize]) -> Traffic {
        let stop = Arc::new(AtomicBool::new(false));
        let sent = Arc::new(AtomicU64::new(0));
        for number in 1..=self.count {
            sink(&self.host(number), "0.0.0.0:5001");
        }
        let senders = (1..=self.count).map(|number| {
            let (stop, sent) = (stop.clone(), sent.clone());
            let to = format!("{}:{PORT}", address(number % self.count + 1));
            on(&self.host(number), move || {
                let data = vec![7; 1 << 20];
                let mut turn = number;
                while !stop.load(Ordering::Relaxed) {
                    let mut stream = TcpStream::connect(&to).unwrap();
                    stream.set_nodelay(true).unwrap();
                    let size = sizes[turn % sizes.len()];
                    stream.write_all(&data[..size]).unwrap();
                    sent.fetch_add(1, Ordering::Relaxed);
                    turn += 1;
                    sleep(Duration::from_millis(30));
                }
            })
        });
        Traffic { senders: senders.collect(), stop, sent }
    }
}

impl Drop for Rack {
    fn drop(&mut self) {
        for number in 1..=self.count {
            let _ = Command::new("ip").args(["netns", "del", &self.host(number)]).status();
            let _ = std::fs::remove_dir_all(self.pins(number));
        }
        let _ = Command::new("ip").args(["netns", "del", &self.switch]).status();
    }
}

/// A host's address.
pub fn address(number: usize) -> String {
    format!("10.66.0.{number}")
}

/// The traffic of all hosts.
pub struct Traffic {
    senders: Vec<JoinHandle<()>>,
    stop: Arc<AtomicBool>,
    pub sent: Arc<AtomicU64>,
}

impl Traffic {
    pub fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.senders.into_iter().for_each(|sender| sender.join().unwrap());
    }
}

/// Counts the data packets to [`PORT`] that cross the bridge, by code point.
pub struct Watch(Tap<[u64; 64]>);

impl Watch {
    pub fn start(switch: &str) -> Watch {
        Watch(Tap::start(switch, 64, [0; 64], count))
    }

    /// Stops counting, and returns the counts.
    pub fn end(self) -> [u64; 64] {
        self.0.end()
    }
}

/// Counts an IPv4 packet with TCP payload to the port.
fn count(counts: &mut [u64; 64], frame: &[u8]) {
    let is_tcp =
        frame.len() >= 54 && frame[12..14] == [8, 0] && frame[14] == 0x45 && frame[23] == 6;
    if !is_tcp || u16::from_be_bytes([frame[36], frame[37]]) != PORT {
        return;
    }
    let total = usize::from(u16::from_be_bytes([frame[16], frame[17]]));
    // The length field of a TCP super-packet is 0 beyond 64 KiB.
    let payload = total == 0 || total > 20 + usize::from(frame[46] >> 4) * 4;
    if payload {
        counts[usize::from(frame[15] >> 2)] += 1;
    }
}
