//! Formats measured values for the data of a chart.

/// A measured value to six significant digits.
pub(crate) fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// A measured value in data; empty if there is none.
pub(crate) fn datum(value: Option<f64>) -> String {
    value.map(|value| rounded(value).to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_have_six_digits() {
        assert_eq!(datum(Some(1.0 / 3.0)), "0.333333");
        assert_eq!(datum(Some(123_456_789.0)), "123457000");
        assert_eq!(datum(Some(2.5e-7)), "0.00000025");
        assert_eq!(datum(None), "");
    }
}
