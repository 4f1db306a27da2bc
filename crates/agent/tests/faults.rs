//! Faults: the agent is killed, started twice, misconfigured or upgraded; interfaces disappear and
//! come back; other programs are on the hook. Needs root.

#[path = "support/agent.rs"]
mod agent;
#[path = "support/lab.rs"]
mod lab;
#[path = "support/seen.rs"]
mod seen;

use std::io::Write;
use std::net::{TcpStream, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use agent::Agent;
use lab::{Capture, Pair, sh};
use seen::Seen;

const SINK: &str = "10.77.0.2:5001";
/// A message ends only with its connection, however slow the machine is.
const RULE: &str = "thresholds = \"20KB\"\ndscp = [40, 3]\n[message]\nidle = \"never\"\n";
const OTHER: &str = "thresholds = \"20KB\"\ndscp = [41, 4]\n[message]\nidle = \"never\"\n";

/// The code points of the data packets of a small message.
fn code_points(pair: &Pair) -> Vec<u8> {
    let capture = Capture::start(&pair.b);
    lab::send(&pair.a, SINK, vec![40_000], Duration::from_millis(20));
    let frames = capture.end();
    let seen = frames.iter().filter_map(|frame| Seen::parse(frame));
    let mut found: Vec<u8> =
        seen.filter(|p| p.to == 5001 && p.payload > 0).map(|p| p.dscp).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn tagged(agent: &Agent) -> u64 {
    let text = agent.ok("metrics");
    let lines = text.lines().filter(|line| line.starts_with("flowsched_packets_total{"));
    lines.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
}

#[test]
fn a_killed_agent_leaves_tagging_on_and_counters_whole() {
    if !lab::is_root("a_killed_agent_leaves_tagging_on_and_counters_whole") {
        return;
    }
    for hook in [&[][..], &["--clsact"][..]] {
        let pair = Pair::new();
        lab::sink(&pair.b, SINK);
        let mut agent = Agent::start(&pair, RULE, hook);
        // While traffic flows.
        let host = pair.a.clone();
        let sending = lab::on(&host, || {
            let mut stream = TcpStream::connect(SINK).unwrap();
            for _ in 0..100 {
                stream.write_all(&[1; 20_000]).unwrap();
                thread::sleep(Duration::from_millis(5));
            }
        });
        thread::sleep(Duration::from_millis(100));
        agent.signal("-KILL");
        agent.wait();
        let before = tagged(&agent);
        assert_eq!(code_points(&pair), [3, 40], "untagged after the kill");
        assert!(agent.has_writer(), "what writes in place went with the agent");
        sending.join().unwrap();
        let between = tagged(&agent);
        assert!(between > before);
        agent.launch(hook);
        assert!(agent.has_writer());
        assert!(tagged(&agent) >= between, "counters fell");
        assert_eq!(code_points(&pair), [3, 40]);
        agent.ok("stop");
        agent.wait();
        assert_eq!(code_points(&pair), [3, 40], "untagged after stop");
        agent.ok("uninstall");
        assert!(!agent.is_installed());
        assert_eq!(code_points(&pair), [0], "tagged after uninstall");
        let left = sh(&format!("tc -n {} qdisc show dev east", pair.a));
        assert!(!left.contains("clsact"), "{left}");
    }
}

#[test]
fn a_second_agent_is_refused() {
    if !lab::is_root("a_second_agent_is_refused") {
        return;
    }
    let pair = Pair::new();
    let agent = Agent::start(&pair, RULE, &[]);
    let second = agent.run(&format!("start --config {}", agent.config().display()));
    let error = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(!second.status.success() && error.contains("an agent runs already"), "{error}");
    lab::sink(&pair.b, SINK);
    assert_eq!(code_points(&pair), [3, 40]);
}

#[test]
fn a_new_configuration_holds_at_once_or_not_at_all() {
    if !lab::is_root("a_new_configuration_holds_at_once_or_not_at_all") {
        return;
    }
    let pair = Pair::new();
    lab::sink(&pair.b, SINK);
    let agent = Agent::start(&pair, RULE, &[]);
    agent.configure(OTHER);
    agent.wait_for("in force");
    assert_eq!(code_points(&pair), [4, 41]);
    // Write half of the file, and close it.
    let half = format!("interfaces = [\"east\"]\n{RULE}");
    std::fs::write(agent.config(), &half[..half.len() - 4]).unwrap();
    agent.wait_for("refused");
    assert_eq!(code_points(&pair), [4, 41]);
    for nonsense in ["thresholds = \"20KB 10KB\"\n", "thresholds = \"1KB\"\ndscp = [5, 5]\n"] {
        agent.configure(nonsense);
        agent.wait_for("refused");
    }
    assert_eq!(code_points(&pair), [4, 41]);
    agent.configure(RULE);
    agent.wait_for("in force");
    agent.signal("-HUP");
    assert_eq!(code_points(&pair), [3, 40]);
    assert_eq!(agent.metric("flowsched_reloads_total"), 2);
    assert_eq!(agent.metric("flowsched_reloads_refused_total"), 3);
}

#[test]
fn a_hangup_has_the_file_read_again() {
    if !lab::is_root("a_hangup_has_the_file_read_again") {
        return;
    }
    let pair = Pair::new();
    lab::sink(&pair.b, SINK);
    let mut agent = Agent::prepare(&pair, RULE);
    // The target of a link in the watched folder is not watched.
    let file = agent.folder.join("elsewhere/agent.toml");
    std::fs::create_dir(agent.folder.join("elsewhere")).unwrap();
    std::fs::rename(agent.config(), &file).unwrap();
    std::os::unix::fs::symlink(&file, agent.config()).unwrap();
    agent.launch(&[]);
    std::fs::write(&file, format!("interfaces = [\"east\"]\n{OTHER}")).unwrap();
    thread::sleep(Duration::from_millis(1500));
    assert_eq!(code_points(&pair), [3, 40], "the file is watched, and this test shows nothing");
    agent.signal("-HUP");
    agent.wait_for("in force");
    assert_eq!(code_points(&pair), [4, 41]);
}

#[test]
fn a_flow_keeps_its_count_through_a_reload_and_a_restart() {
    if !lab::is_root("a_flow_keeps_its_count_through_a_reload_and_a_restart") {
        return;
    }
    let pair = Pair::new();
    lab::sink(&pair.b, SINK);
    let mut agent = Agent::start(&pair, RULE, &[]);
    let (go, went) = std::sync::mpsc::channel::<()>();
    let host = pair.a.clone();
    let sending = lab::on(&host, move || {
        let mut stream = TcpStream::connect(SINK).unwrap();
        while went.recv().is_ok() {
            stream.write_all(&[1; 30_000]).unwrap();
        }
    });
    go.send(()).unwrap();
    thread::sleep(Duration::from_millis(50));
    let next = || {
        let capture = Capture::start(&pair.b);
        go.send(()).unwrap();
        thread::sleep(Duration::from_millis(50));
        let frames = capture.end();
        let seen: Vec<Seen> = frames.iter().filter_map(|frame| Seen::parse(frame)).collect();
        seen.iter().find(|p| p.to == 5001 && p.payload > 0).unwrap().dscp
    };
    assert_eq!(next(), 3);
    agent.configure(OTHER);
    agent.wait_for("in force");
    assert_eq!(next(), 4, "the count was lost by the reload");
    agent.signal("-KILL");
    agent.wait();
    agent.launch(&[]);
    assert_eq!(next(), 4, "the count was lost by the restart");
    drop(go);
    sending.join().unwrap();
}

#[test]
fn a_connection_older_than_the_tagger_has_the_level_it_has_earned() {
    if !lab::is_root("a_connection_older_than_the_tagger_has_the_level_it_has_earned") {
        return;
    }
    let pair = Pair::new();
    lab::sink(&pair.b, SINK);
    let (go, went) = std::sync::mpsc::channel::<()>();
    let host = pair.a.clone();
    let sending = lab::on(&host, move || {
        let mut stream = TcpStream::connect(SINK).unwrap();
        while went.recv().is_ok() {
            stream.write_all(&[1; 30_000]).unwrap();
        }
    });
    go.send(()).unwrap();
    thread::sleep(Duration::from_millis(50));
    let _agent = Agent::start(&pair, RULE, &[]);
    let capture = Capture::start(&pair.b);
    go.send(()).unwrap();
    let frames = capture.end();
    drop(go);
    sending.join().unwrap();
    let seen: Vec<Seen> = frames.iter().filter_map(|frame| Seen::parse(frame)).collect();
    let first = seen.iter().find(|p| p.to == 5001 && p.payload > 0).unwrap();
    assert_eq!(first.dscp, 3, "an old elephant went to the top");
}

#[test]
fn an_interface_that_went_and_came_back_is_tagged_again() {
    if !lab::is_root("an_interface_that_went_and_came_back_is_tagged_again") {
        return;
    }
    for hook in [&[][..], &["--clsact"][..]] {
        let pair = Pair::new();
        let agent = Agent::start(&pair, RULE, hook);
        pair.disconnect();
        thread::sleep(Duration::from_millis(1500));
        pair.connect();
        agent.wait_for("east: tagged");
        lab::sink(&pair.b, SINK);
        assert_eq!(code_points(&pair), [3, 40]);
    }
}

#[test]
fn other_peoples_programs_run_and_stay() {
    if !lab::is_root("other_peoples_programs_run_and_stay") {
        return;
    }
    for (first, second) in [(&[][..], &[][..]), (&["--clsact"][..], &[][..])] {
        let pair = Pair::new();
        lab::sink(&pair.b, SINK);
        // An agent with folders of its own counts as another program.
        let other = Agent::start(&pair, OTHER, first);
        let agent = Agent::start(&pair, RULE, second);
        let before = tagged(&other);
        code_points(&pair);
        assert!(tagged(&other) > before && tagged(&agent) > 0, "one of them does not run");
        agent.ok("uninstall");
        assert_eq!(code_points(&pair), [4, 41], "the other one is gone too");
    }
}

#[test]
fn a_full_map_of_flows_loses_nothing() {
    if !lab::is_root("a_full_map_of_flows_loses_nothing") {
        return;
    }
    let pair = Pair::new();
    let agent = Agent::start(&pair, &format!("{RULE}[flows]\nmax = 512\nidle = \"never\"\n"), &[]);
    let receiver = lab::on(&pair.b, || {
        let socket = UdpSocket::bind(SINK).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        (0..3000).filter(|_| socket.recv(&mut [0; 100]).is_ok()).count()
    });
    thread::sleep(Duration::from_millis(100));
    lab::on(&pair.a, || {
        for port in 10_000..13_000 {
            let socket = UdpSocket::bind(("10.77.0.1", port)).unwrap();
            socket.send_to(&[1; 50], SINK).unwrap();
            if port % 50 == 0 {
                thread::sleep(Duration::from_millis(1));
            }
        }
    })
    .join()
    .unwrap();
    assert_eq!(receiver.join().unwrap(), 3000, "datagrams were lost");
    assert!(agent.metric("flowsched_evicted_total") >= 2000);
}

#[test]
fn as_many_flows_as_there_are_are_counted() {
    if !lab::is_root("as_many_flows_as_there_are_are_counted") {
        return;
    }
    const FLOWS: u16 = 20_000;
    let pair = Pair::new();
    let agent = Agent::start(&pair, &format!("{RULE}[flows]\nidle = \"never\"\n"), &[]);
    lab::on(&pair.a, || {
        for port in 10_000..10_000 + FLOWS {
            let socket = UdpSocket::bind(("10.77.0.1", port)).unwrap();
            socket.send_to(&[1; 50], SINK).unwrap();
        }
    })
    .join()
    .unwrap();
    assert_eq!(agent.metric("flowsched_hash_flows_total"), u64::from(FLOWS));
    assert_eq!(agent.metric("flowsched_hash_flows_active"), u64::from(FLOWS));
    assert_eq!(agent.metric("flowsched_evicted_total"), 0);
}

#[test]
fn a_late_end_of_a_connection_begins_no_message() {
    if !lab::is_root("a_late_end_of_a_connection_begins_no_message") {
        return;
    }
    let pair = Pair::new();
    let rule = RULE.replace("\"never\"", "\"5ms\"");
    let agent = Agent::start(&pair, &rule, &[]);
    lab::sink(&pair.b, SINK);
    for _ in 0..3 {
        lab::send(&pair.a, SINK, vec![200], Duration::from_millis(100));
    }
    let ended = || agent.metric("flowsched_message_bytes_count") == 3;
    assert!((0..200).any(|_| ended() || {
        thread::sleep(Duration::from_millis(50));
        false
    }));
    assert_eq!(agent.metric("flowsched_messages_total{by=\"idle\"}"), 0);
    assert_eq!(agent.metric("flowsched_message_bytes_sum"), 600);
}

/// The number of connections of a crowd, and of those that are open at once. There are thousands per
/// second, since each takes a fraction of a millisecond and none waits for a timer.
const CROWD: u64 = 4000;
const AT_ONCE: u64 = 8;

#[test]
fn thousands_of_connections_a_second_are_tagged_and_leave_nothing_behind() {
    if !lab::is_root("thousands_of_connections_a_second_are_tagged_and_leave_nothing_behind") {
        return;
    }
    let pair = Pair::new();
    let agent = Agent::start(&pair, RULE, &[]);
    lab::answer(&pair.b, SINK, || ());
    let capture = Capture::start(&pair.b);
    let start = Instant::now();
    let clients = (0..AT_ONCE).map(|_| {
        lab::on(&pair.a, || (0..CROWD / AT_ONCE).filter(|_| lab::converse(SINK)).count() as u64)
    });
    let clients: Vec<_> = clients.collect();
    let answered: u64 = clients.into_iter().map(|client| client.join().unwrap()).sum();
    let rate = CROWD as f64 / start.elapsed().as_secs_f64();
    println!("{CROWD} connections opened, used and closed, {rate:.0} a second");
    let frames = capture.end();
    assert_eq!(answered, CROWD, "connections were lost");
    // All of them succeeded without delay: nothing was dropped, sent again or timed out.
    for host in [&pair.a, &pair.b] {
        for name in ["TcpRetransSegs", "TcpExtListenOverflows", "TcpExtListenDrops"] {
            assert_eq!(lab::counted(host, name), 0, "{name} of {host}");
        }
        let drops = sh(&format!("nsenter --net=/run/netns/{host} cat /proc/net/dev"));
        let drops = drops.lines().filter(|line| line.contains("st:")).map(|line| {
            let columns: Vec<&str> = line.split_whitespace().collect();
            (columns[4].to_owned(), columns[12].to_owned())
        });
        assert_eq!(drops.collect::<Vec<_>>(), [("0".to_owned(), "0".to_owned())], "{host}");
    }
    // All of their packets were tagged with the first level. Each connection sent one SYN and one question.
    let seen: Vec<Seen> = frames.iter().filter_map(|frame| Seen::parse(frame)).collect();
    let sent: Vec<&Seen> = seen.iter().filter(|packet| packet.to == 5001).collect();
    assert!(sent.iter().all(|packet| packet.dscp == 40 && packet.checksums_right));
    let count = |what: fn(&Seen) -> bool| sent.iter().filter(|packet| what(packet)).count() as u64;
    assert_eq!(count(|packet| packet.syn), CROWD);
    assert_eq!(count(|packet| packet.payload == lab::QUESTION), CROWD);
    // All of them were counted, ended with their connection, and left nothing in the map.
    assert_eq!(agent.metric("flowsched_socket_flows_total"), CROWD);
    assert_eq!(agent.metric("flowsched_message_bytes_count"), CROWD);
    assert_eq!(agent.metric("flowsched_message_bytes_sum"), CROWD * lab::QUESTION as u64);
    assert_eq!(agent.metric("flowsched_hash_flows_total"), 0);
    for reason in ["unclear", "no_state", "not_written"] {
        let name = format!("flowsched_left_alone_total{{reason=\"{reason}\"}}");
        assert_eq!(agent.metric(&name), 0, "{reason}");
    }
}

/// A user without a name.
const USER: u32 = 64_000;

#[test]
fn without_the_capabilities_it_says_what_is_missing() {
    if !lab::is_root("without_the_capabilities_it_says_what_is_missing") {
        return;
    }
    let pair = Pair::new();
    let agent = Agent::prepare(&pair, RULE);
    let all = ["bpf", "net_admin", "perfmon"];
    for held in 0..all.len() {
        for dry in [&["--dry-run"][..], &[]] {
            let output = agent
                .as_user(USER, &all[..held])
                .args(["start", "--config"])
                .arg(agent.config())
                .args(dry)
                .output()
                .unwrap();
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            let missing: Vec<String> =
                all[held..].iter().map(|name| format!("CAP_{}", name.to_uppercase())).collect();
            let clear = format!("lacks {}: run it as root", missing.join(", "));
            assert!(!output.status.success() && error.contains(&clear), "{error}");
        }
    }
}

#[test]
fn without_privileges_nothing_is_done_and_nothing_untrue_is_said() {
    if !lab::is_root("without_privileges_nothing_is_done_and_nothing_untrue_is_said") {
        return;
    }
    let pair = Pair::new();
    let mut agent = Agent::start(&pair, RULE, &[]);
    let refused = |agent: &Agent, command: &str, because: &str| {
        let output = agent
            .as_user(USER, &[])
            .args(["--pins", &agent.pins, "--run-dir"])
            .arg(agent.folder.join("run"))
            .args(command.split(' '))
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(!output.status.success() && said.contains(because), "{command}: {said}");
        assert!(!said.contains("gone") && !said.contains("no tagger"), "{command}: {said}");
    };
    for command in ["status", "metrics", "histogram", "thresholds --load 0.8", "top --count 1"] {
        refused(&agent, command, "is for root");
    }
    refused(&agent, "stop", "run this as root");
    refused(&agent, "uninstall", "lacks CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON");
    let config = agent.config().display().to_string();
    refused(&agent, &format!("nic --rate 1Gbps --config {config}"), "no [nic]");
    agent.ok("stop");
    agent.wait();
    refused(&agent, "uninstall", "lacks CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON");
    assert!(agent.is_installed());
}

/// A file system that is unmounted however the test ends.
struct Mounted(String);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).status();
    }
}

