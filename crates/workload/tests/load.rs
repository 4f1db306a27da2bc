//! Whether workloads are what is asked for: load, pattern, order, seeds.

use flowsched_topology::{HostId, Network, build, kind};
use flowsched_units::{Bytes, Settings, Time, Value};
use flowsched_workload::sizes::{SizeDistribution, by_name};
use flowsched_workload::{
    Flow, FlowParts, Listed, PARAMETERS, Part, Workload, compose, generate, parse_trace, replay,
    write_trace,
};
use proptest::prelude::*;

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn network(name: &str, counts: &[(&str, u64)]) -> Network {
    let mut settings = Settings::defaults(kind(name).unwrap().parameters);
    for &(key, count) in counts {
        settings.set(key, Value::Count(count));
    }
    build(name, &settings).unwrap()
}

fn fabric() -> Network {
    network("leaf-spine", &[])
}

fn sizes() -> SizeDistribution {
    by_name("uniform 1KB 200KB").unwrap()
}

fn settings(values: &[(&str, Value)]) -> Settings {
    let mut settings = Settings::defaults(PARAMETERS);
    settings.set("load", Value::Number(0.6));
    for (key, value) in values {
        settings.set(*key, value.clone());
    }
    settings
}

fn draw(network: &Network, values: &[(&str, Value)]) -> Workload {
    generate(&settings(values), network, &sizes(), 1).unwrap()
}

/// The load on the wire of the flows that `counts`, worked out from the flows alone.
fn load_of(workload: &Workload, gbps: f64, counts: impl Fn(HostId, HostId) -> bool) -> f64 {
    let bits: u64 = workload
        .flows
        .iter()
        .filter(|flow| counts(flow.src, flow.dst))
        .map(|flow| 8 * (flow.size.get() + 40 * flow.size.get().div_ceil(1460)))
        .sum();
    bits as f64 / workload.flows.last().unwrap().start.as_secs_f64() / (gbps * 1e9)
}

fn assert_close(found: f64, expected: f64, error: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < error, "{what}: {found} for {expected}");
}

const MANY: (&str, Value) = ("flows", Value::Count(100_000));

#[test]
fn every_pattern_meets_the_load_of_the_host_links() {
    let network = fabric();
    for load in [0.1, 0.8] {
        let with = |pattern: &str, more: &[(&str, Value)]| {
            let common = [MANY, ("load", Value::Number(load)), ("pattern", text(pattern))];
            let workload = draw(&network, &[&common[..], more].concat());
            let measured = workload.load_measured.unwrap();
            assert_eq!(workload.load_asked.unwrap().host_links, load, "{pattern}");
            assert_close(measured.host_links, load, 0.02, pattern);
            workload
        };
        let everyone = 144.0 * 10.0;
        assert_close(load_of(&with("all-to-all", &[]), everyone, |_, _| true), load, 0.02, "all");
        assert_close(load_of(&with("permutation", &[]), everyone, |_, _| true), load, 0.02, "perm");
        assert_close(load_of(&with("many-to-one", &[]), 10.0, |_, _| true), load, 0.02, "to one");
        let to_7 = with("many-to-one", &[("receiver", text("7"))]);
        assert_close(load_of(&to_7, 10.0, |_, dst| dst == HostId(7)), load, 0.02, "to 7");
        let to_7 = with("incast", &[("receiver", text("7"))]);
        assert_close(load_of(&to_7, 10.0, |_, dst| dst == HostId(7)), load, 0.03, "incast on 7");
        assert_close(load_of(&with("incast", &[]), everyone, |_, _| true), load, 0.03, "incast");
    }
}

#[test]
fn web_search_meets_the_load() {
    let settings = settings(&[MANY]);
    for name in ["web-search-packets", "web-search-bytes"] {
        let workload = generate(&settings, &fabric(), &by_name(name).unwrap(), 1).unwrap();
        assert_close(load_of(&workload, 1_440.0, |_, _| true), 0.6, 0.03, name);
    }
}

