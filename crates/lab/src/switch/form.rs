//! The form of the packets on the cables.

use flowsched_schemes::on_linux::HostTags;
use flowsched_schemes::packet::{Codec, Header, Tunnel};

/// The form of the packets on the cables.
#[derive(Clone, Copy, Debug)]
pub enum Form<H> {
    /// Packets of the kernel's TCP, without a header of the scheme.
    Tcp,
    /// Packets of the kernel's TCP in VXLAN, whose reserved bits hold the header.
    Tunnel(Tunnel<H>),
    /// Packets of the simulator's senders and receivers, in UDP.
    Datagrams(Codec<H>),
}

impl<H: Header> Form<H> {
    /// The form that hosts with the kernel's TCP and these tags use; `None` if the header has no such form.
    pub fn of_kernel(tags: &HostTags) -> Option<Form<H>> {
        match tags {
            HostTags::AtTheEdge { .. } => H::TUNNEL.map(Form::Tunnel),
            HostTags::None | HostTags::BytesSent(_) | HostTags::Size(_) => Some(Form::Tcp),
        }
    }
}
