//! The claims that the repository states.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::thread;

use flowsched_experiment::results::Summary;
use flowsched_experiment::{Arguments, Experiment, Scene};
use flowsched_papers::{
    Claim, ClaimedValue, Claims, Explored, ExploredTable, Measure, Published, Recorded, Repository,
    Row, Runs, Scale, Setting, Study, Verdict, explore, studies,
};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn claims() -> Claims {
    Claims::parse(&fs::read_to_string(root().join("papers/claims.toml")).unwrap()).unwrap()
}

#[test]
fn every_value_has_an_experiment_or_a_reason() {
    let claims = claims();
    assert_eq!(claims.all.len(), 103);
    assert!(claims.all.iter().all(|claim| !claim.values.is_empty()));
}

#[test]
fn a_word_names_a_paper_a_figure_a_claim_or_what_an_experiment_measures() {
    let claims = claims();
    let asked = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let asked = claims.asked_for(&words).unwrap();
        let count = |claim: &Claim| (claim.id.clone(), claim.values.len());
        asked.iter().map(count).collect::<Vec<_>>()
    };
    let claim = |id: &str, values: usize| (id.to_owned(), values);
    assert_eq!(asked(&[]).len(), claims.all.len());
    assert_eq!(asked(&["pdq"]).len(), claims.all.iter().filter(|one| one.paper == "pdq").count());
    let (aware, gap) = (claim("epn.sim.aware", 8), claim("epn.sim.vs-pfabric", 4));
    let derived = claim("epn.sim.pfabric", 4);
    assert_eq!(asked(&["epn-fig14"]), [aware.clone(), gap.clone(), derived]);
    let half =
        [claim("epn.sim.aware", 4), claim("epn.sim.vs-pfabric", 2), claim("epn.sim.pfabric", 2)];
    assert_eq!(asked(&["epn-fig14-web-search"]), half);
    assert_eq!(
        asked(&["epn-fig14-web-search", "epn.sim.aware"]),
        [aware, half[1].clone(), half[2].clone()]
    );
    assert_eq!(asked(&["epn-fig14-web-search", "epn-fig14-data-mining"])[1], gap);
    let refused = claims.asked_for(&["PIAS".to_owned()]).unwrap_err().to_string();
    assert!(refused.contains("did you mean \"pias\"?"), "{refused}");
    assert_eq!(asked(&["lab-pdq-fig6"]), [claim("pdq.convergence", 1)]);
    assert_eq!(asked(&["pias-fig6a"]), asked(&["pias-fig6"]), "a part stands for the whole");
    assert_eq!(asked(&["pdq-fig11c"]).len(), 1, "it is an experiment");
    assert!(claims.asked_for(&["pias-fig6ab".to_owned()]).is_err());
}

