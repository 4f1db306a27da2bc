//! Calls that have no safe wrapper. Each is a few lines long.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::path::Path;

/// `sockaddr.sa_family` in the hardware address of interfaces with Ethernet headers. Loopback has
/// them too.
const ETHERNET: u16 = 1;
const LOOPBACK: u16 = 772;

/// Attaches the program behind `program` before all others, for packets that leave interface
/// `index` or that arrive there. The link ends with the returned file, unless it is pinned.
pub(crate) fn attach_tcx_first(
    program: BorrowedFd<'_>,
    index: u32,
    leave: bool,
) -> io::Result<OwnedFd> {
    let opts = libbpf_sys::bpf_link_create_opts {
        sz: size_of::<libbpf_sys::bpf_link_create_opts>() as _,
        flags: libbpf_sys::BPF_F_BEFORE,
        ..Default::default()
    };
    // SAFETY: `opts` is initialised and outlives the call.
    let link = unsafe {
        libbpf_sys::bpf_link_create(
            program.as_raw_fd(),
            index as i32,
            tcx_side(leave),
            &raw const opts,
        )
    };
    if link < 0 {
        return Err(io::Error::from_raw_os_error(-link));
    }
    // SAFETY: a fresh file descriptor that nobody else has.
    Ok(unsafe { OwnedFd::from_raw_fd(link) })
}

/// Replaces the program of a link. No packet passes without a program in between.
pub(crate) fn replace_program(link: BorrowedFd<'_>, program: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: no options.
    let result = unsafe {
        libbpf_sys::bpf_link_update(link.as_raw_fd(), program.as_raw_fd(), std::ptr::null())
    };
    checked(result)
}

/// Pins a program, map or link at `path`, which must not exist.
pub(crate) fn pin(object: BorrowedFd<'_>, path: &Path) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_encoded_bytes())?;
    // SAFETY: `path` ends with a zero and outlives the call.
    checked(unsafe { libbpf_sys::bpf_obj_pin(object.as_raw_fd(), path.as_ptr()) })
}

/// Converts a result of libbpf: a negative error number, or success.
fn checked(result: i32) -> io::Result<()> {
    if result < 0 { Err(io::Error::from_raw_os_error(-result)) } else { Ok(()) }
}

fn tcx_side(leave: bool) -> libbpf_sys::bpf_attach_type {
    if leave { libbpf_sys::BPF_TCX_EGRESS } else { libbpf_sys::BPF_TCX_INGRESS }
}

/// The programs that run on packets that leave interface `index` or arrive there, in their order.
/// Returns an error if the kernel has no tcx.
pub(crate) fn tcx_programs(index: u32, leave: bool) -> io::Result<Vec<u32>> {
    /// The most programs on one side of an interface (BPF_MPROG_MAX).
    const MOST: usize = 64;
    let side = tcx_side(leave);
    let mut ids = vec![0u32; MOST];
    let mut opts = libbpf_sys::bpf_prog_query_opts {
        sz: size_of::<libbpf_sys::bpf_prog_query_opts>() as _,
        prog_ids: ids.as_mut_ptr(),
        ..Default::default()
    };
    opts.__bindgen_anon_1.prog_cnt = MOST as u32;
    // SAFETY: `opts` is initialised, its list is as long as it says, and both outlive the call.
    let result = unsafe { libbpf_sys::bpf_prog_query_opts(index as i32, side, &raw mut opts) };
    if result < 0 {
        return Err(io::Error::from_raw_os_error(-result));
    }
    // SAFETY: a union of plain integers.
    ids.truncate(unsafe { opts.__bindgen_anon_1.prog_cnt } as usize);
    Ok(ids)
}

/// The name of the program with this id, as it was loaded.
pub(crate) fn program_name(id: u32) -> String {
    // SAFETY: no pointers.
    let fd = unsafe { libbpf_sys::bpf_prog_get_fd_by_id(id) };
    if fd < 0 {
        return "unknown".into();
    }
    // SAFETY: a fresh file descriptor that nobody else has.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    program_name_of(fd.as_fd())
}

/// The name of an open program, as it was loaded.
pub(crate) fn program_name_of(program: BorrowedFd<'_>) -> String {
    let Ok(info) = program_info(program) else { return "unknown".into() };
    let name = info.name.iter().take_while(|byte| **byte != 0).map(|byte| *byte as u8);
    String::from_utf8_lossy(&name.collect::<Vec<u8>>()).into_owned()
}

/// The id of an open program.
pub(crate) fn program_id(program: BorrowedFd<'_>) -> io::Result<u32> {
    Ok(program_info(program)?.id)
}

/// The kernel's facts about a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProgramFacts {
    pub(crate) id: u32,
    pub(crate) runs: u64,
    pub(crate) run_time_ns: u64,
    pub(crate) verified_instructions: u32,
}

/// The facts about the program behind `fd`.
pub(crate) fn program_facts(fd: BorrowedFd<'_>) -> io::Result<ProgramFacts> {
    let info = program_info(fd)?;
    Ok(ProgramFacts {
        id: info.id,
        runs: info.run_cnt,
        run_time_ns: info.run_time_ns,
        verified_instructions: info.verified_insns,
    })
}

fn program_info(fd: BorrowedFd<'_>) -> io::Result<libbpf_sys::bpf_prog_info> {
    let mut info = libbpf_sys::bpf_prog_info::default();
    let mut length = size_of::<libbpf_sys::bpf_prog_info>() as u32;
    // SAFETY: `info` is as long as `length` says and asks for no arrays.
    let result = unsafe {
        libbpf_sys::bpf_prog_get_info_by_fd(fd.as_raw_fd(), &raw mut info, &raw mut length)
    };
    if result < 0 {
        return Err(io::Error::from_raw_os_error(-result));
    }
    Ok(info)
}

/// Lets the kernel measure the run time of programs for as long as the returned file is open.
pub(crate) fn measure_run_time() -> io::Result<OwnedFd> {
    // SAFETY: no pointers.
    let fd = unsafe { libbpf_sys::bpf_enable_stats(libbpf_sys::BPF_STATS_RUN_TIME) };
    if fd < 0 {
        return Err(io::Error::from_raw_os_error(-fd));
    }
    // SAFETY: a fresh file descriptor that nobody else has.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Whether frames on the interface begin with an Ethernet header.
pub(crate) fn has_ethernet_header(name: &str) -> io::Result<bool> {
    // SAFETY: all zero is a valid request.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.len() >= request.ifr_name.len() {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *place = byte as libc::c_char;
    }
    let socket = std::net::UdpSocket::bind("0.0.0.0:0")?;
    // SAFETY: the request is initialised and outlives the call, which fills in the address.
    let family = unsafe {
        if libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFHWADDR, &raw mut request) < 0 {
            return Err(io::Error::last_os_error());
        }
        request.ifr_ifru.ifru_hwaddr.sa_family
    };
    Ok(family == ETHERNET || family == LOOPBACK)
}
