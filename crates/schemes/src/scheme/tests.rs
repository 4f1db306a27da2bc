//! Which parts work together, and the fluid forms of schemes.

use flowsched_units::{Bytes, Value};

use super::*;
use crate::combination::Combination;
use crate::discipline::{DISCIPLINE, DISCIPLINES};
use crate::flow_level::{Sharing, SizeBy};

fn flow_level_of(preset: &str, discipline: Option<&str>) -> Result<FlowLevel, SettingError> {
    let mut settings = Combination::new(preset, [None; 4]).unwrap().defaults("none");
    if let Some(flowsched_units::Value::Text(_)) = settings.get(&crate::tagger::THRESHOLDS) {
        settings.set("thresholds", flowsched_units::Value::Sizes(sizes(&settings)));
    }
    if let Some(word) = discipline {
        settings.set("discipline", DISCIPLINE.kind.parse(word).unwrap());
    }
    FlowLevel::from_settings(&settings)
}

fn sizes(settings: &flowsched_units::Settings) -> Vec<Bytes> {
    (1..settings.count(&crate::port::parameters::QUEUES))
        .map(|queue| Bytes::new(queue * 10_000))
        .collect()
}

#[test]
fn presets_come_down_to_what_they_approximate() {
    let sharing = |preset| flow_level_of(preset, None).unwrap().sharing;
    assert_eq!(sharing("tcp"), Sharing::MaxMin);
    assert_eq!(sharing("dctcp"), Sharing::MaxMin);
    assert_eq!(sharing("pfabric"), Sharing::SHORTEST_REMAINING_FIRST);
    assert_eq!(sharing("sjf"), Sharing::SHORTEST_FIRST);
    assert_eq!(sharing("tcp2q"), Sharing::Sizes(vec![Bytes::new(10_000)]));
    assert!(matches!(sharing("pias"), Sharing::BytesSent(thresholds) if thresholds.len() == 7));
    assert!(matches!(sharing("las"), Sharing::BytesSent(thresholds) if thresholds.len() == 63));
}

#[test]
fn a_schedule_has_no_headers_and_no_parts_for_packets() {
    let optimal = flow_level_of("optimal", None).unwrap();
    assert!(optimal.is_omniscient && optimal.header == Bytes::ZERO && optimal.gives_up);
    assert_eq!(optimal.acknowledgements.size, Bytes::ZERO);
    let parts = [Some("bytes-sent"), None, None, None];
    let settings = Combination::new("optimal", parts).unwrap().defaults("none");
    assert_eq!(FlowLevel::from_settings(&settings).unwrap_err().key, "tagger");
    let spraying = Combination::new("optimal", [None; 4]).unwrap().defaults("ns2");
    assert_eq!(FlowLevel::from_settings(&spraying).unwrap_err().key, "compat");
    assert_eq!(Scheme::from_settings(&spraying).unwrap_err().key, "transport");
}

/// Packets of the kernel's TCP have no rank, so that such a port would serve them in the order in which they come.
#[test]
fn ports_that_order_by_rank_need_the_simulators_hosts() {
    let is_kernel = |preset, port| {
        let mut settings =
            Combination::new(preset, [None, None, port, None]).unwrap().defaults("none");
        if settings.get(&crate::tagger::THRESHOLDS).is_some() {
            // Ports that order by rank have one queue.
            let has_queues = settings.get(&crate::port::parameters::QUEUES).is_some();
            let sizes = if has_queues { sizes(&settings) } else { Vec::new() };
            settings.set("thresholds", Value::Sizes(sizes));
        }
        let scheme = Scheme::from_settings(&settings).unwrap();
        matches!(scheme.on_linux().unwrap(), RealHosts::Kernel(_))
    };
    assert!(is_kernel("dctcp", None) && is_kernel("tcp8q", None) && is_kernel("pias", None));
    assert!(!is_kernel("sjf", None) && !is_kernel("las", None) && !is_kernel("pfabric", None));
    assert!(!is_kernel("pias", Some("pfabric")) && !is_kernel("dctcp", Some("pfabric")));
}

#[test]
fn admissions_that_take_time_say_so() {
    let about = |preset| flow_level_of(preset, None).unwrap().admission.about();
    assert_eq!(about("dctcp"), "");
    assert!(about("d3").contains("on request"), "{}", about("d3"));
    assert!(about("pdq").contains("probe interval"), "{}", about("pdq"));
}

