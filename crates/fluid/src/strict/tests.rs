use proptest::prelude::*;

use super::*;
use crate::oracle::from_scratch::waterfill;

const LINKS: u32 = 7;

/// A flow as the tests see it: what is left of it falls as it sends.
#[derive(Clone, Debug)]
struct Flow {
    path: Vec<u32>,
    deadline: u64,
    left: f64,
    asked: f64,
}

struct Flows<'a>(&'a [Option<Flow>]);

impl Flows<'_> {
    fn flow(&self, slot: u32) -> Flow {
        let gone = Flow { path: Vec::new(), deadline: 0, left: 0.0, asked: 0.0 };
        self.0[slot as usize].clone().unwrap_or(gone)
    }
}

impl Order for Flows<'_> {
    fn criticality(&self, slot: u32) -> Criticality {
        let Flow { deadline, left, .. } = self.flow(slot);
        Criticality { deadline, size: left, id: slot, path: 0 }
    }

    fn asked(&self, slot: u32) -> f64 {
        self.flow(slot).asked
    }

    fn moves(&self) -> bool {
        true
    }

    fn gains(&self, behind: (u32, f64), ahead: (u32, f64)) -> bool {
        ahead.1 < behind.1
    }
}

#[derive(Clone, Debug)]
enum Happening {
    Start(Flow),
    End(prop::sample::Index),
    Ask(prop::sample::Index, u8),
    /// Time passes: flows send at their rates for this long.
    Send(u8),
    /// Time passes. Then the remaining size of a waiting flow is reduced to this share.
    Say(u8, prop::sample::Index, f64),
}

fn happening() -> impl Strategy<Value = Happening> {
    let path = prop::sample::subsequence((0..LINKS).collect::<Vec<_>>(), 1..5);
    let index = any::<prop::sample::Index>;
    let flow = (path, 0u64..2, 1u32..40).prop_map(|(path, deadline, left)| Flow {
        path,
        deadline,
        left: f64::from(left),
        asked: f64::INFINITY,
    });
    prop_oneof![
        4 => flow.prop_map(Happening::Start),
        2 => index().prop_map(Happening::End),
        1 => (index(), 0u8..4).prop_map(|(flow, asked)| Happening::Ask(flow, asked)),
        3 => (1u8..9).prop_map(Happening::Send),
        4 => (1u8..9, index(), 0.1f64..1.0).prop_map(|(long, flow, share)| Happening::Say(long, flow, share)),
    ]
}

fn check(happenings: &[Happening]) {
    let capacities: Vec<f64> = (0..LINKS).map(|link| 1.0 + f64::from(link % 3)).collect();
    let mut strict = Strict::new(capacities.clone());
    let mut slots: Vec<Option<Flow>> = Vec::new();
    for happening in happenings {
        let active: Vec<usize> = (0..slots.len()).filter(|slot| slots[*slot].is_some()).collect();
        match happening {
            Happening::Start(flow) => {
                let free = slots.iter().position(Option::is_none).unwrap_or(slots.len());
                if free == slots.len() {
                    slots.push(None);
                }
                slots[free] = Some(flow.clone());
                strict.add(free as u32, &flow.path, &Flows(&slots));
            }
            Happening::End(index) if !active.is_empty() => {
                let slot = active[index.index(active.len())];
                strict.remove(slot as u32, &Flows(&slots));
                slots[slot] = None;
            }
            Happening::Ask(index, asked) if !active.is_empty() => {
                let slot = active[index.index(active.len())];
                slots[slot].as_mut().unwrap().asked = f64::from(*asked) / 2.0;
                strict.look_at(slot as u32);
            }
            Happening::Send(long) => {
                send(&mut strict, &mut slots, *long);
            }
            Happening::Say(long, index, share) => {
                send(&mut strict, &mut slots, *long);
                let waits = |slot: &usize| strict.rate(*slot as u32) == 0.0;
                let waiting: Vec<usize> = active.into_iter().filter(waits).collect();
                if !waiting.is_empty() {
                    let slot = waiting[index.index(waiting.len())];
                    slots[slot].as_mut().unwrap().left *= share;
                    strict.put_in_order(slot as u32, &Flows(&slots));
                }
            }
            _ => {}
        }
        strict.settle(&Flows(&slots), |_| {});
        compare(&capacities, &slots, &strict);
    }
}

