//! Traffic between real hosts: a client asks servers for flows, and notes when they have come.
//!
//! The client reads the configuration of the PIAS authors' traffic generator and speaks its protocol, so
//! that either end may be theirs. Requests start when a Poisson process says, whatever became of earlier
//! ones, and completion times count from there.
//!
//! What lives here: plans of requests, client, server, and results as text lines and as tables. Transfers
//! ([`Outgoing`], [`Incoming`]) are also what the lab's flows are made of. What may not: network
//! namespaces, and what becomes of packets on their way.

pub mod client;
pub mod config;
mod error;
mod lines;
mod plan;
pub mod server;
mod settings;
mod sys;
pub mod tables;
mod transfer;
mod wire;

pub use error::TrafficError;
pub use settings::Settings;
pub use sys::{TcpInfo, tcp_info};
pub use transfer::{Incoming, Outgoing};
