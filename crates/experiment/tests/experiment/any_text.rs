//! Checks that nothing panics, whatever the files contain. These are the checks of the fuzz
//! targets, for every test run.

use crate::common::{arguments, read};
use proptest::prelude::*;

const GOOD: &str = "seeds = 1\n[topology]\nkind = \"star\"\nhosts = 3\n[workload]\n\
                    sizes = \"in.cdf\"\nload = 0.5\nflows = 3\n[[scheme]]\npreset = \"pias\"\n\
                    queues = 2\nthresholds = \"10KB\"\n[vary]\nworkload.load = \"0.5,0.6\"\n";

/// Words that the parsers know, so that random texts pass many checks.
fn pieces() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "seeds",
        "name",
        "until",
        "kind",
        "hosts",
        "load",
        "flows",
        "sizes",
        "trace",
        "pattern",
        "degree",
        "part",
        "flow",
        "share",
        "at",
        "every",
        "deadlines",
        "application_rate",
        "src",
        "dst",
        "size",
        "links",
        "loss",
        "[[workload.part]]\nname = \"a\"\n",
        "[[workload.flow]]\nsrc = 0\ndst = 1\nsize = \"10KB\"\n",
        "preset",
        "queues",
        "thresholds",
        "buffer",
        "workload",
        "topology",
        "scheme",
        "vary",
        " = ",
        "[",
        "]",
        "[[",
        "]]",
        ".",
        ",",
        "\"",
        "'",
        "\n",
        " ",
        "0",
        "1",
        "-1",
        "0.5",
        "1e9",
        "nan",
        "inf",
        "true",
        "\"star\"",
        "\"custom\"",
        "\"pias\"",
        "\"dctcp\"",
        "\"10KB\"",
        "\"fixed 1pkt\"",
        "\"1us\"",
        "..",
        ":",
        "#",
        "\u{e9}",
        "\r\n",
        "\t",
        "\0",
    ]);
    prop::collection::vec(prop_oneof![4 => known.prop_map(String::from), 1 => ".{0,6}"], 0..40)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn an_experiment_of_any_text_is_read_or_refused(text in pieces()) {
        let _ = read(&text, &arguments(&[], &[]), &[]).map_err(|mistakes| mistakes.to_string());
    }

    #[test]
    fn a_good_experiment_with_a_piece_replaced_is_read_or_refused(
        from in 0usize..GOOD.len(), length in 0usize..20, piece in pieces(),
    ) {
        let end = (from + length).min(GOOD.len());
        let text = [&GOOD[..from], &piece, &GOOD[end..]].concat();
        let files = [("in.cdf", "0 0\n1000 1\n")];
        let read = read(&text, &arguments(&[], &[]), &files);
        let _ = read.map_err(|mistakes| mistakes.to_string());
    }

    #[test]
    fn any_argument_is_taken_or_refused(set in pieces(), vary in pieces()) {
        let files = [("in.cdf", "0 0\n1000 1\n")];
        let arguments = arguments(&[&set], &[&vary]);
        let _ = read(GOOD, &arguments, &files).map_err(|mistakes| mistakes.to_string());
    }

    #[test]
    fn any_cdf_is_read_or_refused(cdf in "([0-9.e-]{1,6}[ \t]+[0-9.e-]{1,6}\n){0,5}.{0,10}") {
        let _ = read(GOOD, &arguments(&[], &[]), &[("in.cdf", &cdf)]);
    }

    #[test]
    fn any_trace_is_read_or_refused(rows in "([0-9.e-]{1,4},[0-9]{1,2},[0-9]{1,2},[0-9]{1,5}\n){0,5}.{0,10}") {
        let text = GOOD.replace("sizes = \"in.cdf\"\nload = 0.5", "trace = \"in.csv\"")
            .replace("[vary]\nworkload.load = \"0.5,0.6\"\n", "");
        let trace = format!("start_s,src,dst,size_bytes\n{rows}");
        let _ = read(&text, &arguments(&[], &[]), &[("in.csv", &trace)]);
    }
}
