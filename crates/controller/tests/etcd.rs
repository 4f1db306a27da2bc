//! Tests with a real etcd with mutual TLS: roles, leadership, and what hosts do when etcd is stopped,
//! restored from an old snapshot, or holds invalid values. Needs no root.

#[path = "support/light.rs"]
mod light;
#[path = "support/rig.rs"]
mod rig;

use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use flowsched_fleet::Announcement;
use flowsched_fleet::follow::{Identity, Place, group_key};
use light::Fleet;
use rig::{Etcd, Process, Rig, free_port, has, page, wait_until};
use tokio::runtime::Runtime;

struct Controlled {
    rig: Rig,
    etcd: Etcd,
    fleet: Fleet,
    runtime: Runtime,
}

impl Controlled {
    fn new(hosts: usize) -> Controlled {
        let rig = Rig::new(&[]);
        let etcd = Etcd::start(&rig);
        etcd.authorise(&rig, &["rack-1", "rack-2"]);
        let fleet = Fleet::new("rack-1", hosts, free_port(), 4);
        let runtime = Runtime::new().unwrap();
        runtime.spawn(fleet.clone().serve());
        Controlled { rig, etcd, fleet, runtime }
    }

    fn controller(&self, name: &str) -> Process {
        let place = format!("etcd = [\"{}\"]", self.etcd.url);
        let config = self.rig.hasty(name, light::LEVELS, &place, &self.fleet.agents());
        self.rig.controller(name, &config, &[])
    }

    fn follow_as(&self, numbers: std::ops::Range<usize>, identity: &Identity) {
        for number in numbers {
            let place = Place::Etcd(vec![self.etcd.url.clone()]);
            self.runtime.spawn(self.fleet.clone().follow(number, place, identity.clone()));
        }
    }

    fn follow(&self) {
        self.follow_as(0..self.fleet.hosts.len(), &self.rig.host("light", "rack-1"));
    }

    fn put(&self, value: &str) {
        self.etcd.ctl(&self.rig, "controller", &["put", "--", &group_key("rack-1"), value]);
    }

    /// The first host's last refusal.
    fn refusal(&self) -> String {
        self.fleet.hosts[0].lock().unwrap().refusal.clone()
    }

    fn current(&self) -> Announcement {
        self.fleet.hosts[0].lock().unwrap().current.clone().unwrap()
    }
}

#[test]
fn a_role_reads_its_own_group_alone() {
    if !has("etcd") {
        return;
    }
    let controlled = Controlled::new(3);
    let _controller = controlled.controller("one");
    let neighbour = controlled.rig.host("neighbour", "rack-2");
    let other = Rig::new(&[]);
    let stranger = other.host("stranger", "rack-1");
    let stranger = Identity { ca: neighbour.ca.clone(), ..stranger };
    controlled.follow_as(0..1, &controlled.rig.host("light", "rack-1"));
    controlled.follow_as(1..2, &neighbour);
    controlled.follow_as(2..3, &stranger);
    let host = |number: usize| controlled.fleet.hosts[number].lock().unwrap();
    wait_until("the own group's host follows", || host(0).current.is_some());
    wait_until("the others are refused", || {
        !host(1).trouble.is_empty() && !host(2).trouble.is_empty()
    });
    assert!(host(1).trouble.contains("permission denied"), "{}", host(1).trouble);
    assert!(host(1).current.is_none() && host(2).current.is_none());
    let agent = controlled.rig.host("light", "rack-1");
    let written = Command::new("etcdctl")
        .env("ETCDCTL_API", "3")
        .args(["--endpoints", &controlled.etcd.url, "--cacert"])
        .arg(&agent.ca)
        .arg("--cert")
        .arg(&agent.certificate)
        .arg("--key")
        .arg(&agent.key)
        .args(["put", &group_key("rack-1"), "{}"])
        .output()
        .unwrap();
    assert!(!written.status.success(), "an agent may write");
}

