//! Axes, linear or logarithmic, and their ticks.

use crate::datum::rounded;

/// The approximate share of an axis that is one pixel.
const PIXEL: f64 = 1.0 / 160.0;

/// How values map to an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    Linear,
    /// For positive values.
    Log,
}

/// What an axis measures.
#[derive(Clone)]
pub(crate) struct Quantity {
    /// Its name in words.
    pub title: String,
    /// Its name in data, with its unit: `fct_us`.
    pub column: String,
    /// How a value is written on the axis.
    pub label: fn(f64) -> String,
}

/// An axis: what it measures, its range, and how its values are written.
pub(crate) struct Axis {
    pub title: String,
    pub column: String,
    scale: Scale,
    from: f64,
    to: f64,
    label: fn(f64) -> String,
    /// Names of the values 0, 1, 2 and so on, where values are no numbers.
    names: Vec<String>,
    /// Ticks that the axis has whatever its range; `None` for round ones.
    fixed: Option<Vec<f64>>,
}

impl Axis {
    /// An axis that holds all of `values`. It begins at zero if it is linear and no value is
    /// negative.
    pub fn holding(of: Quantity, scale: Scale, values: impl IntoIterator<Item = f64>) -> Axis {
        let usable = |value: &f64| value.is_finite() && (scale == Scale::Linear || *value > 0.0);
        let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.into_iter().filter(usable) {
            (from, to) = (from.min(value), to.max(value));
        }
        if from > to {
            (from, to) = (1.0, 1.0);
        }
        match scale {
            Scale::Linear => {
                from = from.min(0.0);
                to = to.max(0.0);
                let room = if to > from { (to - from) * 0.06 } else { 1.0 };
                from -= if from < 0.0 { room } else { 0.0 };
                to += if to > 0.0 || from == 0.0 { room } else { 0.0 };
            }
            Scale::Log => (from, to) = (from / 1.15, to * 1.15),
        }
        Axis::between(of, scale, (from, to))
    }

    /// An axis with these ends.
    pub fn between(of: Quantity, scale: Scale, (from, to): (f64, f64)) -> Axis {
        let Quantity { title, column, label } = of;
        Axis { title, column, scale, from, to, label, names: Vec::new(), fixed: None }
    }

    /// An axis with a tick for each of `names`, at 0, 1, 2 and so on.
    pub fn of_names(title: &str, names: Vec<String>) -> Axis {
        let ends = (-0.5, names.len() as f64 - 0.5);
        let ticks = (0..names.len()).map(|place| place as f64).collect();
        let of = Quantity {
            title: title.to_owned(),
            column: title.to_owned(),
            label: |value| value.to_string(),
        };
        Axis { names, ..Axis::between(of, Scale::Linear, ends) }.with_ticks(ticks)
    }

    /// This axis with ticks only at `values`.
    pub fn with_ticks(self, values: Vec<f64>) -> Axis {
        Axis { fixed: Some(values), ..self }
    }

    /// Where `value` lies between the ends, 0 to 1; the nearest end if it lies outside.
    pub fn fraction(&self, value: f64) -> f64 {
        let value = value.clamp(self.from, self.to);
        match self.scale {
            Scale::Linear => (value - self.from) / (self.to - self.from),
            Scale::Log => (value / self.from).log10() / (self.to / self.from).log10(),
        }
    }

    /// Whether `value` lies between the ends.
    pub fn holds(&self, value: f64) -> bool {
        (self.from..=self.to).contains(&value)
    }

    /// The ends of the axis.
    pub fn ends(&self) -> (f64, f64) {
        (self.from, self.to)
    }

    /// How a value is written on the axis.
    pub fn text(&self, value: f64) -> String {
        match self.names.get(value as usize) {
            Some(name) => shortened(name, 10),
            None => (self.label)(value),
        }
    }

    /// How a value is written in data, never shortened.
    pub fn datum(&self, value: f64) -> String {
        self.names.get(value as usize).cloned().unwrap_or_else(|| value.to_string())
    }

    /// The points to six digits, without those that nobody could see because they are less than
    /// about a pixel from the one before. The first and the last point stay.
    pub fn thinned(&self, y: &Axis, points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
        let place = |point: (f64, f64)| (self.fraction(point.0), y.fraction(point.1));
        let mut kept: Vec<(f64, f64)> = Vec::new();
        let end = points.len().saturating_sub(1);
        for (index, point) in points.into_iter().enumerate() {
            let near = kept.last().is_some_and(|last| {
                let (a, b) = (place(*last), place(point));
                (a.0 - b.0).abs().max((a.1 - b.1).abs()) < PIXEL
            });
            if !near || index == end {
                kept.push((rounded(point.0), rounded(point.1)));
            }
        }
        kept
    }

