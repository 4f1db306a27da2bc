//! Compares runs of real packets with the simulation of the same flows.

use flowsched_experiment::results::{
    Distribution, OverSeeds, Point, RunSummary, SIMULATED, Summary,
};

use crate::format::{change, count_or_dash, duration, size};
use crate::overview::{CLASSES, Row, class_title, rows};
use crate::text::aligned;

/// A figure of a distribution.
type Figure = fn(&Distribution) -> Option<f64>;
/// A number of packets or flows; `None` if nobody counted it.
type Count = fn(&RunSummary) -> Option<u64>;

/// A table for each point, which compares each scheme of the lab with the simulation of the same scheme: flow
/// completion times, packets resent, dropped and marked, and the switches' queues. Times and queues are means over
/// seeds, packets are sums.
pub(crate) fn beside(summary: &Summary, width: usize) -> String {
    let mut lines = Vec::new();
    for point in summary.points() {
        lines.push(String::new());
        if !point.is_empty() {
            lines.push(point.to_string());
        }
        lines.extend(aligned(&table(summary, point), width));
    }
    lines.join("\n") + "\n"
}

/// The rows of one point. A row of one cell is the name of a scheme.
pub(crate) fn table(summary: &Summary, point: &Point) -> Vec<Vec<String>> {
    let rows = rows(summary, point);
    let find = |name: &str| rows.iter().find(|row| row.scheme == name);
    let mut table = vec![["", "lab", "simulated", "difference"].map(str::to_owned).to_vec()];
    for name in summary.schemes() {
        let twin = format!("{name}{SIMULATED}");
        let (Some(real), Some(simulated)) = (find(name), find(&twin)) else { continue };
        table.push(vec![real.scheme.to_owned()]);
        table.extend(of_pair(real, simulated));
    }
    table
}

fn of_pair(real: &Row<'_>, simulated: &Row<'_>) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    let figures: [(&str, Figure); 2] = [("mean", |of| of.mean), ("p99", |of| of.p99)];
    for class in CLASSES {
        for (name, figure) in figures {
            let found = [real, simulated].map(|row| row.fct_us(class, figure).map(|of| of.mean));
            let title = format!("  {}, {name}", class_title(class));
            lines.extend(line(&title, found, duration));
        }
    }
    let counts: [(&str, Count); 4] = [
        ("  Flows unfinished", |run| Some(run.flows - run.finished)),
        ("  Packets resent", |run| run.retransmissions),
        ("  Packets dropped", |run| run.drops),
        ("  Packets marked", |run| run.ecn_marks),
    ];
    for (title, total) in counts {
        let [real, simulated] = [real, simulated].map(|row| count_or_dash(row.counted(total)));
        lines.push(vec![title.to_owned(), real, simulated, String::new()]);
    }
    for (name, figure) in figures {
        let found = [real, simulated].map(|row| queue(row, figure));
        lines.extend(line(&format!("  Switches' queues, {name}"), found, size));
    }
    lines
}

/// A figure of the switches' queues, in bytes; `None` if nobody sampled them.
fn queue(row: &Row<'_>, figure: Figure) -> Option<f64> {
    let values: Vec<f64> = row.runs.iter().filter_map(|run| figure(&run.queue_bytes)).collect();
    OverSeeds::from_values(&values).map(|over| over.mean)
}

fn line(
    title: &str,
    [real, simulated]: [Option<f64>; 2],
    words: fn(f64) -> String,
) -> Option<Vec<String>> {
    let (real, simulated) = (real?, simulated?);
    let difference = if simulated > 0.0 { change(real / simulated - 1.0) } else { String::new() };
    Some(vec![title.to_owned(), words(real), words(simulated), difference])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(scheme: &str, mean: f64, retransmissions: Option<u64>) -> RunSummary {
        let mut run = RunSummary {
            scheme: scheme.to_owned(),
            seed: 1,
            complete: true,
            flows: 10,
            finished: 10,
            retransmissions,
            ..RunSummary::default()
        };
        run.fct_us.all = Distribution { count: 10, mean: Some(mean), ..Distribution::default() };
        run
    }

    #[test]
    fn the_lab_is_beside_its_own_simulation() {
        let runs = vec![run("pias", 1_100.0, None), run("pias (simulated)", 1_000.0, Some(4_000))];
        let summary = Summary { runs, ..Summary::default() };
        let text = beside(&summary, 100);
        let words: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().collect()).collect();
        let find = |first: &[&str]| words.iter().find(|line| line.starts_with(first)).unwrap();
        assert_eq!(find(&["All", "flows,", "mean"])[3..], ["1.10", "ms", "1.00", "ms", "+10.0%"]);
        assert_eq!(find(&["Packets", "resent"])[2..], ["-", "4,000"]);
        assert!(!text.contains("Small flows"), "no flow is small: {text}");
    }
}
