//! What the lab makes is there while it lives, and gone however it ends.

#[path = "support/first_run.rs"]
mod first_run;
#[path = "support/left_behind.rs"]
mod left_behind;
#[path = "support/root.rs"]
mod root;
#[path = "support/seclusion.rs"]
mod seclusion;
#[path = "support/shell.rs"]
mod shell;
#[path = "support/unwatched.rs"]
mod unwatched;
#[path = "support/watcher.rs"]
mod watcher;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use first_run::FirstRun;
use flowsched_lab::LabError;
use flowsched_lab::congestion::Congestion;
use flowsched_lab::hosts::Hosts;
use flowsched_lab::machine::Needs;
use flowsched_lab::namespaces::owner::{FOLDER, clean_up};
use flowsched_lab::run::{Extras, Lab};
use flowsched_lab::stack::Stack;
use flowsched_lab::tap::Tap;
use flowsched_schemes::on_linux::{HostTags, KernelControl, KernelDctcp, LinuxHosts};
use flowsched_topology::HostId;
use flowsched_units::Time;
use left_behind::{bpf_objects, descendants, is_alive};
use root::is_root;
use seclusion::{Contents, Seclusion};
use shell::sh;
use unwatched::unwatched;
use watcher::{Watcher, namespaces_of};

/// The environment variable with the folder of labs, set for the process that [`hold_a_lab`] runs in.
const HOLD: &str = "FLOWSCHED_LAB_TEST_HOLD";

/// Allows one lab with BPF objects at a time, because they are looked for on the whole machine.
static MACHINE: Mutex<()> = Mutex::new(());

/// The environment variable with the folder of labs, set for the process that [`hold_traffic`] runs in.
const TRAFFIC: &str = "FLOWSCHED_LAB_TEST_TRAFFIC";

/// The environment variable with the folder of labs, set for the process that [`run_to_the_end`] runs in.
const TO_THE_END: &str = "FLOWSCHED_LAB_TEST_TO_THE_END";

/// The longest time that what a killed lab held may live on: shells end agents and servers, and the kernel removes
/// namespaces one after the other.
const AFTERLIFE: Duration = Duration::from_secs(6);

/// The longest time that a lab may take to start, on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// A DCTCP that no kernel has, so that the lab registers its own.
const OWN_DCTCP: KernelControl = KernelControl {
    name: "dctcp",
    uses_ecn: true,
    dctcp: Some(KernelDctcp { g: 0.5, initial_alpha: 1.0 }),
};

const RENO: LinuxHosts = LinuxHosts {
    control: KernelControl::plain("reno", false),
    tags: HostTags::None,
    initial_window: 10,
    max_window: 239,
    rto_min: Time::from_ms(10),
    open_connections: 1,
    acks_every_packet: false,
};

/// Hosts with the kernel's Reno.
fn up(hosts: u32, all: &Path) -> Result<(Hosts, Vec<Tap>), LabError> {
    let congestion = Congestion::prepare(&RENO.control)?;
    Hosts::up(hosts, &Stack::Kernel(&RENO, &congestion), all)
}

/// The things that a program could leave behind on this machine.
#[derive(Debug, PartialEq, Eq)]
struct Surroundings {
    links: String,
    names: String,
    mounts: usize,
}

impl Surroundings {
    fn look() -> Surroundings {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        Surroundings {
            links: sh("ip -o link show | cut -d: -f1,2"),
            names: sh("ip netns list"),
            mounts: mounts.lines().filter(|line| line.contains("nsfs")).count(),
        }
    }
}

