//! Which queueing disciplines the kernel has.

use std::fmt;
use std::fs;
use std::process::Command;

/// Those that matter here.
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
    /// Tries each on the loopback of a network namespace of its own, which may load modules and
    /// touches no interface. Where that is not allowed, looks for the modules' files.
    pub(crate) fn of_this_kernel() -> Kinds {
        let has = |kind: &str, options: &str| {
            tried(kind, options).unwrap_or_else(|| listed(&format!("sch_{kind}")))
        };
        Kinds {
            tbf: has("tbf", "rate 1gbit burst 100kb limit 1mb"),
            prio: has("prio", "bands 3"),
            ets: has("ets", "bands 3 strict 3"),
            red: has("red", "limit 400kb min 30kb max 90kb avpkt 1500 burst 40 bandwidth 1gbit"),
            htb: has("htb", "default 1"),
            codel: has("codel", "ecn ce_threshold 100us"),
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

/// `None` where there may be no namespace.
fn tried(kind: &str, options: &str) -> Option<bool> {
    let script = format!("tc qdisc add dev lo root {kind} {options}");
    let allowed = Command::new("unshare").args(["--net", "true"]).output().ok()?;
    if !allowed.status.success() {
        return None;
    }
    let output = Command::new("unshare").args(["--net", "sh", "-c", &script]).output().ok()?;
    Some(output.status.success())
}

fn listed(module: &str) -> bool {
    let release = nix::sys::utsname::uname()
        .map(|names| names.release().to_string_lossy().into_owned())
        .unwrap_or_default();
    ["modules.builtin", "modules.dep"].iter().any(|file| {
        let list = fs::read_to_string(format!("/lib/modules/{release}/{file}"));
        list.is_ok_and(|list| list.contains(&format!("/{module}.ko")))
    })
}