/// Flows send at their rates. None ends, so that only their order changes.
fn send(strict: &mut Strict, slots: &mut [Option<Flow>], long: u8) {
    strict.settle(&Flows(slots), |_| {});
    for (slot, flow) in (0u32..).zip(slots) {
        let Some(flow) = flow else { continue };
        let sent = strict.rate(slot) * f64::from(long) / 16.0;
        flow.left = (flow.left - sent).max(flow.left.min(0.5));
        // A flow that sends may pass another, and is recomputed then.
        strict.look_at(slot);
    }
}

fn compare(capacities: &[f64], slots: &[Option<Flow>], strict: &Strict) {
    let order = Flows(slots);
    let mut active: Vec<u32> =
        (0..slots.len() as u32).filter(|slot| slots[*slot as usize].is_some()).collect();
    active.sort_by_key(|slot| order.criticality(*slot));
    let flows: Vec<(Vec<u32>, f64)> =
        active.iter().map(|slot| (order.flow(*slot).path, order.flow(*slot).asked)).collect();
    let expected = waterfill(capacities, &flows);
    let found: Vec<f64> = active.iter().map(|slot| strict.rate(*slot)).collect();
    for (one, other) in found.iter().zip(&expected) {
        assert!((one - other).abs() < 1e-9, "{found:?} for {expected:?}: {flows:?}");
    }
    for (link, capacity) in capacities.iter().enumerate() {
        let rates = active.iter().map(|slot| strict.rate(*slot)).zip(&flows);
        let on_link = rates.filter(|(_, (path, _))| path.contains(&(link as u32)));
        assert!(on_link.map(|(rate, _)| rate).sum::<f64>() <= capacity * (1.0 + 1e-9));
        let waiting = strict.on(link as u32).filter(|(_, rate)| *rate == 0.0);
        assert!(waiting.is_sorted_by_key(|(slot, _)| order.criticality(slot)), "link {link}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn rates_are_those_from_scratch_whatever_happens(
        happenings in prop::collection::vec(happening(), 1..60),
    ) {
        check(&happenings);
    }
}

/// Flow 1 waits for link 0. Meanwhile flow 3 sends behind flow 1 and flow 2 on link 1, and passes flow 1. At the
/// same instant flow 2 says that it has less left than both, and flow 4 takes link 1 from all of them.
#[test]
fn a_flow_that_says_its_size_hides_nobody_from_those_that_pass() {
    let flow = |path: &[u32], left| {
        Some(Flow { path: path.to_vec(), deadline: 0, left, asked: f64::INFINITY })
    };
    let mut slots =
        vec![flow(&[0], 1.0), flow(&[0, 1], 10.0), flow(&[0, 1], 11.0), flow(&[1], 12.0), None];
    let mut strict = Strict::new(vec![1.0, 1.0]);
    for slot in 0..4 {
        strict.add(slot, &slots[slot as usize].clone().unwrap().path, &Flows(&slots));
    }
    strict.settle(&Flows(&slots), |_| {});
    for (slot, left) in [(2, 9.0), (3, 9.5)] {
        slots[slot].as_mut().unwrap().left = left;
    }
    strict.put_in_order(2, &Flows(&slots));
    slots[4] = flow(&[1], 2.0);
    strict.add(4, &[1], &Flows(&slots));
    strict.settle(&Flows(&slots), |_| {});
    let order: Vec<u32> = strict.on(1).map(|(slot, _)| slot).collect();
    assert_eq!(order, [4, 2, 3, 1]);
}