/// The kernel takes the ports of connections from a range that holds the port on which hosts accept them. A connection
/// that has or had this port, such as one to memcached, would refuse it to the listener.
#[test]
fn no_connection_takes_the_port_on_which_hosts_accept_them() {
    if !is_root("no_connection_takes_the_port_on_which_hosts_accept_them") {
        return;
    }
    let all = tempfile::tempdir().unwrap();
    let (hosts, _taps) = up(2, all.path()).unwrap();
    let taken = hosts.namespace(HostId(0)).unwrap().run(|| {
        fs::write("/proc/sys/net/ipv4/ip_local_port_range", "41000 41001").unwrap();
        Ok([(); 2].map(|()| TcpListener::bind("0.0.0.0:0").ok()))
    });
    let ports = taken.unwrap().map(|taken| taken.map(|it| it.local_addr().unwrap().port()));
    assert_eq!(ports, [Some(41_001), None]);
}

/// Whether the kernel has this congestion control.
fn is_known(name: &str) -> bool {
    let list = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    fs::read_to_string(list).unwrap().split_whitespace().any(|known| known == name)
}

#[test]
fn hosts_have_a_card_each_and_take_everything_along() {
    if !is_root("hosts_have_a_card_each_and_take_everything_along") {
        return;
    }
    let all = tempfile::tempdir().unwrap();
    let before = Surroundings::look();
    let (hosts, taps) = up(3, all.path()).unwrap();
    assert_eq!((hosts.count(), taps.len()), (3, 3));
    let net = hosts.folder().join("host-1");
    let inside = |command: &str| sh(&format!("nsenter --net={} {command}", net.display()));
    let addresses = inside("ip -o addr show eth0");
    assert!(addresses.contains("10.99.0.2/24") && addresses.contains("fd99::2/64"), "{addresses}");
    let neighbours = inside("ip neigh show");
    assert!(neighbours.contains("10.99.0.3 dev eth0 lladdr 02:00:00:00:00:03 PERMANENT"));
    let route = inside("ip route show");
    assert!(route.contains("rto_min lock 10ms"), "TCP obeys a locked metric alone: {route}");
    let links = inside("ip -o link show up");
    assert_eq!(links.lines().count(), 2, "the loopback and the card: {links}");
    for outside in ["192.0.2.1", "2001:db8::1"] {
        let route = inside(&format!("ip route get {outside} 2>&1 || true"));
        assert!(route.contains("unreachable"), "{route}");
    }
    let offloads = inside("ethtool -k eth0");
    for offload in ["tcp-segmentation-offload", "tx-checksumming", "rx-gro-hw"] {
        assert!(offloads.contains(&format!("{offload}: off")), "{offloads}");
    }
    assert!(hosts.namespace(HostId(3)).is_none());
    drop((hosts, taps));
    assert_eq!(Surroundings::look(), before);
    let left: Vec<_> = fs::read_dir(all.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["turn.lock"]);
}

#[test]
fn a_lab_of_no_or_too_many_hosts_is_refused() {
    let all = tempfile::tempdir().unwrap();
    for hosts in [0, 1, 65] {
        let error = up(hosts, all.path()).unwrap_err();
        assert!(matches!(error, LabError::Hosts { found, most: 64 } if found == hosts), "{error}");
    }
}

#[test]
fn without_root_the_error_says_so() {
    let all = tempfile::tempdir().unwrap();
    // Another user for one thread: the C library's own function changes all threads.
    let nobody = 65_534;
    let other_user = || {
        #[expect(unsafe_code, reason = "no library changes the user of one thread")]
        // SAFETY: the call takes three numbers, and changes this thread alone.
        unsafe {
            libc::syscall(libc::SYS_setresuid, nobody, nobody, nobody)
        };
        assert!(!nix::unistd::geteuid().is_root());
        up(2, all.path()).map(|_| ()).unwrap_err()
    };
    let error = std::thread::scope(|scope| scope.spawn(other_user).join().unwrap());
    assert!(error.to_string().contains("sudo"), "{error}");
}

