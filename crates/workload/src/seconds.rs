//! Seconds in decimal notation to picoseconds and back, without floating point.

use flowsched_units::Time;

/// Decimals of a second that a picosecond needs.
const DECIMALS: usize = 12;

/// Reads `"0.0125"` or `"1.25e-2"`. Decimals beyond the picosecond are rounded to the nearest.
/// None if it is no such number, is negative, or is more than a [`Time`] can hold.
pub(crate) fn parse(text: &str) -> Option<Time> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Some(Time::ZERO);
    }
    // The value is 0.digits times 10^`whole_digits` picoseconds.
    let shift = i64::from(exponent) + DECIMALS as i64 - fraction.len() as i64;
    let whole_digits = digits.len() as i64 + shift;
    match usize::try_from(whole_digits) {
        Err(_) => Some(Time::ZERO),
        Ok(count) if count > 20 => None,
        Ok(count) => {
            let zeros = "0".repeat(count.saturating_sub(digits.len()));
            let (kept, cut) = digits.split_at(count.min(digits.len()));
            let kept: u64 = format!("0{kept}{zeros}").parse().ok()?;
            let round_up = cut.bytes().next().is_some_and(|digit| digit >= b'5');
            kept.checked_add(round_up.into()).map(Time::from_ps)
        }
    }
}

/// Writes seconds so that [`parse`] reads the same time back.
pub(crate) fn print(time: Time) -> String {
    let one_second = 10u64.pow(DECIMALS as u32);
    let (whole, rest) = (time.as_ps() / one_second, time.as_ps() % one_second);
    let all = format!("{whole}.{rest:0DECIMALS$}");
    all.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn seconds_are_read_to_the_picosecond() {
        let ps = |text: &str| parse(text).map(Time::as_ps);
        assert_eq!(ps("0"), Some(0));
        assert_eq!(ps("1.00000517816"), Some(1_000_005_178_160));
        assert_eq!(ps("0.000000000001"), Some(1));
        assert_eq!(ps("1e-12"), Some(1));
        assert_eq!(ps("1.25E+2"), Some(125_000_000_000_000));
        assert_eq!(ps(".5"), Some(500_000_000_000));
        assert_eq!(ps("5."), Some(5_000_000_000_000));
        // Sums of binary fractions, as scripts print them: to the nearest.
        assert_eq!(ps("0.30000000000000004"), Some(300_000_000_000));
        assert_eq!(ps("0.0000000000005"), Some(1));
        assert_eq!(ps("0.0000000000004999"), Some(0));
        assert_eq!(ps("1e-2000000000"), Some(0));
        assert_eq!(ps("0.9999999999999"), Some(1_000_000_000_000));
        assert_eq!(ps("18446744.073709551615"), Some(u64::MAX));
    }

    #[test]
    fn what_is_not_seconds_is_refused() {
        let bad = ["", ".", "e5", "-1", "+1", "1,5", "NaN", "inf", "1e", "1e1.5", "0x10", "1 2"];
        for text in bad {
            assert_eq!(parse(text), None, "{text}");
        }
        for text in ["18446744.073709551616", "18446744.0737095516159", "1e8", "1e2000000000"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(ps: u64) {
            let time = Time::from_ps(ps);
            prop_assert_eq!(parse(&print(time)), Some(time));
        }

        #[test]
        fn it_is_what_floating_point_gives_within_its_error(seconds in 0.0f64..1e4) {
            let exact = parse(&seconds.to_string()).unwrap().as_ps() as f64;
            prop_assert!((exact - seconds * 1e12).abs() <= 0.5 + seconds * 1e12 * f64::EPSILON);
            prop_assert_eq!(parse(&format!("{seconds:e}")), parse(&seconds.to_string()));
        }

        #[test]
        fn no_text_panics(text in "[0-9.eE+-]{0,30}|\\PC*") {
            let _ = parse(&text);
        }
    }
}
