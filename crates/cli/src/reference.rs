//! Pages of the reference, generated from the lists that files are checked against.

use flowsched_experiment::results::{Column, FLOWS, PORTS, PROBE_FLOWS, PROBE_PORTS, SUMMARY};
use flowsched_schemes::combination::COMMON;
use flowsched_schemes::discipline::DISCIPLINES;
use flowsched_schemes::{PRESETS, Role, parts};
use flowsched_topology::{LOSS, ROUTING, TOPOLOGIES};
use flowsched_units::Parameter;
use flowsched_workload::sizes::{BUILT_IN, BuiltIn, FORMS};
use flowsched_workload::{
    DEADLINE_FORMS, LISTED_PARAMETERS, PARAMETERS, PART_NAME, PATTERNS, SHARE,
};

use crate::arguments::Page;
use crate::list::{as_fluid, default_of, groups, settings_of};

/// Sizes up to which the papers count flows: EPN's bandwidth-delay product (IV-A), and PIAS's classes (V).
const LIMITS: [(&str, f64); 3] = [("69 KB", 69e3), ("100 KB", 1e5), ("10 MB", 1e7)];

/// A page in Markdown.
pub fn page(page: Page) -> String {
    match page {
        Page::Experiment => experiment(),
        Page::Schemes => schemes(),
        Page::Workloads => workloads(),
        Page::Topologies => topologies(),
        Page::Results => results(),
    }
}

fn experiment() -> String {
    let intro = "This page lists the keys before the first table. Times, rates and sizes have units: \
                 ps, ns, us, ms, s; bps, Kbps, Mbps, Gbps, Tbps; B, KB, MB, GB (powers of 1000), \
                 KiB, MiB, GiB (powers of 1024) and pkt.";
    let vary = "## Varied keys\n\nThe table `[vary]` gives keys several values, as `--vary` does: \
                `workload.load = \"0.5..0.9:0.1\"` or `topology.routing = \"spray,ecmp\"`. Every \
                combination is a point.\n\n## The small form\n\nThe table `[quick]` has other values \
                for keys, varied keys included: `workload.flows = 1000`. They apply with `--quick`. \
                `--set` and `--vary` take precedence.\n";
    let keys = parameters(flowsched_experiment::PARAMETERS);
    let probe = "## Record over time\n\nThe table `[probe]` names ports and flows. The run records the \
                 ports' queue, rate and marks, and the flows' window, rate, alpha, priority and bytes in \
                 flight, in [probe_ports.parquet](results.md#probe_portsparquet) and \
                 [probe_flows.parquet](results.md#probe_flowsparquet). The report draws them. A probe \
                 changes no other result, and needs `engine = \"packet\"`.\n\n";
    let probe_keys = parameters(flowsched_experiment::PROBE);
    format!("# The experiment file\n\n{intro}\n\n{keys}\n{probe}{probe_keys}\n{vary}")
}

