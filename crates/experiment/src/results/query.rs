//! Queries: flows to one host that are complete only together.

use std::collections::BTreeMap;

use flowsched_units::Time;

use super::{Distribution, FlowRow};

/// Completion times of queries, in microseconds. Flows that start at the same time to the same host are
/// one query. It is complete when the last byte of all its flows has arrived (PIAS ToN 2017, V-A: "A
/// query is completed only when the client receives all the responses from the servers"). A query has no
/// time if one of its flows does not finish.
pub(crate) fn query_us(flows: &[&FlowRow]) -> Distribution {
    let mut queries: BTreeMap<(Time, u32), Option<Time>> = BTreeMap::new();
    for flow in flows {
        let longest = queries.entry((flow.start, flow.dst)).or_insert(Some(Time::ZERO));
        *longest = longest.zip(flow.receiver_fct).map(|(longest, fct)| longest.max(fct));
    }
    Distribution::from_values(queries.into_values().flatten().map(Time::as_us_f64).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_takes_as_long_as_its_slowest_flow() {
        let flow = |start, dst, fct: u64| FlowRow {
            start: Time::from_us(start),
            dst,
            receiver_fct: (fct > 0).then(|| Time::from_us(fct)),
            ..FlowRow::default()
        };
        let flows = [
            flow(0, 1, 30),
            flow(0, 1, 50),
            flow(0, 1, 40),
            flow(0, 2, 10),
            flow(7, 1, 20),
            flow(9, 1, 20),
            flow(9, 1, 0),
        ];
        let found = query_us(&flows.iter().collect::<Vec<_>>());
        assert_eq!((found.count, found.max, found.p50), (3, Some(50.0), Some(20.0)));
        assert_eq!(found.mean, Some(80.0 / 3.0));
    }
}
