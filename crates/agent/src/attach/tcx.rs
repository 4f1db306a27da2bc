//! The hook of Linux 6.6 and later: links, pinned so that they outlive the agent.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use libbpf_rs::Link;
use libbpf_rs::query::LinkTypeInfo;

use crate::entry::Side;
use crate::error::AgentError;
use crate::interfaces::Interface;
use crate::pins::Places;
use crate::sys;

/// The programs on the interface, in the order in which they run.
pub(super) fn programs(index: u32, side: Side) -> io::Result<Vec<u32>> {
    sys::tcx_programs(index, side == Side::Egress)
}

/// Attaches the program before all others. A program of ours that runs first is replaced in its
/// place. If others run before it, a new link at the front takes its place.
pub(super) fn attach(
    program: BorrowedFd<'_>,
    places: &Places,
    interface: &Interface,
    side: Side,
) -> Result<(), AgentError> {
    let path = places.link(interface.index, side);
    let there = live_link(places, interface, side);
    if let Some((link, id)) = there
        && programs(interface.index, side).is_ok_and(|all| all.first() == Some(&id))
    {
        return sys::replace_program(link.as_fd(), program)
            .map_err(|e| AgentError::kernel("replace the program", e));
    }
    let before = live_link(places, interface, side);
    let link = sys::attach_tcx_first(program, interface.index, side == Side::Egress)
        .map_err(|e| AgentError::kernel("put the program on the interface", e))?;
    let fresh = path.with_file_name(format!("new_link_{}_{}", interface.index, side.name()));
    let _ = fs::remove_file(&fresh);
    sys::pin(link.as_fd(), &fresh)
        .map_err(|e| AgentError::kernel(format!("pin {}", fresh.display()), e))?;
    fs::rename(&fresh, &path).map_err(|e| AgentError::file(&path, e))?;
    match before {
        Some((old, _)) => old.detach().map_err(|e| AgentError::kernel("take the old one away", e)),
        None => Ok(()),
    }
}

pub(super) fn is_attached(places: &Places, interface: &Interface, side: Side) -> bool {
    live_link(places, interface, side).is_some()
}

/// Removes both links. Removing a pin removes its link too, but later: under load, packets were
/// tagged for another 150 ms.
pub(super) fn detach(places: &Places, interface: &Interface) -> Result<(), AgentError> {
    for side in Side::BOTH {
        let path = places.link(interface.index, side);
        if let Some((link, _)) = live_link(places, interface, side) {
            link.detach().map_err(|e| {
                AgentError::kernel(format!("take the tagger off {}", interface.name), e)
            })?;
        }
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(AgentError::file(&path, error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The programs that run before the tagger.
pub(super) fn before(places: &Places, interface: &Interface) -> Vec<String> {
    let Some((_, ours)) = live_link(places, interface, Side::Egress) else { return Vec::new() };
    let all = programs(interface.index, Side::Egress).unwrap_or_default();
    let before = all.into_iter().take_while(|id| *id != ours);
    before.map(|id| format!("{} (program {id} on tcx)", sys::program_name(id))).collect()
}

/// All programs on tcx, which run before any on clsact.
pub(super) fn all_names(interface: &Interface) -> Vec<String> {
    let all = programs(interface.index, Side::Egress).unwrap_or_default().into_iter();
    all.map(|id| format!("{} (program {id} on tcx)", sys::program_name(id))).collect()
}

/// The pinned link and the id of its program, if the link is still on this very interface. If its
/// interface is deleted, a link remains without one.
fn live_link(places: &Places, interface: &Interface, side: Side) -> Option<(Link, u32)> {
    let link = Link::open(places.link(interface.index, side)).ok()?;
    let info = link.info().ok()?;
    match info.info {
        LinkTypeInfo::Tcx(tcx) if tcx.ifindex == interface.index => Some((link, info.prog_id)),
        _ => None,
    }
}
