//! Which subflow sends what is left of a flow.
//!
//! "To minimize the flow completion time, the M-PDQ sender periodically shifts the load from the
//! paused subflows to the sending one with the minimal remaining load" (PDQ 2012, 6).

use flowsched_units::Bytes;

use super::subflow::Subflow;

/// Gives the unsent segments of paused subflows to the sending subflow with the least remaining
/// load. Returns whether there was anything to give, and a subflow to give it to.
pub(super) fn from_paused_to_least(subflows: &mut [Subflow]) -> bool {
    let takers = (0..subflows.len()).filter(|place| can_take(&subflows[*place]));
    let Some(least) = takers.min_by_key(|place| subflows[*place].sender.delivery().remaining())
    else {
        return false;
    };
    let mut is_shifted = false;
    for place in 0..subflows.len() {
        if has_to_give(&subflows[place]) {
            let load = subflows[place].sender.delivery_mut().take_back(u32::MAX);
            subflows[least].sender.delivery_mut().add(load);
            is_shifted = true;
        }
    }
    is_shifted
}

/// Whether [`from_paused_to_least`] would shift anything.
pub(super) fn is_wanted(subflows: &[Subflow]) -> bool {
    subflows.iter().any(has_to_give) && subflows.iter().any(can_take)
}

fn can_take(subflow: &Subflow) -> bool {
    subflow.sender.is_sending() && !subflow.has_left
}

fn has_to_give(subflow: &Subflow) -> bool {
    subflow.sender.is_paused() && subflow.sender.delivery().load() > 0
}

/// Evens out unsent segments between a sending subflow that is about to run out and the subflow
/// with the most.
///
/// This rule is not the paper's. Without it a path that sends faster than the others would be done
/// first, and a flow that has shifted everything off a paused path would never come back to it.
pub(super) fn to_those_that_run_out(subflows: &mut [Subflow]) {
    for place in 0..subflows.len() {
        let own = subflows[place].sender.delivery().load();
        let (most, load) = most_loaded(subflows);
        if own <= 1 && load >= own + 2 && can_take(&subflows[place]) {
            let half = subflows[most].sender.delivery_mut().take_back((load - own) / 2);
            subflows[place].sender.delivery_mut().add(half);
        }
    }
}

/// Tells all subflows how much of the flow is left, because this decides how critical the flow is.
/// Paused subflows with nothing to send go on asking as long as there is load that they could take.
pub(super) fn tell_what_is_left(subflows: &mut [Subflow]) {
    let left = |subflow: &Subflow| subflow.sender.delivery().remaining();
    let all: Bytes = subflows.iter().map(left).sum();
    let (_, most) = most_loaded(subflows);
    for subflow in subflows {
        let is_idle = subflow.sender.is_paused() && subflow.sender.delivery().load() == 0;
        subflow.sender.tell(all.saturating_sub(left(subflow)), is_idle && most > 1);
    }
}

/// The subflow with the most unsent segments, and their number.
fn most_loaded(subflows: &[Subflow]) -> (usize, u32) {
    let loads = subflows.iter().map(|subflow| subflow.sender.delivery().load());
    loads.enumerate().max_by_key(|(place, load)| (*load, usize::MAX - place)).unwrap_or((0, 0))
}
