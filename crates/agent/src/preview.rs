//! Shows what a configuration would select on this machine now: interfaces, control groups, and
//! connections.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::attach::{self, Hook};
use crate::config::{Config, Selection};
use crate::entry::{Entry, Side};
use crate::finding::Finding;
use crate::interfaces;
use crate::select;

/// The most entries of a list that are shown.
const SHOWN: usize = 8;

/// The interfaces that would be tagged, each once.
pub(crate) fn interfaces(config: &Config, hook: Option<Hook>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut shown = BTreeSet::new();
    for pattern in &config.interfaces {
        let matching = interfaces::matching(std::slice::from_ref(pattern));
        if matching.is_empty() {
            let text = format!("no interface is called {pattern} yet");
            findings.push(Finding::warning("interfaces", text));
        }
        for interface in matching.into_iter().filter(|one| shown.insert(one.index)) {
            let entry = Entry::on(&interface, Side::Egress).name();
            let by = hook.map_or_else(String::new, |hook| {
                let others = attach::count_on_tcx(&interface);
                format!(", by {hook}; {others} programs are there on tcx")
            });
            let text = format!("{} ({entry}){by}", interface.name);
            findings.push(Finding::ok("interfaces", text));
        }
    }
    findings
}

/// The packets that would be tagged, and the connections that they belong to.
pub(crate) fn selection(selection: &Selection) -> Vec<Finding> {
    let mut findings = Vec::new();
    let ports = selection.ports.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    let prefixes = selection.prefixes.iter().map(|(address, length)| format!("{address}/{length}"));
    for (about, listed) in
        [("select.ports", ports.collect::<Vec<_>>()), ("select.prefixes", prefixes.collect())]
    {
        let text = if listed.is_empty() { "all".into() } else { shortened(&listed) };
        findings.push(Finding::ok(about, text));
    }
    if selection.cgroups.is_empty() {
        findings.push(Finding::ok("select.cgroups", "all".into()));
    }
    findings.extend(selection.cgroups.iter().map(|path| cgroup(path)));
    findings.push(match connections(!selection.cgroups.is_empty()) {
        Ok(all) => {
            let selected = all.iter().filter(|one| one.is_selected(selection)).count();
            let text =
                format!("{selected} of {} established TCP connections of this host", all.len());
            Finding::ok("selected", text)
        }
        Err(reason) => Finding::warning("selected", format!("connections not counted: {reason}")),
    });
    findings
}

