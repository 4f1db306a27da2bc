//! Presets with any of their parts exchanged: the keys of a `[[scheme]]` table and their defaults.

use flowsched_units::{Kind, Parameter, SettingError, Settings};

use crate::catalogue::{part, parts};
use crate::discipline::DISCIPLINE;
use crate::part::{Part, Role};
use crate::port::parameters::SAME_FLOW;
use crate::preset::{Changed, PRESETS, Preset};
use crate::tagger::mlfq::AGEING_TIMEOUTS;
use crate::transport::tcp::parameters::{
    ACK_ECN, CONNECTIONS, FAST_RETRANSMIT, GROWTH, GROWTH_PER_WINDOW, INITIAL_ALPHA,
    PROBE_TIMEOUTS, RESTART, RTO, RTO_BACKOFF,
};

/// The preset that a scheme starts from.
pub const PRESET: Parameter = Parameter {
    name: "preset",
    kind: Kind::Text,
    default: None,
    about: "The scheme of a paper to start from.",
    source: "flowsched list schemes",
};

/// What tables and charts call the scheme.
pub const NAME: Parameter = Parameter {
    name: "name",
    kind: Kind::Text,
    default: None,
    about: "The scheme's name in tables and charts; by default the preset's.",
    source: "the project",
};

/// Whose behaviour the scheme imitates beyond the papers.
pub const COMPAT: Parameter = Parameter {
    name: "compat",
    kind: Kind::Choice(&["none", "ns2"]),
    default: Some("none"),
    about: "\"ns2\" behaves as the PIAS authors' simulator does, routing included.",
    source: "the authors' ns-2.34 patches",
};

/// The keys of a `[[scheme]]` table that every scheme has.
pub const COMMON: &[Parameter] = &[
    PRESET,
    NAME,
    *Role::Tagger.parameter(),
    *Role::Transport.parameter(),
    *Role::Port.parameter(),
    *Role::Controller.parameter(),
    COMPAT,
    DISCIPLINE,
];

/// What `compat = "ns2"` changes, where the scheme has the parameter.
const NS2: &[Changed] = &[
    (&RTO, "fixed"),
    (&RTO_BACKOFF, "false"),
    (&FAST_RETRANSMIT, "false"),
    (&INITIAL_ALPHA, "0"),
    (&GROWTH, "ns2"),
    (&GROWTH_PER_WINDOW, "two"),
    (&CONNECTIONS, "persistent"),
    (&RESTART, "every-flow"),
    (&ACK_ECN, "true"),
    (&PROBE_TIMEOUTS, "5"),
    (&AGEING_TIMEOUTS, "0"),
    (&SAME_FLOW, "connection"),
];

/// A preset with any of its parts exchanged: its parameters and their defaults.
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
            SettingError::new(&PRESET, format!("\"{name}\""), names.join(", "))
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

    fn has(&self, parameter: &Parameter) -> bool {
        self.parameters().any(|own| own.name == parameter.name)
    }

    /// The values of keys that the file does not set. They start from the parts' defaults. The
    /// preset's settings replace these, and then the changes of `compat` replace both. `name` is
    /// the preset's, and the four roles name their parts.
    ///
    /// # Panics
    /// If a preset's setting is not of its parameter's kind (a test checks that).
    pub fn defaults(&self, compat: &str) -> Settings {
        let mut settings = Settings::defaults(COMMON.iter().chain(self.parameters()));
        let ns2 = if compat == "ns2" { NS2 } else { &[] };
        for (parameter, text) in self.preset.settings.iter().chain(ns2) {
            if self.has(parameter) {
                let value = parameter.kind.parse(text).expect("a preset's setting is checked");
                settings.set(*parameter, value);
            }
        }
        let text = |text: &str| flowsched_units::Value::Text(text.to_owned());
        settings.set(&PRESET, text(self.preset.name));
        settings.set(&NAME, text(self.preset.name));
        settings.set(&COMPAT, text(compat));
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
            for (parameter, _) in preset.settings {
                assert!(
                    combination.has(parameter),
                    "{} sets {}, which its parts do not have",
                    preset.name,
                    parameter.name
                );
            }
            combination.defaults("none");
            combination.defaults("ns2");
        }
    }

    #[test]
    fn every_ns2_behaviour_is_a_parameter_of_some_preset() {
        for (parameter, _) in NS2 {
            assert!(
                PRESETS.iter().any(|preset| {
                    let combination = Combination::new(preset.name, [None; 4]).unwrap();
                    combination.has(parameter)
                }),
                "no preset has {}",
                parameter.name
            );
        }
    }

    #[test]
    fn an_unknown_preset_is_refused_with_those_there_are() {
        let error = Combination::new("dctpc", [None; 4]).unwrap_err();
        assert!(error.problem.contains("dctcp"), "{error}");
        let error = Combination::new("dctcp", [None, None, Some("lifo"), None]).unwrap_err();
        assert_eq!(error.key, "port");
    }
}
