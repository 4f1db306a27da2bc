//! What the tagger costs: `make bench-agent`. Not part of the tests; needs root and an idle
//! machine, and prints what it finds.

mod connections;
mod floors;
mod packets;
mod pairs;
mod setting;
mod shares;
mod throughput;
