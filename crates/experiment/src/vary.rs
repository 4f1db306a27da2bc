//! Parses the values of a varied key, such as `0.5..0.9:0.1` and `0.5,0.8`, and combines values into
//! points.

use crate::mistake::{Mistake, Place};

/// The most values of one key, and the most points of an experiment.
const MOST: usize = 10_000;

/// The forms of values, for errors.
const ALLOWED: &str = "values such as \"0.5,0.8\" or a range with its step, \"0.5..0.9:0.1\"";

/// A key that takes several values.
#[derive(Clone, Debug)]
pub(crate) struct Variation {
    /// The key as it was written, `workload.load` or `scheme.pias.queues`.
    pub key: String,
    /// The canonical spelling of the key, `scheme.1.queues`.
    pub path: String,
    /// The values as the file would have them.
    pub values: Vec<String>,
    /// The place of the values.
    pub place: Place,
}

/// Parses the values of `key` on a command line: a range `0.5..0.9:0.1`, a list `0.5,0.8` or a
/// single value.
///
/// # Errors
/// If a value is empty or given twice, if there are too many values, or if a range is malformed.
pub fn values(key: &str, values: &str, place: &Place) -> Result<Vec<String>, Mistake> {
    let refuse = |reason: &str| {
        Mistake::found(place, key, format_args!("\"{values}\""), format!("{ALLOWED}{reason}"))
    };
    let list = match values.split_once("..") {
        Some((from, rest)) if from.starts_with(|c: char| c.is_ascii_digit()) => {
            range(from, rest).map_err(refuse)?
        }
        _ => values.split(',').map(|value| value.trim().to_owned()).collect(),
    };
    if list.iter().any(String::is_empty) {
        return Err(refuse("; one of them is empty"));
    }
    if list.len() > MOST {
        return Err(refuse("; these are too many"));
    }
    let mut seen = std::collections::BTreeSet::new();
    if !list.iter().all(|value| seen.insert(value)) {
        return Err(refuse("; one of them is there twice"));
    }
    Ok(list)
}

impl Variation {
    /// Reads the `values` of `key`.
    pub fn parse(key: &str, path: &str, values: &str, place: &Place) -> Result<Variation, Mistake> {
        let values = self::values(key, values, place)?;
        Ok(Variation { key: key.to_owned(), path: path.to_owned(), values, place: place.clone() })
    }
}

/// Every combination of the keys' values. The last key changes fastest. A point has the index of
/// the value for each variation.
pub(crate) fn points(variations: &[Variation]) -> Result<Vec<Vec<usize>>, Mistake> {
    let mut points = vec![Vec::new()];
    for variation in variations {
        if points.len() * variation.values.len() > MOST {
            let allowed = format!("at most {MOST} combinations of values");
            return Err(Mistake::found(&variation.place, &variation.key, "more", allowed));
        }
        points = points
            .iter()
            .flat_map(|point| {
                (0..variation.values.len()).map(|value| [point.as_slice(), &[value]].concat())
            })
            .collect();
    }
    Ok(points)
}

/// Expands a range. `from`, `to` and the step are decimal, so that 0.5..0.9:0.1 ends at 0.9.
fn range(from: &str, rest: &str) -> Result<Vec<String>, &'static str> {
    let (to, step) = rest.split_once(':').ok_or("; the step is missing")?;
    let parts = [from, to, step].map(str::trim).map(Quantity::parse);
    let [Some(from), Some(to), Some(step)] = parts else {
        return Err("; a range is of numbers, or of numbers with one unit");
    };
    if from.unit != to.unit || from.unit != step.unit {
        return Err("; the units differ");
    }
    let decimals = from.decimals.max(to.decimals).max(step.decimals);
    let [first, last, step] = [&from, &to, &step].map(|quantity| quantity.scaled(decimals));
    if step == 0 || last < first {
        return Err("; the step is 0 or the end is before the start");
    }
    if (last - first) / step >= MOST as u128 {
        return Err("; these are too many");
    }
    let values = (0..=(last - first) / step).map(|index| first + index * step);
    Ok(values.map(|value| print(value, decimals, from.unit)).collect())
}

/// A decimal number and its unit.
struct Quantity<'a> {
    digits: u128,
    decimals: u32,
    unit: &'a str,
}

impl Quantity<'_> {
    fn parse(text: &str) -> Option<Quantity<'_>> {
        let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(unit_at);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        // Few enough digits that no sum or product below can overflow.
        if whole.is_empty() || whole.len() > 15 || fraction.len() > 15 || fraction.contains('.') {
            return None;
        }
        let digits = format!("{whole}{fraction}").parse().ok()?;
        Some(Quantity { digits, decimals: fraction.len() as u32, unit: unit.trim() })
    }

    fn scaled(&self, decimals: u32) -> u128 {
        self.digits * 10u128.pow(decimals - self.decimals)
    }
}

fn print(value: u128, decimals: u32, unit: &str) -> String {
    let scale = 10u128.pow(decimals);
    let (whole, fraction) = (value / scale, value % scale);
    if fraction == 0 {
        return format!("{whole}{unit}");
    }
    let fraction = format!("{fraction:0width$}", width = decimals as usize);
    format!("{whole}.{}{unit}", fraction.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(text: &str) -> Result<Vec<String>, String> {
        let place = Place::Argument(format!("--vary a={text}"));
        Variation::parse("a", "a", text, &place).map(|v| v.values).map_err(|e| e.to_string())
    }

    #[test]
    fn ranges_hit_their_ends() {
        assert_eq!(values("0.5..0.9:0.1").unwrap(), ["0.5", "0.6", "0.7", "0.8", "0.9"]);
        assert_eq!(values("1..10:4").unwrap(), ["1", "5", "9"]);
        assert_eq!(values("10us..20us:5us").unwrap(), ["10us", "15us", "20us"]);
        assert_eq!(values("0.05..0.1:0.05").unwrap(), ["0.05", "0.1"]);
    }

    #[test]
    fn lists_are_taken_as_they_are() {
        assert_eq!(values("spray, ecmp").unwrap(), ["spray", "ecmp"]);
        assert_eq!(values("../a.csv,../b.csv").unwrap(), ["../a.csv", "../b.csv"]);
        assert_eq!(values("10KB 20KB,30KB 40KB").unwrap(), ["10KB 20KB", "30KB 40KB"]);
    }

    #[test]
    fn what_is_neither_is_refused_with_the_argument() {
        for text in
            ["", "1,,2", "1,1", "1..2", "2..1:1", "1..2:0", "1..2us:1", "1..x:1", "0..9:0.0001"]
        {
            let error = values(text).unwrap_err();
            assert!(error.starts_with(&format!("--vary a={text}: a: found")), "{error}");
        }
    }

    #[test]
    fn points_are_all_combinations() {
        let place = Place::Argument(String::new());
        let vary = |key, values| Variation::parse(key, key, values, &place).unwrap();
        let points = points(&[vary("a", "1,2"), vary("b", "x,y")]).unwrap();
        assert_eq!(points, [[0, 0], [0, 1], [1, 0], [1, 1]]);
        let many = [vary("a", "1..5000:1"), vary("b", "1..5000:1")];
        assert!(super::points(&many).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,40}") {
            let _ = values(&text);
        }

        #[test]
        fn any_range_is_read_or_refused(text in "[0-9]{1,16}(\\.[0-9]{1,16})?\\.\\.[0-9.]{1,9}:[0-9.]{1,9}") {
            let _ = values(&text);
        }
    }
}