/// Reads experiments at quick scale, the largest that the tests can draw.
#[test]
fn measures_name_schemes_and_points_of_their_experiments() {
    let claims = claims();
    let measured = |value: &ClaimedValue| [value.measure.clone(), value.lab.clone()];
    let measures: Vec<_> =
        claims.all.iter().flat_map(|claim| &claim.values).flat_map(measured).flatten().collect();
    let studies: BTreeSet<_> = measures.iter().map(Measure::study).collect();
    let mut problems = Vec::new();
    for study in studies {
        let experiment = read(&study);
        for measure in measures.iter().filter(|measure| measure.study() == study) {
            problems.extend(problem(measure, &experiment).map(|it| format!("{it}: {measure:?}")));
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn drawings_name_schemes_and_points_of_their_experiments() {
    let claims = claims();
    let values = claims.all.iter().flat_map(|claim| &claim.values);
    let mut drawn = 0;
    for value in values.filter(|value| !value.drawn.is_empty()) {
        let measure = value.measure.as_ref().unwrap();
        let experiment = read(&measure.study());
        for drawing in &value.drawn {
            let schemes = match &drawing.schemes[..] {
                [] => std::slice::from_ref(&measure.scheme),
                some => some,
            };
            for scheme in schemes {
                let (scheme, at) = (scheme.clone(), drawing.at.clone());
                let alone = Measure { scheme, at, over: None, ..measure.clone() };
                let alone = Measure { equals: None, ..alone };
                assert_eq!(problem(&alone, &experiment), None, "{drawing:?}");
                drawn += 1;
            }
        }
    }
    assert!(drawn > 15, "{drawn} curves");
}

/// What is wrong with the measure for this experiment, if anything.
fn problem(measure: &Measure, experiment: &Experiment) -> Option<&'static str> {
    let scenes = &experiment.scenes;
    let has = |name: &String| {
        scenes.iter().all(|scene| scene.schemes.iter().any(|scheme| scheme.name == *name))
    };
    if !has(&measure.scheme) || !measure.baseline.as_ref().is_none_or(has) {
        return Some("no such scheme");
    }
    let at = |wanted: &Setting| {
        let is_there = |scene: &Scene| {
            wanted.iter().all(|(key, values)| {
                scene.point.get(key).is_some_and(|found| values.split(',').any(|one| one == found))
            })
        };
        scenes.iter().filter(|scene| is_there(scene)).count()
    };
    let takes_many = measure.over.is_some() || measure.reach.is_some() || measure.equals.is_some();
    match (at(&measure.at), at(&measure.baseline_at)) {
        (0, _) | (_, 0) => Some("no such point"),
        (2.., _) if !takes_many => Some("several points"),
        _ => None,
    }
}

fn read(study: &Study) -> Experiment {
    let file = root().join("experiments").join(&study.experiment).with_extension("toml");
    let set = study.set.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let arguments = Arguments { set, quick: true, ..Arguments::default() };
    Experiment::read(&file, &arguments).unwrap_or_else(|e| panic!("{study:?}: {e}"))
}

/// One seed has no interval, so its verdict would always be *undecided*.
#[test]
fn a_study_has_more_than_one_seed() {
    let seeds = |name: &str, scale, seeds| {
        let study = Study { experiment: name.to_owned(), set: Setting::default() };
        Repository::new(root()).experiment(&study, scale, seeds).unwrap().seeds
    };
    assert_eq!(seeds("pdq-fig1", Scale::Paper, None), 5, "the file has one");
    assert_eq!(seeds("pias-fig6", Scale::Paper, None), 3, "as in the file");
    assert_eq!(seeds("pias-fig6", Scale::Quick, None), 5);
    assert_eq!(seeds("pdq-fig1", Scale::Paper, Some(1)), 1, "as it was asked for");
}

#[test]
fn every_reading_is_an_experiment() {
    let claims = claims();
    let studies: BTreeSet<_> = claims.all.iter().flat_map(studies).collect();
    assert!(studies.len() > 30);
    // Some files ask for optimal thresholds, which take long, so all processors share the work.
    let threads = thread::available_parallelism().unwrap().get();
    let parts = (0..threads).map(|first| studies.iter().skip(first).step_by(threads));
    thread::scope(|scope| {
        for part in parts {
            scope.spawn(move || part.for_each(|study| drop(read(study))));
        }
    });
}

#[test]
fn claims_that_make_no_sense_are_refused_in_words() {
    let claim = "[[claim]]\nid = \"a.b\"\npaper = \"a\"\nsection = \"1\"\nwhere = \"sim\"\n\
                 words = \"\"\nsetting = \"\"\nmetric = \"\"\nkind = \"gap\"\n[[claim.value]]\npublished = 0.1\n";
    let measure = |figure: &str, more: &str| {
        format!("measure = {{ experiment = \"e\", figure = \"{figure}\", scheme = \"s\"{more} }}\n")
    };
    let refusal = |more: &str| Claims::parse(&format!("{claim}{more}")).unwrap_err().to_string();
    assert!(refusal("").contains("needs `measure`, `share`, `not_run` or `needs_the_lab`"));
    assert!(refusal(&measure("drops", "")).contains("`baseline` is for"));
    let unknown = measure("fct_us.tiny.mean", ", baseline = \"t\"");
    assert!(refusal(&unknown).contains("`fct_us.tiny.mean` is no figure"));
    assert!(refusal("not_run = \"so\"\nneeds_the_lab = true\n").contains("only one of them"));
    let bad_reading = "not_run = \"so\"\n[[claim.assumption]]\nname = \"a\"\nwhy = \"\"\n\
                       reading = [{ name = \"b\", figure = \"no\" }]\n";
    assert!(refusal(bad_reading).contains("`no` is no figure"));
    let inverse = bad_reading.replace("figure = \"no\"", "inverse = true");
    let of_ratio = claim.replace("\"gap\"", "\"ratio\"") + &inverse;
    let refused = Claims::parse(&of_ratio).unwrap_err().to_string();
    assert!(refused.contains("`inverse` is for readings of reductions and gaps"), "{refused}");
    let twice = format!("not_run = \"so\"\n{claim}not_run = \"so\"\n");
    assert!(refusal(&twice).contains("another claim of that name"));
    let bounds = claim.replace("kind =", "bound = \"about\"\nkind =");
    let bounds = format!("{bounds}bound = \"at-most\"\nnot_run = \"so\"\n");
    let refused = Claims::parse(&bounds).unwrap_err().to_string();
    assert!(refused.contains("`bound` is either the claim's or its values'"), "{refused}");
    let property = claim.replace("\"gap\"", "\"property\"").replace("published = 0.1\n", "");
    let of_property = |more: &str| {
        Claims::parse(&format!("{property}{}", measure("finished", more)))
            .map_err(|it| it.to_string())
    };
    assert!(of_property(", equals = \"flows\"").is_ok());
    for (more, problem) in [
        ("", "`equals` is for properties, which need it"),
        (", equals = \"flow\"", "`flow` is no figure"),
        (", equals = \"flows\", over = \"least\"", "leave `reach` and `over` out"),
        (", equals = \"flows\", baseline = \"t\"", "`baseline` is for"),
    ] {
        let refused = of_property(more).unwrap_err();
        assert!(refused.contains(problem), "{refused}");
    }
    assert!(
        refusal(&measure("drops", ", baseline = \"t\", equals = \"flows\""))
            .contains("`equals` is for")
    );
    let growth = measure("drops", ", baseline = \"t\", grows_along = \"load\"");
    assert!(refusal(&growth).contains("`grows_along` is for orders"));
    let text = claim.replace("published = 0.1", "published = \"abc\"");
    let refused = Claims::parse(&text).unwrap_err().to_string();
    assert!(
        refused.contains("a number, a range `[least, most]`, or an order: \"lower\""),
        "{refused}"
    );
    let share = "share = { sizes = \"web-search-bytes\", of = \"bytes\", below = \"10MB\" }\n";
    assert!(refusal(share).contains("`share` is for claims of kind"));
    let value = claim.replace("\"gap\"", "\"value\"");
    let other = bad_reading
        .replace("not_run = \"so\"\n", share)
        .replace("figure = \"no\"", "set = { load = \"1\" }");
    let refused = Claims::parse(&format!("{value}{other}")).unwrap_err().to_string();
    assert!(refused.contains("set `sizes` or `below`, and nothing else"), "{refused}");
    let unknown = share.replace("web-search-bytes", "web");
    let refused = Claims::parse(&format!("{value}{unknown}")).unwrap_err().to_string();
    assert!(refused.contains("web-search-bytes"), "the names that there are: {refused}");
}

#[test]
fn drawings_that_make_no_sense_are_refused_in_words() {
    let claim = "[[claim]]\nid = \"a.b\"\npaper = \"a\"\nsection = \"1\"\nwhere = \"sim\"\nwords = \"\"\n\
                 setting = \"\"\nmetric = \"\"\nkind = \"value\"\n[[claim.value]]\npublished = 42\n";
    let measure = "measure = { experiment = \"e\", figure = \"drops\", scheme = \"s\" }\n";
    let drawn = "[[claim.value.drawn]]\ntitle = \"Figure 1\"\n";
    let parse = |more: &str| Claims::parse(&format!("{claim}{measure}{drawn}{more}"));
    let links = "links = \"a: host 0 to switch 0\"\n";
    let queue = "of = { over_time = \"queue_packets\" }\n";
    let ratio = "of = { distribution = \"fct_ratio\" }\n";
    assert!(parse(&format!("{queue}{links}mark = [{{ x = [1, 2] }}]")).is_ok());
    assert!(parse(&format!("{ratio}mark = [{{ x = 1, above = true }}]")).is_ok());
    for (more, problem) in [
        (
            "of = { over_time = \"queue\" }".to_owned(),
            "unknown variant `queue`, expected one of `rate_gbps`, `utilisation`, `queue_packets`",
        ),
        (
            "of = { tables = \"flows\" }".to_owned(),
            "unknown variant `tables`, expected `over_time` or `distribution`",
        ),
        (queue.to_owned(), "\"Figure 1\": `links` is for drawings over time, which need it."),
        (format!("{ratio}{links}"), "`links` is for drawings over time"),
        (format!("{queue}links = \"host 0\""), "`host 0` is no link. Write `links` such as"),
        (format!("{ratio}mark = [{{ x = 1, y = 1 }}]"), "A mark has `x` or `y`"),
        (format!("{queue}{links}mark = [{{ above = true }}]"), "`above` is for marks"),
        (
            format!("{ratio}mark = [{{ value = \"b\", x = 1 }}]"),
            "A mark is of a value of the claim whose `published` is a number",
        ),
        (format!("{ratio}{drawn}{ratio}"), "The value has another drawing of that title."),
    ] {
        let refused = parse(&more).unwrap_err().to_string();
        assert!(refused.contains(problem), "{refused}");
    }
    let idle = format!("{claim}not_run = \"so\"\n{drawn}{ratio}");
    let refused = Claims::parse(&idle).unwrap_err().to_string();
    assert!(refused.contains("`drawn` needs `measure`"), "{refused}");
}

/// A share of small flows needs no run, and is explored without one.
#[test]
fn shares_are_computed() {
    let claims = claims();
    let (claim, value) = claims.value("epn.tiny.share", "web search").unwrap();
    let row = Row::new(claim, value, &BTreeMap::new(), "quick");
    assert!(row.is_computed());
    assert_eq!(row.runs_in_words(), "computed");
    assert_eq!(row.interval, row.measured.map(|share| (share, share)));
    assert!(!row.measured_in_words().contains('['), "{}", row.measured_in_words());
    assert_eq!(row.clone().judged(&claims), Some(row.clone()), "a table keeps it");
    let explored = explore(claim, value, &BTreeMap::new(), "quick");
    assert_eq!(explored[0].row, row);
    assert!(explored[1].row.measured > row.measured, "flows below 100 KB have more bytes");
}

/// A table of one claim, whose recorded verdicts are made up.
const RECORDED: &str = r#"{
  "date": "2026-11-24", "machine": "", "program": {"version": "0.1.0", "commit": "", "command": ""},
  "claims": [
    {"id": "a.b", "value": "", "kind": "value", "bound": null, "published": 5.0, "measured": 5.0,
     "interval": [4.9, 5.1], "verdict": "reproduced", "reason": null, "scale": "quick", "seeds": 5,
     "cpu_s": 1.0},
    {"id": "a.b", "value": "", "kind": "value", "bound": null, "published": 5.0, "measured": null,
     "interval": null, "verdict": "reproduced", "reason": null, "scale": "paper", "seeds": 5,
     "cpu_s": 1.0},
    {"id": "a.b", "value": "gone", "kind": "value", "bound": null, "published": 1.0, "measured": 1.0,
     "interval": [1.0, 1.0], "verdict": "reproduced", "reason": null, "scale": "quick", "seeds": 5,
     "cpu_s": 1.0}
  ]
}"#;

#[test]
fn no_recorded_verdict_counts() {
    let claim = "[[claim]]\nid = \"a.b\"\npaper = \"a\"\nsection = \"1\"\nwhere = \"sim\"\nwords = \"\"\n\
                 setting = \"\"\nmetric = \"\"\nkind = \"value\"\n[[claim.value]]\npublished = 42.0\n\
                 measure = { experiment = \"e\", figure = \"drops\", scheme = \"s\" }\n";
    let claims = Claims::parse(claim).unwrap();
    let recorded: Recorded = serde_json::from_str(RECORDED).unwrap();
    let judged = recorded.clone().judged(&claims).claims;
    let verdicts: Vec<Verdict> = judged.iter().map(|row| row.verdict).collect();
    assert_eq!(verdicts, [Verdict::NotReproduced, Verdict::Undecided], "one value is gone");
    assert_eq!(judged[0].published, Some(Published::Number(42.0)));
    let reason = judged[1].reason.as_deref().unwrap();
    assert!(reason.contains("no finite value"), "{reason}");

    let Recorded { date, program, machine, claims: rows } = recorded;
    let explored = |row: &Row| vec![Explored { readings: Vec::new(), row: row.clone() }];
    let explored = rows.iter().map(explored).collect();
    let table = ExploredTable { date, program, machine, explored }.judged(&claims);
    let verdicts: Vec<Verdict> = table.explored.iter().map(|one| one[0].row.verdict).collect();
    assert_eq!(verdicts, [Verdict::NotReproduced, Verdict::Undecided]);
}

/// Runs that do not have the figure decide nothing, but something was run. Older tables call such a row "not run".
#[test]
fn runs_without_the_figure_leave_a_value_undecided() {
    let claims = claims();
    let (claim, value) = claims.value("pdq.datamining.arrival-rate", "PDQ against d3").unwrap();
    let study = value.measure.as_ref().unwrap().study();
    let run = Runs { summary: Summary::default(), experiment_hash: String::new() };
    let row = Row::new(claim, value, &BTreeMap::from([(study, run)]), "quick");
    assert_eq!((row.verdict, row.measured), (Verdict::Undecided, None));
    assert_eq!(row.runs_in_words(), "quick", "the page says at which scale");
    assert!(row.reason.as_deref().unwrap().contains("has no scheme `pdq`"), "{:?}", row.reason);
    let older = Row { verdict: Verdict::NotRun, cpu_s: Some(1.0), ..row.clone() };
    assert_eq!(older.judged(&claims).unwrap().verdict, Verdict::Undecided);
    let idle = Row { verdict: Verdict::NotRun, cpu_s: None, ..row };
    assert_eq!(idle.judged(&claims).unwrap().verdict, Verdict::NotRun);
}

/// If a value got another name, the pages would leave out what was measured of it.
#[test]
fn measured_rows_are_of_values_that_the_claims_have() {
    // A row without a figure leaves nothing out.
    let measured = |text: &str| {
        let mut rows = Recorded::from_json(text).unwrap().claims;
        rows.retain(|row| row.measured.is_some());
        rows
    };
    assert_eq!(rows_without_a_value("papers/measured", measured), [""; 0]);
}

/// If a value got another name, the pages would leave its readings out.
#[test]
fn readings_are_of_values_that_the_claims_have() {
    let explored = |text: &str| {
        let table = ExploredTable::from_json(text).unwrap();
        table.explored.into_iter().flatten().map(|one| one.row).collect()
    };
    assert_eq!(rows_without_a_value("papers/explored", explored), [""; 0]);
}

/// The rows in the files of a folder whose values the claims do not have, each with the file.
fn rows_without_a_value(folder: &str, rows: impl Fn(&str) -> Vec<Row>) -> Vec<String> {
    let claims = claims();
    let mut found = Vec::new();
    for file in fs::read_dir(root().join(folder)).unwrap() {
        let path = file.unwrap().path();
        let mut rows = rows(&fs::read_to_string(&path).unwrap());
        rows.retain(|row| claims.value(&row.id, &row.value).is_none());
        let name = path.file_name().unwrap().display();
        found.extend(rows.iter().map(|row| format!("{name}: {}", row.name())));
    }
    found
}

/// The comment of an experiment says which claims it measures; a prefix such as "pdq.loss" stands for several.
#[test]
fn experiments_name_the_claims_that_they_measure() {
    let (claims, repository) = (claims(), Repository::new(root()));
    let mut measured: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for claim in &claims.all {
        let values = claim.values.iter();
        for measure in values.flat_map(|value| value.measure.iter().chain(&value.lab)) {
            measured.entry(measure.study().experiment).or_default().insert(&claim.id);
        }
    }
    let mut problems = Vec::new();
    for (experiment, ids) in &measured {
        let about = repository.about(experiment).unwrap().replace('\n', " ");
        let named = named_as_measured(&about);
        let covers = |name: &&str, id: &&str| *name == *id || id.starts_with(&format!("{name}."));
        let wrong = named.iter().filter(|name| !ids.iter().any(|id| covers(name, id)));
        problems.extend(wrong.map(|name| format!("{experiment} does not measure {name}")));
        let is_in_lab = experiment.starts_with("lab-");
        let missing =
            ids.iter().filter(|id| !is_in_lab && !named.iter().any(|name| covers(name, id)));
        problems
            .extend(missing.map(|id| format!("{experiment} does not say that it measures {id}")));
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

/// The names of claims in the sentences that begin with "Measures".
fn named_as_measured(about: &str) -> Vec<&str> {
    let sentences = about.split("Measures ").skip(1);
    let words =
        sentences.flat_map(|one| one.split(". ").next().unwrap_or_default().split_whitespace());
    let words = words.map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()));
    let is_name = |word: &&str| {
        ["pias.", "pdq.", "slytherin.", "epn."].iter().any(|paper| word.starts_with(paper))
    };
    words.filter(is_name).collect()
}

#[test]
fn an_experiment_says_what_it_is() {
    let about = Repository::new(root()).about("pdq-fig6").unwrap();
    assert!(about.starts_with("PDQ 2012, Figure 6: five flows"), "{about}");
    assert!(!about.contains("seeds"), "only the comment at the beginning: {about}");
    assert!(Repository::new(root()).about("no-such-file").is_err());
}
