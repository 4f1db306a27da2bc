//! The previous queueing of an interface, as the `tc` commands that restore it. Queueing that could
//! not be restored is refused before anything changes.

use super::tc::{self, Command, command};
use crate::error::AgentError;

/// Disciplines whose options `tc` reads as it prints them, apart from those that [`options`]
/// corrects.
const KNOWN: [&str; 10] =
    ["pfifo", "bfifo", "pfifo_fast", "fq", "fq_codel", "codel", "tbf", "prio", "htb", "ets"];

/// The positions of the parent's and the class's name in `class add dev eth0 parent 1:1 classid
/// 1:10`.
const PARENT_WORD: usize = 5;
const CLASS_WORD: usize = 7;

/// The commands that restore what is on `interface` now.
///
/// # Errors
/// If something cannot be restored.
pub(super) fn read(interface: &str) -> Result<Vec<Command>, AgentError> {
    let show = |what: &str| tc::run(&command(&format!("{what} show dev {interface}")));
    let qdiscs = show("qdisc")?;
    // `tc` shows only the filters of the root, unless a parent is given.
    let mut filters = String::new();
    for handle in own(&qdiscs).iter().map(|words| words[2]).filter(|handle| *handle != "0:") {
        let shown = tc::run(&command(&format!("filter show dev {interface} parent {handle}")));
        // `tc` fails for disciplines that cannot have filters.
        filters.push_str(&shown.unwrap_or_default());
    }
    commands(interface, &qdiscs, &show("class")?, &filters)
}

/// The disciplines in which packets queue, as lists of words.
fn own(qdiscs: &str) -> Vec<Vec<&str>> {
    qdiscs
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|words| words.len() > 3 && !["clsact", "ingress"].contains(&words[1]))
        .collect()
}

fn commands(
    interface: &str,
    qdiscs: &str,
    classes: &str,
    filters: &str,
) -> Result<Vec<Command>, AgentError> {
    let refuse = |what: &str| {
        AgentError::Missing(format!(
            "{interface} has {what}, which could not be put back later; remove it first"
        ))
    };
    let mut all = vec![command(&format!("qdisc del dev {interface} root"))];
    let own = own(qdiscs);
    // Disciplines with handle 0: are the kernel's own, and it makes them again.
    let Some(root) = own.iter().find(|words| words[3] == "root" && words[2] != "0:") else {
        return Ok(all);
    };
    if !filters.trim().is_empty() {
        return Err(refuse("filters"));
    }
    if let Some(unknown) = own.iter().find(|words| !KNOWN.contains(&words[1])) {
        return Err(refuse(&format!("the discipline {}", unknown[1])));
    }
    let (kind, handle) = (root[1], root[2]);
    all.push(command(&format!(
        "qdisc add dev {interface} root handle {handle} {kind} {}",
        options(kind, &root[4..])
    )));
    let mut missing: Vec<Command> = classes
        .lines()
        .filter(|line| line.starts_with("class htb"))
        .map(|line| class(interface, handle, line))
        .collect();
    // `tc` lists classes in no order, but a parent must exist before its children.
    while let Some(next) = missing.iter().position(|one| {
        let parent = &one[PARENT_WORD];
        !missing.iter().any(|other| other[CLASS_WORD] == *parent)
    }) {
        all.push(missing.remove(next));
    }
    let children = own.iter().filter(|words| words[3] == "parent" && words[2] != "0:");
    for words in children {
        all.push(command(&format!(
            "qdisc replace dev {interface} parent {} handle {} {} {}",
            words[4],
            words[2],
            words[1],
            options(words[1], &words[5..])
        )));
    }
    Ok(all)
}

/// Converts a line such as `class htb 1:10 parent 1:1 leaf 10: prio 0 rate 1Gbit ceil 1Gbit burst
/// 1375b cburst 1375b`.
fn class(interface: &str, root: &str, line: &str) -> Command {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut parent = root;
    let mut rest = Vec::new();
    let mut at = 3;
    while at < words.len() {
        match words[at] {
            "root" => {}
            "parent" => {
                at += 1;
                parent = words[at];
            }
            "leaf" => at += 1,
            word => rest.push(word),
        }
        at += 1;
    }
    command(&format!(
        "class add dev {interface} parent {parent} classid {} htb {}",
        words[2],
        rest.join(" ")
    ))
}

/// Converts options from the form that `tc` prints to the form that it reads.
fn options(kind: &str, printed: &[&str]) -> String {
    let mut read = Vec::new();
    let mut words = printed.iter();
    while let Some(word) = words.next() {
        match *word {
            "refcnt" | "direct_packets_stat" => {
                words.next();
            }
            "direct_qlen" if kind == "htb" => {
                read.extend(["direct_qlen".to_owned(), (*words.next().unwrap_or(&"1000")).into()]);
            }
            "lat" => read.push("latency".into()),
            word if is_count(word) => read.push(word.trim_end_matches(['p', 'b']).to_owned()),
            // pfifo_fast takes no options, but prints its map.
            _ if kind == "pfifo_fast" => {}
            word => read.push(word.to_owned()),
        }
    }
    read.join(" ")
}

/// Whether the word is a count such as `1000p` or `1514b`. `tc` prints these for packets and bytes,
/// but does not read them everywhere.
fn is_count(word: &str) -> bool {
    word.strip_suffix(['p', 'b'])
        .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(qdiscs: &str, classes: &str) -> Vec<String> {
        let commands = commands("eth0", qdiscs, classes, "").unwrap();
        commands.iter().map(|command| command.join(" ")).collect()
    }

    #[test]
    fn the_kernels_own_is_left_to_the_kernel() {
        let mq = "qdisc mq 0: root\nqdisc fq_codel 0: parent :1 limit 10240p\n";
        assert_eq!(texts(mq, ""), ["qdisc del dev eth0 root"]);
        assert_eq!(texts("qdisc clsact ffff: parent ffff:fff1\n", ""), ["qdisc del dev eth0 root"]);
    }

    #[test]
    fn an_operators_own_is_made_again() {
        let qdiscs = "qdisc htb 1: root refcnt 2 r2q 10 default 0x10 direct_packets_stat 7 \
                      direct_qlen 1000\nqdisc pfifo 10: parent 1:10 limit 100p\n";
        let classes = "class htb 1:10 parent 1:1 leaf 10: prio 0 rate 1Mbit ceil 1Gbit\n\
                       class htb 1:1 root rate 1Gbit ceil 1Gbit burst 1375b cburst 1375b\n";
        assert_eq!(
            texts(qdiscs, classes)[1..],
            [
                "qdisc add dev eth0 root handle 1: htb r2q 10 default 0x10 direct_qlen 1000",
                "class add dev eth0 parent 1: classid 1:1 htb rate 1Gbit ceil 1Gbit burst 1375b \
                 cburst 1375b",
                "class add dev eth0 parent 1:1 classid 1:10 htb prio 0 rate 1Mbit ceil 1Gbit",
                "qdisc replace dev eth0 parent 1:10 handle 10: pfifo limit 100",
            ]
        );
    }

    #[test]
    fn what_cannot_be_made_again_is_refused() {
        let qdisc = "qdisc sfb 1: root limit 1p\n";
        assert!(commands("eth0", qdisc, "", "").is_err());
        assert!(commands("eth0", "qdisc prio 1: root bands 3\n", "", "filter u32\n").is_err());
    }
}
