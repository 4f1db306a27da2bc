//! Whole runs: real packets through the network of an experiment.

mod epn;
#[path = "../support/first_run.rs"]
mod first_run;
mod memcached;
#[path = "../support/root.rs"]
mod root;
mod schemes;
mod simulators_hosts;
mod tcp;
mod tries;
#[path = "../support/unwatched.rs"]
mod unwatched;
