//! The agent's life cycle: the events that happen to it and around it, and their times.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::Duration;

use crate::agent::Agent;
use crate::capture::now;
use crate::draw::{Case, Event, Foreign, Hook, Link, Rule};
use crate::foreign::Attached;
use crate::history::{Change, History, Phase};
use crate::lab::sh;
use crate::left_behind::{Loaded, Setup, left_behind};
use crate::oracle::Violation;
use crate::world::World;

/// Longer than the interval at which the agent checks the interfaces.
const NOTICED: Duration = Duration::from_millis(1500);
/// The longest delay from the tagger to the capture without a queue in between, which is the
/// kernel's own.
const DELAY: Duration = Duration::from_millis(50);

/// An agent on a host, and what has happened to it.
pub struct Life<'a> {
    world: &'a World,
    case: &'a Case,
    agent: Agent,
    rule: Rule,
    hook: Hook,
    foreign: Option<Attached>,
    /// The setup of the interface without the agent.
    before: Setup,
    loaded: Loaded,
    lives: u32,
    pub history: History,
    pub events: BTreeMap<&'static str, u64>,
    pub violations: Vec<Violation>,
}

/// The configuration file.
fn configuration(case: &Case, rule: Rule) -> String {
    let ([first, second], idle) = (rule.thresholds, case.message_idle.as_millis());
    let flow_idle = case.flow_idle.map_or("never".into(), |time| format!("{}ms", time.as_millis()));
    format!(
        "interfaces = [\"east*\"]\nthresholds = \"{first}B {second}B\"\ndscp = {:?}\n\
         [message]\nidle = \"{idle}ms\"\nend = \"{}\"\n[flows]\nidle = \"{flow_idle}\"\n\
         [ageing]\ntimeouts = 0\n",
        rule.dscp, case.message_end
    )
}

fn delay(link: Link) -> Duration {
    match link {
        Link::Here(rate, queue) => 2 * DELAY + Duration::from_secs(8 * queue) / rate as u32,
        Link::Fast | Link::Away(..) => DELAY,
    }
}

