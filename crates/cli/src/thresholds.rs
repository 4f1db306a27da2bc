//! `flowsched thresholds`: the best demotion thresholds for a workload, as a table, a line for a
//! file, or JSON; one set for several loads or workloads; or a set for each of several links.

mod links;
mod one;
mod question;
mod robust;
mod text;

use std::io;

use flowsched_experiment::{Mistake, Mistakes, Place};
use flowsched_thresholds::ThresholdsError;
use serde::Serialize;

use crate::arguments::{Thresholds, ThresholdsFormat};
use crate::failure::Failure;
use question::{Kind, Question};

/// Computes the thresholds, and returns the text to print.
pub fn thresholds(wanted: &Thresholds) -> Result<String, Failure> {
    let question = Question::read(wanted)?;
    match question.kind() {
        Kind::One(forecast) => {
            let answer = one::answer(wanted, &forecast).map_err(mistake)?;
            shown(wanted, &answer, one::table, one::toml)
        }
        Kind::Robust(forecasts) => {
            let answer = robust::answer(wanted, &forecasts).map_err(mistake)?;
            shown(wanted, &answer, robust::table, robust::toml)
        }
        Kind::Links(links) => {
            let answer = links::answer(wanted, &links).map_err(mistake)?;
            shown(wanted, &answer, links::table, links::toml)
        }
    }
}

fn mistake(error: ThresholdsError) -> Failure {
    let place = Place::Argument("thresholds".into());
    Mistakes::from(Mistake::new(&place, "", error.to_string())).into()
}

fn shown<A: Serialize>(
    wanted: &Thresholds,
    answer: &A,
    table: fn(&Thresholds, &A) -> String,
    toml: fn(&Thresholds, &A) -> String,
) -> Result<String, Failure> {
    Ok(match wanted.format {
        ThresholdsFormat::Table => table(wanted, answer),
        ThresholdsFormat::Toml => toml(wanted, answer),
        ThresholdsFormat::Json => {
            let json = serde_json::to_string_pretty(answer).map_err(io::Error::from)?;
            json + "\n"
        }
    })
}
