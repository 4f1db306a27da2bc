//! `flowsched reproduce`: rows, verdicts, and what is left after a kill.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use flowsched_papers::{Claims, Recorded, Row, Scale, Tables, Verdict};
use serde_json::Value;

use crate::common::{Place, SMALL};

const CLAIMS: &str = r#"
[[claim]]
id = "pias.small"
paper = "pias"
section = "1"
where = "sim"
setting = "four hosts"
words = "flows are short"
metric = "mean FCT"
kind = "reduction"
bound = "up-to"
[[claim.value]]
name = "large gain"
published = 0.99
measure = { experiment = "small", figure = "fct_us.all.mean", scheme = "pias", baseline = "dctcp" }
[[claim.value]]
name = "on hosts"
published = 0.5
needs_the_lab = true
[[claim.assumption]]
name = "queues"
why = "The paper does not say."
reading = [{ name = "two", set = { "scheme.pias.queues" = "2" } }]
[[claim.assumption]]
name = "lower by"
why = "The paper does not say."
reading = [{ name = "of ours", inverse = true }]

[[claim]]
id = "pias.hops"
paper = "pias"
section = "2"
where = "sim"
setting = "four hosts"
words = "few packets drop"
metric = "drops"
kind = "value"
[[claim.value]]
published = 0
measure = { experiment = "small", figure = "drops", scheme = "dctcp" }
lab = { experiment = "lab-small", figure = "drops", scheme = "dctcp" }
[[claim.value.drawn]]
title = "Figure 2a"
of = { over_time = "utilisation" }
links = "card: host 0 to switch 0"
[[claim.value.drawn]]
title = "Figure 2b"
of = { distribution = "fct_ratio" }
schemes = ["pias"]
[[claim.value]]
name = "elsewhere"
published = 7
not_run = "nobody has the trace"
"#;

fn repository() -> Place {
    let place = Place::new();
    fs::create_dir(place.path("papers")).unwrap();
    fs::create_dir(place.path("experiments")).unwrap();
    place.write("papers/claims.toml", CLAIMS);
    place.write("experiments/small.toml", &SMALL.replace("flows = 50", "flows = 3000"));
    place.write("experiments/lab-small.toml", SMALL);
    place
}

/// The rows without the fields that differ from run to run.
fn rows(output: &str) -> Vec<Value> {
    let mut all: Value = serde_json::from_str(output).unwrap();
    let rows = all["claims"].as_array_mut().unwrap();
    rows.iter_mut().for_each(|row| row["cpu_s"] = Value::Null);
    rows.clone()
}

const AS_JSON: &[&str] = &["reproduce", "--scale", "paper", "--seeds", "4", "--format", "json"];

#[test]
fn every_reading_is_explored_alone_and_with_others() {
    let place = repository();
    let command = ["reproduce", "pias.small", "--explore", "--scale", "paper", "--seeds", "3"];
    let done = place.flowsched(&command);
    assert_eq!(done.status, Some(0), "{}", done.errors);
    for words in ["as the experiment has it", "queues: two; lower by: of ours", "+++"] {
        assert!(done.output.contains(words), "{words}: {}", done.output);
    }
    let as_json = [&command[..], &["--format", "json"]].concat();
    let json: Value = serde_json::from_str(&place.flowsched(&as_json).output).unwrap();
    let variants = json["explored"][0].as_array().unwrap();
    assert_eq!(variants.len(), 4, "only the value that is measured, under two assumptions");
    let figure = |variant: usize| variants[variant]["measured"].as_f64().unwrap();
    assert!((1.0 / (1.0 - figure(0)) - 1.0 - figure(2)).abs() < 1e-9, "{variants:?}");
    let refused = place.flowsched(&["reproduce", "pias.hops", "--explore"]);
    assert_eq!(refused.status, Some(2), "{}", refused.errors);
    assert!(refused.errors.contains("nothing to explore"), "{}", refused.errors);
}

