//! The files that an experiment refers to: CDFs and traces.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::mistake::Source;

/// The folder of the inputs, beside a resolved experiment.
const FOLDER: &str = "inputs";

/// A file that affects a result. It is kept beside the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The file's path relative to the resolved experiment, such as `inputs/flows.csv`.
    pub path: String,
    /// The file's content.
    pub source: Arc<Source>,
}

/// Reads each file once.
pub(crate) struct Inputs<'a> {
    open: &'a dyn Fn(&str) -> io::Result<Source>,
    read: BTreeMap<String, Input>,
    paths: BTreeSet<String>,
}

impl<'a> Inputs<'a> {
    /// Inputs that `open` finds by the path that the experiment gives.
    pub fn new(open: &'a dyn Fn(&str) -> io::Result<Source>) -> Inputs<'a> {
        Inputs { open, read: BTreeMap::new(), paths: BTreeSet::new() }
    }

    /// The file at `path`.
    pub fn read(&mut self, path: &str) -> io::Result<Arc<Source>> {
        if let Some(input) = self.read.get(path) {
            return Ok(input.source.clone());
        }
        let source = Arc::new((self.open)(path)?);
        let resolved = self.free_path(path);
        self.paths.insert(resolved.clone());
        let input = Input { path: resolved, source: source.clone() };
        self.read.insert(path.to_owned(), input);
        Ok(source)
    }

    /// The text that replaces `path` in the resolved experiment. Returns `path` itself if no such
    /// file was read.
    pub fn resolved<'b>(&'b self, path: &'b str) -> &'b str {
        self.read.get(path).map_or(path, |input| &input.path)
    }

    /// Returns all files that were read.
    pub fn into_inputs(self) -> Vec<Input> {
        self.read.into_values().collect()
    }

    /// A free path in the folder of inputs: the file's own name, with a number before it if the
    /// name is taken. Commas are replaced, because they would split the path if it varies.
    fn free_path(&self, path: &str) -> String {
        let name =
            Path::new(path).file_name().map_or("input".into(), |name| name.to_string_lossy());
        let name = name.replace(',', "_");
        let numbered = (2..).map(|number| format!("{FOLDER}/{number}-{name}"));
        let mut candidates = std::iter::once(format!("{FOLDER}/{name}")).chain(numbered);
        candidates.find(|path| !self.paths.contains(path)).unwrap_or_default()
    }
}
