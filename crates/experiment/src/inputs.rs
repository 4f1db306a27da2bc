//! Files that an experiment refers to: CDFs and traces.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::mistake::Source;

/// The folder beside a resolved experiment where its inputs are.
const FOLDER: &str = "inputs";

/// A file that shapes a result, kept beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its path in the resolved experiment, relative to that: `inputs/flows.csv`.
    pub path: String,
    /// What it says.
    pub source: Arc<Source>,
}

/// Reads files, each once.
pub(crate) struct Inputs<'a> {
    open: &'a dyn Fn(&str) -> io::Result<Source>,
    read: BTreeMap<String, Input>,
    paths: BTreeSet<String>,
}

impl<'a> Inputs<'a> {
    /// Files that `open` finds under the path that the experiment gives.
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

    /// What the resolved experiment says for `path`: itself, if it is no file that was read.
    pub fn resolved<'b>(&'b self, path: &'b str) -> &'b str {
        self.read.get(path).map_or(path, |input| &input.path)
    }

    /// All files that were read.
    pub fn into_inputs(self) -> Vec<Input> {
        self.read.into_values().collect()
    }

    /// The file's own name in the folder of inputs, with a number before it if another one has
    /// that name. Commas would divide it where it varies.
    fn free_path(&self, path: &str) -> String {
        let name =
            Path::new(path).file_name().map_or("input".into(), |name| name.to_string_lossy());
        let name = name.replace(',', "_");
        let numbered = (2..).map(|number| format!("{FOLDER}/{number}-{name}"));
        let mut candidates = std::iter::once(format!("{FOLDER}/{name}")).chain(numbered);
        candidates.find(|path| !self.paths.contains(path)).unwrap_or_default()
    }
}
