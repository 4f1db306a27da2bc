//! How long queues were.

use super::{Distribution, RunRecord};

/// Bytes that wait in switches' ports at the sample times while flows arrive (Slytherin 2018,
/// Figure 5): every port at every sample is a value.
pub(super) fn queue_bytes(run: &RunRecord) -> Distribution {
    let starts = || run.flows.iter().map(|flow| flow.start);
    let (Some(first), Some(last)) = (starts().min(), starts().max()) else {
        return Distribution::default();
    };
    let is_switch: Vec<bool> =
        run.ports.iter().map(|port| !port.class.starts_with("host to ")).collect();
    let counted = run.samples.iter().filter(|sample| {
        let is_switch = is_switch.get(sample.port as usize).copied().unwrap_or_default();
        is_switch && (first..=last).contains(&sample.time)
    });
    Distribution::of(counted.map(|sample| sample.queue_bytes as f64).collect())
}

#[cfg(test)]
mod tests {
    use flowsched_units::{Rate, Time};

    use super::*;
    use crate::results::{FlowRow, Port, PortSample};

    #[test]
    fn ports_of_switches_count_while_flows_arrive() {
        let port = |class: &str| Port {
            owner: String::new(),
            peer: String::new(),
            class: class.to_owned(),
            rate: Rate::from_gbps(10),
        };
        let flow = |us| FlowRow { start: Time::from_us(us), ..FlowRow::default() };
        let sample = |us, port, queue_bytes| PortSample {
            time: Time::from_us(us),
            port,
            queue_bytes,
            ..PortSample::default()
        };
        let run = RunRecord {
            flows: vec![flow(10), flow(20)],
            ports: vec![port("host to leaf"), port("leaf to host")],
            samples: vec![
                sample(5, 1, 1_000_000),
                sample(10, 0, 2_000_000),
                sample(10, 1, 100),
                sample(20, 1, 300),
                sample(25, 1, 3_000_000),
            ],
            ..RunRecord::default()
        };
        let found = queue_bytes(&run);
        assert_eq!((found.count, found.mean, found.max), (2, Some(200.0), Some(300.0)));
        assert_eq!(queue_bytes(&RunRecord::default()).count, 0);
    }
}
