//! The optimum against every choice there is, on small cases.

use flowsched_workload::sizes::{SizeDistribution, parse_cdf};
use proptest::prelude::*;

use super::*;
use crate::forecast::Path;
use crate::names::MODELS;
use crate::prediction::Predictor;
use flowsched_units::{Bytes, Rate};

/// A CDF with jumps, flats and atoms.
fn sizes() -> impl Strategy<Value = SizeDistribution> {
    prop::collection::vec((0u32..40_000, 0u32..100), 1..9).prop_map(|steps| {
        let total: u32 = steps.iter().map(|(_, mass)| mass).sum::<u32>() + 1;
        let (mut size, mut sum, mut text) = (1000u32, 0u32, String::new());
        for (step, mass) in steps {
            size += if step % 3 == 0 { 0 } else { step };
            sum += mass;
            text.push_str(&format!("{size} {}\n", f64::from(sum) / f64::from(total)));
        }
        parse_cdf(&format!("{text}{} 1\n", size + 100)).unwrap()
    })
}

fn objective() -> impl Strategy<Value = Objective> {
    prop_oneof![
        Just(Objective::MeanFct),
        Just(Objective::MeanSlowdown),
        Just("0.4 mean-fct + 0.6 mean-slowdown".parse().unwrap()),
    ]
}

/// Every rising choice of at most `most` of `sizes`.
fn choices(sizes: &[f64], most: usize) -> Vec<Vec<f64>> {
    let mut all = vec![Vec::new()];
    if most > 0 {
        for (index, size) in sizes.iter().enumerate() {
            for mut rest in choices(&sizes[index + 1..], most - 1) {
                rest.insert(0, *size);
                all.push(rest);
            }
        }
    }
    all
}

/// What a prediction says of `thresholds`, which are whole bytes.
fn value(
    forecast: &Forecast,
    model: ModelName,
    objective: &Objective,
    thresholds: &[f64],
) -> Option<f64> {
    let thresholds: Vec<Bytes> = thresholds.iter().map(|size| Bytes::new(*size as u64)).collect();
    Predictor::new(forecast, model, &thresholds).ok()?.objective(objective).ok()
}

fn forecast(sizes: &SizeDistribution, load: f64, packets: bool, links: usize) -> Forecast<'_> {
    let mut path = Path::of_link(Rate::from_gbps(10), load);
    path.whole_packets = packets;
    path.links.resize(links, crate::forecast::Link { rate: Rate::from_gbps(40), load: load / 2.0 });
    Forecast { sizes, path }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Compares costs of levels with predictions.
    #[test]
    fn no_choice_is_better(
        sizes in sizes(),
        load in 0.05f64..0.95,
        queues in 1usize..=4,
        count in 1usize..=12,
        objective in objective(),
        packets: bool,
        links in 1usize..3,
    ) {
        let forecast = forecast(&sizes, load, packets, links);
        let all = candidates::grid(std::slice::from_ref(&forecast), &[], count);
        let step = all.len().div_ceil(count).max(1);
        let chosen: Vec<f64> = all.into_iter().step_by(step).collect();
        let terms = terms(&[(forecast.clone(), 1.0)], &objective, &chosen).unwrap();
        for model in MODELS {
            let found = cheapest(*model, &terms, queues);
            let values = choices(&chosen, queues - 1)
                .into_iter()
                .filter_map(|choice| value(&forecast, *model, &objective, &choice));
            let best = values.fold(f64::INFINITY, f64::min);
            let Some(found) = found else {
                prop_assert!(best.is_infinite(), "{model}: there is one with {best}");
                continue;
            };
            let places: Vec<f64> = found.places.iter().map(|place| chosen[place - 1]).collect();
            let of_found = value(&forecast, *model, &objective, &places).unwrap();
            prop_assert!(of_found <= best * (1.0 + 1e-9), "{model}: {of_found} for {best}");
        }
    }

    /// On 40 sizes and 4 queues, by costs of levels on both sides.
    #[test]
    fn no_choice_of_forty_is_better(sizes in sizes(), load in 0.05f64..0.95) {
        let forecast = forecast(&sizes, load, false, 1);
        let all = candidates::grid(std::slice::from_ref(&forecast), &[], 40);
        let chosen: Vec<f64> = all.iter().copied().take(40).collect();
        let terms = terms(&[(forecast.clone(), 1.0)], &Objective::MeanFct, &chosen).unwrap();
        let costs = Costs { model: MultilevelFcfs, terms: &terms };
        let last = costs.last();
        let mut best = f64::INFINITY;
        for a in 0..last {
            for b in a..last {
                for c in b..last {
                    let levels = [(0, a), (a, b), (b, c), (c, last)];
                    let used = levels.iter().filter(|(from, to)| from < to);
                    best = best.min(used.map(|(from, to)| costs.cost(*from, *to)).sum());
                }
            }
        }
        let found = shortest_path::cheapest(&costs, 4).cost;
        prop_assert!((found - best).abs() <= 1e-12 * best, "{found} for {best}");
    }

    /// On some hundreds of sizes, where blocks are left out.
    #[test]
    fn leaving_out_blocks_changes_nothing(
        sizes in sizes(),
        load in 0.05f64..0.95,
        objective in objective(),
        packets: bool,
    ) {
        let forecast = forecast(&sizes, load, packets, 1);
        let chosen = candidates::grid(std::slice::from_ref(&forecast), &[], 300);
        let terms = terms(&[(forecast.clone(), 1.0)], &objective, &chosen).unwrap();
        check_layers(&Costs { model: PiasMm1, terms: &terms })?;
        check_layers(&Costs { model: MultilevelFcfs, terms: &terms })?;
        check_layers(&Costs { model: MultilevelPs, terms: &terms })?;
    }

    /// The scalar product of a level's factors is its cost, except for what does not change with
    /// its beginning.
    #[test]
    fn factors_come_to_the_cost(sizes in sizes(), load in 0.05f64..0.95, packets: bool) {
        let forecast = forecast(&sizes, load, packets, 2);
        let chosen = candidates::grid(std::slice::from_ref(&forecast), &[], 12);
        let terms = terms(&[(forecast.clone(), 1.0)], &Objective::MeanFct, &chosen).unwrap();
        check_factors(&Costs { model: PiasMm1, terms: &terms })?;
        check_factors(&Costs { model: MultilevelFcfs, terms: &terms })?;
        check_factors(&Costs { model: MultilevelPs, terms: &terms })?;
    }

    /// The one model that claims to be Monge is, so that divide and conquer is possible.
    #[test]
    fn monge_is_monge(sizes in sizes(), load in 0.05f64..0.95) {
        let forecast = forecast(&sizes, load, false, 1);
        let chosen = candidates::grid(std::slice::from_ref(&forecast), &[], 12);
        let terms = terms(&[(forecast.clone(), 1.0)], &Objective::MeanFct, &chosen).unwrap();
        let costs = Costs { model: PiasMm1, terms: &terms };
        prop_assert!(costs.is_monge());
        let other = Costs { model: MultilevelFcfs, terms: &terms };
        prop_assert!(!other.is_monge());
        let (cost, last) = (|from, to| costs.cost(from, to), costs.last());
        for from in 0..last.saturating_sub(1) {
            for to in from + 2..last {
                let straight = cost(from, to) + cost(from + 1, to + 1);
                let crossed = cost(from, to + 1) + cost(from + 1, to);
                prop_assert!(straight <= crossed * (1.0 + 1e-12));
            }
        }
    }
}