impl Life<'_> {
    /// A life cycle before anything is installed.
    pub fn new<'a>(world: &'a World, case: &'a Case) -> Life<'a> {
        let agent = Agent::prepare(&world.pair, "");
        let foreign = case.foreign.map(|kind| Attached::new(&world.pair, fit(kind, case.hook)));
        Life {
            world,
            case,
            agent,
            rule: case.rules[0],
            hook: case.hook,
            foreign,
            before: Setup::read(&world.pair, "east"),
            loaded: Loaded::default(),
            lives: 0,
            history: History::new(delay(case.link).as_nanos() as u64),
            events: BTreeMap::new(),
            violations: Vec::new(),
        }
    }

    /// Runs the life cycle from the first start to the last `uninstall`.
    pub fn run(&mut self, is_enough: &dyn Fn() -> bool) {
        self.install();
        let case = self.case;
        for (pause, event) in &case.events {
            thread::sleep(*pause);
            if is_enough() {
                break;
            }
            self.carry_out(*event);
            *self.events.entry(event.name()).or_default() += 1;
            self.check_attached(event.name());
        }
        thread::sleep(Duration::from_millis(300));
        self.uninstall();
    }

    /// Everything that the agent has logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.agent.log()).unwrap_or_default()
    }

    fn carry_out(&mut self, event: Event) {
        match event {
            Event::Kill { other_rule } => {
                self.agent.signal("-KILL");
                self.agent.wait();
                thread::sleep(Duration::from_millis(200));
                if other_rule {
                    self.turn();
                }
                self.change(self.tagged(), false, Self::launch);
            }
            Event::Stop => {
                self.stop();
                thread::sleep(Duration::from_millis(200));
                self.launch();
            }
            Event::Reload => {
                self.turn();
                self.agent.forget();
                self.change(self.tagged(), false, |life| {
                    life.configure();
                    life.agent.wait_for("in force");
                });
            }
            Event::Refused => {
                self.agent.forget();
                self.write("thresholds = \"20KB 10KB\"\n");
                self.agent.wait_for("refused");
                self.configure();
            }
            Event::HookChange => self.change_hook(),
            Event::Rename => self.rename(),
            Event::Away => self.away(),
            Event::Replaced { times, has_old_index } => self.replace(times, has_old_index),
            Event::Foreign(kind) => self.add_foreign(kind),
            Event::Reinstall => {
                self.uninstall();
                thread::sleep(Duration::from_millis(300));
                self.turn();
                self.install();
            }
        }
    }

    /// The phase while the tagger is attached.
    fn tagged(&self) -> Phase {
        Phase { rule: Some(self.rule), life: self.lives }
    }

    /// Runs an action that leads to another phase.
    fn change(&mut self, phase: Phase, blurs: bool, action: impl FnOnce(&mut Self)) {
        let before = now();
        action(self);
        self.history.push(Change { before, after: now(), blurs }, phase);
    }

    /// Switches to the other rule.
    fn turn(&mut self) {
        let [first, second] = self.case.rules;
        self.rule = if self.rule == first { second } else { first };
    }

    fn configure(&self) {
        self.write(&configuration(self.case, self.rule));
    }

    fn write(&self, text: &str) {
        let fresh = self.agent.folder.join("fresh");
        fs::write(&fresh, text).unwrap();
        fs::rename(fresh, self.agent.config()).unwrap();
    }

    fn launch(&mut self) {
        self.configure();
        self.agent.launch(if self.hook == Hook::Clsact { &["--clsact"] } else { &[] });
        self.loaded.add(&self.agent);
    }

    fn stop(&mut self) {
        self.agent.ok("stop");
        self.agent.wait();
    }

    fn install(&mut self) {
        self.lives += 1;
        self.change(self.tagged(), false, Self::launch);
        self.check_attached("start");
    }

    fn uninstall(&mut self) {
        self.loaded.add(&self.agent);
        self.change(Phase { rule: None, life: 0 }, false, |life| {
            life.agent.ok("uninstall");
        });
        self.agent.wait();
        let foreign = self.foreign.as_ref().map(|foreign| foreign.kind);
        self.violations.extend(left_behind(
            &self.world.pair,
            &self.agent,
            &self.loaded,
            &self.before,
            matches!(foreign, Some(Foreign::Filter(_))),
        ));
    }

    /// Changes the hook. Tagging continues meanwhile. For a moment both hooks may have a tagger: a
    /// TCP packet has the same tag from both, but a UDP packet is counted twice.
    fn change_hook(&mut self) {
        self.stop();
        self.hook = match self.hook {
            Hook::Tcx => Hook::Clsact,
            Hook::Clsact => Hook::Tcx,
        };
        // If a program on tcx accepts a packet, clsact never sees it, and a tagger on clsact cannot
        // tag it.
        if self.hook == Hook::Clsact {
            self.foreign.take_if(|foreign| foreign.kind == Foreign::Tcx);
        }
        self.change(self.tagged(), true, Self::launch);
    }

    /// Renames the interface. The other name matches the configuration too, so tagging continues
    /// for every packet.
    fn rename(&mut self) {
        let host = &self.world.pair.a;
        sh(&format!("ip -n {host} link set east name east2"));
        thread::sleep(NOTICED);
        self.check_attached_to("east2", "rename");
        sh(&format!("ip -n {host} link set east2 name east"));
        thread::sleep(NOTICED);
    }

    fn away(&mut self) {
        let untagged = Phase { rule: None, life: self.lives };
        self.agent.forget();
        // Packets that are under way are counted, but do not arrive.
        self.change(untagged, true, |life| life.world.remove_interface());
        self.foreign = None;
        thread::sleep(NOTICED);
        let before = now();
        self.world.restore_interface();
        self.before = Setup::read(&self.world.pair, "east");
        self.agent.wait_for("east: tagged");
        let change = Change { before, after: now(), blurs: false };
        self.history.push(change, self.tagged());
    }

    /// Replaces the interface. Each new interface may be tagged for some time, or only the last
    /// one.
    fn replace(&mut self, times: u64, has_old_index: bool) {
        let untagged = Phase { rule: None, life: self.lives };
        let index = self.world.index();
        self.change(untagged, true, |life| life.world.remove_interface());
        self.foreign = None;
        let before = now();
        for _ in 1..times {
            self.world.restore_interface();
            self.world.remove_interface();
        }
        match has_old_index {
            true => self.world.restore_interface_with_index(index),
            false => self.world.restore_interface(),
        }
        self.before = Setup::read(&self.world.pair, "east");
        for _ in 0..100 {
            if self.count_attached("east") > 0 {
                break;
            }
            thread::sleep(Duration::from_millis(100));
        }
        let change = Change { before, after: now(), blurs: times > 1 };
        self.history.push(change, self.tagged());
    }

    fn add_foreign(&mut self, kind: Foreign) {
        if self.foreign.is_some() {
            return;
        }
        // While clsact is created, the kernel drops packets that have passed the tagger on tcx.
        self.change(self.tagged(), true, |life| {
            life.foreign = Some(Attached::new(&life.world.pair, fit(kind, life.hook)));
        });
    }

    fn check_attached(&mut self, when: &str) {
        self.check_attached_to("east", when);
    }

    fn check_attached_to(&mut self, interface: &str, when: &str) {
        let count = self.count_attached(interface);
        if count != 1 {
            let text = format!("{count} after {when}");
            self.violations.push(Violation::new("not one tagger on the hook", text));
        }
    }

    /// The number of taggers that run on packets leaving the interface.
    fn count_attached(&mut self, interface: &str) -> usize {
        self.loaded.add(&self.agent);
        self.loaded.attached(&self.world.pair, interface)
    }
}

/// If a program on tcx accepts a packet, clsact never sees it. With a tagger on clsact, the program
/// must therefore be on clsact too.
fn fit(kind: Foreign, hook: Hook) -> Foreign {
    match (kind, hook) {
        (Foreign::Tcx, Hook::Clsact) => Foreign::Filter(0),
        _ => kind,
    }
}
