//! Charts of a claim's figures along the sweeps of their experiments: the figures of its values, with the
//! published numbers if the paper has them, and those of the schemes that it compares.

use flowsched_papers::{Area, Claim, Curve, Kind, Measure, OnCurve, Row};
use maud::{Markup, html};

use super::across::Across;
use super::chart::quantity;
use super::figure::quantity_of;
use super::panel::{
    LEFT, PANEL, WIDTH, axes, height_of, in_columns, numbers, published, title_of_panel,
    upright_ends,
};
use crate::bars::{Bar, Bars};
use crate::scale::{Axis, Quantity, Scale};
use crate::style::Look;
use crate::svg::{Frame, curve, drawing, marker, px};
use crate::ticks::whisker;

/// The rows whose curves a chart shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// The rows that the page shows.
    Row,
    /// The rows at quick scale, if the rows that the page shows have no curves.
    Quick,
}

impl Of {
    /// The text above the chart.
    pub(super) fn context(self) -> &'static str {
        match self {
            Of::Row => "",
            Of::Quick => {
                "Curves of the runs at quick scale: the rows at paper scale were recorded without curves."
            }
        }
    }
}

/// The curves of a claim's rows, with a panel for each. Measured figures are blue points with their intervals.
/// Published figures are red bars where the paper has one number, and red lines where it has the least and the
/// most. `None` if no row has a curve.
pub(super) fn curve_chart(claim: &Claim, rows: &[&Row], of: Of) -> Option<String> {
    let caption =
        "Measured figures as blue points with 95% intervals, published ones as red bars or lines.";
    chart(claim, of, &panels_of_values(claim, rows), caption, Vec::new())
}

/// The figures of the schemes that a claim compares, with a panel for each figure and sweep. A panel has a line
/// for each scheme, or a bar if nothing varies. `None` if no row has these figures.
pub(super) fn scheme_chart(claim: &Claim, rows: &[&Row], of: Of) -> Option<String> {
    let mut legend: Vec<(String, usize)> = Vec::new();
    let panels = panels_of_schemes(claim, rows, &mut legend);
    let caption = "The measured figure of each scheme with 95% intervals.";
    chart(claim, of, &panels, caption, legend)
}

fn chart(
    claim: &Claim,
    of: Of,
    panels: &[Panel<'_>],
    caption: &str,
    legend: Vec<(String, usize)>,
) -> Option<String> {
    if panels.is_empty() {
        return None;
    }
    let frame = Frame { title: &claim.id, context: of.context(), caption, legend };
    Some(drawing(&frame, WIDTH, in_columns(panels.iter().map(Panel::draw))))
}

/// Curves over the same axes, and what was published of them.
struct Panel<'a> {
    title: String,
    of: Quantity,
    /// The lines, each with the place of its look.
    lines: Vec<(usize, &'a Curve)>,
    published: Vec<Area>,
}

/// How a row was measured.
fn measure_of<'a>(claim: &'a Claim, row: &Row) -> Option<&'a Measure> {
    let value = claim.values.iter().find(|value| value.name == row.value)?;
    if row.is_in_lab() { value.lab.as_ref() } else { value.measure.as_ref() }
}

