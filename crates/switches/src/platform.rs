//! Platforms: printing and reading each one's configuration, and notes for operators.

use std::str::FromStr;

use crate::request::Request;
use crate::{eos, junos, linux, nvue, nxos, sonic};

/// A switch platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// Linux with `tc`.
    LinuxTc,
    /// SONiC's `config_db.json`.
    Sonic,
    /// Arista EOS.
    Eos,
    /// Cisco NX-OS.
    Nxos,
    /// Juniper Junos.
    Junos,
    /// NVIDIA Cumulus Linux with NVUE.
    Nvue,
}

/// All platforms, with their names.
pub const PLATFORMS: &[(&str, Platform)] = &[
    ("linux-tc", Platform::LinuxTc),
    ("sonic", Platform::Sonic),
    ("eos", Platform::Eos),
    ("nxos", Platform::Nxos),
    ("junos", Platform::Junos),
    ("nvue", Platform::Nvue),
];

/// A configuration, and notes for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// The configuration.
    pub text: String,
    /// Notes: what the configuration does not cover, and its source.
    pub notes: Vec<String>,
}

/// The note on marking per queue (PIAS ToN 2017, IV-A.2).
const PER_QUEUE: &str = "this platform marks by each queue's own length, not by the port's. PIAS \
    ToN 2017, IV-A.2, warns: queues together may then hold as many times the threshold as there are \
    queues, which shallow buffers do not have. Lower `mark-at` if the switch drops packets";

impl Platform {
    /// Prints the configuration.
    pub fn print(self, request: &Request) -> Printed {
        let text = match self {
            Platform::LinuxTc => linux::print(request),
            Platform::Sonic => sonic::print(request),
            Platform::Eos => eos::print(request),
            Platform::Nxos => nxos::print(request),
            Platform::Junos => junos::print(request),
            Platform::Nvue => nvue::print(request),
        };
        let notes = self.notes();
        Printed { text, notes: notes.into_iter().map(str::to_owned).collect() }
    }

    fn notes(self) -> Vec<&'static str> {
        match self {
            Platform::LinuxTc => vec![],
            Platform::Sonic => vec![
                PER_QUEUE,
                "untested on hardware. Tables: SONiC's YANG models, \
                 sonic-net/sonic-buildimage, src/sonic-yang-models. `egress_lossy_pool` must be \
                 the switch's pool; see its buffers.json",
            ],
            Platform::Eos => vec![
                PER_QUEUE,
                "untested on hardware. Syntax: Arista EOS User Manual, \"Quality of Service and \
                 Traffic Management\"",
            ],
            Platform::Nxos => vec![
                PER_QUEUE,
                "untested on hardware. Syntax: Cisco Nexus 9000 Series NX-OS Quality of Service \
                 Configuration Guide, \"Configuring Queuing and Scheduling\". Some line cards have \
                 one priority level only: they cannot run PIAS",
            ],
            Platform::Junos => vec![
                PER_QUEUE,
                "untested on hardware. Syntax: Juniper, \"Traffic Management User Guide (QFX Series \
                 and EX4600 Switches)\". Strict-high queues go by their numbers",
            ],
            Platform::Nvue => vec![
                PER_QUEUE,
                "untested on hardware. Syntax: NVIDIA Cumulus Linux User Guide, \"Quality of \
                 Service\"",
            ],
        }
    }

    /// The queue of each code point that the configuration `text` maps.
    pub(crate) fn read(self, text: &str) -> Vec<(u8, String)> {
        match self {
            Platform::LinuxTc => linux::read(text),
            Platform::Sonic => sonic::read(text),
            Platform::Eos => eos::read(text),
            Platform::Nxos => nxos::read(text),
            Platform::Junos => junos::read(text),
            Platform::Nvue => nvue::read(text),
        }
    }

    /// The marking thresholds in the configuration `text`: in bytes, on Junos as percentages of the buffer.
    pub(crate) fn marks(self, text: &str) -> Vec<u64> {
        match self {
            Platform::LinuxTc => linux::marks(text),
            Platform::Sonic => sonic::marks(text),
            Platform::Eos => eos::marks(text),
            Platform::Nxos => nxos::marks(text),
            Platform::Junos => junos::marks(text),
            Platform::Nvue => nvue::marks(text),
        }
    }
}

impl FromStr for Platform {
    type Err = String;

    fn from_str(text: &str) -> Result<Platform, String> {
        let names: Vec<&str> = PLATFORMS.iter().map(|(name, _)| *name).collect();
        let found = PLATFORMS.iter().find(|(name, _)| *name == text);
        found
            .map(|(_, platform)| *platform)
            .ok_or_else(|| format!("expected one of {}", names.join(", ")))
    }
}