fn schemes() -> String {
    let mut text = String::from(
        "# Schemes\n\nA `[[scheme]]` table starts from a preset and may exchange its parts.\n\n\
         ## Presets\n\n",
    );
    let rows = PRESETS.iter().map(|preset| {
        let parts = preset.parts.map(|part| format!("`{part}`")).join(", ");
        let settings: Vec<String> =
            settings_of(preset).iter().map(|setting| format!("`{setting}`")).collect();
        vec![
            format!("`{}`", preset.name),
            preset.about.into(),
            parts,
            settings.join(", "),
            preset.source.into(),
        ]
    });
    let heads =
        ["preset", "description", "tagger, transport, port, controller", "settings", "source"];
    text.push_str(&table(&heads, rows));
    text.push_str("\n## Keys of every scheme\n\n");
    text.push_str(&parameters(COMMON));
    text.push_str(
        "\n## As fluids\n\nWith `engine = \"fluid\"` the discipline of a scheme follows from its \
         parts. Keys that concern packets have no effect.\n\n",
    );
    let rows = PRESETS.iter().map(|preset| vec![format!("`{}`", preset.name), as_fluid(preset)]);
    text.push_str(&table(&["preset", "discipline"], rows));
    text.push('\n');
    let rows = DISCIPLINES.iter().map(|discipline| {
        let (about, source) = (discipline.about.into(), discipline.source.into());
        vec![format!("`{}`", discipline.name), about, source]
    });
    text.push_str(&table(&["`discipline`", "description", "source"], rows));
    for role in Role::ALL {
        text.push_str(&format!("\n## {} parts\n\n", capitalised(role.key())));
        let parts = parts().filter(|part| part.role == role);
        let rows = parts
            .map(|part| vec![format!("`{}`", part.name), part.about.into(), part.source.into()]);
        let head = format!("`{}`", role.key());
        text.push_str(&table(&[&head, "description", "source"], rows));
        for (owners, keys) in groups(role) {
            let owners: Vec<String> = owners.iter().map(|name| format!("`{name}`")).collect();
            text.push_str(&format!("\n### Keys of {}\n\n", owners.join(", ")));
            text.push_str(&parameters(keys));
        }
    }
    text
}

fn workloads() -> String {
    let mut text = String::from("# Workloads\n\n## Keys of `[workload]`\n\n");
    text.push_str(&parameters(PARAMETERS));
    text.push_str(
        "\n## Parts\n\nA `[[workload.part]]` has the keys of `[workload]` except `trace`, \
         `warm_up_flows`, `cool_down_flows` and `size_parts`, and takes missing keys from there. The \
         exception is `flows`: parts without it share the flows of `[workload]`, in the order of their arrivals. \
         With parts or listed flows, `[workload]` itself has no flows.\n\n",
    );
    text.push_str(&parameters(&[PART_NAME, SHARE]));
    text.push_str("\n## Keys of `[[workload.flow]]`\n\n");
    text.push_str(&parameters(LISTED_PARAMETERS));
    text.push_str("\n## Flow sizes\n\n");
    let built_in = BUILT_IN
        .iter()
        .map(|sizes| vec![format!("`{}`", sizes.name), sizes.about.into(), sizes.source.into()]);
    let forms = FORMS
        .iter()
        .map(|form| vec![format!("`{}`", form.usage), form.about.into(), String::new()]);
    let file = "a CDF file: one size in bytes and its cumulative probability per line".to_owned();
    let file = std::iter::once(vec!["a file's path".to_owned(), file, String::new()]);
    text.push_str(&table(&["`sizes`", "description", "source"], built_in.chain(forms).chain(file)));
    text.push_str(&shares_of_small_flows());
    text.push_str("\n## Deadlines\n\n");
    let forms =
        DEADLINE_FORMS.iter().map(|form| vec![format!("`{}`", form.usage), form.about.into()]);
    text.push_str(&table(&["`deadlines`", "description"], forms));
    text.push_str("\n## Patterns\n\n");
    let patterns = PATTERNS.iter().map(|pattern| {
        let keys: Vec<String> = pattern.own_keys.iter().map(|key| format!("`{key}`")).collect();
        vec![
            format!("`{}`", pattern.name),
            pattern.about.into(),
            keys.join(", "),
            pattern.source.into(),
        ]
    });
    text.push_str(&table(&["`pattern`", "description", "own keys", "source"], patterns));
    text
}

/// The table of the shares of flows and bytes that small flows have in each distribution.
fn shares_of_small_flows() -> String {
    let mut columns = vec!["`sizes`".to_owned()];
    columns.extend(LIMITS.map(|(limit, _)| format!("flows below {limit}")));
    columns.extend(LIMITS.map(|(limit, _)| format!("bytes of flows below {limit}")));
    let percent = |share: f64| format!("{:.3}%", 100.0 * share);
    let row = |built_in: &BuiltIn| {
        let sizes = built_in.sizes();
        let mut row = vec![format!("`{}`", built_in.name)];
        row.extend(LIMITS.map(|(_, limit)| percent(sizes.below(limit))));
        row.extend(LIMITS.map(|(_, limit)| percent(sizes.share_of_bytes_below(limit))));
        row
    };
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    "\n### Shares of small flows\n\n".to_owned() + &table(&columns, BUILT_IN.iter().map(row))
}

