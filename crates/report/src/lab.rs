//! How well the lab kept to real time, and its scale, with the same rows on a terminal and on the page.

use flowsched_experiment::results::{LabRun, Summary};

use crate::text::aligned;

/// The title above the rows of the lab.
pub(crate) const TITLE: &str = "The lab, in real time";

/// The header, and a row for each run: the scheme, the point, the seed, and the figures.
pub(crate) fn table(summary: &Summary) -> Vec<Vec<String>> {
    let keys: Vec<&str> =
        summary.lab.first().map_or_else(Vec::new, |run| run.point.keys().collect());
    let figures = [
        "seed",
        "packets",
        "late p50",
        "p99",
        "most",
        "late",
        "read late",
        "start",
        "rate",
        "delay",
        "valid",
    ];
    let head = std::iter::once("").chain(keys.iter().copied()).chain(figures);
    let mut table = vec![head.map(str::to_owned).collect::<Vec<_>>()];
    table.extend(summary.lab.iter().map(|run| row(run, &keys)));
    table
}

fn row(run: &LabRun, keys: &[&str]) -> Vec<String> {
    let [median, p99, most] = run.late_us.map(|us| format!("{us:.0} us"));
    let share = |of: f64| format!("{:.2}%", 100.0 * of);
    let delay = |[queueing, late]: [f64; 2]| format!("+{}", share(late / queueing));
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let mut row = vec![run.scheme.clone()];
    row.extend(keys.iter().map(|key| run.point.get(key).unwrap_or_default().to_owned()));
    row.extend([
        run.seed.to_string(),
        run.packets.to_string(),
        median,
        p99,
        most,
        share(run.late_share),
        share(run.read_late_share),
        format!("{:.1} ms", run.latest_start_us / 1_000.0),
        or_dash(run.busiest_rate.map(share)),
        or_dash(run.busiest_delay_us.filter(|[queueing, _]| *queueing > 0.0).map(delay)),
        if run.valid { "yes" } else { "NO" }.to_owned(),
    ]);
    row
}

/// The meaning of the columns, in sentences.
pub(crate) fn legend(summary: &Summary) -> String {
    let limit = summary.lab.first().map_or(0.0, |run| run.limit_us);
    format!(
        "Late p50, p99, most: how late packets reached their hosts. Late: the share of packets that were \
         more than {limit:.0} us late. Read late: the share that the switch read so late. Start: the latest \
         start of a flow after its planned start. Rate and delay: of the host that received most; its rate \
         while its port was busy, relative to the link's, and what lateness adds to the mean queueing delay \
         of full packets. lab.json in the results folder has all figures."
    )
}

/// A sentence for each run that does not count.
pub fn lab_warnings(summary: &Summary) -> Vec<String> {
    let late = summary.lab.iter().filter(|run| !run.valid);
    late.map(|run| {
        format!(
            "The run of {} is not valid: {}. Do not trust its times. Run it with lower rates, on a machine \
             that does nothing else, or with --tries 3, which repeats late runs.",
            run.run,
            run.faults.join("; ")
        )
    })
    .collect()
}

/// The lab beside the simulation, how late it was, and its scale, for a terminal of this width. Empty if the
/// results are not the lab's.
pub(crate) fn lab(summary: &Summary, width: usize) -> String {
    if summary.lab.is_empty() {
        return String::new();
    }
    let mut text =
        format!("\nThe lab beside the simulation\n{}", crate::beside::beside(summary, width));
    // The table is as wide as it has to be, because no path or number may be cut off.
    let table = aligned(&table(summary), usize::MAX);
    text += &format!("\n{TITLE}\n  {}\n", table.join("\n  "));
    text += &(crate::text::wrap(&legend(summary), width).join("\n") + "\n");
    text + &format!("\nScale\n  {}\n", summary.scale.join("\n  "))
}