#[test]
fn every_pattern_meets_the_load_of_the_core() {
    // Half of what the hosts of a leaf can send: the core carries little, the hosts less.
    let mut oversubscribed = Settings::defaults(kind("leaf-spine").unwrap().parameters);
    oversubscribed.set("fabric_link", Value::Rate("20Gbps".parse().unwrap()));
    let network = build("leaf-spine", &oversubscribed).unwrap();
    let between_racks = |src: HostId, dst: HostId| src.0 / 16 != dst.0 / 16;
    for (pattern, load) in
        [("all-to-all", 0.9), ("permutation", 0.9), ("incast", 0.9), ("many-to-one", 0.01)]
    {
        let common = [MANY, ("load_of", text("core")), ("pattern", text(pattern))];
        let more = [("load", Value::Number(load))];
        let workload = draw(&network, &[&common[..], &more[..]].concat());
        let core_links = |load: flowsched_workload::Load| load.core_links.unwrap();
        assert_close(core_links(workload.load_asked.unwrap()), load, 1e-12, pattern);
        assert_close(core_links(workload.load_measured.unwrap()), load, 0.03, pattern);
        // Each flow between racks crosses one of the 36 links upwards.
        let upwards = load_of(&workload, 36.0 * 20.0, between_racks);
        assert_close(upwards, load, 0.03, pattern);
    }
}

/// PIAS ToN 2017, V-C: 12 leaves of 12 hosts, 4 spines, 10 Gbps throughout.
#[test]
fn the_oversubscribed_fabric_of_the_pias_paper_has_a_third_of_the_load_at_its_edge() {
    let mut fabric = Settings::defaults(kind("leaf-spine").unwrap().parameters);
    fabric.set("leaves", Value::Count(12));
    fabric.set("hosts_per_leaf", Value::Count(12));
    fabric.set("fabric_link", Value::Rate("10Gbps".parse().unwrap()));
    let network = build("leaf-spine", &fabric).unwrap();
    let asked = draw(&network, &[("load_of", text("core"))]).load_asked.unwrap();
    assert_close(asked.core_links.unwrap(), 0.6, 1e-12, "core");
    // The authors divide by 2.75, with a share of 11 in 12 between racks in place of 132 in 143.
    assert_close(asked.host_links, 0.6 / 2.75, 0.01, "edge");
    assert_close(asked.host_links, 0.6 / (3.0 * 132.0 / 143.0), 1e-12, "edge");
}

#[test]
fn flows_between_pods_count_for_every_core_link_they_cross() {
    let network = network("fat-tree", &[("k", 4)]);
    let asked = draw(&network, &[]).load_asked.unwrap();
    // Of 15 others, 12 are 4 core links away, 2 are 2 away; 64 core ports, 16 hosts.
    let expected = 0.6 * (12.0 * 4.0 + 2.0 * 2.0) / 15.0 * 16.0 / 64.0;
    assert_close(asked.core_links.unwrap(), expected, 1e-12, "fat-tree");
}

#[test]
fn patterns_are_as_described() {
    let network = network("leaf-spine", &[("leaves", 3), ("hosts_per_leaf", 4)]);
    let pairs = |pattern: &str, more: &[(&str, Value)]| -> Vec<(HostId, HostId)> {
        let workload = draw(&network, &[&[("pattern", text(pattern))], more].concat());
        assert_eq!(workload.flows.len(), 10_000);
        workload.flows.iter().map(|flow| (flow.src, flow.dst)).collect()
    };
    let distinct = |mut seen: Vec<_>| {
        seen.sort();
        seen.dedup();
        seen.len()
    };
    assert_eq!(distinct(pairs("all-to-all", &[])), 12 * 11);
    assert_eq!(distinct(pairs("permutation", &[])), 12);
    assert_eq!(distinct(pairs("many-to-one", &[])), 11);
    assert_eq!(distinct(pairs("incast", &[])), 12 * 11);
    assert_eq!(distinct(pairs("incast", &[("receiver", text("11"))])), 11);

    let workload = draw(&network, &[("pattern", text("incast")), ("degree", Value::Count(7))]);
    let mut bursts = workload.flows.chunk_by(|one, other| one.start == other.start).peekable();
    while let Some(burst) = bursts.next() {
        // The last burst is what is left.
        let expected = if bursts.peek().is_some() { 7 } else { 10_000 % 7 };
        assert_eq!(burst.len(), expected);
        assert!(burst.iter().all(|flow| flow.dst == burst[0].dst));
        assert_eq!(distinct(burst.iter().map(|flow| (flow.src, flow.dst)).collect()), expected);
    }
}