#[cfg(feature = "lab")]
#[test]
fn the_lab_refuses_threads() {
    let refused = repository().flowsched(&["reproduce", "pias.hops", "--lab", "--threads", "2"]);
    assert_eq!(refused.status, Some(2), "{}", refused.errors);
    assert!(refused.errors.contains("Leave --threads out"), "{}", refused.errors);
}

#[test]
fn every_value_has_a_row_with_a_verdict() {
    let place = repository();
    let done = place.flowsched(AS_JSON);
    assert_eq!(done.status, Some(0), "{}", done.errors);
    let rows = rows(&done.output);
    let verdicts: Vec<_> = rows.iter().map(|row| row["verdict"].as_str().unwrap()).collect();
    assert_ne!(verdicts[0], "reproduced");
    assert_eq!(verdicts[1..], ["needs-the-lab", "reproduced", "not-run"]);
    assert_eq!(rows[2]["interval"], serde_json::json!([0.0, 0.0]));
    assert_eq!(rows[2]["seeds"], 4);
    let schemes = rows[0]["schemes"].as_array().unwrap();
    let schemes: Vec<_> = schemes.iter().map(|curve| curve["scheme"].as_str().unwrap()).collect();
    assert_eq!(schemes, ["pias", "dctcp"]);
    assert_eq!(rows[2].get("schemes"), None, "nothing is compared");
    assert_eq!(rows[0].get("drawings"), None, "the claim names none");
    let [over_time, ratios] = &rows[2]["drawings"].as_array().unwrap()[..] else { panic!() };
    assert_eq!(over_time["title"], "Figure 2a");
    assert_eq!(over_time["curves"][0]["name"], "card");
    assert_eq!(ratios["of"], serde_json::json!({ "distribution": "fct_ratio" }));
    assert_eq!(ratios["curves"][0]["name"], "pias / dctcp");
    assert_eq!(rows[3]["reason"], "nobody has the trace");
    assert_eq!(rows[3]["measured"], Value::Null);
}

#[test]
fn a_page_draws_what_the_tables_have() {
    let place = repository();
    let done = place.flowsched(AS_JSON);
    let pages = |table: &str| {
        let _ = fs::create_dir(place.path("papers/measured"));
        place.write("papers/measured/paper.json", table);
        let done = place.flowsched(&["pages", "."]);
        assert_eq!(done.status, Some(0), "{}", done.errors);
        fs::read_to_string(place.path("pias.md")).unwrap()
    };
    let page = pages(&done.output);
    for words in [">Figure 2a<", ">Figure 2b<", ">pias / dctcp<", ">Share of flows<"] {
        assert_eq!(page.matches(words).count(), 1, "{words}: {page}");
    }
    let mut earlier = Recorded::from_json(&done.output).unwrap();
    earlier.claims.iter_mut().for_each(|row| row.drawings.clear());
    assert!(!pages(&earlier.to_json()).contains("Figure 2"));
}

#[test]
fn a_drawing_of_no_port_is_refused() {
    let place = repository();
    place.write("papers/claims.toml", &CLAIMS.replace("card: host 0", "card: host 9"));
    let refused = place.flowsched(AS_JSON);
    assert_eq!(refused.status, Some(2), "{}", refused.errors);
    let problem = "pias.hops: \"Figure 2a\" cannot be drawn: `dctcp` has fewer than two samples of host 9 to switch 0.";
    assert!(
        refused.errors.split_whitespace().collect::<Vec<_>>().join(" ").contains(problem),
        "{}",
        refused.errors
    );
    let as_table = ["reproduce", "--scale", "paper", "--seeds", "4"];
    assert_eq!(place.flowsched(&as_table).status, Some(0), "a table draws nothing");
}

#[test]
fn each_simulation_runs_once() {
    let place = repository();
    assert_eq!(place.flowsched(AS_JSON).errors.matches("run 8 of 8").count(), 1);
    let again = place.flowsched(AS_JSON);
    assert!(!again.errors.contains("run 8 of 8"), "{}", again.errors);
    let other = place.flowsched(&["reproduce", "pias.hops", "--scale", "paper", "--seeds", "5"]);
    assert!(other.errors.contains("run 10 of 10"), "other seeds are another experiment");
    assert!(other.output.contains("1 reproduced"), "{}", other.output);
}

