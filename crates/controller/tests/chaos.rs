//! Random faults for CHAOS_SECONDS (half a minute by default; `make soak-controller` runs ten minutes): kill -9 of
//! each part, silence, an etcd restored from an old snapshot, replayed and hostile values.
//!
//! The parts are two controllers, one of them with 10,001 groups, a real etcd, a real Prometheus,
//! sixteen light hosts, and three hosts that must never get access. Versions must never decrease on any
//! host. Afterwards, all hosts must get new thresholds again. CHAOS_SEED repeats a run. Needs no root.

#[path = "support/light.rs"]
mod light;
#[path = "support/rig.rs"]
mod rig;

use std::sync::PoisonError;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use flowsched_fleet::Announcement;
use flowsched_fleet::follow::{Identity, Place, group_key};
use light::Fleet;
use rig::{Etcd, Process, Rig, free_port, has, wait_until};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

const HOSTS: usize = 16;
/// The number of groups other than that of the hosts.
const GROUPS: usize = 10_000;

/// A small generator, so that a seed repeats a run (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

struct World {
    rig: Rig,
    etcd: Etcd,
    fleet: Fleet,
    outsiders: Fleet,
    runtime: Runtime,
    followers: Vec<JoinHandle<()>>,
    /// The first controller scrapes hosts itself and has 10,000 more groups; the second asks Prometheus.
    controllers: [Option<Process>; 2],
    prometheus: (u16, Option<Process>),
    /// The number of times that etcd was restored from the snapshot.
    restored: usize,
}

/// If the test fails, prints the last output of every part.
impl Drop for World {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        for host in self.fleet.hosts.iter() {
            let host = host.lock().unwrap_or_else(PoisonError::into_inner);
            let version = host.current.as_ref().map(|current| current.version);
            println!("{}: version {version:?}, {} {}", host.name, host.trouble, host.refusal);
        }
        for name in ["controller0.log", "controller1.log", "etcd.log", "prometheus.log"] {
            let log = std::fs::read_to_string(self.rig.path(name)).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            println!("{name}:\n{}", lines[lines.len().saturating_sub(40)..].join("\n"));
        }
    }
}

impl World {
    fn new() -> World {
        let rig = Rig::new(&[]);
        let mut etcd = Etcd::start(&rig);
        etcd.authorise(&rig, &["rack-1", "rack-2"]);
        // Rename the data folder, so that it is named like the folders of restored data.
        etcd.process.take().unwrap().kill();
        std::fs::rename(rig.path("etcd"), rig.path("etcd0")).unwrap();
        etcd.launch(&rig, "etcd0");
        let fleet = Fleet::new("rack-1", HOSTS, free_port(), 4);
        let outsiders = Fleet::new("rack-1", 3, free_port(), 0);
        let runtime = Runtime::new().unwrap();
        runtime.spawn(fleet.clone().serve());
        let (followers, prometheus) = (Vec::new(), (free_port(), None));
        let controllers = [None, None];
        let mut world = World {
            rig,
            etcd,
            fleet,
            outsiders,
            runtime,
            followers,
            controllers,
            prometheus,
            restored: 0,
        };
        world.followers = (0..HOSTS).map(|number| world.follow(number)).collect();
        world.let_outsiders_try();
        world.start_prometheus();
        world.start(0);
        world.start(1);
        world
    }

    fn place(&self) -> Place {
        Place::Etcd(vec![self.etcd.url.clone()])
    }

    fn follow(&self, number: usize) -> JoinHandle<()> {
        let identity = self.rig.host("light", "rack-1");
        self.runtime.spawn(self.fleet.clone().follow(number, self.place(), identity))
    }

    /// Three outsiders keep trying: a host of another group, one with another authority's certificate, and
    /// one that trusts another authority.
    fn let_outsiders_try(&self) {
        let other = Rig::new(&[]);
        let own = self.rig.host("light", "rack-1");
        let folder = self.rig.path("other");
        std::fs::rename(other.path("tls"), &folder).unwrap();
        let [ca, certificate, key] =
            ["ca.crt", "controller.crt", "controller.key"].map(|name| folder.join(name));
        let neighbour = self.rig.host("neighbour", "rack-2");
        let stranger = Identity { ca: own.ca.clone(), certificate, key };
        let mistaken = Identity { ca, ..own };
        for (number, identity) in [neighbour, stranger, mistaken].into_iter().enumerate() {
            self.runtime.spawn(self.outsiders.clone().follow(number, self.place(), identity));
        }
    }

    fn check_outsiders(&self) {
        for host in self.outsiders.hosts.iter() {
            let host = host.lock().unwrap();
            assert!(host.versions.is_empty() && host.refused == 0, "an outsider got in: {host:?}");
        }
    }

