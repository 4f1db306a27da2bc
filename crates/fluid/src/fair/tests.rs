use proptest::prelude::*;

use super::*;
use crate::oracle::from_scratch::{Demand, max_min};

/// What happens to the flows of a network of a few links.
#[derive(Clone, Debug)]
enum Happening {
    Start { path: Vec<u32>, class: u8 },
    End(prop::sample::Index),
    ChangeClass(prop::sample::Index, u8),
    ChangeCapacity(u32, f64),
    Settle,
}

const LINKS: u32 = 8;
const CLASSES: u8 = 3;

fn happening() -> impl Strategy<Value = Happening> {
    let path = prop::sample::subsequence((0..LINKS).collect::<Vec<_>>(), 1..5);
    let index = any::<prop::sample::Index>;
    prop_oneof![
        4 => (path, 0..CLASSES).prop_map(|(path, class)| Happening::Start { path, class }),
        2 => index().prop_map(Happening::End),
        1 => (index(), 0..CLASSES).prop_map(|(flow, class)| Happening::ChangeClass(flow, class)),
        1 => (0..LINKS, 0u32..5).prop_map(|(link, c)| Happening::ChangeCapacity(link, f64::from(c))),
        3 => Just(Happening::Settle),
    ]
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-7 * expected.max(1.0)
}

/// Applies the happenings, reusing free slots. Compares rates whenever they are settled.
fn check(happenings: &[Happening], classes: u8) {
    let mut capacities: Vec<f64> = (0..LINKS).map(|link| 1.0 + f64::from(link % 3)).collect();
    let mut fair = Fair::new(capacities.clone(), usize::from(classes));
    let mut slots: Vec<Option<Demand>> = Vec::new();
    let mut known: Vec<f64> = Vec::new();
    for happening in happenings.iter().chain([&Happening::Settle]) {
        let active: Vec<usize> = (0..slots.len()).filter(|slot| slots[*slot].is_some()).collect();
        match happening {
            Happening::Start { path, class } => {
                let class = class % classes;
                let free = slots.iter().position(Option::is_none).unwrap_or(slots.len());
                if free == slots.len() {
                    slots.push(None);
                    known.push(0.0);
                }
                slots[free] = Some(Demand { path: path.clone(), class: class.into() });
                fair.add(free as u32, path.iter().copied(), class);
            }
            Happening::End(index) if !active.is_empty() => {
                let slot = active[index.index(active.len())];
                slots[slot] = None;
                fair.remove(slot as u32);
            }
            Happening::ChangeClass(index, class) if !active.is_empty() => {
                let slot = active[index.index(active.len())];
                let class = class % classes;
                slots[slot].as_mut().unwrap().class = class.into();
                fair.set_class(slot as u32, class);
            }
            Happening::ChangeCapacity(link, capacity) => {
                capacities[*link as usize] = *capacity;
                fair.set_capacity(*link, *capacity);
            }
            Happening::Settle => {
                fair.settle(|slot| known[slot as usize] = f64::NAN);
                for (slot, known) in known.iter_mut().enumerate() {
                    let rate = fair.rate(slot as u32);
                    assert!(known.is_nan() || *known == rate, "a change was not told");
                    *known = rate;
                }
                let demands: Vec<Demand> = slots.iter().flatten().cloned().collect();
                let rates: Vec<f64> = active.iter().map(|slot| fair.rate(*slot as u32)).collect();
                compare(&capacities, &demands, &rates);
            }
            _ => {}
        }
    }
}

