//! Flow-level simulation.
mod fair;
#[cfg(test)]
mod from_scratch;
mod paths;
mod strict;
