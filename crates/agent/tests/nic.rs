//! Scheduling of a host's interface, with the disciplines that the kernel has. Needs root.

#[path = "support/agent.rs"]
mod agent;
#[path = "support/lab.rs"]
mod lab;
#[path = "support/seen.rs"]
mod seen;

use std::net::UdpSocket;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use agent::Agent;
use lab::{Capture, Pair, sh};
use nix::sys::socket::{setsockopt, sockopt};
use seen::Seen;

const RULE: &str = "thresholds = \"20KB\"\ndscp = [32, 0]\n[message]\nidle = \"never\"\n\
                    [flows]\nidle = \"never\"\n[nic]\nrate = \"300Kbps\"\nmark-at = \"20pkt\"\n";

const ECT0: i32 = 2;

fn queueing(pair: &Pair) -> String {
    let show = |what: &str| sh(&format!("tc -n {} {what} show dev east", pair.a));
    // Statistics are not part of the setup.
    let text = format!("{}{}{}", show("qdisc"), show("class"), show("filter"));
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let mut words: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
    if let Some(at) = words.iter().position(|word| *word == "direct_packets_stat") {
        words.drain(at..at + 2);
    }
    // `tc` prints a burst in ticks of the kernel's clock, so it is some bytes off the value that
    // was given.
    let roughly = |word: &str| match word.strip_suffix('b').map(str::parse::<u64>) {
        Some(Ok(bytes)) => format!("{}kb", (bytes + 500) / 1000),
        _ => word.to_owned(),
    };
    words.iter().map(|word| roughly(word)).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_dry_run_changes_nothing_and_prints_what_would_be_run() {
    if !lab::is_root("a_dry_run_changes_nothing_and_prints_what_would_be_run") {
        return;
    }
    let pair = Pair::new();
    let agent = Agent::prepare(&pair, RULE);
    let before = queueing(&pair);
    let config = agent.config().display().to_string();
    let printed = agent.ok(&format!("nic --dry-run --config {config}"));
    assert_eq!(printed, agent.ok(&format!("nic start --dry-run --config {config}")));
    assert_eq!(queueing(&pair), before);
    // The printed commands are those that are run. By hand, they make the same tree.
    for line in printed.lines().take_while(|line| !line.starts_with("# to put back")) {
        if line.starts_with("tc ") {
            sh(&format!("nsenter --net=/run/netns/{} {line}", pair.a));
        }
    }
    let by_hand = queueing(&pair);
    sh(&format!("tc -n {} qdisc del dev east root", pair.a));
    agent.ok(&format!("nic --config {config}"));
    assert_eq!(queueing(&pair), by_hand);
    let undo = agent.ok("nic stop --dry-run");
    assert!(undo.contains("qdisc del dev east root"), "{undo}");
    assert_eq!(queueing(&pair), by_hand);
    agent.ok("nic stop");
    assert_eq!(queueing(&pair), before, "what was there before is not back");
}

/// Room for all datagrams of a test, however late they are forwarded or read.
const ROOM: usize = 4 << 20;

/// Receives datagrams on the second host. Returns the port that each came from, in their order.
fn arrivals(pair: &Pair) -> Receiver<u16> {
    let (say, said) = channel();
    let (ready, is_ready) = channel();
    lab::on(&pair.b, move || {
        let socket = UdpSocket::bind("10.77.0.2:9").unwrap();
        setsockopt(&socket, sockopt::RcvBufForce, &ROOM).unwrap();
        ready.send(()).unwrap();
        while let Ok((_, from)) = socket.recv_from(&mut [0; 2000]) {
            if say.send(from.port()).is_err() {
                return;
            }
        }
    });
    is_ready.recv().unwrap();
    said
}

/// Sends datagrams from a port of the first host. None waits for room.
fn send_datagrams(pair: &Pair, port: u16, count: usize) {
    lab::on(&pair.a, move || {
        let socket = UdpSocket::bind(("10.77.0.1", port)).unwrap();
        setsockopt(&socket, sockopt::Ipv4Tos, &ECT0).unwrap();
        setsockopt(&socket, sockopt::SndBufForce, &ROOM).unwrap();
        for _ in 0..count {
            socket.send_to(&[1; 1000], "10.77.0.2:9").unwrap();
        }
    })
    .join()
    .unwrap();
}

/// Waits for a packet from this port. Returns how many packets came before it.
fn wait_for_arrival(arrivals: &Receiver<u16>, port: u16) -> usize {
    let lost = |_| panic!("a datagram from port {port} was lost");
    let next = || arrivals.recv_timeout(Duration::from_secs(300)).unwrap_or_else(lost);
    std::iter::repeat_with(next).take_while(|from| *from != port).count()
}

/// The number of packets that wait on the first host's interface.
fn waiting(pair: &Pair) -> usize {
    let text = sh(&format!("tc -n {} -s qdisc show dev east root", pair.a));
    let backlog = text.split_once("backlog ").unwrap_or_else(|| panic!("no backlog: {text}")).1;
    let packets = backlog.split_whitespace().nth(1).and_then(|word| word.strip_suffix('p'));
    packets.unwrap_or_else(|| panic!("no packets: {text}")).parse().unwrap()
}

#[test]
fn short_flows_overtake_what_is_queued() {
    if !lab::is_root("short_flows_overtake_what_is_queued") {
        return;
    }
    const SENT: usize = 300;
    let pair = Pair::new();
    // So slow that the queue holds nearly everything that is sent, however slow the processor is.
    let agent = Agent::start(&pair, &RULE.replace("300Kbps", "20Kbps"), &[]);
    let printed = agent.ok(&format!("nic start --dry-run --config {}", agent.config().display()));
    println!("{printed}");
    let capture = Capture::start(&pair.b);
    let arrivals = arrivals(&pair);
    // From here on, the neighbour's address is known.
    send_datagrams(&pair, 4002, 1);
    wait_for_arrival(&arrivals, 4002);
    send_datagrams(&pair, 4000, SENT);
    send_datagrams(&pair, 4001, 1);
    let before = wait_for_arrival(&arrivals, 4001);
    // All of the long flow was sent before the short one, so the packets that still wait were
    // overtaken.
    let overtaken = waiting(&pair);
    assert!(overtaken > 50, "{overtaken} still waited when the short flow came, after {before}");
    if printed.contains(" red ") {
        // Empty the queue at once. Packets keep the marks that they have.
        sh(&format!(
            "tc -n {} qdisc change dev east root handle f5c0: tbf rate 100mbit burst 80000b \
             limit 480000b",
            pair.a
        ));
        for _ in before..SENT {
            wait_for_arrival(&arrivals, 4000);
        }
        let frames = capture.end();
        let seen = frames.iter().filter_map(|frame| Seen::parse(frame));
        let marked = seen.filter(|packet| packet.ecn == 3).count();
        assert!(marked > 20, "{marked} were marked, of a queue of {overtaken} packets");
    }
}

#[test]
fn an_operators_own_scheduling_is_put_back() {
    if !lab::is_root("an_operators_own_scheduling_is_put_back") {
        return;
    }
    let trees = [
        "qdisc add dev east root handle 7: tbf rate 500mbit burst 100kb latency 50ms",
        "qdisc add dev east root handle 5: htb default 20; \
         class add dev east parent 5: classid 5:1 htb rate 800mbit; \
         class add dev east parent 5:1 classid 5:10 htb rate 100mbit ceil 800mbit prio 1; \
         class add dev east parent 5:1 classid 5:20 htb rate 50mbit ceil 800mbit prio 2; \
         qdisc add dev east parent 5:10 handle 50: pfifo limit 77",
        "qdisc add dev east root handle 9: prio bands 4",
        "qdisc add dev east root handle 8: fq_codel limit 500",
        "qdisc add dev east root handle 8: fq limit 500",
    ];
    for tree in trees {
        let pair = Pair::new();
        let made = tree.split("; ").all(|command| {
            let host = format!("--net=/run/netns/{}", pair.a);
            let words = [host, "tc".to_owned()].into_iter();
            let words = words.chain(command.split_whitespace().map(str::to_owned));
            let output = std::process::Command::new("nsenter").args(words).output().unwrap();
            output.status.success()
        });
        if !made {
            println!("this kernel cannot: {tree}");
            continue;
        }
        let before = queueing(&pair);
        let agent = Agent::prepare(&pair, RULE);
        agent.ok(&format!("nic start --config {}", agent.config().display()));
        assert_ne!(queueing(&pair), before);
        agent.ok("nic stop");
        assert_eq!(queueing(&pair), before, "{tree}");
    }
}

#[test]
fn what_could_not_be_put_back_is_not_touched() {
    if !lab::is_root("what_could_not_be_put_back_is_not_touched") {
        return;
    }
    let filter = |parent: &str| {
        format!(
            "tc filter add dev east parent {parent} protocol ip prio 1 u32 match u32 0 0 \
             flowid {parent}1"
        )
    };
    // Filters at the root, and further down.
    let trees = [
        format!("tc qdisc add dev east root handle 5: htb && {}", filter("5:")),
        format!(
            "tc qdisc add dev east root handle 5: htb default 1 && \
             tc class add dev east parent 5: classid 5:1 htb rate 1gbit && \
             tc qdisc add dev east parent 5:1 handle 50: htb && {}",
            filter("50:")
        ),
    ];
    for tree in trees {
        let pair = Pair::new();
        sh(&format!("nsenter --net=/run/netns/{} sh -c '{tree}'", pair.a));
        let before = queueing(&pair);
        let agent = Agent::prepare(&pair, RULE);
        let output = agent.run(&format!("nic start --config {}", agent.config().display()));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains("filters"), "{tree}: {error}");
        assert_eq!(queueing(&pair), before);
    }
}

