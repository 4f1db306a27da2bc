//! What a scheme comes down to where flows are fluids: who shares links with whom, and what a
//! flow costs beside its bytes.
//!
//! Windows, marks, buffers and losses have no place there. A scheme whose point is one of these
//! cannot be carried, and is refused with the reason.

use flowsched_units::{
    Bytes, Kind, PACKET_HEADER, PACKET_PAYLOAD, Parameter, SettingError, Settings, Value,
};

use crate::catalogue::{Part, Role};
use crate::controller::pdq::flow_controller::FlowControl;
use crate::packet::Header;
use crate::port::Queueing;
use crate::scheme::{ControllerChoice, Scheme, TransportChoice};
use crate::tagger::Tagger;
use crate::transport::d3::D3Header;
use crate::transport::pdq::{Knowledge, PdqHeader, PdqSettings};
use crate::transport::tcp::congestion::Algorithm;

/// A scheme at the level of flows.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowLevel {
    /// How flows share links.
    pub sharing: Sharing,
    /// Round trips before a flow's first byte.
    pub round_trips_before: u32,
    /// How flows that announce themselves come to a rate.
    pub admission: Admission,
    /// Header bytes of each packet of up to 1460 B of payload.
    pub header: Bytes,
    /// What goes back for them.
    pub acknowledgements: Acknowledgements,
    /// Whether a flow that cannot meet its deadline any more is given up.
    pub gives_up: bool,
}

/// How a flow that announces itself comes to a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Admission {
    /// It competes from then on.
    AtOnce,
    /// It asks, once a round trip, so that it learns late what others leave (RCP and D3).
    ByRequest,
    /// Switches accept it or pause it, and tell it by the packets and probes that it sends (PDQ).
    ByAcceptance(Acceptance),
}

impl Admission {
    /// When flows hear of their rates, in a few words; nothing if at once.
    pub fn about(self) -> &'static str {
        match self {
            Admission::AtOnce => "",
            Admission::ByRequest => "; heard of when asked for, once a round trip",
            Admission::ByAcceptance(_) => "; heard of as K and the probes' intervals have it",
        }
    }

    /// What acceptance costs, where there is any.
    pub fn acceptance(self) -> Option<Acceptance> {
        match self {
            Admission::ByAcceptance(acceptance) => Some(acceptance),
            Admission::AtOnce | Admission::ByRequest => None,
        }
    }
}

/// What PDQ's switches and hosts need to agree, in round trips (PDQ 2012, 3.3.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acceptance {
    /// For so long after a switch has accepted a flow, it accepts no other newcomer (Dampening).
    pub dampening: f64,
    /// K of Early Start.
    pub early_start: f64,
    /// X of Suppressed Probing.
    pub probe_spacing: f64,
}

impl Acceptance {
    /// From when a flow has sent its last bit until the first of the next one is there.
    ///
    /// The next one is accepted once the flow's last K round trips begin, of which it sends in all
    /// but one: it takes that one until all is acknowledged. Without Early Start it is its last
    /// packet that tells (TERM). The next one then has to probe, and sends a round trip later.
    pub fn hand_over(&self) -> f64 {
        f64::max(0.0, 1.0 - f64::max(0.0, self.early_start - 1.0) + self.until_probed())
    }

    /// The same after an end that Early Start has not foreseen: a flow is given up.
    pub fn hand_over_unforeseen(&self) -> f64 {
        1.0 + self.until_probed()
    }

    /// Until a flow that comes next has probed: half of its interval, in the mean.
    pub fn until_probed(&self) -> f64 {
        self.interval(2) / 2.0
    }

    /// Between the probes of a flow that waits. Switches remember the one that comes next, and give
    /// all others the interval of the one behind it.
    pub fn probe_interval(&self) -> f64 {
        self.interval(3)
    }

