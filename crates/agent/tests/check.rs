//! Checks a configuration on this machine, which must change nothing. Needs root.

#[path = "support/agent.rs"]
mod agent;
#[path = "support/lab.rs"]
mod lab;

use std::net::{TcpListener, TcpStream};
use std::process::Output;

use agent::Agent;
use lab::{Pair, sh};

const RULE: &str = "thresholds = \"20KB\"\ndscp = [40, 3]\n";
const SINK: &str = "10.77.0.2:5001";

/// The lines that `check` prints about one matter, with single blanks.
fn about(output: &Output, matter: &str) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| line.split(' ').nth(1) == Some(matter)).collect()
}

fn check(agent: &Agent, rule: &str) -> (i32, Output) {
    agent.configure(rule);
    let output = agent.run(&format!("check {}", agent.config().display()));
    println!("{}", String::from_utf8_lossy(&output.stdout));
    (output.status.code().unwrap(), output)
}

#[test]
fn a_configuration_that_works_is_told_from_one_that_does_not() {
    if !lab::is_root("a_configuration_that_works_is_told_from_one_that_does_not") {
        return;
    }
    let pair = Pair::new();
    let host = pair.a.clone();
    let _occupant = lab::on(&host, || TcpListener::bind("127.0.0.1:9487").unwrap()).join();
    let agent = Agent::prepare(&pair, RULE);
    let before = sh(&format!("tc -n {} qdisc show dev east", pair.a));

    let good = "[metrics]\nlisten = \"127.0.0.1:9488\"\n[nic]\nrate = \"1Gbps\"\n";
    let (code, output) = check(&agent, &format!("{RULE}{good}"));
    assert_eq!(code, 0);
    assert!(about(&output, "program")[0].starts_with("ok program tag_ethernet ("));
    assert!(
        about(&output, "interfaces")[0].starts_with("ok interfaces east (tag_ethernet), by tcx")
    );
    assert_eq!(
        about(&output, "flows.max"),
        ["ok flows.max 65536 flows take 29 MiB with the agent"]
    );
    assert_eq!(about(&output, "metrics"), ["ok metrics can be served"]);
    assert!(about(&output, "nic")[0].starts_with("ok"));

    for (rule, line) in [
        (
            "[metrics]\nlisten = \"127.0.0.1:9487\"\n",
            "error metrics serve metrics on 127.0.0.1:9487 (metrics.listen): Address",
        ),
        (
            "[metrics]\nlisten = \"192.0.2.1:9487\"\n",
            "error metrics serve metrics on 192.0.2.1:9487 (metrics.listen): Cannot",
        ),
        ("[flows]\nmax = 4000000000\n", "error flows.max 4000000000 flows take"),
        ("[flows]\nmax = 3\n", "error configuration `flows.max` cannot be 3"),
    ] {
        let (code, output) = check(&agent, &format!("{RULE}{rule}"));
        let matter = line.split(' ').nth(1).unwrap();
        assert!(about(&output, matter)[0].starts_with(line), "{line}");
        assert_eq!(code, 2, "{line}");
    }
    sh(&format!(
        "tc -n {a} qdisc add dev east root handle 1: htb && \
         tc -n {a} filter add dev east parent 1: protocol ip u32 match u32 0 0 flowid 1:1",
        a = pair.a
    ));
    let (code, output) = check(&agent, &format!("{RULE}[nic]\nrate = \"1Gbps\"\n"));
    assert!(code == 2 && about(&output, "nic")[0].starts_with("error nic east has filters"));
    sh(&format!("tc -n {} qdisc del dev east root", pair.a));

    // The user of a service, who has the capabilities only in the service.
    let mut as_user = agent.as_user(64_000, &[]);
    let output = as_user.arg("check").arg(agent.config()).output().unwrap();
    assert!(about(&output, "program")[0].starts_with("warning program not tried"));

    assert_eq!(sh(&format!("tc -n {} qdisc show dev east", pair.a)), before);
    assert!(!agent.is_installed() && !agent.run_dir().exists());
}

#[test]
fn what_would_be_selected_is_shown() {
    if !lab::is_root("what_would_be_selected_is_shown") {
        return;
    }
    let pair = Pair::new();
    lab::sink(&pair.b, SINK);
    let agent = Agent::prepare(&pair, RULE);
    let _connections =
        lab::on(&pair.a, || [(); 3].map(|()| TcpStream::connect(SINK).unwrap())).join();
    let dry_run = format!("start --dry-run --config {}", agent.config().display());
    for (select, selected) in [
        ("", "3 of 3"),
        ("ports = [\"5001\"]", "3 of 3"),
        ("ports = [\"5002-65535\"]\nprefixes = [\"10.77.0.1/32\"]", "0 of 3"),
        ("prefixes = [\"10.0.0.0/8\", \"fd00::/8\"]", "3 of 3"),
        ("cgroups = [\"/no-such-group\"]", "0 of 3"),
    ] {
        let (code, checked) = check(&agent, &format!("{RULE}[select]\n{select}\n"));
        assert_eq!(code, 0);
        let output = agent.run(&dry_run);
        assert_eq!(output.status.code(), Some(0));
        for output in [checked, output] {
            let line = format!("ok selected {selected} established TCP connections of this host");
            assert_eq!(about(&output, "selected"), [line], "{select}");
        }
    }
    let (_, output) = check(&agent, &format!("{RULE}[select]\ncgroups = [\"/no-such-group\"]\n"));
    let found = about(&output, "select.cgroups");
    assert!(found[0].ends_with("/no-such-group does not exist yet"), "{found:?}");
    agent.configure(RULE);
    let text = std::fs::read_to_string(agent.config()).unwrap().replace("east", "west");
    std::fs::write(agent.config(), &text).unwrap();
    let output = agent.run(&dry_run);
    let found = about(&output, "interfaces");
    assert_eq!(found, ["warning interfaces no interface is called west yet"]);
    let text = text.replace("\"west\"", "\"ea*\", \"east\"");
    std::fs::write(agent.config(), text).unwrap();
    let output = agent.run(&dry_run);
    let found = about(&output, "interfaces");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("ok interfaces east ("), "{found:?}");
    assert!(!agent.is_installed());
}
