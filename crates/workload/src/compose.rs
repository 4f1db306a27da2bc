//! A workload of several parts, drawn side by side, and of flows that are listed.

use flowsched_topology::{HostId, Network};
use flowsched_units::{Rate, SettingError, Settings, Time};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use thiserror::Error;

use crate::application::application_rate;
use crate::arrivals::Arrivals;
use crate::deadlines::Deadlines;
use crate::flow::{Flow, LARGEST_FLOW, LATEST};
use crate::listed::Listed;
use crate::load::{self, Asked};
use crate::parameters::{FLOWS, LOAD, SIZES};
use crate::parts::FlowParts;
use crate::pattern::Pattern;
use crate::random::stream;
use crate::sizes::SizeDistribution;
use crate::starts::{self, Stagger, Starts};
use crate::workload::{Workload, leave_out};

/// The part of listed flows that name none, where other flows have parts.
const LISTED: &str = "listed";

/// A part of a workload, to be drawn.
#[derive(Clone, Debug)]
pub struct Part {
    /// What it is called in results.
    pub name: String,
    /// A value for each of [`crate::PARAMETERS`] that has a default or was given, and `share`.
    pub settings: Settings,
    /// Its flows' sizes.
    pub sizes: SizeDistribution,
    /// The number of its flows. `None` if it shares the flows of the whole with other such parts, as their arrivals
    /// come.
    pub flows: Option<u64>,
}

/// A setting that is not possible, and the part that has it. The part is `None` if the setting is of the whole.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{error}")]
pub struct PartError {
    /// The part's place.
    pub part: Option<usize>,
    /// What is wrong.
    pub error: SettingError,
}

/// Draws the workload of `parts` side by side and adds the `listed` flows. Of the settings of `whole`, only
/// `flows`, `warm_up_flows`, `cool_down_flows` and `size_parts` count. The same arguments always give the same
/// flows. A part's flows do not depend on the other parts' flows, except for how many there are.
///
/// # Errors
/// As [`crate::generate`], and if all parts together ask for more than the links carry.
///
/// # Panics
/// If the settings were not checked against [`crate::PARAMETERS`].
pub fn compose(
    whole: &Settings,
    network: &Network,
    parts: &[Part],
    listed: &[Listed],
    seed: u64,
) -> Result<Workload, PartError> {
    let of_whole = |error| PartError { part: None, error };
    let mut drawings = Vec::with_capacity(parts.len());
    for (place, part) in parts.iter().enumerate() {
        let drawing = Drawing::new(part, whole.count(&FLOWS), network, seed, place as u64);
        drawings.push(drawing.map_err(|error| PartError { part: Some(place), error })?);
    }
    let asked: Vec<&Asked> = drawings.iter().filter_map(|drawing| drawing.asked.as_ref()).collect();
    load::check_together(&asked, network).map_err(of_whole)?;
    let all_asked = listed.is_empty() && asked.len() == parts.len() && !parts.is_empty();
    let load_asked = all_asked.then(|| load::together(&asked, network));
    let only_receiver = if listed.is_empty() { same_receiver(&drawings) } else { None };

    let mut drawn = draw(&mut drawings, whole.count(&FLOWS))?;
    let names_any = !parts.is_empty() || listed.iter().any(|listed| listed.part.is_some());
    let mut names = FlowParts::default();
    for part in parts.iter().filter(|part| !part.name.is_empty()) {
        names.place_of(&part.name);
    }
    for Listed { part, flow, copies } in listed {
        let name = part.as_deref().unwrap_or(LISTED);
        let place = if names_any { names.place_of(name) } else { 0 };
        drawn.extend((0..*copies).map(|_| (*flow, place)));
    }
    drawn.sort_by_key(|(flow, _)| flow.start);
    let is_one = names.names().is_empty();
    let mut flows = Vec::with_capacity(drawn.len());
    for (id, (flow, part)) in drawn.into_iter().enumerate() {
        flows.push(Flow { id: id as u32, ..flow });
        if !is_one {
            names.push(part);
        }
    }
    leave_out(whole, &mut flows).map_err(of_whole)?;
    let parts = names.by_size(whole, &flows).map_err(of_whole)?;
    let load_measured = load::measured(&flows, network, only_receiver);
    Ok(Workload { flows, parts, load_asked, load_measured, only_receiver })
}

