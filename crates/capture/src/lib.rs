//! Captures: the packets that leave a port, as a file that Wireshark and tshark read.
//!
//! A capture belongs to one port of a network. In the lab it has the frames that the hosts sent. In a
//! simulation it has frames that are made from simulated packets: Ethernet, IPv4 with DSCP and ECN, and
//! TCP. A packet is written when its first bit leaves the port, with the time of the experiment.
//!
//! What lives here: names of ports, files, frames of simulated packets, and [`Observing`], through which
//! a world without any trace of captures in its own code is looked into. What may not: anything that
//! changes what a packet does.

mod error;
mod file;
mod frame;
mod observing;
mod port_name;
mod run;

pub use error::CaptureError;
pub use file::{Captures, SNAP_LENGTH};
pub use observing::{Departures, Observed, Observing};
pub use port_name::find_port;
pub use run::run_captured;
