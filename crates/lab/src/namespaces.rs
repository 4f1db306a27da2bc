//! Makes and enters network namespaces, which end with the process.
//!
//! A namespace of the lab has no name and no mount. It lives as long as one of its files is open, a
//! thread is inside or a socket sends in it. The kernel therefore removes it, with all of its
//! interfaces, however the process ends: nothing is left to be cleaned up, not even after kill -9,
//! and two labs cannot collide. Sockets of the lab end with their process. Those of memcached are
//! destroyed by the shell around it, or end after two time-outs (`hosts` limits them). [`owner`] gives
//! namespaces names for people while the lab lives.
//!
//! What may not live here: addresses and interfaces, which belong to `hosts`.

pub mod owner;

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};

use crate::error::LabError;

/// A network namespace. It ends when this is dropped and no thread or socket is left in it.
#[derive(Debug)]
pub struct Namespace {
    file: File,
}

impl Namespace {
    /// A new namespace, with nothing in it but a loopback interface that is down.
    ///
    /// # Errors
    /// [`LabError::NeedsRoot`] without the right to make one; [`LabError::System`] if the system
    /// has no room.
    pub fn new() -> Result<Namespace, LabError> {
        let make = || {
            unshare(CloneFlags::CLONE_NEWNET)?;
            File::open("/proc/thread-self/ns/net")
        };
        let made = thread::scope(|scope| spawn(scope, make)?.join().map_err(panicked)?);
        let file = made.map_err(|source| LabError::system("make a network namespace", source))?;
        Ok(Namespace { file })
    }

    /// Runs `action` in a new thread inside the namespace. Files and sockets that it opens belong to
    /// the namespace, whichever thread uses them afterwards.
    ///
    /// # Errors
    /// If the namespace cannot be entered, or what `action` returns.
    pub fn run<T: Send>(
        &self,
        action: impl FnOnce() -> Result<T, LabError> + Send,
    ) -> Result<T, LabError> {
        let enter = || {
            setns(self.file.as_fd(), CloneFlags::CLONE_NEWNET)
                .map_err(|source| LabError::system("enter a network namespace", source))?;
            action()
        };
        thread::scope(|scope| {
            let thread = spawn(scope, enter).map_err(|e| LabError::system("start a thread", e))?;
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// The path by which other programs of this machine enter the namespace while this process lives,
    /// as in `nsenter --net=PATH`.
    pub fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd()).into()
    }
}

fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    action: impl FnOnce() -> T + Send + 'scope,
) -> std::io::Result<thread::ScopedJoinHandle<'scope, T>> {
    thread::Builder::new().name("namespace".into()).spawn_scoped(scope, action)
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> std::io::Error {
    std::io::Error::other("the thread that makes it panicked")
}
