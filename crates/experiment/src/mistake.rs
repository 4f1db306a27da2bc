//! Mistakes in inputs. Each mistake names the place, the key, what was found and what is allowed.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use flowsched_units::{SettingError, shortened};

/// A text that a user wrote: an experiment, a CDF, a trace.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// The path of the file, as messages show it.
    pub name: String,
    /// The file's text.
    pub text: String,
}

impl Source {
    /// The text of the file called `name`.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Source> {
        Arc::new(Source { name: name.into(), text: text.into() })
    }

    /// The line and column of the byte at `offset`, both from 1. Columns count characters.
    pub fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &self.text[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    /// The byte range of `line`, counted from 1, without its line break.
    pub fn line_span(&self, line: usize) -> Range<usize> {
        let mut start = 0;
        for (index, text) in self.text.split('\n').enumerate() {
            if index + 1 == line {
                return start..start + text.trim_end_matches('\r').len();
            }
            start += text.len() + 1;
        }
        self.text.len()..self.text.len()
    }
}

/// A place in an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a file.
    File {
        /// The file.
        source: Arc<Source>,
        /// The range of bytes.
        span: Range<usize>,
    },
    /// On the command line: the argument, such as `--set workload.load=2`.
    Argument(String),
}

impl Place {
    /// A line of a file, counted from 1.
    pub fn line(source: &Arc<Source>, line: usize) -> Place {
        Place::File { source: source.clone(), span: source.line_span(line) }
    }

    /// A sort key: places in a file by position, then arguments.
    pub(crate) fn order(&self) -> (bool, usize) {
        match self {
            Place::File { span, .. } => (false, span.start),
            Place::Argument(_) => (true, 0),
        }
    }
}

impl fmt::Display for Place {
    /// Writes `pias.toml:12:8`, which editors understand, or the argument.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File { source, span } => {
                let (line, column) = source.line_and_column(span.start);
                write!(f, "{}:{line}:{column}", source.name)
            }
            Place::Argument(argument) => f.write_str(&shortened(argument)),
        }
    }
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The place of the mistake.
    pub place: Place,
    /// The key, such as `workload.load`; empty if the mistake is not about a key.
    pub key: String,
    /// What was found and what is allowed, as a sentence.
    pub problem: String,
    /// What the user can do, if that is known.
    pub help: Option<String>,
}

impl Mistake {
    /// A mistake of `key` at `place`. `problem` is a sentence.
    pub fn new(place: &Place, key: impl Into<String>, problem: impl Into<String>) -> Mistake {
        let key = shortened(&key.into()).into_owned();
        Mistake { place: place.clone(), key, problem: problem.into(), help: None }
    }

    /// A mistake about a value: `found` where `allowed` is expected.
    pub fn found(
        place: &Place,
        key: impl Into<String>,
        found: impl fmt::Display,
        allowed: impl fmt::Display,
    ) -> Mistake {
        let found = found.to_string();
        Mistake::new(place, key, format!("found {}, expected {allowed}", shortened(&found)))
    }

    /// A mistake from an error about a setting. `table` is the table of the setting's key.
    pub fn of_setting(place: &Place, table: &str, error: &SettingError) -> Mistake {
        Mistake::new(place, format!("{table}.{}", error.key), &error.problem)
    }

    /// A mistake about a name that is not one of `names`. Suggests the nearest of them.
    pub fn unknown<'a>(
        place: &Place,
        key: impl Into<String>,
        name: &str,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Mistake {
        let names: Vec<Cow<'_, str>> = names.into_iter().map(shortened).collect();
        Mistake::found(place, key, format_args!("\"{name}\""), names.join(", "))
            .with_nearest(name, &names)
    }

