//! What commands print: results on standard output, everything else on standard error.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use flowsched_experiment::results::Folder;
use flowsched_experiment::{Arguments, Experiment, Mistake, Mistakes, Place, Source};
use miette::{Diagnostic, GraphicalReportHandler, LabeledSpan, NamedSource, SourceCode};

use crate::arguments::{ExperimentFile, Format};
use crate::failure::Failure;
use crate::progress::{say, say_if_long};

/// Prints `text` on standard output.
///
/// # Errors
/// If standard output cannot be written, for example because its reader has gone away.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.flush()?;
    Ok(())
}

/// Reads the experiment, and prints its warnings.
pub fn read(file: &ExperimentFile) -> Result<Experiment, Failure> {
    let ExperimentFile { set, vary, seed, quick, .. } = file;
    let arguments = Arguments { set: set.clone(), vary: vary.clone(), seed: *seed, quick: *quick };
    let read = || Experiment::read(&file.file, &arguments);
    let experiment = say_if_long("building the networks and drawing the flows", read)?;
    for warning in &experiment.warnings {
        say(&format!("warning: {warning}"));
    }
    Ok(experiment)
}

/// Writes the page of the results in `dir` and prints their figures.
pub fn report(dir: &Path, format: Format) -> Result<(), Failure> {
    let page = flowsched_report::html(dir)?;
    let folder = Folder::open(dir)?;
    match format {
        Format::Json => print(&folder.summary().to_json()),
        Format::Table => {
            let table = flowsched_report::terminal(folder.summary(), textwrap::termwidth());
            print(&format!("{table}\nReport: {}\n", page.display()))
        }
    }
}

/// Prints on standard error why a command failed.
pub fn explain(failure: &Failure) {
    match failure {
        Failure::Mistakes(mistakes) if io::stderr().is_terminal() => draw(mistakes),
        Failure::Mistakes(mistakes) => {
            for mistake in mistakes.iter() {
                say(&format!("error: {mistake}"));
            }
        }
        _ => say(&format!("error: {failure}")),
    }
}

/// Shows each mistake in the lines around it.
fn draw(mistakes: &Mistakes) {
    let handler = GraphicalReportHandler::new();
    for mistake in mistakes.iter() {
        let mut text = String::new();
        match handler.render_report(&mut text, &Drawn::new(mistake)) {
            Ok(()) => say(text.trim_end()),
            Err(fmt::Error) => say(&format!("error: {mistake}")),
        }
    }
}

/// A mistake as miette draws it.
#[derive(Debug)]
struct Drawn<'a> {
    mistake: &'a Mistake,
    source: Option<NamedSource<String>>,
}

/// A file with a longer line than this, in bytes, is not drawn.
const LONGEST_LINE: usize = 500;

impl Drawn<'_> {
    fn new(mistake: &Mistake) -> Drawn<'_> {
        let has_short_lines =
            |source: &Source| source.text.lines().all(|line| line.len() <= LONGEST_LINE);
        let source = match &mistake.place {
            Place::File { source, .. } if has_short_lines(source) => {
                Some(NamedSource::new(&source.name, source.text.clone()))
            }
            _ => None,
        };
        Drawn { mistake, source }
    }
}

impl fmt::Display for Drawn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.source {
            Some(_) => f.write_str(&self.mistake.sentence()),
            None => write!(f, "{}: {}", self.mistake.place, self.mistake.sentence()),
        }
    }
}

impl std::error::Error for Drawn<'_> {}

impl Diagnostic for Drawn<'_> {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.mistake.help.as_ref().map(|help| Box::new(help) as _)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|source| source as _)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        match (&self.mistake.place, &self.source) {
            (Place::File { span, .. }, Some(_)) => {
                Some(Box::new(std::iter::once(LabeledSpan::underline(span.clone()))))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str) -> String {
        let place = Place::line(&Source::new("a.cdf", text), 2);
        let mistake = Mistake::found(&place, "", "this", "that");
        let mut drawing = String::new();
        let handler = GraphicalReportHandler::new();
        handler.render_report(&mut drawing, &Drawn::new(&mistake)).unwrap();
        drawing
    }

    #[test]
    fn a_mistake_is_drawn_in_its_lines_unless_they_are_too_long() {
        let short = drawn("0 0\nmistaken\n");
        assert!(short.contains("mistaken") && short.contains("a.cdf:2:1"), "{short}");
        let long = drawn(&format!("0 0\n{}\n", "mistaken".repeat(1000)));
        assert!(!long.contains("mistaken") && long.contains("a.cdf:2:1: found this"), "{long}");
    }
}