/// The table without what differs between two measurements of the same: the date, the command, the cost, and the
/// digest of these.
fn without_cost_and_date(table: &str) -> String {
    let differs = |line: &&str| {
        ["digest", "date", "command", "cpu_s"]
            .iter()
            .any(|key| line.contains(&format!("\"{key}\": ")))
    };
    table.lines().filter(|line| !differs(line)).collect()
}

#[test]
fn after_kills_the_table_is_that_of_an_uninterrupted_run() {
    let whole = without_cost_and_date(&repository().flowsched(AS_JSON).output);
    let place = repository();
    let with_threads = |threads| [AS_JSON, &["--threads", threads]].concat();
    let mut delays = Vec::new();
    for kill in 0..20 {
        let mut command = place.command(&with_threads(["1", "2", "4"][kill % 3]));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        // Every hasher has keys of its own.
        let delay = Duration::from_millis(RandomState::new().hash_one(kill) % 160);
        delays.push(delay);
        std::thread::sleep(delay);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let done = place.flowsched(&with_threads("2"));
    assert_eq!(done.status, Some(0), "killed after {delays:?}: {}", done.errors);
    assert_eq!(without_cost_and_date(&done.output), whole, "killed after {delays:?}");
    for threads in ["1", "4"] {
        let uninterrupted = repository().flowsched(&with_threads(threads)).output;
        assert_eq!(without_cost_and_date(&uninterrupted), whole, "{threads} threads");
    }
}

#[test]
fn a_table_that_was_changed_is_refused() {
    let place = repository();
    let table = place.flowsched(AS_JSON).output;
    fs::create_dir(place.path("papers/measured")).unwrap();
    fs::create_dir(place.path("papers/explored")).unwrap();
    place.write("papers/measured/paper.json", &table);
    let pages = |place: &Place| place.flowsched(&["pages", "."]);
    let done = pages(&place);
    assert_eq!(done.status, Some(0), "a redirected file is a table: {}", done.errors);

    // As `sed` would do it.
    place.write(
        "papers/measured/paper.json",
        &table.replacen("\"measured\": 0", "\"measured\": 9", 1),
    );
    for refused in [pages(&place), place.flowsched(&["explain", "pias.hops"])] {
        assert_eq!(refused.status, Some(2), "{}", refused.errors);
        for words in [
            "papers/measured/paper.json",
            "it was changed after",
            "Measure again: `flowsched reproduce --scale paper",
        ] {
            assert!(refused.errors.contains(words), "{words}: {}", refused.errors);
        }
    }
    let again = place.flowsched(AS_JSON);
    assert_eq!(again.status, Some(0), "what measures again reads no table: {}", again.errors);

    let explored = place.flowsched(&[AS_JSON, &["pias.small", "--explore"]].concat()).output;
    place.write("papers/measured/paper.json", &table);
    place.write("papers/explored/quick.json", &explored);
    assert_eq!(pages(&place).status, Some(0), "{}", pages(&place).errors);
    let bare: String = explored.lines().filter(|line| !line.contains("\"digest\"")).collect();
    place.write("papers/explored/quick.json", &bare);
    let refused = pages(&place);
    assert_eq!(refused.status, Some(2), "{}", refused.errors);
    assert!(refused.errors.contains("has no `digest`"), "{}", refused.errors);
}

#[test]
fn verdicts_follow_from_the_claims_whatever_the_tables_say() {
    let place = repository();
    let table = place.flowsched(AS_JSON).output.replace("\"reproduced\"", "\"not-reproduced\"");
    // Even a forger who has the source code gains nothing.
    let forged: Recorded = serde_json::from_str(&table).unwrap();
    fs::create_dir(place.path("papers/measured")).unwrap();
    place.write("papers/measured/paper.json", &forged.to_json());
    let explained = |place: &Place| place.flowsched(&["explain", "pias.hops"]).output;
    assert!(
        explained(&place)
            .contains("measured at paper scale: 0, every seed gives the same, reproduced")
    );
    place.write("papers/claims.toml", &CLAIMS.replace("published = 0\n", "published = 12\n"));
    assert!(
        explained(&place)
            .contains("measured at paper scale: 0, every seed gives the same, not reproduced")
    );
}

#[test]
fn a_row_has_the_hash_of_its_experiment() {
    let place = repository();
    let measured = |command: &[&str]| rows(&place.flowsched(command).output);
    let table = place.flowsched(AS_JSON).output;
    let found = rows(&table);
    let hash = found[0]["experiment_hash"].as_str().unwrap();
    assert_eq!(found[2]["experiment_hash"], hash, "both values are from the same experiment");
    assert_eq!(found[1].get("experiment_hash"), None, "nothing was run");
    assert_eq!(measured(&[AS_JSON, &["--out", "elsewhere"]].concat())[0], found[0]);
    let of_reading = place.flowsched(&[AS_JSON, &["pias.small", "--explore"]].concat()).output;
    let all: Value = serde_json::from_str(&of_reading).unwrap();
    let variants = all["explored"][0].as_array().unwrap();
    let is_same = |variant: &Value| variant["experiment_hash"] == hash;
    assert!(variants.iter().all(is_same), "the reading sets what the experiment has: {of_reading}");

    fs::create_dir(place.path("papers/measured")).unwrap();
    place.write("papers/measured/paper.json", &table);
    let explained = || place.flowsched(&["explain", "pias.hops"]).output;
    let of_row = format!("from the experiment with the hash {hash}\n");
    let of_experiment =
        format!("Parameters of experiments/small.toml at paper scale, hash {hash}:\n");
    let text = explained();
    assert!(text.contains(&of_row) && text.contains(&of_experiment), "{text}");
    place.write("experiments/small.toml", &SMALL.replace("flows = 50", "flows = 2999"));
    let text = explained();
    assert!(text.contains(&of_row) && !text.contains(&of_experiment), "{text}");
}

#[test]
fn claims_are_explained_and_unknown_ones_refused() {
    let place = repository();
    let text = place.flowsched(&["explain", "pias.hops"]).output;
    assert!(text.contains("experiments/small.toml, drops of dctcp"), "{text}");
    assert!(text.contains("not run: nobody has the trace"), "{text}");
    assert!(text.contains("The paper: \"few packets drop\""), "{text}");
    assert!(text.contains("Parameters of experiments/small.toml at paper scale, hash "), "{text}");
    assert!(text.contains("\nrto_min = \""), "{text}");
    let in_lab = "with real packets (`--lab`): experiments/lab-small.toml, drops of dctcp";
    assert!(text.contains(in_lab), "{text}");
    let in_lab = "Parameters of experiments/lab-small.toml at paper scale with real packets (needs `--lab`), hash ";
    assert!(text.contains(in_lab), "{text}");
    let other = CLAIMS.replace("scheme = \"dctcp\" }\nlab", "scheme = \"tcp\" }\nlab");
    place.write("papers/claims.toml", &other);
    let done = place.flowsched(&["reproduce", "pias.hops", "--scale", "paper", "--seeds", "1"]);
    assert!(
        done.output.contains("experiments/small.toml has no scheme `tcp`, but"),
        "{}",
        done.output
    );
    place.write("papers/claims.toml", CLAIMS);
    let refused = place.flowsched(&["reproduce", "pia"]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.errors.contains("`pia` names no claim"), "{}", refused.errors);
    let near = place.flowsched(&["reproduce", "pias.smal"]).errors;
    assert!(near.contains("did you mean \"pias.small\"?"), "{near}");
    let elsewhere = Place::new().flowsched(&["reproduce"]);
    assert!(elsewhere.errors.contains("in the root of flowsched's repository"));
}

/// Claims whose runs end within seconds at quick scale.
const SAMPLE: &[&str] = &[
    "pdq.example",
    "pdq.convergence",
    "pdq.query-aggregation",
    "pdq.loss",
    "pdq.inaccurate",
    "pdq.patterns",
    "slytherin.convergence",
    "pias.table1",
    "epn.tiny",
];

/// Experiments that end within seconds at paper scale.
const SAMPLE_OF_PAPER: &[&str] = &["pdq-fig1", "pdq-fig4b", "pdq-fig6", "pias-fig10"];

/// The repository's tables can be read, and its pages are those that the tables give.
#[test]
fn the_committed_pages_are_those_of_the_committed_tables() {
    let root = root();
    let place = Place::new();
    let out = place.path("pages");
    fs::create_dir(&out).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_flowsched"));
    let done = command.current_dir(&root).arg("pages").arg(&out).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let pages: Vec<_> = fs::read_dir(&out).unwrap().map(|page| page.unwrap()).collect();
    assert!(pages.len() > 4, "{} pages", pages.len());
    for page in pages {
        let committed = fs::read(root.join("docs/src/papers").join(page.file_name())).unwrap();
        let is_same = fs::read(page.path()).unwrap() == committed;
        assert!(is_same, "write {:?} again: flowsched pages docs/src/papers", page.file_name());
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The repository's claims, and what was measured of them.
fn recorded() -> (Claims, Tables) {
    let claims = fs::read_to_string(root().join("papers/claims.toml")).unwrap();
    let claims = Claims::parse(&claims).unwrap();
    let files = fs::read_dir(root().join("papers/measured")).unwrap();
    let read = files.map(|file| {
        let path = file.unwrap().path();
        let table = Recorded::from_json(&fs::read_to_string(&path).unwrap()).unwrap();
        (path.display().to_string(), table.judged(&claims))
    });
    let tables = Tables::new(read.collect()).unwrap();
    (claims, tables)
}

/// The rows that claims and experiments of the repository give now.
fn measured_again(sample: &[&str], scale: Scale) -> Vec<Row> {
    let place = Place::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_flowsched"));
    command.current_dir(root()).arg("reproduce").args(sample);
    command.args(["--scale", &scale.to_string(), "--format", "json", "--out"]);
    let done = command.arg(place.path("out")).output().unwrap();
    Recorded::from_json(&String::from_utf8(done.stdout).unwrap()).unwrap().claims
}

/// The rank of a verdict: the lower, the better.
fn rank(verdict: Verdict) -> usize {
    let all =
        [Verdict::Reproduced, Verdict::SameDirection, Verdict::Undecided, Verdict::NotReproduced];
    all.iter().position(|one| verdict == *one).unwrap_or(all.len())
}

/// The figures of a sample of the repository's claims are the recorded ones, and the verdicts are at least as good.
/// This finds a figure that was written by hand, whatever its table's digest.
#[test]
fn no_verdict_is_worse_than_the_recorded_one() {
    let (claims, tables) = recorded();
    for (sample, scale) in [(SAMPLE, Scale::Quick), (SAMPLE_OF_PAPER, Scale::Paper)] {
        let mut compared = 0;
        // Shares of small flows are computed from the claims, without a run that could have been recorded.
        for row in measured_again(sample, scale).iter().filter(|row| !row.is_computed()) {
            // A value that has just been added to the claims is in no table.
            let Some(known) = tables.at_scale(&row.id, &row.value, scale) else { continue };
            compared += 1;
            let before = known.measured.unwrap();
            let now = row.measured.unwrap_or(f64::INFINITY);
            let is_same = (now - before).abs() <= 1e-9 * before.abs();
            assert!(is_same, "{row:#?} was {known:#?}");
            // An older row decided by the interval alone.
            let beside = match known.extremes {
                Some(_) => row.clone(),
                None => Row { extremes: None, ..row.clone() }.judged(&claims).unwrap(),
            };
            assert!(rank(beside.verdict) <= rank(known.verdict), "{row:#?} was {known:#?}");
        }
        assert!(compared > 15, "{compared} rows at {scale} scale");
    }
}