/// Whether an interface is scheduled, with this code point for the highest level.
fn is_scheduled(pair: &Pair, code_point: u8) -> bool {
    let filters = ["f5c0:", "3:"].map(|parent| {
        sh(&format!("tc -n {} filter show dev east parent {parent} || true", pair.a))
    });
    // `tc` shows u32 filters as words of the header. The type of service is the second byte.
    let class = format!("match 00{:02x}0000/00fc0000", code_point << 2);
    queueing(pair).contains(" f5c0: root ") && filters.concat().contains(&class)
}

/// Waits until `holds`. Panics after 20 s, which is longer than the agent takes to check its
/// interfaces.
fn soon(what: &str, holds: impl Fn() -> bool) {
    assert!(
        (0..200).any(|_| holds() || {
            thread::sleep(Duration::from_millis(100));
            false
        }),
        "{what}"
    );
}

#[test]
fn scheduling_outlives_the_agent_and_interfaces_that_come_back_have_it() {
    if !lab::is_root("scheduling_outlives_the_agent_and_interfaces_that_come_back_have_it") {
        return;
    }
    let pair = Pair::new();
    let before = queueing(&pair);
    let mut agent = Agent::start(&pair, RULE, &[]);
    let scheduled = queueing(&pair);
    assert!(is_scheduled(&pair, 32), "{scheduled}");
    agent.signal("-KILL");
    agent.wait();
    // As long as the configuration is unchanged, nothing is made again, so that no packet in a
    // queue is lost.
    sh(&format!(
        "tc -n {0} qdisc replace dev east parent f5c0:10 handle 77: pfifo limit 9 || \
         tc -n {0} qdisc replace dev east parent 3:1 handle 77: pfifo limit 9",
        pair.a
    ));
    let marked = queueing(&pair);
    agent.launch(&[]);
    assert_eq!(queueing(&pair), marked, "a restart made the queues anew");
    // Another rate or other code points need another tree.
    agent.configure(&RULE.replace("dscp = [32, 0]", "dscp = [40, 0]"));
    agent.wait_for("in force");
    assert!(is_scheduled(&pair, 40) && !is_scheduled(&pair, 32), "{}", queueing(&pair));
    pair.disconnect();
    thread::sleep(Duration::from_millis(1500));
    pair.connect();
    soon("the interface that came back is not scheduled", || is_scheduled(&pair, 40));
    // Somebody else has removed the tree. This must not keep the agent from being uninstalled.
    sh(&format!("tc -n {} qdisc del dev east root", pair.a));
    agent.ok("uninstall");
    assert!(!agent.is_installed());
    assert_eq!(queueing(&pair), before);
}

