use proptest::prelude::*;

use super::*;

const LINKS: u32 = 6;

fn work() -> Work {
    let capacities = (0..LINKS).map(|link| 1.0 + f64::from(link % 3)).collect();
    Work::new(Fair::new(capacities, 1))
}

/// A flow starts over this path, or the active flow at this index ends.
type Drawn = (Vec<u32>, Option<prop::sample::Index>);

fn drawn() -> impl Strategy<Value = Drawn> {
    let path = prop::sample::subsequence((0..LINKS).collect::<Vec<_>>(), 1..4);
    (path, prop::option::of(any::<prop::sample::Index>()))
}

fn step((path, end): &Drawn, active: &[u32]) -> Step {
    match end {
        Some(index) if !active.is_empty() => Step::End(active[index.index(active.len())]),
        _ => {
            let free = (0..).find(|slot| !active.contains(slot)).unwrap();
            Step::Start(free, path.clone())
        }
    }
}

proptest! {
    /// Rates are those that are found without guesses.
    #[test]
    fn a_guess_changes_no_rate(steps in prop::collection::vec((drawn(), drawn(), 0..3), 1..60)) {
        let (mut alone, mut ahead) = (work(), work());
        let mut active: Vec<u32> = Vec::new();
        for (next, other, guess) in steps {
            let next = step(&next, &active);
            let guess = match guess {
                0 => None,
                1 => Some(next.clone()),
                _ => Some(step(&other, &active)),
            };
            if let Some(guess) = &guess {
                ahead.expected = Some(guess.clone());
                ahead.is_done = false;
                ahead.do_ahead();
            }
            match next {
                Step::Start(slot, _) => active.push(slot),
                Step::End(slot) => active.retain(|other| *other != slot),
            }
            let steps = [next];
            prop_assert!(!alone.find(&steps));
            prop_assert_eq!(ahead.find(&steps), guess.as_slice() == steps);
            prop_assert_eq!(&ahead.rates, &alone.rates);
        }
    }
}
