//! The claims that the repository states.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use flowsched_experiment::{Arguments, Experiment};
use flowsched_papers::{ClaimedValue, Claims};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn claims() -> Claims {
    Claims::parse(&fs::read_to_string(root().join("papers/claims.toml")).unwrap()).unwrap()
}

#[test]
fn every_value_has_an_experiment_or_a_reason() {
    let claims = claims();
    assert_eq!(claims.all.len(), 62);
    assert!(claims.all.iter().all(|claim| !claim.values.is_empty()));
}

/// A quick experiment is as large as the tests can draw.
#[test]
fn measures_name_schemes_and_points_of_their_experiments() {
    let claims = claims();
    let measured = |value: &ClaimedValue| value.measure.clone();
    let measures: Vec<_> =
        claims.all.iter().flat_map(|claim| claim.values.iter().filter_map(measured)).collect();
    let names: BTreeSet<_> = measures.iter().map(|measure| measure.experiment.as_str()).collect();
    for name in names {
        let file = root().join("experiments").join(name).with_extension("toml");
        let arguments = Arguments { quick: true, ..Arguments::default() };
        let experiment = Experiment::read(&file, &arguments).unwrap_or_else(|e| panic!("{e}"));
        for measure in measures.iter().filter(|measure| measure.experiment == name) {
            for scene in &experiment.scenes {
                let has = |name: &String| scene.schemes.iter().any(|scheme| scheme.name == *name);
                assert!(has(&measure.scheme), "{name}: {}", measure.scheme);
                assert!(
                    measure.baseline.as_ref().is_none_or(has),
                    "{name}: {:?}",
                    measure.baseline
                );
            }
            let is_at = |scene: &flowsched_experiment::Scene| {
                measure.at.iter().all(|(key, value)| scene.point.get(key) == Some(value))
            };
            let points = experiment.scenes.iter().filter(|scene| is_at(scene)).count();
            assert!(points == 1 || (points > 1 && measure.over.is_some()), "{measure:?}: {points}");
        }
    }
}

#[test]
fn claims_that_make_no_sense_are_refused_in_words() {
    let claim = "[[claim]]\nid = \"a.b\"\npaper = \"a\"\nsection = \"1\"\nwhere = \"sim\"\n\
                 setting = \"\"\nmetric = \"\"\nkind = \"gap\"\n[[claim.value]]\npublished = 0.1\n";
    let measure = |figure: &str, more: &str| {
        format!("measure = {{ experiment = \"e\", figure = \"{figure}\", scheme = \"s\"{more} }}\n")
    };
    let refusal = |more: &str| Claims::parse(&format!("{claim}{more}")).unwrap_err().to_string();
    assert!(refusal("").contains("needs `measure`, `not_run` or `needs_the_lab`"));
    assert!(refusal(&measure("drops", "")).contains("`baseline` is for"));
    let unknown = measure("fct_us.tiny.mean", ", baseline = \"t\"");
    assert!(refusal(&unknown).contains("`fct_us.tiny.mean` is no figure"));
    assert!(refusal("not_run = \"so\"\nneeds_the_lab = true\n").contains("only one of them"));
    let twice = format!("not_run = \"so\"\n{claim}not_run = \"so\"\n");
    assert!(refusal(&twice).contains("another claim of that name"));
}
