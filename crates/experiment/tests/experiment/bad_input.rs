//! Checks what bad input gets: file, line, key, what was found and what is allowed.

use flowsched_experiment::{Arguments, Mistakes};
use flowsched_schemes::PRESETS;
use flowsched_schemes::combination::Combination;
use flowsched_topology::TOPOLOGIES;
use flowsched_workload::WHOLE_KEYS;
use insta::assert_snapshot;

use crate::common::{arguments, read};

const GOOD: &str = r#"name = "a test"
seeds = 2

[topology]
kind = "star"
hosts = 4

[workload]
sizes = "web-search-packets"
load = 0.5
flows = 10

[[scheme]]
preset = "dctcp"

[[scheme]]
preset = "pias"
queues = 4
thresholds = "10KB 100KB 1MB"
"#;

/// The mistakes of [`GOOD`] with `from` replaced by `to`.
fn changed(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    mistakes(&GOOD.replacen(from, to, 1), &[])
}

fn mistakes(text: &str, files: &[(&str, &str)]) -> String {
    refused(text, &arguments(&[], &[]), files)
}

/// The mistakes of [`GOOD`] with this command line.
fn with(set: &[&str], vary: &[&str]) -> String {
    refused(GOOD, &arguments(set, vary), &[])
}

fn refused(text: &str, arguments: &Arguments, files: &[(&str, &str)]) -> String {
    let read = read(text, arguments, files);
    read.map_or_else(|mistakes| without_lists(&mistakes), |_| String::from("no mistake"))
}

/// The texts of the mistakes, with a word instead of each list that grows with the project.
fn without_lists(mistakes: &Mistakes) -> String {
    let presets: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    let kinds: Vec<&str> = TOPOLOGIES.iter().map(|kind| kind.name).collect();
    let pias = Combination::new("pias", [None; 4]).unwrap();
    let keys: Vec<&str> = pias.parameters().map(|parameter| parameter.name).collect();
    let workload = flowsched_workload::PARAMETERS.iter();
    let workload: Vec<&str> = workload.map(|parameter| parameter.name).collect();
    let of_part: Vec<&str> =
        workload.iter().copied().filter(|key| !WHOLE_KEYS.contains(key)).collect();
    mistakes
        .to_string()
        .replace(&presets.join(", "), "PRESETS")
        .replace(&kinds.join(", "), "TOPOLOGIES")
        .replace(&keys.join(", "), "KEYS OF PIAS")
        .replace(&workload.join(", "), "KEYS OF WORKLOAD")
        .replace(&of_part.join(", "), "KEYS OF PARTS")
}

#[test]
fn what_is_good_is_not_refused() {
    assert_eq!(mistakes(GOOD, &[]), "no mistake");
}