    /// Between the probes of the flow in this place of a switch's list: once a round trip without
    /// Suppressed Probing.
    fn interval(&self, place: u32) -> f64 {
        if self.probe_spacing > 0.0 { self.probe_spacing * f64::from(place) } else { 1.0 }
    }
}

/// What goes back to a flow's sender for the packets that it sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgements {
    /// Bytes of each on a link; zero where nobody acknowledges.
    pub size: Bytes,
    /// One comes after so many packets, and after the last.
    pub packets: u32,
    /// Whether they go back over the links that the data went by.
    pub same_way_back: bool,
}

/// How flows share links.
#[derive(Clone, Debug, PartialEq)]
pub enum Sharing {
    /// Max-min fairly.
    MaxMin,
    /// Max-min fairly within the priority of the bytes they have sent: these demote.
    BytesSent(Vec<Bytes>),
    /// Max-min fairly within the priority of their size; the largest size of each.
    Sizes(Vec<Bytes>),
    /// One after the other by size.
    ShortestFirst,
    /// One after the other by what is left.
    ShortestRemainingFirst,
    /// One after the other by deadline, then by size.
    EarliestDeadlineFirst,
    /// One after the other by deadline, then by what is left.
    Pdq,
    /// Reservations in the order of their starts, then fair shares of the rest.
    D3,
    /// As an omniscient scheduler has it: as few late flows as possible, then as little waiting.
    Optimal,
}

/// The transport that is a schedule and not a protocol: nobody sends packets, and a scheme that
/// has it is run at the level of flows whatever the experiment's engine.
pub const OMNISCIENT: Part = Part {
    role: Role::Transport,
    name: "omniscient",
    about: "No protocol: a scheduler that knows all flows and rules them without delay. It sends \
            no packets and is run at the level of flows, without headers, with either engine.",
    source: "PDQ 2012, 3 and 5.2.1",
    parameters: &[],
};

/// What a `[[scheme]]` may say in place of what follows from its parts.
pub const DISCIPLINE: Parameter = Parameter {
    name: "discipline",
    kind: Kind::Choice(WORDS),
    default: None,
    about: "With engine = \"fluid\": how flows share links, in place of what the scheme's parts \
            come down to.",
    source: "PDQ 2012, 5.5",
};

/// A word of [`DISCIPLINE`].
#[derive(Clone, Copy, Debug)]
pub struct Discipline {
    /// The word.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Where it is from.
    pub source: &'static str,
}

const WORDS: &[&str] = &["max-min", "rcp", "las", "sjf", "srpt", "edf", "pdq", "d3", "optimal"];

/// All of them.
pub const DISCIPLINES: &[Discipline] = &[
    Discipline {
        name: "max-min",
        about: "Max-min fair sharing at once: what TCP aims at, without its windows.",
        source: "Bertsekas and Gallager, Data Networks, 6.5.2",
    },
    Discipline {
        name: "rcp",
        about: "Max-min fair sharing, after a round trip in which switches learn of the flow.",
        source: "PDQ 2012, 5.1: RCP with exact flow counts",
    },
    Discipline {
        name: "las",
        about: "Least attained service: 64 classes by bytes sent, each up to a quarter more than \
                the one before, from 1460 B to 1.5 GB.",
        source: "PIAS ToN 2017, V-C.1",
    },
    Discipline {
        name: "sjf",
        about: "One flow after the other by size, as far as each can fill what is left.",
        source: "PDQ 2012, 2.1",
    },
    Discipline {
        name: "srpt",
        about: "One flow after the other by what is left to send.",
        source: "Alizadeh et al., SIGCOMM 2013",
    },
    Discipline {
        name: "edf",
        about: "One flow after the other by deadline, then by size; those without one last.",
        source: "PDQ 2012, 2.1",
    },
    Discipline {
        name: "pdq",
        about: "One flow after the other by deadline, then by what is left, after a round trip \
                and with 16 B of header a packet; what cannot meet its deadline is given up.",
        source: "PDQ 2012, 3 and 5.5",
    },
    Discipline {
        name: "d3",
        about: "First come, first served, what flows need to meet their deadlines is reserved; \
                all share the rest; after a round trip.",
        source: "Wilson et al., SIGCOMM 2011; PDQ 2012, 2.1",
    },
    Discipline {
        name: "optimal",
        about: "An omniscient schedule, without headers: by deadline, then by the time that what is \
                left takes. On one bottleneck flows that start together lose as few deadlines as \
                can be, and none has a lower mean FCT where there are no deadlines; elsewhere it \
                is a heuristic.",
        source: "PDQ 2012, 3 and 5.2.1",
    },
];

