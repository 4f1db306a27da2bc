//! Turns a file and the command line into an experiment.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

use flowsched_topology::ROUTING;
use flowsched_topology::{LinkEnd, Network, Routing, TOPOLOGIES};
use flowsched_units::{Parameter, Settings, Time, Value};

use crate::arguments::Arguments;
use crate::contradictions::Contradictions;
use crate::document::{Document, Table};
use crate::engine::Engine;
use crate::experiment::{Experiment, Scene, Topology};
use crate::inputs::Inputs;
use crate::keys;
use crate::mistake::{Mistake, Mistakes, Place, Source};
use crate::parameters::{
    ENGINE, KIND, LINKS, NAME, ORDERS, PARAMETERS, SAMPLE_INTERVAL, SEED, SEEDS, UNTIL,
};
use crate::resolve::Resolver;
use crate::results::{LINK_FORM, NamedLink, ORDER_FORM, Order, Point};
use crate::thresholds::Thresholds;
use crate::vary::{self, Variation};
use crate::{application, probe, scheme, workload};

impl Experiment {
    /// Reads the file at `path`. Paths in the file are relative to its folder.
    ///
    /// # Errors
    /// All mistakes in the file and the arguments, each with its place.
    pub fn read(path: &Path, arguments: &Arguments) -> Result<Experiment, Mistakes> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| {
            let place = Place::Argument(name.clone());
            Mistake::found(&place, "", format!("no readable file ({error})"), "an experiment file")
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Experiment::parse(&Source::new(name, text), arguments, &|path| {
            let path = folder.join(path);
            Ok(Source { name: path.display().to_string(), text: std::fs::read_to_string(&path)? })
        })
    }

    /// Reads `source`. `open` finds the files that it refers to.
    ///
    /// # Errors
    /// As [`Experiment::read`].
    pub fn parse(
        source: &Arc<Source>,
        arguments: &Arguments,
        open: &dyn Fn(&str) -> io::Result<Source>,
    ) -> Result<Experiment, Mistakes> {
        let mut document = Document::parse(source)?;
        let mut mistakes = Mistakes::new();
        let variations = document.apply(arguments, &mut mistakes);
        let points = vary::points(&variations).unwrap_or_else(|mistake| {
            mistakes.add(mistake);
            Vec::new()
        });
        let mut reader = Reader {
            inputs: Inputs::new(open),
            thresholds: Thresholds::default(),
            mistakes,
            warnings: Vec::new(),
            contradictions: Contradictions::default(),
        };
        let top = reader.top(&document.top);
        let mut scenes = Vec::new();
        for point in points {
            let mut document = document.clone();
            for (variation, index) in variations.iter().zip(&point) {
                document.vary(variation, *index);
            }
            document.label_lists();
            scenes.extend(reader.scene(&document, label(&variations, &point)));
        }
        let orders = reader.orders(&document.top, &scenes);
        let Reader { inputs, mistakes, mut warnings, contradictions, .. } = reader;
        mistakes.or(())?;
        warnings.extend(contradictions.into_warnings(scenes.len()));
        let stem = Path::new(&source.name).file_stem().map(|stem| stem.to_string_lossy());
        let name = match top.get(&NAME) {
            Some(Value::Text(name)) => name.clone(),
            _ => stem.unwrap_or_default().into_owned(),
        };
        let resolver = Resolver { document: &document, variations: &variations, inputs: &inputs };
        Ok(Experiment {
            resolved: resolver.resolve(&name, &top, &scenes),
            name,
            seeds: top.count(&SEEDS),
            first_seed: top.count(&SEED),
            varied: variations.into_iter().map(|variation| variation.key).collect(),
            scenes,
            orders,
            inputs: inputs.into_inputs(),
            warnings,
        })
    }
}

fn label(variations: &[Variation], point: &[usize]) -> Point {
    let value = |(variation, index): (&Variation, &usize)| {
        (variation.key.clone(), variation.values[*index].clone())
    };
    Point(variations.iter().zip(point).map(value).collect())
}