    /// The fixed ticks if the axis has some. Otherwise round values within the ends of the axis, at
    /// most about `most`.
    pub fn ticks(&self, most: usize) -> Vec<f64> {
        match (&self.fixed, self.scale) {
            (Some(ticks), _) => ticks.clone(),
            (None, Scale::Linear) => linear_ticks(self.from, self.to, most),
            (None, Scale::Log) => {
                let ticks = log_ticks(self.from, self.to, most);
                // Within a narrow range there may be no round value of the logarithmic kind.
                if ticks.len() < 2 { linear_ticks(self.from, self.to, most) } else { ticks }
            }
        }
    }
}

/// The text, or its beginning and an ellipsis, in at most `most` characters.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

fn linear_ticks(from: f64, to: f64, most: usize) -> Vec<f64> {
    let least = (to - from) / most.max(1) as f64;
    let power = 10f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= least);
    let Some(step) = step else { return Vec::new() };
    let (first, last) = ((from / step).ceil() as i64, (to / step).floor() as i64);
    (first..=last).map(|i| i as f64 * step).collect()
}

fn log_ticks(from: f64, to: f64, most: usize) -> Vec<f64> {
    let (first, last) = (from.log10().floor() as i32, to.log10().ceil() as i32);
    let at = |steps: &[f64], every: usize| -> Vec<f64> {
        let decades = (first..=last).step_by(every);
        let values = decades.flat_map(|decade| steps.iter().map(move |s| s * 10f64.powi(decade)));
        values.filter(|v| (from..=to).contains(v)).collect()
    };
    let finest: [&[f64]; 3] = [&[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];
    let fits = |ticks: &Vec<f64>| ticks.len() <= most;
    let fine = finest.into_iter().map(|steps| at(steps, 1)).find(fits);
    fine.or_else(|| (2..10).map(|every| at(&[1.0], every)).find(fits)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantity() -> Quantity {
        let column = "value".to_owned();
        Quantity { title: String::new(), column, label: |value| value.to_string() }
    }

    fn texts(scale: Scale, values: &[f64], most: usize) -> Vec<String> {
        let axis = Axis::holding(quantity(), scale, values.iter().copied());
        axis.ticks(most).into_iter().map(|tick| axis.text(tick)).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(texts(Scale::Linear, &[3.0, 97.0], 6), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(texts(Scale::Linear, &[-30.0, 5.0], 4), ["-30", "-20", "-10", "0"]);
        assert_eq!(texts(Scale::Log, &[80.0, 90_000.0], 6), ["100", "1000", "10000", "100000"]);
        assert_eq!(texts(Scale::Log, &[2.0, 9.0], 6), ["2", "5", "10"]);
        assert_eq!(texts(Scale::Log, &[1e-3, 1e9], 6).len(), 6);
    }

    #[test]
    fn nothing_or_one_value_still_makes_an_axis() {
        for values in [&[][..], &[0.0], &[7.0], &[f64::NAN], &[-2.0]] {
            for scale in [Scale::Linear, Scale::Log] {
                let axis = Axis::holding(quantity(), scale, values.iter().copied());
                let (from, to) = axis.ends();
                assert!(from < to, "{scale:?} axis of {values:?} from {from} to {to}");
            }
        }
    }

    #[test]
    fn a_narrow_logarithmic_range_has_ticks() {
        assert_eq!(texts(Scale::Log, &[150.0], 4), ["140", "160"]);
    }

    #[test]
    fn names_are_short_on_the_axis_and_whole_in_data() {
        let axis = Axis::of_names("topology.routing", vec!["a".into(), "a long routing".into()]);
        assert_eq!(axis.text(1.0), "a long ro…");
        assert_eq!(axis.datum(1.0), "a long routing");
    }

    #[test]
    fn a_thin_curve_has_its_ends_and_few_points() {
        let x = Axis::between(quantity(), Scale::Linear, (0.0, 1e5));
        let y = Axis::between(quantity(), Scale::Linear, (0.0, 1.0));
        let points: Vec<(f64, f64)> =
            (0..=100_000).map(|i| (f64::from(i), f64::from(i) / 1e5)).collect();
        let thin = x.thinned(&y, points.clone());
        assert!(thin.len() <= 321, "{} points", thin.len());
        assert_eq!((thin.first(), thin.last()), (points.first(), points.last()));
    }
}