fn compare(capacities: &[f64], demands: &[Demand], rates: &[f64]) {
    let expected = max_min(capacities, demands);
    for (found, expected) in rates.iter().zip(&expected) {
        assert!(close(*found, *expected), "{rates:?} for {expected:?}: {demands:?}");
    }
    let on = |link: u32| {
        let flows = demands.iter().zip(rates);
        flows.filter(move |(flow, _)| flow.path.contains(&link)).map(|(flow, rate)| (flow, *rate))
    };
    for (link, capacity) in capacities.iter().enumerate() {
        let total: f64 = on(link as u32).map(|(_, rate)| rate).sum();
        assert!(total <= capacity * (1.0 + 1e-7), "link {link} carries {total} of {capacity}");
    }
    for (flow, rate) in demands.iter().zip(rates) {
        let is_bottleneck = |link: &u32| {
            let up_to_class = on(*link).filter(|(other, _)| other.class <= flow.class);
            let total: f64 = up_to_class.map(|(_, rate)| rate).sum();
            let of_class = on(*link).filter(|(other, _)| other.class == flow.class);
            let largest = of_class.map(|(_, rate)| rate).fold(0.0, f64::max);
            close(total, capacities[*link as usize]) && close(*rate, largest)
        };
        assert!(flow.path.iter().any(is_bottleneck), "{flow:?} at {rate} is held back by nothing");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Rates are those from scratch. No link carries more than it can. Every flow has a full link on which no flow
    /// of its class is larger.
    #[test]
    fn rates_are_max_min_fair_whatever_happens(
        happenings in prop::collection::vec(happening(), 1..80),
    ) {
        check(&happenings, 1);
    }

    #[test]
    fn classes_share_what_those_before_leave(
        happenings in prop::collection::vec(happening(), 1..80),
    ) {
        check(&happenings, CLASSES);
    }
}

/// Applies the happening to `fair`. `is_taken` says which slots are taken. Capacities stay the same.
fn happen(happening: &Happening, fair: &mut Fair, is_taken: &mut Vec<bool>) {
    let active: Vec<usize> = (0..is_taken.len()).filter(|slot| is_taken[*slot]).collect();
    match happening {
        Happening::Start { path, class } => {
            let free = is_taken.iter().position(|is_taken| !is_taken).unwrap_or(is_taken.len());
            is_taken.resize(is_taken.len().max(free + 1), false);
            is_taken[free] = true;
            fair.add(free as u32, path.iter().copied(), *class);
        }
        Happening::End(index) if !active.is_empty() => {
            let slot = active[index.index(active.len())];
            is_taken[slot] = false;
            fair.remove(slot as u32);
        }
        Happening::ChangeClass(index, class) if !active.is_empty() => {
            fair.set_class(active[index.index(active.len())] as u32, *class);
        }
        Happening::Settle => fair.settle(|_| {}),
        _ => {}
    }
}

proptest! {
    /// Undoing restores everything, the places of members too, so that nothing differs in what happens next.
    #[test]
    fn what_is_undone_leaves_no_trace(
        before in prop::collection::vec(happening(), 1..40),
        undone in happening(),
        after in prop::collection::vec(happening(), 1..20),
    ) {
        let capacities = (0..LINKS).map(|link| 1.0 + f64::from(link % 3)).collect();
        let mut fair = Fair::new(capacities, usize::from(CLASSES));
        let mut is_taken = Vec::new();
        let settle = [Happening::Settle];
        before.iter().chain(&settle).for_each(|h| happen(h, &mut fair, &mut is_taken));
        let mut other = (fair.clone(), is_taken.clone());
        fair.begin(true);
        let mut meanwhile = is_taken.clone();
if matches!(undone, Happening::Start { .. } | Happening::End(_)) {
            happen(&undone, &mut fair, &mut meanwhile);
            fair.settle(|_| {});
        }
        fair.undo();
        for happening in settle.iter().chain(&after).chain(&settle) {
            let slots = other.0.rates.len();
            prop_assert_eq!(&fair.rates[..slots], &other.0.rates[..]);
            prop_assert_eq!(format!("{:?}", fair.bands), format!("{:?}", other.0.bands));
            prop_assert_eq!(&fair.present, &other.0.present);
            happen(happening, &mut fair, &mut is_taken);
            happen(happening, &mut other.0, &mut other.1);
        }
    }
}

#[test]
fn a_change_goes_no_further_than_it_must() {
    // Two flows on link 0, two on link 1, one over both: the rest of the network stays as it is.
    let mut fair = Fair::new(vec![1.0, 2.0, 1.0], 1);
    for (slot, path) in [&[0][..], &[0, 1], &[1], &[2]].iter().enumerate() {
        fair.add(slot as u32, path.iter().copied(), 0);
    }
    fair.settle(|_| {});
    assert_eq!([0, 1, 2, 3].map(|slot| fair.rate(slot)), [0.5, 0.5, 1.5, 1.0]);
    fair.add(4, [1].into_iter(), 0);
    let mut changed = Vec::new();
    fair.settle(|slot| changed.push(slot));
    changed.sort_unstable();
    assert_eq!(changed, [2, 4]);
    assert_eq!([0, 1, 2, 3, 4].map(|slot| fair.rate(slot)), [0.5, 0.5, 0.75, 1.0, 0.75]);
}
