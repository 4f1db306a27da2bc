//! The congestion control that hosts use: the kernel's, or the lab's own DCTCP where the kernel has none.
//!
//! The lab's own is a BPF program (`bpf/dctcp.bpf.c`). The kernel keeps it as long as this process holds
//! a link to it, and so removes it when the process ends in whatever way. It has a different name in each
//! lab.
//!
//! What may not live here: how hosts come to use it, which is a metric of their routes.

use std::mem::MaybeUninit;

use flowsched_schemes::on_linux::{KernelControl, KernelDctcp};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{ErrorKind, Link, MapHandle, set_print};
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::TcpCongestion;
use socket2::{Domain, Protocol, Socket, Type};

use crate::error::LabError;

#[allow(missing_docs, unsafe_code, clippy::all, clippy::pedantic, non_camel_case_types)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/dctcp.skel.rs"));
}

/// Alpha 1 in the BPF program.
const ONE: u32 = 1 << 20;
/// The settings of the kernel's own DCTCP, which can only be changed for the whole machine (RFC 8257,
/// 4.2).
const OF_KERNELS: KernelDctcp = KernelDctcp { g: 1.0 / 16.0, initial_alpha: 1.0 };
/// The most labs that may have a DCTCP of their own at a time.
const MOST_LABS: u32 = 1_000;

/// A congestion control that hosts can use while this is there.
#[derive(Debug)]
pub struct Congestion {
    name: String,
    /// The lab's own DCTCP; `None` if the kernel has the congestion control.
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests look into it"))]
    own: Option<Own>,
}

/// A DCTCP of the lab's own: the kernel has it until this is dropped.
#[derive(Debug)]
struct Own {
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests look into it"))]
    link: Link,
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests record"))]
    records: MapHandle,
}

impl Congestion {
    /// Finds the congestion control in the kernel, or registers it there.
    ///
    /// # Errors
    /// [`LabError::NeedsRoot`] without root, [`LabError::NoDctcp`] if the kernel can have none.
    pub fn prepare(control: &KernelControl) -> Result<Congestion, LabError> {
        match &control.dctcp {
            Some(dctcp) if *dctcp != OF_KERNELS || !is_in_kernel(control.name) => {
                Congestion::register(dctcp, false)
            }
            _ => Ok(Congestion { name: control.name.to_owned(), own: None }),
        }
    }

    /// The kernel's name of the congestion control.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Registers a DCTCP under a name that is free.
    fn register(settings: &KernelDctcp, is_recording: bool) -> Result<Congestion, LabError> {
        set_print(None);
        for number in 0..MOST_LABS {
            let name = format!("dctcp_lab_{number}");
            match Own::register(settings, &name, is_recording) {
                Ok(own) => return Ok(Congestion { name, own: Some(own) }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                    return Err(LabError::NeedsRoot);
                }
                Err(error) => return Err(LabError::NoDctcp { why: format!("{error:#}") }),
            }
        }
        Err(LabError::NoDctcp { why: format!("{MOST_LABS} labs have theirs") })
    }
}

impl Own {
    fn register(settings: &KernelDctcp, name: &str, is_recording: bool) -> libbpf_rs::Result<Own> {
        let mut object = MaybeUninit::uninit();
        let mut open = generated::DctcpSkelBuilder::default().open(&mut object)?;
        if let Some(constants) = open.maps.rodata_data.as_deref_mut() {
            constants.g = share(settings.g);
            constants.initial_alpha = share(settings.initial_alpha);
            constants.is_recording = is_recording;
        }
        if !is_recording {
            open.maps.records.set_max_entries(4096)?;
        }
        let place = &mut open.struct_ops.dctcp_mut().name;
        *place = Default::default();
        for (place, byte) in place.iter_mut().zip(name.bytes()) {
            *place = byte as i8;
        }
        let mut skel = open.load()?;
        let link = skel.maps.dctcp.attach_struct_ops()?;
        Ok(Own { link, records: MapHandle::try_from(&skel.maps.records)? })
    }
}

fn share(part: f64) -> u32 {
    (part * f64::from(ONE)).round() as u32
}

/// Whether the kernel has a congestion control of this name, or can load it as a module.
fn is_in_kernel(name: &'static str) -> bool {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP));
    socket.is_ok_and(|socket| setsockopt(&socket, TcpCongestion, &name.into()).is_ok())
}

#[cfg(test)]
mod tests;
