//! Counters for Prometheus: the page, and the server that answers `GET /metrics`.
//!
//! The server has a thread of its own and reads the pinned maps at most once a second. Neither
//! tagging nor the agent's main loop ever waits for it.

mod format;
mod kept;
mod page;
mod reloaded;
mod server;
mod site;
mod tls;
mod token;

#[cfg(test)]
mod tests;

pub(crate) use page::{producer, text};
pub(crate) use server::Server;
