//! Lists, completions, manual pages, the reference.

use crate::common::Place;

#[test]
fn help_teaches_by_example() {
    let place = Place::new();
    for arguments in [&["--help"][..], &["run", "--help"], &["check", "--help"]] {
        let done = place.flowsched(arguments);
        assert_eq!(done.status, Some(0));
        assert!(done.output.contains("Example"), "{}", done.output);
        assert!(done.output.contains("  flowsched "), "{}", done.output);
    }
    assert!(place.flowsched(&["--version"]).output.starts_with("flowsched "));
}

#[test]
fn lists_have_names_defaults_units_and_sources() {
    let place = Place::new();
    for (list, words) in [
        ("schemes", ["pias", "ecn_threshold = \"65pkt\"", "1500 B", "RFC 8257"]),
        ("workloads", ["web-search-bytes", "pattern = \"all-to-all\"", "from 0 to 1", "PIAS ToN"]),
        ("topologies", ["leaf-spine", "host_delay = \"20us\"", "a time", "PIAS ToN"]),
    ] {
        let done = place.flowsched(&["list", list]);
        assert_eq!(done.status, Some(0));
        for word in words {
            assert!(done.output.contains(word), "{list} has no {word}:\n{}", done.output);
        }
    }
}

#[test]
fn completions_and_manual_pages_come_from_the_same_definitions() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(place.flowsched(&["completions", shell]).output.contains("vary"), "{shell}");
    }
    assert!(place.flowsched(&["man"]).output.contains(".TH flowsched"));
    assert!(place.flowsched(&["man", "run"]).output.contains("\\-\\-vary"));
}

#[test]
fn the_reference_has_every_page() {
    let place = Place::new();
    for (page, word) in [
        ("experiment", "| `sample_interval` |"),
        ("schemes", "| `ecn_threshold` |"),
        ("workloads", "| `load_of` |"),
        ("topologies", "| `hosts_per_leaf` |"),
        ("results", "| `fct_us` |"),
    ] {
        let done = place.flowsched(&["reference", page]);
        assert!(done.output.starts_with("# ") && done.output.contains(word), "{}", done.output);
    }
}
