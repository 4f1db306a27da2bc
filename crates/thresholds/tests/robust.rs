//! Comparison, sensitivity and robust thresholds.

use flowsched_thresholds::{
    Deviation, Forecast, ModelName, Objective, PUBLISHED, Regret, Solution, compare, equal_split,
    exponential, optimal_for, per_link, published, robust, sensitivity,
};
use flowsched_units::Bytes;
use flowsched_workload::sizes::by_name;

const MODEL: ModelName = ModelName::MultilevelFcfs;
const MEAN_FCT: Objective = Objective::MeanFct;

#[test]
fn baselines_are_what_the_papers_say() {
    let sizes = by_name("web-search-bytes").unwrap();
    let split = equal_split(&sizes, 4);
    for (threshold, share) in split.iter().zip([0.25, 0.5, 0.75]) {
        assert!((sizes.cdf(threshold.get() as f64) - share).abs() < 1e-6);
    }
    let doubled = exponential(Bytes::new(200_000), 2.0, 16);
    assert_eq!(doubled.len(), 15);
    assert_eq!(doubled[..3], [200_000, 400_000, 800_000].map(Bytes::new));
    let row = published("web-search-bytes", 0.81).unwrap();
    assert_eq!((row.load, row.packets[0]), (0.8, 909));
    assert_eq!(row.thresholds()[0], Bytes::new(909 * 1460));
    assert!(published("fixed 20KB", 0.8).is_none());
    assert!(PUBLISHED.iter().all(|row| row.packets.is_sorted()));
}

#[test]
fn the_optimum_is_the_best_of_the_comparison() {
    for name in ["web-search-packets", "data-mining-packets"] {
        let sizes = by_name(name).unwrap();
        let forecast = Forecast::new(&sizes, 0.8);
        for model in [MODEL, ModelName::MultilevelPs, ModelName::PiasMm1] {
            let comparison = compare(&forecast, Some(name), 8, model, &MEAN_FCT).unwrap();
            let names: Vec<&str> = comparison.others.iter().map(|other| other.name).collect();
            assert_eq!(names, ["one-queue", "equal-split", "exponential", "published"]);
            for other in &comparison.others {
                assert!(other.gain.unwrap() >= 0.0, "{name} {model} {}", other.name);
            }
        }
    }
}

#[test]
fn nothing_is_lost_where_nothing_is_other() {
    let sizes = by_name("web-search-bytes").unwrap();
    let forecast = Forecast::new(&sizes, 0.6);
    let thresholds = optimal_for(&forecast, 3, MODEL, &MEAN_FCT).unwrap().thresholds();
    let deviations = [
        Deviation::Load(0.6),
        Deviation::SizesTimes(1.0),
        Deviation::Load(0.95),
        Deviation::SizesTimes(2.0),
    ];
    let losses = sensitivity(&forecast, &thresholds, MODEL, &MEAN_FCT, &deviations).unwrap();
    let losses: Vec<f64> = losses.iter().map(|loss| loss.loss.unwrap()).collect();
    assert!(losses[0].abs() < 1e-9 && losses[1].abs() < 1e-9, "{losses:?}");
    assert!(losses[2] >= 0.0 && losses[3] > 1e-3, "{losses:?}");
}

#[test]
fn robust_thresholds_lose_least() {
    let (search, mining) =
        (by_name("web-search-bytes").unwrap(), by_name("data-mining-bytes").unwrap());
    let forecasts =
        [Forecast::new(&search, 0.5), Forecast::new(&search, 0.9), Forecast::new(&mining, 0.7)];
    let mean = robust(&forecasts, 3, MODEL, &MEAN_FCT, Regret::Mean).unwrap();
    let worst = robust(&forecasts, 3, MODEL, &MEAN_FCT, Regret::Worst).unwrap();
    assert!((mean.mean - mean.at_least).abs() < 1e-9);
    assert!(worst.mean >= mean.mean - 1e-9 && worst.worst <= mean.worst + 1e-9);
    assert!(worst.at_least <= worst.worst + 1e-9, "{worst:?}");
    for own in &forecasts {
        let thresholds = optimal_for(own, 3, MODEL, &MEAN_FCT).unwrap().thresholds();
        let regrets: Vec<f64> = forecasts
            .iter()
            .map(|forecast| {
                let best = optimal_for(forecast, 3, MODEL, &MEAN_FCT).unwrap().objective_value;
                Solution::evaluate(forecast, MODEL, &MEAN_FCT, &thresholds).unwrap().objective_value
                    / best
                    - 1.0
            })
            .collect();
        let largest = regrets.iter().copied().fold(0.0, f64::max);
        assert!(mean.mean <= regrets.iter().sum::<f64>() / 3.0 + 1e-9);
        assert!(worst.worst <= largest + 1e-9 && worst.at_least <= largest + 1e-9);
    }
}

#[test]
fn links_that_differ_have_thresholds_of_their_own() {
    let (search, mining) =
        (by_name("web-search-bytes").unwrap(), by_name("data-mining-bytes").unwrap());
    let links = [
        ("leaf 1".to_owned(), Forecast::new(&search, 0.8)),
        ("leaf 2".to_owned(), Forecast::new(&mining, 0.5)),
    ];
    let found = per_link(&links, 4, MODEL, &MEAN_FCT).unwrap();
    assert_ne!(found.links[0].own.thresholds_bytes, found.links[1].own.thresholds_bytes);
    assert!(found.links.iter().all(|link| link.loss_with_common >= -1e-9));
    assert_eq!(found.links[0].own, optimal_for(&links[0].1, 4, MODEL, &MEAN_FCT).unwrap());
}
