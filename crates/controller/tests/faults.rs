//! Real agents with real TCP traffic, while certificates, clocks, etcd or the values in etcd are wrong:
//! agents keep their thresholds and say why, and no packet is untagged. Needs root.

#[path = "../../agent/tests/support/lab.rs"]
mod lab;
#[path = "support/rack.rs"]
mod rack;
#[path = "support/rig.rs"]
mod rig;

use std::sync::{Mutex, PoisonError};

use flowsched_fleet::Announcement;
use flowsched_fleet::follow::{Identity, group_key};
use rack::{CONTROLLER, Rack, Traffic, Watch, address};
use rig::{AHEAD, Etcd, Process, Rig, has, wait_until};

const HOSTS: usize = 3;
/// Message sizes in bytes. Thresholds of 2 KB and 4 KB do not suit them.
const SIZES: &[usize] = &[3_000, 20_000, 30_000, 20_000, 200_000];
const LEVELS: &str = "thresholds = \"2KB 4KB\"\ndscp = [48, 32, 16]";

/// A rack with traffic, and a count of its packets.
struct Faults {
    rig: Rig,
    rack: Rack,
    /// The key of agents' files that says where thresholds come from.
    source: String,
    agents: Vec<Option<Process>>,
    traffic: Traffic,
    watch: Watch,
    packets: Vec<u64>,
}

impl Faults {
    fn new(rig: Rig, rack: Rack, source: String) -> Faults {
        let agents = rack.agents(&rig, |number| table(&rig, &source, number));
        let traffic = rack.traffic(SIZES);
        let watch = Watch::start(&rack.switch);
        let agents = agents.into_iter().map(Some).collect();
        let mut faults = Faults { rig, rack, source, agents, traffic, watch, packets: Vec::new() };
        faults.packets = faults.packets_now();
        faults
    }

    fn on_switch(rack: &Rack) -> String {
        format!("--net=/run/netns/{}", rack.switch)
    }

    fn controller(&self, place: &str, before: &[&str]) -> Process {
        let agents: Vec<String> =
            (1..=HOSTS).map(|number| format!("http://{}:9487", address(number))).collect();
        let config = self.rig.hasty("controller", LEVELS, place, &agents);
        let namespace = Faults::on_switch(&self.rack);
        let before = [&["nsenter", namespace.as_str()], before].concat();
        self.rig.controller("controller", &config, &before)
    }

    fn status_of_controller(&self) -> String {
        let namespace = Faults::on_switch(&self.rack);
        self.rig.status_after("controller", &["nsenter", &namespace])
    }

    /// Restarts a host's agent, with `before` in front of the program.
    fn restart(&mut self, number: usize, before: &[&str]) {
        if let Some(agent) = self.agents[number - 1].take() {
            agent.kill();
        }
        let table = table(&self.rig, &self.source, number);
        let agent = self.rack.agent_after(before, &self.rig, number, &table);
        agent.wait_for("ready");
        self.agents[number - 1] = Some(agent);
    }

    fn metric(&self, number: usize, name: &str) -> u64 {
        self.rack.metric(&self.rig, number, name)
    }

    fn version(&self, number: usize) -> u64 {
        self.metric(number, "flowsched_thresholds_version")
    }

    fn is_connected(&self, number: usize) -> bool {
        self.metric(number, "flowsched_controller_connected") == 1
    }

    fn wait_for_all(&self, what: &str, is_so: impl Fn(usize) -> bool) {
        wait_until(what, || (1..=HOSTS).all(&is_so));
    }

    /// Checks that a host is not connected, that its status contains `why`, and that its version has not
    /// decreased.
    fn check_kept(&self, number: usize, version: u64, why: &str) {
        wait_until(why, || {
            let status = self.rack.status(&self.rig, number).to_lowercase();
            !self.is_connected(number) && status.contains(why)
        });
        assert!(self.version(number) >= version, "host {number} went back from {version}");
    }

    fn packets_now(&self) -> Vec<u64> {
        (1..=HOSTS).map(|number| self.metric(number, "flowsched_packets_total")).collect()
    }

    /// Checks that counters continued and that no data packet was untagged.
    fn end(self) {
        let after = self.packets_now();
        let has_grown = self.packets.iter().zip(&after).all(|(before, after)| after > before);
        assert!(has_grown, "counters fell: {:?}, then {after:?}", self.packets);
        self.traffic.end();
        let counts = self.watch.end();
        let tagged: u64 = [48, 32, 16].iter().map(|dscp| counts[*dscp]).sum();
        println!("{tagged} data packets seen");
        assert!(tagged > 1000, "{counts:?}");
        assert_eq!(tagged, counts.iter().sum::<u64>(), "untagged packets: {counts:?}");
        self.rack.uninstall(&self.rig);
    }
}

fn table(rig: &Rig, source: &str, number: usize) -> String {
    let host = format!("host{number}");
    let Identity { ca, certificate, key } = rig.host(&host, "rack-1");
    format!(
        "[controller]\n{source}\ngroup = \"rack-1\"\nhost = \"{host}\"\nca = {ca:?}\n\
         certificate = {certificate:?}\nkey = {key:?}\nstate = {:?}\n",
        rig.path(&format!("kept{number}")),
    )
}

/// One test at a time may have a rack: the names of namespaces contain this process's id.
static MACHINE: Mutex<()> = Mutex::new(());