#[test]
fn hostile_and_replayed_values_change_nothing() {
    if !has("etcd") {
        return;
    }
    let controlled = Controlled::new(1);
    controlled.follow();
    let controller = controlled.controller("one");
    wait_until("two versions", || controlled.fleet.lowest() >= 2);
    controller.kill();
    sleep(Duration::from_millis(300));
    let current = controlled.current();
    let next = current.version + 1;
    let replayed = Announcement { version: 1, ..current.clone() }.to_json();
    let falling = Announcement { version: next, thresholds: vec![9, 8], ..current.clone() };
    let far = Announcement { version: u64::MAX, ..current.clone() }.to_json();
    let long = format!("{}{}", falling.to_json(), " ".repeat(1 << 16));
    let cases = [
        (replayed.as_str(), "`version` cannot be 1"),
        (&falling.to_json(), "do not fall"),
        (&far, "at most 1000000 more"),
        (&long, "at most 16384"),
        ("\u{1}\u{2}", "no JSON of its form"),
        ("[[[[[[[[", "no JSON of its form"),
        (&format!("{{\"extra\":1,{}", &current.to_json()[1..]), "no JSON of its form"),
    ];
    for (value, expected) in cases {
        controlled.put(value);
        wait_until(expected, || controlled.refusal().contains(expected));
        assert_eq!(controlled.current(), current, "{expected}");
    }
    // The next valid announcement is accepted.
    controlled.put(&Announcement { version: next, ..current }.to_json());
    wait_until("the next version", || controlled.fleet.lowest() == next);
}

#[test]
fn an_etcd_restored_from_an_old_snapshot_takes_no_host_back() {
    if !has("etcd") {
        return;
    }
    let mut controlled = Controlled::new(4);
    controlled.follow();
    let controller = controlled.controller("one");
    wait_until("two versions", || controlled.fleet.lowest() >= 2);
    controlled.etcd.save(&controlled.rig);
    wait_until("later versions", || controlled.fleet.lowest() >= 4);
    controller.kill();
    let before = controlled.fleet.lowest();
    controlled.etcd.restore(&controlled.rig, "restored");
    wait_until("hosts are in touch and refuse", || controlled.refusal().contains("version"));
    assert!(controlled.fleet.lowest() >= before);
    // A controller that has only etcd's old state continues from the versions that hosts have.
    let _controller = controlled.controller("two");
    wait_until("a newer version", || controlled.fleet.lowest() > before);
    controlled.fleet.check_versions();
}

#[test]
fn a_controller_that_cannot_take_over_does_not_lead() {
    if !has("etcd") {
        return;
    }
    let controlled = Controlled::new(1);
    controlled.follow();
    let controller = controlled.controller("one");
    wait_until("a version", || controlled.fleet.lowest() >= 1);
    controller.kill();
    // From now on the controller may write nothing but who leads.
    for words in [
        "role revoke-permission controller --prefix=true /flowsched/",
        "role grant-permission controller --prefix=true read /flowsched/",
        "role grant-permission controller readwrite /flowsched/leader",
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        controlled.etcd.ctl(&controlled.rig, "root", &words);
    }
    let controller = controlled.controller("one");
    controller.wait_for("this controller leads");
    let config = std::fs::read_to_string(controlled.rig.path("one.toml")).unwrap();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(1) {
        let metrics = page(&config, "/metrics");
        assert!(metrics.contains("flowsched_controller_leads 0\n"), "{metrics}");
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn one_controller_leads_and_another_takes_over() {
    if !has("etcd") {
        return;
    }
    let controlled = Controlled::new(4);
    controlled.follow();
    let first = controlled.controller("one");
    first.wait_for("this controller leads");
    let second = controlled.controller("two");
    wait_until("two versions", || controlled.fleet.lowest() >= 2);
    let follows = controlled.rig.status("two");
    assert!(follows.contains("does not lead") && !follows.contains("messages:"), "{follows}");
    first.kill();
    second.wait_for("this controller leads");
    let before = controlled.fleet.lowest();
    wait_until("a newer version", || controlled.fleet.lowest() > before);
    // A network partition: etcd is silent for a while.
    let process = controlled.etcd.process.as_ref().unwrap();
    process.signal("-STOP");
    sleep(Duration::from_secs(12));
    let before = controlled.fleet.lowest();
    process.signal("-CONT");
    wait_until("a newer version", || controlled.fleet.lowest() > before);
    controlled.fleet.check_versions();
}
