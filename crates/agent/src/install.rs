//! Installs the tagger on an interface: the programs on its hook, the count of packets that pass
//! them, the limit on super-packets, and the records of these.

use std::os::fd::AsFd;

use crate::attach::{self, Attached, Hook};
use crate::config::Config;
use crate::error::AgentError;
use crate::interfaces::{self, Interface};
use crate::pins::Places;
use crate::tagger::Tagger;
use crate::{gso, log, nic, passed};

/// Attaches the tagger to an interface, and limits the interface's super-packets.
pub(crate) fn put_on(
    tagger: &Tagger,
    places: &Places,
    hook: Hook,
    config: &Config,
    interface: &Interface,
) -> Result<(), AgentError> {
    let program = |entry| tagger.program(entry).as_fd();
    let how = attach::attach(program, places, hook, interface)?;
    if how == Attached::Fresh {
        passed::begin(places, interface)?;
    }
    log::info(format_args!("{}: {how} by {hook}", interface.name));
    for program in attach::before(places, interface, hook) {
        log::warn(format_args!("{}: {program} runs before the tagger", interface.name));
    }
    gso::cap(places, interface, config.gso)
}

/// Removes the tagger from an interface, and ends the count of packets.
pub(crate) fn take_off(places: &Places, interface: &Interface) -> Result<(), AgentError> {
    attach::detach(places, interface)?;
    passed::end(places, interface)
}

/// Removes the pins and records of interfaces that no longer exist.
pub(crate) fn tidy(places: &Places) {
    let all = interfaces::all();
    let is_gone = |index: u32| all.iter().all(|one| one.index != index);
    for (index, side) in places.links() {
        if is_gone(index) {
            let _ = std::fs::remove_file(places.link(index, side));
        }
    }
    for kind in [attach::RECORD, gso::RECORD, nic::RECORD, passed::RECORD] {
        for index in places.records(kind).into_iter().filter(|index| is_gone(*index)) {
            let _ = std::fs::remove_file(places.record(&format!("{kind}{index}")));
        }
    }
}

/// Removes the records of interfaces from which the tagger is gone. Another program may have removed
/// it. A record that stays would later make the agent remove something that belongs to that program.
pub(crate) fn forget(places: &Places) {
    for kind in [attach::RECORD, passed::RECORD] {
        for index in places.records(kind) {
            let _ = std::fs::remove_file(places.record(&format!("{kind}{index}")));
        }
    }
}
