//! Gives the interfaces of a namespace their addresses and neighbours, over netlink.

use std::io;
use std::net::{IpAddr, Ipv4Addr};

use flowsched_schemes::on_linux::LinuxHosts;
use flowsched_topology::HostId;
use flowsched_units::Time;
use nix::net::if_::if_nametoindex;
use rtnetlink::packet_route::link::LinkAttribute;
use rtnetlink::packet_route::route::{RouteAttribute, RouteMetric, RouteProtocol, RouteScope};
use rtnetlink::{Handle, LinkUnspec, RouteMessageBuilder, new_connection};

use crate::address::{PREFIX, ipv4, ipv6, mac};
use crate::congestion::Congestion;
use crate::error::LabError;
use crate::stack::Stack;
use crate::tap::INTERFACE;

/// Packets that may wait for the switch to read them: more than any window.
const QUEUE_PACKETS: u32 = 20_000;

/// Configures the namespace of the calling thread as that of `host`, one of `hosts`.
///
/// # Errors
/// [`LabError::System`] with what the kernel refuses.
pub(crate) fn configure(host: HostId, hosts: u32, stack: &Stack<'_>) -> Result<(), LabError> {
    let refused = |what: &str, error: io::Error| {
        LabError::system(format!("{what} of host {}", host.0), error)
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    let runtime = runtime.map_err(|e| refused("configure the interfaces", e))?;
    runtime.block_on(async {
        let (connection, netlink, _) =
            new_connection().map_err(|e| refused("configure the interfaces", e))?;
        tokio::spawn(connection);
        let index = |name| if_nametoindex(name).map_err(|e| refused("find an interface", e.into()));
        let (loopback, card) = (index("lo")?, index(INTERFACE)?);
        bring_up(&netlink, host, loopback, card, stack.mtu())
            .await
            .map_err(|e| refused("bring up the interfaces", from_netlink(e)))?;
        if let Stack::Kernel(on_linux, congestion) = stack {
            set_route(&netlink, host, card, on_linux, congestion)
                .await
                .map_err(|e| refused("set the route", from_netlink(e)))?;
        }
        for other in (0..hosts).map(HostId).filter(|other| *other != host) {
            introduce(&netlink, card, other)
                .await
                .map_err(|e| refused("set the neighbours", from_netlink(e)))?;
        }
        Ok(())
    })
}

async fn bring_up(
    netlink: &Handle,
    host: HostId,
    loopback: u32,
    card: u32,
    mtu: u32,
) -> Result<(), rtnetlink::Error> {
    netlink.link().set(LinkUnspec::new_with_index(loopback).up().build()).execute().await?;
    let link = LinkUnspec::new_with_index(card)
        .address(mac(host).to_vec())
        .mtu(mtu)
        .txqueuelen(QUEUE_PACKETS)
        .arp(false)
        .multicast(false)
        // One segment per packet: the agent would tag a super-packet as a whole, and each packet needs its own
        // tag.
        .append_extra_attribute(LinkAttribute::GsoMaxSegs(1))
        .up();
    netlink.link().set(link.build()).execute().await?;
    let (v4, v6) = PREFIX;
    netlink.address().add(card, ipv4(host).into(), v4).execute().await?;
    netlink.address().add(card, ipv6(host).into(), v6).execute().await
}

/// The number of the metric `rto_min` (`RTAX_RTO_MIN`). The kernel obeys it only if it is locked.
const RTO_MIN: u32 = 13;

/// Sets TCP's congestion control, first window, shortest time-out and acknowledgements, which are metrics of the route.
/// As a metric, a congestion control applies to both ends of every connection, and they negotiate ECN if it needs ECN.
async fn set_route(
    netlink: &Handle,
    host: HostId,
    card: u32,
    on_linux: &LinuxHosts,
    congestion: &Congestion,
) -> Result<(), rtnetlink::Error> {
    let (length, _) = PREFIX;
    let network = Ipv4Addr::from_bits(ipv4(host).to_bits() & u32::MAX << (32 - length));
    let mut route = RouteMessageBuilder::<Ipv4Addr>::new()
        .destination_prefix(network, length)
        .output_interface(card)
        .scope(RouteScope::Link)
        .protocol(RouteProtocol::Kernel)
        .pref_source(ipv4(host))
        .build();
    let rto_min = (on_linux.rto_min.as_ps() / Time::from_ms(1).as_ps()).max(1) as u32;
    route.attributes.push(RouteAttribute::Metrics(vec![
        RouteMetric::Lock(1 << RTO_MIN),
        RouteMetric::InitCwnd(on_linux.initial_window),
        RouteMetric::RtoMin(rto_min),
        RouteMetric::QuickAck(on_linux.acks_every_packet.into()),
        RouteMetric::CcAlgo(congestion.name().to_owned()),
    ]));
    netlink.route().add(route).replace().execute().await
}

/// Makes another host a permanent neighbour, so that nobody has to ask for its address.
async fn introduce(netlink: &Handle, card: u32, other: HostId) -> Result<(), rtnetlink::Error> {
    for address in [IpAddr::V4(ipv4(other)), IpAddr::V6(ipv6(other))] {
        let neighbour = netlink.neighbours().add(card, address);
        neighbour.link_layer_address(&mac(other)).execute().await?;
    }
    Ok(())
}

/// Converts an error; keeps the kernel's own error number if there is one.
fn from_netlink(error: rtnetlink::Error) -> io::Error {
    match error {
        rtnetlink::Error::NetlinkError(message) => message.to_io(),
        other => io::Error::other(other),
    }
}
