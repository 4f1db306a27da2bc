//! Flow-scheduling schemes, each a combination of four small parts.
//!
//! A [`Scheme`] is a tagger (the priority a packet carries), a transport (when and how fast to
//! send), a port (which packet goes next, which is marked, which is dropped) and a controller
//! (what a switch tells the hosts). Every part is a plain state machine: the caller passes in time,
//! packets and random numbers. A part has no clock, socket, thread or random source, so that the
//! same code runs in a simulation and on real packets.
//!
//! [`parts`] lists the parts with their parameters, [`PRESETS`] the named combinations of the papers. A
//! [`World`] runs a scheme: [`Scheme::run_in`] passes it the four parts with their types. A new scheme
//! takes a file in one of the four folders, a line in the catalogue, a preset and an experiment file.
//!
//! A program can also run parts of its own, which no experiment file names: it implements
//! [`PlainTagger`](tagger::PlainTagger), [`Transport`](transport::Transport),
//! [`CongestionControl`](transport::tcp::congestion::CongestionControl), [`Port`](port::Port) or
//! [`Controller`](controller::Controller), and puts the parts together as [`Parts`], which
//! `flowsched_run` and `flowsched_sim` run.
//!
//! ```
//! use flowsched_schemes::tagger::{Departure, PlainTagger, Tag, Work};
//! use flowsched_units::{Bytes, Time};
//!
//! /// The first 100 KB of a flow go before the rest of all flows.
//! struct HeadFirst;
//!
//! impl PlainTagger for HeadFirst {
//!     type Memory = ();
//!
//!     fn tag(&self, _: &mut (), departure: &Departure, _: &Work) -> Tag {
//!         Tag { priority: u8::from(departure.offset >= 100_000), rank: 0 }
//!     }
//! }
//!
//! let departure =
//!     Departure { now: Time::ZERO, offset: 146_000, payload: 1460, idle: false, timeouts_in_a_row: 0 };
//! let work = Work { size: Bytes::new(292_000), remaining: 100 };
//! assert_eq!(HeadFirst.tag(&mut (), &departure, &work).priority, 1);
//! ```

pub mod catalogue;
pub mod combination;
pub mod controller;
pub mod discipline;
pub mod flow_level;
pub mod knowledge;
mod limits;
pub mod on_linux;
pub mod packet;
pub mod part;
pub mod port;
pub mod preset;
pub mod scheme;
pub mod tagger;
mod timeouts;
pub mod transport;
pub mod wire;
pub mod world;

pub use catalogue::parts;
pub use packet::Packet;
pub use part::{Part, Role};
pub use preset::{PRESETS, Preset};
pub use scheme::Scheme;
pub use world::{Parts, World};