/// A panel for each curve. Values that are the least and the most of one curve share its panel.
fn panels_of_values<'a>(claim: &'a Claim, rows: &[&'a Row]) -> Vec<Panel<'a>> {
    let mut shared: Vec<(Vec<&str>, Panel<'a>)> = Vec::new();
    for row in rows {
        // A recorded file can hold anything.
        let curve = row.curve.as_ref().filter(|curve| curve.points.len() > 1);
        let published = row.published.and_then(|published| published.ends());
        let (Some(curve), Some(measure), Some(ends)) = (curve, measure_of(claim, row), published)
        else {
            continue;
        };
        let x = measure.place_on(curve).map(|place| (place, place));
        let area = Area::Upright { ends, x };
        match shared.iter_mut().find(|(_, panel)| panel.lines[0].1 == curve) {
            Some((names, panel)) => {
                names.push(&row.value);
                panel.published.push(area);
            }
            None => {
                let of =
                    Quantity { title: title_of_value(row.kind, measure), ..quantity(row.kind) };
                let (title, lines) = (String::new(), vec![(0, curve)]);
                let panel = Panel { title, of, lines, published: vec![area] };
                shared.push((vec![&row.value], panel));
            }
        }
    }
    shared.into_iter().map(|(names, panel)| Panel { title: title(&names), ..panel }).collect()
}

fn title_of_value(kind: Kind, measure: &Measure) -> String {
    let of = quantity_of(&measure.figure).title;
    match kind {
        Kind::Reduction => format!("reduction: {of}"),
        Kind::Gap => format!("gap: {of}"),
        Kind::Ratio => format!("ratio: {of}"),
        Kind::Value | Kind::Order | Kind::Property => of,
    }
}

/// A panel for each figure and sweep of an experiment. Rows that compare other schemes share the panel.
fn panels_of_schemes<'a>(
    claim: &'a Claim,
    rows: &[&'a Row],
    legend: &mut Vec<(String, usize)>,
) -> Vec<Panel<'a>> {
    let mut panels: Vec<(&str, Panel<'a>)> = Vec::new();
    for row in rows {
        let Some(measure) = measure_of(claim, row) else { continue };
        let is_drawn = |curve: &&Curve| match curve.points.len() {
            0 => false,
            1 => row.schemes.len() > 1,
            _ => true,
        };
        for curve in row.schemes.iter().filter(is_drawn) {
            let place = place_in(legend, &curve.scheme);
            let (title, of) = (title_of_sweep(measure, curve), quantity_of(&measure.figure));
            let is_same = |(scale, panel): &&mut (&str, Panel<'_>)| {
                let same_axes = panel.title == title && panel.of.column == of.column;
                same_axes && *scale == row.scale && panel.lines[0].1.key == curve.key
            };
            match panels.iter_mut().find(is_same) {
                Some((_, panel)) if panel.lines.iter().any(|(known, _)| *known == place) => {}
                Some((_, panel)) => panel.lines.push((place, curve)),
                None => {
                    let panel =
                        Panel { title, of, lines: vec![(place, curve)], published: Vec::new() };
                    panels.push((&row.scale, panel));
                }
            }
        }
    }
    panels.into_iter().map(|(_, panel)| panel).collect()
}

/// The place of a scheme's look; a new scheme gets the next one.
pub(super) fn place_in(legend: &mut Vec<(String, usize)>, scheme: &str) -> usize {
    if let Some((_, place)) = legend.iter().find(|(known, _)| known == scheme) {
        return *place;
    }
    legend.push((scheme.to_owned(), legend.len()));
    legend.len() - 1
}

/// The experiment and its fixed keys, such as `pdq-fig9a, workload.flows = 10`.
fn title_of_sweep(measure: &Measure, curve: &Curve) -> String {
    let fixed = measure.set.iter().chain(measure.at.iter().filter(|(key, _)| **key != curve.key));
    let fixed = fixed.map(|(key, value)| format!(", {key} = {value}"));
    measure.experiment.clone() + &fixed.collect::<String>()
}

/// The names of values that share a panel, such as `"web search, least and most"`.
fn title(names: &[&str]) -> String {
    let parts: Option<Vec<(&str, &str)>> =
        names.iter().map(|name| name.rsplit_once(", ")).collect();
    match parts.as_deref() {
        Some([(first, least), (second, most)]) if first == second => {
            format!("{first}, {least} and {most}")
        }
        _ => names.join("; "),
    }
}

impl Panel<'_> {
    /// The height of the panel without its title, and the panel.
    fn draw(&self) -> (f64, Markup) {
        let (height, plot) =
            if self.lines[0].1.points.len() > 1 { self.curves() } else { self.bars() };
        (height, html! { (title_of_panel(&self.title)) (plot) })
    }

    /// A bar for each scheme.
    fn bars(&self) -> (f64, Markup) {
        let bar = |(place, curve): &(usize, &Curve)| {
            let OnCurve { measured, interval, .. } = curve.points[0];
            let (scheme, figure) = (curve.scheme.clone(), (self.of.label)(measured));
            Bar {
                scheme,
                place: *place,
                value: measured,
                whisker: interval,
                extremes: None,
                figure,
            }
        };
        let rows = self.lines.iter().map(bar).collect();
        let (height, plot) = Bars { x: self.upright_axis(), rows, signed: false }.draw();
        (height, html! { g transform={ "translate(" (px(-LEFT / 2.0)) " 0)" } { (plot) } })
    }

    fn curves(&self) -> (f64, Markup) {
        let (x, y) =
            (Across::new(self.lines.iter().map(|(_, curve)| *curve), PANEL.0), self.upright_axis());
        let high = PANEL.1;
        let up = |value: f64| height_of(&y, value);
        let (below, level) = x.draw(high);
        let plot = html! {
            (numbers(&y))
            (level)
            (axes(&y))
            @for area in &self.published { (published(area, |value| x.of_number(value), &y)) }
            @for (index, (place, of)) in self.lines.iter().enumerate() {
                @let aside = x.aside(index, self.lines.len());
                @let across = |one: &OnCurve| x.of(&one.at) + aside;
                @let look = Look::at(*place);
                @if x.is_numeric() {
                    @let points = of.points.iter().map(|one| (across(one), up(one.measured)));
                    (curve(&points.collect::<Vec<_>>(), look))
                }
                @for one in &of.points {
                    (marker(look, (across(one), up(one.measured)), 4.0))
                    @if let Some(ends) = one.interval {
                        (whisker(&y, ends, look.colour, |value, cap| (across(one) + cap, up(value))))
                    }
                }
            }
        };
        (high + below, plot)
    }

    fn upright_axis(&self) -> Axis {
        let points = self.lines.iter().flat_map(|(_, curve)| &curve.points);
        let measured = points.flat_map(|one| {
            let (low, high) = one.interval.unwrap_or((one.measured, one.measured));
            [one.measured, low, high]
        });
        let published = self.published.iter().flat_map(upright_ends);
        Axis::holding(self.of.clone(), Scale::Linear, measured.chain(published))
    }
}

#[cfg(test)]
mod tests {
    use flowsched_papers::{At, Claims, Curve, Expected, Kind, OnCurve, Published, Verdict};

    use super::*;

    const CLAIM: &str = "[[claim]]\nid = \"a.b\"\npaper = \"a\"\nsection = \"1\"\nwhere = \"sim\"\nwords = \"\"\n\
                         setting = \"\"\nmetric = \"\"\nkind = \"reduction\"\n";

    /// A claim and its rows along two loads. Each value has a name, further keys of its measure, and a published
    /// number.
    fn claim(values: &[(&str, &str, f64)]) -> (Claims, Vec<Row>) {
        let of_claim = |(name, more, published): &(&str, &str, f64)| {
            format!(
                "[[claim.value]]\nname = \"{name}\"\npublished = {published}\n\
                 measure = {{ experiment = \"e\", figure = \"fct_us.all.mean\", scheme = \"s\", baseline = \"t\", {more} }}\n"
            )
        };
        let text = values.iter().map(of_claim).collect::<String>();
        let point = |at, measured| OnCurve { at: At::Number(at), measured, interval: None };
        let row = |(name, _, published): &(&str, &str, f64)| Row {
            id: "a.b".to_owned(),
            value: (*name).to_owned(),
            kind: Kind::Reduction,
            bound: None,
            published: Some(Published::Number(*published)),
            measured: Some(0.2),
            interval: None,
            extremes: None,
            verdict: Verdict::Undecided,
            reason: None,
            scale: "quick".to_owned(),
            seeds: Some(5),
            cpu_s: None,
            experiment_hash: None,
            schemes: Vec::new(),
            drawings: Vec::new(),
            curve: Some(Curve {
                scheme: String::new(),
                key: "workload.load".to_owned(),
                points: vec![point(0.5, 0.1), point(0.8, 0.2)],
            }),
        };
        (Claims::parse(&(CLAIM.to_owned() + &text)).unwrap(), values.iter().map(row).collect())
    }

    fn drawn(values: &[(&str, &str, f64)]) -> String {
        let (claims, rows) = claim(values);
        curve_chart(&claims.all[0], &rows.iter().collect::<Vec<_>>(), Of::Row).unwrap()
    }

    #[test]
    fn the_least_and_the_most_are_lines_in_one_panel() {
        let svg =
            drawn(&[("x, least", "over = \"least\"", 0.3), ("x, most", "over = \"most\"", 0.4)]);
        let red = Look::at(1).colour;
        assert!(svg.contains("x, least and most"), "{svg}");
        assert_eq!(svg.matches("workload.load").count(), 1);
        assert_eq!(svg.matches(&format!("stroke=\"{red}\"")).count(), 2);
    }

    #[test]
    fn a_curve_without_points_is_not_drawn() {
        let (claims, mut rows) = claim(&[("x", "over = \"most\"", 0.3)]);
        rows[0].curve.as_mut().unwrap().points.clear();
        let rows: Vec<&Row> = rows.iter().collect();
        assert_eq!(curve_chart(&claims.all[0], &rows, Of::Row), None);
    }

    #[test]
    fn curves_of_quick_runs_are_said_to_be() {
        let (claims, rows) = claim(&[("x", "over = \"most\"", 0.3)]);
        let said =
            |of| curve_chart(&claims.all[0], &[&rows[0]], of).unwrap().contains("quick scale");
        assert_eq!([Of::Row, Of::Quick].map(said), [false, true]);
    }

    #[test]
    fn a_number_at_one_load_is_a_bar_there() {
        let svg = drawn(&[("x", "at = { \"workload.load\" = \"0.8\" }", 0.3)]);
        let red = Look::at(1).colour;
        assert_eq!(svg.matches(&format!("fill=\"{red}\"")).count(), 1, "{svg}");
        assert!(!svg.contains(&format!("stroke=\"{red}\"")));
    }

    /// The chart of a claim that one scheme is lower than another, with both at these values of `key`.
    fn order(key: &str, places: &[At]) -> String {
        let (claims, mut rows) = claim(&[("x", "over = \"most\"", 0.3)]);
        let point =
            |at: &At| OnCurve { at: at.clone(), measured: 120.0, interval: Some((90.0, 150.0)) };
        let curve = |scheme: &str| Curve {
            scheme: scheme.to_owned(),
            key: key.to_owned(),
            points: places.iter().map(point).collect(),
        };
        rows[0].kind = Kind::Order;
        rows[0].published = Some(Published::Order(Expected::Lower));
        rows[0].schemes = vec![curve("one & only"), curve("other")];
        scheme_chart(&claims.all[0], &[&rows[0], &rows[0]], Of::Row).unwrap()
    }

    #[test]
    fn every_scheme_is_a_line_of_one_panel() {
        let svg = order("workload.load", &[At::Number(0.5), At::Number(0.8)]);
        for words in ["one &amp; only", "other", "mean FCT, all flows", "workload.load", ">100 µs<"]
        {
            assert_eq!(svg.matches(words).count(), 1, "{words}: {svg}");
        }
        assert_eq!(svg.matches("<circle").count(), 3, "two points and the legend: {svg}");
        // One curve of each scheme in the legend, one in the panel.
        assert_eq!(svg.matches("<polyline").count(), 4, "{svg}");
    }

    #[test]
    fn values_that_are_no_numbers_are_names_without_lines_between() {
        let texts = ["trace-a b.csv", "trace-c d.csv"].map(|text| At::Text(text.to_owned()));
        let svg = order("workload.trace", &texts);
        assert!(svg.contains(">a b<") && svg.contains("workload.trace = trace-….csv"), "{svg}");
        assert_eq!(svg.matches("<polyline").count(), 2, "those of the legend: {svg}");
    }

    #[test]
    fn a_reduction_without_a_sweep_has_bars_if_it_compares_schemes() {
        let (claims, mut rows) = claim(&[("x", "over = \"most\"", 0.3)]);
        let place = OnCurve { at: At::Text(String::new()), measured: 120.0, interval: None };
        let curve = |scheme: &str| Curve {
            scheme: scheme.to_owned(),
            key: String::new(),
            points: vec![place.clone()],
        };
        rows[0].schemes = vec![curve("one"), curve("other")];
        let svg = scheme_chart(&claims.all[0], &[&rows[0]], Of::Row).unwrap();
        assert_eq!(svg.matches(">120 µs<").count(), 2, "{svg}");
        rows[0].schemes.pop();
        assert_eq!(scheme_chart(&claims.all[0], &[&rows[0]], Of::Row), None);
    }

    #[test]
    fn without_a_sweep_every_scheme_is_a_bar() {
        let svg = order("", &[At::Text(String::new())]);
        let [blue, red] = [0, 1].map(|place| format!("fill=\"{}\"", Look::at(place).colour));
        assert!(svg.matches("<rect").count() == 3 && svg.contains(&red), "{svg}");
        assert!(svg.contains(&blue) && svg.contains(">120 µs<"), "{svg}");
    }
}