impl Sharing {
    /// What it is, in a few words.
    pub fn about(&self) -> &'static str {
        match self {
            Sharing::MaxMin => "max-min fair sharing",
            Sharing::BytesSent(_) => "priority by bytes sent, max-min fair within each",
            Sharing::Sizes(_) => "priority by size, max-min fair within each",
            Sharing::ShortestFirst => "one after the other by size",
            Sharing::ShortestRemainingFirst => "one after the other by what is left",
            Sharing::EarliestDeadlineFirst => "one after the other by deadline, then size",
            Sharing::Pdq => "one after the other by deadline, then what is left",
            Sharing::D3 => "reservations, first come, first served, then fair shares",
            Sharing::Optimal => "an omniscient schedule",
        }
    }

    /// Without connection set-up, and with the headers of IP and TCP alone.
    fn alone(self) -> FlowLevel {
        let header = Bytes::new(PACKET_HEADER);
        let acknowledgements = Acknowledgements { size: header, packets: 1, same_way_back: false };
        FlowLevel {
            sharing: self,
            round_trips_before: 0,
            admission: Admission::AtOnce,
            header,
            acknowledgements,
            gives_up: false,
        }
    }

    /// With a round trip in which switches learn of the flow, and with the scheme's own header `H`
    /// on every packet and on what comes back for it.
    fn announced<H: Header>(self) -> FlowLevel {
        let header = Bytes::new(PACKET_HEADER + u64::from(H::WIRE_BYTES));
        let alone = self.alone();
        let acknowledgements = Acknowledgements { size: header, ..alone.acknowledgements };
        FlowLevel { round_trips_before: 1, header, acknowledgements, ..alone }
    }

    /// With D3's requests for a rate, or RCP's.
    fn by_request(self) -> FlowLevel {
        FlowLevel { admission: Admission::ByRequest, ..self.announced::<D3Header>() }
    }

    /// Least attained service: one class up to the first packet, each of the others up to a
    /// quarter more than the one before, the last of them from 1.5 GB on.
    fn least_attained() -> Sharing {
        let mut thresholds = vec![PACKET_PAYLOAD];
        while thresholds.len() < 63 {
            let last = thresholds[thresholds.len() - 1];
            thresholds.push(last + last / 4);
        }
        Sharing::BytesSent(thresholds.into_iter().map(Bytes::new).collect())
    }
}

/// Whether the settings name a scheme that is a schedule of flows and has no packets to run.
pub fn is_schedule(settings: &Settings) -> bool {
    settings.text(Role::Transport.key()) == OMNISCIENT.name
}

impl FlowLevel {
    /// What settings, complete and checked, come down to.
    ///
    /// # Errors
    /// As [`Scheme::from_settings`] and [`flow_level`]; for a schedule, if there are parts beside
    /// it that only packets could meet.
    pub fn from_settings(settings: &Settings) -> Result<FlowLevel, SettingError> {
        if !is_schedule(settings) {
            return flow_level(&Scheme::from_settings(settings)?);
        }
        let plain =
            [("tagger", "none"), ("port", "fifo"), ("controller", "none"), ("compat", "none")];
        for (key, only) in plain {
            if settings.text(key) != only {
                let found = format!("\"{}\", where no packets are sent", settings.text(key));
                return Err(SettingError::new(key, found, format!("\"{only}\"")));
            }
        }
        of_word(&settings.get(DISCIPLINE.name).map_or("optimal".to_owned(), Value::to_string))
    }
}

