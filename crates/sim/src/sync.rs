//! The items of the standard library that the module `meeting` uses. A test replaces them by those of
//! `loom`, which tries the orders in which threads may run (`tests/meeting.rs`).

pub(crate) use std::{
    hint,
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence},
    sync::{Condvar, Mutex, MutexGuard},
};
