//! Keys of schemes that hosts with the kernel's TCP ignore, and what they do instead.
//!
//! This file has a row for each key, or two if the kernel treats the key differently under DCTCP. How users are
//! warned of ignored keys does not belong here.

use flowsched_units::{Parameter, Settings, Value};

use super::KernelControl;
use crate::combination::COMPAT;
use crate::tagger::mlfq::ACK_PRIORITY;
use crate::transport::tcp::parameters::{
    ACK_DELAY, ACK_ECN, ACK_RATIO, ECT_ON, FAST_RETRANSMIT, GROWTH, MIN_WINDOW, PROBE_TIMEOUTS,
    RESTART, RTO, RTO_BACKOFF,
};

/// A key that the kernel's TCP ignores.
#[derive(Clone, Copy, Debug)]
pub struct Ignored {
    /// The key.
    pub parameter: &'static Parameter,
    /// The values, as written in a file, that describe what the kernel does.
    as_linux: &'static [&'static str],
    /// What the kernel does, as a sentence without its full stop.
    pub instead: &'static str,
    /// The congestion controls under which the kernel ignores the key.
    under: Under,
}

/// The congestion controls under which a row applies.
#[derive(Clone, Copy, Debug)]
enum Under {
    All,
    /// Those that react to ECN marks.
    Ecn,
    /// Those that react to ECN marks and set ECT as RFC 3168 says.
    Rfc3168,
    /// DCTCP, under which Linux sets ECT on every packet.
    Dctcp,
}

impl Under {
    fn includes(self, control: &KernelControl) -> bool {
        match self {
            Under::All => true,
            Under::Ecn => control.uses_ecn,
            Under::Rfc3168 => control.uses_ecn && control.dctcp.is_none(),
            Under::Dctcp => control.dctcp.is_some(),
        }
    }
}

const fn ignored(
    parameter: &'static Parameter,
    as_linux: &'static [&'static str],
    under: Under,
    instead: &'static str,
) -> Ignored {
    Ignored { parameter, as_linux, instead, under }
}

const IGNORED: &[Ignored] = &[
    ignored(
        &COMPAT,
        &["none"],
        Under::All,
        "Linux's TCP does not imitate ns-2: only routing, ports, ageing and `initial_alpha` change",
    ),
    ignored(
        &RTO,
        &["estimated", "linux"],
        Under::All,
        "Linux derives the time-out from the measured round-trip time and `rto_min`",
    ),
    ignored(
        &RTO_BACKOFF,
        &["true"],
        Under::All,
        "Linux doubles the time-out with each time-out in a row",
    ),
    ignored(
        &FAST_RETRANSMIT,
        &["auto", "true"],
        Under::All,
        "Linux resends a segment at once when later ones were acknowledged",
    ),
    ignored(
        &ACK_RATIO,
        &["1", "2"],
        Under::All,
        "Linux acknowledges every second packet, or each one with `ack_ratio = 1`",
    ),
    ignored(&ACK_DELAY, &["40ms"], Under::All, "Linux delays an ACK by up to 40 ms"),
    ignored(
        &RESTART,
        &["idle"],
        Under::All,
        "Linux reduces the window to `initial_window` after idle time-outs only",
    ),
    ignored(
        &MIN_WINDOW,
        &["1", "2"],
        Under::Ecn,
        "marks reduce the window to 2 packets at the least",
    ),
    ignored(&GROWTH, &["rfc"], Under::Ecn, "Linux grows the window on no marked ACK"),
    ignored(&PROBE_TIMEOUTS, &["0"], Under::All, "Linux sends no probes after time-outs"),
    ignored(
        &ECT_ON,
        &["new-data"],
        Under::Rfc3168,
        "Linux sets ECT on packets with data that is sent for the first time",
    ),
    ignored(&ECT_ON, &["every-packet"], Under::Dctcp, "Linux sets ECT on every packet of DCTCP"),
    ignored(&ACK_ECN, &["false"], Under::Rfc3168, "Linux sets ECT on no pure ACK"),
    ignored(&ACK_ECN, &["true"], Under::Dctcp, "Linux sets ECT on every packet of DCTCP"),
    ignored(&ACK_PRIORITY, &["top"], Under::All, "hosts send pure ACKs at the top priority"),
];

