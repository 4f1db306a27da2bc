//! Distributions as they are written in one line: a built-in name, or a form such as
//! `fixed 20KB`.

use flowsched_units::{Bytes, shortened};

use super::error::{check_rising, malformed};
use super::{BUILT_IN, LARGEST_SIZE, SizeDistribution, SizesError};

/// A way to write a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// Its first word.
    pub word: &'static str,
    /// The whole line, with capitals where values go.
    pub usage: &'static str,
    /// What it is, in one sentence.
    pub about: &'static str,
}

/// The ways to write a distribution other than by name.
pub const FORMS: &[Form] = &[
    Form { word: "fixed", usage: "fixed SIZE", about: "every flow has this size" },
    Form {
        word: "uniform",
        usage: "uniform FROM TO",
        about: "evenly between two sizes, such as \"uniform 2KB 198KB\"",
    },
    Form {
        word: "exponential",
        usage: "exponential MEAN",
        about: "exponential with this mean, such as \"exponential 100KB\"",
    },
    Form {
        word: "pareto",
        usage: "pareto SHAPE FROM TO",
        about: "bounded Pareto, such as \"pareto 1.1 1KB 1GB\"",
    },
    Form {
        word: "lognormal",
        usage: "lognormal MEAN SIGMA",
        about: "lognormal with this mean; SIGMA is the standard deviation of the natural \
                logarithm, such as \"lognormal 100KB 1.5\"",
    },
];

/// The distribution that `text` names: one of [`BUILT_IN`] or one of [`FORMS`].
///
/// # Errors
/// [`SizesError::Unknown`] if it does not begin like any of them, [`SizesError::Malformed`] if
/// it begins like a form and does not go on like it.
pub fn by_name(text: &str) -> Result<SizeDistribution, SizesError> {
    let text = text.trim();
    if let Some(built_in) = BUILT_IN.iter().find(|built_in| built_in.name == text) {
        return Ok(built_in.sizes());
    }
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or("");
    let Some(form) = FORMS.iter().find(|form| form.word == first) else {
        return Err(unknown(text));
    };
    let malformed = || malformed(format!("\"{text}\""), format!("\"{}\"", form.usage));
    let values: Vec<&str> = words.collect();
    match (form.word, values.as_slice()) {
        ("fixed", [value]) => Ok(SizeDistribution::fixed(size(value)?)),
        ("uniform", [from, to]) => {
            let (from, to) = (size(from)?, size(to)?);
            check_rising("uniform", from, to)?;
            Ok(SizeDistribution::uniform(from, to))
        }
        ("exponential", [mean]) => Ok(SizeDistribution::exponential(size(mean)?)),
        ("pareto", [shape, from, to]) => {
            SizeDistribution::bounded_pareto(number(shape)?, size(from)?, size(to)?)
        }
        ("lognormal", [mean, sigma]) => SizeDistribution::lognormal(size(mean)?, number(sigma)?),
        _ => Err(malformed()),
    }
}

fn unknown(text: &str) -> SizesError {
    let names = BUILT_IN.iter().map(|built_in| built_in.name.to_owned());
    let forms = FORMS.iter().map(|form| format!("\"{}\"", form.usage));
    let allowed: Vec<String> = names.chain(forms).collect();
    SizesError::Unknown { found: shortened(text).into_owned(), allowed: allowed.join(", ") }
}

fn size(text: &str) -> Result<Bytes, SizesError> {
    let size: Bytes = text.parse().map_err(|_| malformed(format!("\"{text}\""), size_allowed()))?;
    if size == Bytes::ZERO || size.get() as f64 > LARGEST_SIZE {
        return Err(malformed(format!("\"{text}\""), size_allowed()));
    }
    Ok(size)
}

fn size_allowed() -> String {
    "a size from 1B to 1000000GB, such as \"20KB\" or \"5pkt\"".to_owned()
}

fn number(text: &str) -> Result<f64, SizesError> {
    text.parse().map_err(|_| malformed(format!("\"{text}\""), "a number".to_owned()))
}
