//! Slow computations that are plainly right, for tests of the fast ones.

pub(crate) mod from_scratch;
