//! `flowsched flows`.

use std::path::PathBuf;

use clap::Args;
use flowsched_units::Time;

pub(super) const FLOWS_EXAMPLES: &str = "\
Examples:
  flowsched flows capture.pcap -o flows.csv --hosts hosts.csv
      Then, in an experiment: trace = \"flows.csv\".
  flowsched flows capture.pcapng --idle 500us > messages.csv

Reads pcap and pcapng, plain or compressed with gzip or zstd, with Ethernet, raw IP or Linux cooked
headers. Each direction of a TCP or UDP connection is a flow that starts with its first byte of
payload. Bytes that TCP retransmits count once. Hosts are numbered in the order of their addresses.";

/// `flowsched flows`.
#[derive(Args, Debug)]
pub struct Flows {
    /// The capture: pcap or pcapng, plain or compressed with gzip or zstd
    #[arg(value_name = "CAPTURE")]
    pub capture: PathBuf,
    /// Where the trace goes; by default it is printed
    #[arg(short, long, value_name = "FILE.csv")]
    pub out: Option<PathBuf>,
    /// Where the addresses of the numbered hosts go
    #[arg(long, value_name = "FILE.csv")]
    pub hosts: Option<PathBuf>,
    /// Replace the files of -o and --hosts if they exist
    #[arg(long)]
    pub force: bool,
    /// Silence after which the next bytes of a connection are a new flow
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub idle: Time,
}
