//! An experiment whose files are texts.

use std::io;

use flowsched_experiment::{Arguments, Experiment, Mistakes, Source};

/// Reads `text` as `a.toml`. `files` are the files beside it.
pub fn read(
    text: &str,
    arguments: &Arguments,
    files: &[(&str, &str)],
) -> Result<Experiment, Mistakes> {
    Experiment::parse(&Source::new("a.toml", text), arguments, &|path| {
        let file = files.iter().find(|(name, _)| *name == path);
        let (name, text) = file.ok_or(io::Error::from(io::ErrorKind::NotFound))?;
        Ok(Source { name: (*name).to_owned(), text: (*text).to_owned() })
    })
}

/// The arguments with these `--set` and `--vary`.
pub fn arguments(set: &[&str], vary: &[&str]) -> Arguments {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Arguments { set: owned(set), vary: owned(vary), ..Arguments::default() }
}
