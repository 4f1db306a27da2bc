//! Other programs on the hook that the tagger uses.
#![allow(unsafe_code, reason = "libbpf is called as it is")]

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use libbpf_rs::{TC_EGRESS, TcHookBuilder};

use super::lab;

/// Two instructions: return 0, which is TC_ACT_OK. No later program runs on the packet.
const RETURN_OK: [libbpf_sys::bpf_insn; 2] = [instruction(0xb7), instruction(0x95)];

const fn instruction(code: u8) -> libbpf_sys::bpf_insn {
    libbpf_sys::bpf_insn {
        code,
        _bitfield_align_1: [],
        _bitfield_1: libbpf_sys::__BindgenBitfieldUnit::new([0]),
        off: 0,
        imm: 0,
    }
}

fn ends_the_hook() -> OwnedFd {
    // SAFETY: name and licence are strings, and the number of instructions is right.
    let program = unsafe {
        libbpf_sys::bpf_prog_load(
            libbpf_sys::BPF_PROG_TYPE_SCHED_CLS,
            c"ends_the_hook".as_ptr(),
            c"GPL".as_ptr(),
            RETURN_OK.as_ptr(),
            RETURN_OK.len() as libbpf_sys::size_t,
            std::ptr::null_mut(),
        )
    };
    assert!(program >= 0, "{}", io::Error::last_os_error());
    // SAFETY: a fresh file descriptor that nobody else has.
    unsafe { OwnedFd::from_raw_fd(program) }
}

/// Adds a filter on clsact with this preference that ends the hook. It runs before older filters of
/// its preference.
pub fn filter_first(host: &str, interface: &'static str, preference: u32) {
    let attach = move || {
        let program = ends_the_hook();
        let mut filter = TcHookBuilder::new(program.as_fd())
            .ifindex(nix::net::if_::if_nametoindex(interface).unwrap() as i32)
            .handle(1)
            .priority(preference)
            .hook(TC_EGRESS);
        filter.create().unwrap();
        filter.attach().unwrap();
    };
    lab::on(host, attach).join().unwrap();
}

/// Attaches a program to tcx that ends the hook, before all others, for packets that leave
/// `interface`. It is removed when the returned link is dropped. `None` if the kernel has no tcx.
pub fn end_first(host: &str, interface: &'static str) -> Option<OwnedFd> {
    let attach = move || {
        let index = nix::net::if_::if_nametoindex(interface).unwrap();
        let program = ends_the_hook();
        let opts = libbpf_sys::bpf_link_create_opts {
            sz: size_of::<libbpf_sys::bpf_link_create_opts>() as libbpf_sys::size_t,
            flags: libbpf_sys::BPF_F_BEFORE,
            ..Default::default()
        };
        let side = libbpf_sys::BPF_TCX_EGRESS;
        // SAFETY: `opts` is initialised and outlives the call.
        let link = unsafe {
            libbpf_sys::bpf_link_create(program.as_raw_fd(), index as i32, side, &raw const opts)
        };
        // SAFETY: as above.
        (link >= 0).then(|| unsafe { OwnedFd::from_raw_fd(link) })
    };
    lab::on(host, attach).join().unwrap()
}

/// The number of programs on tcx for packets that leave `interface`.
pub fn count_on_tcx(host: &str, interface: &'static str) -> u32 {
    let count = move || {
        let index = nix::net::if_::if_nametoindex(interface).unwrap();
        let mut opts = libbpf_sys::bpf_prog_query_opts {
            sz: size_of::<libbpf_sys::bpf_prog_query_opts>() as libbpf_sys::size_t,
            ..Default::default()
        };
        let side = libbpf_sys::BPF_TCX_EGRESS;
        // SAFETY: `opts` is initialised, asks for no list, and outlives the call.
        let result = unsafe { libbpf_sys::bpf_prog_query_opts(index as i32, side, &raw mut opts) };
        // SAFETY: a union of plain integers.
        if result < 0 { 0 } else { unsafe { opts.__bindgen_anon_1.prog_cnt } }
    };
    lab::on(host, count).join().unwrap()
}