/// A part that is being drawn.
#[derive(Debug)]
struct Drawing<'a> {
    part: &'a Part,
    pattern: Pattern,
    starts: Starts,
    next: Option<Time>,
    stagger: Stagger,
    sizes: ChaCha8Rng,
    deadlines: Deadlines,
    application_rate: Option<Rate>,
    asked: Option<Asked>,
    /// The number of flows still to be drawn. `None` if the part shares those of the whole.
    left: Option<u64>,
}

impl<'a> Drawing<'a> {
    fn new(
        part: &'a Part,
        shared: u64,
        network: &Network,
        seed: u64,
        place: u64,
    ) -> Result<Drawing<'a>, SettingError> {
        let settings = &part.settings;
        let pattern = Pattern::from_settings(settings, network, seed, place)?;
        let (asked, mut starts) = if starts::are_laid_down(settings) {
            (None, Starts::laid_down(settings, part.flows.unwrap_or(shared))?)
        } else {
            let asked = load::asked(settings, network, &pattern)?;
            let bytes = part.sizes.mean_wire_bytes() * f64::from(pattern.flows_at_once());
            let mean_gap_ps = bytes / asked.bytes_per_second * 1e12;
            (Some(asked), Starts::Poisson(Box::new(Arrivals::new(mean_gap_ps, seed, place))))
        };
        Ok(Drawing {
            next: starts.next(),
            part,
            pattern,
            starts,
            stagger: Stagger::from_settings(settings, seed, place),
            sizes: stream(seed, "sizes", place),
            deadlines: Deadlines::from_settings(settings, seed, place)?,
            application_rate: application_rate(settings)?,
            asked,
            left: part.flows,
        })
    }

    /// The flows of the next arrival, at most `most` of them.
    fn arrive(&mut self, at: Time, most: usize) -> Result<Vec<Flow>, SettingError> {
        self.next = self.starts.next();
        let mut flows = Vec::new();
        for (src, dst) in self.pattern.draw().into_iter().take(most) {
            let size = self.part.sizes.sample(self.sizes.random());
            if size > LARGEST_FLOW {
                let found = format!("sizes that give a flow of {size}");
                let allowed = format!("flows of at most {LARGEST_FLOW}");
                return Err(SettingError::new(&SIZES, found, allowed));
            }
            let start = self.stagger.put_off(at);
            let application_rate = self.application_rate;
            let mut flow = Flow { application_rate, ..Flow::new(0, src, dst, size, start) };
            self.deadlines.give(&mut flow);
            flows.push(flow);
        }
        Ok(flows)
    }
}

/// Draws the flows of all parts, each with its part's place, arrival by arrival. The earliest arrival comes first,
/// and of arrivals at the same time that of the first part.
fn draw(drawings: &mut [Drawing<'_>], shared: u64) -> Result<Vec<(Flow, u32)>, PartError> {
    let mut shared = shared;
    let mut drawn = Vec::new();
    loop {
        let waiting = drawings.iter().enumerate().filter(|(_, one)| one.left.unwrap_or(shared) > 0);
        let first = waiting.min_by_key(|(_, one)| one.next.unwrap_or(Time::MAX));
        let Some((place, _)) = first else { return Ok(drawn) };
        let drawing = &mut drawings[place];
        let in_part = |error| PartError { part: Some(place), error };
        let Some(at) = drawing.next else { return Err(in_part(too_late(&drawing.part.settings))) };
        let left = drawing.left.unwrap_or(shared);
        let flows = drawing.arrive(at, left as usize).map_err(in_part)?;
        match &mut drawing.left {
            Some(left) => *left -= flows.len() as u64,
            None => shared -= flows.len() as u64,
        }
        drawn.extend(flows.into_iter().map(|flow| (flow, place as u32)));
    }
}

fn too_late(settings: &Settings) -> SettingError {
    let load = settings.number(&LOAD);
    let found = format!("{load}, at which a flow starts later than {LATEST}");
    SettingError::new(&LOAD, found, "a higher load or fewer flows")
}

/// The one host that all parts send to, if there is one.
fn same_receiver(drawings: &[Drawing<'_>]) -> Option<HostId> {
    let mut receivers = drawings.iter().map(|drawing| drawing.pattern.only_receiver());
    let first = receivers.next()??;
    receivers.all(|other| other == Some(first)).then_some(first)
}
