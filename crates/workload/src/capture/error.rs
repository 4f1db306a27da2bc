//! What can be wrong with a capture.

use thiserror::Error;

/// Why a capture cannot be summarised.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CaptureError {
    /// It is no capture.
    #[error(
        "found no packet capture, expected a pcap or pcapng file, plain or compressed with gzip or \
         zstd"
    )]
    NoCapture,
    /// It is compressed in a format that is not read here.
    #[error("found a capture compressed with {format}. Decompress it with `{command}` first.")]
    Compressed {
        /// The format.
        format: &'static str,
        /// The command that undoes it.
        command: &'static str,
    },
    /// Its first bytes cannot be read.
    #[error("cannot read the capture: {0}")]
    Unreadable(String),
    /// Its links are of a kind that is not known here.
    #[error(
        "found a capture of link type {0}, expected Ethernet (1), raw IP (101) or Linux cooked \
         (113, 276)"
    )]
    LinkType(i32),
    /// It cannot be read on.
    #[error("found damage after packet {packets} ({reason}), expected a whole capture")]
    Damaged {
        /// Packets before it.
        packets: u64,
        /// What the parser says.
        reason: String,
    },
    /// There are no bytes in it.
    #[error("found no TCP or UDP payload in {packets} packets, expected at least one byte")]
    NoFlows {
        /// How many packets there are.
        packets: u64,
    },
}
