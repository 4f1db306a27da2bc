//! What the meeting of threads uses of the standard library. A test replaces it by `loom`, which tries the
//! orders in which threads may come (`tests/meeting.rs`).

pub(crate) use std::{
    hint,
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence},
    sync::{Condvar, Mutex, MutexGuard},
};
