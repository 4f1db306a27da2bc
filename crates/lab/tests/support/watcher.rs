//! Watches namespaces until the kernel removes them, whatever keeps them: processes, files, mounts or sockets.

use std::collections::BTreeSet;
use std::fs;

use crate::shell::{Keeper, sh};

/// The network namespaces in which a process has a thread or an open file, by inode.
pub fn namespaces_of(process: u32) -> BTreeSet<String> {
    let links = format!("ls -l /proc/{process}/fd /proc/{process}/task/*/ns/net 2>/dev/null");
    let text = sh(&format!("{links} | grep -o 'net:\\[[0-9]*\\]' || true"));
    text.lines().map(str::to_owned).collect()
}

/// A namespace of the test, in which other namespaces have numbers. The kernel takes a number back when its namespace
/// is gone.
pub struct Watcher(Keeper);

impl Watcher {
    /// Watches the namespaces in `held` that are not in `own`. The process `holder` has a file of each.
    pub fn watch(holder: u32, held: &BTreeSet<String>, own: &BTreeSet<String>) -> Watcher {
        let watcher = Watcher(Keeper::start(&["--net"], "true"));
        let wanted: Vec<&String> = held.difference(own).collect();
        for entry in fs::read_dir(format!("/proc/{holder}/fd")).unwrap() {
            let path = entry.unwrap().path();
            let target = fs::read_link(&path).unwrap().to_string_lossy().into_owned();
            if let Some(number) = wanted.iter().position(|name| **name == target) {
                let enter =
                    format!("nsenter --net=/proc/{}/ns/net unshare --mount", watcher.0.id());
                // `ip` only takes names in /run/netns, so this makes a link there, in a /run that only this command
                // sees.
                let link = format!("ln -s {} /run/netns/it", path.display());
                let script = format!(
                    "mount -t tmpfs none /run && mkdir /run/netns && {link} && ip netns set it {number}"
                );
                sh(&format!("{enter} sh -c '{script}'"));
            }
        }
        assert_eq!(watcher.numbers(), wanted.len());
        watcher
    }

    /// The number of watched namespaces that are there.
    pub fn numbers(&self) -> usize {
        let list = format!("nsenter --net=/proc/{}/ns/net ip netns list-id", self.0.id());
        sh(&list).lines().filter(|line| line.contains("nsid")).count()
    }
}
