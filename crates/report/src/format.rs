//! Formats numbers for tables and axes.

use flowsched_experiment::results::Change;

/// Three significant digits, without an exponent for anything that a table holds.
fn significant(value: f64) -> String {
    let size = value.abs();
    let decimals = match size {
        _ if size == 0.0 => 0,
        _ if size < 0.9995 => 3,
        _ if size < 9.995 => 2,
        _ if size < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// A length of time given in microseconds: `85.2 µs`, `1.53 ms`, `12.0 s`.
pub(crate) fn duration(us: f64) -> String {
    scaled(us, &[("µs", 1.0), ("ms", 1e3), ("s", 1e6)])
}

/// A size given in bytes: `1.50 KB`, powers of 1000.
pub(crate) fn size(bytes: f64) -> String {
    scaled(bytes, &[("B", 1.0), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9)])
}

fn scaled(value: f64, units: &[(&str, f64)]) -> String {
    let largest = units.iter().rev().find(|(_, of)| value.abs() >= of * 0.9995);
    let (unit, of) = largest.or(units.first()).copied().unwrap_or(("", 1.0));
    format!("{} {unit}", significant(value / of))
}

/// A number and its unit without needless decimals, for axes: `100 µs`, `1 ms`.
pub(crate) fn short(text: String) -> String {
    let (number, unit) = text.split_once(' ').unwrap_or((&text, ""));
    let number = match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    };
    if unit.is_empty() { number.to_owned() } else { format!("{number} {unit}") }
}

/// A count with commas: `1,234,567`.
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with commas, or a dash if nobody counted.
pub(crate) fn count_or_dash(value: Option<u64>) -> String {
    value.map_or("-".to_owned(), count)
}

/// A share as a percentage with three significant digits: `0.125%`, `12.0%`.
pub(crate) fn share(value: f64) -> String {
    format!("{}%", significant(value * 100.0))
}

/// A relative difference: `-21.0%`.
pub(crate) fn change(value: f64) -> String {
    let percent = value * 100.0;
    match percent.abs() {
        // A number that is rounded to 0 has no sign.
        size if size < 0.05 => "0.0%".to_owned(),
        size if size < 999.95 => format!("{percent:+.1}%"),
        _ => format!("{percent:+.0}%"),
    }
}

/// The interval of a relative difference in percent, `[-22.3, -19.7]`, if it is known. Two seeds
/// that differ may leave the upper end almost open: beyond 9999% it is `>9999`.
pub(crate) fn interval(of: &Change) -> Option<String> {
    let end = |end: f64| match end {
        end if end > 99.99 => ">9999".to_owned(),
        _ => change(end).replace('%', ""),
    };
    Some(format!("[{}, {}]", end(of.low?), end(of.high?)))
}

/// A relative difference with its interval, `-21.0% [-22.3, -19.7]`; `-` if there is none.
pub fn change_in_words(of: &Change) -> String {
    let Some(known) = of.change.map(change) else { return "-".to_owned() };
    interval(of).map_or(known.clone(), |interval| format!("{known} {interval}"))
}

/// A number with its noun: `1 seed`, `3 seeds`.
pub(crate) fn plural(number: usize, what: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {what}{ending}", count(number as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_that_rounds_to_nothing_has_no_sign() {
        let of =
            |change: f64| Change { change: Some(change), low: Some(-0.223), high: Some(0.197) };
        assert_eq!(change_in_words(&of(-0.0001)), "0.0% [-22.3, +19.7]");
        assert_eq!(change_in_words(&of(-0.21)), "-21.0% [-22.3, +19.7]");
        let alone = Change { change: Some(0.5), low: None, high: None };
        assert_eq!(change_in_words(&alone), "+50.0%");
        assert_eq!(change_in_words(&Change { change: None, ..alone }), "-");
    }

    #[test]
    fn three_digits_and_the_unit_that_fits() {
        let texts = [
            (0.0, "0 µs"),
            (0.25, "0.250 µs"),
            (85.23, "85.2 µs"),
            (999.4, "999 µs"),
            (999.7, "1.00 ms"),
            (1_530.0, "1.53 ms"),
            (12e6, "12.0 s"),
            (1234e6, "1234 s"),
        ];
        for (us, text) in texts {
            assert_eq!(duration(us), text);
        }
        assert_eq!(size(1_460.0), "1.46 KB");
        assert_eq!(short(duration(1_000.0)), "1 ms");
        assert_eq!(short(duration(100.0)), "100 µs");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!((share(0.00125), share(0.12)), ("0.125%".to_owned(), "12.0%".to_owned()));
    }

    #[test]
    fn a_change_has_a_sign_and_an_interval() {
        let of = |low, high| interval(&Change { change: Some(0.0), low, high });
        assert_eq!(of(Some(-0.223), Some(0.197)), Some("[-22.3, +19.7]".to_owned()));
        assert_eq!(of(Some(-0.9), Some(1e9)), Some("[-90.0, >9999]".to_owned()));
        assert_eq!(of(None, None), None);
        assert_eq!(change(-0.21), "-21.0%");
        assert_eq!(change(-0.0001), "0.0%");
        assert_eq!(change(12.5), "+1250%");
    }
}
