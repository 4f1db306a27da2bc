use flowsched_units::Bytes;
use proptest::prelude::*;

use super::*;

fn named(name: &str) -> SizeDistribution {
    by_name(name).unwrap()
}

fn close(found: f64, expected: f64, relative: f64) {
    assert!((found - expected).abs() <= relative * expected.abs(), "{found} for {expected}");
}

#[test]
fn the_built_in_means_are_the_published_ones() {
    close(named("web-search-packets").mean_packets(), 1140.98, 1e-12);
    close(named("web-search-packets").mean(), 1140.98 * 1460.0, 1e-12);
    close(named("web-search-bytes").mean(), 1_711_250.0, 1e-12);
    close(named("data-mining-packets").mean_packets(), 5116.6, 1e-12);
    close(named("data-mining-bytes").mean(), 12_658_199.0, 1e-7);
    close(named("university-packets").mean(), 195_357.0, 1e-5);
}

/// Every distribution that there is a form for.
fn all() -> Vec<(&'static str, SizeDistribution)> {
    let forms = [
        "fixed 20KB",
        "uniform 2KB 198KB",
        "exponential 100KB",
        "pareto 1.1 1KB 1GB",
        "pareto 1 1KB 1MB",
        "pareto 2 10KB 20KB",
        "lognormal 100KB 1.5",
    ];
    let names = BUILT_IN.iter().map(|built_in| built_in.name);
    names.chain(forms).map(|name| (name, named(name))).collect()
}

/// `E[min(size, a)^order]` from the distribution function alone: the integral of
/// `order t^(order - 1) P(size > t)`, by the midpoint rule on a fine geometric grid.
fn from_the_cdf(sizes: &SizeDistribution, a: f64, order: i32) -> f64 {
    let (mut total, mut from) = (0.0, 0.0);
    while from < a {
        let to = a.min(from + (from * 2e-5_f64).max(0.25));
        let middle = (from + to) / 2.0;
        let weight = (to - from) * if order == 1 { 1.0 } else { 2.0 * middle };
        total += weight * (1.0 - sizes.cdf(middle));
        from = to;
    }
    total
}

#[test]
fn partial_moments_are_integrals_of_the_distribution_function() {
    for (name, sizes) in all() {
        for p in [0.3, 0.9, 0.999] {
            let a = sizes.quantile(p) * 1.01;
            for (order, found) in [(1, sizes.partial_mean(a)), (2, sizes.partial_second_moment(a))]
            {
                let expected = from_the_cdf(&sizes, a, order);
                let error = (found - expected).abs() / expected;
                assert!(error < 1e-4, "{name}, order {order} at {a}: {found} for {expected}");
            }
        }
    }
}

#[test]
fn moments_are_expectations() {
    for (name, sizes) in all() {
        let a = sizes.quantile(0.95);
        let [mass, first, second] = sizes.expectations(0.0, a, |x| [1.0, x, x * x]);
        let above = 1.0 - sizes.cdf(a);
        for (what, found, expected) in [
            ("mass", mass, sizes.cdf(a)),
            ("mean", first + a * above, sizes.partial_mean(a)),
            ("second moment", second + a * a * above, sizes.partial_second_moment(a)),
        ] {
            let error = (found - expected).abs() / expected;
            // The mean is the one before rounding up to a byte.
            assert!(error < 2e-7, "{name}: {what} {found} for {expected}");
        }
    }
}

#[test]
fn whole_packets_are_drawn_with_the_mean_that_is_said() {
    // Every size of web search in turn, by the distribution function: no sampling error.
    let sizes = named("web-search-packets");
    let (mut mean, mut second, mut below) = (0.0, 0.0, 0.0);
    for packets in 1..=20_000 {
        let size = f64::from(packets) * 1460.0;
        let up_to = sizes.cdf(size);
        mean += (up_to - below) * size;
        second += (up_to - below) * size * size;
        below = up_to;
    }
    close(sizes.mean(), mean, 1e-12);
    close(sizes.partial_second_moment(f64::INFINITY), second, 1e-12);
    close(
        sizes.expectations(0.0, sizes.max(), |x| [1.0 / x])[0],
        {
            let share = |k: f64| sizes.cdf(k * 1460.0) - sizes.below(k * 1460.0);
            (1..=20_000).map(|k| share(f64::from(k)) / (f64::from(k) * 1460.0)).sum()
        },
        1e-10,
    );
}

