//! Tests of whole runs: everything that a caller of the library can see.
//!
//! They are one program, because every test program compiles the engines of the schemes that it runs.

mod common;

mod agreement;
mod any_scene;
mod connections;
mod conservation;
mod d2tcp;
mod dctcp_sawtooth;
mod departures;
mod determinism;
mod epn;
mod homa;
mod hpcc;
mod loss_and_forwarding;
mod losses_and_pauses;
mod many_flows;
mod multilevel;
mod multipath;
mod pdq;
mod phost;
mod pias_example;
mod ports_end_to_end;
mod probe;
mod probe_theory;
mod queueing_theory;
mod reference;
mod schemes;
mod threads;
