//! The cost of large fleets: 1,000 light hosts that poll the controller, and 10,000 through etcd and
//! Prometheus. `make bench-controller` runs it and writes memory and CPU of each process to
//! `benches/controller.md`. Too large for `make test`.

#[path = "support/light.rs"]
mod light;
#[path = "support/rig.rs"]
mod rig;

use std::time::{Duration, Instant};

use flowsched_fleet::follow::Place;
use light::Fleet;
use rig::{Etcd, Process, Rig, free_port, has};
use tokio::runtime::Runtime;

/// Seconds over which CPU time is measured.
const SECONDS: u64 = 60;

/// Rows of the page: the fleet, what was measured, the figure.
type Rows = Vec<[String; 3]>;

/// The peak memory of a process in MiB, and its CPU time so far.
fn figures(process: &Process) -> (u64, Duration) {
    let read =
        |name: &str| std::fs::read_to_string(format!("/proc/{}/{name}", process.pid())).unwrap();
    let status = read("status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kibibytes: u64 = line.split_whitespace().next().unwrap().parse().unwrap();
    let stat = read("stat");
    let times = stat.rsplit(") ").next().unwrap().split(' ').skip(11).take(2);
    let ticks: u64 = times.map(|ticks| ticks.parse::<u64>().unwrap()).sum();
    // A hundred ticks a second on all architectures.
    (kibibytes / 1024, Duration::from_millis(10 * ticks))
}

/// Notes the memory and CPU of these processes over [`SECONDS`].
fn measure(rows: &mut Rows, fleet: &str, processes: &[(&str, &Process)]) {
    let before: Vec<Duration> = processes.iter().map(|(_, process)| figures(process).1).collect();
    std::thread::sleep(Duration::from_secs(SECONDS));
    for ((name, process), before) in processes.iter().zip(before) {
        let (memory, after) = figures(process);
        let share = 100.0 * (after - before).as_secs_f64() / SECONDS as f64;
        note(
            rows,
            fleet,
            &format!("{name}: memory, CPU"),
            format!("{memory} MiB, {share:.1}% of a core"),
        );
    }
}

fn note(rows: &mut Rows, fleet: &str, what: &str, figure: String) {
    println!("{fleet}: {what}: {figure}");
    rows.push([fleet.to_owned(), what.to_owned(), figure]);
}

/// Waits until `is_so`, and notes how long it takes.
fn wait(rows: &mut Rows, fleet: &str, what: &str, patience: u64, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(patience), "never: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
    note(rows, fleet, what, format!("after {:.1} s", begun.elapsed().as_secs_f64()));
}

fn config(rig: &Rig, more: &str, group: &str) -> String {
    format!(
        "{}\nlink-rate = \"10Gbps\"\nstatus = \"127.0.0.1:{}\"\n\
         state = {:?}\n{more}\n{}[decide]\nevery = \"10s\"\ninterval = \"20s\"\n\
         least-messages = 100\n[canary]\ntime = \"20s\"\n{group}",
        light::LEVELS,
        free_port(),
        rig.path("state"),
        rig.tls(),
    )
}

/// Hosts that serve their pages, and the runtime that they run on.
fn fleet(hosts: usize) -> (Fleet, Runtime) {
    let fleet = Fleet::new("rack-1", hosts, free_port(), 0);
    let runtime = Runtime::new().unwrap();
    runtime.spawn(fleet.clone().serve());
    (fleet, runtime)
}

fn follow(fleet: &Fleet, runtime: &Runtime, rig: &Rig, place: &Place) {
    let identity = rig.host("light", "rack-1");
    for number in 0..fleet.hosts.len() {
        let follows = fleet.clone().follow(number, place.clone(), identity.clone());
        // Hosts do not start all at once.
        runtime.spawn(async move {
            tokio::time::sleep(Duration::from_millis(5 * number as u64)).await;
            follows.await;
        });
    }
}

fn against_the_controller_alone(rows: &mut Rows) {
    const NAME: &str = "1,000 hosts, the controller alone";
    let rig = Rig::new(&[]);
    let (fleet, runtime) = fleet(1000);
    let listen = free_port();
    let group = format!("[collect]\n[groups.rack-1]\nagents = {:?}\n", fleet.agents());
    let config = config(&rig, &format!("listen = \"127.0.0.1:{listen}\""), &group);
    let controller = rig.controller("controller", &config, &[]);
    follow(&fleet, &runtime, &rig, &Place::Controller(format!("https://127.0.0.1:{listen}")));
    wait(rows, NAME, "all hosts have a version", 300, || fleet.lowest() >= 1);
    measure(rows, NAME, &[("controller", &controller)]);
    fleet.check_versions();
}

fn through_etcd_and_prometheus(rows: &mut Rows) {
    const NAME: &str = "10,000 hosts, etcd and Prometheus";
    let rig = Rig::new(&[]);
    let etcd = Etcd::start(&rig);
    etcd.authorise(&rig, &["rack-1"]);
    let (fleet, runtime) = fleet(10_000);
    let port = free_port();
    let jobs = [("agents", fleet.targets())];
    let prometheus = rig.prometheus(&[], port, "60s", &jobs);
    follow(&fleet, &runtime, &rig, &Place::Etcd(vec![etcd.url.clone()]));
    wait(rows, NAME, "all hosts watch etcd", 600, || {
        fleet.hosts.iter().all(|host| host.lock().unwrap().is_connected)
    });
    let group = format!(
        "[collect]\nprometheus = \"http://127.0.0.1:{port}\"\nwindow = \"300s\"\nwindows = 1\n\
         [groups.rack-1]\nselector = 'job=\"agents\"'\n"
    );
    let etcd_at = format!("etcd = [\"{}\"]", etcd.url);
    let controller = rig.controller("controller", &config(&rig, &etcd_at, &group), &[]);
    wait(rows, NAME, "all hosts have a version", 900, || fleet.lowest() >= 1);
    let process = etcd.process.as_ref().unwrap();
    let processes = [("controller", &controller), ("etcd", process), ("Prometheus", &prometheus)];
    measure(rows, NAME, &processes);
    fleet.check_versions();
}

#[test]
#[ignore = "takes minutes and gigabytes"]
fn costs() {
    assert!(has("etcd") && has("prometheus"), "etcd or Prometheus is missing");
    let mut rows = Rows::new();
    against_the_controller_alone(&mut rows);
    write_page(&rows);
    through_etcd_and_prometheus(&mut rows);
    write_page(&rows);
}

/// Writes the figures so far.
fn write_page(rows: &Rows) {
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    let mut page = format!(
        "`make bench-controller` writes these figures, here of a {build} build of version {}. Light hosts serve an \
         agent's metrics and\nfollow announcements with mutual TLS, in one process on the same machine. Memory is \
         the most that a process has taken, CPU is\nover {SECONDS} s, in which Prometheus or the controller \
         collect from all hosts once or more.\n\n| fleet | measured | figure |\n|---|---|---|\n",
        env!("CARGO_PKG_VERSION")
    );
    rows.iter().for_each(|row| page.push_str(&format!("| {} |\n", row.join(" | "))));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/controller.md");
    std::fs::write(path, page).unwrap();
}
