//! Packet-hops per CPU-second on the 144-host fabric (scratch).
#[path = "../tests/common/mod.rs"]
mod common;
use common::*;
use flowsched_topology::Routing;
fn main() {
    let network = network("leaf-spine", &[]);
    let mut flows = Vec::new();
    for row in reference("ns2-websearch-0.8-independent-dctcp.csv") { let mut f = row.flow; f.start = flowsched_units::Time::from_ps(f.start.as_ps()*4/3); flows.push(f); }
    let which = std::env::args().nth(1).unwrap_or("dctcp".into());
    let s = if which == "pias" { scheme("pias", "none", &[("thresholds","909pkt 1329pkt 1648pkt 1960pkt 2143pkt 2337pkt 2484pkt")]) } else { scheme(&which, "none", &[]) };
    let t = std::time::Instant::now();
    let o = run(&network, Routing::Ecmp, &flows, &s);
    let w = t.elapsed().as_secs_f64();
    println!("{which}: {} hops {} events {:.2} M hops/s drops {} marks {} timeouts {} retx {}", o.packet_hops, o.events, o.packet_hops as f64 / w / 1e6, o.drops, o.ecn_marks, o.timeouts, o.retransmissions);
}
