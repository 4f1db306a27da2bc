//! Model checking of PDQ's flow controller: every order in which messages can meet the switches.
//!
//! The controllers are the ones that simulations run. A scene is a set of flows over a few links. A
//! round is one round-trip time, in which each flow sends one message along its path and gets it back.
//! Within a round the messages go in any order, and between two rounds no message is in flight. As in
//! the paper (PDQ 2012, 4): links accept one flow at a time, flows do not end, there is no dampening,
//! and no flow is nearly completed.
//!
//! Each file has one idea: [`topologies`] says which flows pass which links, [`switches`] what a switch
//! answers to a message, and [`round`] how a round can end. This file says what must be true between
//! rounds.

mod round;
mod switches;
mod topologies;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stateright::{Checker, Model, Property};

use round::{Course, End, Orders, Rest, Step};
use switches::{PauseBy, Switches};
use topologies::{Paths, drivers, most_precedential, topologies, total_length};

/// Scenes that are checked together.
struct Scenes {
    all: Vec<Scene>,
    losses: u8,
    switches: Arc<Mutex<Switches>>,
    rounds: Mutex<Rounds>,
}

/// What is known of the rounds of one topology.
#[derive(Default)]
struct Rounds {
    /// How a round can end, by the active flows, the state before the round, and whether a message may
    /// be lost.
    ends: BTreeMap<(usize, Rest, bool), Arc<Vec<End>>>,
    /// The number of states within all rounds.
    states: usize,
}

#[derive(Clone)]
struct Scene {
    paths: Paths,
    /// The flows that are there when the workload is stable.
    active: Vec<bool>,
    drivers: Vec<bool>,
    /// The most rounds until the equilibrium.
    rounds: u8,
    start: Rest,
}

/// A scene between two rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct State {
    scene: usize,
    rest: Rest,
    /// Rounds that are over since the workload became stable, or since the one in which a
    /// message was lost.
    rounds: u8,
    /// Messages that may still be lost.
    losses: u8,
}

/// A round in which the messages take their steps in this order.
#[derive(Clone, PartialEq, Eq)]
struct Round {
    order: Vec<Step>,
    end: State,
}

impl std::fmt::Debug for Round {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.order.fmt(formatter)
    }
}

impl Scene {
    /// "All the drivers are accepted while the remaining flows are paused".
    fn is_in_equilibrium(&self, rest: &Rest) -> bool {
        let is_right = |flow: usize| rest.senders[flow].sends() == self.drivers[flow];
        (0..self.active.len()).all(|flow| !self.active[flow] || is_right(flow))
    }

    /// The active flows as a number.
    fn flows(&self) -> usize {
        self.active.iter().enumerate().map(|(flow, is_there)| usize::from(*is_there) << flow).sum()
    }
}

impl Scenes {
    /// Whether the scene must have reached its equilibrium.
    fn is_due(&self, state: &State) -> bool {
        state.rounds >= self.all[state.scene].rounds
    }