#[test]
fn a_configuration_that_cannot_be_scheduled_changes_nothing() {
    if !lab::is_root("a_configuration_that_cannot_be_scheduled_changes_nothing") {
        return;
    }
    let pair = Pair::new();
    let without = "thresholds = \"20KB\"\ndscp = [32, 0]\n";
    let agent = Agent::start(&pair, without, &[]);
    sh(&format!(
        "tc -n {0} qdisc add dev east root handle 5: htb && \
         tc -n {0} filter add dev east parent 5: protocol ip prio 1 u32 match u32 0 0 flowid 5:1",
        pair.a
    ));
    let before = queueing(&pair);
    agent.configure(&RULE.replace("20KB", "30KB"));
    agent.wait_for("refused");
    assert_eq!(queueing(&pair), before);
    let status = agent.ok("status");
    assert!(
        status.contains("up to 20000 B"),
        "half of the new configuration is in force: {status}"
    );
    assert_eq!(agent.metric("flowsched_reloads_refused_total"), 1);
    assert_eq!(agent.metric("flowsched_reloads_total"), 0);
}

#[test]
fn the_agent_and_commands_take_turns() {
    if !lab::is_root("the_agent_and_commands_take_turns") {
        return;
    }
    let pair = Pair::new();
    let agent = Agent::start(&pair, RULE, &[]);
    // Use another configuration, so that each command undoes what the last one made.
    let other = agent.folder.join("other.toml");
    let faster = RULE.replace("300Kbps", "400Kbps");
    std::fs::write(&other, format!("interfaces = [\"east\"]\n{faster}")).unwrap();
    thread::scope(|scope| {
        for config in [agent.config(), other] {
            let mut command = agent.command_after(&[]);
            command.arg("nic").arg("--config").arg(config);
            scope.spawn(move || {
                for _ in 0..5 {
                    let ended = command.output().unwrap();
                    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
                }
            });
        }
        for mark in 21..26 {
            agent.configure(&RULE.replace("20pkt", &format!("{mark}pkt")));
            thread::sleep(Duration::from_millis(200));
        }
    });
    // The agent may still be handling the last change of its file.
    soon("the interface is not scheduled", || is_scheduled(&pair, 32));
    assert_eq!(agent.metric("flowsched_reloads_refused_total"), 0);
    agent.ok("stop");
    agent.ok("nic stop");
    assert!(!is_scheduled(&pair, 32), "{}", queueing(&pair));
}