/// What the systemd unit does: another user, three capabilities, and a BPF file system of its own.
#[test]
fn three_capabilities_are_all_that_it_takes() {
    if !lab::is_root("three_capabilities_are_all_that_it_takes") {
        return;
    }
    let pair = Pair::new();
    let limits = "[nic]\nrate = \"10Gbps\"\n[gso]\nmax-size = \"16KiB\"\n";
    let agent = Agent::prepare(&pair, &format!("{RULE}{limits}"));
    let (bpf, run) = (agent.folder.join("bpf"), agent.folder.join("run"));
    let [bpf_text, run_text] = [&bpf, &run].map(|path| path.display().to_string());
    sh(&format!(
        "mkdir {bpf_text} {run_text} && mount -t bpf bpf {bpf_text} && mkdir {bpf_text}/pins && \
         chown {USER}:{USER} {bpf_text}/pins {run_text}"
    ));
    let _mounted = Mounted(bpf_text);
    let command = |arguments: &[&str]| {
        let mut command = agent.as_user(USER, &["bpf", "net_admin", "perfmon"]);
        command.arg("--pins").arg(bpf.join("pins")).arg("--run-dir").arg(&run).args(arguments);
        command
    };
    let ok = |arguments: &[&str]| {
        let output = command(arguments).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {error}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    lab::sink(&pair.b, SINK);
    let config = agent.config().display().to_string();
    ok(&["start", "--dry-run", "--config", &config]);
    let log = std::fs::File::create(agent.folder.join("log")).unwrap();
    let mut started = command(&["start", "--config", &config]).stderr(log).spawn().unwrap();
    let said = || std::fs::read_to_string(agent.folder.join("log")).unwrap();
    let is_ready = (0..1200).any(|_| {
        thread::sleep(Duration::from_millis(100));
        said().contains("ready")
    });
    let tagged = code_points(&pair);
    let queueing = || sh(&format!("tc -n {} qdisc show dev east", pair.a));
    let scheduled = queueing();
    ok(&["status"]);
    ok(&["stop"]);
    started.wait().unwrap();
    ok(&["uninstall"]);
    let untagged = code_points(&pair);
    assert!(is_ready, "{}", said());
    assert_eq!((tagged, untagged), (vec![3, 40], vec![0]), "{}", said());
    assert!(scheduled.contains(" f5c0: root ") && !queueing().contains(" f5c0: "), "{}", said());
}

/// Sends `count` datagrams of 1000 bytes in one flow. Returns the code points with which they
/// arrive.
fn datagrams(pair: &Pair, count: usize) -> Vec<u8> {
    let capture = Capture::start(&pair.b);
    lab::on(&pair.a, move || {
        let socket = UdpSocket::bind("10.77.0.1:4000").unwrap();
        for _ in 0..count {
            socket.send_to(&[9; 1000], SINK).unwrap();
        }
    })
    .join()
    .unwrap();
    let frames = capture.end();
    let seen = frames.iter().filter_map(|frame| Seen::parse(frame));
    seen.filter(|packet| packet.from == 4000).map(|packet| packet.dscp).collect()
}

#[test]
fn another_size_of_the_map_keeps_flows_and_counters() {
    if !lab::is_root("another_size_of_the_map_keeps_flows_and_counters") {
        return;
    }
    let rule = |max: u32| format!("{RULE}[flows]\nmax = {max}\nidle = \"never\"\n");
    let pair = Pair::new();
    let mut agent = Agent::start(&pair, &rule(1024), &[]);
    assert_eq!(datagrams(&pair, 30)[29], 3);
    agent.ok("stop");
    agent.wait();
    let before = tagged(&agent);
    agent.configure(&rule(4096));
    agent.launch(&[]);
    assert_eq!(datagrams(&pair, 1), [3], "the flow's count was lost");
    assert!(tagged(&agent) > before, "counters began anew");
    assert_eq!(agent.metric("flowsched_hash_flows_limit"), 4096);
}

/// Makes the pinned maps look like those of another version, by another layout number behind the
/// number of the active rule.
fn change_layout(agent: &Agent) {
    use libbpf_rs::{MapCore, MapFlags, MapHandle};
    let map = MapHandle::from_pinned_path(format!("{}/settings", agent.pins)).unwrap();
    let key = 0u32.to_ne_bytes();
    let mut settings = map.lookup(&key, MapFlags::ANY).unwrap().unwrap();
    settings[4] ^= 0x40;
    map.update(&key, &settings, MapFlags::ANY).unwrap();
}

#[test]
fn another_version_takes_over_and_says_what_begins_anew() {
    if !lab::is_root("another_version_takes_over_and_says_what_begins_anew") {
        return;
    }
    let pair = Pair::new();
    lab::sink(&pair.b, SINK);
    let rule = format!("{RULE}[flows]\nidle = \"never\"\n");
    let mut agent = Agent::start(&pair, &rule, &[]);
    let (go, went) = std::sync::mpsc::channel::<()>();
    let host = pair.a.clone();
    let sending = lab::on(&host, move || {
        let mut stream = TcpStream::connect(SINK).unwrap();
        while went.recv().is_ok() {
            stream.write_all(&[1; 30_000]).unwrap();
        }
    });
    go.send(()).unwrap();
    assert_eq!(datagrams(&pair, 30)[29], 3);
    agent.ok("stop");
    agent.wait();
    change_layout(&agent);
    agent.launch_and_wait_for("another version");
    agent.wait_for("ready");
    // The connection keeps its level, and the flow of datagrams begins anew.
    let capture = Capture::start(&pair.b);
    go.send(()).unwrap();
    thread::sleep(Duration::from_millis(50));
    let seen: Vec<Seen> = capture.end().iter().filter_map(|frame| Seen::parse(frame)).collect();
    assert_eq!(seen.iter().find(|p| p.to == 5001 && p.payload > 0).unwrap().dscp, 3);
    assert_eq!(datagrams(&pair, 30)[0], 40);
    assert!(agent.metric("flowsched_packets_total{level=\"0\",dscp=\"40\"}") < 60);
    let status = agent.ok("status");
    assert!(status.contains("packets passed the tagger\n"), "{status}");
    drop(go);
    sending.join().unwrap();
    agent.ok("uninstall");
    assert!(!agent.is_installed());
}