/// What the scheme comes down to.
///
/// # Errors
/// If its parts are such that nothing of the scheme would be left, the part and why.
pub fn flow_level(scheme: &Scheme) -> Result<FlowLevel, SettingError> {
    if scheme.ns2_routing {
        let found = "\"ns2\", which sends each packet another way";
        return Err(SettingError::new("compat", found, "none"));
    }
    if let Some(word) = &scheme.discipline {
        return of_word(word);
    }
    let refuse = |key: &str, found: &str, allowed: &str| {
        let allowed = format!("{allowed}, or a discipline to run in its place");
        Err(SettingError::new(key, found, allowed))
    };
    let (settings, algorithm) = match &scheme.transport {
        TransportChoice::Tcp(settings, algorithm) => (settings, algorithm),
        TransportChoice::Pdq(settings, control) => return of_pdq(settings, control),
        TransportChoice::MultipathPdq(..) => {
            let found = "\"m-pdq\", whose flows take several paths, which fluid flows do not";
            return refuse("transport", found, "pdq");
        }
        TransportChoice::D3(settings, _) => {
            return of_word(if settings.knows_deadlines { "d3" } else { "rcp" });
        }
    };
    if let ControllerChoice::Epn(_) = scheme.controller {
        let found = "\"epn\", whose messages are packets";
        return refuse("controller", found, "none");
    }
    let by_windows = match algorithm {
        Algorithm::L2dct(_) => Some("l2dct"),
        Algorithm::D2tcp(_) => Some("d2tcp"),
        Algorithm::Reno | Algorithm::EcnStar | Algorithm::Dctcp(_) => None,
    };
    if let Some(name) = by_windows {
        let found =
            format!("\"{name}\", whose rates follow from windows, which fluid flows do not have");
        return refuse("transport", &found, "reno, ecn-star or dctcp");
    }
    let sharing = match (&scheme.queueing, &scheme.tagger) {
        (Queueing::StrictPriority, Tagger::Mlfq(mlfq)) => Sharing::BytesSent(mlfq.thresholds()),
        (Queueing::StrictPriority, Tagger::SizeKnown(rule)) => Sharing::Sizes(rule.thresholds()),
        (Queueing::StrictPriority, _) => Sharing::MaxMin,
        (Queueing::Pfabric(_), Tagger::Remaining) => Sharing::ShortestRemainingFirst,
        (Queueing::Pfabric(_), Tagger::SizeKnown(_)) => Sharing::ShortestFirst,
        (Queueing::Pfabric(_), Tagger::BytesSent) => Sharing::least_attained(),
        (Queueing::Pfabric(_), Tagger::None | Tagger::Mlfq(_)) => {
            let found = "a tagger without ranks, at ports that order by rank";
            return refuse("tagger", found, "remaining, size-known or bytes-sent");
        }
        (Queueing::WeightedRoundRobin(_), _) => {
            let found = "weighted-round-robin, whose weights count packets";
            return refuse("port", found, "fifo, strict-priority or pfabric");
        }
        (Queueing::Slytherin, _) => {
            let found = "slytherin, which needs queues of packets";
            return refuse("port", found, "fifo, strict-priority or pfabric");
        }
    };
    let alone = sharing.alone();
    let acknowledgements =
        Acknowledgements { packets: settings.ack_ratio, ..alone.acknowledgements };
    Ok(FlowLevel { acknowledgements, ..alone })
}

