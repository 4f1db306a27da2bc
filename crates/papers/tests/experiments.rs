//! Checks the comments of experiment files and the reasons in claims. The pages on papers copy these texts, so
//! nothing would measure a result in them again.

use std::fs;
use std::path::Path;

use flowsched_papers::Claims;

/// A figure after one of these phrases is a result.
const BEFORE_A_RESULT: [&str; 11] = [
    "FCT of",
    "FCT is",
    "mean is",
    "median",
    "median is",
    "grows by",
    "falls by",
    "rises by",
    "lasts",
    "seeds have",
    "we measure",
];

/// A figure at most one word before one of these words is a result.
const AFTER_A_RESULT: [&str; 4] = ["timeouts", "time-outs", "drops", "retransmissions"];

/// A sentence with one of these may have the paper's figures.
const OF_THE_PAPER: [&str; 3] = ["paper", "testbed", "\""];

fn is_figure(word: &str) -> bool {
    word.trim_start_matches(['+', '-', '(']).starts_with(|first: char| first.is_ascii_digit())
}

fn is_change(word: &str) -> bool {
    is_figure(word)
        && word.trim_start_matches('(').starts_with(['+', '-'])
        && word.trim_end_matches(|last: char| ",.;:)".contains(last)).ends_with('%')
}

/// Whether a sentence states a result: a signed percentage, or a figure beside a word for results.
fn states_a_result(sentence: &str) -> bool {
    if OF_THE_PAPER.iter().any(|word| sentence.contains(word)) {
        return false;
    }
    let words: Vec<&str> = sentence.split_whitespace().collect();
    words.iter().enumerate().any(|(at, word)| {
        let (before, after) = (words[..at].join(" "), &words[at + 1..]);
        let follows = BEFORE_A_RESULT.iter().any(|phrase| before.ends_with(phrase));
        let counts = after.iter().take(2).any(|word| {
            let word = word.trim_end_matches(|last: char| !last.is_alphanumeric());
            AFTER_A_RESULT.contains(&word)
        });
        is_change(word) || is_figure(word) && (follows || counts)
    })
}

/// The sentences of all comments of a file.
fn sentences(file: &str) -> Vec<String> {
    let comments =
        file.lines().filter_map(|line| line.split_once('#')).map(|(_, text)| text.trim());
    // An empty line ends a sentence too.
    let paragraphs = comments.map(|line| if line.is_empty() { "." } else { line });
    in_sentences(&paragraphs.collect::<Vec<_>>().join(" "))
}

fn in_sentences(text: &str) -> Vec<String> {
    text.split(". ").map(str::to_owned).collect()
}

/// The reasons for claims' assumptions, and for values that are not run.
fn reasons(claims: &Claims) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for claim in &claims.all {
        let why = claim.assumptions.iter().map(|open| open.why.as_str());
        let why = why.chain(claim.values.iter().filter_map(|value| value.not_run.as_deref()));
        found.extend(why.map(|reason| (claim.id.as_str(), reason)));
    }
    found
}

#[test]
fn results_are_told_from_settings() {
    for result in [
        "With 1 ms, TCP has 444 spurious timeouts in 300 flows (30 at once, 10 seeds)",
        "With 1 ms instead of 10 ms, TCP has 18 timeouts instead of 2",
        "although no packet is lost, and a mean FCT of 18.3 ms",
        "TCP's mean FCT grows by 17% with 1 ms, 43% with 10 ms and 81% with 20 ms",
        "only ten (TCP +19% with 10 ms, +12% with 1 ms)",
        "Eight of ten seeds have 316 to 584 timeouts",
        "so that the mean is 1,073 and the median 417",
        "PDQ's burst lasts 9.6 ms after a start at 10 ms",
    ] {
        assert!(states_a_result(result), "{result}");
    }
    for other in [
        "the paper counts 200 timeouts in 5,000 flows (`timeouts` of the summary)",
        "in the paper PDQ +11.4%, TCP +44.7% with 3% loss each way",
        "With --set \"workload.sizes=uniform 2KB 198KB\" the mean is 100 KB",
        "10 MB from each sender every 166 ms, 3% less than the two take",
        "Here it is 10 ms",
    ] {
        assert!(!states_a_result(other), "{other}");
    }
}

#[test]
fn reasons_in_claims_state_no_results() {
    let file = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers/claims.toml"));
    let claims = Claims::parse(&fs::read_to_string(file).unwrap()).unwrap();
    let reasons = reasons(&claims);
    assert!(reasons.len() > 50, "{} reasons", reasons.len());
    let found: Vec<String> = reasons
        .into_iter()
        .flat_map(|(id, reason)| in_sentences(reason).into_iter().map(move |one| (id, one)))
        .filter(|(_, sentence)| states_a_result(sentence))
        .map(|(id, sentence)| format!("{id}: {sentence}"))
        .collect();
    assert!(found.is_empty(), "let a command measure these instead: {found:#?}");
}

#[test]
fn comments_state_no_results() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments"));
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|one| one == "toml") {
            let results = sentences(&fs::read_to_string(&path).unwrap());
            let results = results.into_iter().filter(|sentence| states_a_result(sentence));
            found.extend(results.map(|sentence| format!("{}: {sentence}", path.display())));
        }
    }
    assert!(found.is_empty(), "let a command measure these instead: {found:#?}");
}
