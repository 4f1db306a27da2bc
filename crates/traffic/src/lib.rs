//! Traffic between real hosts: a client requests flows from servers, and records when each flow ends.
//!
//! The client reads the configuration of the PIAS authors' traffic generator and speaks its protocol, so
//! that either end may be theirs. Requests start at the times of a Poisson process, whether or not earlier
//! ones have ended. Completion times count from the planned start.
//!
//! What lives here: plans of requests, client, server, and results as text lines and as tables. The lab
//! also uses the transfers ([`Outgoing`], [`Incoming`]). What may not: network namespaces, and what
//! happens to packets on their way.

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
pub use sys::{TcpInfo, TcpTimeouts, tcp_info};
pub use transfer::{Incoming, Outgoing};