    /// Suggests the one of `names` that is nearest to `name`, if one is near.
    pub fn with_nearest(self, name: &str, names: &[Cow<'_, str>]) -> Mistake {
        match nearest(name, names) {
            Some(nearest) => self.with_help(format!("did you mean \"{nearest}\"?")),
            None => self,
        }
    }

    /// Adds what the user can do about the mistake.
    pub fn with_help(self, help: impl Into<String>) -> Mistake {
        Mistake { help: Some(help.into()), ..self }
    }

    /// Splits the problem into what was found and what is allowed, if it is about a value.
    pub fn found_and_allowed(&self) -> Option<(&str, &str)> {
        self.problem.strip_prefix("found ")?.split_once(", expected ")
    }

    /// Key and problem without the place.
    pub fn sentence(&self) -> String {
        match self.key.as_str() {
            "" => self.problem.clone(),
            key => format!("{key}: {}", self.problem),
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.sentence())?;
        match &self.help {
            Some(help) if self.problem.ends_with('.') => write!(f, " {help}"),
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Mistake {}

/// All mistakes in an input, in the order of its lines. An error has at least one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mistakes(Vec<Mistake>);

impl Mistakes {
    /// An empty list.
    pub fn new() -> Mistakes {
        Mistakes::default()
    }

    /// Adds a mistake, unless the same one was added before.
    pub fn add(&mut self, mistake: Mistake) {
        if !self.0.contains(&mistake) {
            self.0.push(mistake);
        }
    }

    /// Whether there are no mistakes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All mistakes.
    pub fn iter(&self) -> impl Iterator<Item = &Mistake> {
        self.0.iter()
    }

    /// Returns `value`, unless there are mistakes.
    ///
    /// # Errors
    /// The mistakes, if there are any.
    pub fn or<T>(mut self, value: T) -> Result<T, Mistakes> {
        if self.0.is_empty() {
            return Ok(value);
        }
        self.0.sort_by_key(|mistake| mistake.place.order());
        Err(self)
    }
}

impl From<Mistake> for Mistakes {
    fn from(mistake: Mistake) -> Mistakes {
        Mistakes(vec![mistake])
    }
}

impl fmt::Display for Mistakes {
    /// Writes each mistake on a line of its own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            mistake.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}

/// The one of `names` that `name` was probably meant to be, if one is near.
fn nearest<'a>(name: &str, names: &'a [Cow<'_, str>]) -> Option<&'a str> {
    // A longer name is no typing error, and the distance takes time quadratic in its length.
    if name.len() > 100 {
        return None;
    }
    names
        .iter()
        .map(|candidate| (distance(name, candidate), candidate.as_ref()))
        .filter(|(distance, candidate)| *distance * 2 <= candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The edit distance between `name` and `candidate`. Ignores case, and the difference between `-`
/// and `_`.
fn distance(name: &str, candidate: &str) -> usize {
    let plain = |text: &str| text.replace('_', "-").to_lowercase();
    strsim::damerau_levenshtein(&plain(name), &plain(candidate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_names_file_line_column_key_found_and_allowed() {
        let source = Source::new("a.toml", "name = \"é\"\nload = 2\n");
        let at = source.text.find('2').unwrap();
        let place = Place::File { source, span: at..at + 1 };
        let mistake = Mistake::found(&place, "workload.load", 2, "a number from 0 to 1");
        assert_eq!(
            mistake.to_string(),
            "a.toml:2:8: workload.load: found 2, expected a number from 0 to 1"
        );
        assert_eq!(mistake.found_and_allowed(), Some(("2", "a number from 0 to 1")));
        assert_eq!(Mistake::new(&place, "", "The file is empty.").found_and_allowed(), None);
    }

    #[test]
    fn the_nearest_name_is_near() {
        let found = |name: &str, names: &[&'static str]| {
            let names: Vec<Cow<'_, str>> = names.iter().copied().map(Cow::Borrowed).collect();
            nearest(name, &names).map(str::to_owned)
        };
        assert_eq!(found("dctpc", &["tcp", "dctcp", "pias"]).as_deref(), Some("dctcp"));
        assert_eq!(found("hosts", &["host_link", "hosts_per_leaf"]), None);
        assert_eq!(found("laod", &["load", "flows"]).as_deref(), Some("load"));
        assert_eq!(found("sart", &["star", "dumbbell"]).as_deref(), Some("star"));
        assert_eq!(found("zzz", &["tcp", "dctcp"]), None);
    }

    #[test]
    fn lines_are_counted_from_one() {
        let source = Source::new("flows.csv", "a\r\nbc\n\nd");
        assert_eq!(source.line_span(1), 0..1);
        assert_eq!(source.line_span(2), 3..5);
        assert_eq!(source.line_span(4), 7..8);
        assert_eq!(source.line_span(9), 8..8);
        assert_eq!(source.line_and_column(4), (2, 2));
        assert_eq!(source.line_and_column(99), (4, 2));
    }
}