/// Makes a `tc` that fails for commands that make the agent's tree on `interface`.
fn failing_tc(agent: &Agent, interface: &str) -> String {
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *\"dev {interface} root handle f5c0:\"*) exit 1;; esac\n\
         exec {} \"$@\"\n",
        sh("command -v tc").trim()
    );
    let folder = agent.folder.join("failing");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("tc"), script).unwrap();
    sh(&format!("chmod +x {}/tc", folder.display()));
    format!("PATH={}:{}", folder.display(), std::env::var("PATH").unwrap())
}

#[test]
fn one_interface_that_fails_leaves_all_scheduled_as_they_were() {
    if !lab::is_root("one_interface_that_fails_leaves_all_scheduled_as_they_were") {
        return;
    }
    let pair = Pair::new();
    let (a, b) = (&pair.a, &pair.b);
    sh(&format!("ip link add odd netns {a} type veth peer name even netns {b}"));
    sh(&format!("ip -n {a} link set odd up && ip -n {b} link set even up"));
    let agent = Agent::prepare(&pair, RULE);
    let configure = |rule: &str| {
        std::fs::write(agent.config(), format!("interfaces = [\"east\", \"odd\"]\n{rule}"))
            .unwrap();
    };
    configure(RULE);
    let start = |path: &str| {
        let config = agent.config().display().to_string();
        let mut command = agent.command_after(&["env", path]);
        command.args(["nic", "start", "--config", &config]).output().unwrap()
    };
    let before = queueing(&pair);
    let path = failing_tc(&agent, "odd");
    let output = start(&path);
    assert!(!output.status.success());
    assert_eq!(queueing(&pair), before, "{}", String::from_utf8_lossy(&output.stderr));
    assert!(agent.ok("nic stop --dry-run").is_empty(), "a record is left");
    // A tree of an earlier start is restored too.
    agent.ok(&format!("nic start --config {}", agent.config().display()));
    let earlier = queueing(&pair);
    configure(&RULE.replace("300Kbps", "400Kbps"));
    assert!(!start(&path).status.success());
    assert_eq!(queueing(&pair), earlier);
}

/// The id of the program that tags packets leaving the first host, and of the program that is
/// pinned.
fn programs(pair: &Pair, agent: &Agent) -> (String, String) {
    let shown = sh(&format!("ip -n {} -o link show dev east", pair.a));
    let index = shown.split(':').next().unwrap();
    let link = format!("{}/link_{}_egress", agent.pins, index);
    let number = |fd: std::os::fd::OwnedFd| {
        let number = std::os::fd::AsRawFd::as_raw_fd(&fd);
        let facts = std::fs::read_to_string(format!("/proc/self/fdinfo/{number}")).unwrap();
        facts.lines().find(|line| line.starts_with("prog_id")).unwrap().to_owned()
    };
    let attached = libbpf_rs::Link::open(&link).unwrap();
    let pinned = format!("{}/program_tag_ethernet", agent.pins);
    (
        number(std::os::fd::AsFd::as_fd(&attached).try_clone_to_owned().unwrap()),
        number(libbpf_rs::Program::fd_from_pinned_path(pinned).unwrap()),
    )
}

#[test]
fn a_start_that_fails_leaves_the_earlier_program_with_its_rule() {
    if !lab::is_root("a_start_that_fails_leaves_the_earlier_program_with_its_rule") {
        return;
    }
    let pair = Pair::new();
    let agent = Agent::start(&pair, "thresholds = \"20KB\"\ndscp = [40, 3]\n", &[]);
    agent.ok("stop");
    let (before, seen) = (programs(&pair, &agent), queueing(&pair));
    assert_eq!(before.0.split_whitespace().last(), before.1.split_whitespace().last());
    agent.configure(RULE);
    let path = failing_tc(&agent, "east");
    assert!(!agent.fail_to_start(&["env", &path], "").status.success());
    assert_eq!((programs(&pair, &agent), queueing(&pair)), (before, seen));
    assert!(agent.has_writer(), "nothing is written in place any more");
    let capture = Capture::start(&pair.b);
    send_datagrams(&pair, 7000, 1);
    let frames = capture.end();
    let sent: Vec<Seen> = frames.iter().filter_map(|frame| Seen::parse(frame)).collect();
    assert!(sent.iter().any(|packet| packet.from == 7000 && packet.dscp == 40));
}
