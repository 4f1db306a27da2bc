//! `flowsched traffic`.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use flowsched_traffic::server::PORT;
use flowsched_units::{Rate, Time};

use super::format::Format;

const CLIENT_EXAMPLES: &str = "\
Examples:
  flowsched traffic client conf/incast_client_config.txt --load 800Mbps --requests 3000 --out host-1
  flowsched traffic client my.txt --duration 30s --scheme cubic

The file is that of the PIAS authors' traffic generator, HKUST-SING/TrafficGenerator. It has lines
such as `server 10.0.0.2 5001`, `req_size_dist DCTCP_CDF.txt`, `dscp 1 25`, `rate 500Mbps 30` and
`fanout 5 60`, and optionally `load 800Mbps` and `num_reqs 3000`. Requests start at random times,
whatever became of earlier ones. Completion times count from there. The folder gets flows.txt, with
a line for each flow, and the tables of `flowsched run`.";

/// The port of the PIAS authors' server, on all addresses.
const ANYWHERE: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, PORT);

/// `flowsched traffic`.
#[derive(Debug, Subcommand)]
pub enum Traffic {
    /// Send the flows that clients ask for
    #[command(after_help = "Example:\n  flowsched traffic server --listen 0.0.0.0:5001")]
    Server {
        /// Address and port
        #[arg(long, value_name = "ADDRESS:PORT", default_value_t = ANYWHERE)]
        listen: SocketAddrV4,
    },
    /// Ask servers for flows, and measure their completion times
    #[command(after_help = CLIENT_EXAMPLES)]
    Client(TrafficClient),
}

/// `flowsched traffic client`.
#[derive(Args, Debug)]
pub struct TrafficClient {
    /// The configuration
    #[arg(value_name = "CONFIG")]
    pub config: PathBuf,
    /// Where results go
    #[arg(long, value_name = "DIR", default_value = "results/traffic")]
    pub out: PathBuf,
    /// The seed of times, sizes and choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// The load of this host's link, instead of the file's load: 800Mbps
    #[arg(long, value_name = "RATE")]
    pub load: Option<Rate>,
    /// The number of requests, instead of the file's num_reqs
    #[arg(long, value_name = "N")]
    pub requests: Option<u64>,
    /// Start requests for this long; with num_reqs, whatever ends first
    #[arg(long, value_name = "TIME")]
    pub duration: Option<Time>,
    /// Time after the last request in which flows may finish
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub wait: Time,
    /// What tables call these flows together, such as the congestion control in use
    #[arg(long, value_name = "NAME", default_value = "traffic")]
    pub scheme: String,
    /// What is printed at the end
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}
