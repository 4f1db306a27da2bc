//! pHost's parameters, and the settings read from them.

use flowsched_units::{Kind, Parameter, SettingError, Settings, Time};

use crate::limits;
use crate::port::HostPort;

/// The number of tokens that a flow has from the start.
pub const FREE_TOKENS: Parameter = Parameter {
    name: "free_tokens",
    kind: Kind::Count { from: 0, to: 1_000_000 },
    default: Some("70"),
    about: "Tokens that a flow has from the start: the packets that a host link carries in a round \
            trip.",
    source: "Gao et al., CoNEXT 2015; a bandwidth-delay product, 70 packets of the default \
             leaf-spine (8 in the authors' simulator)",
};

/// Which flows have tokens from the start.
pub const FREE_TOKENS_FOR: Parameter = Parameter {
    name: "free_tokens_for",
    kind: Kind::Choice(&["short-flows", "all-flows"]),
    default: Some("short-flows"),
    about: "Which flows have tokens from the start: flows of at most `free_tokens` packets, or \
            all.",
    source: "the authors' simulator",
};

/// How long a token is valid.
pub const TOKEN_LIFE: Parameter = Parameter {
    name: "token_life",
    kind: Kind::Number { from: 0.0, to: 1_000_000.0 },
    default: Some("1.5"),
    about: "Lifetime of a token, in times that the source's card needs for a full packet.",
    source: "Gao et al., CoNEXT 2015; the authors' simulator",
};

/// The number of unanswered tokens at which a flow is downgraded.
pub const TOKEN_WINDOW: Parameter = Parameter {
    name: "token_window",
    kind: Kind::Count { from: 1, to: 1_000_000 },
    default: Some("70"),
    about: "A flow that leaves this many tokens unanswered is downgraded: it gets no more for a \
            while.",
    source: "Gao et al., CoNEXT 2015; a bandwidth-delay product, as `free_tokens`",
};

/// How long a flow is downgraded.
pub const DOWNGRADE_TIME: Parameter = Parameter {
    name: "downgrade_time",
    kind: Kind::Time,
    default: Some("270us"),
    about: "How long a downgraded flow gets no token.",
    source: "the authors' simulator: 25 packet times, of which 8 are a round trip",
};

/// When a segment gets another token.
pub const RESEND_TIME: Parameter = Parameter {
    name: "resend_time",
    kind: Kind::Time,
    default: Some("97us"),
    about: "Time after the last token of a flow until its missing packets get another one.",
    source: "the authors' simulator: 9 packet times, of which 8 are a round trip",
};

/// When a request is sent again.
pub const REQUEST_INTERVAL: Parameter = Parameter {
    name: "request_interval",
    kind: Kind::Time,
    default: Some("1ms"),
    about: "Time without an answer of the receiver after which a source asks again; it doubles \
            each time.",
    source: "none: the authors' simulator loses no request",
};

pub(super) const PARAMETERS: &[Parameter] = &[
    FREE_TOKENS,
    FREE_TOKENS_FOR,
    TOKEN_LIFE,
    TOKEN_WINDOW,
    DOWNGRADE_TIME,
    RESEND_TIME,
    REQUEST_INTERVAL,
];

/// The settings of pHost's hosts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhostSettings {
    /// Tokens that a flow has from the start.
    pub free_tokens: u32,
    /// Whether flows of more packets than `free_tokens` have tokens from the start, too.
    pub all_have_free_tokens: bool,
    /// Packet times until a token expires.
    pub token_life: f64,
    /// Tokens without an answer that downgrade a flow.
    pub token_window: u32,
    /// How long a downgraded flow gets no token.
    pub downgrade_time: Time,
    /// How long after a flow's last token its missing packets get another one.
    pub resend_time: Time,
    /// How long a source waits for an answer before it asks again.
    pub request_interval: Time,
    /// The share of its link's rate that a host sends at.
    pub host_rate: f64,
}

impl PhostSettings {
    pub(super) fn from_settings(settings: &Settings) -> Result<PhostSettings, SettingError> {
        Ok(PhostSettings {
            free_tokens: settings.count(&FREE_TOKENS) as u32,
            all_have_free_tokens: settings.is(&FREE_TOKENS_FOR, "all-flows"),
            token_life: settings.number(&TOKEN_LIFE),
            token_window: settings.count(&TOKEN_WINDOW) as u32,
            downgrade_time: limits::timeout(settings, &DOWNGRADE_TIME)?,
            resend_time: limits::timeout(settings, &RESEND_TIME)?,
            request_interval: limits::timeout(settings, &REQUEST_INTERVAL)?,
            host_rate: HostPort::from_settings(settings).rate,
        })
    }

    /// Tokens that a flow of this many segments has from the start.
    pub(super) fn free_of(&self, segments: u32) -> u32 {
        let has_any = self.all_have_free_tokens || segments <= self.free_tokens;
        if has_any { segments.min(self.free_tokens) } else { 0 }
    }

    /// How long a token is valid if a full packet takes this time.
    pub(super) fn life(&self, packet_time: Time) -> Time {
        Time::from_ps((packet_time.as_ps() as f64 * self.token_life) as u64)
    }
}