fn topologies() -> String {
    let mut text = String::from("# Topologies\n\n## Keys of every topology\n\n");
    let of_all: Vec<Parameter> =
        [flowsched_experiment::KIND, ROUTING].into_iter().chain(LOSS.iter().copied()).collect();
    text.push_str(&parameters(&of_all));
    for kind in TOPOLOGIES {
        let (name, about, source) = (kind.name, kind.about, kind.source);
        text.push_str(&format!("\n## `kind = \"{name}\"`\n\n{about} ({source})\n\n"));
        text.push_str(&parameters(kind.parameters));
    }
    text
}

fn results() -> String {
    let keys = SUMMARY
        .iter()
        .map(|key| vec![format!("`{}`", key.path), key.unit.to_owned(), key.about.to_owned()]);
    format!(
        "# Results\n\nWith `engine = \"fluid\"` there are no packets, and packet columns are 0: \
         `retransmissions`, `timeouts`, `queue_bytes`, `queue_packets`, `tx_packets`, `drops`, \
         `ecn_marks`, `packet_hops`. A flow that was given up for its deadline is unfinished.\n\n\
         What the lab does not count is null in summary.json, a dash in the printed tables, and 0 in \
         flows.parquet: `packets_lost`; with the kernel's TCP also the other columns from `packets_arrived` to \
         `third_duplicate_acks`; of flows that memcached serves also `retransmissions` and `timeouts`. Outside a \
         tunnel (EPN), the lab still counts the kernel's data packets over all flows of a run together, unmeasured \
         ones included: `arrived`, `marked`, `marked_again` and `reordered` of `runs[].packets`, and with memcached \
         `runs[].retransmissions`.\n\n\
         ## flows.parquet\n\nOne row per flow and run. Varied keys come first, a column for each, with \
         the key's name: integers, floats or text, whatever fits all values.\n\n{}\n\
         ## ports.parquet\n\nOne row per port, sample time and run, with the columns of varied keys as \
         in flows.parquet.\n\n{}\n## probe_ports.parquet\n\nWith a \
         `[probe]` that names ports: one row per recorded port and time.\n\n{}\n\
         ## probe_flows.parquet\n\nWith a `[probe]` that names flows: one row per recorded flow and time, \
         while the flow is under way.\n\n{}\n## summary.json\n\n{}",
        columns(FLOWS),
        columns(PORTS),
        columns(PROBE_PORTS),
        columns(PROBE_FLOWS),
        table(&["key", "unit", "meaning"], keys),
    )
}

fn columns<R>(columns: &[Column<R>]) -> String {
    let row = |column: &Column<R>| {
        vec![format!("`{}`", column.name), column.unit.to_owned(), column.about.to_owned()]
    };
    table(&["column", "unit", "meaning"], columns.iter().map(row))
}

fn parameters(parameters: &[Parameter]) -> String {
    let rows = parameters.iter().map(|parameter| {
        let default = parameter.default.map(|text| format!("`{}`", default_of(parameter, text)));
        vec![
            format!("`{}`", parameter.name),
            parameter.kind.allowed(),
            default.unwrap_or_default(),
            parameter.about.to_owned(),
            parameter.source.to_owned(),
        ]
    });
    table(&["key", "values", "default", "meaning", "source of the default"], rows)
}

fn table(heads: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
    let mut text = line(&heads);
    text.push_str(&line(&vec!["---".to_owned(); heads.len()]));
    rows.for_each(|row| text.push_str(&line(&row)));
    text
}

fn capitalised(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}
