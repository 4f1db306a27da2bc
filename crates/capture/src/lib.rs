//! Captures: the packets that leave a port, as a file that Wireshark and tshark read.
//!
//! A capture belongs to one port of a network. In the lab it contains the frames that the hosts sent. In a
//! simulation it contains frames made from simulated packets: Ethernet, IPv4 with DSCP and ECN, and TCP. A
//! packet is written when its first bit leaves the port. Times count from the start of the experiment.
//!
//! What lives here: names of ports, files, frames of simulated packets, and [`Observing`], which observes
//! the packets of a simulation without code for captures in the simulator. What may not: anything that
//! changes a packet's behaviour.

mod error;
mod file;
mod frame;
mod observing;
mod port_name;
mod run;

pub use error::CaptureError;
pub use file::{Captures, SNAP_LENGTH};
pub use observing::{Departures, Observed, Observing};
pub use port_name::{find_port, find_ports};
pub use run::run_captured;
