//! The tagger among other programs, with a change of hooks, and on interfaces that are renamed. Needs
//! root.

#[path = "support/agent.rs"]
mod agent;
#[path = "support/lab.rs"]
mod lab;
#[path = "support/other.rs"]
mod other;
#[path = "support/seen.rs"]
mod seen;

use std::net::UdpSocket;
use std::thread;
use std::time::Duration;

use agent::Agent;
use lab::{Capture, Pair, sh};
use seen::Seen;

/// Ten datagrams of 1000 bytes have the first level, and all others of their flow the second.
const RULE: &str = "thresholds = \"9KB\"\ndscp = [40, 3]\n[flows]\nidle = \"never\"\n";
const PACKETS: usize = 100;

/// The code points of the datagrams of one flow, in the order in which they arrive.
fn datagrams(pair: &Pair, from: u16) -> Vec<u8> {
    let capture = Capture::start(&pair.b);
    lab::on(&pair.a, move || {
        let socket = UdpSocket::bind(("10.77.0.1", from)).unwrap();
        for _ in 0..PACKETS {
            socket.send_to(&[9; 1000], "10.77.0.2:9").unwrap();
        }
    })
    .join()
    .unwrap();
    let frames = capture.end();
    let seen = frames.iter().filter_map(|frame| Seen::parse(frame));
    seen.filter(|packet| packet.from == from).map(|packet| packet.dscp).collect()
}

fn as_the_rule_says() -> Vec<u8> {
    (0..PACKETS).map(|number| if number < 10 { 40 } else { 3 }).collect()
}

/// Adds a `u32` filter that matches every packet. No later program on the hook sees a packet then.
fn match_all(pair: &Pair, priority: u32) {
    sh(&format!(
        "tc -n {0} qdisc replace dev east clsact && tc -n {0} filter add dev east egress \
         prio {priority} protocol ip u32 match u32 0 0 flowid 1:1",
        pair.a
    ));
}

#[test]
fn the_tagger_runs_before_what_is_there_already() {
    if !lab::is_root("the_tagger_runs_before_what_is_there_already") {
        return;
    }
    let pair = Pair::new();
    match_all(&pair, 10);
    let agent = Agent::start(&pair, RULE, &["--clsact"]);
    assert_eq!(datagrams(&pair, 4000), as_the_rule_says(), "a filter of a later preference");
    drop(agent);
    let Some(_other) = other::end_first(&pair.a, "east") else {
        println!("this kernel has no tcx");
        return;
    };
    let agent = Agent::start(&pair, RULE, &[]);
    assert_eq!(datagrams(&pair, 4001), as_the_rule_says(), "a program on tcx");
    let status = agent.ok("status");
    assert!(status.contains("packets passed the tagger\n"), "{status}");
}

#[test]
fn what_keeps_packets_from_the_tagger_is_told() {
    if !lab::is_root("what_keeps_packets_from_the_tagger_is_told") {
        return;
    }
    let told = |agent: &Agent, cause: &str| {
        for command in ["status", "doctor"] {
            let text = agent.ok(command);
            assert!(text.contains("left without a tag") && text.contains(cause), "{text}");
        }
    };
    let pair = Pair::new();
    match_all(&pair, 1);
    let agent = Agent::start(&pair, RULE, &["--clsact"]);
    assert_eq!(datagrams(&pair, 4000), vec![0; PACKETS]);
    told(&agent, "a u32 filter of preference 1");
    drop(agent);
    let agent = Agent::start(&pair, RULE, &[]);
    let Some(other) = other::end_first(&pair.a, "east") else { return };
    assert_eq!(datagrams(&pair, 4001), vec![0; PACKETS]);
    told(&agent, "ends_the_hook");
    drop(other);
    assert_eq!(datagrams(&pair, 4002), as_the_rule_says());
}