#[test]
fn explicit_rates_have_their_header_on_every_packet_and_on_its_acknowledgement() {
    for preset in ["pdq", "d3", "rcp"] {
        let FlowLevel { header, acknowledgements, .. } = flow_level_of(preset, None).unwrap();
        assert_eq!((header, acknowledgements.size), (Bytes::new(56), Bytes::new(56)));
        assert_eq!(acknowledgements.same_way_back, preset == "pdq", "{preset}");
    }
    let FlowLevel { header, acknowledgements, round_trips_before, .. } =
        flow_level_of("hpcc", None).unwrap();
    assert_eq!((header, acknowledgements.size), (Bytes::new(82), Bytes::new(82)));
    assert_eq!(round_trips_before, 0, "HPCC sends at once");
    let FlowLevel { header, acknowledgements, .. } = flow_level_of("dctcp", None).unwrap();
    assert_eq!((header, acknowledgements.size), (Bytes::new(40), Bytes::new(40)));
}

#[test]
fn pdq_as_a_fluid_gives_up_if_it_terminates_early_and_ages_by_criticality() {
    assert!(flow_level_of("pdq", None).unwrap().gives_up);
    assert!(!flow_level_of("pdq-es", None).unwrap().gives_up);
    let with = |key: &'static str, value| {
        let mut settings = Combination::new("pdq", [None; 4]).unwrap().defaults("none");
        settings.set(key, value);
        FlowLevel::from_settings(&settings)
    };
    let admission = with("dampening", Value::Number(0.7)).unwrap().admission;
    assert_eq!(admission.acceptance().unwrap().dampening, 0.7);
    let size = |word: &str| match with("flow_size", Value::Text(word.into())).unwrap().sharing {
        Sharing::InOrder(by) => by.size,
        other => panic!("{other:?}"),
    };
    assert_eq!([size("known"), size("random")], [SizeBy::Left, SizeBy::Random]);
    assert_eq!(size("estimated"), SizeBy::Estimated { step: Bytes::new(50_000) });
    assert_eq!(with("ageing", Value::Number(2.0)).unwrap_err().key, "ageing_of");
}

#[test]
fn m_pdq_as_a_fluid_is_pdq_with_subflows() {
    let [pdq, m_pdq] = ["pdq", "m-pdq"].map(|preset| flow_level_of(preset, None).unwrap());
    assert_eq!((pdq.subflows, m_pdq.subflows), (None, Some(3)));
    assert!(m_pdq.gives_up, "its subflows do not, but it does");
    assert!(m_pdq.about().contains("up to 3 subflows"), "{}", m_pdq.about());
    assert_eq!(FlowLevel { subflows: None, ..m_pdq }, pdq);
}

#[test]
fn what_needs_packets_is_refused_by_its_part() {
    let key = |preset| flow_level_of(preset, None).unwrap_err().key;
    assert_eq!(["slytherin", "l2dct", "d2tcp"].map(key), ["port", "transport", "transport"]);
}

#[test]
fn every_discipline_is_known_and_goes_before_the_parts() {
    for discipline in DISCIPLINES {
        flow_level_of("slytherin", Some(discipline.name)).unwrap();
    }
    let pdq = flow_level_of("tcp", Some("pdq")).unwrap();
    assert_eq!(
        (pdq.sharing, pdq.header, pdq.gives_up),
        (Sharing::MOST_CRITICAL_FIRST, Bytes::new(56), true)
    );
}

/// The scheme of a preset with other parts, with the defaults of all keys.
fn with_parts(preset: &str, parts: [Option<&str>; 4]) -> Result<Scheme, SettingError> {
    Scheme::from_settings(&Combination::new(preset, parts).unwrap().defaults("none"))
}

#[test]
fn epn_needs_both_its_halves_and_a_port_with_queues() {
    let key = |parts| with_parts("epn", parts).unwrap_err().key;
    assert_eq!(key([Some("none"), None, None, None]), "tagger");
    assert_eq!(key([None, None, None, Some("none")]), "tagger");
    assert_eq!(key([None, None, Some("pfabric"), None]), "port");
    for port in ["weighted-round-robin", "strict-priority", "fifo"] {
        assert!(with_parts("epn", [None, Some("dctcp"), Some(port), None]).is_ok(), "{port}");
    }
    assert!(with_parts("dctcp", [None, None, None, Some("epn")]).is_err());
}
