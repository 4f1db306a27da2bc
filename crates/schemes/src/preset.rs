//! The named combinations of parts that the papers call schemes.

use flowsched_units::{Kind, Parameter, SettingError, Settings};

use crate::catalogue::{self, part, parts};
use crate::discipline::DISCIPLINE;
use crate::part::{Part, Role};

/// A named combination of parts with the parameters of the paper.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name in an experiment file.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub about: &'static str,
    /// The paper.
    pub source: &'static str,
    /// The part for each role, in the order of [`Role::ALL`].
    pub parts: [&'static str; 4],
    /// Parameters whose value differs from the part's default, as written in a file.
    pub settings: &'static [(&'static str, &'static str)],
}

impl Preset {
    /// Whether there are packets to run: otherwise it is a schedule of flows.
    pub fn sends_packets(&self) -> bool {
        !part(Role::Transport, self.parts[1]).is_some_and(catalogue::is_schedule)
    }
}

/// All presets.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "tcp",
        about: "TCP Reno with SACK over drop-tail FIFO ports, without ECN.",
        source: "RFC 5681, 6298, 6675",
        parts: ["none", "reno", "fifo", "none"],
        settings: &[("ecn_threshold", "unlimited")],
    },
    Preset {
        name: "ecn-star",
        about: "TCP that halves its window on ECN marks, at a threshold tuned to the link.",
        source: "RFC 3168; Wu et al., CoNEXT 2012 (PIAS ToN 2017, III-B.3)",
        parts: ["none", "ecn-star", "fifo", "none"],
        settings: &[],
    },
    Preset {
        name: "dctcp",
        about: "DCTCP over FIFO ports: the window shrinks by the share of marked packets.",
        source: "RFC 8257; PIAS ToN 2017, V-C",
        parts: ["none", "dctcp", "fifo", "none"],
        settings: &[],
    },
    Preset {
        name: "l2dct",
        about: "L2DCT over FIFO ports: DCTCP that favours flows which have sent little.",
        source: "Munir et al., INFOCOM 2013; PIAS ToN 2017, V-C.1",
        parts: ["none", "l2dct", "fifo", "none"],
        settings: &[],
    },
    Preset {
        name: "d2tcp",
        about: "D2TCP over FIFO ports: DCTCP that favours flows whose deadlines are near.",
        source: "Vamanan et al., SIGCOMM 2012",
        parts: ["none", "d2tcp", "fifo", "none"],
        settings: &[],
    },
    Preset {
        name: "pias",
        about: "Priorities fall with bytes sent, strict-priority ports with ECN, DCTCP.",
        source: "PIAS ToN 2017, III-B",
        parts: ["mlfq", "dctcp", "strict-priority", "none"],
        settings: &[],
    },
    Preset {
        name: "tcp2q",
        about: "TCP[a]Q with 2 queues: each flow in the queue of its size, TCP with ECN.",
        source: "pFabric: Alizadeh et al., SIGCOMM 2013, 6; EPN 2018, VI-A",
        parts: ["size-known", "ecn-star", "strict-priority", "none"],
        settings: &[("queues", "2")],
    },
    Preset {
        name: "tcp8q",
        about: "TCP[a]Q with 8 queues: each flow in the queue of its size, TCP with ECN.",
        source: "pFabric: Alizadeh et al., SIGCOMM 2013, 6; EPN 2018, VI-A",
        parts: ["size-known", "ecn-star", "strict-priority", "none"],
        settings: &[("queues", "8")],
    },
    Preset {
        name: "sjf",
        about: "Ideal SJF: as many priorities as there are flow sizes, DCTCP.",
        source: "Slytherin 2018, IV-3",
        parts: ["size-known", "dctcp", "pfabric", "none"],
        // Buffer and marking as the schemes that it is compared with (Slytherin 2018, III-C.2).
        settings: &[("thresholds", ""), ("buffer", "360KB"), ("ecn_threshold", "90KB")],
    },
    Preset {
        name: "slytherin",
        about: "Packets that met congestion at an earlier hop, and ACKs, go first; DCTCP.",
        source: "Slytherin 2018, III",
        parts: ["none", "dctcp", "slytherin", "none"],
        // 25% of the buffer: Slytherin 2018, III-C.2. A card that marked would let the first switch
        // promote: III-B.
        settings: &[("ecn_threshold", "90KB"), ("host_port", "fifo")],
    },
    Preset {
        name: "las",
        about: "Least attained service: pFabric with bytes sent as the rank.",
        source: "PIAS ToN 2017, V-C.1",
        parts: ["bytes-sent", "reno", "pfabric", "none"],
        settings: PFABRIC_TRANSPORT,
    },
    Preset {
        name: "pfabric",
        about: "Remaining size decides which packet goes next and which is dropped; a minimal \
                transport that starts at line rate.",
        source: "Alizadeh et al., SIGCOMM 2013; PIAS ToN 2017, V-C",
        parts: ["remaining", "reno", "pfabric", "none"],
        settings: PFABRIC_TRANSPORT,
    },
    Preset {
        name: "epn",
        about: "EPN: of the flows at each link those that want it most have one of two queues, \
                by what remains of them; TCP with ECN.",
        source: "EPN 2018",
        parts: ["priority-mapper", "ecn-star", "weighted-round-robin", "epn"],
        settings: EPN_PORT,
    },
    Preset {
        name: "epn-agnostic",
        about: "EPN that knows no flow's size: 16 exponential levels by bytes sent.",
        source: "EPN 2018, IV-C and VI-C",
        parts: ["priority-mapper", "ecn-star", "weighted-round-robin", "epn"],
        settings: &[EPN_PORT[0], EPN_PORT[1], ("dp", "sent")],
    },
    Preset {
        name: "pdq",
        about: "PDQ(Full): the most critical flows send, all others are paused; Early Start, \
                Early Termination, Suppressed Probing.",
        source: "PDQ 2012, 3",
        parts: PDQ,
        settings: PDQ_PORT,
    },
    Preset {
        name: "pdq-basic",
        about: "PDQ(Basic): without Early Start, Early Termination and Suppressed Probing.",
        source: "PDQ 2012, 5.1",
        parts: PDQ,
        settings: &[
            PDQ_PORT[0],
            PDQ_PORT[1],
            ("early_start", "0"),
            ("early_termination", "false"),
            ("probe_spacing", "0"),
        ],
    },
    Preset {
        name: "pdq-es",
        about: "PDQ(ES): with Early Start, without Early Termination and Suppressed Probing.",
        source: "PDQ 2012, 5.1",
        parts: PDQ,
        settings: &[
            PDQ_PORT[0],
            PDQ_PORT[1],
            ("early_termination", "false"),
            ("probe_spacing", "0"),
        ],
    },
    Preset {
        name: "pdq-es-et",
        about: "PDQ(ES+ET): with Early Start and Early Termination, without Suppressed Probing.",
        source: "PDQ 2012, 5.1",
        parts: PDQ,
        settings: &[PDQ_PORT[0], PDQ_PORT[1], ("probe_spacing", "0")],
    },
    Preset {
        name: "m-pdq",
        about: "M-PDQ: PDQ(Full) with each flow spread over several paths.",
        source: "PDQ 2012, 6",
        parts: ["none", "m-pdq", "fifo", "pdq"],
        settings: PDQ_PORT,
    },
    Preset {
        name: "d3",
        about: "D3: switches grant the rates that meet deadlines in the order in which they are \
                asked for.",
        source: "Wilson et al., SIGCOMM 2011; PDQ 2012, 5.1",
        parts: ["none", "d3", "fifo", "d3"],
        settings: PDQ_PORT,
    },
    Preset {
        name: "rcp",
        about: "RCP with the exact number of flows: switches tell each flow its fair share.",
        source: "Dukkipati and McKeown, CCR 2006; PDQ 2012, 5.1",
        parts: ["none", "rcp", "fifo", "d3"],
        settings: PDQ_PORT,
    },
    Preset {
        name: "optimal",
        about: "No protocol but what an omniscient scheduler could do, at the level of flows: as \
                few late flows as possible, then the shortest remaining flow first. A bound on one \
                bottleneck, elsewhere a heuristic.",
        source: "PDQ 2012, 3 and 5.2.1",
        parts: ["none", "omniscient", "fifo", "none"],
        settings: &[],
    },
];