    fn ends(&self, state: &State) -> Arc<Vec<End>> {
        let scene = &self.all[state.scene];
        let may_lose = state.losses > 0;
        let key = (scene.flows(), state.rest, may_lose);
        let mut rounds = locked(&self.rounds);
        if let Some(ends) = rounds.ends.get(&key) {
            return Arc::clone(ends);
        }
        let course = Course::new(&scene.paths, &scene.active);
        let mut switches = locked(&self.switches);
        let (ends, states) = course.ends(&mut switches, &state.rest, may_lose, Orders::Enough);
        let ends = Arc::new(ends);
        rounds.states += states;
        rounds.ends.insert(key, Arc::clone(&ends));
        ends
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Model for Scenes {
    type State = State;
    type Action = Round;

    fn init_states(&self) -> Vec<State> {
        let start = |(scene, of): (usize, &Scene)| State {
            scene,
            rest: of.start,
            rounds: 0,
            losses: self.losses,
        };
        self.all.iter().enumerate().map(start).collect()
    }

    fn actions(&self, state: &State, actions: &mut Vec<Round>) {
        // Rounds are counted up to the most that the equilibrium may take. From then on it must last for
        // ever, and a message may still be lost.
        let most = self.all[state.scene].rounds;
        actions.extend(self.ends(state).iter().map(|end| Round {
            order: end.order.clone(),
            end: State {
                rest: end.rest,
                rounds: if end.has_lost { 0 } else { most.min(state.rounds + 1) },
                losses: state.losses - u8::from(end.has_lost),
                ..*state
            },
        }));
    }

    fn next_state(&self, _: &State, round: Round) -> Option<State> {
        Some(round.end)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let settled = |model: &Scenes, state: &State| {
            !model.is_due(state) || model.all[state.scene].is_in_equilibrium(&state.rest)
        };
        let alive = |model: &Scenes, state: &State| {
            !model.is_due(state) || state.rest.senders.iter().any(|sender| sender.sends())
        };
        vec![
            Property::always("in equilibrium in time", settled),
            Property::always("no deadlock", alive),
        ]
    }
}

/// A scene whose workload becomes stable when the `active` flows are there, after `start`.
fn scene(paths: &Paths, active: Vec<bool>, start: Rest) -> Scene {
    // Lemma 2 says P_max + 1 rounds, and its proof the number of flows. It takes one more after flows
    // have ended.
    let flows = active.iter().filter(|is_there| **is_there).count() as u8;
    let rounds = flows + 1;
    Scene { paths: paths.clone(), drivers: drivers(paths, &active), rounds, active, start }
}

/// The state between rounds in which the `active` flows have settled.
fn settled(switches: &mut Switches, paths: &Paths, active: &[bool]) -> Rest {
    let course = Course::new(paths, active);
    (0..=paths.len()).fold(Rest::default(), |rest, _| course.one_after_the_other(switches, &rest))
}

/// The scene in which all flows come at once.
fn at_once(paths: &Paths) -> Scene {
    scene(paths, vec![true; paths.len()], Rest::default())
}

/// Which scenes of a topology are checked.
type Choice = fn(&mut Switches, &Paths) -> Vec<Scene>;

fn only_at_once(_: &mut Switches, paths: &Paths) -> Vec<Scene> {
    vec![at_once(paths)]
}

/// The scenes in which all flows come at once, in which the others come after some have settled, and in
/// which one more flow was there and ends.
fn scenes(switches: &mut Switches, paths: &Paths) -> Vec<Scene> {
    let (count, all) = (paths.len(), vec![true; paths.len()]);
    let mut scenes = vec![at_once(paths)];
    for there in 1..(1_usize << count) - 1 {
        let first: Vec<bool> = (0..count).map(|flow| (there >> flow) & 1 == 1).collect();
        scenes.push(scene(paths, all.clone(), settled(switches, paths, &first)));
    }
    for gone in (0..count).filter(|_| count > 1) {
        let mut start = settled(switches, paths, &all);
        for link in &paths[gone] {
            start.links[*link] = switches.end(*link, start.links[*link], gone);
        }
        start.senders[gone] = Default::default();
        scenes.push(scene(paths, (0..count).map(|flow| flow != gone).collect(), start));
    }
    scenes
}

/// What a check finds.
#[derive(Default)]
struct Found {
    /// States between rounds and within them.
    states: usize,
    /// A way to the first state that violates a property.
    violation: Option<String>,
}

/// Checks scenes of one topology.
fn check(switches: &Arc<Mutex<Switches>>, all: Vec<Scene>, losses: u8) -> Found {
    let (switches, rounds) = (Arc::clone(switches), Mutex::default());
    let checker = Scenes { all, losses, switches, rounds }.checker().spawn_bfs().join();
    let states = checker.unique_state_count() + locked(&checker.model().rounds).states;
    let found = checker.discoveries().into_iter().next();
    let violation = found.map(|(property, path)| {
        let last = *path.last_state();
        let Scene { paths, active, drivers, .. } = &checker.model().all[last.scene];
        let rounds = path.into_actions();
        format!(
            "{property}: paths {paths:?}, active {active:?}, drivers {drivers:?}, after {rounds:?}"
        )
    });
    Found { states, violation }
}

/// Checks a single scene. Returns a violation, if there is one.
fn check_one(scene: Scene, pause_by: PauseBy) -> Option<String> {
    check(&Arc::new(Mutex::new(Switches::new(pause_by))), vec![scene], 0).violation
}

/// Checks all topologies of this many flows whose paths together have as many links as one of the
/// `lengths`, one length after the other.
fn all_settle(flows: usize, lengths: RangeInclusive<usize>, choice: Choice, losses: u8) {
    let topologies = topologies(flows);
    let switches = Arc::new(Mutex::new(Switches::new(PauseBy::Carried)));
    for length in lengths {
        let (mut scenes, mut states) = (0, 0);
        for paths in topologies.iter().filter(|paths| total_length(paths) == length) {
            let all = choice(&mut locked(&switches), paths);
            scenes += all.len();
            let found = check(&switches, all, losses);
            assert_eq!(found.violation, None);
            states += found.states;
        }
        println!(
            "{flows} flows over {length} links, {losses} lost: {scenes} scenes, {states} states"
        );
    }
}

/// PDQ 2012, 4: there is no deadlock, and flows reach the equilibrium. But this can take one round-trip
/// time more than there are flows.
#[test]
fn flows_settle_whatever_the_order() {
    all_settle(1, 1..=3, scenes, 0);
    all_settle(2, 2..=6, scenes, 0);
    all_settle(3, 3..=9, scenes, 0);
    all_settle(4, 4..=7, scenes, 0);
}

/// One lost message delays the equilibrium, but does nothing else.
#[test]
fn flows_settle_after_a_lost_message() {
    all_settle(1, 1..=3, scenes, 1);
    all_settle(2, 2..=6, scenes, 1);
    all_settle(3, 3..=9, scenes, 1);
    all_settle(4, 4..=6, scenes, 1);
}

/// Flows settle in whatever order on every topology of up to four flows and three links.
#[test]
#[ignore = "takes minutes"]
fn flows_settle_whatever_the_order_on_all_small_topologies() {
    for flows in 1..=4 {
        all_settle(flows, flows..=3 * flows, scenes, 0);
    }
}

/// Flows settle after a lost message on every topology of up to four flows and three links.
#[test]
#[ignore = "takes minutes"]
fn flows_settle_after_a_lost_message_on_all_small_topologies() {
    for flows in 1..=4 {
        all_settle(flows, flows..=3 * flows, scenes, 1);
    }
}

/// The states that there can be after each round, and whether a message may still be lost then.
fn after_each_round(
    switches: &mut Switches,
    scene: &Scene,
    losses: u8,
    orders: Orders,
) -> Vec<BTreeSet<(Rest, bool)>> {
    let course = Course::new(&scene.paths, &scene.active);
    let mut after = vec![BTreeSet::from([(scene.start, losses > 0)])];
    for _ in 0..=scene.rounds {
        let mut next = BTreeSet::new();
        for (rest, may_lose) in after.last().into_iter().flatten() {
            let (ends, _) = course.ends(switches, rest, *may_lose, orders);
            next.extend(ends.iter().map(|end| (end.rest, *may_lose && !end.has_lost)));
        }
        after.push(next);
    }
    after
}

/// Checks that enough orders are as good as all. The possible states after each round are the same, and
/// so are the verdicts and the number of rounds that the equilibrium takes.
fn enough_orders_are_as_good_as_all(flows: usize, longest: usize, choice: Choice, losses: u8) {
    let mut switches = Switches::new(PauseBy::Carried);
    for paths in topologies(flows).iter().filter(|paths| total_length(paths) <= longest) {
        for scene in choice(&mut switches, paths) {
            let enough = after_each_round(&mut switches, &scene, losses, Orders::Enough);
            let all = after_each_round(&mut switches, &scene, losses, Orders::All);
            assert!(enough == all, "{paths:?}");
            let is_settled = |states: &BTreeSet<(Rest, bool)>| {
                states.iter().all(|(rest, _)| scene.is_in_equilibrium(rest))
            };
            assert!(losses > 0 || enough[usize::from(scene.rounds)..].iter().all(is_settled));
        }
    }
}

#[test]
fn enough_orders_are_enough() {
    enough_orders_are_as_good_as_all(2, 6, scenes, 0);
    enough_orders_are_as_good_as_all(2, 6, scenes, 1);
    enough_orders_are_as_good_as_all(3, 5, scenes, 0);
    enough_orders_are_as_good_as_all(3, 6, only_at_once, 0);
    enough_orders_are_as_good_as_all(3, 4, scenes, 1);
    enough_orders_are_as_good_as_all(4, 6, only_at_once, 0);
}

/// Enough orders are enough on all topologies of three flows, and on all of four flows that come at
/// once.
#[test]
#[ignore = "takes minutes"]
fn enough_orders_are_enough_on_all_small_topologies() {
    enough_orders_are_as_good_as_all(3, 9, scenes, 0);
    enough_orders_are_as_good_as_all(3, 9, scenes, 1);
    enough_orders_are_as_good_as_all(4, 12, only_at_once, 0);
}

/// The scene in which all flows come at once and have as long as Lemma 2 gives them: P_max + 1
/// round-trip times.
fn within_the_lemma(paths: &Paths) -> Scene {
    let scene = at_once(paths);
    Scene { rounds: most_precedential(paths, &scene.active) as u8 + 1, ..scene }
}

/// P_max + 1 round-trip times are enough for one or two flows that come at once.
#[test]
fn the_lemma_holds_for_two_flows() {
    for flows in 1..=2 {
        for paths in topologies(flows) {
            assert_eq!(check_one(within_the_lemma(&paths), PauseBy::Carried), None);
        }
    }
}

/// P_max + 1 round-trip times are enough for these three flows, but not with Algorithm 1 as it is
/// printed. There, different switches pause the second and the third flow, and then the second is paused
/// everywhere. Nobody but its pauser looks at the third flow ("if P_H = other switch ... return"). When
/// the pauser lets it go, it sends for one round-trip time, though the first flow holds a link of its
/// path. Switches that tell each other what rate they would have for such a flow prevent this.
#[test]
fn no_flow_sends_once_too_often() {
    let paths = vec![vec![0], vec![0, 1], vec![0, 1]];
    assert_eq!(check_one(within_the_lemma(&paths), PauseBy::Carried), None);
}

/// P_max + 1 round-trip times are not enough along a chain. No flow there has more than one precedential
/// flow, but the last one's fate is known only when that of all before it is. The proof of the lemma
/// counts all more critical flows.
#[test]
fn a_chain_takes_as_long_as_it_is() {
    let paths = vec![vec![0], vec![0, 1], vec![2, 1], vec![2]];
    assert_eq!(most_precedential(&paths, &[true; 4]), 1);
    assert_ne!(check_one(within_the_lemma(&paths), PauseBy::Carried), None);
    assert_eq!(check_one(at_once(&paths), PauseBy::Carried), None);
}

/// Appendix A: "Whenever a switch notices that a flow is paused by another switch, it will not
/// consider accepting this flow." Without the field that says so, flows that wait for another
/// link stay in this one's list, and a third that could send is not even remembered.
#[test]
fn without_the_pause_by_field_flows_wait_for_ever() {
    let paths = vec![vec![1], vec![0, 1], vec![0, 1], vec![0]];
    assert_eq!(check_one(at_once(&paths), PauseBy::Carried), None);
    let found = check_one(at_once(&paths), PauseBy::Missing);
    assert!(found.is_some());
    // Not in a hundred round-trip times either.
    let late = Scene { rounds: 100, ..at_once(&paths) };
    assert!(check_one(late, PauseBy::Missing).is_some());
}
