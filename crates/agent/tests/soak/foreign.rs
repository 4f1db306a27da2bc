//! Somebody else's program on the hook, which accepts every packet: no later program sees it.

use std::os::fd::{FromRawFd, OwnedFd};

use nix::net::if_::if_nametoindex;

use crate::draw::Foreign;
use crate::lab::{self, Pair, sh};

/// One that is attached until it is dropped, or its interface goes.
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
                // A filter with a class and no action accepts what it matches.
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

/// Attaches a program that returns TC_ACT_OK, behind all that are there.
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
