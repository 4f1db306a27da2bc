//! The question of the command line: which sizes, at which loads, on which links.

use std::fs;
use std::io;

use flowsched_experiment::{Mistake, Mistakes, Place, Source, values};
use flowsched_thresholds::{Forecast, Path};
use flowsched_units::Rate;
use flowsched_workload::sizes::SizeDistribution;

use crate::arguments::Thresholds;

/// A question that was read and checked.
pub struct Question {
    /// The distributions of sizes, each with its name.
    workloads: Vec<(String, SizeDistribution)>,
    /// The links, each with its loads.
    links: Vec<(Rate, Vec<f64>)>,
}

/// A forecast, and the arguments that it comes from.
pub struct Named<'a> {
    /// The sizes as they were given.
    pub workload: &'a str,
    /// The link's rate.
    pub rate: Rate,
    /// The load of the link.
    pub load: f64,
    /// The forecast.
    pub forecast: Forecast<'a>,
}

/// The kind of answer.
pub enum Kind<'a> {
    /// Thresholds for one forecast.
    One(Forecast<'a>),
    /// One set of thresholds for several forecasts.
    Robust(Vec<Named<'a>>),
    /// A set of thresholds for each of several links.
    Links(Vec<Named<'a>>),
}

impl Question {
    /// Reads the arguments.
    ///
    /// # Errors
    /// All mistakes in the arguments.
    pub fn read(wanted: &Thresholds) -> Result<Question, Mistakes> {
        let mut mistakes = Mistakes::new();
        let mut question = Question { workloads: Vec::new(), links: Vec::new() };
        for name in &wanted.workload {
            match sizes(name) {
                Ok(sizes) => question.workloads.push((name.clone(), sizes)),
                Err(mistake) => mistakes.add(mistake),
            }
        }
        for link in &wanted.link {
            let (argument, key, text) = match (&link.load, &wanted.load) {
                (Some(load), _) => (format!("--link {link}"), "load", load),
                (None, Some(load)) => (format!("--load {load}"), "", load),
                (None, None) => {
                    let place = Place::Argument(format!("--link {link}"));
                    let allowed = format!("{link}@LOAD, or --load LOAD for all links without one");
                    mistakes.add(Mistake::found(&place, "", "no load", allowed));
                    continue;
                }
            };
            match loads(key, text, &Place::Argument(argument)) {
                Ok(loads) => question.links.push((link.rate, loads)),
                Err(mistake) => mistakes.add(mistake),
            }
        }
        if mistakes.is_empty() {
            for mistake in question.contradictions(wanted) {
                mistakes.add(mistake);
            }
        }
        mistakes.or(question)
    }

    /// The arguments that contradict each other.
    fn contradictions(&self, wanted: &Thresholds) -> Vec<Mistake> {
        let mut found = Vec::new();
        let mut refuse = |argument: String, what: &str, allowed: &str| {
            found.push(Mistake::found(&Place::Argument(argument), "", what, allowed));
        };
        let (several_links, forecasts) = (self.links.len() > 1, self.forecasts().len());
        if let Some(load) = &wanted.load
            && wanted.link.iter().all(|link| link.load.is_some())
        {
            let allowed = "no --load, or a --link without one";
            refuse(format!("--load {load}"), "a load although every --link has its own", allowed);
        }
        if several_links && forecasts > self.links.len() {
            let what = "several links, and several loads of a link or several workloads";
            let allowed = "one load for each link and one workload, or one link";
            refuse("--link".into(), what, allowed);
        }
        if wanted.compare && forecasts > 1 {
            let allowed = "one workload, one load and one link to compare at";
            refuse("--compare".into(), "several workloads, loads or links", allowed);
        }
        if wanted.regret.is_some() && (several_links || forecasts == 1) {
            let allowed = "several loads or workloads on one link, which is where there is regret";
            let what = if several_links { "several links" } else { "one workload and one load" };
            refuse("--regret".into(), what, allowed);
        }
        found
    }

    /// The kind of answer that is asked for.
    pub fn kind(&self) -> Kind<'_> {
        let mut forecasts = self.forecasts();
        match (self.links.len(), forecasts.len()) {
            (2.., _) => Kind::Links(forecasts),
            (_, 1) => Kind::One(forecasts.remove(0).forecast),
            _ => Kind::Robust(forecasts),
        }
    }

    /// A forecast for every workload on every link at each of its loads.
    fn forecasts(&self) -> Vec<Named<'_>> {
        let mut forecasts = Vec::new();
        for (workload, sizes) in &self.workloads {
            for (rate, loads) in &self.links {
                forecasts.extend(loads.iter().map(|load| Named {
                    workload,
                    rate: *rate,
                    load: *load,
                    forecast: Forecast { sizes, path: Path::of_link(*rate, *load) },
                }));
            }
        }
        forecasts
    }
}

fn sizes(name: &str) -> Result<SizeDistribution, Mistake> {
    let place = Place::Argument(format!("--workload {name}"));
    let open = &mut |path: &str| io::Result::Ok(Source::new(path, fs::read_to_string(path)?));
    flowsched_experiment::sizes(name, "", &place, open)
}

fn loads(key: &str, text: &str, place: &Place) -> Result<Vec<f64>, Mistake> {
    let load = |text: &String| {
        let load = text.parse().ok().filter(|load| *load > 0.0 && *load < 1.0);
        let found = || Mistake::found(place, key, text, "a number over 0 and less than 1");
        load.ok_or_else(found)
    };
    values(key, text, place)?.iter().map(load).collect()
}
