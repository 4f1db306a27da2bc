//! The controller alone, with light hosts that poll it: who gets access, what arrives, and how a killed
//! controller continues. Needs no root.

#[path = "support/light.rs"]
mod light;
#[path = "support/rig.rs"]
mod rig;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use flowsched_fleet::bins;
use flowsched_fleet::follow::Place;
use light::Fleet;
use rig::{Process, Rig, free_port, page, wait_until};
use tokio::runtime::Runtime;

/// A controller that makes decisions all the time.
struct Controlled {
    rig: Rig,
    fleet: Fleet,
    runtime: Runtime,
    config: String,
    url: String,
}

impl Controlled {
    fn new(hosts: usize, period: u64) -> Controlled {
        let rig = Rig::new(&[]);
        let fleet = Fleet::new("rack-1", hosts, free_port(), period);
        let listen = free_port();
        let place = format!("listen = \"127.0.0.1:{listen}\"");
        let config = rig.hasty("controller", light::LEVELS, &place, &fleet.agents());
        let config = format!("{config}[groups.rack-2]\n");
        let runtime = Runtime::new().unwrap();
        runtime.spawn(fleet.clone().serve());
        let url = format!("https://127.0.0.1:{listen}");
        Controlled { rig, fleet, runtime, config, url }
    }

    fn start(&self) -> Process {
        self.rig.controller("controller", &self.config, &[])
    }

    /// Lets all hosts follow, with the certificate of their group.
    fn follow(&self) {
        let identity = self.rig.host("light", "rack-1");
        for number in 0..self.fleet.hosts.len() {
            let place = Place::Controller(self.url.clone());
            self.runtime.spawn(self.fleet.clone().follow(number, place, identity.clone()));
        }
    }
}

#[test]
fn a_change_reaches_canaries_first_and_then_all() {
    let controlled = Controlled::new(8, 0);
    let controller = controlled.start();
    controlled.follow();
    controller.wait_for("group rack-1: version 1: the predicted mean FCT improves");
    let canaries = || {
        let is_canary = |host: &std::sync::Mutex<light::Host>| {
            let host = host.lock().unwrap();
            host.current.as_ref().is_some_and(|now| now.version == 1 && now.is_canary(&host.name))
        };
        controlled.fleet.hosts.iter().filter(|host| is_canary(host)).count()
    };
    wait_until("a quarter of the hosts try", || canaries() == 2);
    let decided = controller.wait_for("group rack-1: version 2: the trial went well");
    wait_until("all hosts follow", || controlled.fleet.lowest() >= 2);
    for host in controlled.fleet.hosts.iter() {
        let host = host.lock().unwrap();
        let late = host.applied_at.unwrap().saturating_duration_since(decided);
        assert!(late < Duration::from_secs(5), "{} has them after {late:?}", host.name);
    }
    let status = controlled.rig.status("controller");
    assert!(status.contains("group rack-1\n  version 2"), "{status}");
    assert!(status.contains("controller: leads"), "{status}");
    controlled.fleet.check_versions();
}

#[test]
fn a_signal_ends_a_round_that_waits() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let rig = Rig::new(&[]);
    let place = format!("listen = \"127.0.0.1:{}\"", free_port());
    let agents = [format!("http://{}", silent.local_addr().unwrap())];
    let config = rig.hasty("controller", light::LEVELS, &place, &agents);
    let controller = rig.controller("controller", &config, &[]);
    let _asked = silent.accept().unwrap();
    let begun = Instant::now();
    controller.signal("-TERM");
    let ended = controller.wait_for("agents keep what they have").duration_since(begun);
    // A request is given up after 10 s.
    assert!(ended < Duration::from_secs(5), "{ended:?}");
}

/// Answers as Prometheus does, for two hosts that each sent 625 MB and 50 messages of 1 KB in a second.
fn answer_as_prometheus(listener: &TcpListener) {
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let mut request = String::new();
        BufReader::new(&stream).read_line(&mut request).unwrap();
        let series = |label: &str, of: &str, value: u64| {
            format!("{{\"metric\":{{\"{label}\":\"{of}\"}},\"value\":[0,\"{value}\"]}}")
        };
        let series: Vec<String> = if request.contains("message_bytes_bucket") {
            let bounds = bins::bounds().map(|bound| (bound.to_string(), bound));
            let bounds = bounds.chain([("+Inf".to_owned(), u64::MAX)]);
            bounds
                .map(|(le, bound)| series("le", &le, if bound < 1000 { 0 } else { 100 }))
                .collect()
        } else if request.contains("interface_bytes_total") {
            ["a", "b"].map(|host| series("instance", host, 625_000_000)).to_vec()
        } else {
            Vec::new()
        };
        let text = format!("{{\"data\":{{\"result\":[{}]}}}}", series.join(","));
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n", text.len());
        write!(stream, "{head}connection: close\r\n\r\n{text}").unwrap();
    }
}

#[test]
fn the_status_shows_what_prometheus_has() {
    let prometheus = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", prometheus.local_addr().unwrap());
    std::thread::spawn(move || answer_as_prometheus(&prometheus));
    let rig = Rig::new(&[]);
    let place = format!("listen = \"127.0.0.1:{}\"", free_port());
    let config = rig.hasty("controller", light::LEVELS, &place, &[]);
    let collect = format!("[collect]\nprometheus = \"{url}\"\n");
    let config = config.replace("[collect]\n", &collect);
    let _controller = rig.controller("controller", &config, &[]);
    wait_until("the status has the messages and the load", || {
        rig.status("controller").contains("messages: 100, load: 0.50")
    });
    let metrics = page(&config, "/metrics");
    assert!(metrics.contains("flowsched_controller_messages{group=\"rack-1\"} 100\n"), "{metrics}");
}

