//! The numbers that hosts, nodes and ports go by.

macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The number, to index a slice with.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

number! {
    /// A host. Hosts are numbered from 0, rack by rack.
    HostId
}

number! {
    /// A host or a switch: hosts first, under their own numbers, then the switches.
    NodeId
}

number! {
    /// An egress port, one for each direction of a link. Ports are numbered in this order:
    ///
    /// 1. the first port of every host, under the host's number
    /// 2. the ports towards these, in the order of the hosts
    /// 3. the ports between switches, switch by switch
    /// 4. both ports of every further link of a host
    PortId
}

impl HostId {
    /// The host as a node.
    pub const fn node(self) -> NodeId {
        NodeId(self.0)
    }
}
