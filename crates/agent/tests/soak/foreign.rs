//! A program of somebody else on the hook. It accepts every packet, so that no later program sees
//! it.

use std::os::fd::{FromRawFd, OwnedFd};

use nix::net::if_::if_nametoindex;

use crate::draw::Foreign;
use crate::lab::{self, Pair, sh};

/// A program that is attached until it is dropped, or until its interface is deleted.
#[derive(Debug)]
pub struct Attached {
    pub kind: Foreign,
    _link: Option<OwnedFd>,
}

impl Attached {
    pub fn new(pair: &Pair, kind: Foreign) -> Attached {
        let link = match kind {
            Foreign::Tcx => Some(lab::on(&pair.a, attach_tcx).join().unwrap()),
            Foreign::Filter(preference) => {
                let host = &pair.a;
                let preference = match preference {
                    0 => String::new(),
                    number => format!("prio {number}"),
                };
                // A filter with a class and without an action accepts the packets that it matches.
                sh(&format!(
                    "tc -n {host} qdisc show dev east | grep -q clsact || \
                         tc -n {host} qdisc add dev east clsact; \
                     tc -n {host} filter add dev east egress {preference} protocol all \
                         u32 match u32 0 0 flowid 1:1"
                ));
                None
            }
        };
        Attached { kind, _link: link }
    }
}

/// Attaches a program that returns TC_ACT_OK, after all others.
#[allow(unsafe_code)]
fn attach_tcx() -> OwnedFd {
    let index = if_nametoindex("east").unwrap();
    let instruction = |code| libbpf_sys::bpf_insn { code, ..Default::default() };
    // r0 = 0; exit
    let program = [instruction(0xb7), instruction(0x95)];
    // SAFETY: name and licence end with a zero, and the instructions are as many as is said.
    let program = unsafe {
        let fd = libbpf_sys::bpf_prog_load(
            libbpf_sys::BPF_PROG_TYPE_SCHED_CLS,
            c"foreign".as_ptr(),
            c"GPL".as_ptr(),
            program.as_ptr(),
            program.len() as _,
            std::ptr::null_mut(),
        );
        assert!(fd >= 0, "{}", std::io::Error::last_os_error());
        OwnedFd::from_raw_fd(fd)
    };
    // SAFETY: no options are given, and the program lives until the call is over.
    unsafe {
        let fd = libbpf_sys::bpf_link_create(
            std::os::fd::AsRawFd::as_raw_fd(&program),
            index as i32,
            libbpf_sys::BPF_TCX_EGRESS,
            std::ptr::null(),
        );
        assert!(fd >= 0, "{}", std::io::Error::last_os_error());
        OwnedFd::from_raw_fd(fd)
    }
}