/// EPN 2018, V-C: "we configure per-queue ECN for EPN"; VI-C: "an ECN threshold to be 40 packets",
/// the only one that it gives.
const EPN_PORT: &[(&str, &str)] = &[("ecn_scope", "queue"), ("ecn_threshold", "40pkt")];

/// PDQ's hosts and switches over FIFO ports.
const PDQ: [&str; 4] = ["none", "pdq", "fifo", "pdq"];

/// "A switch buffer of 4 MByte, and FIFO tail-drop queues" (PDQ 2012, Figure 2).
const PDQ_PORT: &[(&str, &str)] = &[("buffer", "4MB"), ("ecn_threshold", "unlimited")];

/// pFabric's minimal TCP (Alizadeh et al., SIGCOMM 2013, 4.2): windows start at the
/// bandwidth-delay product; losses are found by timeouts alone, of about three round-trip times;
/// after five of these in a row a flow probes. Sizes are those of PIAS ToN 2017, V-C, the
/// largest window that of its authors' simulator.
const PFABRIC_TRANSPORT: &[(&str, &str)] = &[
    ("initial_window", "70"),
    ("max_window", "139"),
    ("restart", "every-flow"),
    ("rto_min", "250us"),
    ("rto", "fixed"),
    ("rto_backoff", "false"),
    ("fast_retransmit", "false"),
    ("probe_timeouts", "5"),
];

