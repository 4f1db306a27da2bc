//! What a lab could leave behind on a machine: BPF objects and processes.
#![allow(unsafe_code)]

use std::collections::BTreeSet;
use std::fs;

/// The commands of `bpf(2)` that walk through all objects of a kind.
const KINDS: [(&str, libc::c_long); 3] = [("program", 11), ("map", 12), ("link", 31)];

/// The BPF programs, maps and links of the machine, by number.
pub fn bpf_objects() -> BTreeSet<(&'static str, u32)> {
    let of_kind = |(kind, command)| {
        let next = move |id: &u32| next_id(command, *id);
        std::iter::successors(next(&0), next).map(move |id| (kind, id))
    };
    KINDS.into_iter().flat_map(of_kind).collect()
}

fn next_id(command: libc::c_long, id: u32) -> Option<u32> {
    // As in `union bpf_attr`: the number to start after, and the number found.
    let mut attributes = [0_u32; 32];
    attributes[0] = id;
    let size = std::mem::size_of_val(&attributes);
    // SAFETY: the attributes are as large as the call is told, and outlive it.
    let done = unsafe { libc::syscall(libc::SYS_bpf, command, attributes.as_mut_ptr(), size) };
    (done == 0).then_some(attributes[1])
}

/// A process: its number and its start time, because the number may be given to another process.
pub type Process = (u32, String);

/// All processes that a process has started, directly or indirectly.
pub fn descendants(ancestor: u32) -> BTreeSet<Process> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let all: Vec<(u32, u32, String)> =
        ids.filter_map(|id| stat(id).map(|(parent, start)| (id, parent, start))).collect();
    let mut found = BTreeSet::new();
    let mut parents = vec![ancestor];
    while let Some(parent) = parents.pop() {
        for (id, _, start) in all.iter().filter(|(_, of, _)| *of == parent) {
            found.insert((*id, start.clone()));
            parents.push(*id);
        }
    }
    found
}

/// Whether the process has not ended.
pub fn is_alive((id, start): &Process) -> bool {
    stat(*id).is_some_and(|(_, found)| found == *start)
}

/// The parent of a process and when it started; `None` if it has ended.
fn stat(id: u32) -> Option<(u32, String)> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name, in brackets, may contain blanks.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let is_gone = matches!(*fields.first()?, "Z" | "X");
    (!is_gone).then_some((fields.get(1)?.parse().ok()?, (*fields.get(19)?).to_owned()))
}
