//! CDF files: one `size_bytes cumulative` pair a line.

use flowsched_units::shortened;
use thiserror::Error;

use super::{LARGEST_SIZE, Point, SizeDistribution};

/// An invalid line of a CDF.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: found {found}, expected {allowed}")]
pub struct CdfError {
    /// The line, counted from 1. The last line if something is missing at the end.
    pub line: usize,
    /// What was found.
    pub found: String,
    /// What is allowed.
    pub allowed: String,
}

/// Reads a CDF. Each line is a pair of a size in bytes and the probability of this size or less.
/// Both rise, the last probability is 1, and the CDF is linear between two lines. `#` starts a
/// comment. A repeated size is an atom, and so is the first size if its probability is over 0.
///
/// # Errors
/// [`CdfError`] with the line where sizes or probabilities fall, are no numbers or out of
/// range, mass is at size 0, or the end is not 1.
pub fn parse_cdf(text: &str) -> Result<SizeDistribution, CdfError> {
    let mut points: Vec<Point> = Vec::new();
    let mut last_line = 1;
    for (index, line) in text.lines().enumerate() {
        let line_number = index + 1;
        let content = line.split('#').next().unwrap_or("").trim();
        if content.is_empty() {
            continue;
        }
        last_line = line_number;
        let fail = |found: String, allowed: &str| CdfError {
            line: line_number,
            found: shortened(&found).into_owned(),
            allowed: allowed.to_owned(),
        };
        let point = pair(content).ok_or_else(|| {
            fail(format!("\"{content}\""), "a size in bytes and a probability, \"10000 0.15\"")
        })?;
        check(point, points.last().copied()).map_err(|(found, allowed)| fail(found, &allowed))?;
        points.push(point);
    }
    end_at_one(&mut points, last_line)?;
    Ok(SizeDistribution::from_points(points))
}

fn pair(content: &str) -> Option<Point> {
    let mut words = content.split_whitespace();
    let (size, cumulative) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    words.next().is_none().then_some(Point::new(size, cumulative))
}

/// What is wrong with `point` after `before`, and what would be right.
fn check(point: Point, before: Option<Point>) -> Result<(), (String, String)> {
    let Point { size, cumulative } = point;
    if !(0.0..=LARGEST_SIZE).contains(&size) {
        return Err((format!("size {size}"), format!("a size from 0 to {LARGEST_SIZE:e} B")));
    }
    // Allows for rounding errors in sums of probabilities.
    if !(0.0..=1.0 + TOLERANCE).contains(&cumulative) {
        return Err((format!("probability {cumulative}"), "a probability from 0 to 1".to_owned()));
    }
    if size < 1.0 && size > 0.0 || size == 0.0 && cumulative > 0.0 {
        let found = format!("probability {cumulative} at size {size}");
        return Err((found, "no mass at sizes under 1 B, but \"0 0\" to start with".to_owned()));
    }
    let Some(before) = before else { return Ok(()) };
    if size < before.size {
        let found = format!("size {size} after {}", before.size);
        return Err((found, "sizes that do not fall".to_owned()));
    }
    if cumulative < before.cumulative {
        let found = format!("probability {cumulative} after {}", before.cumulative);
        return Err((found, "probabilities that do not fall".to_owned()));
    }
    Ok(())
}

const TOLERANCE: f64 = 1e-9;

fn end_at_one(points: &mut [Point], line: usize) -> Result<(), CdfError> {
    let fail = |found: String| {
        let allowed = "a last line with probability 1".to_owned();
        Err(CdfError { line, found, allowed })
    };
    let Some(last) = points.last() else {
        return fail("no line with a size and a probability".to_owned());
    };
    if last.cumulative < 1.0 - TOLERANCE {
        return fail(format!("a last probability of {}", last.cumulative));
    }
    for point in points.iter_mut().filter(|point| point.cumulative >= 1.0 - TOLERANCE) {
        point.cumulative = 1.0;
    }
    Ok(())
}
