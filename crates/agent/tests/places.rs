//! The agent's folders: what outlives the agent there, who may write to them, who may end the
//! agent, and what a failed start leaves behind. Needs root.

#[path = "support/agent.rs"]
mod agent;
#[path = "support/lab.rs"]
mod lab;

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Output};

use agent::Agent;
use lab::{Pair, sh};
use libbpf_rs::{MapHandle, MapType};

const RULE: &str = "thresholds = \"20KB\"\ndscp = [40, 3]\n";
const OTHER: &str = "thresholds = \"20KB\"\ndscp = [41, 4]\n";
/// Put in front of an agent that must not find `ip`, so that it fails after it has attached.
const NO_TOOLS: [&str; 2] = ["env", "PATH=/none"];
/// A user without a name.
const STRANGER: u32 = 64_001;

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// The hooks, queueing and limits of the interface, without statistics.
fn interface(pair: &Pair) -> String {
    sh(&format!(
        "tc -n {a} qdisc show dev east | sed 's/refcnt [0-9]*//; s/direct_packets_stat [0-9]*//'; tc -n {a} filter show dev east egress; \
         ip -n {a} -details link show dev east | grep -o 'gso_max_size [0-9]*'",
        a = pair.a
    ))
}

fn levels(agent: &Agent) -> Vec<String> {
    agent.ok("status").lines().filter(|line| line.starts_with("level")).map(str::to_owned).collect()
}

#[test]
fn every_command_finds_an_agent_by_its_run_directory() {
    if !lab::is_root("every_command_finds_an_agent_by_its_run_directory") {
        return;
    }
    let pair = Pair::new();
    let mut agent = Agent::start(&pair, RULE, &[]);
    for command in ["status", "metrics", "top --count 1"] {
        let output = agent.run_without_pins(command);
        assert_eq!(code(&output), 0, "{command}: {}", said(&output));
        let output = agent.run_without_pins(&format!("--pins /sys/fs/bpf/fst-none {command}"));
        assert!(said(&output).contains("contradicts"), "{command}: {}", said(&output));
        assert_eq!(code(&output), 2);
    }
    assert!(said(&agent.run_without_pins("status")).contains("interface: east by tcx"));
    assert_eq!(code(&agent.run_without_pins("stop")), 0);
    agent.wait();
    // A second tagger must not be installed silently.
    let elsewhere = format!("--pins {}x start --config {}", agent.pins, agent.config().display());
    let output = agent.run_without_pins(&elsewhere);
    assert!(said(&output).contains("two taggers") && code(&output) == 2, "{}", said(&output));
    let output = agent.run_without_pins("uninstall");
    assert!(said(&output).contains("the tagger and its maps are gone"), "{}", said(&output));
    assert!(!agent.is_installed() && !agent.run_dir().exists());
}

