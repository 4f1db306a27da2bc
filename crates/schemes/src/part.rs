//! Parts, as experiment files and catalogues describe them.
//!
//! One trait for each role says how its parts are built: [`TaggerPart`], [`TransportPart`],
//! [`PortPart`] and [`ControllerPart`].
//!
//! [`TaggerPart`]: crate::tagger::TaggerPart
//! [`TransportPart`]: crate::transport::TransportPart
//! [`PortPart`]: crate::port::PortPart
//! [`ControllerPart`]: crate::controller::ControllerPart

use flowsched_units::{Kind, Parameter, SettingError, Settings};

/// The role of a part in a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The priority that a packet carries.
    Tagger,
    /// When and how fast to send.
    Transport,
    /// Which packet goes next, which is marked, which is dropped.
    Port,
    /// What the switch tells the hosts.
    Controller,
}

impl Role {
    /// All four, in the order in which a packet meets them.
    pub const ALL: [Role; 4] = [Role::Tagger, Role::Transport, Role::Port, Role::Controller];

    /// The parameter of a `[[scheme]]` table that names the part.
    pub const fn parameter(self) -> &'static Parameter {
        match self {
            Role::Tagger => &TAGGER,
            Role::Transport => &TRANSPORT,
            Role::Port => &PORT,
            Role::Controller => &CONTROLLER,
        }
    }

    /// The key in a `[[scheme]]` table.
    pub const fn key(self) -> &'static str {
        self.parameter().name
    }
}

const TAGGER: Parameter = naming("tagger", "The tagger, in place of the preset's.");
const TRANSPORT: Parameter = naming("transport", "The transport, in place of the preset's.");
const PORT: Parameter = naming("port", "The port, in place of the preset's.");
const CONTROLLER: Parameter = naming("controller", "The controller, in place of the preset's.");

const fn naming(name: &'static str, about: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Text, default: None, about, source: "the project" }
}

/// One choice for one of the four parts.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The role that it fills.
    pub role: Role,
    /// Its name in an experiment file.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// The paper's section or the RFC.
    pub source: &'static str,
    /// The keys that it adds to a `[[scheme]]` table, in groups that parts share.
    pub parameters: &'static [&'static [Parameter]],
}

impl Part {
    /// The keys that it adds to a `[[scheme]]` table.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> {
        self.parameters.iter().copied().flatten()
    }

    /// Whether the settings name this part for its role.
    pub(crate) fn is_named_by(&self, settings: &Settings) -> bool {
        settings.text(self.role.parameter()) == self.name
    }
}

/// The error for the part that the settings name for `role`, which does not work with the named
/// parts of the roles `beside`. Only the parts `allowed` do.
pub(crate) fn does_not_fit(
    role: Role,
    beside: &[Role],
    settings: &Settings,
    allowed: &[Part],
) -> SettingError {
    let named = |role: Role| format!("`{} = \"{}\"`", role.key(), settings.text(role.parameter()));
    let beside: Vec<String> = beside.iter().copied().map(named).collect();
    let names: Vec<&str> = allowed.iter().map(|part| part.name).collect();
    let problem = format!(
        "{} does not work with {}. Use {}.",
        named(role),
        beside.join(" and "),
        names.join(" or ")
    );
    SettingError::sentence(role.key(), problem)
}
