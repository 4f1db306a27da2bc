//! The papers' claims, as the file states them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::assumption::Assumption;
use crate::drawn::{Area, Drawn, Mark};
use crate::error::ClaimsError;
use crate::figure::is_known;
use crate::kind::{Bound, Kind};
use crate::measure::Measure;
use crate::published::Published;
use crate::section::has_figure;
use crate::share::Share;

/// All claims, in the order of the file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// The claims.
    #[serde(rename = "claim")]
    pub all: Vec<Claim>,
}

/// What a paper states in one place.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The claim's name, such as `"pdq.convergence"`. The part before the first dot is the paper's
    /// name.
    pub id: String,
    /// The paper: `"pias"`, `"pdq"`, `"slytherin"` or `"epn"`.
    pub paper: String,
    /// Section and figure.
    pub section: String,
    /// Where the paper measured.
    #[serde(rename = "where")]
    pub place: Place,
    /// The paper's words: a quotation in which "[...]" stands for what is left out.
    pub words: String,
    /// The setting in which the paper measured.
    pub setting: String,
    /// What was measured, in words.
    pub metric: String,
    /// The kind of the numbers.
    pub kind: Kind,
    /// How exact the paper says the numbers are, if it says the same of all.
    pub bound: Option<Bound>,
    /// The numbers, each with a row of its own.
    #[serde(rename = "value")]
    pub values: Vec<ClaimedValue>,
    /// What the paper leaves open.
    #[serde(rename = "assumption", default)]
    pub assumptions: Vec<Assumption>,
}

/// Where a paper measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// In a packet-level simulator.
    Sim,
    /// On real hosts.
    Testbed,
    /// In a flow-level simulator.
    FlowSim,
    /// By calculation.
    Theory,
}

/// One number of a claim, and how it is measured.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimedValue {
    /// The name that distinguishes it from the claim's other numbers; empty if there is only one
    /// number.
    #[serde(default)]
    pub name: String,
    /// What was published; `None` for properties.
    pub published: Option<Published>,
    /// How exact the paper says the number is, if it does not say the same of all the claim's numbers.
    pub bound: Option<Bound>,
    /// How it is measured.
    pub measure: Option<Measure>,
    /// The share of small flows that the number is. It needs no run.
    pub share: Option<Share>,
    /// How the lab measures it, with real packets.
    pub lab: Option<Measure>,
    /// The paper's figures that are drawn from the tables of its simulations.
    #[serde(default)]
    pub drawn: Vec<Drawn>,
    /// Why it is not measured: a sentence without its full stop.
    pub not_run: Option<String>,
    /// Whether only real packets can tell.
    #[serde(default)]
    pub needs_the_lab: bool,
}

impl ClaimedValue {
    /// Whether the experiment called `name` measures the value, in simulations or in the lab.
    fn is_of_experiment(&self, name: &str) -> bool {
        self.measure.iter().chain(&self.lab).any(|measure| measure.experiment == name)
    }
}

impl Claims {
    /// Reads the text of a file of claims.
    ///
    /// # Errors
    /// If the text is not a file of claims, or a claim makes no sense.
    pub fn parse(text: &str) -> Result<Claims, ClaimsError> {
        let claims: Claims = toml::from_str(text)?;
        let mut names = BTreeSet::new();
        for claim in &claims.all {
            if !names.insert(&claim.id) {
                return Err(claim.refuse("The file has another claim of that name."));
            }
            claim.check()?;
        }
        Ok(claims)
    }

    /// The claim with this id, and its value with this name.
    pub fn value(&self, id: &str, name: &str) -> Option<(&Claim, &ClaimedValue)> {
        let claim = self.all.iter().find(|claim| claim.id == id)?;
        Some((claim, claim.values.iter().find(|value| value.name == name)?))
    }

    /// The claims that `word` names: one by its id, all claims whose ids begin with it and a dot, or
    /// all claims of a figure (`"pias-fig15"`, `"pias-fig15a"`). Of other claims, it names the values
    /// that the experiment called `word` measures. A part of a figure that names none of these stands for the whole.
    pub fn named<'a>(&'a self, word: &'a str) -> impl Iterator<Item = Claim> + 'a {
        let word = self.understood(word);
        self.all.iter().filter_map(move |claim| claim.named(word))
    }

    /// The word itself, or the figure that it is a part of if it names nothing itself.
    pub(crate) fn understood<'a>(&self, word: &'a str) -> &'a str {
        let figure = word.trim_end_matches(|part: char| part.is_ascii_lowercase());
        let has_one_letter = figure.len() + 1 == word.len();
        let names_nothing = self.all.iter().all(|claim| claim.named(word).is_none());
        let is_figure = has_one_letter && self.all.iter().any(|claim| claim.has_name(figure));
        if names_nothing && is_figure { figure } else { word }
    }
}

impl Claim {
    /// The part of the claim that `word` names: all of it, or the values that an experiment measures.
    /// `None` if it names nothing.
    pub(crate) fn named(&self, word: &str) -> Option<Claim> {
        if self.has_name(word) {
            return Some(self.clone());
        }
        let values = self.values.iter().filter(|value| value.is_of_experiment(word)).cloned();
        let values: Vec<ClaimedValue> = values.collect();
        (!values.is_empty()).then(|| Claim { values, ..self.clone() })
    }

    fn has_name(&self, word: &str) -> bool {
        let rest = self.id.strip_prefix(word);
        let figure = word.strip_prefix(&self.paper).and_then(|rest| rest.strip_prefix("-fig"));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            || figure.is_some_and(|figure| has_figure(&self.section, figure))
    }

