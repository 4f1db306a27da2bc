//! The meaning of the keys of `summary.json`. The reference page is made from this list. The
//! figures are computed elsewhere.

/// One key of the summary.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The path of the key: `[]` stands for every element of an array, `{a,b}` for each of the
    /// names in braces.
    pub path: &'static str,
    /// The unit, or nothing.
    pub unit: &'static str,
    /// The meaning, in one sentence.
    pub about: &'static str,
}

const fn key(path: &'static str, unit: &'static str, about: &'static str) -> Key {
    Key { path, unit, about }
}

/// Every key of `summary.json`.
pub const SUMMARY: &[Key] = &[
    key("name", "", "The experiment's name."),
    key("program.version", "", "The version of flowsched that ran the experiment."),
    key("program.commit", "", "The commit that it was built from; empty if unknown."),
    key("program.command", "", "The command that wrote these results."),
    key(
        "program.world",
        "",
        "What moved the packets: \"simulator\", \"lab\" (`flowsched lab run`) or \"machines\" \
         (`flowsched traffic`). `--resume` refuses a folder of another one.",
    ),
    key("complete", "", "Whether all runs of the experiment are present and complete."),
    key("runs[].point", "", "The varied keys and their values, as texts; empty if none were."),
    key("runs[].scheme", "", "The scheme's name."),
    key("runs[].seed", "", "The seed."),
    key("runs[].complete", "", "Whether the run is complete."),
    key("runs[].simulated_us", "us", "Simulated time of the run's last event."),
    key(
        "runs[].schedule",
        "",
        "For an omniscient schedule: the figure that no scheme can improve, \"least-mean-fct\" or \
         \"most-deadlines-met\", or \"heuristic\" if it is no bound; null for schemes.",
    ),
    key("runs[].flows", "", "Measured flows."),
    key("runs[].finished", "", "Measured flows that finished."),
    key("runs[].unmeasured", "", "Flows of warm-up and cool-down, which no figure includes."),
    key("runs[].deadline_flows", "", "Measured flows that have a deadline."),
    key("runs[].deadlines_met", "", "Measured flows that met their deadline."),
    key(
        "runs[].application_throughput",
        "",
        "The share of measured flows with a deadline that met it; null if there are none.",
    ),
    key(
        "runs[].load.links",
        "",
        "The links that load refers to: \"hosts\" (those that hosts send through, on average), \
         \"receiver\" (those to the one host that receives every flow) or \"core\" (those between \
         switches, on average).",
    ),
    key(
        "runs[].load.requested",
        "",
        "The load that the experiment asks for; null if start times are not random.",
    ),
    key(
        "runs[].load.realised",
        "",
        "The load of the flows of this seed, from the first start to the last; null if all start \
         at once. Headers count, ACKs do not.",
    ),
    key(
        "runs[].load.utilisation",
        "",
        "What these links sent from the first start to the last, over what they can send. Headers, \
         ACKs and retransmissions count. Null if port samples cover less than nine tenths of that \
         time.",
    ),
    key("runs[].packet_hops", "", "Packets, data or ACK, that reached the far end of a link."),
    key("runs[].events", "", "Events that the engine handled."),
    key("runs[].cpu_s", "s", "User CPU time of the run."),
    key("runs[].wall_s", "s", "Elapsed time of the run."),
    key("runs[].peak_rss_bytes", "B", "The largest resident memory of the process so far."),
    key(
        "runs[].drops",
        "",
        "Packets dropped at ports or lost on links; null between real machines (`flowsched traffic`).",
    ),
    key("runs[].ecn_marks", "", "Packets marked by ECN; null where `drops` is."),
    key(
        "runs[].timeouts",
        "",
        "Retransmission timeouts; null in the lab if its hosts do not count them, and between real \
         machines.",
    ),
    key(
        "runs[].repeated_timeouts",
        "",
        "How often a flow had two or more timeouts in a row, with nothing acknowledged between \
         them (PIAS ToN 2017, III-B.3). Null in the lab if the kernel's counts leave it open.",
    ),
    key(
        "runs[].longest_timeouts",
        "",
        "Number of timeouts in the longest such row; null if `repeated_timeouts` is.",
    ),
    key(
        "runs[].terminations",
        "",
        "Flows with a row of more than 15 timeouts, after which Linux ends a connection \
         (`tcp_retries2`). Simulated flows go on. Null if `repeated_timeouts` is.",
    ),
    key("runs[].retransmissions", "", "Data packets sent again; null between real machines."),
    key(
        "runs[].overhead.header_bytes",
        "B",
        "Bytes that the scheme's header adds to every packet. Null in the lab, as every key of `overhead`.",
    ),
    key(
        "runs[].overhead.probe_bytes",
        "B",
        "Probes that senders sent, headers included: packets without data, or with one byte of it, \
         that neither open nor end a flow.",
    ),
    key(
        "runs[].overhead.port_state_bytes",
        "B",
        "The largest state of a switch's port: the flows that its controller remembered at once, \
         times the bytes of each (PDQ: 20, for R, P, D, T and RTT). Null if the controllers do not \
         count that.",
    ),
    key(
        "runs[].overhead.switch_state_bytes",
        "B",
        "The largest sum of these over the ports of one switch. Ports may have their largest states \
         at different times, so that no switch needed more.",
    ),
    key(
        "runs[].convergence_us",
        "us",
        "Mean time from the last start of a flow until the earlier flows fall to their fair share, \
         from one sample to the next; null unless one link carries all flows, and the hosts of the \
         earlier flows send no others.",
    ),
    key(
        "runs[].queue_bytes.count",
        "",
        "Samples of switches' ports while flows arrived; all samples of the run if start times are \
         not random.",
    ),
    key(
        "runs[].queue_bytes.{mean,p50,p95,p99,p999,max}",
        "B",
        "Waiting bytes, over these samples; null if there are none.",
    ),
    key("runs[].links[].name", "", "The name of a link in the experiment's `links`."),
    key(
        "runs[].links[].utilisation",
        "",
        "Bytes that it sent between the first and the last sample of its time, over what it can \
         send; null with fewer than two samples.",
    ),
    key(
        "runs[].links[].{queue_bytes,queue_packets}.count",
        "",
        "Samples of its queue in that time.",
    ),
    key(
        "runs[].links[].{queue_bytes,queue_packets}.{mean,p50,p95,p99,p999,max}",
        "B or packets",
        "Its queue at these samples; null if there are none.",
    ),
    key("runs[].fct_us.{all,small,medium,large}.count", "", "Flows of the class that finished."),
    key(
        "runs[].fct_us.{all,small,medium,large}.{mean,p50,p95,p99,p999,max}",
        "us",
        "FCT at the sender of those flows; null if there are none.",
    ),
    key("runs[].slowdown.{all,small,medium,large}.count", "", "Flows with a slowdown."),
    key(
        "runs[].slowdown.{all,small,medium,large}.{mean,p50,p95,p99,p999,max}",
        "",
        "FCT over ideal FCT of those flows; null if there are none.",
    ),
    key(
        "runs[].normalised_fct.{all,small,medium,large}",
        "",
        "The mean FCT over the mean ideal FCT of the flows that finished; null if there are none.",
    ),
    key("runs[].goodput_gbps.{all,small,medium,large}.count", "", "Flows that finished."),
    key(
        "runs[].goodput_gbps.{all,small,medium,large}.{mean,p50,p95,p99,p999,max}",
        "Gbit/s",
        "Size over FCT of those flows; null if there are none.",
    ),
    key(
        "runs[].packets.arrived",
        "",
        "Data packets of measured flows that arrived. In the lab with the kernel's TCP, `arrived`, `marked`, \
         `marked_again` and `reordered` are over all flows of the run, or null in EPN's tunnel.",
    ),
    key("runs[].packets.marked", "", "The share of these packets that some port marked."),
    key("runs[].packets.marked_again", "", "The share that more than one port marked."),
    key(
        "runs[].packets.marked_again_in_tail",
        "",
        "The same share, for the packets of flows beyond the 95th percentile of FCT.",
    ),
    key(
        "runs[].packets.reordered",
        "",
        "The share that was sent for the first time and arrived after a packet sent later.",
    ),
    key(
        "runs[].packets.{duplicate_acks,third_duplicate_acks}",
        "",
        "Of the ACKs of flows that lost nothing: the share that acknowledged nothing new, and the \
         share that was at least the third such ACK in a row. Null in the lab.",
    ),
    key(
        "runs[].one_by_one.{halved,longer,doubled,worst}",
        "",
        "As in `comparisons`, of this seed's flows against those of the first scheme; null for that \
         scheme.",
    ),
    key(
        "runs[].parts[].name",
        "",
        "A part of the workload; the list is empty if the workload has \
                                    no parts.",
    ),
    key(
        "runs[].parts[].{flows,finished,deadline_flows,deadlines_met,application_throughput}",
        "",
        "As for the run, over the part's flows.",
    ),
    key("runs[].parts[].{fct_us,slowdown}.count", "", "Flows of the part that finished."),
    key(
        "runs[].parts[].fct_us.{mean,p50,p95,p99,p999,max}",
        "us",
        "FCT at the sender of those flows; null if there are none.",
    ),
    key(
        "runs[].parts[].query_us.count",
        "",
        "Queries of which every flow finished. Flows of the part that start at the same time to the same \
         host are one query, and other flows are a query each.",
    ),
    key(
        "runs[].parts[].query_us.{mean,p50,p95,p99,p999,max}",
        "us",
        "From the start of a query until the last byte of all its flows has arrived (PIAS ToN 2017, \
         V-A, Figs. 8 and 9); null if there are none.",
    ),
    key(
        "runs[].parts[].slowdown.{mean,p50,p95,p99,p999,max}",
        "",
        "FCT over ideal FCT of those flows; null if there are none.",
    ),
    key(
        "runs[].parts[].goodput_gbps.{count,mean,p50,p95,p99,p999,max}",
        "Gbit/s",
        "Size over FCT of those flows; null if there are none.",
    ),
    key("runs[].parts[].timeouts", "", "Retransmission timeouts of the part's measured flows."),
    key(
        "runs[].parts[].packets.{arrived,marked,marked_again,marked_again_in_tail,reordered,\
         duplicate_acks,third_duplicate_acks}",
        "",
        "As for the run, over the part's packets.",
    ),
    key("orders[].point", "", "The varied keys and their values."),
    key("orders[].{class,figure}", "", "What is compared: FCTs of a class, their mean or p99."),
    key(
        "orders[].{lower,higher}",
        "",
        "The schemes that have the lower and the higher figure \
                                        according to the paper.",
    ),
    key(
        "orders[].change.{change,low,high}",
        "",
        "Relative excess of `higher` over `lower`, as in `comparisons`, with its 95% interval; null \
         if there is none.",
    ),
    key(
        "orders[].verdict",
        "",
        "\"holds\" or \"reversed\" if the whole interval is on one side (if nothing is random: the \
         change), otherwise \"undecided\".",
    ),
    key("comparisons[].point", "", "The varied keys and their values."),
    key("comparisons[].scheme", "", "The scheme compared."),
    key("comparisons[].against", "", "The scheme that it is compared with: the first."),
    key(
        "comparisons[].fct.{all,small,medium,large}.seeds",
        "",
        "Seeds with flows to compare; from two on, the intervals are over seeds.",
    ),
    key(
        "comparisons[].fct.{all,small,medium,large}.samples",
        "",
        "Number of these seeds that differ in any FCT: 1 if nothing is random, and then there are \
         no intervals.",
    ),
    key(
        "comparisons[].fct.{all,small,medium,large}.pairs",
        "",
        "Flows that finished under both schemes, over all seeds.",
    ),
    key(
        "comparisons[].fct.{all,small,medium,large}.left_out",
        "",
        "Measured flows that did not finish under both, and are not compared.",
    ),
    key(
        "comparisons[].fct.{all,small,medium,large}.{mean,p99}.change",
        "",
        "Relative difference of the mean or 99th percentile of FCT: -0.2 is 20% less. Over several \
         seeds the geometric mean of the seeds' ratios, less 1.",
    ),
    key(
        "comparisons[].fct.{all,small,medium,large}.{mean,p99}.{low,high}",
        "",
        "Its 95% confidence interval, Student's t over the logs of the seeds' ratios; for the mean \
         of one seed, over its flows. Null if there is none.",
    ),
    key(
        "comparisons[].fct.{all,small,medium,large}.one_by_one.{halved,longer,doubled}",
        "",
        "Shares of the compared flows that take at most half as long as under the first scheme, \
         longer, and at least twice as long.",
    ),
    key(
        "comparisons[].fct.{all,small,medium,large}.one_by_one.worst",
        "",
        "The largest ratio of a flow's FCT to its FCT under the first scheme.",
    ),
    key("across_seeds[].point", "", "The varied keys and their values."),
    key("across_seeds[].scheme", "", "The scheme."),
    key("across_seeds[].seeds", "", "Seeds with complete runs."),
    key(
        "across_seeds[].samples",
        "",
        "Number of these seeds that differ in the FCT of any flow: 1 if nothing is random.",
    ),
    key(
        "across_seeds[].steady_state.{early_slowdown,late_slowdown}",
        "",
        "The geometric mean of the slowdown of the first tenth of the measured flows, and of the \
         second half. `steady_state` is null unless start times are random and every run has at \
         least 400 measured flows.",
    ),
    key(
        "across_seeds[].steady_state.is_steady",
        "",
        "Whether the two differ by no more than 5%, as far as the runs can tell.",
    ),
    key(
        "across_seeds[].steady_state.warm_up_flows",
        "",
        "The smallest `warm_up_flows`, in steps of a twentieth of the flows, after which the rest \
         is steady; null if the runs are steady, or if half of the flows is not enough.",
    ),
    key(
        "across_seeds[].steady_state.flows",
        "",
        "The `flows` to use: increased by that warm-up, or doubled if no warm-up is enough; null \
         if the runs are steady.",
    ),
    key("warnings[]", "", "What makes figures less certain than they look, in sentences."),
    key(
        "lab[]",
        "",
        "In the lab alone: how late it was in a run (see the page \"Run an experiment with real packets\").",
    ),
    key("scale[]", "", "In the lab alone: rates, delays, thresholds and buffers, in lines."),
    key("tables.{flows,ports}.bytes", "B", "The length of flows.parquet and ports.parquet."),
    key("tables.{flows,ports}.crc32", "", "Their CRC-32: the same for the same runs."),
];