#[test]
fn packets_are_counted_with_the_last_one_not_full() {
    for (name, sizes) in all() {
        let largest = sizes.quantile(1.0 - f64::EPSILON / 2.0);
        let packets = (0..).map(|k| f64::from(k) * 1460.0).take_while(|&size| size < largest);
        let expected: f64 = packets.map(|size| 1.0 - sizes.cdf(size)).sum();
        let error = (sizes.mean_packets() - expected).abs() / expected;
        assert!(error < 1e-9, "{name}: {} for {expected}", sizes.mean_packets());
    }
    assert_eq!(SizeDistribution::fixed(Bytes::new(1460)).mean_packets(), 1.0);
    assert_eq!(SizeDistribution::fixed(Bytes::new(1461)).mean_packets(), 2.0);
    assert_eq!(SizeDistribution::fixed(Bytes::new(1461)).mean_wire_bytes(), 1541.0);
}

#[test]
fn exponential_in_whole_packets_is_geometric_but_for_its_head() {
    let packets = named("exponential 100KB").in_whole_packets().unwrap();
    let ratio = (-1460.0_f64 / 100_000.0).exp();
    let above = |k: f64| 1.0 - packets.cdf(k * 1460.0);
    close(above(2.0) / above(1.0), ratio, 1e-12);
    close(above(70.0) / above(69.0), ratio, 1e-12);
    assert_eq!(packets.sample(0.0), Bytes::new(1460));
    assert_eq!(packets.sample(0.5).get() % 1460, 0);
    assert!(named("lognormal 1GB 5").in_whole_packets().is_none());
}

#[test]
fn a_histogram_keeps_the_mean_and_the_shape() {
    let sizes = named("web-search-bytes");
    let (mut one, mut other, mut exact) = (SizeHistogram::new(), SizeHistogram::new(), 0.0);
    for draw in 0..10_000 {
        let size = sizes.sample(f64::from(draw) / 10_000.0);
        exact += size.get() as f64 / 10_000.0;
        if draw % 3 == 0 {
            one.add(size, 2.0)
        } else {
            other.add(size, 2.0)
        };
    }
    one.merge(&other);
    let seen = one.distribution().unwrap();
    close(seen.mean(), exact, 1e-5);
    for p in [0.1, 0.5, 0.9, 0.99] {
        close(seen.quantile(p), sizes.quantile(p), 0.01);
    }
    assert!(SizeHistogram::new().distribution().is_none());
}

#[test]
fn refuses_a_cdf_with_the_line_that_is_wrong() {
    let line = |text: &str| parse_cdf(text).map(|_| ()).unwrap_err().line;
    assert_eq!(line("# sizes\n0 0\n100 0.5\n90 0.6\n200 1\n"), 4);
    assert_eq!(line("0 0\n100 0.5\n200 0.4\n300 1\n"), 3);
    assert_eq!(line("0 0\n100 0.5\n200 0.9\n"), 3);
    assert_eq!(line("0 0\n100 NaN\n200 1\n"), 2);
    assert_eq!(line("0 0\nNaN 0.5\n200 1\n"), 2);
    assert_eq!(line("0 0.1\n200 1\n"), 1);
    assert_eq!(line("0 0\n0 1\n"), 2);
    assert_eq!(line("0 0\n100 50\n200 100\n"), 2);
    assert_eq!(line("100 0.5 7\n200 1\n"), 1);
    assert_eq!(line(""), 1);
    assert_eq!(line("-5 0\n200 1\n"), 1);
    assert_eq!(line("1e300 1\n"), 1);
    let error = parse_cdf("0 0\n100 0.5\n90 0.6\n").map(|_| ()).unwrap_err().to_string();
    assert_eq!(error, "line 3: found size 90 after 100, expected sizes that do not fall");
}

