//! Real memcached servers.

use crate::root::is_root;
use crate::tries::run;

/// Values of real servers beside a bulk flow. Each value comes whole, and the flow comes too. Times are not compared.
#[test]
fn memcached_answers_beside_the_traffic() {
    if !is_root("memcached_answers_beside_the_traffic") {
        return;
    }
    let (lab, _, simulated) = run(r#"
        topology = { kind = "star", hosts = 4, host_link = "100Mbps", host_delay = "100us" }
        scheme = [{ preset = "tcp", buffer = "100KB" }]
        [[workload.part]]
        name = "bulk"
        pattern = "many-to-one"
        receiver = "0"
        sizes = "fixed 2MB"
        flows = 1
        at = "0ms"
        [[workload.part]]
        name = "query"
        pattern = "incast"
        degree = 3
        receiver = "0"
        sizes = "fixed 1KB"
        flows = 30
        at = "10ms"
        every = "10ms"
    "#);
    assert_eq!(lab.flows.len(), simulated.flows.len());
    assert!(lab.uncounted.timeouts, "memcached has the sockets");
    assert!(!lab.uncounted.retransmissions, "the switch counts what was sent again");
    // The client has compared every byte of a value that has arrived.
    for flow in &lab.flows {
        assert!(flow.finished_at_receiver.is_some());
    }
}

/// memcached has the sockets, so only the switch can count what is sent again: every packet that it dropped, and perhaps
/// more.
#[test]
fn the_switch_counts_what_memcached_sends_again() {
    if !is_root("the_switch_counts_what_memcached_sends_again") {
        return;
    }
    let (lab, ..) = run(r#"
        topology = { kind = "star", hosts = 4, host_link = "100Mbps", host_delay = "100us" }
        scheme = [{ preset = "tcp", buffer = "20KB" }]
        [[workload.part]]
        name = "query"
        pattern = "incast"
        degree = 3
        receiver = "0"
        sizes = "fixed 100KB"
        flows = 9
        at = "10ms"
        every = "500ms"
    "#);
    println!("{} dropped, {} sent again", lab.drops, lab.retransmissions);
    assert!(lab.drops > 0 && lab.retransmissions >= lab.drops);
}
