//! The `[nic]` table of an agent's file: the line rate, the marking threshold and the buffer. The agent
//! and `flowsched switch-config` read the same table with the same checks.

use flowsched_units::{Bytes, PacketMeaning, Rate};
use serde::Deserialize;

use crate::refused::Refused;
use crate::tc;

/// The lowest line rate, in bits per second.
const LOWEST_RATE: u64 = 8_000;

/// The highest line rate, in bits per second.
const HIGHEST_RATE: u64 = 10_000_000_000_000;

/// The largest size that `tc` takes.
const LARGEST: u64 = u32::MAX as u64;

/// The line rates that are allowed, for errors.
pub const RATES: &str = "a rate from 8Kbps to 10Tbps, such as \"10Gbps\"";

/// The table in the form of a configuration file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
#[serde(expecting = "a table with `rate` and, if you like, `mark-at` and `buffer`")]
pub struct NicTable {
    rate: Option<String>,
    mark_at: Option<String>,
    buffer: Option<String>,
}

/// How an interface is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nic {
    /// The line rate that the interface is shaped to.
    pub rate: Rate,
    /// The queue length from which packets are marked.
    pub mark_at: Bytes,
    /// The buffer for packets.
    pub buffer: Bytes,
}

impl Nic {
    /// Checks the table. `rate` replaces the table's rate.
    ///
    /// # Errors
    /// If there is no rate, or a value is invalid; names the first one.
    pub fn check(table: &NicTable, rate: Option<Rate>) -> Result<Nic, Refused> {
        let own = table.rate.as_ref().map(|text| {
            parse_rate(text).ok_or_else(|| Refused::new("nic.rate", format!("\"{text}\""), RATES))
        });
        let rate = rate.or(own.transpose()?);
        let rate = rate.ok_or_else(|| Refused::new("nic.rate", "none", RATES))?;
        let mark_at = size("mark-at", table.mark_at.as_ref(), tc::default_mark_at(rate))?;
        let default = Bytes::new((16 * mark_at.get()).min(LARGEST));
        let buffer = size("buffer", table.buffer.as_ref(), default)?;
        if buffer <= mark_at {
            let allowed = format!("more than nic.mark-at, which is {mark_at}");
            return Err(Refused::new("nic.buffer", buffer, allowed));
        }
        Ok(Nic { rate, mark_at, buffer })
    }
}

/// Reads a line rate; `None` if it is not one of [`RATES`].
pub fn parse_rate(text: &str) -> Option<Rate> {
    text.parse().ok().filter(|rate| is_line_rate(*rate))
}

/// Whether the rate is one of [`RATES`].
pub fn is_line_rate(rate: Rate) -> bool {
    (LOWEST_RATE..=HIGHEST_RATE).contains(&rate.as_bps())
}

fn size(key: &str, text: Option<&String>, default: Bytes) -> Result<Bytes, Refused> {
    let Some(text) = text else { return Ok(default) };
    let size = Bytes::parse(text, PacketMeaning::Wire).ok();
    size.filter(|size| (1500..=LARGEST).contains(&size.get())).ok_or_else(|| {
        let allowed = "a size from 1500 B to 4 GiB, such as \"65pkt\" (1 pkt = 1500 B)";
        Refused::new(format!("nic.{key}"), format!("\"{text}\""), allowed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rate: &str, mark_at: Option<&str>, buffer: Option<&str>) -> Result<Nic, Refused> {
        let text = |text: &str| text.to_owned();
        let table = NicTable {
            rate: Some(text(rate)),
            mark_at: mark_at.map(text),
            buffer: buffer.map(text),
        };
        Nic::check(&table, None)
    }

    #[test]
    fn rates_from_8_kbps_to_10_tbps_are_allowed() {
        for rate in ["8Kbps", "10Gbps", "10Tbps"] {
            let nic = check(rate, None, None).unwrap();
            let tree = tc::Tree {
                interface: "eth0",
                rate: nic.rate,
                mark_at: nic.mark_at,
                buffer: nic.buffer,
                dscp: &[16, 0],
            };
            assert!(!tree.commands(tc::Bands::Prio).is_empty());
        }
        for rate in ["0bps", "7999bps", "10001Gbps", "10000000Tbps", "fast"] {
            assert_eq!(check(rate, None, None).unwrap_err().key, "nic.rate", "{rate}");
        }
        assert_eq!(Nic::check(&NicTable::default(), None).unwrap_err().key, "nic.rate");
    }

    #[test]
    fn sizes_fit_into_what_tc_takes() {
        let nic = check("10Gbps", Some("1GB"), None).unwrap();
        assert_eq!(nic.buffer.get(), LARGEST);
        let refused = |mark_at, buffer| check("10Gbps", mark_at, buffer).unwrap_err().key;
        assert_eq!(refused(Some("1499B"), None), "nic.mark-at");
        assert_eq!(refused(Some("5GB"), None), "nic.mark-at");
        assert_eq!(refused(Some("30KB"), Some("30KB")), "nic.buffer");
    }
}
