//! Random faults for CHAOS_SECONDS (a minute by default; `make soak-controller` runs ten): kill -9 of
//! each part, silence, an etcd restored from an old snapshot, replayed and hostile values. Two
//! controllers, a real etcd, sixteen light hosts. Versions never fall at any host, and afterwards
//! all hosts get new thresholds again. CHAOS_SEED repeats a run. Needs no root.

#[path = "support/light.rs"]
mod light;
#[path = "support/rig.rs"]
mod rig;

use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use flowsched_fleet::Announcement;
use flowsched_fleet::follow::{Place, group_key};
use light::Fleet;
use rig::{Etcd, Process, Rig, free_port, has, wait_until};
use tokio::runtime::Runtime;

const HOSTS: usize = 16;

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
    controllers: [Option<Process>; 2],
    /// How often the data of etcd were replaced.
    restored: usize,
}

impl World {
    fn config(&self, number: usize) -> String {
        let agents = self.fleet.agents();
        format!(
            "thresholds = \"10B 20B\"\nlink-rate = \"10Gbps\"\netcd = [\"{}\"]\n\
             status = \"127.0.0.1:{}\"\nstate = {:?}\n{}\
             [collect]\nevery = \"200ms\"\nwindow = \"1s\"\nwindows = 1\n\
             [decide]\nevery = \"300ms\"\ninterval = \"1s\"\nimprovement = 0.001\nleast-messages = 100\n\
             [canary]\ntime = \"1s\"\nshare = 0.25\n\
             [groups.rack-1]\nagents = {agents:?}\n",
            self.etcd.url,
            free_port(),
            self.rig.path(&format!("state{number}")),
            self.rig.tls(),
        )
    }

    fn start(&mut self, number: usize) {
        let name = format!("controller{number}");
        self.controllers[number] = Some(self.rig.controller(&name, &self.config(number), &[]));
    }

    fn put(&self, value: &str) {
        self.etcd.ctl(&self.rig, "controller", &["put", "--", &group_key("rack-1"), value]);
    }

    fn snapshot(&self) -> String {
        self.rig.path("snapshot").display().to_string()
    }

    /// One fault; its name.
    fn fault(&mut self, dice: &mut Dice) -> &'static str {
        let number = dice.below(2) as usize;
        let current = self.fleet.hosts[0].lock().unwrap().current.clone();
        match (dice.below(7), current) {
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
            _ => "no fault",
        }
    }

    fn folder(&self) -> String {
        format!("etcd{}", self.restored)
    }

    fn restore(&mut self) {
        self.etcd.process.take().unwrap().kill();
        self.restored += 1;
        let folder = self.folder();
        let path = self.rig.path(&folder).display().to_string();
        let arguments = ["snapshot", "restore", &self.snapshot(), "--data-dir", &path];
        let output =
            Command::new("etcdctl").env("ETCDCTL_API", "3").args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.etcd.launch(&self.rig, &folder);
    }
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn versions_never_fall_whatever_fails() {
    if !has("etcd") {
        return;
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = number("CHAOS_SEED", since.as_nanos() as u64);
    println!("CHAOS_SEED={seed}");
    let mut dice = Dice(seed);
    let rig = Rig::new(&[]);
    let mut etcd = Etcd::start(&rig);
    etcd.authorise(&rig, &["rack-1"]);
    // The data get the name that restored ones have.
    etcd.process.take().unwrap().kill();
    std::fs::rename(rig.path("etcd"), rig.path("etcd0")).unwrap();
    etcd.launch(&rig, "etcd0");
    let fleet = Fleet::new("rack-1", HOSTS, free_port(), 4);
    let runtime = Runtime::new().unwrap();
    runtime.spawn(fleet.clone().serve());
    let identity = rig.host("light", "rack-1");
    for number in 0..HOSTS {
        let place = Place::Etcd(vec![etcd.url.clone()]);
        runtime.spawn(fleet.clone().follow(number, place, identity.clone()));
    }
    let mut world = World { rig, etcd, fleet, controllers: [None, None], restored: 0 };
    world.start(0);
    world.start(1);
    wait_until("a first version", || world.fleet.lowest() >= 1);
    let snapshot = world.snapshot();
    world.etcd.ctl(&world.rig, "root", &["snapshot", "save", &snapshot]);
    let end = Instant::now() + Duration::from_secs(number("CHAOS_SECONDS", 60));
    let (mut faults, mut highest) = (0, 0);
    while Instant::now() < end {
        let fault = world.fault(&mut dice);
        faults += 1;
        sleep(Duration::from_millis(dice.below(3000)));
        let lowest = world.fleet.lowest();
        println!("{fault}: hosts have version {lowest} at least");
        world.fleet.check_versions();
        assert!(lowest >= highest, "{fault}: from {highest} to {lowest}");
        highest = lowest;
    }
    let before = world.fleet.lowest();
    wait_until("new thresholds at all hosts", || world.fleet.lowest() > before + 1);
    world.fleet.check_versions();
    println!("{faults} faults, version {} at the end", world.fleet.lowest());
}
