//! The costs of the tagger: `make bench-agent`. These measurements are not part of the tests. They
//! need root and an idle machine, and print their results.

mod connections;
mod floors;
mod packets;
mod pairs;
mod setting;
mod shares;
mod throughput;
