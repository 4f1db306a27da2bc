//! What can be wrong with a capture.

use thiserror::Error;

/// Why a capture cannot be summarised.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CaptureError {
    /// It is no capture.
    #[error(
        "the file is not a packet capture. Use a pcap or pcapng file, plain or compressed with gzip \
         or zstd."
    )]
    NoCapture,
    /// It is compressed in a format that is not read here.
    #[error("the capture is compressed with {format}. Decompress it with `{command}` first.")]
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
        "the capture has link type {0}. Use a capture of Ethernet (1), raw IP (101) or Linux cooked \
         (113, 276)."
    )]
    LinkType(i32),
    /// Its rest cannot be read.
    #[error(
        "the capture is damaged after packet {packets}: {reason}. Capture again, or cut the file there."
    )]
    Damaged {
        /// Packets before it.
        packets: u64,
        /// What the parser says.
        reason: String,
    },
    /// There are no bytes in it.
    #[error(
        "the {packets} packets of the capture have no TCP or UDP payload, so that there are no flows."
    )]
    NoFlows {
        /// How many packets there are.
        packets: u64,
    },
}