#[test]
fn expired_certificates_and_wrong_clocks_change_nothing() {
    if !lab::is_root("expired_certificates_and_wrong_clocks_change_nothing") || !has("faketime") {
        return;
    }
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let source = format!("url = \"https://{CONTROLLER}:9489\"");
    let mut faults = Faults::new(Rig::new(&[CONTROLLER]), Rack::new(HOSTS), source);
    let place = format!("listen = \"{CONTROLLER}:9489\"");
    let controller = faults.controller(&place, &[]);
    faults.wait_for_all("all hosts have a version", |number| faults.version(number) > 0);

    // A host's certificate has expired.
    let version = faults.version(1);
    faults.rig.replace("host1", &["agent", "host1", "--group", "rack-1"], true);
    faults.restart(1, &[]);
    faults.check_kept(1, version, "certificateexpired");
    let status = faults.status_of_controller();
    assert!(status.contains(&format!("the last one {}: ", address(1))), "{status}");
    assert!(status.contains("certificate expired"), "{status}");
    faults.rig.replace("host1", &["agent", "host1", "--group", "rack-1"], false);
    wait_until("a renewed certificate is used", || faults.is_connected(1));

    // A host's clock is two years ahead: to it, the controller's certificate has expired.
    let version = faults.version(2);
    faults.restart(2, &AHEAD);
    faults.check_kept(2, version, "certificate expired");
    faults.restart(2, &[]);
    wait_until("a host's clock is right again", || faults.is_connected(2));

    // The controller's clock is two years ahead: to it, the hosts' certificates have expired.
    let versions: Vec<u64> = (1..=HOSTS).map(|number| faults.version(number)).collect();
    controller.kill();
    let controller = faults.controller(&place, &AHEAD);
    (1..=HOSTS).for_each(|n| faults.check_kept(n, versions[n - 1], "certificateexpired"));
    assert!(faults.status_of_controller().contains("certificate expired"));
    controller.kill();

    // The controller's certificate has expired.
    faults.rig.replace("controller", &["controller", CONTROLLER], true);
    let controller = faults.controller(&place, &[]);
    (1..=HOSTS).for_each(|n| faults.check_kept(n, versions[n - 1], "certificate expired"));
    wait_until("the controller says so", || {
        faults.status_of_controller().to_lowercase().contains("certificateexpired")
    });
    controller.kill();

    // Everything is repaired. The wrong clock does not delay the next change by two years.
    faults.rig.replace("controller", &["controller", CONTROLLER], false);
    let _controller = faults.controller(&place, &[]);
    faults.wait_for_all("all hosts are in touch", |number| faults.is_connected(number));
    assert!(!faults.status_of_controller().contains("refused connections"));
    faults.end();
}

#[test]
fn values_that_make_no_sense_and_an_etcd_that_is_gone_change_nothing() {
    if !lab::is_root("values_that_make_no_sense_and_an_etcd_that_is_gone") || !has("etcd") {
        return;
    }
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let (rig, rack) = (Rig::new(&[CONTROLLER]), Rack::new(HOSTS));
    let namespace = Faults::on_switch(&rack);
    let mut etcd = Etcd::start_at(&rig, CONTROLLER, &["nsenter", &namespace]);
    etcd.authorise(&rig, &["rack-1"]);
    let place = format!("etcd = [\"{}\"]", etcd.url);
    let faults = Faults::new(rig, rack, place.clone());
    let controller = faults.controller(&place, &[]);
    faults.wait_for_all("all hosts have two versions", |number| faults.version(number) >= 2);
    controller.kill();
    let put = |value: &str| {
        etcd.ctl(&faults.rig, "controller", &["put", "--", &group_key("rack-1"), value]);
    };
    let kept = std::fs::read(faults.rig.path("kept1").join("announcement.json")).unwrap();
    let current = Announcement::parse(&kept).unwrap();
    faults.wait_for_all("all hosts have the same version", |number| {
        faults.version(number) == current.version
    });
    let thresholds = |number| faults.metric(number, "flowsched_threshold_bytes");
    let before: Vec<u64> = (1..=HOSTS).map(thresholds).collect();
    let next = current.version + 1;
    let falling = Announcement { version: next, thresholds: vec![9, 8], ..current.clone() };
    let foreign = Announcement { version: next, group: "rack-2".into(), ..current.clone() };
    let cases = [
        (Announcement { version: 1, ..current.clone() }.to_json(), "`version` cannot be 1; use"),
        (falling.to_json(), "do not fall"),
        (foreign.to_json(), "this host's own"),
        ("{".to_owned(), "no JSON of its form"),
    ];
    for (turn, (value, why)) in cases.iter().enumerate() {
        put(value);
        faults.wait_for_all(why, |number| {
            let refused = faults.metric(number, "flowsched_announcements_refused_total");
            refused == turn as u64 + 1 && faults.rack.status(&faults.rig, number).contains(why)
        });
        let after: Vec<u64> = (1..=HOSTS).map(thresholds).collect();
        assert_eq!((after, faults.version(1)), (before.clone(), current.version), "{why}");
    }
    etcd.process.take().unwrap().kill();
    (1..=HOSTS).for_each(|number| faults.check_kept(number, current.version, "etcd at"));
    etcd.launch(&faults.rig, "etcd");
    let next = Announcement { version: next, ..current };
    etcd.ctl(&faults.rig, "controller", &["put", "--", &group_key("rack-1"), &next.to_json()]);
    faults.wait_for_all("the next version", |number| faults.version(number) == next.version);
    faults.end();
}
