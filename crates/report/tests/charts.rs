//! Tests the page's charts: each is complete in itself, and its data are what is drawn.

mod pages;
mod synthetic;

use std::collections::BTreeSet;
use std::fs;

use flowsched_experiment::results::{Folder, OverSeeds};
use flowsched_units::Time;
use pages::{Chart, browse, chart_called, charts, report};
use roxmltree::{Document, Node};
use synthetic::Study;

fn two_keys() -> Study {
    let (loads, spines) = (vec!["0.5", "0.7", "0.9"], vec!["2", "4"]);
    Study { loads, spines, flows: 300, seeds: 2, ..Study::default() }
}

fn ten_schemes() -> Study {
    let schemes = vec!["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    Study { schemes, seeds: 2, flows: 200, ..Study::default() }
}

/// Whether the node or something around it has this attribute.
fn is_set(node: Node<'_, '_>, attribute: &str) -> bool {
    node.ancestors().any(|node| node.has_attribute(attribute))
}

fn elements<'a>(svg: &'a Document<'_>, name: &'a str) -> impl Iterator<Item = Node<'a, 'a>> {
    svg.descendants().filter(move |node| node.has_tag_name(("http://www.w3.org/2000/svg", name)))
}

/// Asserts that a chart's SVG has everything that it needs to look the same outside the page.
fn assert_stands_alone(chart: &Chart, schemes: &[&str]) {
    let svg = Document::parse(&chart.svg).unwrap_or_else(|error| panic!("{error}: {}", chart.svg));
    let title = elements(&svg, "title").next().and_then(|title| title.text()).unwrap_or_default();
    assert!(!title.is_empty(), "a drawing has no title: {}", chart.svg);
    let texts: Vec<&str> = elements(&svg, "text").filter_map(|text| text.text()).collect();
    let words = texts.concat().replace(' ', "");
    assert!(words.contains(&title.replace(' ', "")), "{title} is not to be seen: {texts:?}");
    for scheme in schemes.iter().filter(|scheme| chart.column("scheme").contains(scheme)) {
        assert!(texts.contains(scheme), "{title} does not name {scheme}");
    }
    for node in svg.descendants().filter(Node::is_element) {
        for attribute in ["class", "style", "href", "id"] {
            assert!(!node.has_attribute(attribute), "{title} has an attribute {attribute}");
        }
        if ["rect", "circle", "polygon", "text"].contains(&node.tag_name().name()) {
            assert!(is_set(node, "fill"), "a shape of {title} has no colour");
        }
        if ["line", "polyline"].contains(&node.tag_name().name()) {
            assert!(node.has_attribute("stroke"), "a line of {title} has no colour");
        }
    }
    assert_eq!(elements(&svg, "desc").next().and_then(|d| d.text()), Some(chart.caption.as_str()));
}

#[test]
fn every_drawing_stands_alone() {
    let names = Study { schemes: vec!["<b>", "\"x\" & 'y'", "速い"], ..Study::default() };
    let studies = [("alone", Study::default()), ("alone-two", two_keys()), ("alone-names", names)];
    for (name, study) in studies {
        let all = charts(&report(name, &Study { flows: 300, ..study.clone() }, |_| {}));
        assert!(all.len() > 30, "{name} has {} charts", all.len());
        all.iter().for_each(|chart| assert_stands_alone(chart, &study.schemes));
    }
}

/// The pairs of numbers in a `points` attribute.
fn places(polyline: Node<'_, '_>) -> Vec<(f64, f64)> {
    let pair = |pair: &str| {
        let (x, y) = pair.split_once(',').unwrap();
        (x.parse().unwrap(), y.parse().unwrap())
    };
    polyline.attribute("points").unwrap().split(' ').map(pair).collect()
}

/// Asserts that the pixels are a linear function of the values, to within rounding to tenths.
fn assert_in_line(values: &[f64], pixels: &[f64], what: &str) {
    assert_eq!(values.len(), pixels.len(), "{what}");
    let end = values.len() - 1;
    let slope = (pixels[end] - pixels[0]) / (values[end] - values[0]);
    for (value, pixel) in values.iter().zip(pixels) {
        let expected = pixels[0] + slope * (value - values[0]);
        assert!((expected - pixel).abs() < 0.2, "{what}: {value} is drawn at {pixel}");
    }
}

