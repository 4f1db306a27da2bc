//! Bad and odd input: a clear error, or an answer that makes sense; never NaN, never a panic.

use flowsched_thresholds::{
    ByClass, Forecast, MODELS, ModelName, Objective, Path, Predicted, Predictor, Regret, Solution,
    ThresholdsError, compare, optimal, optimal_for, robust, sensitivity, usual_deviations,
};
use flowsched_units::{Bytes, Rate};
use flowsched_workload::sizes::{SizeDistribution, by_name, parse_cdf};
use proptest::prelude::*;

const MEAN_FCT: Objective = Objective::MeanFct;

#[test]
fn refuses_loads_and_queues_out_of_range() {
    let sizes = by_name("web-search-bytes").unwrap();
    for load in [0.0, 1.0, 1.5, -0.1, f64::NAN, f64::INFINITY] {
        let error = optimal(&sizes, load, 4, ModelName::MultilevelFcfs, &MEAN_FCT).unwrap_err();
        assert!(matches!(error, ThresholdsError::Load { .. }), "{load}: {error}");
    }
    for queues in [0, 65] {
        let error = optimal(&sizes, 0.5, queues, ModelName::MultilevelFcfs, &MEAN_FCT).unwrap_err();
        assert!(error.to_string().contains("from 1 to 64"), "{error}");
    }
}

#[test]
fn refuses_a_path_without_links_or_rates() {
    let sizes = by_name("web-search-bytes").unwrap();
    let mut path = Path::of_link(Rate::from_bps(0), 0.5);
    let at = |path: &Path| {
        let forecast = Forecast { sizes: &sizes, path: path.clone() };
        optimal_for(&forecast, 2, ModelName::MultilevelFcfs, &MEAN_FCT).unwrap_err()
    };
    assert_eq!(at(&path), ThresholdsError::NoRate);
    path.links.clear();
    assert_eq!(at(&path), ThresholdsError::NoLink);
}

#[test]
fn one_size_needs_one_queue() {
    let sizes = SizeDistribution::fixed(Bytes::new(20_000));
    for model in [ModelName::PiasMm1, ModelName::MultilevelFcfs, ModelName::MultilevelPs] {
        let forecast = Forecast::new(&sizes, 0.8);
        let solution = optimal_for(&forecast, 4, model, &MEAN_FCT).unwrap();
        assert_eq!(solution.thresholds_bytes, [20_000, 20_000, 20_000], "{model}");
        assert_eq!(solution.unused_queues, 3, "{model}");
    }
}

#[test]
fn more_queues_than_sizes_leave_some_unused() {
    let sizes = parse_cdf("1460 0.9\n1460 0.9\n146000 0.9\n146000 1\n").unwrap();
    let forecast = Forecast::new(&sizes, 0.8);
    let solution = optimal_for(&forecast, 8, ModelName::MultilevelFcfs, &MEAN_FCT).unwrap();
    assert_eq!(solution.thresholds_bytes[0], 1460);
    assert_eq!(solution.unused_queues, 6);
    assert_eq!(solution.thresholds_percentile[0], 90.0);
}

#[test]
fn an_objective_over_small_flows_needs_some() {
    let sizes = SizeDistribution::fixed(Bytes::new(2_000_000));
    let small: Objective = "small-fct".parse().unwrap();
    let error = optimal(&sizes, 0.5, 2, ModelName::MultilevelFcfs, &small).unwrap_err();
    assert!(error.to_string().contains("the smallest flow has 2MB"), "{error}");
}

#[test]
fn reads_and_refuses_objectives_and_models() {
    for text in ["mean-fct", "mean-slowdown", "small-fct", "small-fct 20KB"] {
        assert_eq!(text.parse::<Objective>().unwrap().to_string(), text);
    }
    let mixture: Objective = "0.7 mean-fct + 0.3 small-fct 20KB".parse().unwrap();
    assert_eq!(mixture.to_string(), "0.7 mean-fct + 0.3 small-fct 20KB");
    for text in ["", "fct", "0 mean-fct", "-1 mean-fct + 1 mean-slowdown", "NaN mean-fct", "1"] {
        assert!(text.parse::<Objective>().is_err(), "{text:?} was read");
    }
    for model in MODELS {
        assert_eq!(model.to_string().parse::<ModelName>().unwrap(), *model);
    }
    assert!("mm1".parse::<ModelName>().unwrap_err().to_string().contains("multilevel-fcfs"));
}

#[test]
fn refuses_thresholds_that_fall() {
    let sizes = by_name("web-search-bytes").unwrap();
    let thresholds = [Bytes::new(2000), Bytes::new(1000)];
    let forecast = Forecast::new(&sizes, 0.5);
    let error = Predictor::new(&forecast, ModelName::MultilevelFcfs, &thresholds).unwrap_err();
    assert!(matches!(error, ThresholdsError::Falling { .. }));
}

