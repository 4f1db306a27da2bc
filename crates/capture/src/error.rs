//! Errors of captures.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// An error of making a capture.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The network has no such port.
    #[error(
        "`--pcap {name}` names no port: {why}. Write a host or switch as in the columns `owner` and \
         `peer` of ports.parquet, and the number of one of its ports or the name of the other end, \
         such as `leaf0:3` or `leaf0:host3`."
    )]
    NoPort {
        /// The name that was given.
        name: String,
        /// What is wrong with the name.
        why: String,
    },
    /// Two names of one port.
    #[error(
        "`--pcap {first}` and `--pcap {second}` name the same port, whose packets go to one file. Remove \
         one of them."
    )]
    SamePort {
        /// The first name.
        first: String,
        /// The second name.
        second: String,
    },
    /// The file cannot be written.
    #[error("cannot write the capture {path}: {source}")]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}