    fn check(&self) -> Result<(), ClaimsError> {
        let mut names = BTreeSet::new();
        for value in &self.values {
            if !names.insert(&value.name) {
                return Err(self.refuse("Two of its values have the same name."));
            }
            let reasons = [
                value.measure.is_some(),
                value.share.is_some(),
                value.not_run.is_some(),
                value.needs_the_lab,
            ];
            if reasons.iter().filter(|reason| **reason).count() != 1 {
                let problem = "Each of its values needs `measure`, `share`, `not_run` or \
                               `needs_the_lab`, and only one of them.";
                return Err(self.refuse(problem));
            }
            self.check_published(value)?;
            self.check_drawn(value)?;
            if value.bound.is_some() && self.bound.is_some() {
                return Err(self.refuse("`bound` is either the claim's or its values'."));
            }
            for measure in value.measure.iter().chain(&value.lab) {
                measure.check(self.kind).map_err(|problem| self.refuse(&problem))?;
            }
        }
        self.check_shares()?;
        for reading in self.assumptions.iter().flat_map(|one| &one.readings) {
            if reading.inverse && !matches!(self.kind, Kind::Reduction | Kind::Gap) {
                return Err(self.refuse("`inverse` is for readings of reductions and gaps."));
            }
            if let Some(figure) = reading.figure.as_ref().filter(|figure| !is_known(figure)) {
                return Err(self.refuse(&format!("`{figure}` is no figure of a run's summary.")));
            }
        }
        Ok(())
    }

    /// Checks that shares are absolute figures, and that readings change only the keys of a share.
    fn check_shares(&self) -> Result<(), ClaimsError> {
        let shares: Vec<&Share> =
            self.values.iter().filter_map(|value| value.share.as_ref()).collect();
        if shares.is_empty() {
            return Ok(());
        }
        if self.kind != Kind::Value {
            return Err(self.refuse("`share` is for claims of kind \"value\"."));
        }
        let readings = || self.assumptions.iter().flat_map(|one| &one.readings);
        if readings().any(|one| one.figure.is_some() || !Share::has_keys(&one.set)) {
            let problem =
                "Readings of a claim with `share` set `sizes` or `below`, and nothing else.";
            return Err(self.refuse(problem));
        }
        for share in shares {
            let variants = readings().map(|reading| share.with(&reading.set));
            for variant in std::iter::once(share.clone()).chain(variants) {
                variant.compute().map_err(|problem| self.refuse(&problem))?;
            }
        }
        Ok(())
    }

    fn check_published(&self, value: &ClaimedValue) -> Result<(), ClaimsError> {
        let problem = match (self.kind, value.published) {
            (Kind::Order, Some(Published::Order(_))) | (Kind::Property, None) => return Ok(()),
            (Kind::Order, _) => {
                "`published` of an order is \"lower\", \"higher\", \"not-higher\", \"not-lower\" or \
                 \"alike\"."
            }
            (Kind::Property, Some(_)) => "Properties have no `published`.",
            (_, Some(Published::Order(_)) | None) => "`published` is a number or `[least, most]`.",
            _ => return Ok(()),
        };
        Err(self.refuse(problem))
    }

    fn check_drawn(&self, value: &ClaimedValue) -> Result<(), ClaimsError> {
        if value.measure.is_none() && !value.drawn.is_empty() {
            return Err(self.refuse("`drawn` needs `measure`: it draws the tables of its runs."));
        }
        let mut titles = BTreeSet::new();
        for drawn in &value.drawn {
            let of_drawing =
                |problem: &str| self.refuse(&format!("\"{}\": {problem}", drawn.title));
            if !titles.insert(&drawn.title) {
                return Err(of_drawing("The value has another drawing of that title."));
            }
            drawn.check().map_err(|problem| of_drawing(&problem))?;
            if drawn.marks.iter().any(|mark| self.area(value, mark).is_none()) {
                let problem = "A mark is of a value of the claim whose `published` is a number or a \
                               range. Write its name as `value`.";
                return Err(of_drawing(problem));
            }
        }
        Ok(())
    }

    /// The areas of the published numbers in the value's drawing with this title. `None` if it has no such drawing.
    pub fn areas(&self, value: &str, title: &str) -> Option<Vec<Area>> {
        let value = self.values.iter().find(|one| one.name == value)?;
        let drawn = value.drawn.iter().find(|drawn| drawn.title == title)?;
        Some(drawn.marks.iter().filter_map(|mark| self.area(value, mark)).collect())
    }

    /// The area of a published number in a drawing of `value`, in the unit of the figure in the runs.
    fn area(&self, value: &ClaimedValue, mark: &Mark) -> Option<Area> {
        let is_marked =
            |one: &&ClaimedValue| one.name == *mark.value.as_ref().unwrap_or(&value.name);
        let marked = self.values.iter().find(is_marked)?;
        let (least, most) = marked.published?.ends()?;
        let unit = marked.measure.as_ref().map_or(1.0, |measure| measure.unit);
        Some(mark.area((least * unit, most * unit)))
    }

    /// How exact the paper says a value is.
    pub fn bound_of(&self, value: &ClaimedValue) -> Option<Bound> {
        value.bound.or(self.bound)
    }

    fn refuse(&self, problem: &str) -> ClaimsError {
        ClaimsError::Claim { id: self.id.clone(), problem: problem.to_owned() }
    }
}