/// Not a test: the lab that [`a_killed_lab_leaves_nothing`] kills.
#[test]
fn hold_a_lab() {
    let Some(all) = std::env::var_os(HOLD) else { return };
    let dctcp = Congestion::prepare(&OWN_DCTCP).unwrap();
    let _lab = Hosts::up(4, &Stack::Kernel(&RENO, &dctcp), Path::new(&all)).unwrap();
    println!("\nup {}", dctcp.name());
    // The process that started this kills it or closes its standard input.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

#[test]
fn a_killed_lab_leaves_nothing() {
    if !is_root("a_killed_lab_leaves_nothing") {
        return;
    }
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let seclusion = Seclusion::new();
    let all = &seclusion.path(FOLDER);
    let (before, contents) = (Surroundings::look(), seclusion.look());
    let mut holder = seclusion
        .command()
        .args(["hold_a_lab", "--exact", "--nocapture"])
        .env(HOLD, FOLDER)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    let dctcp = lines.find_map(|line| Some(line.unwrap().strip_prefix("up ")?.to_owned()));
    let dctcp = dctcp.expect("the lab comes up");
    assert!(is_known(&dctcp), "{dctcp}");
    let own = namespaces_of(std::process::id());
    let held = namespaces_of(holder.id());
    assert_eq!(held.difference(&own).count(), 4, "{held:?}");
    assert_eq!(clean_up(all).unwrap(), 0, "a living lab keeps its folder");
    let (other, taps) = up(2, all).unwrap();
    assert_eq!(labs(all), 2, "two labs at once");

    // Each of the killed lab's namespaces gets a number here, which the kernel takes back when the
    // namespace is gone.
    let watcher = Watcher::watch(holder.id(), &held, &own);
    holder.kill().unwrap();
    holder.wait().unwrap();
    until("the namespaces and the congestion control are gone", || {
        watcher.numbers() == 0 && !is_known(&dctcp)
    });
    assert_eq!(clean_up(all).unwrap(), 1);
    assert_eq!(labs(all), 1, "the other lab's folder stays");
    drop((other, taps));
    assert_eq!(labs(all), 0);
    assert_eq!(Surroundings::look(), before);
    assert_eq!(seclusion.look(), with_turn(contents));
}

/// Waits until a condition holds, for at most [`AFTERLIFE`].
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(
            start.elapsed() < AFTERLIFE,
            "after {:?} it is not so that {what}",
            start.elapsed()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    println!("{what} after {:?}", start.elapsed());
}

/// The program `flowsched` beside these tests, if it has the agent.
fn agent() -> Option<PathBuf> {
    let program = std::env::current_exe().unwrap().ancestors().nth(2)?.join("flowsched");
    let said = Command::new(&program).args(["agent", "--help"]).output();
    said.is_ok_and(|said| said.status.success()).then_some(program)
}

/// Flows of `bulk` bytes beside queries of memcached for values of `value` bytes.
fn traffic((bulk, flows): (&str, u32), (value, queries): (&str, u32)) -> String {
    format!(
        "
        topology = {{ kind = \"star\", hosts = 4, host_link = \"20Mbps\", host_delay = \"100us\" }}
        [[workload.part]]
        name = \"bulk\"
        pattern = \"many-to-one\"
        receiver = \"0\"
        sizes = \"fixed {bulk}\"
        flows = {flows}
        at = \"0ms\"
        [[workload.part]]
        name = \"query\"
        pattern = \"incast\"
        degree = 3
        receiver = \"0\"
        sizes = \"fixed {value}\"
        flows = {queries}
        at = \"10ms\"
        every = \"10ms\"
        "
    )
}

/// Traffic that takes minutes.
fn long() -> String {
    traffic(("100MB", 12), ("100KB", 3_000))
}

/// Traffic of 36 flows that is over within a second.
fn short() -> String {
    traffic(("100KB", 6), ("1KB", 30))
}

/// Runs flows and queries of memcached in a lab with everything that a lab may have: agents, a DCTCP of its own, and
/// memcached. Returns how many flows ended, and how many there are.
fn run_with_everything(all: &Path, network_and_flows: &str) -> (usize, usize) {
    let lab = Lab::in_folder(all);
    let (lab, scheme) = match agent() {
        Some(program) => (
            lab.with_agent(program),
            r#"{ preset = "pias", queues = 2, thresholds = "10pkt", g = 0.25, buffer = "200KB" }"#,
        ),
        None => (lab, r#"{ preset = "dctcp", g = 0.25, buffer = "200KB" }"#),
    };
    let first = FirstRun::of(&format!("scheme = [{scheme}]\n{network_and_flows}"));
    let has_memcached = Needs { agent: false, memcached: true }.check().is_ok();
    let is_query = |flow: usize| has_memcached && first.workload.parts.name_of(flow) == "query";
    let memcached = (0..first.job().flows.len()).map(is_query).collect();
    let extras = Extras { memcached, ..Extras::default() };
    let ran = unwatched(|watch| lab.run(&first.job(), first.scheme(), extras, watch));
    let (outcome, _) = ran.unwrap();
    let ended = outcome.flows.iter().filter(|flow| flow.finished_at_receiver.is_some());
    (ended.count(), outcome.flows.len())
}

/// Not a test: the lab that [`a_lab_killed_in_mid_traffic_leaves_nothing`] kills.
#[test]
fn hold_traffic() {
    let Some(all) = std::env::var_os(TRAFFIC) else { return };
    run_with_everything(Path::new(&all), &long());
}

/// Not a test: the lab that [`a_lab_that_ends_leaves_nothing`] starts.
#[test]
fn run_to_the_end() {
    let Some(all) = std::env::var_os(TO_THE_END) else { return };
    let (ended, flows) = run_with_everything(Path::new(&all), &short());
    let left = descendants(std::process::id());
    println!("\n{ended} of {flows} flows ended, {} processes left", left.len());
}

/// A lab with agents and a DCTCP of its own has removed what it made when its run has ended.
#[test]
fn a_lab_that_ends_leaves_nothing() {
    if !is_root("a_lab_that_ends_leaves_nothing") {
        return;
    }
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let seclusion = Seclusion::new();
    let (before, objects, contents) = (Surroundings::look(), bpf_objects(), seclusion.look());
    let running = seclusion
        .command()
        .args(["run_to_the_end", "--exact", "--nocapture"])
        .env(TO_THE_END, FOLDER)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let watcher = watch_at_the_start(&running, &seclusion.path(FOLDER));
    let done = running.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(said.contains("36 of 36 flows ended, 0 processes left"), "{said}");
    until("BPF objects are gone", || bpf_objects().is_subset(&objects));
    until("namespaces are gone", || watcher.numbers() == 0);
    assert_eq!(Surroundings::look(), before);
    assert_eq!(seclusion.look(), with_turn(contents));
}

/// Stops a lab as soon as its last host has its namespace, watches the namespaces, and lets the lab go on.
fn watch_at_the_start(lab: &Child, all: &Path) -> Watcher {
    let last = all.join(format!("{}-0/host-3", lab.id()));
    let start = Instant::now();
    while !last.is_symlink() {
        assert!(start.elapsed() < PATIENCE, "no hosts");
        std::thread::sleep(Duration::from_millis(5));
    }
    sh(&format!("kill -STOP {}", lab.id()));
    let own = namespaces_of(std::process::id());
    let watcher = Watcher::watch(lab.id(), &namespaces_of(lab.id()), &own);
    assert_eq!(watcher.numbers(), 4);
    sh(&format!("kill -CONT {}", lab.id()));
    watcher
}

/// What a seclusion contains after a lab: the folder of labs too, and the lock in it that all labs take in turn.
fn with_turn(mut contents: Contents) -> Contents {
    contents.files.extend([FOLDER.to_owned(), format!("{FOLDER}/turn.lock")]);
    contents
}

/// Each of two labs that send at the same time ends its own flows.
#[test]
fn two_labs_at_once_do_not_collide() {
    if !is_root("two_labs_at_once_do_not_collide") {
        return;
    }
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let all = tempfile::tempdir().unwrap();
    let (runs, most) = std::thread::scope(|scope| {
        let both = [(); 2].map(|()| scope.spawn(|| run_with_everything(all.path(), &short())));
        let mut most = 0;
        while !both.iter().any(|run| run.is_finished()) {
            most = most.max(labs(all.path()));
            std::thread::sleep(Duration::from_millis(5));
        }
        (both.map(|run| run.join().unwrap()), most)
    });
    assert_eq!((runs, most), ([(36, 36); 2], 2), "two labs at once");
    assert_eq!(labs(all.path()), 0);
}

/// As many hosts as a lab may have send to each other.
#[test]
fn sixty_four_hosts_send() {
    if !is_root("sixty_four_hosts_send") {
        return;
    }
    let first = FirstRun::of(
        r#"
        topology = { kind = "star", hosts = 64, host_link = "20Mbps", host_delay = "100us" }
        workload = { pattern = "permutation", sizes = "fixed 20KB", flows = 64, at = "0ms" }
        scheme = [{ preset = "tcp", buffer = "100KB" }]
    "#,
    );
    let all = tempfile::tempdir().unwrap();
    let lab = Lab::in_folder(all.path());
    let (job, extras) = (first.job(), Extras::default());
    let (outcome, _) = unwatched(|watch| lab.run(&job, first.scheme(), extras, watch)).unwrap();
    assert_eq!(outcome.flows.len(), 64);
    assert!(outcome.flows.iter().all(|flow| flow.finished_at_receiver.is_some()));
}

/// Kills a lab while connections have unsent data, with agents and a DCTCP of its own. Its programs, maps, links,
/// namespaces and processes end within seconds.
#[test]
fn a_lab_killed_in_mid_traffic_leaves_nothing() {
    if !is_root("a_lab_killed_in_mid_traffic_leaves_nothing") {
        return;
    }
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    if agent().is_none() {
        eprintln!("without agents: `flowsched` with the agent is not beside this test");
    }
    let seclusion = Seclusion::new();
    let all = &seclusion.path(FOLDER);
    let (before, objects, contents) = (Surroundings::look(), bpf_objects(), seclusion.look());
    let mut holder = seclusion
        .command()
        .args(["hold_traffic", "--exact", "--nocapture"])
        .env(TRAFFIC, FOLDER)
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let net = all.join(format!("{}-0/host-1", holder.id()));
    let unsent = format!("nsenter --net={} ss -Htn state established 2>/dev/null", net.display());
    let has_unsent = |line: &str| line.split_whitespace().nth(1).is_some_and(|bytes| bytes != "0");
    let start = Instant::now();
    while !sh(&format!("{unsent} || true")).lines().any(has_unsent) {
        assert!(holder.try_wait().unwrap().is_none(), "the lab ended before its traffic started");
        assert!(start.elapsed() < PATIENCE, "no traffic");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_secs(1));
    let own = namespaces_of(std::process::id());
    let held = namespaces_of(holder.id());
    assert_eq!(held.difference(&own).count(), 4, "{held:?}");
    let made: BTreeSet<_> = bpf_objects().difference(&objects).copied().collect();
    assert!(made.iter().any(|(kind, _)| *kind == "program"), "a DCTCP of its own: {made:?}");
    let started = descendants(holder.id());
    let watcher = Watcher::watch(holder.id(), &held, &own);
    holder.kill().unwrap();
    holder.wait().unwrap();
    until("processes are gone", || !started.iter().any(is_alive));
    until("BPF objects are gone", || bpf_objects().is_disjoint(&made));
    until("namespaces are gone", || watcher.numbers() == 0);
    drop(watcher);
    assert_eq!(labs(all), 1);
    let next = up(2, all).unwrap();
    assert_eq!(labs(all), 1, "the next start has removed the dead lab's folder");
    drop(next);
    assert_eq!(Surroundings::look(), before);
    assert_eq!(seclusion.look(), with_turn(contents));
}

fn labs(all: &Path) -> usize {
    fs::read_dir(all).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir()).count()
}
