//! What large fleets cost: 1,000 light hosts against the controller alone, and 10,000 through etcd
//! and Prometheus. Prints memory and CPU of each process: `make bench-controller`. Too large for
//! `make test`.

#[path = "support/light.rs"]
mod light;
#[path = "support/rig.rs"]
mod rig;

use std::process::Command;
use std::time::{Duration, Instant};

use flowsched_fleet::follow::Place;
use light::Fleet;
use rig::{Etcd, Process, Rig, free_port, has};
use tokio::runtime::Runtime;

/// How long figures are taken for.
const SECONDS: u64 = 60;

/// The most memory of a process in MiB, and the CPU time that it has taken.
fn figures(process: &Process) -> (u64, Duration) {
    let read =
        |name: &str| std::fs::read_to_string(format!("/proc/{}/{name}", process.pid())).unwrap();
    let status = read("status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kibibytes: u64 = line.split_whitespace().next().unwrap().parse().unwrap();
    let stat = read("stat");
    let times: Vec<u64> = stat
        .rsplit(") ")
        .next()
        .unwrap()
        .split(' ')
        .skip(11)
        .take(2)
        .map(|ticks| ticks.parse().unwrap())
        .collect();
    // A hundred ticks a second on all architectures.
    (kibibytes / 1024, Duration::from_millis(10 * times.iter().sum::<u64>()))
}

fn report(name: &str, process: &Process, before: Duration, passed: Duration) {
    let (memory, after) = figures(process);
    let share = 100.0 * (after - before).as_secs_f64() / passed.as_secs_f64();
    println!("{name}: {memory} MiB at most, {share:.1}% of a core");
}

fn wait(what: &str, patience: u64, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(patience), "never: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
    println!("{what} after {:.1} s", begun.elapsed().as_secs_f64());
}

fn config(rig: &Rig, more: &str, group: &str) -> String {
    format!(
        "thresholds = \"10B 20B\"\nlink-rate = \"10Gbps\"\nstatus = \"127.0.0.1:{}\"\n\
         state = {:?}\n{more}\n{}[decide]\nevery = \"10s\"\ninterval = \"20s\"\n\
         least-messages = 100\n[canary]\ntime = \"20s\"\n{group}",
        free_port(),
        rig.path("state"),
        rig.tls(),
    )
}

#[test]
#[ignore = "takes minutes"]
fn a_thousand_hosts_against_the_controller_alone() {
    let rig = Rig::new(&[]);
    let fleet = Fleet::new("rack-1", 1000, free_port(), 0);
    let runtime = Runtime::new().unwrap();
    runtime.spawn(fleet.clone().serve());
    let listen = free_port();
    let group = format!("[collect]\n[groups.rack-1]\nagents = {:?}\n", fleet.agents());
    let config = config(&rig, &format!("listen = \"127.0.0.1:{listen}\""), &group);
    let controller = rig.controller("controller", &config, &[]);
    let identity = rig.host("light", "rack-1");
    for number in 0..1000 {
        let place = Place::Controller(format!("https://127.0.0.1:{listen}"));
        runtime.spawn(fleet.clone().follow(number, place, identity.clone()));
    }
    wait("all 1,000 hosts have a version", 300, || fleet.lowest() >= 1);
    let (_, before) = figures(&controller);
    std::thread::sleep(Duration::from_secs(SECONDS));
    report("controller", &controller, before, Duration::from_secs(SECONDS));
    fleet.check_versions();
}

#[test]
#[ignore = "takes minutes and gigabytes"]
fn ten_thousand_hosts_through_etcd_and_prometheus() {
    if !has("etcd") || !has("prometheus") {
        return;
    }
    const HOSTS: usize = 10_000;
    let rig = Rig::new(&[]);
    let etcd = Etcd::start(&rig);
    etcd.authorise(&rig, &["rack-1"]);
    let fleet = Fleet::new("rack-1", HOSTS, free_port(), 0);
    let runtime = Runtime::new().unwrap();
    runtime.spawn(fleet.clone().serve());
    let targets: Vec<String> =
        fleet.agents().iter().map(|url| url.trim_start_matches("http://").to_owned()).collect();
    let text = format!(
        "global: {{scrape_interval: 60s}}\nscrape_configs:\n- job_name: agents\n  \
         static_configs: [{{targets: {targets:?}}}]\n"
    );
    std::fs::write(rig.path("prometheus.yml"), text).unwrap();
    let port = free_port();
    let mut command = Command::new("prometheus");
    command.arg(format!("--config.file={}", rig.path("prometheus.yml").display()));
    command.arg(format!("--storage.tsdb.path={}", rig.path("tsdb").display()));
    command.arg(format!("--web.listen-address=127.0.0.1:{port}"));
    let prometheus = Process::start(&mut command, &rig.path("prometheus.log"));
    let identity = rig.host("light", "rack-1");
    for number in 0..HOSTS {
        let place = Place::Etcd(vec![etcd.url.clone()]);
        runtime.spawn(fleet.clone().follow(number, place, identity.clone()));
    }
    let is_connected =
        |fleet: &Fleet| fleet.hosts.iter().all(|host| host.lock().unwrap().is_connected);
    wait("all 10,000 hosts watch etcd", 600, || is_connected(&fleet));
    let group = format!(
        "[collect]\nprometheus = \"http://127.0.0.1:{port}\"\nwindow = \"300s\"\nwindows = 1\n\
         [groups.rack-1]\nselector = 'job=\"agents\"'\n"
    );
    let etcd_at = format!("etcd = [\"{}\"]", etcd.url);
    let controller = rig.controller("controller", &config(&rig, &etcd_at, &group), &[]);
    wait("all 10,000 hosts have a version", 900, || fleet.lowest() >= 1);
    let process = etcd.process.as_ref().unwrap();
    let before = [&controller, process, &prometheus].map(|process| figures(process).1);
    std::thread::sleep(Duration::from_secs(SECONDS));
    let passed = Duration::from_secs(SECONDS);
    report("controller", &controller, before[0], passed);
    report("etcd", process, before[1], passed);
    report("prometheus", &prometheus, before[2], passed);
    fleet.check_versions();
}