#[test]
fn reads_a_cdf_with_atoms_and_comments() {
    let sizes = parse_cdf("# bytes\n0 0\n100 0.25 # quarter\n100 0.75\n\n200 1\n").unwrap();
    assert_eq!((sizes.below(100.0), sizes.cdf(100.0)), (0.25, 0.75));
    assert_eq!(sizes.sample(0.5), Bytes::new(100));
    assert_eq!(sizes.sample(0.0), Bytes::new(1));
    close(sizes.mean(), 0.25 * 50.0 + 0.5 * 100.0 + 0.25 * 150.0, 1e-15);
    let first_is_atom = parse_cdf("1460 0.5\n2920 1\n").unwrap();
    assert_eq!((first_is_atom.below(1460.0), first_is_atom.cdf(1460.0)), (0.0, 0.5));
    assert_eq!(parse_cdf("5 1\n").unwrap().mean(), 5.0);
}

#[test]
fn says_what_may_be_written() {
    for text in ["web-serch", "", "/tmp/sizes.cdf"] {
        let error = by_name(text).map(|_| ()).unwrap_err();
        assert!(matches!(error, SizesError::Unknown { .. }), "{text}: {error}");
        assert!(error.to_string().contains("web-search-packets"));
    }
    for text in [
        "fixed",
        "fixed 0B",
        "fixed 20",
        "uniform 20KB 2KB",
        "exponential -1KB",
        "pareto NaN 1KB 1MB",
        "pareto 1.1 1MB 1KB",
        "lognormal 1MB inf",
        "lognormal 1MB 0",
        "fixed 99999999GB",
    ] {
        let error = by_name(text).map(|_| ()).unwrap_err();
        assert!(matches!(error, SizesError::Malformed { .. }), "{text}: {error}");
    }
}

/// Points of a CDF with jumps, flats and atoms.
fn cdf() -> impl Strategy<Value = String> {
    prop::collection::vec((0u32..5000, 0u32..100), 1..12).prop_map(|steps| {
        let total: u32 = steps.iter().map(|(_, mass)| mass).sum::<u32>() + 1;
        let (mut size, mut sum, mut text) = (1u32, 0u32, String::new());
        for (step, mass) in steps {
            // A third of the steps is an atom.
            size += if step % 3 == 0 { 0 } else { step };
            sum += mass;
            text.push_str(&format!("{size} {}\n", f64::from(sum) / f64::from(total)));
        }
        text + &format!("{size} 1\n")
    })
}

proptest! {
    #[test]
    fn quantile_and_cdf_belong_together(text in cdf(), p in 0.0f64..1.0) {
        let sizes = parse_cdf(&text).unwrap();
        let size = sizes.quantile(p);
        prop_assert!(sizes.cdf(size) >= p - 1e-12);
        prop_assert!(sizes.below(size) <= p + 1e-12);
        prop_assert!(sizes.below(size) <= sizes.cdf(size));
    }

    #[test]
    fn partial_moments_rise_to_the_whole(text in cdf(), a in 0.0f64..60_000.0, more in 0.0f64..999.0) {
        for sizes in [
            parse_cdf(&text).unwrap(),
            parse_cdf(&text).unwrap().in_whole_packets().unwrap(),
        ] {
            prop_assert!(sizes.partial_mean(a) <= sizes.partial_mean(a + more) + 1e-9);
            prop_assert!(sizes.partial_mean(a) <= a + 1e-9);
            prop_assert!(sizes.partial_mean(a) <= sizes.mean() + 1e-9);
            let square = sizes.partial_second_moment(a);
            prop_assert!(square <= sizes.partial_second_moment(a + more) * (1.0 + 1e-12) + 1e-9);
            prop_assert!(square >= sizes.partial_mean(a).powi(2) * (1.0 - 1e-12) - 1e-9);
        }
    }

    #[test]
    fn draws_are_within_the_sizes(text in cdf(), u in 0.0f64..1.0) {
        let sizes = parse_cdf(&text).unwrap();
        let drawn = sizes.sample(u).get() as f64;
        prop_assert!(drawn >= sizes.min().floor() && drawn <= sizes.max());
    }

    #[test]
    fn no_text_panics(text: String, numbers in prop::collection::vec((any::<f64>(), any::<f64>()), 0..6)) {
        let _ = parse_cdf(&text);
        let _ = by_name(&text);
        let lines: String = numbers.iter().map(|(size, p)| format!("{size} {p}\n")).collect();
        let _ = parse_cdf(&lines);
    }
}
