//! Pages of the reference, generated from the lists that files are checked against.

use flowsched_experiment::results::{Column, FLOWS, PORTS, SUMMARY};
use flowsched_schemes::combination::COMMON;
use flowsched_schemes::discipline::DISCIPLINES;
use flowsched_schemes::{PRESETS, Role, parts};
use flowsched_topology::{LOSS, ROUTING, TOPOLOGIES};
use flowsched_units::Parameter;
use flowsched_workload::sizes::{BUILT_IN, FORMS};
use flowsched_workload::{
    DEADLINE_FORMS, LISTED_PARAMETERS, PARAMETERS, PART_NAME, PATTERNS, SHARE,
};

use crate::arguments::Page;
use crate::list::{as_fluid, default_of, groups, settings_of};

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
    let intro = "Keys before the first table. Times are written with a unit (ps, ns, us, ms, s), \
                 rates too (bps, Kbps, Mbps, Gbps, Tbps), and so are sizes (B, KB, MB, GB in powers \
                 of 1000, KiB, MiB, GiB in powers of 1024, pkt).";
    let vary = "## What varies\n\nA table `[vary]` gives keys several values, as `--vary` does: \
                `workload.load = \"0.5..0.9:0.1\"` or `topology.routing = \"spray,ecmp\"`. Every \
                combination is a point.\n\n## A small form\n\nA table `[quick]` gives keys other \
                values, which `--quick` puts in the place of the file's own, varied ones \
                included: `workload.flows = 1000`. `--set` and `--vary` go before it.\n";
    let keys = parameters(flowsched_experiment::PARAMETERS);
    format!("# The experiment file\n\n{intro}\n\n{keys}\n{vary}")
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
    let heads = ["preset", "what it is", "tagger, transport, port, controller", "with", "source"];
    text.push_str(&table(&heads, rows));
    text.push_str("\n## Keys of every scheme\n\n");
    text.push_str(&parameters(COMMON));
    text.push_str(
        "\n## As fluids\n\nWith `engine = \"fluid\"` a scheme is what its parts come down to, and \
         keys that are about packets have no effect.\n\n",
    );
    let rows = PRESETS.iter().map(|preset| vec![format!("`{}`", preset.name), as_fluid(preset)]);
    text.push_str(&table(&["preset", "flows share links by"], rows));
    text.push('\n');
    let rows = DISCIPLINES.iter().map(|discipline| {
        let (about, source) = (discipline.about.into(), discipline.source.into());
        vec![format!("`{}`", discipline.name), about, source]
    });
    text.push_str(&table(&["`discipline`", "what it is", "source"], rows));
    for role in Role::ALL {
        text.push_str(&format!("\n## {} parts\n\n", capitalised(role.key())));
        let parts = parts().filter(|part| part.role == role);
        let rows = parts
            .map(|part| vec![format!("`{}`", part.name), part.about.into(), part.source.into()]);
        let head = format!("`{}`", role.key());
        text.push_str(&table(&[&head, "what it is", "source"], rows));
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
        "\n## Parts\n\nA `[[workload.part]]` has every key of `[workload]` but `trace`, \
         `warm_up_flows` and `cool_down_flows`, and takes from there what it does not say itself. \
         Only `flows` is its own: parts without it share those of `[workload]`, as their arrivals \
         come. With parts, or flows that are listed, `[workload]` itself has no flows.\n\n",
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
    let file = "a CDF file: a pair of a size in bytes and a probability a line".to_owned();
    let file = std::iter::once(vec!["a file's path".to_owned(), file, String::new()]);
    text.push_str(&table(&["`sizes`", "what it is", "source"], built_in.chain(forms).chain(file)));
    text.push_str("\n## Deadlines\n\n");
    let forms =
        DEADLINE_FORMS.iter().map(|form| vec![format!("`{}`", form.usage), form.about.into()]);
    text.push_str(&table(&["`deadlines`", "what it is"], forms));
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
    text.push_str(&table(&["`pattern`", "what it is", "its own keys", "source"], patterns));
    text
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
        "# Results\n\nWith `engine = \"fluid\"` there are no packets, and what is about them is 0: \
         `retransmissions`, `timeouts`, `queue_bytes`, `queue_packets`, `tx_packets`, `drops`, \
         `ecn_marks`, `packet_hops`. A flow that was given up for its deadline is unfinished.\n\n\
         ## flows.parquet\n\nOne row per flow and run. Before these columns stands one for each varied \
         key, named after it: integers, floats or text, as all its values can be read.\n\n{}\n\
         ## ports.parquet\n\nOne row per port, sample time and run, with the columns of varied keys as \
         in flows.parquet.\n\n{}\n## summary.json\n\n{}",
        columns(FLOWS),
        columns(PORTS),
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
    table(&["key", "what is allowed", "default", "meaning", "source of the default"], rows)
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