/// If this fails, published results no longer belong to their seeds.
#[test]
fn the_flows_of_a_seed_never_change() {
    let trace = |rows: &[&str]| format!("start_s,src,dst,size_bytes\n{}\n", rows.join("\n"));
    let flows = draw(&fabric(), &[("flows", Value::Count(3))]).flows;
    assert_eq!(
        write_trace(&flows),
        trace(&[
            "0.000001464269,70,106,154483",
            "0.000002843279,73,115,131473",
            "0.00000309476,107,29,86850"
        ])
    );
    let incast = [("flows", Value::Count(3)), ("pattern", text("incast"))];
    assert_eq!(
        write_trace(&draw(&fabric(), &incast).flows),
        trace(&[
            "0.000011714155,101,70,154483",
            "0.000011714155,71,70,131473",
            "0.000011714155,111,70,86850"
        ])
    );
    let permutation = [("flows", Value::Count(2)), ("pattern", text("permutation"))];
    assert_eq!(
        write_trace(&draw(&fabric(), &permutation).flows),
        trace(&["0.000001464269,21,113,154483", "0.000002843279,26,142,131473"])
    );
}

#[test]
fn another_load_changes_starts_only() {
    let network = fabric();
    let [low, high] = [0.3, 0.6].map(|load| draw(&network, &[("load", Value::Number(load))]).flows);
    for (low, high) in low.iter().zip(&high) {
        assert_eq!((low.src, low.dst, low.size), (high.src, high.dst, high.size));
        assert!(low.start.as_ps().abs_diff(2 * high.start.as_ps()) < 100_000);
    }
}

#[test]
fn warm_up_and_cool_down_are_run_but_not_measured() {
    let (warm, cool) = (Value::Count(10), Value::Count(5));
    let values = [("flows", Value::Count(100)), ("warm_up_flows", warm), ("cool_down_flows", cool)];
    let flows = draw(&fabric(), &values).flows;
    assert!(flows.iter().all(|flow| flow.measured == (10..95).contains(&flow.id)));

    let trace = parse_trace(&write_trace(&flows), 144).unwrap();
    assert_eq!(replay(&settings(&values), &fabric(), trace).unwrap().flows, flows);
}

#[test]
fn a_single_flow_has_no_measured_load() {
    let workload = draw(&fabric(), &[("flows", Value::Count(1))]);
    assert_eq!(workload.load_measured, None);
}

