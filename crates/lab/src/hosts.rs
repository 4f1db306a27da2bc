//! The lab's hosts: each is a namespace with one network card. The switch holds the card's other end.

use std::fs;
use std::path::Path;

use flowsched_topology::HostId;

use crate::address::{MOST_HOSTS, TCP_PORT};
use crate::error::LabError;
use crate::interface;
use crate::namespaces::Namespace;
use crate::namespaces::owner::{Owner, clean_up};
use crate::processors::Division;
use crate::stack::Stack;
use crate::tap::Tap;

/// Kernel settings of every host, as paths under /proc/sys/net.
const SETTINGS: &[(&str, &str)] = &[
    // Hosts send no packets by themselves: no duplicate address detection, no router solicitations.
    ("ipv6/conf/all/accept_dad", "0"),
    ("ipv6/conf/default/accept_dad", "0"),
    ("ipv6/conf/default/addr_gen_mode", "1"),
    ("ipv6/conf/default/router_solicitations", "0"),
    ("ipv6/conf/default/accept_ra", "0"),
    // A full packet carries 1460 B, as in the simulator: timestamps would take 12 of them.
    ("ipv4/tcp_timestamps", "0"),
    // The kernel always has data to send while a flow has some, even if the lab's own thread is late. The agent would
    // take a pause for the end of a message.
    ("ipv4/tcp_wmem", "4096 4194304 16777216"),
    // Receivers have room for any window, so that the lab's setting bounds it and not the receivers' memory.
    ("ipv4/tcp_rmem", "4096 33554432 33554432"),
    ("ipv4/tcp_moderate_rcvbuf", "0"),
    // A connection does not start with what an earlier one learned of the path.
    ("ipv4/tcp_no_metrics_save", "1"),
    // A connection without a process ends after its first retransmission (0 would mean eight), or a second after it was
    // closed. Until then it keeps the namespace and the congestion control.
    ("ipv4/tcp_orphan_retries", "1"),
    ("ipv4/tcp_fin_timeout", "1"),
];

/// Hosts that are up, and the owner of their lab. Dropping this removes them.
#[derive(Debug)]
pub struct Hosts {
    namespaces: Vec<Namespace>,
    owner: Owner,
}

impl Hosts {
    /// Removes what dead labs left in the folder `all`, and makes `hosts` hosts that send with `stack`. Also returns
    /// the switch's end of each host's cable.
    ///
    /// # Errors
    /// [`LabError::NeedsRoot`] without root, [`LabError::Hosts`] for a number of hosts that the lab cannot run, or an
    /// error of the system. On an error, nothing that was made remains.
    pub fn up(hosts: u32, stack: &Stack<'_>, all: &Path) -> Result<(Hosts, Vec<Tap>), LabError> {
        if !(2..=MOST_HOSTS).contains(&hosts) {
            return Err(LabError::Hosts { found: hosts, most: MOST_HOSTS });
        }
        if !nix::unistd::geteuid().is_root() {
            return Err(LabError::NeedsRoot);
        }
        clean_up(all)?;
        let owner = Owner::claim(all)?;
        let (mut namespaces, mut taps) = (Vec::new(), Vec::new());
        for host in (0..hosts).map(HostId) {
            let namespace = Namespace::new()?;
            taps.push(namespace.run(|| set_up(host, hosts, stack))?);
            owner.name(&namespace, &format!("host-{}", host.0))?;
            namespaces.push(namespace);
        }
        Ok((Hosts { namespaces, owner }, taps))
    }

    /// A host's namespace; `None` if there is no such host.
    pub fn namespace(&self, host: HostId) -> Option<&Namespace> {
        self.namespaces.get(host.index())
    }

    /// How many hosts there are.
    pub fn count(&self) -> u32 {
        self.namespaces.len() as u32
    }

    /// The lab's folder.
    pub fn folder(&self) -> &Path {
        self.owner.folder()
    }

    /// The processors of switch and hosts. `None` if there is one for both.
    pub fn division(&self) -> Option<&Division> {
        self.owner.division()
    }
}

fn set_up(host: HostId, hosts: u32, stack: &Stack<'_>) -> Result<Tap, LabError> {
    for (setting, value) in SETTINGS {
        let path = Path::new("/proc/sys/net").join(setting);
        fs::write(&path, value).map_err(|e| LabError::file("write", &path, e))?;
    }
    // A connection that has the listeners' port, or had it a minute ago, would keep the traffic from listening.
    let path = Path::new("/proc/sys/net/ipv4/ip_local_reserved_ports");
    fs::write(path, TCP_PORT.to_string()).map_err(|e| LabError::file("write", path, e))?;
    let uses_ecn = matches!(stack, Stack::Kernel(on_linux, _) if on_linux.control.uses_ecn);
    let ecn = if uses_ecn { "1" } else { "0" };
    let path = Path::new("/proc/sys/net/ipv4/tcp_ecn");
    fs::write(path, ecn).map_err(|e| LabError::file("write", path, e))?;
    let tap = Tap::new()?;
    interface::configure(host, hosts, stack)?;
    Ok(tap)
}
