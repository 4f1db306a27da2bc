//! Model checking of PDQ's flow controller: every order in which messages can meet the switches.
//!
//! The controllers are those that simulations run. A scene is a set of flows over a few links;
//! in every round-trip time each flow sends one message along its path and has it back, and
//! between two rounds nothing is under way. Within a round the messages go in any order. As in
//! the paper (PDQ 2012, 4): links accept one flow at a time, flows do not end, there is no
//! dampening, and no flow is nearly completed.

use std::hash::{Hash, Hasher};

use flowsched_schemes::controller::pdq::comparator::Comparator;
use flowsched_schemes::controller::pdq::flow_controller::{
    FlowControl, FlowController, LinkState, Name,
};
use flowsched_schemes::transport::pdq::{Pauser, PdqHeader};
use flowsched_units::{Rate, Time};
use stateright::{Checker, Model, Property};

const LINK: LinkState = LinkState { capacity: Rate::from_gbps(1), mean_rtt: Time::from_us(200) };

const CONTROL: FlowControl = FlowControl {
    comparator: Comparator::DeadlineThenSize,
    early_start: 2.0,
    probe_spacing: 0.2,
    dampening: 0.0,
    most_flows: 100,
};

/// The links that each flow passes, in this order; flows are sorted by criticality.
type Paths = Vec<Vec<usize>>;

/// Whether headers have the field that says who paused a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PauseBy {
    Carried,
    /// A known-bad variant: a paused flow is only known by its rate of zero.
    Missing,
}

/// All scenes that are checked at once.
struct Scenes {
    all: Vec<Scene>,
    pause_by: PauseBy,
    losses: u8,
}

struct Scene {
    paths: Paths,
    /// The flows that are there when the workload is stable.
    active: Vec<bool>,
    drivers: Vec<bool>,
    /// Rounds until the equilibrium, at most.
    rounds: u8,
    start: State,
}

/// A flow's message of this round: where it is, and what it says.
#[derive(Clone, Copy, Debug)]
struct Message {
    /// Switches that it has met, on its way there and back.
    met: usize,
    header: PdqHeader,
}

#[derive(Clone, Debug)]
struct State {
    scene: usize,
    links: Vec<FlowController>,
    /// What the senders know: their rates, and who paused them.
    senders: Vec<PdqHeader>,
    messages: Vec<Message>,
    /// Rounds that are over since the workload became stable, or since the one in which a
    /// message was lost.
    rounds: u8,
    /// Messages that may still be lost.
    losses: u8,
    /// Whether one was lost in this round.
    has_lost: bool,
}

impl State {
    /// What of it can make a difference.
    fn key(&self) -> impl Hash + Eq + use<> {
        let said = |header: &PdqHeader| (header.rate, header.paused_by);
        let remembered = |link: &FlowController| -> Vec<_> {
            let entries = link.list().entries().iter();
            entries.map(|entry| (entry.criticality.flow, entry.rate, entry.paused_by)).collect()
        };
        (
            (self.scene, self.rounds, self.losses, self.has_lost),
            self.links.iter().map(remembered).collect::<Vec<_>>(),
            self.senders.iter().map(said).collect::<Vec<_>>(),
            self.messages.iter().map(|m| (m.met, said(&m.header))).collect::<Vec<_>>(),
        )
    }
}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.key().hash(hasher);
    }
}