/// PDQ, as far as flows know their sizes and do not age.
fn of_pdq(settings: &PdqSettings, control: &FlowControl) -> Result<FlowLevel, SettingError> {
    if settings.knowledge != Knowledge::Known {
        let found = "sizes that are not known, of which packets tell as they are sent";
        return Err(SettingError::new("flow_size", found, "\"known\""));
    }
    if settings.ageing > 0.0 {
        let found = format!("{}, by which criticality changes between events", settings.ageing);
        return Err(SettingError::new("ageing", found, "0"));
    }
    let FlowControl { dampening, early_start, probe_spacing, .. } = *control;
    let admission = Admission::ByAcceptance(Acceptance { dampening, early_start, probe_spacing });
    Ok(FlowLevel { gives_up: settings.early_termination, admission, ..of_word("pdq")? })
}

fn of_word(word: &str) -> Result<FlowLevel, SettingError> {
    let nothing = Acknowledgements { size: Bytes::ZERO, packets: 1, same_way_back: false };
    Ok(match word {
        "max-min" => Sharing::MaxMin.alone(),
        "rcp" => Sharing::MaxMin.by_request(),
        "las" => Sharing::least_attained().alone(),
        "sjf" => Sharing::ShortestFirst.alone(),
        "srpt" => Sharing::ShortestRemainingFirst.alone(),
        "edf" => Sharing::EarliestDeadlineFirst.alone(),
        "d3" => Sharing::D3.by_request(),
        "optimal" => FlowLevel {
            header: Bytes::ZERO,
            acknowledgements: nothing,
            gives_up: true,
            ..Sharing::Optimal.alone()
        },
        "pdq" => {
            let announced = Sharing::Pdq.announced::<PdqHeader>();
            let acknowledgements =
                Acknowledgements { same_way_back: true, ..announced.acknowledgements };
            FlowLevel { acknowledgements, gives_up: true, ..announced }
        }
        _ => return Err(SettingError::new(DISCIPLINE.name, word, WORDS.join(", "))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::Combination;

    fn of(preset: &str, discipline: Option<&str>) -> Result<FlowLevel, SettingError> {
        let mut settings = Combination::new(preset, [None; 4]).unwrap().defaults("none");
        if let Some(flowsched_units::Value::Text(_)) = settings.get("thresholds") {
            settings.set("thresholds", flowsched_units::Value::Sizes(sizes(&settings)));
        }
        if let Some(word) = discipline {
            settings.set("discipline", DISCIPLINE.kind.parse(word).unwrap());
        }
        FlowLevel::from_settings(&settings)
    }

    fn sizes(settings: &flowsched_units::Settings) -> Vec<Bytes> {
        (1..settings.count("queues")).map(|queue| Bytes::new(queue * 10_000)).collect()
    }

    #[test]
    fn presets_come_down_to_what_they_approximate() {
        let sharing = |preset| of(preset, None).unwrap().sharing;
        assert_eq!(sharing("tcp"), Sharing::MaxMin);
        assert_eq!(sharing("dctcp"), Sharing::MaxMin);
        assert_eq!(sharing("pfabric"), Sharing::ShortestRemainingFirst);
        assert_eq!(sharing("sjf"), Sharing::ShortestFirst);
        assert_eq!(sharing("tcp2q"), Sharing::Sizes(vec![Bytes::new(10_000)]));
        assert!(matches!(sharing("pias"), Sharing::BytesSent(thresholds) if thresholds.len() == 7));
        assert!(matches!(sharing("las"), Sharing::BytesSent(thresholds) if thresholds.len() == 63));
    }

    #[test]
    fn a_schedule_has_no_headers_and_no_parts_for_packets() {
        let optimal = of("optimal", None).unwrap();
        assert_eq!((optimal.sharing, optimal.header), (Sharing::Optimal, Bytes::ZERO));
        assert_eq!(optimal.acknowledgements.size, Bytes::ZERO);
        let parts = [Some("bytes-sent"), None, None, None];
        let settings = Combination::new("optimal", parts).unwrap().defaults("none");
        assert_eq!(FlowLevel::from_settings(&settings).unwrap_err().key, "tagger");
        let spraying = Combination::new("optimal", [None; 4]).unwrap().defaults("ns2");
        assert_eq!(FlowLevel::from_settings(&spraying).unwrap_err().key, "compat");
        assert_eq!(Scheme::from_settings(&spraying).unwrap_err().key, "transport");
    }

    #[test]
    fn explicit_rates_have_their_header_on_every_packet_and_on_its_acknowledgement() {
        for preset in ["pdq", "d3", "rcp"] {
            let FlowLevel { header, acknowledgements, .. } = of(preset, None).unwrap();
            assert_eq!((header, acknowledgements.size), (Bytes::new(56), Bytes::new(56)));
            assert_eq!(acknowledgements.same_way_back, preset == "pdq", "{preset}");
        }
        let FlowLevel { header, acknowledgements, .. } = of("dctcp", None).unwrap();
        assert_eq!((header, acknowledgements.size), (Bytes::new(40), Bytes::new(40)));
    }

    #[test]
    fn pdq_as_a_fluid_knows_sizes_does_not_age_and_gives_up_if_it_terminates_early() {
        assert!(of("pdq", None).unwrap().gives_up);
        assert!(!of("pdq-es", None).unwrap().gives_up);
        let settings = Combination::new("pdq", [None; 4]).unwrap().defaults("none");
        let known = PdqSettings::from_settings(&settings);
        let control = FlowControl::from_settings(&settings);
        let of_pdq = |settings| of_pdq(settings, &FlowControl { dampening: 0.7, ..control });
        let acceptance = Acceptance { dampening: 0.7, early_start: 2.0, probe_spacing: 0.2 };
        assert_eq!(of_pdq(&known).unwrap().admission, Admission::ByAcceptance(acceptance));
        let random = PdqSettings { knowledge: Knowledge::Random, ..known };
        assert_eq!(of_pdq(&random).unwrap_err().key, "flow_size");
        assert_eq!(of_pdq(&PdqSettings { ageing: 2.0, ..known }).unwrap_err().key, "ageing");
    }

    /// "It could take one to two RTTs before flow B can start sending data", as "the control loop
    /// delay is one RTT and the inter probing time is another RTT" (PDQ 2012, 3.3.2).
    #[test]
    fn early_start_hides_the_round_trip_that_it_takes_to_switch_flows() {
        let acceptance =
            |early_start, probe_spacing| Acceptance { dampening: 0.5, early_start, probe_spacing };
        let hand_over = |early_start, spacing| acceptance(early_start, spacing).hand_over();
        assert_eq!(hand_over(0.0, 0.0), 1.5, "one to two");
        assert_eq!(hand_over(1.0, 0.0), 1.5, "what is not acknowledged takes a round trip anyway");
        assert_eq!([hand_over(1.5, 0.2), hand_over(2.0, 0.2)], [0.7, 0.2]);
        assert_eq!(hand_over(3.0, 0.2), 0.0);
        assert_eq!(acceptance(2.0, 0.2).hand_over_unforeseen(), 1.2, "nothing is hidden");
        assert!((acceptance(2.0, 0.2).probe_interval() - 0.6).abs() < 1e-9);
        assert_eq!(acceptance(2.0, 0.0).probe_interval(), 1.0);
    }

    #[test]
    fn what_needs_packets_is_refused_by_its_part() {
        let key = |preset| of(preset, None).unwrap_err().key;
        let all = ["slytherin", "l2dct", "d2tcp", "m-pdq"];
        assert_eq!(all.map(key), ["port", "transport", "transport", "transport"]);
    }

    #[test]
    fn every_discipline_is_known_and_goes_before_the_parts() {
        assert!(DISCIPLINES.iter().map(|discipline| discipline.name).eq(WORDS.iter().copied()));
        for word in WORDS {
            of("slytherin", Some(word)).unwrap();
        }
        let pdq = of("tcp", Some("pdq")).unwrap();
        assert_eq!((pdq.sharing, pdq.header, pdq.gives_up), (Sharing::Pdq, Bytes::new(56), true));
    }
}