/// The keys of a `[[scheme]]` table that every scheme has.
pub const COMMON: &[Parameter] = &[
    Parameter {
        name: "preset",
        kind: Kind::Text,
        default: None,
        about: "The scheme of a paper to start from.",
        source: "flowsched list schemes",
    },
    Parameter {
        name: "name",
        kind: Kind::Text,
        default: None,
        about: "What tables and charts call it; by default the preset's name.",
        source: "the project",
    },
    Parameter {
        name: "tagger",
        kind: Kind::Text,
        default: None,
        about: "The tagger, in place of the preset's.",
        source: "the project",
    },
    Parameter {
        name: "transport",
        kind: Kind::Text,
        default: None,
        about: "The transport, in place of the preset's.",
        source: "the project",
    },
    Parameter {
        name: "port",
        kind: Kind::Text,
        default: None,
        about: "The port, in place of the preset's.",
        source: "the project",
    },
    Parameter {
        name: "controller",
        kind: Kind::Text,
        default: None,
        about: "The controller, in place of the preset's.",
        source: "the project",
    },
    Parameter {
        name: "compat",
        kind: Kind::Choice(&["none", "ns2"]),
        default: Some("none"),
        about: "\"ns2\" behaves as the PIAS authors' simulator does, routing included.",
        source: "the authors' ns-2.34 patches",
    },
    DISCIPLINE,
];

/// What `compat = "ns2"` changes, where the scheme has the parameter.
const NS2: &[(&str, &str)] = &[
    ("rto", "fixed"),
    ("rto_backoff", "false"),
    ("fast_retransmit", "false"),
    ("initial_alpha", "0"),
    ("growth", "ns2"),
    ("growth_per_window", "two"),
    ("connections", "persistent"),
    ("restart", "every-flow"),
    ("ack_ecn", "true"),
    ("probe_timeouts", "5"),
    ("ageing_timeouts", "0"),
    ("same_flow", "connection"),
];