#[test]
fn an_exit_code_says_what_went_wrong() {
    if !lab::is_root("an_exit_code_says_what_went_wrong") {
        return;
    }
    let pair = Pair::new();
    let agent = Agent::prepare(&pair, RULE);
    let config = agent.config().display().to_string();
    for command in ["status", "metrics", "histogram", "thresholds --load 0.8", "top --count 1"] {
        let output = agent.run(command);
        assert_eq!(code(&output), 3, "{command}: {}", said(&output));
    }
    assert_eq!(code(&agent.run("no-such-command")), 2);
    assert_eq!(code(&agent.run("start --config /none/agent.toml")), 2);
    let output = agent.as_user(STRANGER, &[]).args(["start", "--config", &config]).output();
    assert_eq!(code(&output.unwrap()), 4);
    for command in ["stop", "uninstall"] {
        let output = agent.run(command);
        assert!(code(&output) == 0 && !said(&output).contains("gone"), "{}", said(&output));
    }
    agent.configure("thresholds = \"2KB 1KB\"\n");
    assert_eq!(code(&agent.fail_to_start(&[], "")), 2);
    agent.configure(RULE);
    fs::create_dir(agent.run_dir()).unwrap();
    fs::set_permissions(agent.run_dir(), fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(code(&agent.fail_to_start(&[], "")), 1);
}

#[test]
fn status_says_that_nothing_is_tagged() {
    if !lab::is_root("status_says_that_nothing_is_tagged") {
        return;
    }
    let pair = Pair::new();
    let mut agent = Agent::prepare(&pair, RULE);
    let text = fs::read_to_string(agent.config()).unwrap().replace("east", "elsewhere");
    fs::write(agent.config(), text).unwrap();
    agent.launch(&[]);
    let status = agent.ok("status");
    assert!(status.contains("interfaces: none, so no packet is tagged\n"), "{status}");
}

#[test]
fn stop_and_uninstall_work_across_pid_namespaces() {
    if !lab::is_root("stop_and_uninstall_work_across_pid_namespaces") {
        return;
    }
    let pair = Pair::new();
    let mut agent = Agent::prepare(&pair, RULE);
    agent.launch_in_pid_namespace();
    assert!(agent.ok("status").contains("agent: process 1\n"));
    assert!(agent.ok("stop").contains("has ended"));
    agent.wait();
    agent.launch_in_pid_namespace();
    assert!(agent.ok("uninstall").contains("gone"));
    agent.wait();
    assert!(!agent.is_installed());
}

#[test]
fn nobody_else_can_pose_as_the_agent_or_end_it() {
    if !lab::is_root("nobody_else_can_pose_as_the_agent_or_end_it") {
        return;
    }
    let pair = Pair::new();
    let mut agent = Agent::start(&pair, RULE, &[]);
    let lock = agent.run_dir().join("agent.lock");
    let locked = |user: u32| {
        let mut setpriv = Command::new("setpriv");
        setpriv.args([&format!("--reuid={user}"), "--clear-groups", "flock", "--nonblock"]);
        setpriv.arg(&lock).arg("true").output().unwrap()
    };
    assert!(said(&locked(STRANGER)).contains("Permission denied"));
    for command in ["stop", "status"] {
        let mut as_stranger = agent.as_user(STRANGER, &[]);
        let output = as_stranger.arg("--run-dir").arg(agent.run_dir()).arg(command).output();
        assert_eq!(code(&output.unwrap()), 4, "{command}");
    }
    agent.ok("stop");
    agent.wait();
    // Somebody holds the lock, and its file has the process ID of a bystander.
    let mut bystander = Command::new("sleep").arg("600").spawn().unwrap();
    fs::write(&lock, format!("{}\n", bystander.id())).unwrap();
    let mut holder = Command::new("flock").arg(&lock).args(["sleep", "600"]).spawn().unwrap();
    while locked(0).status.success() {}
    let output = agent.run("stop");
    let is_alive = bystander.try_wait().unwrap().is_none();
    bystander.kill().unwrap();
    sh(&format!("kill $(cat /proc/{0}/task/{0}/children)", holder.id()));
    for child in [&mut bystander, &mut holder] {
        child.wait().unwrap();
    }
    assert!(is_alive, "the bystander was signalled");
    assert!(code(&output) == 1 && said(&output).contains("cannot be reached"), "{}", said(&output));
}

#[test]
fn uninstall_removes_only_what_the_agent_makes() {
    if !lab::is_root("uninstall_removes_only_what_the_agent_makes") {
        return;
    }
    let pair = Pair::new();
    let mut agent = Agent::start(&pair, RULE, &[]);
    agent.ok("stop");
    agent.wait();
    let options = map_options();
    let mut strangers =
        MapHandle::create(MapType::Array, Some("strangers"), 4, 4, 1, &options).unwrap();
    let pin = format!("{}/strangers", agent.pins);
    strangers.pin(&pin).unwrap();
    let printed = agent.ok("uninstall");
    assert!(printed.contains(&format!("{pin}: not the agent's, stays")), "{printed}");
    assert!(printed.contains("gone"), "{printed}");
    let left: Vec<_> = fs::read_dir(&agent.pins).unwrap().flatten().collect();
    assert!(left.len() == 1 && Path::new(&pin).exists(), "{left:?}");
    fs::remove_file(&pin).unwrap();
    // A folder with somebody else's pins, one of which has the name of an agent's pin.
    let pin = format!("{}/settings", agent.pins);
    strangers.pin(&pin).unwrap();
    let printed = agent.ok("uninstall");
    assert!(printed.contains(&format!("{pin}: not the agent's, stays")), "{printed}");
    assert!(Path::new(&pin).exists());
    fs::remove_file(&pin).unwrap();
    // A folder without pins, whatever the names of its files.
    let home = agent.folder.join("home");
    fs::create_dir(&home).unwrap();
    for name in ["settings", "thesis.tex", "link_eth0"] {
        fs::write(home.join(name), "dear").unwrap();
    }
    let output = agent.run_without_pins(&format!("--pins {} uninstall", home.display()));
    assert!(
        code(&output) == 1 && said(&output).contains("no BPF file system"),
        "{}",
        said(&output)
    );
    assert_eq!(fs::read_dir(&home).unwrap().count(), 3);
}

/// After a kill, with the interface deleted, or with its hook removed by somebody else.
#[test]
fn uninstall_forgets_interfaces_on_which_nothing_is_left() {
    if !lab::is_root("uninstall_forgets_interfaces_on_which_nothing_is_left") {
        return;
    }
    for take_away in ["ip -n {a} link del east", "tc -n {a} qdisc del dev east clsact"] {
        let pair = Pair::new();
        let more = "[gso]\nmax-size = \"16KiB\"\n[nic]\nrate = \"1Gbps\"\n";
        let mut agent = Agent::start(&pair, &format!("{RULE}{more}"), &["--clsact"]);
        agent.signal("-KILL");
        agent.wait();
        sh(&take_away.replace("{a}", &pair.a));
        assert!(agent.ok("uninstall").contains("gone"));
        let entries = fs::read_dir(agent.run_dir()).into_iter().flatten().flatten();
        let left: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        let records: Vec<_> =
            left.iter().filter(|name| name.to_string_lossy().contains('_')).collect();
        assert!(records.is_empty(), "{take_away}: {left:?}");
    }
}

#[test]
fn mistakes_in_the_configuration_of_metrics_have_their_exit_code() {
    if !lab::is_root("mistakes_in_the_configuration_of_metrics_have_their_exit_code") {
        return;
    }
    let pair = Pair::new();
    for metrics in ["tls-key = \"/none\"", "listen = \"${NO_SUCH_VARIABLE}:9487\""] {
        let agent = Agent::prepare(&pair, &format!("{RULE}[metrics]\n{metrics}\n"));
        let output = agent.fail_to_start(&[], "");
        assert_eq!(code(&output), 2, "{}", said(&output));
        assert!(!agent.is_installed());
    }
}

fn map_options() -> libbpf_sys::bpf_map_create_opts {
    libbpf_sys::bpf_map_create_opts {
        sz: size_of::<libbpf_sys::bpf_map_create_opts>() as _,
        ..Default::default()
    }
}

#[test]
fn folders_that_a_stranger_can_write_to_are_refused() {
    if !lab::is_root("folders_that_a_stranger_can_write_to_are_refused") {
        return;
    }
    let pair = Pair::new();
    let agent = Agent::prepare(&pair, RULE);
    let run = agent.run_dir();
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    let refused = |because: &str| {
        let output = agent.fail_to_start(&[], "");
        assert!(code(&output) == 1 && said(&output).contains(because), "{}", said(&output));
    };
    for folder in [run.as_path(), Path::new(&agent.pins)] {
        fs::create_dir(folder).unwrap();
        mode(folder, 0o777).unwrap();
        refused("mode 0777");
        mode(folder, 0o755).unwrap();
        chown(folder, Some(STRANGER), None).unwrap();
        refused(&format!("belongs to uid {STRANGER}"));
        fs::remove_dir(folder).unwrap();
        symlink("/sys/fs/bpf", folder).unwrap();
        refused("symbolic link");
        fs::remove_file(folder).unwrap();
    }
    // Something that another user has pinned there before.
    fs::create_dir(&agent.pins).unwrap();
    let mut map = MapHandle::create(MapType::Array, Some("m"), 4, 4, 1, &map_options()).unwrap();
    let pin = format!("{}/settings", agent.pins);
    map.pin(&pin).unwrap();
    chown(&pin, Some(STRANGER), None).unwrap();
    refused(&format!("settings belongs to uid {STRANGER}"));
    fs::remove_file(&pin).unwrap();
    fs::remove_dir(&agent.pins).unwrap();
    let output = agent.run(&format!("start --config {}x", agent.config().display()));
    assert_eq!(code(&output), 2);
    assert!(!agent.is_installed() && !run.exists());
}

/// Makes a tree that could not be restored.
fn occupy_queueing(pair: &Pair) {
    sh(&format!(
        "tc -n {a} qdisc add dev east root handle 1: htb && \
         tc -n {a} filter add dev east parent 1: protocol ip u32 match u32 0 0 flowid 1:1",
        a = pair.a
    ));
}

#[test]
fn a_start_that_fails_late_leaves_nothing() {
    if !lab::is_root("a_start_that_fails_late_leaves_nothing") {
        return;
    }
    let limits = "[gso]\nmax-size = \"16KiB\"\n";
    for hook in ["", "--clsact"] {
        let pair = Pair::new();
        let host = pair.a.clone();
        let _occupant = lab::on(&host, || TcpListener::bind("127.0.0.1:9487").unwrap()).join();
        occupy_queueing(&pair);
        let before = interface(&pair);
        for (rule, because) in [
            ("[metrics]\nlisten = \"127.0.0.1:9487\"\n", "127.0.0.1:9487"),
            ("[nic]\nrate = \"1Gbps\"\n", "has filters"),
        ] {
            let agent = Agent::prepare(&pair, &format!("{RULE}{limits}{rule}"));
            let output = agent.fail_to_start(&[], hook);
            assert!(code(&output) == 1 && said(&output).contains(because), "{}", said(&output));
            assert_eq!(interface(&pair), before, "{because}");
            assert!(!agent.is_installed() && !agent.run_dir().exists(), "{because}");
        }
        // The interface is tagged already when limiting its super-packets fails, because `ip` is
        // not found.
        let agent = Agent::prepare(&pair, &format!("{RULE}{limits}"));
        let output = agent.fail_to_start(&NO_TOOLS, hook);
        assert!(said(&output).contains("east: tagged"), "{}", said(&output));
        assert!(code(&output) == 1 && said(&output).contains("run ip"), "{}", said(&output));
        assert_eq!(interface(&pair), before);
        assert!(!agent.is_installed() && !agent.run_dir().exists());
    }
}

#[test]
fn a_start_that_fails_late_leaves_the_older_tagger() {
    if !lab::is_root("a_start_that_fails_late_leaves_the_older_tagger") {
        return;
    }
    let pair = Pair::new();
    let host = pair.a.clone();
    let _occupant = lab::on(&host, || TcpListener::bind("127.0.0.1:9487").unwrap()).join();
    for hook in [&[][..], &["--clsact"][..]] {
        let mut agent = Agent::start(&pair, RULE, hook);
        agent.signal("-KILL");
        agent.wait();
        let (before, rule) = (interface(&pair), levels(&agent));
        for (more, before) in [
            ("[metrics]\nlisten = \"127.0.0.1:9487\"\n", &[][..]),
            ("[nic]\nrate = \"1Gbps\"\n", &[]),
            // Fails after the older agent's program was replaced.
            ("[gso]\nmax-size = \"16KiB\"\n", &NO_TOOLS),
        ] {
            occupy_queueing(&pair);
            agent.configure(&format!("{OTHER}{more}"));
            let output = agent.fail_to_start(before, &hook.join(" "));
            assert_eq!(code(&output), 1, "{}", said(&output));
            sh(&format!("tc -n {} qdisc del dev east root", pair.a));
            assert_eq!(levels(&agent), rule, "another rule is in force");
            assert!(agent.ok("status").contains("interface: east by"));
        }
        let after = interface(&pair);
        assert_eq!(after.lines().count(), before.lines().count(), "{before}\n{after}");
        agent.ok("uninstall");
    }
}

/// Starts an agent, and holds it up after it has attached: its `ip` waits.
fn hold_up(agent: &mut Agent) {
    let folder = agent.folder.display().to_string();
    sh(&format!(
        "rm -f {folder}/go && mkdir -p {folder}/bin && \
         printf '#!/bin/sh\\nwhile [ ! -e {folder}/go ]; do sleep 0.05; done; exec %s \"$@\"' \
             $(command -v ip) >{folder}/bin/ip && chmod 755 {folder}/bin/ip"
    ));
    let path = format!("PATH={folder}/bin:{}", std::env::var("PATH").unwrap());
    let mut command = agent.command_after(&["env", &path]);
    command.args(["start", "--config"]).arg(agent.config());
    agent.launch_as(command);
    agent.wait_for("east: tagged");
}

#[test]
fn a_start_that_is_interrupted_leaves_nothing() {
    if !lab::is_root("a_start_that_is_interrupted_leaves_nothing") {
        return;
    }
    let pair = Pair::new();
    let before = interface(&pair);
    let mut agent = Agent::prepare(&pair, &format!("{RULE}[gso]\nmax-size = \"16KiB\"\n"));
    let go = agent.folder.join("go");
    hold_up(&mut agent);
    agent.signal("-TERM");
    fs::write(&go, "").unwrap();
    agent.wait_for("ended before it was ready");
    agent.wait();
    assert_eq!(interface(&pair), before);
    assert!(!agent.is_installed() && !agent.run_dir().exists());
    hold_up(&mut agent);
    let mut caller = UnixStream::connect(agent.run_dir().join("control")).unwrap();
    caller.write_all(b"stop\n").unwrap();
    fs::write(&go, "").unwrap();
    let mut answer = String::new();
    caller.read_to_string(&mut answer).unwrap();
    assert!(answer.trim().parse::<u32>().is_ok(), "{answer}");
    agent.wait();
    assert_eq!(interface(&pair), before);
    assert!(!agent.is_installed() && !agent.run_dir().exists());
}

#[test]
fn a_log_has_the_level_that_it_was_asked_for() {
    if !lab::is_root("a_log_has_the_level_that_it_was_asked_for") {
        return;
    }
    let pair = Pair::new();
    let mut agent = Agent::start(&pair, RULE, &["--log-level", "debug"]);
    agent.wait_for("idle flows ended");
    agent.ok("stop");
    agent.wait();
    let mut quiet = agent.as_user(0, &["bpf", "net_admin", "perfmon"]);
    quiet.args(["--pins", &agent.pins, "--run-dir"]).arg(agent.run_dir());
    quiet.args(["start", "--log-level", "warn", "--config"]).arg(agent.config());
    agent.launch_as(quiet);
    while !agent.run("status").stdout.starts_with(b"agent: process") {}
    agent.configure("thresholds = \"2KB 1KB\"\n");
    // This must be the agent's first message.
    agent.wait_for_first("error: the new configuration is refused");
}
