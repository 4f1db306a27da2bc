//! Physical quantities as types: [`Time`] in picoseconds, [`Rate`] in bits per second and
//! [`Bytes`].
//!
//! What lives here: the newtypes, their arithmetic, and the notation people write them in
//! (`"40Gbps"`, `"85.2us"`, `"360KB"`, `"65pkt"`). What may not: anything about packets in
//! flight, schemes or files. Every other crate may depend on this one; it depends on none.

mod bytes;
mod notation;
mod parameter;
mod rate;
mod shortened;
mod time;

pub use bytes::{Bytes, PACKET_HEADER, PACKET_PAYLOAD, PACKET_WIRE, PacketMeaning};
pub use notation::UnitError;
pub use parameter::{Kind, Parameter, SettingError, Settings, Value};
pub use rate::Rate;
pub use shortened::shortened;
pub use time::Time;