#[test]
fn what_does_not_fit_is_refused_by_its_key() {
    let number = Value::Number;
    let count = Value::Count;
    let cases: &[(&str, &[(&str, Value)])] = &[
        ("load", &[("load", number(0.0))]),
        ("load", &[("load", number(1.01))]),
        ("load", &[("load", number(f64::NAN))]),
        ("load", &[("load", number(1e-15))]),
        // All hosts at 112%.
        ("load", &[("load", number(1.0)), ("load_of", text("core"))]),
        ("load", &[("pattern", text("many-to-one")), ("load_of", text("core"))]),
        ("degree", &[("pattern", text("incast")), ("degree", count(144))]),
        ("degree", &[("pattern", text("incast")), ("degree", count(0))]),
        ("receiver", &[("pattern", text("incast")), ("receiver", text("144"))]),
        ("receiver", &[("pattern", text("many-to-one")), ("receiver", text("-1"))]),
        ("pattern", &[("pattern", text("tornado"))]),
        ("warm_up_flows", &[("warm_up_flows", count(9_000)), ("cool_down_flows", count(1_000))]),
        ("warm_up_flows", &[("warm_up_flows", count(u64::MAX))]),
    ];
    for (key, values) in cases {
        let error = generate(&settings(values), &fabric(), &sizes(), 1).unwrap_err();
        assert_eq!(error.key, *key, "{values:?}: {error}");
    }
    let star = network("star", &[]);
    let of_core = settings(&[("load_of", text("core"))]);
    assert_eq!(generate(&of_core, &star, &sizes(), 1).unwrap_err().key, "load_of");
    let lonely = network("star", &[("hosts", 1)]);
    assert_eq!(generate(&settings(&[]), &lonely, &sizes(), 1).unwrap_err().key, "pattern");
    let huge = by_name("fixed 5000GB").unwrap();
    assert_eq!(generate(&settings(&[]), &star, &huge, 1).unwrap_err().key, "sizes");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn flows_are_sorted_sound_and_the_same_every_time(
        seed: u64,
        pattern in prop::sample::select(vec!["all-to-all", "incast", "permutation", "many-to-one"]),
        load in 0.01f64..1.0,
        leaves in 1u64..4,
        flows in 1u64..200,
    ) {
        let network = network("leaf-spine", &[("leaves", leaves), ("hosts_per_leaf", 9)]);
        let values = [
            ("pattern", text(pattern)),
            ("load", Value::Number(load)),
            ("flows", Value::Count(flows)),
        ];
        let workload = generate(&settings(&values), &network, &sizes(), seed).unwrap();
        prop_assert_eq!(workload.flows.len() as u64, flows);
        for (index, flow) in workload.flows.iter().enumerate() {
            prop_assert_eq!(flow.id as usize, index);
            prop_assert!(flow.src != flow.dst && flow.src.0.max(flow.dst.0) < network.host_count());
            prop_assert!(index == 0 || workload.flows[index - 1].start <= flow.start);
        }
        let again = generate(&settings(&values), &network, &sizes(), seed).unwrap();
        prop_assert_eq!(&again, &workload);
        let other = generate(&settings(&values), &network, &sizes(), seed ^ 1).unwrap();
        prop_assert_ne!(&other.flows, &workload.flows);
        let trace = parse_trace(&write_trace(&workload.flows), network.host_count());
        prop_assert_eq!(trace, Ok(workload.flows));
    }
}

#[test]
fn deadlines_change_nothing_else_and_are_of_the_sizes_asked_for() {
    let network = fabric();
    let none = draw(&network, &[]);
    assert!(none.flows.iter().all(|flow| flow.deadline.is_none()));
    let pdq = ("deadlines", text("exponential 20ms 3ms"));
    let all = draw(&network, std::slice::from_ref(&pdq));
    let below = ("deadline_sizes_below", Value::Size(Bytes::new(40_000)));
    let small = draw(&network, &[pdq.clone(), below]);
    let from = ("deadline_sizes_from", Value::Size(Bytes::new(40_000)));
    let large = draw(&network, &[pdq, from]);
    for (index, flow) in none.flows.iter().enumerate() {
        let [all, small, large] = [&all, &small, &large].map(|workload| workload.flows[index]);
        assert_eq!(Flow { deadline: None, ..all }, *flow);
        assert!(all.deadline.unwrap() >= all.start + Time::from_ms(3));
        let is_small = flow.size < Bytes::new(40_000);
        assert_eq!(small.deadline, all.deadline.filter(|_| is_small));
        assert_eq!(large.deadline, all.deadline.filter(|_| !is_small));
    }
    let reversed = [
        ("deadline_sizes_from", Value::Size(Bytes::new(9))),
        ("deadline_sizes_below", Value::Size(Bytes::new(9))),
    ];
    let error = generate(&settings(&reversed), &network, &sizes(), 1).unwrap_err();
    assert_eq!(error.key, "deadline_sizes_below");
}