#[test]
fn unstable_models_give_no_numbers_anywhere() {
    let sizes = by_name("web-search-packets").unwrap();
    let forecast = Forecast::new(&sizes, 0.7);
    let model = ModelName::PiasMm1Bound;
    let comparison = compare(&forecast, Some("web-search-packets"), 8, model, &MEAN_FCT).unwrap();
    let one_queue = &comparison.others[0];
    assert!(one_queue.solution.is_none() && one_queue.gain.is_none());
    let thresholds = comparison.optimal.thresholds();
    let losses =
        sensitivity(&forecast, &thresholds, model, &MEAN_FCT, &usual_deviations(0.7)).unwrap();
    let at_0_85 = losses.iter().find(|loss| loss.best_value.is_none());
    assert!(at_0_85.is_some_and(|loss| loss.loss.is_none()), "{losses:?}");
    let error =
        robust(&[forecast.clone(), forecast], 8, model, &MEAN_FCT, Regret::Mean).unwrap_err();
    assert_eq!(error, ThresholdsError::NotASum { model });
}

#[test]
fn an_empty_class_has_no_mean() {
    let sizes = by_name("uniform 2KB 98KB").unwrap();
    let solution =
        optimal_for(&Forecast::new(&sizes, 0.5), 2, ModelName::MultilevelFcfs, &MEAN_FCT).unwrap();
    let Predicted::Fct { fct_us: ByClass { all, small, medium, large }, .. } = solution.predicted
    else {
        panic!("no FCT");
    };
    assert_eq!((medium, large), (None, None));
    assert!((all.unwrap() / small.unwrap() - 1.0).abs() < 1e-9);
}

#[test]
fn the_json_is_what_others_read() {
    let sizes = by_name("web-search-packets").unwrap();
    let forecast = Forecast::new(&sizes, 0.8);
    let solution = optimal_for(&forecast, 2, ModelName::MultilevelFcfs, &MEAN_FCT).unwrap();
    let json = serde_json::to_value(&solution).unwrap();
    assert_eq!(json["model"], "multilevel-fcfs");
    assert_eq!(json["objective"], "mean-fct");
    assert_eq!(json["thresholds_bytes"], serde_json::json!([1333 * 1460]));
    assert!(json["predicted"]["fct_us"]["all"].as_f64().unwrap() > 7000.0);
    assert!(json["predicted"]["slowdown"]["small"].as_f64().unwrap() > 1.0);
    let pias = optimal_for(&forecast, 2, ModelName::PiasMm1, &MEAN_FCT).unwrap();
    let json = serde_json::to_value(&pias).unwrap();
    assert!(json["predicted"]["fct_us"].is_null());
    assert!(json["predicted"]["packet_delays_us"]["all"].as_f64().unwrap() > 1.0);
}

fn all_finite(solution: &Solution) -> bool {
    let text = serde_json::to_string(solution).unwrap();
    // A NaN or an infinity becomes null.
    solution.objective_value.is_finite() && !text.contains("objective_value\":null")
}

fn form() -> impl Strategy<Value = String> {
    prop_oneof![
        (1u32..10_000_000).prop_map(|size| format!("fixed {size}B")),
        (1u32..1000, 1u32..10_000_000)
            .prop_map(|(from, more)| format!("uniform {from}B {}B", from + more)),
        (1u32..10_000_000).prop_map(|mean| format!("exponential {mean}B")),
        (0.2f64..3.0, 1u32..1000, 1u32..10_000_000)
            .prop_map(|(shape, from, more)| format!("pareto {shape} {from}B {}B", from + more)),
        (1u32..1_000_000, 0.1f64..3.0)
            .prop_map(|(mean, sigma)| format!("lognormal {mean}B {sigma}")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn every_answer_is_made_of_numbers(
        form in form(),
        load in 0.01f64..0.99,
        queues in 1usize..9,
        objective in prop_oneof![Just(MEAN_FCT), Just(Objective::MeanSlowdown)],
    ) {
        let sizes = by_name(&form).unwrap();
        let forecast = Forecast::new(&sizes, load);
        for model in MODELS {
            match optimal_for(&forecast, queues, *model, &objective) {
                Ok(solution) => {
                    prop_assert!(all_finite(&solution), "{form} {model}: {solution:?}");
                    prop_assert_eq!(solution.thresholds_bytes.len(), queues - 1);
                    prop_assert!(solution.thresholds_bytes.is_sorted());
                    prop_assert!(solution.unused_queues < queues);
                }
                Err(error) => prop_assert!(
                    *model == ModelName::PiasMm1Bound
                        && matches!(error, ThresholdsError::Unstable { .. }),
                    "{form} {model}: {error}"
                ),
            }
        }
    }
}