impl PartialEq for State {
    fn eq(&self, other: &State) -> bool {
        self.key() == other.key()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    /// The flow's message meets the next switch.
    Meet(usize),
    /// The flow's message is lost.
    Lose(usize),
    /// Every message is back: the next round begins.
    NextRound,
}

fn pauser(link: usize) -> Pauser {
    Pauser::of_port(link as u32)
}

/// The less critical a flow, the longer it takes; all take many round-trip times.
fn header(flow: usize, paused_by: Option<Pauser>) -> PdqHeader {
    PdqHeader {
        rate: LINK.capacity,
        transmission: LINK.mean_rtt * (100 + flow as u64),
        rtt: LINK.mean_rtt,
        paused_by,
        ..PdqHeader::default()
    }
}

/// "Competing with another flow if and only if they share at least one common link".
fn compete(a: &[usize], b: &[usize]) -> bool {
    a.iter().any(|link| b.contains(link))
}

/// "A driver if and only if (i) flow F is more critical than any other competing flow, or (ii)
/// all the competing flows of flow F that are more critical than flow F are non-drivers."
fn drivers(paths: &Paths, active: &[bool]) -> Vec<bool> {
    let mut drivers = vec![false; paths.len()];
    for flow in (0..paths.len()).filter(|flow| active[*flow]) {
        let is_free = |other: usize| !drivers[other] || !compete(&paths[other], &paths[flow]);
        drivers[flow] = (0..flow).all(is_free);
    }
    drivers
}

/// "The maximal number of precedential flows of any flow".
fn most_precedential(paths: &Paths, active: &[bool]) -> usize {
    let precedential = |flow: usize| {
        (0..flow).filter(|other| active[*other] && compete(&paths[*other], &paths[flow])).count()
    };
    (0..paths.len()).filter(|flow| active[*flow]).map(precedential).max().unwrap_or(0)
}

impl State {
    fn new(paths: &Paths) -> State {
        let links = paths.iter().flatten().max().map_or(0, |last| last + 1);
        let waiting = PdqHeader::default();
        let done = |path: &Vec<usize>| Message { met: 2 * path.len(), header: waiting };
        State {
            scene: 0,
            links: (0..links).map(|link| FlowController::new(CONTROL, pauser(link))).collect(),
            senders: vec![waiting; paths.len()],
            messages: paths.iter().map(done).collect(),
            rounds: 0,
            losses: 0,
            has_lost: false,
        }
    }

    /// The active flows send their messages.
    fn begin_round(&mut self, active: &[bool]) {
        for flow in (0..active.len()).filter(|flow| active[*flow]) {
            let header = header(flow, self.senders[flow].paused_by);
            self.messages[flow] = Message { met: 0, header };
        }
    }

    /// The flow's message meets the next switch.
    fn meet(&mut self, paths: &Paths, flow: usize, pause_by: PauseBy) {
        let (path, name) = (&paths[flow], Name { flow: flow as u32, path: 0 });
        let Message { met, header } = &mut self.messages[flow];
        if *met < path.len() {
            self.links[path[*met]].on_data(Time::ZERO, name, header, LINK);
        } else {
            self.links[path[2 * path.len() - 1 - *met]].on_ack(name, header);
        }
        if pause_by == PauseBy::Missing && header.paused_by.take().is_some() {
            header.rate = Rate::from_bps(0);
        }
        *met += 1;
        if *met == 2 * path.len() {
            self.senders[flow] = *header;
        }
    }

    /// One round in which messages go one after the other.
    fn orderly_round(&mut self, paths: &Paths, active: &[bool]) {
        self.begin_round(active);
        for flow in (0..paths.len()).filter(|flow| active[*flow]) {
            for _ in 0..2 * paths[flow].len() {
                self.meet(paths, flow, PauseBy::Carried);
            }
        }
    }

    /// The links whose switches the flow's message will still meet in this round.
    fn links_ahead<'a>(&self, paths: &'a Paths, flow: usize) -> &'a [usize] {
        let (path, met) = (&paths[flow], self.messages[flow].met);
        if met < path.len() { path } else { &path[..2 * path.len() - met] }
    }

    fn next_link(&self, paths: &Paths, flow: usize) -> usize {
        let (path, met) = (&paths[flow], self.messages[flow].met);
        if met < path.len() { path[met] } else { path[2 * path.len() - 1 - met] }
    }

    fn is_pending(&self, paths: &Paths, flow: usize) -> bool {
        self.messages[flow].met < 2 * paths[flow].len()
    }

    fn is_between_rounds(&self, paths: &Paths) -> bool {
        (0..paths.len()).all(|flow| !self.is_pending(paths, flow))
    }

    fn sends(&self, flow: usize) -> bool {
        self.senders[flow].rate > Rate::from_bps(0)
    }
}

