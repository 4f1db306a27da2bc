//! The BPF program beside the Rust tagger of the simulator, decision by decision: on packets made at
//! random, and on real connections. Tests alone.

mod differential;
mod replay;