#[test]
fn the_data_of_curves_are_what_is_drawn() {
    let page = report("drawn", &Study::default(), |_| {});
    type Axes = [(&'static str, fn(f64) -> f64); 2];
    let kinds: [(&str, Axes); 3] = [
        ("Distribution of FCT, all flows", [("fct_us", f64::log10), ("share_of_flows", |y| y)]),
        (
            "Tail of FCT, small flows",
            [("fct_us", f64::log10), ("share_of_flows_above", f64::log10)],
        ),
        ("p99 slowdown by flow size", [("size_bytes", f64::log10), ("slowdown", f64::log10)]),
    ];
    for (title, axes) in kinds {
        let chart = chart_called(&page, title);
        let svg = Document::parse(&chart.svg).unwrap();
        // The legend has a curve of two points for each scheme; those of the plot follow.
        let curves: Vec<_> = elements(&svg, "polyline").map(places).skip(3).collect();
        assert_eq!(curves.len(), 3);
        let schemes = chart.column("scheme");
        for (scheme, curve) in ["tcp", "dctcp", "pias"].iter().zip(&curves) {
            let of_scheme = |column: &str, of: fn(f64) -> f64| {
                let values = chart.numbers(column).into_iter().zip(&schemes);
                values.filter(|(_, name)| *name == scheme).map(|(v, _)| of(v)).collect::<Vec<_>>()
            };
            let (x, y) = (of_scheme(axes[0].0, axes[0].1), of_scheme(axes[1].0, axes[1].1));
            let (px, py): (Vec<f64>, Vec<f64>) = curve.iter().copied().unzip();
            if title.starts_with("Distribution") {
                assert_eq!((y.first(), y.last()), (Some(&0.0), Some(&1.0)));
            }
            assert_in_line(&x, &px, title);
            assert_in_line(&y, &py, title);
        }
    }
}

#[test]
fn the_data_of_bars_are_what_is_drawn_and_what_the_summary_says() {
    let page = report("bars", &Study::default(), |_| {});
    let chart = chart_called(&page, "p99.9 FCT, all flows");
    let values = chart.numbers("p999_fct_us");
    let svg = Document::parse(&chart.svg).unwrap();
    let width = |rect: Node<'_, '_>| rect.attribute("width").unwrap().parse::<f64>().unwrap();
    let bars: Vec<f64> = elements(&svg, "rect").skip(1).map(width).collect();
    assert_in_line(
        &[&[0.0], values.as_slice()].concat(),
        &[&[0.0], bars.as_slice()].concat(),
        "bars",
    );

    let folder = Folder::open(page.parent().unwrap()).unwrap();
    let rows = [values, chart.numbers("ci95_low"), chart.numbers("ci95_high")];
    for (row, scheme) in folder.summary().schemes().into_iter().enumerate() {
        let runs = folder.summary().runs.iter().filter(|run| run.scheme == scheme);
        let of_seeds: Vec<f64> = runs.map(|run| run.fct_us.all.p999.unwrap()).collect();
        let over = OverSeeds::from_values(&of_seeds).unwrap();
        let (low, high) = over.interval.unwrap();
        for (found, expected) in rows.iter().map(|column| column[row]).zip([over.mean, low, high]) {
            assert!((found / expected - 1.0).abs() < 1e-5, "{scheme}: {found}, not {expected}");
        }
    }
}

#[test]
fn whiskers_mean_the_same_everywhere_and_captions_say_so() {
    let mut meanings = BTreeSet::new();
    for (name, study) in [("whiskers", Study::default()), ("whiskers-two", two_keys())] {
        for chart in charts(&report(name, &study, |_| {})) {
            let has_whiskers = chart.data[0].contains(&"ci95_low".to_owned())
                && chart.column("ci95_low").iter().any(|low| !low.is_empty());
            let note = chart.caption.split_once("Whiskers: ").map(|(_, note)| note);
            assert_eq!(note.is_some(), has_whiskers, "{}", chart.caption);
            meanings.extend(note.map(|note| note.split([';', '.']).next().unwrap().to_owned()));
        }
    }
    assert_eq!(meanings.into_iter().collect::<Vec<_>>(), ["95% confidence interval over seeds"]);

    let one_seed = report("one-seed", &Study { seeds: 1, ..Study::default() }, |_| {});
    assert!(!fs::read_to_string(&one_seed).unwrap().contains("Whiskers: "));
}

/// What a scheme looks like in a legend: colour, dashes, and the kind and shape of its marker.
fn look(curve: Node<'_, '_>) -> (String, String, String) {
    let of = |node: Node<'_, '_>, name: &str| node.attribute(name).unwrap_or_default().to_owned();
    let (from, y) = places(curve)[0];
    let colour = of(curve, "stroke");
    let shape = |node: Node<'_, '_>| match node.tag_name().name() {
        "polygon" => {
            let corner = |(px, py): (f64, f64)| format!("{:.0},{:.0} ", px - from, py - y);
            places(node).into_iter().map(corner).collect()
        }
        "line" => {
            let steep = of(node, "x1") == of(node, "x2") || of(node, "y1") == of(node, "y2");
            format!("line {steep}")
        }
        name => name.to_owned(),
    };
    let marker = curve.next_sibling_element().unwrap();
    (colour, of(curve, "stroke-dasharray"), shape(marker))
}

#[test]
fn ten_schemes_have_ten_looks() {
    let page = report("looks", &ten_schemes(), |_| {});
    let chart = chart_called(&page, "Tail of slowdown, all flows");
    let svg = Document::parse(&chart.svg).unwrap();
    let looks: Vec<_> = elements(&svg, "polyline").take(10).map(look).collect();
    let distinct = |parts: Vec<&String>| parts.into_iter().collect::<BTreeSet<_>>().len();
    assert_eq!(looks.iter().collect::<BTreeSet<_>>().len(), 10, "{looks:?}");
    assert_eq!(distinct(looks.iter().map(|look| &look.0).collect()), 8, "colours");
    assert_eq!(distinct(looks.iter().map(|look| &look.1).collect()), 5, "dashes");
    assert_eq!(distinct(looks.iter().map(|look| &look.2).collect()), 7, "markers");
}

#[test]
fn a_second_key_makes_panels_with_the_same_axes() {
    let page = report("panels", &two_keys(), |_| {});
    let chart = chart_called(&page, "Mean FCT, small flows");
    assert_eq!(chart.data[0][..3], ["topology.spines", "scheme", "workload.load"]);
    assert_eq!(chart.data.len(), 1 + 2 * 3 * 3);
    assert!(chart.caption.contains("One panel per value of topology.spines"));
    let svg = Document::parse(&chart.svg).unwrap();
    let curves: Vec<_> = elements(&svg, "polyline").map(places).collect();
    // Three in the legend, and three in each panel, which differ by their place alone.
    assert_eq!(curves.len(), 3 + 2 * 3);
    for (left, right) in curves[3..6].iter().zip(&curves[6..]) {
        let aside = right[0].0 - left[0].0;
        assert!(aside > 100.0, "panels overlap");
        for (left, right) in left.iter().zip(right) {
            assert!((right.0 - left.0 - aside).abs() < 0.2 && left.1 == right.1);
        }
    }
    let texts: Vec<&str> = elements(&svg, "text").filter_map(|text| text.text()).collect();
    assert!(texts.contains(&"spines = 2") && texts.contains(&"spines = 4"), "{texts:?}");
}

#[test]
fn the_distribution_of_one_flow_is_a_rise_from_nothing_to_everything() {
    let study = Study { schemes: vec!["dctcp"], seeds: 1, ..Study::default() };
    let page = report("one-flow", &study, |runs| {
        runs[0].0.flows.truncate(1);
        runs[0].0.flows[0].measured = true;
        runs[0].0.flows[0].fct = Some(Time::from_us(150));
    });
    let chart = chart_called(&page, "Distribution of FCT, all flows");
    assert_eq!(chart.numbers("fct_us"), [150.0, 150.0]);
    assert_eq!(chart.numbers("share_of_flows"), [0.0, 1.0]);
    let svg = Document::parse(&chart.svg).unwrap();
    let curve = elements(&svg, "polyline").map(places).nth(1).unwrap();
    assert_eq!(curve[0].0, curve[1].0);
    assert!(curve[0].1 - curve[1].1 > 150.0, "the rise is {curve:?}");
    assert!(chart.svg.contains("150 µs</text>") || chart.svg.contains("140 µs</text>"));
}

/// Presses both buttons of the first chart, and puts what is saved into the page.
const PRESS: &str = "<script>
  URL.createObjectURL = (blob) => {
    blob.text().then((text) => {
      const saved = document.createElement('pre');
      saved.className = 'saved';
      saved.textContent = blob.type + '\\n' + text;
      document.body.append(saved);
    });
    return 'blob:saved';
  };
  HTMLAnchorElement.prototype.click = function () {
    document.body.dataset.names = (document.body.dataset.names || '') + this.download + ' ';
  };
  for (const button of document.querySelector('figure').querySelectorAll('button')) button.click();
</script>";

#[test]
fn a_click_saves_a_chart_and_its_data() {
    let page = report("save", &Study { flows: 300, ..Study::default() }, |_| {});
    let text = fs::read_to_string(&page).unwrap();
    // The page's policy allows its own script alone.
    let (before, after) = text.split_once("<meta http-equiv").unwrap();
    let open = before.to_owned() + after.split_once('>').unwrap().1;
    let pressed = page.with_file_name("pressed.html");
    fs::write(&pressed, open.replace("</body>", &format!("{PRESS}</body>"))).unwrap();
    let (dom, _) = browse(&pressed, &["--dump-dom".into(), "--virtual-time-budget=2000".into()]);
    let name = "pias-against-dctcp-web-search-change-of-mean-fct-all-flows";
    assert!(dom.contains(&format!("data-names=\"{name}.svg {name}.csv \"")));
    let saved: Vec<&str> = dom.split("<pre class=\"saved\">").skip(1).collect();
    let [svg, csv] = saved.as_slice() else { panic!("{} files were saved", saved.len()) };
    assert!(svg.starts_with("image/svg+xml\n&lt;svg xmlns=\"http://www.w3.org/2000/svg\""));
    let first = &charts(&page)[0];
    let lines = first.data.iter().map(|row| row.join(",")).collect::<Vec<_>>().join("\n");
    assert!(csv.starts_with(&format!("text/csv\n{lines}\n</pre>")), "{csv:.300}");
}
