//! Finds out which queueing disciplines the kernel has.

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;

use libbpf_rs::btf::{Btf, BtfType};

/// The disciplines that matter here, and whether the kernel has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds {
    pub(crate) tbf: bool,
    pub(crate) prio: bool,
    pub(crate) ets: bool,
    pub(crate) red: bool,
    pub(crate) htb: bool,
    pub(crate) codel: bool,
}

impl Kinds {
    /// Tries each discipline on the loopback of a network namespace of its own. This may load
    /// modules, but touches no interface. If namespaces are not allowed, looks for the kernel's
    /// types and for the modules' files.
    pub(crate) fn of_this_kernel() -> Kinds {
        let types = Btf::from_vmlinux().ok();
        let has = |kind: &str, state: &str, options: &str| {
            tried(kind, options).unwrap_or_else(|| {
                is_built_in(types.as_ref(), state) || is_module(&format!("sch_{kind}"))
            })
        };
        let red = "limit 400kb min 30kb max 90kb avpkt 1500 burst 40 bandwidth 1gbit";
        Kinds {
            tbf: has("tbf", "tbf_sched_data", "rate 1gbit burst 100kb limit 1mb"),
            prio: has("prio", "prio_sched_data", "bands 3"),
            ets: has("ets", "ets_sched", "bands 3 strict 3"),
            red: has("red", "red_sched_data", red),
            htb: has("htb", "htb_sched", "default 1"),
            codel: has("codel", "codel_sched_data", "ecn ce_threshold 100us"),
        }
    }
}

impl fmt::Display for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [
            ("tbf", self.tbf),
            ("prio", self.prio),
            ("ets", self.ets),
            ("red", self.red),
            ("htb", self.htb),
            ("codel", self.codel),
        ];
        let there: Vec<&str> = all.iter().filter(|(_, has)| *has).map(|(kind, _)| *kind).collect();
        f.write_str(&there.join(" "))
    }
}

/// Whether the discipline can be added; `None` if namespaces are not allowed.
fn tried(kind: &str, options: &str) -> Option<bool> {
    let script = format!("tc qdisc add dev lo root {kind} {options}");
    let allowed = Command::new("unshare").args(["--net", "true"]).output().ok()?;
    if !allowed.status.success() {
        return None;
    }
    let output = Command::new("unshare").args(["--net", "sh", "-c", &script]).output().ok()?;
    Some(output.status.success())
}

/// Whether a discipline is built into the kernel. The kernel then has the type of its state.
fn is_built_in(types: Option<&Btf<'_>>, state: &str) -> bool {
    types.is_some_and(|types| types.type_by_name::<BtfType<'_>>(state).is_some())
}

/// Whether there is a module, loaded or not.
fn is_module(module: &str) -> bool {
    let release = nix::sys::utsname::uname()
        .map(|names| names.release().to_string_lossy().into_owned())
        .unwrap_or_default();
    let loaded = Path::new("/sys/module").join(module);
    loaded.exists()
        || ["modules.builtin", "modules.dep"].iter().any(|file| {
            let list = fs::read_to_string(format!("/lib/modules/{release}/{file}"));
            list.is_ok_and(|list| list.contains(&format!("/{module}.ko")))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_says_of_itself_is_what_it_does() {
        let Ok(types) = Btf::from_vmlinux() else {
            eprintln!("skipped: this kernel has no BTF");
            return;
        };
        assert!(!is_built_in(Some(&types), "no_sched_data") && !is_module("sch_no"));
        for (kind, state, options) in
            [("htb", "htb_sched", "default 1"), ("prio", "prio_sched_data", "bands 3")]
        {
            let said = is_built_in(Some(&types), state) || is_module(&format!("sch_{kind}"));
            match tried(kind, options) {
                Some(does) => assert_eq!(said, does, "{kind}"),
                None => eprintln!("skipped: no namespace to try {kind} in"),
            }
        }
    }
}
