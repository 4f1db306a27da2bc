//! Persistent connections: how many are open from the start, and which one a flow takes.

use crate::common::{flow, network, run, scheme};
use flowsched_topology::Routing;
use flowsched_units::Time;

/// Runs five flows of one packet at once, and one that comes later. Returns the number of each flow's
/// connection, and how long the flow takes.
fn connections_and_fcts(open: &str) -> Vec<(u32, Time)> {
    let star = network("star", &[("hosts", "3")]);
    let mut flows: Vec<_> = (0..5).map(|id| flow(id, 0, 1, 1, Time::ZERO)).collect();
    flows.push(flow(5, 0, 1, 1, Time::from_ms(1)));
    let outcome =
        run(&star, Routing::Ecmp, &flows, &scheme("dctcp", "none", &[("open_connections", open)]));
    let ends = flows.iter().zip(&outcome.flows);
    ends.map(|(flow, end)| (end.connection, end.finished_at_sender.unwrap() - flow.start)).collect()
}

#[test]
fn flows_beyond_the_open_connections_open_their_own() {
    for (open, without_handshake) in [("1", 1), ("3", 3), ("1000", 5)] {
        let found = connections_and_fcts(open);
        let numbers: Vec<u32> = found[..5].iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4]);
        let alone = found[5].1;
        for (id, (_, fct)) in found[..5].iter().enumerate() {
            // At most four packets are before it in a queue, which takes less than a round trip.
            assert!(*fct < alone * 3, "{id} of {open}: {fct:?}, alone {alone:?}");
            let has_handshake = *fct * 2 > alone * 3;
            assert_eq!(
                has_handshake,
                id >= without_handshake,
                "{id} of {open}: {fct:?}, {alone:?}"
            );
        }
    }
}

#[test]
fn a_flow_takes_the_connection_that_has_been_idle_for_longest() {
    assert_eq!(connections_and_fcts("1")[5].0, 0, "all have been used; the first ended first");
    assert_eq!(connections_and_fcts("7")[5].0, 5, "two have not been used yet");
}