fn counts(workload: &Workload, of: impl Fn(&Flow) -> HostId, hosts: u32) -> Vec<usize> {
    let mut counts = vec![0; hosts as usize];
    workload.flows.iter().for_each(|flow| counts[of(flow).index()] += 1);
    counts
}

/// PDQ 2012, 5.2: all flows start at once and go to one receiver, and all senders have as many
/// flows.
#[test]
fn an_aggregation_is_many_to_one_in_turn_all_at_once() {
    let tree = network("single-rooted-tree", &[]);
    let with = [
        ("pattern", text("many-to-one")),
        ("receiver", text("5")),
        ("senders", text("in-turn")),
        ("at", Value::Time(Time::from_ms(1))),
        ("flows", Value::Count(25)),
    ];
    let workload = draw(&tree, &with);
    assert!(workload.flows.iter().all(|flow| flow.start == Time::from_ms(1)));
    assert!(workload.flows.iter().all(|flow| flow.dst == HostId(5)));
    let senders = counts(&workload, |flow| flow.src, 12);
    assert!(senders.iter().enumerate().all(|(host, count)| match host {
        5 => *count == 0,
        _ => (2..=3).contains(count),
    }));
    assert_eq!((workload.load_asked, workload.load_measured), (None, None));
}

#[test]
fn starts_are_laid_down_and_put_off() {
    let ms = |ms| Value::Time(Time::from_ms(ms));
    let every = [("at", ms(10)), ("every", ms(2)), ("flows", Value::Count(5))];
    let starts = |workload: Workload| -> Vec<Time> {
        workload.flows.iter().map(|flow| flow.start).collect()
    };
    let network = fabric();
    let exact = starts(draw(&network, &every));
    assert_eq!(exact, [10, 12, 14, 16, 18].map(Time::from_ms));
    let staggered = draw(&network, &[&every[..], &[("stagger", ms(1))]].concat());
    for (late, exact) in starts(staggered).into_iter().zip(exact) {
        assert!(exact < late && late < exact + Time::from_ms(1), "{late}");
    }
    let burst = [("pattern", text("incast")), ("degree", Value::Count(2))];
    let bursts = starts(draw(&network, &[&every[..], &burst].concat()));
    assert_eq!(bursts, [10, 10, 12, 12, 14].map(Time::from_ms));
    let beyond = [("at", ms(10)), ("every", Value::Time(Time::MAX)), ("flows", Value::Count(2))];
    let error = generate(&settings(&beyond), &network, &sizes(), 1).unwrap_err();
    assert_eq!(error.key, "every");
}

#[test]
fn a_stride_goes_around_and_never_all_the_way() {
    let tree = network("single-rooted-tree", &[]);
    for stride in [1, 6, 13] {
        let with = [("pattern", text("stride")), ("stride", Value::Count(stride))];
        let workload = draw(&tree, &with);
        let is_right = |flow: &Flow| u64::from(flow.dst.0) == (u64::from(flow.src.0) + stride) % 12;
        assert!(workload.flows.iter().all(is_right));
    }
    for stride in [0, 12, 24] {
        let with = [("pattern", text("stride")), ("stride", Value::Count(stride))];
        let error = generate(&settings(&with), &tree, &sizes(), 1).unwrap_err();
        assert_eq!((error.key.as_str(), error.problem.contains("itself")), ("stride", true));
    }
}

fn part(name: &str, sizes: &str, flows: Option<u64>, values: &[(&str, Value)]) -> Part {
    let settings = settings(values);
    Part { name: name.into(), settings, sizes: by_name(sizes).unwrap(), flows }
}

fn whole(flows: u64) -> Settings {
    settings(&[("flows", Value::Count(flows))])
}