fn has_link(network: &Network, owner: &str, peer: &str) -> bool {
    let ends =
        |port: &LinkEnd| network.name(port.owner) == owner && network.name(port.peer) == peer;
    network.ports().iter().any(ends)
}

struct Reader<'a> {
    inputs: Inputs<'a>,
    thresholds: Thresholds,
    mistakes: Mistakes,
    warnings: Vec<String>,
    contradictions: Contradictions,
}

impl Reader<'_> {
    fn top(&mut self, table: &Table) -> Settings {
        let mut settings = Settings::defaults(PARAMETERS);
        let parameters: Vec<&Parameter> = PARAMETERS.iter().collect();
        keys::check(table, &parameters, &mut settings, &mut self.mistakes);
        if let Some(Value::Time(Time::ZERO)) = settings.get(&UNTIL) {
            let place = table.place_of("until");
            self.mistakes.add(Mistake::found(place, "until", "\"0ps\"", "a time over 0"));
        }
        settings
    }

    /// The stated orders. Refuses orders of unknown schemes.
    fn orders(&mut self, table: &Table, scenes: &[Scene]) -> Vec<Order> {
        let Some(text) = table.text(ORDERS.name) else { return Vec::new() };
        let place = table.place_of(ORDERS.name);
        let mut refuse = |found: String, allowed: String| {
            self.mistakes.add(Mistake::found(place, ORDERS.name, found, allowed));
        };
        let orders = Order::parse_all(text).unwrap_or_else(|part| {
            refuse(format!("\"{part}\""), ORDER_FORM.to_owned());
            Vec::new()
        });
        let Some(scene) = scenes.first() else { return orders };
        let names: Vec<&str> = scene.schemes.iter().map(|scheme| scheme.name.as_str()).collect();
        for name in orders.iter().flat_map(|order| &order.schemes) {
            if !names.contains(&name.as_str()) {
                refuse(format!("the scheme \"{name}\""), names.join(", "));
            }
        }
        orders
    }

    /// The named links. Refuses links that the network lacks.
    fn links(&mut self, table: &Table, network: Option<&Network>) -> Vec<NamedLink> {
        let Some(text) = table.text(LINKS.name) else { return Vec::new() };
        let place = table.place_of(LINKS.name);
        let mut refuse = |found: String, allowed: &str| {
            self.mistakes.add(Mistake::found(place, LINKS.name, found, allowed));
        };
        let links = NamedLink::parse_all(text).unwrap_or_else(|part| {
            refuse(format!("\"{part}\""), LINK_FORM);
            Vec::new()
        });
        let mut names = BTreeSet::new();
        for NamedLink { name, owner, peer, .. } in &links {
            let is_there = network.is_none_or(|network| has_link(network, owner, peer));
            if !is_there {
                let link = format!("no link from \"{owner}\" to \"{peer}\"");
                refuse(link, "ends as ports.parquet names them, such as \"leaf 0\" and \"host 3\"");
            }
            if !names.insert(name) {
                refuse(format!("two links called \"{name}\""), "a name for each");
            }
        }
        links
    }

    fn scene(&mut self, document: &Document, point: Point) -> Option<Scene> {
        let top = self.top(&document.top);
        let engine = Engine::from_word(&top.text(&ENGINE));
        let topology = self.topology(&document.topology);
        if engine == Engine::Fluid {
            let with = "`engine = \"fluid\"`";
            self.refuse_spraying(&document.topology, topology.as_ref(), with);
        }
        let network =
            topology.as_ref().and_then(|topology| self.network(&document.topology, topology));
        let workload = workload::read(
            document,
            network.as_ref(),
            &mut self.inputs,
            &mut self.mistakes,
            &mut self.warnings,
        );
        let carried = workload.as_ref().zip(network.as_ref());
        let demand = carried.map(|(workload, network)| workload.demand(network));
        let mut schemes = Vec::new();
        scheme::check_names(&document.schemes, &mut self.mistakes);
        for table in &document.schemes {
            let thresholds = &mut self.thresholds;
            let mut sizes_of = |word: &str, queues| match &demand {
                Some(Ok(demand)) => thresholds.resolve(word, demand, queues),
                Some(Err(error)) => Err(error.clone()),
                // The workload has a mistake that was reported. Go on with sizes of 0.
                None => Ok(Value::Sizes(vec![Default::default(); queues as usize - 1])),
            };
            schemes.extend(scheme::read(table, engine, &mut sizes_of, &mut self.mistakes));
        }
        let keeps_to_one = |known: &&scheme::SchemeOfScene| known.level.needs_one_path();
        if engine == Engine::Packet
            && let Some(known) = schemes.iter().find(keeps_to_one)
        {
            let with = format!("the scheme \"{}\"", known.name);
            self.refuse_spraying(&document.topology, topology.as_ref(), &with);
        }
        application::check(document, &schemes, &mut self.mistakes);
        if document.schemes.is_empty() {
            let problem = "The file has no [[scheme]] table. Add at least one.";
            let mistake = Mistake::new(&document.top.place, "scheme", problem);
            let help = "`flowsched list schemes` shows the presets to start from";
            self.mistakes.add(mistake.with_help(help));
        }
        let links = self.links(&document.top, network.as_ref());
        let flow_count = workload.as_ref().map(workload::WorkloadOfScene::flow_count);
        let probe = document.probe.as_ref().and_then(|table| {
            probe::read(table, engine, network.as_ref(), flow_count, &mut self.mistakes)
        });
        let scene = Scene {
            point,
            engine,
            sample_interval: top.time(&SAMPLE_INTERVAL),
            links,
            probe,
            until: match top.get(&UNTIL) {
                Some(Value::Time(time)) => Some(*time),
                _ => None,
            },
            topology: topology?,
            workload: workload?,
            schemes,
        };
        self.contradictions.check(&scene, &network?, top.count(&SEED));
        Some(scene)
    }

    fn topology(&mut self, table: &Table) -> Option<Topology> {
        let names: Vec<&str> = TOPOLOGIES.iter().map(|kind| kind.name).collect();
        let name = keys::word(table, KIND.name, &names, &mut self.mistakes)?;
        let kind = flowsched_topology::kind(name)?;
        let mut topology = Topology { kind, settings: Settings::new(), routing: Routing::Ecmp };
        let parameters: Vec<&Parameter> = topology.parameters().collect();
        topology.settings = Settings::defaults(parameters.iter().copied());
        let settings = &mut topology.settings;
        if !keys::check(table, &parameters, settings, &mut self.mistakes) {
            return None;
        }
        topology.routing = Routing::from_word(&settings.text(&ROUTING))?;
        Some(topology)
    }

    /// Refuses spraying together with `with`, whose flows keep to one path each: fluid flows, and
    /// flows that switches know.
    fn refuse_spraying(&mut self, table: &Table, topology: Option<&Topology>, with: &str) {
        if topology.is_some_and(|topology| topology.routing == Routing::Spray) {
            let (place, path) = (table.place_of("routing"), table.label_of("routing"));
            let problem = format!(
                "`routing = \"spray\"` does not work with {with}. Use `routing = \"ecmp\"`."
            );
            self.mistakes.add(Mistake::new(place, path, problem));
        }
    }

    fn network(&mut self, table: &Table, topology: &Topology) -> Option<Network> {
        match flowsched_topology::build(topology.kind.name, &topology.settings) {
            Ok(network) => Some(network),
            Err(error) => {
                let place = table.place_of(&error.key);
                self.mistakes.add(Mistake::of_setting(place, &table.label, &error));
                None
            }
        }
    }
}
