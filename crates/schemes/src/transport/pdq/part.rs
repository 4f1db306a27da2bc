//! PDQ as a part: its entry in the catalogue, and its fluid form.

use flowsched_units::{SettingError, Settings};

use super::settings::AGEING_OF;
use super::{AgeingOf, Knowledge, Pdq, PdqHeader, PdqSettings, settings};
use crate::controller::pdq::flow_controller::FlowControl;
use crate::flow_level::{
    Acceptance, Acknowledgements, Admission, CriticalBy, FlowLevel, Fluid, NoFluid, Shares,
    Sharing, SizeBy,
};
use crate::part::{Part, Role};
use crate::transport::{TransportPart, explicit};

impl TransportPart for Pdq {
    const PART: Part = Part {
        role: Role::Transport,
        name: "pdq",
        about: "PDQ: sends at the rate that switches allow, probes while paused, gives up flows that \
                cannot meet their deadlines.",
        source: "PDQ 2012, 3.1, 3.2",
        parameters: &[explicit::PARAMETERS, settings::PARAMETERS],
    };
    type Transport = Pdq;

    fn build(settings: &Settings) -> Result<Pdq, SettingError> {
        Ok(Pdq { settings: PdqSettings::from_settings(settings) })
    }

    fn fluid(pdq: &Pdq, settings: &Settings, _shares: Shares) -> Fluid<FlowLevel> {
        fluid_of(pdq.settings, settings)
    }
}

/// The fluid form of hosts with these settings, on switches with `settings`. There is none if ageing
/// reduces transmission times: flows that have waited would count as nearly completed, and fluid
/// flows count as such only when they are.
pub(super) fn fluid_of(hosts: PdqSettings, settings: &Settings) -> Fluid<FlowLevel> {
    let PdqSettings { ageing, ageing_of, knowledge, .. } = hosts;
    if ageing > 0.0 && ageing_of == AgeingOf::TransmissionTime {
        return Err(NoFluid {
            key: AGEING_OF.name,
            why: "flows that have waited would count as nearly completed and send together",
            instead: "criticality",
        });
    }
    let size = match knowledge {
        Knowledge::Known => SizeBy::Left,
        Knowledge::Estimated { step } => SizeBy::Estimated { step },
        Knowledge::Random => SizeBy::Random,
    };
    let sharing = Sharing::InOrder(CriticalBy { deadline: true, size, ageing });
    let control = FlowControl::from_settings(settings);
    let admission = Admission::ByAcceptance(acceptance(&control));
    let (gives_up, link_share) = (hosts.early_termination, control.link_share);
    Ok(FlowLevel { sharing, gives_up, admission, link_share, ..by_critical_flows() })
}

/// The fluid form in which the most critical flow goes first, as if switches and hosts agreed at
/// once.
pub fn by_critical_flows() -> FlowLevel {
    let announced = Sharing::MOST_CRITICAL_FIRST.announced::<PdqHeader>();
    let acknowledgements = Acknowledgements { same_way_back: true, ..announced.acknowledgements };
    FlowLevel { acknowledgements, gives_up: true, ..announced }
}

/// How long PDQ's switches and hosts need to agree on who sends, in round trips (PDQ 2012, 3.3.2).
///
/// The next flow is accepted once the last K round trips of the flow before it begin. In the last one
/// of these, the flow before it no longer sends and only waits for acknowledgements. Without Early
/// Start, its last packet (TERM) makes room for the next flow. The next flow then has to probe, and
/// sends a round trip later.
pub fn acceptance(control: &FlowControl) -> Acceptance {
    let FlowControl { dampening, early_start, probe_spacing, .. } = *control;
    // Round trips between the probes of the flow in this place of a switch's list: one without
    // Suppressed Probing.
    let interval = |place: u32| {
        if probe_spacing > 0.0 { probe_spacing * f64::from(place) } else { 1.0 }
    };
    let until_probed = interval(2) / 2.0;
    Acceptance {
        dampening,
        early_start,
        until_probed,
        // Switches remember the flow that comes next, and give all others the interval of the one
        // behind it.
        probe_interval: interval(3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "It could take one to two RTTs before flow B can start sending data", as "the control loop
    /// delay is one RTT and the inter probing time is another RTT" (PDQ 2012, 3.3.2).
    #[test]
    fn early_start_hides_the_round_trip_that_it_takes_to_switch_flows() {
        let control = FlowControl::from_settings(&Settings::defaults(
            crate::controller::pdq::settings::PARAMETERS,
        ));
        let of = |early_start, probe_spacing| {
            acceptance(&FlowControl { early_start, probe_spacing, ..control })
        };
        let hand_over = |early_start, spacing| of(early_start, spacing).hand_over(1.0);
        assert_eq!(hand_over(0.0, 0.0), 1.5, "one to two");
        assert_eq!(hand_over(1.0, 0.0), 1.5, "what is not acknowledged takes a round trip anyway");
        assert_eq!([hand_over(1.5, 0.2), hand_over(2.0, 0.2)], [0.7, 0.2]);
        assert_eq!(hand_over(3.0, 0.2), 0.0);
        assert_eq!(of(2.0, 0.2).hand_over_unforeseen(), 1.2, "nothing is hidden");
        // At its last bit, a flow of two cards has two round trips that are not acknowledged.
        assert_eq!([of(2.0, 0.2).hand_over(2.0), of(4.0, 0.2).hand_over(4.0)], [1.2, 1.2]);
        assert!((of(2.0, 0.2).probe_interval - 0.6).abs() < 1e-9);
        assert_eq!(of(2.0, 0.0).probe_interval, 1.0);
    }
}
