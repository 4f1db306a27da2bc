//! The papers' testbeds on one machine: network namespaces as hosts, for real packets.
//!
//! A host is a network namespace ([`namespaces`]) whose only network card is a TAP interface
//! ([`tap`]). The other end of the card is a file of this process ([`hosts`]), through which a
//! switch in user space reads and writes whole Ethernet frames.
//!
//! What lives here: real packets, real time, and the life of namespaces. What may not: anything
//! about one scheme, and what an experiment file says.

pub mod address;
pub mod agents;
pub mod bursts;
pub mod clock;
mod code_points;
pub mod conduct;
pub mod congestion;
pub mod datagrams;
pub mod edge;
mod error;
pub mod hosts;
mod interface;
pub mod lateness;
pub mod machine;
pub mod memcached;
pub mod namespaces;
mod play;
pub mod played;
pub mod players;
mod precedence;
pub mod processors;
pub mod run;
mod schedule;
pub mod stack;
pub mod switch;
mod sys;
pub mod tap;
pub mod traffic;
mod vxlan;
mod wait;

pub use error::LabError;
