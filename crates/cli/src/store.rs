//! `flowsched store`: lists what a store has, and removes what is old in it.

use std::path::Path;
use std::time::Duration;

use flowsched_run::{Entry, Store};

use crate::arguments;
use crate::failure::Failure;
use crate::program::program;

/// Lists the store, or removes from it. Returns the text to print.
pub fn store(wanted: &arguments::Store) -> Result<String, Failure> {
    match wanted {
        arguments::Store::List { dir } => list(dir),
        arguments::Store::Remove { dir, older_than } => remove(dir, *older_than),
    }
}

fn list(dir: &Path) -> Result<String, Failure> {
    let entries = entries(&Store::new(dir, program()), dir)?;
    let lines = entries.iter().map(|entry| {
        let Entry { program, is_readable, is_complete, is_old, .. } = entry;
        let state = match (is_readable, is_old, is_complete) {
            (false, ..) => "unreadable",
            (true, true, _) => "old",
            (true, false, true) => "complete",
            (true, false, false) => "incomplete",
        };
        let days = entry.age.as_secs() / 86_400;
        let megabytes = entry.bytes as f64 / 1e6;
        let (version, commit) = (&program.version, &program.commit);
        let folder = entry.dir.display();
        format!("{state:<10}  {megabytes:>9.1} MB  {days:>4} d  {version} {commit:<18}  {folder}\n")
    });
    Ok(lines.collect())
}

fn remove(dir: &Path, older_than: Option<Duration>) -> Result<String, Failure> {
    let store = Store::new(dir, program());
    let is_too_old = |entry: &Entry| older_than.is_some_and(|most| entry.age > most);
    let failed = |dir: &Path| {
        let what = format!("remove {}", dir.display());
        move |source| Failure::System { what, source }
    };
    let entries = entries(&store, dir)?;
    store.finish_removals().map_err(failed(dir))?;
    let goes = |entry: &&Entry| entry.is_readable && (entry.is_old || is_too_old(entry));
    let (mut folders, mut bytes) = (0, 0);
    for entry in entries.iter().filter(goes) {
        if store.remove(entry).map_err(failed(&entry.dir))? {
            folders += 1;
            bytes += entry.bytes;
        }
    }
    Ok(format!("removed {folders} results folders, {:.1} MB\n", bytes as f64 / 1e6))
}

fn entries(store: &Store, dir: &Path) -> Result<Vec<Entry>, Failure> {
    let failed = |source| Failure::System { what: format!("read {}", dir.display()), source };
    store.entries().map_err(failed)
}