/// If a filter came after the agent, the manual says to restart the agent.
#[test]
fn a_restarted_agent_goes_before_a_filter_that_came_later() {
    if !lab::is_root("a_restarted_agent_goes_before_a_filter_that_came_later") {
        return;
    }
    let pair = Pair::new();
    let mut agent = Agent::start(&pair, RULE, &["--clsact"]);
    let mut from = 4000;
    for _ in 0..3 {
        other::filter_first(&pair.a, "east", 1);
        assert_eq!(datagrams(&pair, from), vec![0; PACKETS]);
        agent.ok("stop");
        agent.wait();
        agent.launch(&["--clsact"]);
        assert_eq!(datagrams(&pair, from + 1), as_the_rule_says());
        let status = agent.ok("status");
        assert!(status.contains("packets passed the tagger\n"), "{status}");
        sh(&format!("tc -n {} filter del dev east egress pref 1 handle 1 bpf", pair.a));
        from += 2;
    }
    agent.ok("uninstall");
    let left = sh(&format!("tc -n {} filter show dev east egress", pair.a));
    assert_eq!(left, "");
}

/// The interface counts a super-packet as one packet. Therefore the segments of super-packets could
/// hide the packets that the filter keeps from the tagger.
#[test]
fn a_bypass_is_told_beside_super_packets_until_it_ends() {
    if !lab::is_root("a_bypass_is_told_beside_super_packets_until_it_ends") {
        return;
    }
    let pair = Pair::new();
    sh(&format!(
        "nsenter --net=/run/netns/{0} ethtool -K east tx on tso on gso on >/dev/null && \
         ip -n {0} link set east gso_max_segs 65535 && tc -n {0} qdisc add dev east clsact && \
         tc -n {0} filter add dev east egress prio 1 protocol ip \
             u32 match ip protocol 17 0xff flowid 1:1",
        pair.a
    ));
    lab::sink(&pair.b, "10.77.0.2:5001");
    let mut agent = Agent::start(&pair, RULE, &["--clsact"]);
    let passed = "flowsched_interface_packets_passed_total{interface=\"east\"}";
    for number in 0..20 {
        let stream = vec![1_000_000];
        lab::send(&pair.a, "10.77.0.2:5001", stream, Duration::from_millis(20));
        assert_eq!(datagrams(&pair, 4000 + number), vec![0; PACKETS]);
    }
    let status = agent.ok("status");
    assert!(status.contains("left without a tag"), "{status}");
    let before = agent.metric(passed);
    // As the manual says: remove the filter, and restart the agent.
    sh(&format!("tc -n {} filter del dev east egress prio 1", pair.a));
    agent.ok("stop");
    agent.wait();
    agent.launch(&["--clsact"]);
    assert_eq!(datagrams(&pair, 5000), as_the_rule_says());
    let status = agent.ok("status");
    assert!(status.contains("packets passed the tagger\n"), "{status}");
    assert!(agent.metric(passed) >= before + PACKETS as u64);
}

#[test]
fn another_hook_leaves_one_tagger() {
    if !lab::is_root("another_hook_leaves_one_tagger") {
        return;
    }
    let pair = Pair::new();
    let mut agent = Agent::start(&pair, RULE, &[]);
    for (number, hook) in [&["--clsact"][..], &[], &["--clsact"]].into_iter().enumerate() {
        agent.ok("stop");
        agent.wait();
        agent.launch(hook);
        let from = 4000 + number as u16;
        assert_eq!(datagrams(&pair, from), as_the_rule_says(), "{hook:?}");
        let status = agent.ok("status");
        assert!(status.contains(if hook.is_empty() { "tcx" } else { "clsact" }), "{status}");
    }
    agent.ok("uninstall");
    assert_eq!(datagrams(&pair, 5000), vec![0; PACKETS]);
    let left = sh(&format!("tc -n {} qdisc show dev east", pair.a));
    assert!(!left.contains("clsact"), "{left}");
    assert_eq!(other::count_on_tcx(&pair.a, "east"), 0);
}