/// A preset with any of its parts exchanged: which parameters it has and what they start from.
#[derive(Clone, Copy, Debug)]
pub struct Combination {
    preset: &'static Preset,
    parts: [&'static Part; 4],
}

impl Combination {
    /// The preset `name` with the parts that `exchanged` names (in the order of [`Role::ALL`])
    /// in place of its own.
    ///
    /// # Errors
    /// If there is no such preset or no such part; the error's key says which.
    pub fn new(name: &str, exchanged: [Option<&str>; 4]) -> Result<Combination, SettingError> {
        let preset = PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| {
            let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
            SettingError::new("preset", format!("\"{name}\""), names.join(", "))
        })?;
        let choose = |index: usize, role: Role| {
            let name = exchanged[index].unwrap_or(preset.parts[index]);
            part(role, name).ok_or_else(|| {
                let names: Vec<&str> =
                    parts().filter(|part| part.role == role).map(|part| part.name).collect();
                SettingError::new(role.key(), format!("\"{name}\""), names.join(", "))
            })
        };
        let [tagger, transport, port, controller] = Role::ALL;
        let parts =
            [choose(0, tagger)?, choose(1, transport)?, choose(2, port)?, choose(3, controller)?];
        Ok(Combination { preset, parts })
    }

    /// The preset that it started from.
    pub fn preset(&self) -> &'static Preset {
        self.preset
    }

    /// The part of each role, in the order of [`Role::ALL`].
    pub fn parts(&self) -> [&'static Part; 4] {
        self.parts
    }

    /// The keys that the `[[scheme]]` table may have beside [`COMMON`].
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> {
        self.parts.into_iter().flat_map(|part| part.parameters())
    }

    /// What the keys are where the file says nothing: the parts' defaults, then the preset's,
    /// then what `compat` changes. `name` is the preset's and the four roles name their parts.
    ///
    /// # Panics
    /// If a preset's setting is not of its parameter's kind (a test checks that).
    pub fn defaults(&self, compat: &str) -> Settings {
        let mut settings = Settings::defaults(COMMON.iter().chain(self.parameters()));
        let ns2 = if compat == "ns2" { NS2 } else { &[] };
        for (name, text) in self.preset.settings.iter().chain(ns2) {
            if let Some(parameter) = self.parameters().find(|p| p.name == *name) {
                let value = parameter.kind.parse(text).expect("a preset's setting is checked");
                settings.set(*name, value);
            }
        }
        let text = |text: &str| flowsched_units::Value::Text(text.to_owned());
        settings.set("preset", text(self.preset.name));
        settings.set("name", text(self.preset.name));
        settings.set("compat", text(compat));
        for part in self.parts {
            settings.set(part.role.key(), text(part.name));
        }
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_has_parts_and_settings_of_the_right_kind() {
        for preset in PRESETS {
            let combination = Combination::new(preset.name, [None; 4]).unwrap();
            for (name, _) in preset.settings {
                assert!(
                    combination.parameters().any(|p| p.name == *name),
                    "{} sets {name}, which its parts do not have",
                    preset.name
                );
            }
            combination.defaults("none");
            combination.defaults("ns2");
        }
    }

    #[test]
    fn every_ns2_behaviour_is_a_parameter_of_some_preset() {
        for (name, _) in NS2 {
            assert!(
                PRESETS.iter().any(|preset| {
                    let combination = Combination::new(preset.name, [None; 4]).unwrap();
                    combination.parameters().any(|p| p.name == *name)
                }),
                "no preset has {name}"
            );
        }
    }

    #[test]
    fn an_unknown_preset_is_refused_with_those_there_are() {
        let error = Combination::new("dctpc", [None; 4]).unwrap_err();
        assert!(error.allowed.contains("dctcp"), "{error}");
        let error = Combination::new("dctcp", [None, None, Some("lifo"), None]).unwrap_err();
        assert_eq!(error.key, "port");
    }
}
