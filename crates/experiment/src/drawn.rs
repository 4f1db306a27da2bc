//! Reads the sizes of drawn flows, and checks which keys drawn flows need.

use std::io;
use std::sync::Arc;

use flowsched_units::Settings;
use flowsched_workload::parameters::LOAD;
use flowsched_workload::sizes::{self, BUILT_IN, FORMS, SizeDistribution, SizesError};

use crate::document::Table;
use crate::inputs::Inputs;
use crate::mistake::{Mistake, Mistakes, Place, Source};
use crate::relevance::{Starts, misplaced, starts_of};

/// Returns the sizes of drawn flows, if all keys that drawing needs are there.
pub(crate) fn drawn(
    table: &Table,
    settings: &Settings,
    inputs: &mut Inputs<'_>,
    mistakes: &mut Mistakes,
) -> Option<SizeDistribution> {
    for (key, entry) in &table.entries {
        if let Some(problem) = misplaced(settings, key) {
            mistakes.add(Mistake::new(&entry.key_place, table.label_of(key), problem));
        }
    }
    let needs_load = starts_of(settings) == Starts::Poisson;
    if needs_load && !table.entries.contains_key("load") {
        let problem = "`load` is missing. Give a load over 0 and up to 1, the time of the first start \
                       (`at`), or a `trace`.";
        mistakes.add(Mistake::new(&table.place, table.label_of("load"), problem));
    }
    let sizes = size_distribution(table, inputs, mistakes);
    sizes.filter(|_| !needs_load || settings.get(&LOAD).is_some())
}

fn size_distribution(
    table: &Table,
    inputs: &mut Inputs<'_>,
    mistakes: &mut Mistakes,
) -> Option<SizeDistribution> {
    let (place, key) = (table.place_of("sizes"), table.label_of("sizes"));
    let Some(text) = table.text("sizes") else {
        let problem = "`sizes` is missing. Give a built-in name, a form such as \"fixed 20KB\", or a \
                       CDF file, or replace drawn flows by a `trace`.";
        let mistake = Mistake::new(place, key, problem);
        mistakes.add(mistake.with_help("`flowsched list workloads` shows what there is"));
        return None;
    };
    match sizes(text, &key, place, &mut |path| inputs.read(path)) {
        Ok(sizes) => Some(sizes),
        Err(mistake) => {
            mistakes.add(mistake);
            None
        }
    }
}

/// The distribution that `text` stands for: a built-in name, a form such as `fixed 20KB`, or a CDF
/// file that `open` finds.
///
/// # Errors
/// A [`Mistake`] of `key` at `place`, or a mistake in the CDF file at its line.
pub fn sizes(
    text: &str,
    key: &str,
    place: &Place,
    open: &mut dyn FnMut(&str) -> io::Result<Arc<Source>>,
) -> Result<SizeDistribution, Mistake> {
    match sizes::by_name(text) {
        Ok(sizes) => return Ok(sizes),
        Err(SizesError::Malformed { found, allowed }) => {
            return Err(Mistake::found(place, key, found, allowed));
        }
        Err(SizesError::Unknown { .. }) => {}
    }
    let source = open(text).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let names = BUILT_IN.iter().map(|built_in| built_in.name);
            let names = names.chain(FORMS.iter().map(|form| form.usage));
            let mistake = Mistake::unknown(place, key, text, names);
            let problem = format!("{}, or a CDF file, and there is none here", mistake.problem);
            Mistake { problem, ..mistake }
        }
        _ => unreadable(place, key.to_owned(), text, &error, "a CDF file"),
    })?;
    sizes::parse_cdf(&source.text).map_err(|error| {
        Mistake::found(&Place::line(&source, error.line), "", error.found, error.allowed)
    })
}

/// The mistake for a file that cannot be read.
pub(crate) fn unreadable(
    place: &Place,
    key: String,
    path: &str,
    error: &io::Error,
    allowed: &str,
) -> Mistake {
    let found = format!("\"{path}\", which cannot be read ({error})");
    Mistake::found(place, key, found, allowed)
        .with_help("paths are relative to the experiment file")
}