impl Scenes {
    /// Whether the equilibrium must be there: "all the drivers are accepted while the remaining
    /// flows are paused".
    fn is_due(&self, state: &State) -> bool {
        let scene = &self.all[state.scene];
        state.rounds >= scene.rounds && state.is_between_rounds(&scene.paths)
    }
}

impl Model for Scenes {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let start = |(scene, of): (usize, &Scene)| {
            let mut state = State { scene, losses: self.losses, ..of.start.clone() };
            state.begin_round(&of.active);
            state
        };
        self.all.iter().enumerate().map(start).collect()
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let scene = &self.all[state.scene];
        let paths = &scene.paths;
        let pending: Vec<usize> =
            (0..paths.len()).filter(|flow| state.is_pending(paths, *flow)).collect();
        if pending.is_empty() {
            // One round more than the equilibrium needs shows that it stays.
            if state.rounds <= scene.rounds {
                actions.push(Action::NextRound);
            }
            return;
        }
        // What a message does at a switch that no other message will meet in this round comes to
        // the same whenever it happens: it is done first.
        let alone = pending.iter().find(|flow| {
            let link = state.next_link(paths, **flow);
            let mut others = pending.iter().filter(|other| other != flow);
            others.all(|other| !state.links_ahead(paths, *other).contains(&link))
        });
        let steps = alone.map_or(&pending[..], std::slice::from_ref);
        actions.extend(steps.iter().map(|flow| Action::Meet(*flow)));
        if state.losses > 0 {
            actions.extend(steps.iter().map(|flow| Action::Lose(*flow)));
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let scene = &self.all[last.scene];
        let mut state = last.clone();
        match action {
            Action::Meet(flow) => state.meet(&scene.paths, flow, self.pause_by),
            Action::Lose(flow) => {
                // The sender keeps what it knew.
                state.messages[flow].met = 2 * scene.paths[flow].len();
                state.losses -= 1;
                state.has_lost = true;
            }
            Action::NextRound => {
                state.begin_round(&scene.active);
                return Some(state);
            }
        }
        if state.is_between_rounds(&scene.paths) {
            state.rounds = if state.has_lost { 0 } else { state.rounds + 1 };
            state.has_lost = false;
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let settled = |model: &Scenes, state: &State| {
            let Scene { active, drivers, .. } = &model.all[state.scene];
            let is_right = |flow: usize| !active[flow] || state.sends(flow) == drivers[flow];
            !model.is_due(state) || (0..active.len()).all(is_right)
        };
        let alive = |model: &Scenes, state: &State| {
            !model.is_due(state) || (0..state.senders.len()).any(|flow| state.sends(flow))
        };
        vec![
            Property::always("in equilibrium in time", settled),
            Property::always("no deadlock", alive),
        ]
    }
}

/// All ways over one or more of so many links, in any order.
fn paths_over(links: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![vec![]];
    let mut from = 0;
    while from < all.len() {
        for link in 0..links {
            if !all[from].contains(&link) {
                let longer = [all[from].as_slice(), &[link]].concat();
                all.push(longer);
            }
        }
        from += 1;
    }
    all.split_off(1)
}

/// Whether each flow has to do with all others, be it by way of some of them.
fn is_connected(paths: &Paths) -> bool {
    let mut reached = vec![0];
    let mut from = 0;
    while from < reached.len() {
        let is_new =
            |flow: &usize| !reached.contains(flow) && compete(&paths[*flow], &paths[reached[from]]);
        let new: Vec<usize> = (0..paths.len()).filter(is_new).collect();
        reached.extend(new);
        from += 1;
    }
    reached.len() == paths.len()
}

/// All sets of so many flows over up to three links, but for the links' names, and but for those
/// in which some flows have nothing to do with others: these are sets of fewer flows side by side,
/// with as many states as those have multiplied.
fn topologies(flows: usize) -> Vec<Paths> {
    let mut all: Vec<Paths> = vec![vec![]];
    for _ in 0..flows {
        let one_more = |paths: &Paths| {
            let paths = paths.clone();
            paths_over(3).into_iter().map(move |path| [paths.as_slice(), &[path]].concat())
        };
        all = all.iter().flat_map(one_more).collect();
    }
    // The links are numbered in the order in which they appear.
    all.retain(|paths| {
        let mut known = 0;
        paths.iter().flatten().all(|link| {
            let is_next = *link <= known;
            known = known.max(link + 1);
            is_next
        })
    });
    all.retain(is_connected);
    all
}

/// The workload becomes stable when `active` flows are there, after `start`.
fn scene(paths: &Paths, active: Vec<bool>, start: State) -> Scene {
    // Lemma 2 says P_max + 1, its proof the number of flows; one more after flows have ended.
    let flows = active.iter().filter(|is_there| **is_there).count() as u8;
    let rounds = flows + 1;
    Scene { paths: paths.clone(), drivers: drivers(paths, &active), rounds, active, start }
}

/// Links on which `active` flows have settled.
fn settled(paths: &Paths, active: &[bool]) -> State {
    let mut state = State::new(paths);
    (0..=paths.len()).for_each(|_| state.orderly_round(paths, active));
    state
}

/// All flows come at once.
fn at_once(paths: &Paths) -> Scene {
    scene(paths, vec![true; paths.len()], State::new(paths))
}

/// All flows come at once, or after some of them have settled, or one more was there and ends.
fn scenes(paths: &Paths) -> Vec<Scene> {
    let (count, all) = (paths.len(), vec![true; paths.len()]);
    let mut scenes = vec![at_once(paths)];
    for there in 1..(1_usize << count) - 1 {
        let first: Vec<bool> = (0..count).map(|flow| (there >> flow) & 1 == 1).collect();
        scenes.push(scene(paths, all.clone(), settled(paths, &first)));
    }
    for gone in (0..count).filter(|_| count > 1) {
        let mut start = settled(paths, &all);
        for link in &paths[gone] {
            start.links[*link].on_term(Name { flow: gone as u32, path: 0 });
        }
        start.senders[gone] = PdqHeader::default();
        scenes.push(scene(paths, (0..count).map(|flow| flow != gone).collect(), start));
    }
    scenes
}

/// Checks scenes, as many at once as fit into memory: how many states there are, and a way to
/// the first one that violates a property.
fn check(all: Vec<Scene>, pause_by: PauseBy, losses: u8) -> (usize, Option<String>) {
    let mut states = 0;
    let mut rest = all.into_iter().peekable();
    while rest.peek().is_some() {
        let all = rest.by_ref().take(1_000).collect();
        let checker = Scenes { all, pause_by, losses }.checker().spawn_bfs().join();
        states += checker.unique_state_count();
        if let Some((property, path)) = checker.discoveries().into_iter().next() {
            let last = path.last_state().clone();
            let scene = &checker.model().all[last.scene];
            let (paths, active, drivers) = (&scene.paths, &scene.active, &scene.drivers);
            let actions = path.into_actions();
            return (
                states,
                Some(format!(
                    "{property}: paths {paths:?}, active {active:?}, drivers {drivers:?}, after \
                     {actions:?}"
                )),
            );
        }
    }
    (states, None)
}

fn total_length(paths: &Paths) -> usize {
    paths.iter().map(Vec::len).sum()
}

/// Checks all topologies of so many flows whose paths have up to `longest` links together, one length
/// after the other.
fn all_settle(flows: usize, longest: usize, scenes: impl Fn(&Paths) -> Vec<Scene>, losses: u8) {
    let topologies = topologies(flows);
    for length in flows..=longest {
        let of_length = topologies.iter().filter(|paths| total_length(paths) == length);
        let all: Vec<Scene> = of_length.flat_map(&scenes).collect();
        let count = all.len();
        let (states, violation) = check(all, PauseBy::Carried, losses);
        println!(
            "{flows} flows over {length} links, {losses} lost: {count} scenes, {states} states"
        );
        assert_eq!(violation, None);
    }
}

/// PDQ 2012, 4: no deadlock, and the equilibrium, though in one round-trip time more than there are
/// flows.
#[test]
fn flows_settle_whatever_the_order() {
    all_settle(1, 3, scenes, 0);
    all_settle(2, 6, scenes, 0);
    all_settle(3, 5, scenes, 0);
    all_settle(3, 6, |paths| vec![at_once(paths)], 0);
    all_settle(4, 5, |paths| vec![at_once(paths)], 0);
}

/// The same for every topology of up to four flows and three links.
#[test]
#[ignore = "takes long"]
fn flows_settle_whatever_the_order_on_all_small_topologies() {
    for flows in 1..=4 {
        all_settle(flows, 3 * flows, scenes, 0);
        all_settle(flows, 3 * flows, |paths| vec![at_once(paths)], 1);
    }
}

/// One lost message puts the equilibrium off, and no more.
#[test]
fn a_lost_message_does_not_matter_in_the_end() {
    all_settle(1, 3, |paths| vec![at_once(paths)], 1);
    all_settle(2, 6, |paths| vec![at_once(paths)], 1);
    all_settle(3, 4, |paths| vec![at_once(paths)], 1);
    all_settle(4, 4, |paths| vec![at_once(paths)], 1);
}

/// All flows come at once, and have as long as Lemma 2 gives them: P_max + 1 round-trip times.
fn within_the_lemma(paths: &Paths) -> Scene {
    let scene = at_once(paths);
    Scene { rounds: most_precedential(paths, &scene.active) as u8 + 1, ..scene }
}

/// P_max + 1 round-trip times are enough for one or two flows that come at once.
#[test]
fn the_lemma_holds_for_two_flows() {
    for flows in 1..=2 {
        let all = topologies(flows).iter().map(within_the_lemma).collect();
        assert_eq!(check(all, PauseBy::Carried, 0).1, None);
    }
}

/// With Algorithm 1 as it is printed they were not for these three: the second and the third are
/// paused by different switches, the second then everywhere, and nobody but its pauser looks at
/// the third ("if P_H = other switch ... return"). When that let it go, it sent for one round-trip
/// time though the first flow holds a link of its path. Switches that tell each other what they
/// would have for such a flow do not let it.
#[test]
fn no_flow_sends_once_too_often() {
    let paths = vec![vec![0], vec![0, 1], vec![0, 1]];
    assert_eq!(check(vec![within_the_lemma(&paths)], PauseBy::Carried, 0).1, None);
}

/// They are not along a chain, where no flow has more than one precedential flow: the last one's fate is
/// known when that of all before it is. The proof of the lemma counts all more critical flows.
#[test]
fn a_chain_takes_as_long_as_it_is() {
    let paths = vec![vec![0], vec![0, 1], vec![2, 1], vec![2]];
    assert_eq!(most_precedential(&paths, &[true; 4]), 1);
    assert_ne!(check(vec![within_the_lemma(&paths)], PauseBy::Carried, 0).1, None);
    assert_eq!(check(vec![at_once(&paths)], PauseBy::Carried, 0).1, None);
}

/// Appendix A: "Whenever a switch notices that a flow is paused by another switch, it will not
/// consider accepting this flow." Without the field that says so, flows that wait for another
/// link stay in this one's list, and a third that could send is not even remembered.
#[test]
fn without_the_pause_by_field_flows_wait_for_ever() {
    let paths = vec![vec![1], vec![0, 1], vec![0, 1], vec![0]];
    assert_eq!(check(vec![at_once(&paths)], PauseBy::Carried, 0).1, None);
    let found = check(vec![at_once(&paths)], PauseBy::Missing, 0).1;
    assert!(found.is_some());
    // Not in a hundred round-trip times either.
    let late = Scene { rounds: 100, ..at_once(&paths) };
    assert!(check(vec![late], PauseBy::Missing, 0).1.is_some());
}
