//! The scale of an experiment: its quantities relative to the bandwidth-delay product.

use flowsched_experiment::{Experiment, Level, Scene, SchemeOfScene};
use flowsched_run::SettingError;
use flowsched_schemes::on_linux::{HostTags, LinuxHosts, RealHosts, UdpHosts};
use flowsched_schemes::port::parameters::{BUFFER, ECN_THRESHOLD, SWITCH_MEMORY};
use flowsched_schemes::transport::tcp::parameters::RTO_MIN;
use flowsched_topology::Network;
use flowsched_units::{Bytes, PACKET_HEADER, PACKET_WIRE, Rate, Time, Value};

/// A line for the network and one for each scheme, at the first point.
///
/// # Errors
/// If the network cannot be made.
pub fn statement(experiment: &Experiment) -> Result<Vec<String>, SettingError> {
    let Some(scene) = experiment.scenes.first() else { return Ok(Vec::new()) };
    let network = scene.network()?;
    let scale = Scale::new(&network);
    let mut lines = vec![scale.of_network(&network)];
    lines.extend(scene.schemes.iter().map(|scheme| scale.of_scheme(scheme)));
    if experiment.scenes.len() > 1 {
        let Scene { point, .. } = scene;
        lines.insert(0, format!("of the first point, {point}:"));
    }
    Ok(lines)
}

/// The units in which quantities are measured.
struct Scale {
    /// The longest round-trip time between two hosts on the idle network, for a full packet. It includes the
    /// transmission of the packet and of its ACK.
    base_rtt: Time,
    /// The bandwidth-delay product, in bytes.
    bdp: f64,
}

impl Scale {
    fn new(network: &Network) -> Scale {
        let (data, ack) = (Bytes::new(PACKET_WIRE), Bytes::new(PACKET_HEADER));
        let hosts: Vec<_> = network.hosts().collect();
        let pairs = hosts.iter().flat_map(|src| hosts.iter().map(move |dst| (*src, *dst)));
        let rtts = pairs.filter(|(src, dst)| src != dst);
        let base_rtt = rtts.map(|(src, dst)| network.base_rtt(src, dst, data, ack)).max();
        let base_rtt = base_rtt.unwrap_or_default();
        let rate = rates(network).map_or(0, |(slowest, _)| slowest.as_bps());
        Scale { base_rtt, bdp: rate as f64 / 8.0 * base_rtt.as_secs_f64() }
    }

    fn of_network(&self, network: &Network) -> String {
        let links = match rates(network) {
            Some((slowest, fastest)) if slowest == fastest => format!("links of {slowest}"),
            Some((slowest, fastest)) => format!("links of {slowest} to {fastest}"),
            None => "no links".to_owned(),
        };
        format!(
            "{links}, base RTT {:.0} us with transmission, BDP {:.0} B ({:.1} packets)",
            self.base_rtt.as_us_f64(),
            self.bdp,
            self.bdp / PACKET_WIRE as f64
        )
    }

    fn of_scheme(&self, scheme: &SchemeOfScene) -> String {
        let mut parts = Vec::new();
        if is_over_udp(scheme) {
            parts.push("the simulator's hosts, over UDP".to_owned());
        }
        if let Some(Value::Time(rto_min)) = scheme.settings.get(&RTO_MIN) {
            let rtts = rto_min.as_secs_f64() / self.base_rtt.as_secs_f64();
            parts.push(format!("RTOmin {rto_min} ({rtts:.1} RTT)"));
        }
        for (name, parameter) in
            [("marks from", ECN_THRESHOLD), ("buffer", BUFFER), ("switch", SWITCH_MEMORY)]
        {
            if let Some(Value::Size(size)) = scheme.settings.get(&parameter) {
                parts.push(format!("{name} {}", self.in_bdps(*size)));
            }
        }
        if let Some(thresholds) = thresholds(scheme).filter(|thresholds| !thresholds.is_empty()) {
            let all: Vec<String> = thresholds.iter().map(|size| self.in_bdps(*size)).collect();
            parts.push(format!("thresholds {}", all.join(" ")));
        }
        format!("{}: {}", scheme.name, parts.join(", "))
    }

    /// A size in bandwidth-delay products.
    fn in_bdps(&self, size: Bytes) -> String {
        match size {
            Bytes::MAX => "unlimited".to_owned(),
            _ => format!("{:.2} BDP", size.get() as f64 / self.bdp),
        }
    }
}

/// The slowest and the fastest link.
fn rates(network: &Network) -> Option<(Rate, Rate)> {
    let rates = || network.ports().iter().map(|port| port.rate);
    rates().min().zip(rates().max())
}

fn is_over_udp(scheme: &SchemeOfScene) -> bool {
    let Level::Packets(scheme) = &scheme.level else { return false };
    matches!(scheme.on_linux(), Ok(RealHosts::OverUdp(_)))
}

/// The sizes by which hosts tag packets; `None` if they do not.
fn thresholds(scheme: &SchemeOfScene) -> Option<Vec<Bytes>> {
    let Level::Packets(scheme) = &scheme.level else { return None };
    let tags = match scheme.on_linux().ok()? {
        RealHosts::Kernel(LinuxHosts { tags, .. }) => tags,
        RealHosts::OverUdp(UdpHosts { tags, .. }) => tags?,
    };
    match tags {
        HostTags::BytesSent(tags) => Some(tags.thresholds),
        HostTags::Size(sizes) => Some(sizes.0),
        HostTags::None | HostTags::AtTheEdge => None,
    }
}