/// The keys of a scheme with these settings that its hosts ignore under this congestion control: those whose
/// values differ from what the kernel does.
pub fn ignored_keys(
    control: &KernelControl,
    settings: &Settings,
) -> impl Iterator<Item = &'static Ignored> {
    // `ack_delay` has no effect if no ACK is delayed.
    let delays_acks = settings.get(&ACK_RATIO) != Some(&Value::Count(1));
    let differs = move |row: &&Ignored| {
        let value = settings.get(row.parameter);
        let is_so = |text: &&str| row.parameter.kind.parse(text).ok().as_ref() == value;
        let has_effect = delays_acks || row.parameter.name != ACK_DELAY.name;
        value.is_some()
            && has_effect
            && row.under.includes(control)
            && !row.as_linux.iter().any(is_so)
    };
    IGNORED.iter().filter(differs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::on_linux::KernelDctcp;
    use crate::transport::tcp::parameters::PARAMETERS;

    fn keys(control: &KernelControl, set: &[(&Parameter, &str)]) -> Vec<&'static str> {
        let mut settings = Settings::defaults(PARAMETERS);
        for (parameter, text) in set {
            settings.set(*parameter, parameter.kind.parse(text).unwrap());
        }
        ignored_keys(control, &settings).map(|row| row.parameter.name).collect()
    }

    /// What Linux does under Reno with ECN.
    const LINUX: [(&Parameter, &str); 3] =
        [(&ACK_RATIO, "2"), (&ACK_DELAY, "40ms"), (&ECT_ON, "new-data")];

    #[test]
    fn values_of_each_row_are_of_its_kind() {
        for row in IGNORED {
            for text in row.as_linux {
                assert!(row.parameter.kind.parse(text).is_ok(), "{}: {text}", row.parameter.name);
            }
        }
    }

    #[test]
    fn what_linux_does_is_not_ignored() {
        let reno = KernelControl::plain("reno", true);
        assert_eq!(keys(&reno, &LINUX), [""; 0]);
        let changed = [LINUX[0], LINUX[1], LINUX[2], (&RTO_BACKOFF, "false"), (&ACK_RATIO, "4")];
        assert_eq!(keys(&reno, &changed), ["rto_backoff", "ack_ratio"]);
        let every_packet = [(&ACK_RATIO, "1"), (&ACK_DELAY, "500us"), (&ECT_ON, "new-data")];
        assert_eq!(keys(&reno, &every_packet), [""; 0]);
    }

    #[test]
    fn ect_depends_on_the_congestion_control() {
        let dctcp = KernelDctcp { g: 0.0625, initial_alpha: 1.0 };
        let dctcp = KernelControl { name: "dctcp", uses_ecn: true, dctcp: Some(dctcp) };
        assert_eq!(keys(&dctcp, &LINUX), ["ect_on", "ack_ecn"]);
        let all = [LINUX[0], LINUX[1], (&ECT_ON, "every-packet"), (&ACK_ECN, "true")];
        assert_eq!(keys(&dctcp, &all), [""; 0]);
        assert_eq!(keys(&KernelControl::plain("reno", false), &all), [""; 0]);
    }

    #[test]
    fn keys_that_a_scheme_does_not_have_are_not_ignored() {
        let mut settings = Settings::new();
        let reno = KernelControl::plain("reno", false);
        assert_eq!(ignored_keys(&reno, &settings).count(), 0);
        settings.set(&ACK_PRIORITY, Value::Text("echo".to_owned()));
        assert_eq!(ignored_keys(&reno, &settings).count(), 1);
    }
}