/// Five levels at most, by trying every beginning of every level.
fn check_layers(costs: &impl LevelCosts) -> Result<(), TestCaseError> {
    let last = costs.last();
    let mut layer: Vec<f64> = (0..=last).map(|to| costs.cost(0, to)).collect();
    layer[0] = f64::INFINITY;
    let mut best = layer[last];
    for _ in 1..5 {
        let way = |from: usize, to| layer[from] + costs.cost(from, to);
        let least = |to| (1..to).map(|from| way(from, to)).fold(f64::INFINITY, f64::min);
        layer = (0..=last).map(least).collect();
        best = best.min(layer[last]);
    }
    let found = shortest_path::cheapest(costs, 5).cost;
    prop_assert!((found - best).abs() <= 1e-12 * best, "{found} for {best}");
    Ok(())
}

fn check_factors(costs: &impl LevelCosts) -> Result<(), TestCaseError> {
    let (mut begin, mut end) = (vec![0.0; costs.factors()], vec![0.0; costs.factors()]);
    // What a scalar product comes to, and how large its parts are.
    let mut product = |origin: usize, from: usize, to: usize| {
        costs.begin(origin, from, &mut begin);
        costs.end(origin, to, &mut end);
        assert!(end.iter().all(|factor| *factor >= 0.0), "{end:?}");
        let parts = || begin.iter().zip(&end).map(|(begin, end)| begin * end);
        let (sum, size) = (parts().sum::<f64>(), parts().map(f64::abs).sum::<f64>());
        if to > from + 1 {
            let later = end.clone();
            costs.end(origin, to - 1, &mut end);
            assert!(end.iter().zip(later).all(|(end, later)| *end <= later * (1.0 + 1e-12)));
        }
        (sum, size)
    };
    for to in 2..=costs.last() {
        for from in 1..to {
            let expected = costs.cost(from, to) - costs.cost(1, to);
            for origin in [0, 1] {
                let ((one, size), (other, other_size)) =
                    (product(origin, from, to), product(origin, 1, to));
                let error = (one - other - expected).abs();
                prop_assert!(
                    error <= 1e-11 * (size + other_size),
                    "{one} - {other} for {expected}"
                );
            }
        }
    }
    Ok(())
}
