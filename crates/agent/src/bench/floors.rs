//! Programs that do only one thing that the tagger needs: the least cost of a packet.

use std::mem::MaybeUninit;

use libbpf_rs::ProgramMut;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};

#[allow(missing_docs, unsafe_code, clippy::all, clippy::pedantic, non_camel_case_types)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/floors.skel.rs"));
}

use generated::{FloorsSkel, FloorsSkelBuilder};

/// The programs of `bpf/bench/floors.bpf.c`, loaded.
pub(super) struct Floors {
    skel: FloorsSkel<'static>,
}

impl Floors {
    pub(super) fn load() -> Floors {
        let object = Box::leak(Box::new(MaybeUninit::uninit()));
        let skel = FloorsSkelBuilder::default().open(object).unwrap().load().unwrap();
        Floors { skel }
    }

    /// The empty program.
    pub(super) fn nothing(&self) -> &ProgramMut<'static> {
        &self.skel.progs.nothing
    }

    /// All other programs, and what they do.
    pub(super) fn all(&self) -> [(&'static str, &ProgramMut<'static>); 6] {
        let programs = &self.skel.progs;
        [
            ("a counter of the processor", &programs.counter),
            ("sk_fullsock and the state in the socket", &programs.socket_state),
            ("the state in a hash", &programs.hash_state),
            ("the clock", &programs.clock),
            ("a write of the header", &programs.write),
            ("a write of the header in place", &programs.go_on_and_write),
        ]
    }
}