#[test]
fn unknown_keys_get_the_nearest_name() {
    assert_snapshot!(changed("hosts = 4", "host = 4"), @r#"a.toml:6:1: topology.host: found the key "host", expected kind, hosts, host_link, link_delay, host_delay, routing, loss, loss_on; did you mean "hosts"?"#);
    assert_snapshot!(changed("flows = 10", "flow = 10"), @"a.toml:11:1: workload.flow: found a number, expected [[workload.flow]] tables; write [[workload.flow]] with two brackets");
    assert_snapshot!(changed("queues = 4", "quues = 4"), @r#"a.toml:18:1: scheme.pias.quues: found the key "quues", expected preset, name, tagger, transport, port, controller, compat, discipline, KEYS OF PIAS; did you mean "queues"?"#);
    assert_snapshot!(changed("seeds = 2", "load = 0.5"), @r#"a.toml:2:1: load: found the key "load", expected name, seeds, seed, engine, orders, links, sample_interval, until, topology, workload, probe, scheme, vary, quick; did you mean workload.load?"#);
    assert_snapshot!(changed("[workload]", "[worklod]"), @r#"
        a.toml:1:1: workload.load: `load` is missing. Give a load over 0 and up to 1, the time of the first start (`at`), or a `trace`.
        a.toml:1:1: workload.sizes: `sizes` is missing. Give a built-in name, a form such as "fixed 20KB", or a CDF file, or replace drawn flows by a `trace`. `flowsched list workloads` shows what there is
        a.toml:8:2: worklod: found the key "worklod", expected name, seeds, seed, engine, orders, links, sample_interval, until, topology, workload, probe, scheme, vary, quick; did you mean "workload"?
        "#);
}

#[test]
fn unknown_names_get_the_nearest_one() {
    assert_snapshot!(changed("\"dctcp\"", "\"dctpc\""), @r#"a.toml:14:10: scheme.dctpc.preset: found "dctpc", expected PRESETS; did you mean "dctcp"?"#);
    assert_snapshot!(changed("\"star\"", "\"sart\""), @r#"a.toml:5:8: topology.kind: found "sart", expected TOPOLOGIES; did you mean "star"?"#);
    assert_snapshot!(changed("\"web-search-packets\"", "\"web-search-packet\""), @r#"a.toml:9:9: workload.sizes: found "web-search-packet", expected web-search-packets, web-search-bytes, data-mining-packets, data-mining-bytes, university-packets, fixed SIZE, uniform FROM TO, exponential MEAN, pareto SHAPE FROM TO, lognormal MEAN SIGMA, or a CDF file, and there is none here; did you mean "web-search-packets"?"#);
    assert_snapshot!(changed("preset = \"dctcp\"", "preset = \"dctcp\"\nport = \"fiffo\""), @r#"a.toml:15:8: scheme.dctcp.port: found "fiffo", expected fifo, strict-priority, weighted-round-robin, slytherin, pfabric; did you mean "fifo"?"#);
}

#[test]
fn loads_are_over_0_and_up_to_1() {
    for load in ["0", "1.01", "-0.5", "nan", "1e99"] {
        let refused = changed("load = 0.5", &format!("load = {load}"));
        assert!(refused.starts_with("a.toml:10:8: workload.load: found "), "{load}: {refused}");
    }
    assert_snapshot!(changed("load = 0.5", "load = 0"), @"a.toml:10:8: workload.load: found 0, expected a number over 0 and up to 1");
    assert_snapshot!(changed("load = 0.5", "load = 1.5"), @r#"a.toml:10:8: workload.load: found "1.5", expected a number from 0 to 1"#);
}

#[test]
fn thresholds_rise_and_are_one_fewer_than_queues() {
    assert_snapshot!(changed("100KB 1MB", "1MB 100KB"), @"a.toml:19:14: scheme.pias.thresholds: found 100KB after 1MB, expected thresholds that do not fall");
    assert_snapshot!(changed("queues = 4", "queues = 5"), @"a.toml:19:14: scheme.pias.thresholds: found 3 thresholds, expected 4 of them, one fewer than the 5 queues (at most 64)");
    assert_snapshot!(changed("100KB 1MB", "100KB 1MW"), @r#"a.toml:19:14: scheme.pias.thresholds: found "1MW", expected a size such as "360KB", "64KiB" or "65pkt" (B, KB, MB, GB, KiB, MiB, GiB, pkt); the unit is not one of these"#);
    assert_snapshot!(changed("10KB 100KB 1MB", "best"), @r#"a.toml:19:14: scheme.pias.thresholds: found "best", expected a size such as "360KB", "64KiB" or "65pkt" (B, KB, MB, GB, KiB, MiB, GiB, pkt); the unit is not one of these"#);
}

#[test]
fn published_thresholds_need_eight_queues_and_their_workload() {
    let published = "queues = 8\nthresholds = \"published\"";
    let good = GOOD.replace("queues = 4\nthresholds = \"10KB 100KB 1MB\"", published);
    let without = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        mistakes(&good.replacen(from, to, 1), &[])
    };
    assert_eq!(mistakes(&good, &[]), "no mistake");
    assert_snapshot!(without("queues = 8", "queues = 4"), @r#"a.toml:19:14: scheme.pias.thresholds: `thresholds = "published"` is for 8 queues, and there are 4. Set `queues = 8`, list the thresholds, or use "optimal"."#);
    assert_snapshot!(without("web-search-packets", "uniform 8KB 32KB"), @r#"a.toml:19:14: scheme.pias.thresholds: `thresholds = "published"` exists for `sizes` that begin with "web-search" or "data-mining", and these are "uniform 8KB 32KB". Change `sizes`, list the thresholds, or use "optimal"."#);
    let parts =
        "load = 0.5\n[[workload.part]]\nname = \"p\"\nflows = 5\nsizes = \"web-search-packets\"";
    let from = "sizes = \"web-search-packets\"\nload = 0.5\nflows = 10";
    assert_snapshot!(without(from, parts), @r#"a.toml:21:14: scheme.pias.thresholds: `thresholds = "published"` needs one `sizes` for all flows, "web-search-..." or "data-mining-...", and these flows come from parts or a trace. Instead, list the thresholds, or use "optimal"."#);
    let known = without("preset = \"dctcp\"", "preset = \"tcp2q\"\nthresholds = \"published\"");
    assert_snapshot!(known, @r#"a.toml:15:14: scheme.tcp2q.thresholds: found "published", expected a size such as "360KB", "64KiB" or "65pkt" (B, KB, MB, GB, KiB, MiB, GiB, pkt); the unit is not one of these"#);
}

#[test]
fn units_that_do_not_fit_are_refused() {
    assert_snapshot!(changed("hosts = 4", "hosts = 4\nhost_link = \"10us\""), @r#"a.toml:7:13: topology.host_link: found "10us", expected a rate such as "10Gbps" (bps, Kbps, Mbps, Gbps, Tbps); the unit is not one of these"#);
    assert_snapshot!(changed("hosts = 4", "hosts = 4\nlink_delay = 3"), @r#"a.toml:7:14: topology.link_delay: found "3", expected a time such as "85.2us" (ps, ns, us, ms, s); the unit is missing"#);
    assert_snapshot!(changed("hosts = 4", "hosts = \"4us\""), @r#"a.toml:6:9: topology.hosts: found "4us", expected a whole number from 1 to 1048576"#);
    assert_snapshot!(changed("seeds = 2", "seeds = 0"), @r#"a.toml:2:9: seeds: found "0", expected a whole number from 1 to 1000000"#);
    assert_snapshot!(changed("seeds = 2", "until = \"0s\""), @r#"a.toml:2:9: until: found "0ps", expected a time over 0"#);
    assert_snapshot!(changed("seeds = 2", "seeds = [1, 2]"), @"a.toml:2:9: seeds: found an array, expected a text in quotation marks, a number, true or false");
}

#[test]
fn what_must_be_there_is_asked_for() {
    assert_snapshot!(mistakes("", &[]), @r#"
        a.toml:1:1: topology.kind: found nothing, expected TOPOLOGIES
        a.toml:1:1: workload.load: `load` is missing. Give a load over 0 and up to 1, the time of the first start (`at`), or a `trace`.
        a.toml:1:1: workload.sizes: `sizes` is missing. Give a built-in name, a form such as "fixed 20KB", or a CDF file, or replace drawn flows by a `trace`. `flowsched list workloads` shows what there is
        a.toml:1:1: scheme: The file has no [[scheme]] table. Add at least one. `flowsched list schemes` shows the presets to start from
        "#);
    assert_snapshot!(changed("preset = \"pias\"", "name = \"pias\""), @"a.toml:16:1: scheme.pias.preset: found nothing, expected PRESETS");
}

/// A word in the other style, with `_` for `-` or the other way around, gets a hint with the right
/// spelling.
#[test]
fn the_other_style_of_a_word_gets_the_right_spelling() {
    let hint = |text: &str| changed("preset = \"pias\"", text);
    assert!(hint("preset = \"epn_agnostic\"").ends_with("did you mean \"epn-agnostic\"?"));
    assert!(
        hint("preset = \"pias\"\nport = \"strict_priority\"").ends_with("\"strict-priority\"?")
    );
    assert!(hint("preset = \"pias\"\nmessage-start = \"idle\"").ends_with("\"message_start\"?"));
    assert!(changed("flows = 10", "flows = 10\nsenders = \"in_turn\"").ends_with("\"in-turn\"?"));
}

#[test]
fn names_are_unique() {
    assert_snapshot!(changed("preset = \"dctcp\"", "preset = \"pias\""), @r#"a.toml:17:10: scheme.1.name: found "pias", the name of another scheme, expected a name that no other scheme has; add a key such as name = "pias-2""#);
    assert_snapshot!(changed("preset = \"dctcp\"", "preset = \"dctcp\"\nname = \"\""), @r#"a.toml:15:8: scheme.0.name: found "", expected a name"#);
}

#[test]
fn keys_of_another_pattern_or_kind_are_refused() {
    assert_snapshot!(changed("flows = 10", "degree = 10"), @r#"a.toml:11:1: workload.degree: `degree` works with the pattern incast, and the pattern here is all-to-all. Remove `degree` or change `pattern`."#);
    assert_snapshot!(changed("hosts = 4", "leaves = 4"), @r#"a.toml:6:1: topology.leaves: found the key "leaves", expected kind, hosts, host_link, link_delay, host_delay, routing, loss, loss_on"#);
    assert_snapshot!(changed("flows = 10", "pattern = \"incast\"\ndegree = 4"), @"a.toml:12:10: workload.degree: found 4, expected a number of senders from 1 to 3, all hosts but one");
    assert_snapshot!(changed("hosts = 4", "hosts = 1"), @"a.toml:8:2: workload.pattern: The topology has one host, and a flow needs two. Add hosts.");
}

#[test]
fn a_cdf_that_falls_or_does_not_reach_1_is_refused_with_its_line() {
    let text = GOOD.replace("web-search-packets", "my.cdf");
    let with_cdf = |cdf: &str| mistakes(&text, &[("my.cdf", cdf)]);
    assert_eq!(with_cdf("0 0\n1000 0.5\n1000 0.6\n9000 1\n"), "no mistake");
    assert_snapshot!(with_cdf("0 0\n1000 0.5\n2000 0.4\n9000 1\n"), @"my.cdf:3:1: found probability 0.4 after 0.5, expected probabilities that do not fall");
    assert_snapshot!(with_cdf("0 0\n1000 0.5\n900 0.6\n9000 1\n"), @"my.cdf:3:1: found size 900 after 1000, expected sizes that do not fall");
    assert_snapshot!(with_cdf("0 0\n1000 0.5\n"), @"my.cdf:2:1: found a last probability of 0.5, expected a last line with probability 1");
    assert_snapshot!(with_cdf("0 0.5\n1000 1\n"), @r#"my.cdf:1:1: found probability 0.5 at size 0, expected no mass at sizes under 1 B, but "0 0" to start with"#);
    assert_snapshot!(with_cdf("size cumulative\n1000 1\n"), @r#"my.cdf:1:1: found "size cumulative", expected a size in bytes and a probability, "10000 0.15""#);
    assert_snapshot!(with_cdf(""), @"my.cdf:1:1: found no line with a size and a probability, expected a last line with probability 1");
    assert_snapshot!(mistakes(&text, &[]), @r#"a.toml:9:9: workload.sizes: found "my.cdf", expected web-search-packets, web-search-bytes, data-mining-packets, data-mining-bytes, university-packets, fixed SIZE, uniform FROM TO, exponential MEAN, pareto SHAPE FROM TO, lognormal MEAN SIGMA, or a CDF file, and there is none here"#);
}

#[test]
fn a_trace_that_cannot_be_is_refused_with_its_line() {
    let from = "sizes = \"web-search-packets\"\nload = 0.5\nflows = 10";
    let text = GOOD.replace(from, "trace = \"flows.csv\"");
    let with_rows = |rows: &str| {
        let trace = format!("start_s,src,dst,size_bytes\n0,0,1,1000\n{rows}\n");
        mistakes(&text, &[("flows.csv", &trace)])
    };
    assert_eq!(with_rows("0.5,1,3,9000"), "no mistake");
    assert_snapshot!(with_rows("0.5,1,4,9000"), @r#"flows.csv:3:1: dst: found "4", expected a host of the topology, 0 to 3"#);
    assert_snapshot!(with_rows("0.5,1,1,9000"), @"flows.csv:3:1: dst: found host 1 again, expected another host than src");
    assert_snapshot!(with_rows("0.5,1,3,0"), @r#"flows.csv:3:1: size_bytes: found "0", expected a whole number of bytes from 1 to 4398046511104"#);
    assert_snapshot!(with_rows("soon,1,3,10"), @r#"flows.csv:3:1: start_s: found "soon", expected seconds from 0 to 5000000, such as 0.0125"#);
    assert_snapshot!(with_rows("0.5,1,3"), @"flows.csv:3:1: size_bytes: found nothing, expected a value");
    let due = "start_s,src,dst,size_bytes,deadline_s\n0.5,1,3,10,0.25\n";
    assert_snapshot!(mistakes(&text, &[("flows.csv", due)]), @r#"flows.csv:2:1: deadline_s: found "0.25", expected an instant after the flow's start at 0.5"#);
    assert_snapshot!(mistakes(&text, &[("flows.csv", "")]), @r#"flows.csv:1:1: start_s: found nothing, expected the header "start_s,src,dst,size_bytes", perhaps with ",deadline_s""#);
    assert_snapshot!(mistakes(&text, &[]), @r#"a.toml:9:9: workload.trace: found "flows.csv", which cannot be read (entity not found), expected a CSV file; paths are relative to the experiment file"#);
}

#[test]
fn arguments_are_named() {
    assert_snapshot!(with(&["workload.load=2"], &[]), @r#"--set workload.load=2: workload.load: found "2", expected a number from 0 to 1"#);
    assert_snapshot!(with(&["load=0.6"], &[]), @r#"--set load=0.6: load: found the key "load", expected name, seeds, seed, engine, orders, links, sample_interval, until, topology, workload, probe, scheme, vary, quick; did you mean workload.load?"#);
    assert_snapshot!(with(&["workload=0.6"], &[]), @"--set workload=0.6: workload: found a table, expected a key of it, such as workload.load");
    assert_snapshot!(with(&[], &["workload.load=0.8..1.2:0.2"]), @r#"--vary workload.load=0.8..1.2:0.2: workload.load: found "1.2", expected a number from 0 to 1"#);
    assert_snapshot!(with(&["workload.load=0.3"], &["workload.load=0.5,0.6"]), @"--set workload.load=0.3: workload.load: found --vary workload.load=0.5,0.6 as well, expected one of the two");
}

#[test]
fn links_must_be_links_of_the_network() {
    assert_snapshot!(with(&["links=a: b"], &[]), @r#"--set links=a: b: links: found "a: b", expected links such as "bottleneck: switch 0 to host 51 from 10ms to 19ms; uplink: leaf 0 to spine 0""#);
    assert_snapshot!(with(&["links=a: switch 0 to host 99"], &[]), @r#"--set links=a: switch 0 to host 99: links: found no link from "switch 0" to "host 99", expected ends as ports.parquet names them, such as "leaf 0" and "host 3""#);
    assert_snapshot!(with(&["links=a: switch 0 to host 0; a: host 0 to switch 0"], &[]), @r#"--set links=a: switch 0 to host 0; a: host 0 to switch 0: links: found two links called "a", expected a name for each"#);
    let two = "links=a: switch 0 to host 0; b: host 0 to switch 0 from 1ms to 2ms";
    assert_eq!(with(&[two], &[]), "no mistake");
}

/// A number is used only if the name does not identify the table.
#[test]
fn schemes_and_parts_go_by_name() {
    let queues = |text: &str| text.replace("queues = 4", "queues = [4]");
    let named = GOOD.replace("preset = \"pias\"", "preset = \"pias\"\nname = \"four\"");
    assert!(mistakes(&queues(GOOD), &[]).contains(": scheme.pias.queues: found an array"));
    assert!(mistakes(&queues(&named), &[]).contains(": scheme.four.queues: found an array"));
    let renamed = with(&["scheme.pias.name=other", "scheme.pias.queues=400"], &[]);
    assert!(renamed.contains("scheme.other.queues: found \"400\""), "{renamed}");
    let varied = with(&["scheme.pias.queues=400"], &["scheme.1.preset=pias,tcp2q"]);
    assert!(varied.contains("scheme.pias.queues: found \"400\""), "{varied}");
    assert!(varied.contains("scheme.tcp2q.queues: found \"400\""), "{varied}");
}

#[test]
fn all_mistakes_are_reported_together_in_the_order_of_lines() {
    let text = GOOD
        .replace("seeds = 2", "seeds = \"two\"")
        .replace("hosts = 4", "hosts = 0")
        .replace("load = 0.5", "load = 5")
        .replace("\"dctcp\"", "\"dctc\"")
        .replace("queues = 4", "queues = 400");
    assert_snapshot!(mistakes(&text, &[]), @r#"
        a.toml:2:9: seeds: found "two", expected a whole number from 1 to 1000000
        a.toml:6:9: topology.hosts: found "0", expected a whole number from 1 to 1048576
        a.toml:10:8: workload.load: found "5", expected a number from 0 to 1
        a.toml:14:10: scheme.dctc.preset: found "dctc", expected PRESETS; did you mean "dctcp"?
        a.toml:18:10: scheme.pias.queues: found "400", expected a whole number from 1 to 64
        "#);
}

/// The mistakes of [`GOOD`] with `parts` before its scheme.
fn with_parts(parts: &str) -> String {
    changed("[[scheme]]", &format!("{parts}\n[[scheme]]"))
}

#[test]
fn application_rates_need_senders_that_wait() {
    let part = "[[workload.part]]\nname = \"a\"\napplication_rate = \"400Mbps\"";
    let with_preset = |tables: &str, preset: &str| {
        let to = format!("{tables}\n[[scheme]]\npreset = \"{preset}\"");
        changed("[[scheme]]\npreset = \"dctcp\"", &to)
    };
    let refusal = "`application_rate` needs senders that are TCP, in `engine = \"packet\"`. Those of the \
                   scheme";
    assert_eq!(with_preset(part, "dctcp"), "no mistake");
    assert_eq!(with_preset(part, "epn"), "no mistake");
    assert!(with_preset(part, "pdq").contains(&format!("{refusal} \"pdq\"")));
    let flow = "[[workload.flow]]\nsrc = 0\ndst = 1\nsize = \"1MB\"\napplication_rate = \"1Mbps\"";
    assert_eq!(with_preset(flow, "dctcp"), "no mistake");
    assert!(with_preset(flow, "homa").contains(&format!("{refusal} \"homa\"")));
    let whole = |rate: &str| format!("load = 0.5\napplication_rate = \"{rate}\"");
    let fluid = GOOD.replace("seeds = 2", "seeds = 2\nengine = \"fluid\"");
    let fluid = fluid.replace("load = 0.5", &whole("1Mbps"));
    assert!(mistakes(&fluid, &[]).contains(&format!("{refusal} \"dctcp\"")));
    assert_eq!(changed("load = 0.5", &whole("1Mbps")), "no mistake");
    assert_snapshot!(changed("load = 0.5", &whole("0Gbps")), @"a.toml:11:20: workload.application_rate: `application_rate` is 0, so that the flows never end. Raise it, or remove it.");
}

#[test]
fn parts_are_complete_and_go_together() {
    let part = "[[workload.part]]\nname = \"a\"";
    assert_eq!(with_parts(part), "no mistake");
    assert_eq!(with_parts(&format!("{part}\nat = \"1ms\"\nflows = 3")), "no mistake");
    assert_snapshot!(with_parts("[[workload.part]]\nshare = 1"), @"a.toml:13:1: workload.part.0.name: found nothing, expected a name");
    assert_snapshot!(with_parts(&format!("{part}\n{part}\nshare = 0")), @r#"
        a.toml:16:8: workload.part.1.name: found "a", the name of another part, expected a name that no other part has
        a.toml:17:9: workload.part.1.share: found 0, expected a number over 0 and up to 1
        "#);
    assert_snapshot!(with_parts(&format!("{part}\n[[workload.part]]\nname = \"b\"\nload = 0.6")), @"a.toml:10:8: workload.load: All parts together load a host's link by 1.100, and at most 1 is possible. Lower a `load`.");
    assert_snapshot!(with_parts(&format!("{part}\nat = \"1ms\"")), @"a.toml:13:1: workload.part.a.flows: found nothing, expected the number of flows, which a part with fixed start times must give");
    assert_snapshot!(with_parts(&format!("{part}\nat = \"1ms\"\nload = 0.5\nflows = 3")), @"a.toml:16:1: workload.part.a.load: `load` conflicts with `at`: start times are either random or fixed. Remove one of them.");
    assert_snapshot!(with_parts(&format!("{part}\nevery = \"1ms\"")), @r#"
        a.toml:13:1: workload.part.a.load: `load` is missing. Give a load over 0 and up to 1, the time of the first start (`at`), or a `trace`.
        a.toml:15:1: workload.part.a.every: `every` needs `at`, the time of the first start. Add `at` or remove `every`.
        "#);
    assert_snapshot!(with_parts(&format!("{part}\nat = \"1ms\"\nevery = \"100000s\"\nflows = 900")), @"a.toml:16:9: workload.part.a.every: found 100000s, with which the last of 900 starts is at 18446744.073709551615s, expected all starts before 5000000s");
    assert_snapshot!(with_parts(&format!("{part}\npattern = \"incast\"\ndegree = 4")), @"a.toml:16:10: workload.part.a.degree: found 4, expected a number of senders from 1 to 3, all hosts but one");
    assert_snapshot!(with_parts(&format!("{part}\npattern = \"stride\"\nstride = 8")), @"a.toml:16:10: workload.part.a.stride: With a stride of 8, each of 4 hosts sends to itself. Use a number that is not a multiple of 4, such as 1.");
    assert_snapshot!(with_parts(&format!("{part}\npattern = \"stride\"\nstride = 0")), @r#"a.toml:16:10: workload.part.a.stride: found "0", expected a whole number from 1 to 1048576"#);
    assert_snapshot!(with_parts(&format!("{part}\ntrace = \"a.csv\"")), @r#"a.toml:15:1: workload.part.a.trace: found the key "trace", expected name, KEYS OF PARTS, share; did you mean "stride"?"#);
    assert_snapshot!(changed("load = 0.5", "load = 0.5\npart = 3"), @"a.toml:11:1: workload.part: found a number, expected [[workload.part]] tables; write [[workload.part]] with two brackets");
    assert_snapshot!(changed("load = 0.5", "load = 0.5\npart = [3]"), @"a.toml:11:9: workload.part.0: found a number, expected a [[workload.part]] table");
    assert_snapshot!(changed("load = 0.5", "load = 0.5\ntrace = \"a.csv\"\npart = [{name = \"a\"}]"), @"a.toml:11:1: workload.trace: `trace` conflicts with parts and listed flows: the trace has all flows. Remove one or the other.");
    assert_snapshot!(changed("load = 0.5", "load = 0.5\nshare = 0.5"), @r#"a.toml:11:1: workload.share: found the key "share", expected KEYS OF WORKLOAD"#);
    assert_snapshot!(with(&["workload.part.a.share=1"], &[]), @"--set workload.part.a.share=1: workload.part.a.share: found a key of a part, expected a [[workload.part]] table in the file");
}

/// Without this check, shares of 0.2 and 0.3 ran at half of the load in the file.
#[test]
fn shares_of_the_load_add_up_to_1() {
    let part = |name: &str, more: &str| format!("[[workload.part]]\nname = \"{name}\"\n{more}\n");
    let parts = |a: &str, b: &str| with_parts(&[part("a", a), part("b", b)].concat());
    assert_snapshot!(parts("share = 0.2", "share = 0.3"), @"a.toml:15:9: workload.part.a.share: the shares of the load add up to 0.5, not 1: 0.2 of workload.part.a, 0.3 of workload.part.b. Give every part a share, or a load of its own.");
    assert_snapshot!(parts("", ""), @"a.toml:13:1: workload.part.a.share: the shares of the load add up to 2, not 1: 1 of workload.part.a, 1 of workload.part.b. Give every part a share, or a load of its own.");
    assert!(parts("share = 0.3", "").contains("add up to 1.3"));
    assert_eq!(parts("share = 0.2", "share = 0.8"), "no mistake");
    assert_eq!(parts("", "load = 0.1"), "no mistake");
    assert_eq!(parts("load = 0.2\nshare = 0.5", "load = 0.1"), "no mistake");
    assert_eq!(parts("", "at = \"1ms\"\nflows = 3"), "no mistake");
    assert_eq!(
        with_parts(&["a", "b", "c"].map(|name| part(name, "share = 0.3333333")).concat()),
        "no mistake"
    );
}

#[test]
fn listed_flows_are_possible() {
    let flow = |more: &str| {
        let good = "[[workload.flow]]\nsrc = 0\ndst = 3\nsize = \"1MB\"\nstart = \"1ms\"";
        with_parts(&format!("{good}\n{more}"))
    };
    assert_eq!(flow(""), "no mistake");
    assert_eq!(changed("load = 0.5", "flow = [{src = 0, dst = 1, size = \"1pkt\"}]"), "no mistake");
    assert_snapshot!(flow("deadline = \"1ms\""), @"a.toml:18:12: workload.flow.0.deadline: found 1ms, expected an instant after its start at 1ms and up to 5000000s");
    assert_snapshot!(flow("class = \"a\""), @r#"a.toml:18:1: workload.flow.0.class: found the key "class", expected start, src, dst, size, deadline, application_rate, copies, part"#);
    assert_snapshot!(with_parts("[[workload.flow]]\nsrc = 0\ndst = 4\nsize = \"1MB\""), @"a.toml:15:7: workload.flow.0.dst: found 4, expected a host of the topology, 0 to 3");
    assert_snapshot!(with_parts("[[workload.flow]]\nsrc = 0\ndst = 0\nsize = \"1MB\""), @"a.toml:15:7: workload.flow.0.dst: found host 0 again, expected another host than src");
    assert_snapshot!(with_parts("[[workload.flow]]\nsrc = 0\ndst = 1\nsize = \"0B\""), @"a.toml:16:8: workload.flow.0.size: found 0B, expected from 1B to 4398.046511104GB");
    assert_snapshot!(with_parts("[[workload.flow]]\ndst = 1\nsize = \"1B\""), @"a.toml:13:1: workload.flow.0.src: found nothing, expected a host of the topology, 0 to 3");
}

#[test]
fn networks_that_cannot_be_are_refused() {
    let topology = |text: &str| changed("kind = \"star\"\nhosts = 4", text);
    assert_eq!(topology("kind = \"bcube\"\nloss = 0.01\nloss_on = \"hosts\""), "no mistake");
    assert_snapshot!(topology("kind = \"bcube\"\nn = 3\nk = 1\nhosts = 10"), @"a.toml:8:9: topology.hosts: A BCube with n = 3 and k = 1 has n^(k+1) = 9 hosts, not 10. Remove `hosts` or change `n` or `k`.");
    assert_snapshot!(topology("kind = \"jellyfish\"\nswitches = 7\ndegree = 3"), @"a.toml:7:10: topology.degree: found 3, for 7 switches: an odd number of ends of links, expected an even degree, or an even number of switches");
    assert_snapshot!(topology("kind = \"jellyfish\"\nswitches = 7\ndegree = 9"), @"a.toml:7:10: topology.degree: found 9, for 7 switches, expected at most 6, all others");
    assert_snapshot!(topology("kind = \"custom\"\nhosts = \"a b\""), @"a.toml:4:2: topology.links: found nothing, expected text");
    assert_snapshot!(topology("kind = \"custom\"\nhosts = \"a b\"\nlinks = \"a S; b T\""), @"a.toml:5:8: topology.kind: no path leads from host 1 to host 0. Add links that connect them.");
    assert_snapshot!(topology("kind = \"custom\"\nhosts = \"a b\"\nlinks = \"\"\"\na S\nb S 3Gbp\n\"\"\""), @r#"a.toml:7:9: topology.links: found "b S 3Gbp" as link number 2, expected a rate from 1Kbps to 8Tbps, such as 1Gbps, after its ends"#);
    assert_snapshot!(topology("kind = \"star\"\nloss = 1"), @"a.toml:6:8: topology.loss: found 1, expected less than 1, so that something arrives");
    assert_snapshot!(topology("kind = \"star\"\nloss_on = \"host 99 - switch 0\""), @r#"a.toml:6:11: topology.loss_on: found "host 99", expected a node of the topology, such as "host 0" or "switch 0""#);
}

/// A schedule is run as rates of flows, whatever the engine.
#[test]
fn what_a_schedule_cannot_have_is_refused_with_the_reason() {
    let optimal = |keys: &[&str]| with(&[&["scheme.0.preset=optimal"], keys].concat(), &[]);
    assert_eq!(optimal(&["topology.routing=ecmp"]), "no mistake");
    assert_eq!(optimal(&["topology.routing=ecmp", "engine=fluid"]), "no mistake");
    for (key, reason) in [
        (
            "topology.routing=spray",
            "does not work with the scheme \"optimal\". Use `routing = \"ecmp\"`",
        ),
        (
            "scheme.0.port=pfabric",
            "`port = \"pfabric\"` acts on packets, and this transport sends none. Use `port = \"fifo\"`.",
        ),
        ("scheme.0.tagger=remaining", "`tagger = \"remaining\"` acts on packets"),
        ("scheme.0.discipline=sjf", "`discipline` needs `engine = \"fluid\"`."),
    ] {
        assert!(optimal(&[key]).contains(reason), "{key}: {}", optimal(&[key]));
    }
}

#[test]
fn what_a_fluid_cannot_carry_is_refused_with_the_reason() {
    let fluid = |key: &str| with(&["engine=fluid", key], &[]);
    assert_eq!(fluid("scheme.0.preset=tcp"), "no mistake");
    assert_eq!(fluid("scheme.0.discipline=pdq"), "no mistake");
    for (key, reason) in [
        ("scheme.0.preset=slytherin", "it orders packets, and fluid flows have none"),
        ("scheme.0.preset=l2dct", "rates follow from windows"),
        ("scheme.0.port=weighted-round-robin", "weights count packets"),
        ("scheme.0.compat=ns2", "it sprays packets over all paths"),
        ("topology.routing=spray", "does not work with `engine = \"fluid\"`"),
        ("scheme.0.discipline=fair", "expected max-min, rcp,"),
    ] {
        assert!(fluid(key).contains(reason), "{key}: {}", fluid(key));
    }
    let packets = with(&["scheme.0.discipline=pdq"], &[]);
    assert!(packets.contains("`discipline` needs `engine = \"fluid\"`."), "{packets}");
    assert!(with(&["engine=liquid"], &[]).contains("expected packet, fluid"));
}