#[test]
fn a_renamed_interface_keeps_its_one_tagger() {
    if !lab::is_root("a_renamed_interface_keeps_its_one_tagger") {
        return;
    }
    for hook in [&[][..], &["--clsact"]] {
        let pair = Pair::new();
        let before = sh(&format!("ip -n {} -d link show dev east", pair.a));
        let mut agent = Agent::prepare(&pair, "");
        let rule = format!("interfaces = [\"east*\"]\n{RULE}[gso]\nmax-size = \"16KiB\"\n");
        std::fs::write(agent.config(), rule).unwrap();
        agent.launch(hook);
        let rename = |from: &str, to: &str| {
            sh(&format!(
                "ip -n {0} link set {from} down && ip -n {0} link set {from} name {to} && \
                 ip -n {0} link set {to} up",
                pair.a
            ));
            // The agent checks interfaces once a second.
            thread::sleep(Duration::from_millis(2500));
        };
        rename("east", "east7");
        assert_eq!(datagrams(&pair, 4000), as_the_rule_says(), "{hook:?}");
        let status = agent.ok("status");
        assert!(status.contains("interface: east7 by "), "{status}");
        assert_eq!(status.matches("interface: ").count(), 1, "{status}");
        // The configuration does not select an interface called `west7`.
        rename("east7", "west7");
        assert_eq!(datagrams(&pair, 4001), vec![0; PACKETS], "{hook:?}");
        rename("west7", "east");
        assert_eq!(datagrams(&pair, 4002), as_the_rule_says(), "{hook:?}");
        agent.ok("uninstall");
        assert_eq!(datagrams(&pair, 4003), vec![0; PACKETS], "{hook:?}");
        let after = sh(&format!("ip -n {} -d link show dev east", pair.a));
        assert_eq!(after, before, "the cap on super-packets was not taken back");
        assert_eq!(other::count_on_tcx(&pair.a, "east"), 0);
    }
}

/// The capabilities that the packages give the agent. With these, the kernel does not tell the names of
/// others' programs.
#[test]
fn an_agent_with_three_capabilities_knows_its_filters() {
    if !lab::is_root("an_agent_with_three_capabilities_knows_its_filters") {
        return;
    }
    let pair = Pair::new();
    let mut agent = Agent::prepare(&pair, RULE);
    let filters = || sh(&format!("tc -n {} filter show dev east egress", pair.a));
    for hook in [&["--clsact"][..], &["--clsact"], &[]] {
        let held = "-all,+bpf,+net_admin,+perfmon";
        let (bound, inherited) = (format!("--bounding-set={held}"), format!("--inh-caps={held}"));
        let mut command = agent.command_after(&["setpriv", "--no-new-privs", &bound, &inherited]);
        command.args(["start", "--config"]).arg(agent.config()).args(hook);
        agent.launch_as(command);
        agent.wait_for("ready");
        let log = std::fs::read_to_string(agent.log()).unwrap();
        assert!(!log.contains("no interface is called"), "{log}");
        assert_eq!(filters().contains("tag_ethernet"), !hook.is_empty(), "{}", filters());
        agent.ok("stop");
        agent.wait();
    }
    agent.ok("uninstall");
    assert_eq!(datagrams(&pair, 4000), vec![0; PACKETS]);
}

/// The agent's `ip`, which limits super-packets, fails as it does while an interface is being deleted.
#[test]
fn an_interface_that_was_refused_is_tagged_if_it_comes_back_with_its_index() {
    if !lab::is_root("an_interface_that_was_refused_is_tagged_if_it_comes_back_with_its_index") {
        return;
    }
    const INDEX: u32 = 77;
    let pair = Pair::new();
    pair.disconnect();
    let mut agent = Agent::prepare(&pair, &format!("{RULE}[gso]\nmax-segments = 20\n"));
    let tools = agent.folder.join("bin");
    let ip = tools.join("ip");
    sh(&format!(
        "mkdir {} && printf '#!/bin/sh\\nexit 1\\n' > {ip} && chmod +x {ip}",
        tools.display(),
        ip = ip.display()
    ));
    let path = format!("PATH={}:{}", tools.display(), std::env::var("PATH").unwrap());
    let mut command = agent.command_after(&["env", &path]);
    command.args(["start", "--config"]).arg(agent.config());
    agent.launch_as(command);
    agent.wait_for("ready");
    pair.connect_with_index(INDEX);
    agent.wait_for("read the limits of east");
    pair.disconnect();
    std::fs::remove_file(ip).unwrap();
    agent.forget();
    pair.connect_with_index(INDEX);
    agent.wait_for("east: tagged");
    assert_eq!(datagrams(&pair, 40_009), as_the_rule_says());
}
