//! Compares the BPF program with the simulator's tagger in Rust, decision by decision: on random
//! packets, and on real connections. Only for tests.

mod differential;
mod replay;
