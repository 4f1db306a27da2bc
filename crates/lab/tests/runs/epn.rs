//! EPN's prototype: hosts with a priority mapper, and switches with a controller.

use crate::root::is_root;
use crate::tries::{fct, run_that_counts};

/// EPN 2018, Figure 9, at 20 Mbps, over TCP with and without ECN: f3 goes before f2 at the receiver's link, and f2
/// before f1 between the switches. While f2 waits for f3, f1 has the link between the switches. Intervals are long, so
/// that a flow on a busy machine does not look dead.
#[test]
fn three_flows_under_epn_end_in_the_order_of_their_desires() {
    if !is_root("three_flows_under_epn_end_in_the_order_of_their_desires") {
        return;
    }
    for transport in ["ecn-star", "reno"] {
        let Some((lab, conduct, simulated)) = run_that_counts(&format!(
            "
            [topology]
            kind = \"custom\"
            hosts = \"h1 h2 h13 h14 h15\"
            links = \"h1 A; h2 A; A B; h13 B; h14 B; h15 B\"
            link = \"20Mbps\"
            link_delay = \"500us\"
            [workload]
            flow = [
                {{ src = 0, dst = 2, size = \"4.7MB\" }},
                {{ src = 1, dst = 3, size = \"2.36MB\" }},
                {{ src = 4, dst = 3, size = \"2.34MB\" }},
            ]
            [[scheme]]
            preset = \"epn\"
            dp = \"size\"
            transport = \"{transport}\"
            buffer = \"1MB\"
            ecn_threshold = \"30KB\"
            rto_min = \"200ms\"
            ack_ratio = 2
            initial_window = 10
            mark_interval = \"20ms\"
            probe_interval = \"100ms\"
            counter_interval = \"200ms\"
            flow_timeout = \"10s\"
            "
        )) else {
            continue;
        };
        let ends = [0, 1, 2].map(|flow| fct(&lab, flow));
        let ideal = [0, 1, 2].map(|flow| fct(&simulated, flow));
        println!("{transport}: {ends:?}, simulated {ideal:?}");
        assert!(lab.flows.iter().all(|flow| flow.finished_at_receiver.is_some()));
        let in_order = ends[2] < ends[1] && ends[1] < ends[0];
        assert!(in_order, "{transport}: {ends:?}");
        for (real, ideal) in ends.iter().zip(ideal) {
            let agrees = (0.95 * ideal..1.25 * ideal).contains(real);
            assert!(agrees, "{ends:?}, simulated {ideal:?}");
        }
        // The paper's shares: f3 has the receiver's link until it ends, f2 has it then, and f1 has the link between
        // the switches before and after that. Headers, VXLAN's included, take 7% of a link, and f2's
        // probes find the link free up to 100 ms after f3, a tenth of f2's turn.
        let turn = ends[1] - ends[2];
        let turns = [(4.7e6, ends[0] - turn), (2.36e6, turn), (2.34e6, ends[2])];
        let shares = turns.map(|(bytes, seconds)| bytes * 8.0 / 20e6 / seconds);
        println!("{transport}: shares {shares:?}");
        assert!(shares.iter().all(|share| (0.75..1.0).contains(share)), "{transport}: {shares:?}");
        assert!(conduct.priorities[1] > 0, "f2 waits in the LOW queue: {conduct:?}");
    }
}
