//! Axes: linear or logarithmic, and where their ticks are.

/// How values map to an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    Linear,
    /// For positive values.
    Log,
}

/// An axis: its title, its range, and how its numbers are written.
pub(crate) struct Axis {
    pub title: String,
    scale: Scale,
    from: f64,
    to: f64,
    label: Box<dyn Fn(f64) -> String>,
    /// Ticks that it has whatever its range; otherwise round ones.
    fixed: Option<Vec<f64>>,
}

impl Axis {
    /// An axis that holds all of `values`; from zero on if it is linear and none is negative.
    pub fn holding(
        title: impl Into<String>,
        scale: Scale,
        values: impl IntoIterator<Item = f64>,
        label: impl Fn(f64) -> String + 'static,
    ) -> Axis {
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
        Axis { title: title.into(), scale, from, to, label: Box::new(label), fixed: None }
    }

    /// A linear axis with these ends.
    pub fn between(
        title: impl Into<String>,
        from: f64,
        to: f64,
        label: impl Fn(f64) -> String + 'static,
    ) -> Axis {
        let (title, label) = (title.into(), Box::new(label));
        Axis { title, scale: Scale::Linear, from, to, label, fixed: None }
    }

    /// An axis with a tick for each of `names`, at 0, 1, 2 and so on.
    pub fn of_names(title: impl Into<String>, names: Vec<String>) -> Axis {
        let count = names.len() as f64;
        let ticks = (0..names.len()).map(|place| place as f64).collect();
        let name = move |place: f64| names.get(place as usize).cloned().unwrap_or_default();
        Axis { fixed: Some(ticks), ..Axis::between(title, -0.5, count - 0.5, name) }
    }

    /// The same with ticks at `values` alone.
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

    /// Its ends.
    pub fn ends(&self) -> (f64, f64) {
        (self.from, self.to)
    }

    /// How a value is written.
    pub fn text(&self, value: f64) -> String {
        (self.label)(value)
    }

    /// Round values within its ends, at most about `most`.
    pub fn ticks(&self, most: usize) -> Vec<f64> {
        match (&self.fixed, self.scale) {
            (Some(ticks), _) => ticks.clone(),
            (None, Scale::Linear) => linear_ticks(self.from, self.to, most),
            (None, Scale::Log) => log_ticks(self.from, self.to, most),
        }
    }
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

    fn texts(scale: Scale, values: &[f64], most: usize) -> Vec<String> {
        let axis = Axis::holding("", scale, values.iter().copied(), |v| format!("{v}"));
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
                let axis = Axis::holding("", scale, values.iter().copied(), |v| format!("{v}"));
                let (from, to) = axis.ends();
                assert!(from < to, "{scale:?} axis of {values:?} from {from} to {to}");
            }
        }
    }
}
