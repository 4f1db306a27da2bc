//! Reads flowsched's repository: the claims, and the experiments that measure them.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use flowsched_experiment::{Arguments, Experiment, Mistake, Mistakes, Place};
use thiserror::Error;

use crate::claim::{Claim, ClaimedValue, Claims};
use crate::measure::Measure;
use crate::scale::Scale;
use crate::setting::Study;

/// The file of claims, from the root of the repository.
pub const CLAIMS: &str = "papers/claims.toml";

/// The folder of experiments, from the root of the repository.
const EXPERIMENTS: &str = "experiments";

/// The least number of seeds at quick scale, and for an experiment whose file has one seed. It is enough for
/// an interval.
const FEWEST_SEEDS: u64 = 5;

/// Why a part of the repository cannot be read.
#[derive(Debug, Error)]
pub enum RepositoryError {
    /// A mistake in a file, or a word that names nothing.
    #[error(transparent)]
    Mistakes(#[from] Mistakes),
    /// The file of claims cannot be read.
    #[error("cannot read {}, which is in the root of flowsched's repository: {source}", path.display())]
    NoClaims {
        /// Where the file should be.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// A copy of flowsched's repository.
#[derive(Clone, Debug)]
pub struct Repository {
    root: PathBuf,
}

impl Repository {
    /// The repository whose root is `root`.
    pub fn new(root: &Path) -> Repository {
        Repository { root: root.to_owned() }
    }

    /// The repository in whose root the program is called.
    pub fn here() -> Repository {
        Repository::new(Path::new(""))
    }

    /// Reads the claims.
    ///
    /// # Errors
    /// If there is no file of claims, or a mistake in it.
    pub fn claims(&self) -> Result<Claims, RepositoryError> {
        let path = self.root.join(CLAIMS);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(source) => return Err(RepositoryError::NoClaims { path, source }),
        };
        Ok(Claims::parse(&text).map_err(|error| refused(CLAIMS, error.to_string()))?)
    }

    /// What the file of an experiment says about itself: the comment at its beginning, without the comment
    /// signs.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn about(&self, experiment: &str) -> io::Result<String> {
        let text = fs::read_to_string(self.file(experiment))?;
        let lines = text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim);
        Ok(lines.collect::<Vec<_>>().join("\n"))
    }

    fn file(&self, experiment: &str) -> PathBuf {
        self.root.join(EXPERIMENTS).join(experiment).with_extension("toml")
    }

    /// Reads the experiment of a study. With `seeds`, it has this many seeds. Without, it has those of its
    /// file, but five if the file has one, and at least five at quick scale.
    ///
    /// # Errors
    /// The mistakes in its file.
    pub fn experiment(
        &self,
        study: &Study,
        scale: Scale,
        seeds: Option<u64>,
    ) -> Result<Experiment, Mistakes> {
        let quick = scale == Scale::Quick;
        let file = self.file(&study.experiment);
        let values = study.set.iter().map(|(key, value)| format!("{key}={value}"));
        let set: Vec<String> = values.collect();
        let read = |seeds: Option<u64>| {
            let seeds = seeds.map(|seeds| format!("seeds={seeds}"));
            let set = set.iter().cloned().chain(seeds).collect();
            Experiment::read(&file, &Arguments { set, quick, ..Arguments::default() })
        };
        let experiment = read(seeds)?;
        let has_too_few = experiment.seeds == 1 || quick && experiment.seeds < FEWEST_SEEDS;
        match seeds.is_none() && has_too_few {
            true => read(Some(FEWEST_SEEDS)),
            false => Ok(experiment),
        }
    }
}

impl Claims {
    /// The claims that the words name, with each value once, in the order of the file. Without words, these
    /// are all claims.
    ///
    /// # Errors
    /// If a word names nothing.
    pub fn asked_for(&self, words: &[String]) -> Result<Vec<Claim>, Mistakes> {
        if let Some(word) = words.iter().find(|word| self.named(word).next().is_none()) {
            return Err(self.names_nothing(word).into());
        }
        if words.is_empty() {
            return Ok(self.all.clone());
        }
        let words: Vec<&str> = words.iter().map(|word| self.understood(word)).collect();
        let asked = self.all.iter().filter_map(|claim| {
            let named: Vec<Claim> = words.iter().filter_map(|word| claim.named(word)).collect();
            let is_asked =
                |value: &&ClaimedValue| named.iter().any(|one| one.values.contains(value));
            let values = claim.values.iter().filter(is_asked).cloned().collect();
            (!named.is_empty()).then(|| Claim { values, ..claim.clone() })
        });
        Ok(asked.collect())
    }

    fn names_nothing(&self, word: &str) -> Mistake {
        let problem = format!(
            "`{word}` names no claim. Give a claim such as \"pdq.convergence\", a paper (pias, pdq, \
             slytherin, epn), a figure such as \"pias-fig15\" or an experiment such as \
             \"slytherin-table1\"."
        );
        let ids: Vec<Cow<'_, str>> =
            self.all.iter().map(|claim| claim.id.as_str().into()).collect();
        let place = Place::Argument(word.to_owned());
        let mistake = Mistake::new(&place, "claim", problem);
        // All names are in lower case.
        let lower = word.to_lowercase();
        match self.named(&lower).next() {
            Some(_) => mistake.with_help(format!("did you mean \"{lower}\"?")),
            None => mistake.with_nearest(word, &ids),
        }
    }
}

/// The studies that measure the values of `claims` in simulations, each once.
pub fn studies_of(claims: &[&Claim]) -> Vec<Study> {
    studies_by(claims, |value| value.measure.as_ref())
}

/// The studies that measure the values of `claims` with real packets, each once.
pub fn studies_in_lab(claims: &[&Claim]) -> Vec<Study> {
    studies_by(claims, |value| value.lab.as_ref())
}

fn studies_by(claims: &[&Claim], measure: fn(&ClaimedValue) -> Option<&Measure>) -> Vec<Study> {
    let values = claims.iter().flat_map(|claim| claim.values.iter());
    let measures = values.filter_map(measure);
    let mut studies: Vec<Study> = measures.map(|measure| measure.study()).collect();
    studies.sort_unstable();
    studies.dedup();
    studies
}

fn refused(place: &str, problem: String) -> Mistakes {
    Mistakes::from(Mistake::new(&Place::Argument(place.to_owned()), "claim", problem))
}
