//! Numbers with a unit behind them: `"85.2us"` to 85,200,000 and back, without floating point.

use thiserror::Error;

use crate::shortened::shortened;

/// A text that is not a quantity in the unit that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("found \"{found}\", expected {allowed}{reason}")]
pub struct UnitError {
    /// What was written.
    pub found: String,
    /// What may be written.
    pub allowed: String,
    /// More about what is wrong, or nothing.
    pub reason: &'static str,
}

impl UnitError {
    fn new(found: &str, allowed: &str, reason: &'static str) -> UnitError {
        UnitError { found: shortened(found).into_owned(), allowed: allowed.to_owned(), reason }
    }
}

/// Reads a number followed by one of `suffixes` and returns the count of base units.
pub(crate) fn parse(text: &str, suffixes: &[(&str, u64)], allowed: &str) -> Result<u64, UnitError> {
    let trimmed = text.trim();
    let unit_at = trimmed.find(char::is_alphabetic).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(unit_at);
    if unit.is_empty() {
        return Err(UnitError::new(text, allowed, "; the unit is missing"));
    }
    let (_, base_units) = suffixes
        .iter()
        .find(|(suffix, _)| *suffix == unit)
        .ok_or_else(|| UnitError::new(text, allowed, "; the unit is not one of these"))?;
    scale(text, number, *base_units, allowed)
}

/// `number` times `base_units`, exactly.
pub(crate) fn scale(
    text: &str,
    number: &str,
    base_units: u64,
    allowed: &str,
) -> Result<u64, UnitError> {
    let fail = |reason| UnitError::new(text, allowed, reason);
    let number = number.trim();
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) || number.ends_with('.') {
        return Err(fail("; the number is not one from 0 on"));
    }
    let too_large = "; it is larger than can be counted";
    let whole: u128 = whole.parse().map_err(|_| fail(too_large))?;
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 18 {
        return Err(fail("; it has more decimals than the unit can carry"));
    }
    let denominator = 10u128.pow(fraction.len() as u32);
    let fraction: u128 = if fraction.is_empty() { 0 } else { fraction.parse().unwrap_or(0) };
    let product = fraction * u128::from(base_units);
    if !product.is_multiple_of(denominator) {
        return Err(fail("; it has more decimals than the unit can carry"));
    }
    let total = whole
        .checked_mul(u128::from(base_units))
        .and_then(|units| units.checked_add(product / denominator))
        .ok_or_else(|| fail(too_large))?;
    u64::try_from(total).map_err(|_| fail(too_large))
}

/// Writes `count` base units with the largest unit that is not larger than it, exactly, so
/// that [`parse`] reads the same count back.
pub(crate) fn print(count: u64, suffixes: &[(&str, u64)]) -> String {
    let fallback = suffixes[0];
    let (suffix, base_units) = suffixes
        .iter()
        .rev()
        .copied()
        .find(|(_, base_units)| count >= *base_units)
        .unwrap_or(fallback);
    let whole = count / base_units;
    let rest = count % base_units;
    if rest == 0 {
        return format!("{whole}{suffix}");
    }
    let width = base_units.ilog10() as usize;
    let decimals = format!("{rest:0width$}");
    format!("{whole}.{}{suffix}", decimals.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{Bytes, PacketMeaning, Rate, Time};

    #[test]
    fn reads_what_the_papers_write() {
        assert_eq!("85.2us".parse(), Ok(Time::from_ns(85_200)));
        assert_eq!("40Gbps".parse(), Ok(Rate::from_gbps(40)));
        assert_eq!(Bytes::parse("65pkt", PacketMeaning::Wire), Ok(Bytes::new(97_500)));
        assert_eq!(Bytes::parse("909pkt", PacketMeaning::Payload), Ok(Bytes::new(1_327_140)));
        assert_eq!("360KB".parse(), Ok(Bytes::new(360_000)));
        assert_eq!("1.5KiB".parse(), Ok(Bytes::new(1_536)));
    }

    #[test]
    fn reads_microseconds_as_they_are_displayed() {
        for text in ["0.2us", "0.2\u{b5}s", "0.2\u{3bc}s", "0.2 \u{b5}s"] {
            assert_eq!(text.parse(), Ok(Time::from_ns(200)), "{text}");
        }
        assert_eq!(Time::from_ns(200).to_string(), "200ns");
        assert_eq!(Time::from_ns(1_500).to_string(), "1.5us");
        assert!("1\u{b5}bps".parse::<Rate>().is_err());
    }

    #[test]
    fn refuses_what_is_not_a_quantity() {
        for text in ["", "us", "-1us", "1.us", "1e3us", "1.2.3us", "12", "1kbps", "1 parsec"] {
            assert!(text.parse::<Time>().is_err(), "{text:?} was read as a time");
        }
        assert!("0.5B".parse::<Bytes>().is_err(), "half a byte was read as a size");
        assert!("99999999999999999999s".parse::<Time>().is_err());
        assert!("1000000000s".parse::<Time>().is_err());
        let error = "10Gb".parse::<Rate>().unwrap_err().to_string();
        assert!(error.contains("10Gb") && error.contains("Gbps"), "{error}");
    }

    #[test]
    fn transmission_takes_a_whole_number_of_picoseconds() {
        let packet = Bytes::new(1500);
        assert_eq!(Rate::from_gbps(10).transmission_time(packet), Time::from_ns(1_200));
        assert_eq!(Rate::from_gbps(40).transmission_time(packet), Time::from_ns(300));
        assert_eq!(Rate::from_bps(3).transmission_time(Bytes::new(1)).as_ps(), 2_666_666_666_667);
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(count: u64) {
            prop_assert_eq!(Time::from_ps(count).to_string().parse(), Ok(Time::from_ps(count)));
            prop_assert_eq!(Rate::from_bps(count).to_string().parse(), Ok(Rate::from_bps(count)));
            prop_assert_eq!(Bytes::new(count).to_string().parse(), Ok(Bytes::new(count)));
        }

        #[test]
        fn no_text_panics(text: String) {
            let _ = text.parse::<Time>();
            let _ = text.parse::<Rate>();
            let _ = text.parse::<Bytes>();
        }
    }
}
