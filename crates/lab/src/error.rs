//! Why the lab cannot do what it is asked to.

use std::io;
use std::path::{Path, PathBuf};

use flowsched_capture::CaptureError;
use flowsched_units::SettingError;
use thiserror::Error;

/// Why the lab cannot do what it is asked to.
#[derive(Debug, Error)]
pub enum LabError {
    /// The process lacks privileges.
    #[error(
        "the lab needs root, with the capabilities CAP_SYS_ADMIN and CAP_NET_ADMIN, to make network namespaces; run it \
         again as root, for example with `sudo`, or give the container these capabilities"
    )]
    NeedsRoot,
    /// More hosts than the lab has room for, or too few to send anything.
    #[error(
        "the lab runs 2 to {most} hosts, and `topology` has {found}. Change its number of hosts."
    )]
    Hosts {
        /// The number of hosts in the topology.
        found: u32,
        /// The largest number of hosts in a lab.
        most: u32,
    },
    /// The scheme tags packets, and there is no agent to tag them.
    #[error(
        "the scheme needs the agent to tag packets on the hosts, and this flowsched was built without \
         it; build it with `make lab`, or use `tagger = \"none\"`"
    )]
    NoAgent,
    /// An agent does not start.
    #[error("the agent on a host does not start: {said}")]
    Agent {
        /// The agent's last message.
        said: String,
    },
    /// There is no DCTCP.
    #[error(
        "the kernel has no DCTCP, and does not take the lab's own, which needs Linux 6.4 or newer with \
         BPF ({why}): use a newer kernel, or `transport = \"ecn-star\"`"
    )]
    NoDctcp {
        /// What the kernel says.
        why: String,
    },
    /// The taggers at the edges of hosts learn of flows from applications, and memcached does not
    /// tell them.
    #[error(
        "the hosts of this scheme have to know when flows begin, and memcached does not tell: remove \
         `served_by` from the workload"
    )]
    Untold,
    /// memcached needs the kernel's TCP, and the scheme's hosts do not use it.
    #[error(
        "memcached needs hosts with the kernel's TCP, and this scheme's hosts are the simulator's, over UDP: remove \
         `served_by` from the workload, or `lab_senders = \"simulator\"` from the scheme"
    )]
    NoTcp,
    /// The scheme's header has no form on real networks.
    #[error(
        "no real packet can carry the scheme's header: give it a `CODEC`, or a `TUNNEL` if hosts use the kernel's TCP"
    )]
    NoForm,
    /// The scheme has no form on real packets.
    #[error("{0}")]
    Setting(#[from] SettingError),
    /// There is no program that agents start with.
    #[error(
        "the lab starts its agents with the program `{program}`, and no folder of PATH has it. Install \
         the package util-linux (for `mount`, on some systems the package mount)."
    )]
    NoProgram {
        /// The program's name.
        program: &'static str,
    },
    /// There is no memcached.
    #[error(
        "`served_by = \"memcached\"` needs the program `memcached`, and no folder of PATH has it. Install \
         the package memcached, for example with `apt install memcached`, or remove `served_by`."
    )]
    NoMemcached,
    /// A memcached does not start, or does not take its values.
    #[error(
        "the memcached on host {host} does not start or does not store its values: {source}. Use values \
         of less than 1 MB."
    )]
    Memcached {
        /// The host's number.
        host: u32,
        /// What the system or the server says.
        source: io::Error,
    },
    /// A capture that cannot be made.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// A file or folder that cannot be made, read or removed.
    #[error("cannot {what} {path}: {source}")]
    File {
        /// What was tried.
        what: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The system refused another request.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// What the system says.
        source: io::Error,
    },
}

impl LabError {
    /// The error `source` of an attempt to do `what`. Missing privileges are
    /// [`LabError::NeedsRoot`].
    pub(crate) fn system(what: impl Into<String>, source: impl Into<io::Error>) -> LabError {
        let source = source.into();
        match source.kind() {
            io::ErrorKind::PermissionDenied => LabError::NeedsRoot,
            _ => LabError::System { what: what.into(), source },
        }
    }

    /// The error `source` of an attempt to do `what` with the file or folder `path`.
    pub(crate) fn file(what: &'static str, path: &Path, source: io::Error) -> LabError {
        match source.kind() {
            io::ErrorKind::PermissionDenied => LabError::NeedsRoot,
            _ => LabError::File { what, path: path.to_owned(), source },
        }
    }
}