/// A controller with long trials and eight hosts, two of which are on trial.
fn on_trial() -> (Controlled, Process) {
    let mut controlled = Controlled::new(8, 0);
    controlled.config = controlled
        .config
        .replace("interval = \"1s\"", "interval = \"600s\"")
        .replace("time = \"1s\"", "time = \"600s\"");
    let controller = controlled.start();
    controlled.follow();
    controller.wait_for("group rack-1: version 1: the predicted mean FCT improves");
    wait_until("all hosts have the first version", || controlled.fleet.lowest() == 1);
    (controlled, controller)
}

impl Controlled {
    /// Checks that the second version restores the original thresholds on all hosts, and says why.
    fn check_rolled_back(&self, why: &str) {
        wait_until("all hosts have the second version", || self.fleet.lowest() == 2);
        for host in self.fleet.hosts.iter() {
            let host = host.lock().unwrap();
            let current = host.current.clone().unwrap();
            assert_eq!(current.thresholds_of(&host.name), light::own().thresholds, "{current:?}");
            assert_eq!(host.versions, [1, 2], "{} was not on trial", host.name);
        }
        let status = self.rig.status("controller");
        assert!(status.contains("version 2: 10B 20B"), "{status}");
        assert!(status.contains("changes: 0, rolled back: 1"), "{status}");
        assert!(
            status.contains(&format!("last change: the trial was rolled back: {why}")),
            "{status}"
        );
        let metrics = page(&self.config, "/metrics");
        let of_group = |name: &str| format!("flowsched_controller_{name}{{group=\"rack-1\"}}");
        for (name, value) in [("roll_backs_total", 1), ("on_trial", 0), ("version", 2)] {
            let line = format!("{} {value}\n", of_group(name));
            assert!(metrics.contains(&line), "no {line} in {metrics}");
        }
    }
}

#[test]
fn a_trial_is_rolled_back_when_canaries_retransmit_more() {
    let (controlled, controller) = on_trial();
    controlled.fleet.harm.store(20, Ordering::Relaxed);
    let line = controller.wait_for_line("group rack-1: version 2: ").1;
    let why = "canaries retransmit ";
    assert!(line.contains(&format!("the trial was rolled back: {why}")), "{line}");
    assert!(line.contains("other hosts 0.100%"), "{line}");
    controlled.check_rolled_back(why);
}

#[test]
fn a_trial_is_rolled_back_when_a_host_refuses() {
    let (controlled, controller) = on_trial();
    controlled.fleet.hosts[3].lock().unwrap().refused += 1;
    controller.wait_for("group rack-1: version 2: the trial was rolled back");
    controlled.check_rolled_back("light-3 refused the announcement");
}

#[test]
fn nobody_gets_in_without_the_certificate_of_the_group() {
    let controlled = Controlled::new(4, 0);
    let _controller = controlled.start();
    let other = Rig::new(&[]);
    let foreign = other.host("stranger", "rack-1");
    // A stranger's certificate, and trust in the right authority.
    let own = controlled.rig.identity("controller");
    let stranger = flowsched_fleet::follow::Identity { ca: own.ca.clone(), ..foreign };
    let neighbour = controlled.rig.host("neighbour", "rack-2");
    // Trust in another authority than the controller's.
    let mistaken = flowsched_fleet::follow::Identity {
        ca: other.identity("controller").ca,
        ..controlled.rig.host("light", "rack-1")
    };
    for (number, identity) in [stranger, neighbour, mistaken].into_iter().enumerate() {
        let place = Place::Controller(controlled.url.clone());
        controlled.runtime.spawn(controlled.fleet.clone().follow(number, place, identity));
    }
    let trouble = |number: usize| controlled.fleet.hosts[number].lock().unwrap().trouble.clone();
    wait_until("all are refused", || (0..3).all(|number| !trouble(number).is_empty()));
    assert!(trouble(1).contains("403"), "{}", trouble(1));
    assert!(trouble(2).contains("certificate"), "{}", trouble(2));
    for number in 0..3 {
        let host = controlled.fleet.hosts[number].lock().unwrap();
        assert!(host.current.is_none() && !host.is_connected, "{host:?}");
    }
}

#[test]
fn a_killed_controller_goes_on_where_it_was() {
    let controlled = Controlled::new(8, 4);
    controlled.follow();
    let mut seen = 0;
    for _ in 0..4 {
        let controller = controlled.start();
        wait_until("a newer version", || controlled.fleet.lowest() > seen);
        seen = controlled.fleet.lowest();
        controller.kill();
        wait_until("hosts notice", || {
            controlled.fleet.hosts.iter().all(|host| !host.lock().unwrap().is_connected)
        });
        assert!(controlled.fleet.lowest() >= seen, "hosts keep what they have");
    }
    controlled.fleet.check_versions();
}

#[test]
fn ten_thousand_groups_are_served() {
    let controlled = Controlled::new(1, 0);
    let groups: String = (0..10_000).map(|n| format!("[groups.g{n}]\n")).collect();
    let config = format!("{}{groups}", controlled.config);
    let controller = controlled.rig.controller("controller", &config, &[]);
    controlled.follow();
    controller.wait_for("group rack-1: version 1");
    wait_until("the host follows", || controlled.fleet.lowest() >= 1);
    let status = controlled.rig.status("controller");
    assert_eq!(status.matches("\ngroup ").count(), 10_002);
    let memory = std::fs::read_to_string(format!("/proc/{}/status", controller.pid())).unwrap();
    let line = memory.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    println!("10,000 groups: {line}");
}
