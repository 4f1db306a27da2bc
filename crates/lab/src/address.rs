//! The addresses of hosts. Every lab has the same ones: no packet leaves its namespaces.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use flowsched_topology::HostId;

/// The most hosts that a lab has.
pub const MOST_HOSTS: u32 = 64;

/// The port on which every host accepts connections: one that Wireshark gives to no protocol.
pub(crate) const TCP_PORT: u16 = 41_000;

/// Length of the network part of [`ipv4`] and [`ipv6`].
pub(crate) const PREFIX: (u8, u8) = (24, 64);

const MAC_PREFIX: [u8; 5] = [2, 0, 0, 0, 0];
const IPV4_PREFIX: [u8; 3] = [10, 99, 0];
const IPV6_PREFIX: [u16; 7] = [0xfd99, 0, 0, 0, 0, 0, 0];

/// The Ethernet address that messages of switches come from.
pub(crate) const SWITCH_MAC: [u8; 6] = [2, 0, 0, 0, 0, 0xff];
/// The IPv4 address that messages of switches come from.
pub(crate) const SWITCH_IPV4: Ipv4Addr = Ipv4Addr::new(10, 99, 0, 254);

/// The last byte of a host's addresses.
fn number(host: HostId) -> u8 {
    debug_assert!(host.0 < MOST_HOSTS);
    host.0 as u8 + 1
}

fn host(number: u8) -> Option<HostId> {
    number.checked_sub(1).map(|host| HostId(host.into())).filter(|host| host.0 < MOST_HOSTS)
}

/// A host's Ethernet address.
pub fn mac(host: HostId) -> [u8; 6] {
    let [a, b, c, d, e] = MAC_PREFIX;
    [a, b, c, d, e, number(host)]
}

/// A host's IPv4 address.
pub fn ipv4(host: HostId) -> Ipv4Addr {
    let [a, b, c] = IPV4_PREFIX;
    Ipv4Addr::new(a, b, c, number(host))
}

/// A host's IPv6 address.
pub fn ipv6(host: HostId) -> Ipv6Addr {
    let [a, b, c, d, e, f, g] = IPV6_PREFIX;
    Ipv6Addr::new(a, b, c, d, e, f, g, number(host).into())
}

/// The host that has this IP address; `None` if it is not of the form of [`ipv4`] or [`ipv6`].
pub fn host_with_ip(address: IpAddr) -> Option<HostId> {
    match address {
        IpAddr::V4(address) => match address.octets() {
            [a, b, c, number] if [a, b, c] == IPV4_PREFIX => host(number),
            _ => None,
        },
        IpAddr::V6(address) => match address.segments() {
            [a, b, c, d, e, f, g, number] if [a, b, c, d, e, f, g] == IPV6_PREFIX => {
                host(u8::try_from(number).ok()?)
            }
            _ => None,
        },
    }
}

/// The host that has this Ethernet address; `None` if it is not of the form of [`mac`].
pub fn host_with_mac(address: [u8; 6]) -> Option<HostId> {
    let [a, b, c, d, e, number] = address;
    if [a, b, c, d, e] == MAC_PREFIX { host(number) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_back_to_their_hosts() {
        for host in (0..MOST_HOSTS).map(HostId) {
            assert_eq!(host_with_ip(ipv4(host).into()), Some(host));
            assert_eq!(host_with_ip(ipv6(host).into()), Some(host));
            assert_eq!(host_with_mac(mac(host)), Some(host));
        }
        assert_eq!(host_with_ip(Ipv4Addr::new(10, 99, 0, 0).into()), None);
        assert_eq!(host_with_ip(Ipv4Addr::new(10, 98, 0, 1).into()), None);
        assert_eq!(host_with_ip(Ipv4Addr::new(10, 99, 0, MOST_HOSTS as u8 + 1).into()), None);
        assert_eq!(host_with_mac(SWITCH_MAC), None);
        assert_eq!(host_with_mac([0xff; 6]), None);
    }
}