/// Slytherin 2018, IV: short flows in bursts and long ones, at one load.
#[test]
fn parts_share_a_load_and_a_number_of_flows() {
    let network = fabric();
    let share = |share| ("share", Value::Number(share));
    let incast = [("pattern", text("incast")), ("degree", Value::Count(24)), share(0.3)];
    let parts = [
        part("short", "uniform 8KB 32KB", None, &incast),
        part("long", "fixed 1MB", None, &[share(0.7)]),
    ];
    let workload = compose(&whole(100_000), &network, &parts, &[], 1).unwrap();
    assert_eq!(workload.flows.len(), 100_000);
    assert_close(workload.load_asked.unwrap().host_links, 0.6, 1e-9, "asked");
    assert_close(workload.load_measured.unwrap().host_links, 0.6, 0.03, "measured");
    assert_eq!(workload.parts.names(), ["short", "long"]);
    let mut bytes = [0; 2];
    let mut last = [Time::ZERO; 2];
    for (index, flow) in workload.flows.iter().enumerate() {
        let is_long = flow.size == Bytes::new(1_000_000);
        assert_eq!(workload.parts.name_of(index), if is_long { "long" } else { "short" });
        bytes[usize::from(is_long)] += flow.size.get();
        last[usize::from(is_long)] = flow.start;
    }
    let share = bytes[1] as f64 / (bytes[0] + bytes[1]) as f64;
    assert_close(share, 0.7, 0.03, "share of bytes");
    // Both go on to the end.
    assert_close(last[0].as_secs_f64(), last[1].as_secs_f64(), 0.01, "ends");
}

#[test]
fn a_part_is_the_same_whatever_is_beside_it() {
    let network = fabric();
    let first = part("one", "fixed 1MB", Some(50), &[("load", Value::Number(0.2))]);
    let second = part("two", "fixed 20KB", Some(70), &[("at", Value::Time(Time::from_ms(1)))]);
    let of = |workload: &Workload, name: &str| -> Vec<Flow> {
        let of_part = |(index, _): &(usize, &Flow)| workload.parts.name_of(*index) == name;
        let flows = workload.flows.iter().enumerate().filter(of_part);
        flows.map(|(_, flow)| Flow { id: 0, ..*flow }).collect()
    };
    let both = compose(&whole(1), &network, &[first.clone(), second], &[], 1).unwrap();
    let alone = compose(&whole(1), &network, &[first], &[], 1).unwrap();
    assert_eq!(of(&both, "one"), of(&alone, "one"));
    assert_eq!((of(&both, "one").len(), of(&both, "two").len()), (50, 70));
    let ids: Vec<u32> = both.flows.iter().map(|flow| flow.id).collect();
    assert!(ids.into_iter().eq(0..120) && both.flows.is_sorted_by_key(|flow| flow.start));
}

#[test]
fn listed_flows_are_themselves_and_count_to_a_part() {
    let network = fabric();
    let flow =
        |src, start| Flow::new(9, HostId(src), HostId(9), Bytes::new(5), Time::from_ms(start));
    let listed =
        |part: Option<&str>, flow| Listed { part: part.map(str::to_owned), flow, copies: 1 };
    let only = [listed(None, flow(1, 2)), listed(None, flow(2, 0))];
    let workload = compose(&whole(1), &network, &[], &only, 1).unwrap();
    assert_eq!(workload.flows, [Flow { id: 0, ..flow(2, 0) }, Flow { id: 1, ..flow(1, 2) }]);
    assert_eq!(workload.parts, FlowParts::default());
    let twice = [Listed { copies: 2, ..listed(None, flow(1, 2)) }];
    let workload = compose(&whole(1), &network, &[], &twice, 1).unwrap();
    assert_eq!(workload.flows, [0, 1].map(|id| Flow { id, ..flow(1, 2) }));
    let burst = part("burst", "fixed 20KB", Some(3), &[("at", Value::Time(Time::from_ms(1)))]);
    let named = [listed(None, flow(1, 2)), listed(Some("burst"), flow(2, 0))];
    let workload = compose(&whole(1), &network, &[burst], &named, 1).unwrap();
    let names: Vec<&str> = (0..5).map(|index| workload.parts.name_of(index)).collect();
    assert_eq!(names, ["burst", "burst", "burst", "burst", "listed"]);
}

