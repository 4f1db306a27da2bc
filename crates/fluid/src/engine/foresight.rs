//! Predicts which flow starts or ends next.
//!
//! An event changes the rates of some of the active flows. The next event seldom concerns one of these, so it is
//! nearly always the next one on the agenda as it was before.

use flowsched_units::Time;

use super::{Engine, Phase};
use crate::sharing::{Allocator, Step};

impl<S: Allocator> Engine<'_, S> {
    /// Finds the path of the flow that starts next.
    pub(super) fn prepare_start(&mut self) {
        if !S::LOOKS_AHEAD {
            return;
        }
        let Some(flow) = self.job.flows.get(self.next_flow) else { return };
        if self.prepared.as_ref().is_some_and(|(id, _)| *id == flow.id) {
            return;
        }
        let mut path = self.prepared.take().map_or_else(Vec::new, |(_, path)| path);
        self.ways.there(flow, 0, &mut path);
        self.prepared = Some((flow.id, path));
    }

    /// Tells the allocator which step probably comes next, so that it can find the rates ahead.
    pub(super) fn look_ahead(&mut self) {
        if self.sharing.has_time()
            && let Some(step) = self.next_step()
        {
            self.sharing.expect(step);
        }
    }

    /// The next step, if the rates of the flows that it concerns stay the same.
    fn next_step(&mut self) -> Option<Step> {
        let first = self.agenda.first();
        if self.next_start() < first.map_or(Time::MAX, |(time, _)| time) {
            return self.next_flow_to_compete();
        }
        let (_, slot) = first?;
        match self.phases[slot as usize] {
            Phase::Announces => Some(Step::Start(slot, self.paths.path(slot).to_vec())),
            Phase::Sends | Phase::Leaves => Some(Step::End(slot)),
            Phase::IsSplit => None,
        }
    }

    /// The start of the next flow, if it competes from its start on.
    fn next_flow_to_compete(&self) -> Option<Step> {
        let (_, path) = self.prepared.as_ref()?;
        let links = path.iter().map(|port| port.0).collect();
        let is_at_once = self.job.scheme.round_trips_before == 0;
        is_at_once.then(|| Step::Start(self.transfers.next_slot(), links))
    }
}
