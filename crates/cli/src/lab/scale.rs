//! The scale of an experiment: its quantities relative to the bandwidth-delay product.

use flowsched_experiment::{Experiment, Level, Scene, SchemeOfScene};
use flowsched_run::SettingError;
use flowsched_schemes::on_linux::{HostTags, LinuxHosts, RealHosts, UdpHosts};
use flowsched_schemes::port::parameters::{BUFFER, ECN_THRESHOLD, SWITCH_MEMORY};
use flowsched_schemes::transport::tcp::parameters::RTO_MIN;
use flowsched_topology::Network;
use flowsched_units::{Bytes, PACKET_HEADER, PACKET_WIRE, Rate, Time, Value};

/// A line for the network and one for each scheme. If the scale differs between points, the lines of each scale follow
/// a line that names its points.
///
/// # Errors
/// If the network cannot be made.
pub fn statement(experiment: &Experiment) -> Result<Vec<String>, SettingError> {
    let mut scales: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for scene in &experiment.scenes {
        let (point, lines) = (scene.point.to_string(), of_scene(scene)?);
        match scales.iter_mut().find(|(_, known)| *known == lines) {
            Some((points, _)) => points.push(point),
            None => scales.push((vec![point], lines)),
        }
    }
    let differs = scales.len() > 1;
    let lines = scales.into_iter().flat_map(|(points, lines)| {
        let heading = differs.then(|| format!("at {}:", points.join(" and ")));
        heading.into_iter().chain(lines)
    });
    Ok(lines.collect())
}

fn of_scene(scene: &Scene) -> Result<Vec<String>, SettingError> {
    let network = scene.network()?;
    let scale = Scale::new(&network);
    let schemes = scene.schemes.iter().map(|scheme| scale.of_scheme(scheme));
    Ok(std::iter::once(scale.of_network(&network)).chain(schemes).collect())
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
        HostTags::AtTheEdge { sizes } => Some(sizes),
        HostTags::None => None,
    }
}

#[cfg(test)]
mod tests {
    use flowsched_experiment::{Arguments, Source};

    use super::*;

    fn stated(vary: &str) -> Vec<String> {
        let text = format!(
            "
            topology = {{ kind = \"star\", hosts = 3, host_link = \"100Mbps\", link_delay = \"100us\" }}
            workload = {{ pattern = \"many-to-one\", receiver = 0, sizes = \"fixed 1KB\", load = 0.5, flows = 1 }}
            scheme = [{{ preset = \"tcp\", buffer = \"15KB\", rto_min = \"10ms\" }}]
            vary = {{ {vary} }}
            "
        );
        let no_inputs = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let source = Source::new("test.toml", &text);
        let experiment = Experiment::parse(&source, &Arguments::default(), &no_inputs).unwrap();
        statement(&experiment).unwrap()
    }

    #[test]
    fn what_a_tagger_at_the_edge_distinguishes_is_stated() {
        let text = "
            topology = { kind = \"star\", hosts = 3, host_link = \"100Mbps\", link_delay = \"100us\" }
            workload = { pattern = \"many-to-one\", receiver = 0, sizes = \"fixed 1KB\", load = 0.5, flows = 1 }
            scheme = [{ preset = \"epn\" }, { preset = \"epn-agnostic\", levels = 3 }]
            ";
        let no_inputs = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let source = Source::new("test.toml", text);
        let experiment = Experiment::parse(&source, &Arguments::default(), &no_inputs).unwrap();
        let lines = statement(&experiment).unwrap();
        let counts = lines.iter().filter_map(|line| line.split_once("thresholds "));
        let counts: Vec<usize> = counts.map(|(_, all)| all.matches("BDP").count()).collect();
        assert_eq!(counts, [1, 3], "tiny flows, and two thresholds between levels: {lines:?}");
    }

    #[test]
    fn each_scale_is_stated_once_with_its_points() {
        assert_eq!(stated("workload.load = \"0.5,0.6\"").len(), 2, "both points have one scale");
        let lines = stated("topology.host_link = \"100Mbps,200Mbps\"");
        assert_eq!(lines.len(), 6, "{lines:?}");
        for (heading, rate) in [(0, "100Mbps"), (3, "200Mbps")] {
            assert_eq!(lines[heading], format!("at topology.host_link = {rate}:"));
            assert!(lines[heading + 1].starts_with(&format!("links of {rate}")), "{lines:?}");
        }
    }
}