/// PDQ 2012, 5.3: flows below 40 KB are short.
#[test]
fn flows_belong_to_parts_by_size_and_stay_what_they_are() {
    let network = fabric();
    let by_size = ("size_parts", text("short 40KB long"));
    let plain = draw(&network, &[]);
    let divided = draw(&network, std::slice::from_ref(&by_size));
    assert_eq!(divided.flows, plain.flows);
    assert_eq!(divided.parts.names(), ["short", "long"]);
    for (index, flow) in divided.flows.iter().enumerate() {
        let name = if flow.size < Bytes::new(40_000) { "short" } else { "long" };
        assert_eq!(divided.parts.name_of(index), name);
    }
    let mut settings = settings(&[by_size]);
    let replayed = replay(&settings, &network, plain.flows).unwrap();
    assert_eq!(replayed.parts, divided.parts);
    let part = part("all", "fixed 1MB", None, &[]);
    let refused = compose(&settings, &network, &[part], &[], 1).unwrap_err().error;
    assert_eq!(refused.key, "size_parts");
    assert!(refused.problem.contains("conflicts with the parts"), "{refused}");
    settings.set("size_parts", text("short 40KB"));
    let refused = generate(&settings, &network, &sizes(), 1).unwrap_err();
    assert_eq!(refused.key, "size_parts");
}

#[test]
fn parts_that_together_ask_for_too_much_are_refused() {
    let network = fabric();
    let load = |load| ("load", Value::Number(load));
    let to_7 = [("pattern", text("many-to-one")), ("receiver", text("7"))];
    let compose = |parts: &[Part]| compose(&whole(10), &network, parts, &[], 1);
    let background = part("background", "fixed 1MB", None, &[load(0.5)]);
    let busy = part("busy", "fixed 1MB", None, &[&to_7[..], &[load(0.6)]].concat());
    let error = compose(&[background.clone(), busy]).unwrap_err();
    assert_eq!((error.part, error.error.key.as_str()), (None, "load"));
    let calm = part("calm", "fixed 1MB", None, &[&to_7[..], &[load(0.5)]].concat());
    assert!(compose(&[background.clone(), calm]).is_ok());
    let bad =
        part("bad", "fixed 1MB", None, &[("degree", Value::Count(0)), ("pattern", text("incast"))]);
    let error = compose(&[background, bad]).unwrap_err();
    assert_eq!((error.part, error.error.key.as_str()), (Some(1), "degree"));
}

/// The mean over all hosts' ports of the share that they send, packets that they forward
/// included.
#[test]
fn where_hosts_forward_a_flow_counts_for_every_host_that_sends_it() {
    let bcube = network("bcube", &[]);
    for pattern in ["all-to-all", "permutation", "stride", "staggered"] {
        let workload = draw(&bcube, &[MANY, ("pattern", text(pattern))]);
        let bits: u64 = workload
            .flows
            .iter()
            .map(|flow| {
                let sent_by =
                    bcube.first_path(flow.src, flow.dst).map(|port| bcube.port(port).owner);
                let hosts = sent_by.filter(|node| bcube.host(*node).is_some()).count() as u64;
                8 * hosts * (flow.size.get() + 40 * flow.size.get().div_ceil(1460))
            })
            .sum();
        let seconds = workload.flows.last().unwrap().start.as_secs_f64();
        assert_close(bits as f64 / seconds / (16.0 * 4.0 * 1e9), 0.6, 0.02, pattern);
        assert_close(workload.load_measured.unwrap().host_links, 0.6, 0.02, pattern);
    }
    let core = [("load_of", text("core"))];
    let error = generate(&settings(&core), &bcube, &sizes(), 1).unwrap_err();
    assert_eq!(error.key, "load_of");
}
