//! `flowsched switch-config` and `flowsched advise`, as users run them.

use crate::common::Place;

const AGENT: &str = "interfaces = [\"eth0\"]\nthresholds = \"20KB 100KB\"\n\
                     [nic]\nrate = \"10Gbps\"\nmark-at = \"65pkt\"\n";
const EXPERIMENT: &str = "name = \"rack\"\n[topology]\nkind = \"star\"\nhosts = 4\n\
                          [workload]\nsizes = \"web-search-packets\"\nload = 0.5\nflows = 100\n\
                          [[scheme]]\npreset = \"pias\"\nqueues = 3\nthresholds = \"20KB 100KB\"\n";

#[test]
fn an_agents_file_and_an_experiment_configure_the_same_switch() {
    let place = Place::new();
    place.write("agent.toml", AGENT);
    place.write("rack.toml", EXPERIMENT);
    let printed = |file: &str| {
        let arguments = ["switch-config", file, "--platform", "eos", "--ports", "Ethernet1"];
        let done = place.flowsched(&arguments);
        assert_eq!(done.status, Some(0), "{}", done.errors);
        assert!(done.errors.contains("untested on hardware"), "{}", done.errors);
        done.output
    };
    let [agent, experiment] = [printed("agent.toml"), printed("rack.toml")];
    let maps = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with("qos map")).map(str::to_owned).collect()
    };
    assert_eq!(maps(&agent), maps(&experiment));
    assert!(agent.contains("minimum-threshold 97500 bytes"), "{agent}");
    place.write("running", &agent);
    let check = |file: &str| {
        place.flowsched(&[
            "switch-config",
            "check",
            file,
            "--platform",
            "eos",
            "--running",
            "running",
        ])
    };
    assert_eq!(check("agent.toml").status, Some(0));
    place.write("other.toml", &AGENT.replace("20KB", "30KB"));
    let other = check("other.toml");
    assert_eq!(other.status, Some(2));
    let expected = "error  thresholds: the switch was configured for 20KB";
    assert!(other.output.contains(expected), "{}", other.output);
}

#[test]
fn what_cannot_be_is_refused_with_what_to_do() {
    let place = Place::new();
    place.write("agent.toml", "interfaces = [\"eth0\"]\nthresholds = \"20KB\"\n");
    let print = |platform: &str| {
        place.flowsched(&["switch-config", "agent.toml", "--platform", platform, "--ports", "a"])
    };
    let done = print("sonic");
    assert_eq!(done.status, Some(2));
    assert!(done.errors.contains("nic.rate") && done.errors.contains("--rate"), "{}", done.errors);
    assert!(print("ios").errors.contains("linux-tc, sonic, eos"));
    let done = place.flowsched(&["switch-config"]);
    assert_eq!(done.status, Some(2), "{}", done.errors);
}

#[test]
fn the_agents_checks_of_nic_hold_for_switches() {
    let place = Place::new();
    let errors = |nic: &str, more: &[&str]| {
        let text = format!("interfaces = [\"eth0\"]\nthresholds = \"20KB\"\n{nic}\n");
        place.write("agent.toml", &text);
        let fixed = ["switch-config", "agent.toml", "--platform", "linux-tc", "--ports", "a"];
        let done = place.flowsched(&[&fixed[..], more].concat());
        assert_eq!(done.status, Some(2), "{nic}: {}", done.errors);
        done.errors
    };
    let unknown = errors("[nic]\nrate = \"1Gbps\"\nmark_at = \"30KB\"", &[]);
    assert!(unknown.contains("mark_at") && unknown.contains(":5:1"), "{unknown}");
    let fast = errors("[nic]\nrate = \"10000000Tbps\"", &[]);
    assert!(fast.contains("nic.rate") && fast.contains("10Tbps"), "{fast}");
    let small = errors("[nic]\nrate = \"1Gbps\"\nmark-at = \"1B\"", &[]);
    assert!(small.contains("nic.mark-at"), "{small}");
    assert!(errors("nic = 3", &[]).contains("expected a table with `rate`"));
    assert!(errors("", &["--rate", "10000000Tbps"]).contains("10Tbps"));
}

#[test]
fn advice_states_gain_and_risk() {
    let place = Place::new();
    let arguments = "advise --sizes web-search-packets --load 0.6 --topology small.toml \
                     --flows 300 --seeds 1 --queues 4";
    let done = place.flowsched(&arguments.split_whitespace().collect::<Vec<_>>());
    assert_eq!(done.status, Some(0), "{}", done.errors);
    for expected in ["on 4 hosts", "all flows, mean FCT", "time-outs", "95% interval", "PIAS "] {
        assert!(done.output.contains(expected), "{expected} is not in\n{}", done.output);
    }
}

#[test]
fn advice_blames_the_option_that_is_wrong() {
    let place = Place::new();
    place.write("star.toml", "[topology]\nkind = \"star\"\nhosts = -1\n");
    let errors = |more: &str| {
        let given = |option: &&(&str, &str)| !more.starts_with(option.0);
        let defaults =
            [("--sizes", "web-search-packets"), ("--load", "0.6"), ("--topology", "small.toml")];
        let defaults: Vec<String> =
            defaults.iter().filter(given).map(|(key, value)| format!("{key} {value}")).collect();
        let arguments = format!("advise {} {more}", defaults.join(" "));
        let done = place.flowsched(&arguments.split_whitespace().collect::<Vec<_>>());
        assert_eq!(done.status, Some(2), "{more}: {}", done.errors);
        done.errors
    };
    let wrong = [
        ("--sizes no-such", "--sizes no-such"),
        ("--now no-such", "--now no-such"),
        ("--topology star.toml", "star.toml:3:9"),
        ("--queues 0", "--queues"),
        ("--flows 0", "--flows"),
        ("--seeds 0", "--seeds"),
        ("--load 2", "--load"),
    ];
    for (more, expected) in wrong {
        let errors = errors(more);
        assert!(errors.contains(expected), "{more}: {errors}");
    }
}
