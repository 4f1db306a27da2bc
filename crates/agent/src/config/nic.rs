//! How interfaces are scheduled.

use flowsched_fleet::tc;
use flowsched_units::{Bytes, PacketMeaning, Rate};

use super::file;
use crate::error::AgentError;

/// How an interface is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nic {
    /// The line rate that it is shaped to.
    pub rate: Rate,
    /// The queue length at which packets are marked.
    pub mark_at: Bytes,
    /// Room for packets.
    pub buffer: Bytes,
}

impl Nic {
    pub(super) fn check(file: &file::Nic) -> Result<Nic, AgentError> {
        let refuse = |key: &str, text: &str, allowed: &str| {
            AgentError::setting(format!("nic.{key}"), format!("\"{text}\""), allowed)
        };
        let rate = file.rate.parse::<Rate>().ok().filter(|rate| rate.as_bps() >= 8_000);
        let rate = rate.ok_or_else(|| refuse("rate", &file.rate, "a rate such as \"10Gbps\""))?;
        let size = |key, text: &Option<String>, default: Bytes| match text {
            None => Ok(default),
            Some(text) => Bytes::parse(text, PacketMeaning::Wire)
                .ok()
                .filter(|size| size.get() >= 1500 && size.get() <= u64::from(u32::MAX))
                .ok_or_else(|| refuse(key, text, "a size such as \"65pkt\" (1 pkt = 1500 B)")),
        };
        let mark_at = size("mark-at", &file.mark_at, tc::default_mark_at(rate))?;
        let buffer = size("buffer", &file.buffer, Bytes::new(mark_at.get() * 16))?;
        if buffer <= mark_at {
            let allowed = format!("more than nic.mark-at, which is {mark_at}");
            return Err(AgentError::setting("nic.buffer", buffer, allowed));
        }
        Ok(Nic { rate, mark_at, buffer })
    }
}