    fn start_prometheus(&mut self) {
        let jobs = [("agents", self.fleet.targets())];
        self.prometheus.1 = Some(self.rig.prometheus(&[], self.prometheus.0, "200ms", &jobs));
    }

    fn start(&mut self, number: usize) {
        let name = format!("controller{number}");
        let place = format!("etcd = [\"{}\"]", self.etcd.url);
        let mut config = self.rig.hasty(&name, light::LEVELS, &place, &self.fleet.agents());
        if number == 0 {
            (0..GROUPS).for_each(|group| config += &format!("[groups.g{group}]\n"));
        } else {
            let url = format!("prometheus = \"http://127.0.0.1:{}\"", self.prometheus.0);
            config = config.replace("[collect]\n", &format!("[collect]\n{url}\n"));
        }
        self.controllers[number] = Some(self.rig.controller(&name, &config, &[]));
    }

    fn put(&self, value: &str) {
        self.etcd.ctl(&self.rig, "controller", &["put", "--", &group_key("rack-1"), value]);
    }

    /// Causes one fault, and returns its name.
    fn fault(&mut self, dice: &mut Dice) -> &'static str {
        let number = dice.below(2) as usize;
        let current = self.fleet.hosts[0].lock().unwrap().current.clone();
        match (dice.below(9), current) {
            (0 | 1, _) => {
                self.controllers[number].take().unwrap().kill();
                sleep(Duration::from_millis(dice.below(2000)));
                self.start(number);
                "kill -9 of a controller"
            }
            (2, _) => {
                self.etcd.process.take().unwrap().kill();
                sleep(Duration::from_millis(dice.below(3000)));
                let folder = self.folder();
                self.etcd.launch(&self.rig, &folder);
                "kill -9 of etcd"
            }
            (3, _) => {
                let process = self.etcd.process.as_ref().unwrap();
                process.signal("-STOP");
                sleep(Duration::from_millis(dice.below(4000)));
                process.signal("-CONT");
                "a silent etcd"
            }
            (4, _) => {
                let process = self.controllers[number].as_ref().unwrap();
                process.signal("-STOP");
                sleep(Duration::from_millis(dice.below(12_000)));
                process.signal("-CONT");
                "a silent controller"
            }
            (5, Some(current)) => {
                let old = Announcement { version: 1, ..current.clone() };
                let falling = Announcement {
                    version: current.version + 1,
                    thresholds: vec![9, 8],
                    ..current.clone()
                };
                let value = [old.to_json(), falling.to_json(), "{".into()];
                self.put(&value[dice.below(3) as usize]);
                "a replayed or hostile value"
            }
            (6, Some(_)) => {
                self.restore();
                "an etcd restored from an old snapshot"
            }
            (7, _) => {
                let host = dice.below(HOSTS as u64) as usize;
                self.followers[host].abort();
                sleep(Duration::from_millis(dice.below(2000)));
                self.followers[host] = self.follow(host);
                "kill of a host"
            }
            (8, _) => {
                self.prometheus.1.take().unwrap().kill();
                sleep(Duration::from_millis(dice.below(2000)));
                self.start_prometheus();
                "kill -9 of Prometheus"
            }
            _ => "no fault",
        }
    }

    fn folder(&self) -> String {
        format!("etcd{}", self.restored)
    }

    fn restore(&mut self) {
        self.restored += 1;
        let folder = self.folder();
        self.etcd.restore(&self.rig, &folder);
    }
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn versions_never_fall_whatever_fails() {
    if !has("etcd") || !has("prometheus") {
        return;
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = number("CHAOS_SEED", since.as_nanos() as u64);
    println!("CHAOS_SEED={seed}");
    let mut dice = Dice(seed);
    let mut world = World::new();
    wait_until("a first version", || world.fleet.lowest() >= 1);
    world.etcd.save(&world.rig);
    let end = Instant::now() + Duration::from_secs(number("CHAOS_SECONDS", 30));
    let (mut faults, mut highest) = (0, 0);
    while Instant::now() < end {
        let fault = world.fault(&mut dice);
        faults += 1;
        sleep(Duration::from_millis(dice.below(3000)));
        let lowest = world.fleet.lowest();
        println!("{fault}: hosts have version {lowest} at least");
        world.fleet.check_versions();
        world.check_outsiders();
        assert!(lowest >= highest, "{fault}: from {highest} to {lowest}");
        highest = lowest;
    }
    let before = world.fleet.lowest();
    wait_until("new thresholds at all hosts", || world.fleet.lowest() > before + 1);
    world.fleet.check_versions();
    println!("{faults} faults, version {} at the end", world.fleet.lowest());
}