fn shortened(listed: &[String]) -> String {
    let shown = listed.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match listed.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn cgroup(path: &Path) -> Finding {
    let about = "select.cgroups";
    let Some(folder) = select::cgroup_folder(path) else {
        let text = "no hierarchy of version 2 is mounted: nothing is selected";
        return Finding::warning(about, format!("{}: {text}", path.display()));
    };
    let depth = select::cgroup_name(path).components().count();
    match select::cgroup_id(path) {
        None => Finding::warning(about, format!("{} does not exist yet", folder.display())),
        Some(_) if depth > select::CGROUP_DEPTH => Finding::warning(
            about,
            format!(
                "{} is {depth} levels deep: groups below level {} are never selected",
                folder.display(),
                select::CGROUP_DEPTH
            ),
        ),
        Some(id) => Finding::ok(about, format!("{} (id {id})", folder.display())),
    }
}

/// An established TCP connection of this host.
#[derive(Debug, PartialEq, Eq)]
struct Connection {
    local: SocketAddr,
    remote: SocketAddr,
    cgroup: Option<PathBuf>,
}

impl Connection {
    /// Parses a line of the output of `ss`: queue lengths, both addresses, and the control group.
    fn parse(line: &str) -> Option<Connection> {
        let mut words = line.split_whitespace().skip(2);
        let (local, remote) = (address(words.next()?)?, address(words.next()?)?);
        let cgroup = words.find_map(|word| word.strip_prefix("cgroup:")).map(PathBuf::from);
        Some(Connection { local, remote, cgroup })
    }

    fn is_selected(&self, selection: &Selection) -> bool {
        let in_range = |port: u16| selection.ports.iter().any(|(a, b)| (*a..=*b).contains(&port));
        let ports = [self.local.port(), self.remote.port()];
        let prefixes = &selection.prefixes;
        let destination = self.remote.ip();
        let is_below = |group: &PathBuf| {
            let cgroup = self.cgroup.as_ref();
            cgroup
                .is_some_and(|own| own.starts_with(Path::new("/").join(select::cgroup_name(group))))
        };
        (selection.ports.is_empty() || ports.into_iter().any(in_range))
            && (prefixes.is_empty() || prefixes.iter().any(|p| is_within(destination, *p)))
            && (selection.cgroups.is_empty() || selection.cgroups.iter().any(is_below))
    }
}

/// Parses addresses such as `10.0.0.1:80`, `[fd00::1%eth0]:80` and `[::ffff:10.0.0.1]:80`.
fn address(text: &str) -> Option<SocketAddr> {
    let (host, port) = text.rsplit_once(':')?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let host = host.split_once('%').map_or(host, |(host, _)| host);
    let address: IpAddr = host.parse().ok()?;
    Some(SocketAddr::new(address.to_canonical(), port.parse().ok()?))
}

fn is_within(address: IpAddr, (prefix, length): (IpAddr, u8)) -> bool {
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()) << 96, true),
        IpAddr::V6(address) => (address.to_bits(), false),
    };
    let ((address, is_v4), (prefix, is_v4_prefix)) = (bits(address), bits(prefix));
    let differing = (address ^ prefix).leading_zeros();
    is_v4 == is_v4_prefix && differing >= u32::from(length)
}

fn connections(with_cgroups: bool) -> Result<Vec<Connection>, String> {
    let mut command = Command::new("ss");
    command.args(["-tnH", "state", "established"]);
    if with_cgroups {
        command.arg("--cgroup");
    }
    let output = command.output().map_err(|e| format!("run ss (of iproute2): {e}"))?;
    if !output.status.success() {
        return Err(format!("ss: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(Connection::parse).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_selected(line: &str, select: &str) -> bool {
        let text = format!("interfaces = [\"lo\"]\nthresholds = \"1KB\"\n[select]\n{select}\n");
        let config = Config::parse(&text, Path::new("agent.toml")).unwrap();
        Connection::parse(line).unwrap().is_selected(&config.selection)
    }

    #[test]
    fn a_connection_is_selected_as_its_packets_are() {
        let web = "0 0 10.0.0.1:80 192.0.2.7:40000 cgroup:/system.slice/web.service";
        assert!(is_selected(web, ""));
        assert!(is_selected(web, "ports = [\"80\"]"));
        assert!(is_selected(web, "ports = [\"39999-40001\"]"));
        assert!(!is_selected(web, "ports = [\"81\"]"));
        // Prefixes select by destination, not by source.
        assert!(is_selected(web, "prefixes = [\"192.0.2.0/24\"]"));
        assert!(!is_selected(web, "prefixes = [\"10.0.0.0/8\"]"));
        assert!(!is_selected(web, "prefixes = [\"::/0\"]"));
        assert!(is_selected(web, "cgroups = [\"/system.slice\"]"));
        assert!(is_selected(web, "cgroups = [\"/sys/fs/cgroup/system.slice/web.service\"]"));
        assert!(!is_selected(web, "cgroups = [\"/system.slice/we\"]"));
        assert!(!is_selected(web, "ports = [\"80\"]\nprefixes = [\"10.0.0.0/8\"]"));
        let v6 = "0 36 [fe80::1%eth0]:22 [fe80::2]:5000";
        assert!(is_selected(v6, "prefixes = [\"fe80::/10\"]"));
        assert!(!is_selected(v6, "cgroups = [\"/system.slice\"]"));
        let mapped = "0 0 [::ffff:10.0.0.1]:80 [::ffff:192.0.2.7]:40000";
        assert!(is_selected(mapped, "prefixes = [\"192.0.2.7\"]"));
    }
}
