//! Makes the experiment that advice simulates from the options of the command. Nothing is written
//! to disk, and a mistake names the option that it came from.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use flowsched_experiment::{Arguments, Experiment, Mistake, Mistakes, Place, Source};
use flowsched_thresholds::{DEFAULT_MODEL, Objective, optimal};
use toml::{Spanned, Table, Value};

use super::schemes::{MISMATCH, NOW, PIAS};
use crate::arguments::Advise;
use crate::failure::Failure;
use crate::switch_config::{read_toml, refused, unreadable};

/// The experiment with the network of the topology's file and the fleet's sizes.
pub fn experiment(wanted: &Advise) -> Result<Experiment, Failure> {
    let path = &wanted.topology;
    let text = fs::read_to_string(path).map_err(|e| unreadable(path, &e))?;
    let scenario = Scenario { wanted, topology: Source::new(path.display().to_string(), text) };
    let text = scenario.text()?;
    let made = Source::new("advice", text);
    let folder = path.parent().unwrap_or(Path::new(""));
    let open = |path: &str| open(&folder.join(path));
    let experiment = Experiment::parse(&made, &Arguments::default(), &open);
    Ok(experiment.map_err(|mistakes| scenario.placed(&made, &mistakes))?)
}

fn open(path: &Path) -> io::Result<Source> {
    Ok(Source { name: path.display().to_string(), text: fs::read_to_string(path)? })
}

/// The options, and the topology's file.
struct Scenario<'a> {
    wanted: &'a Advise,
    topology: Arc<Source>,
}

impl Scenario<'_> {
    /// The experiment as a file.
    fn text(&self) -> Result<String, Failure> {
        let wanted = self.wanted;
        let table: Table = read_toml(&self.topology)?;
        let Some(topology) = table.get("topology") else {
            let allowed = "a file with one, such as an experiment";
            return Err(refused(&self.topology.name, "no [topology]", allowed));
        };
        let mut workload = Table::new();
        workload.insert("sizes".into(), self.sizes().into());
        workload.insert("load".into(), wanted.load.into());
        workload.insert("flows".into(), Value::Integer(wanted.flows as i64));
        let schemes = vec![
            Value::Table(scheme(NOW, &wanted.now)),
            self.pias(PIAS, "optimal".into()),
            self.pias(MISMATCH, self.halved()?.into()),
        ];
        let mut file = Table::new();
        file.insert("name".into(), "Advice on PIAS".into());
        file.insert("seeds".into(), Value::Integer(wanted.seeds as i64));
        file.insert("topology".into(), topology.clone());
        file.insert("workload".into(), workload.into());
        file.insert("scheme".into(), schemes.into());
        Ok(file.to_string())
    }

    fn pias(&self, name: &str, thresholds: Value) -> Value {
        let mut scheme = scheme(name, "pias");
        scheme.insert("queues".into(), Value::Integer(self.wanted.queues as i64));
        scheme.insert("thresholds".into(), thresholds);
        Value::Table(scheme)
    }

    /// The value of `--sizes`. A file is named by its absolute path.
    fn sizes(&self) -> String {
        let file = fs::canonicalize(&self.wanted.sizes);
        file.map_or(self.wanted.sizes.clone(), |path| path.display().to_string())
    }

    /// The best thresholds for flows half as large.
    fn halved(&self) -> Result<String, Failure> {
        let Advise { load, queues, .. } = *self.wanted;
        let place = self.option("workload.sizes").unwrap_or(Place::Argument("--sizes".into()));
        let open = &mut |path: &str| open(Path::new(path)).map(Arc::new);
        let sizes = flowsched_experiment::sizes(&self.sizes(), "", &place, open);
        let half = sizes.map_err(Mistakes::from)?.scaled(0.5);
        let found = optimal(&half, load, queues as usize, DEFAULT_MODEL, &Objective::MeanFct);
        let found = found.map_err(|error| {
            let place = Place::Argument(format!("--load {load} --queues {queues}"));
            Mistakes::from(Mistake::new(&place, "", error.to_string()))
        })?;
        Ok(found.iter().map(|bytes| format!("{}B", bytes.get())).collect::<Vec<_>>().join(" "))
    }

    /// The mistakes of the experiment `made`, moved to the options that it is made from.
    fn placed(&self, made: &Arc<Source>, mistakes: &Mistakes) -> Mistakes {
        let mut placed = Mistakes::new();
        for mistake in mistakes.iter() {
            let is_made = matches!(&mistake.place, Place::File { source, .. } if source == made);
            let place = self.option(&mistake.key).filter(|_| is_made);
            let place = place.unwrap_or_else(|| match is_made {
                true => Place::Argument(format!("--topology {}", self.topology.name)),
                false => mistake.place.clone(),
            });
            placed.add(Mistake { place, ..mistake.clone() });
        }
        placed
    }

    /// Where the value of a key of the experiment comes from.
    fn option(&self, key: &str) -> Option<Place> {
        let wanted = self.wanted;
        let option = match key {
            "seeds" => format!("--seeds {}", wanted.seeds),
            "workload.sizes" => format!("--sizes {}", wanted.sizes),
            "workload.load" => format!("--load {}", wanted.load),
            "workload.flows" => format!("--flows {}", wanted.flows),
            key if key.starts_with("scheme.now") => format!("--now {}", wanted.now),
            key if key.ends_with(".queues") => format!("--queues {}", wanted.queues),
            key if key.ends_with(".thresholds") => {
                format!("--load {} --queues {}", wanted.load, wanted.queues)
            }
            key => return self.in_topology(key.strip_prefix("topology.")?),
        };
        Some(Place::Argument(option))
    }

    /// Where a key of `[topology]` is in its file.
    fn in_topology(&self, key: &str) -> Option<Place> {
        #[derive(serde::Deserialize)]
        struct File {
            topology: BTreeMap<String, Spanned<Value>>,
        }
        let file: File = read_toml(&self.topology).ok()?;
        let span = file.topology.get(key)?.span();
        Some(Place::File { source: self.topology.clone(), span })
    }
}

fn scheme(name: &str, preset: &str) -> Table {
    let mut scheme = Table::new();
    scheme.insert("name".into(), name.into());
    scheme.insert("preset".into(), preset.into());
    scheme
}
