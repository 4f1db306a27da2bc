//! The example of a scheme outside the workspace, and the page that leads through it: the page has
//! every file of the example, and the program prints the table of the page.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn example() -> PathBuf {
    repository().join("examples/own-scheme")
}

fn page() -> String {
    fs::read_to_string(repository().join("docs/src/how-to/own-scheme.md")).unwrap()
}

/// The code blocks that follow a line with nothing but a file's name in bold: ``**`src/main.rs`**``.
fn files_of(page: &str) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let name = line.strip_prefix("**`").and_then(|line| line.strip_suffix("`**"));
        let Some(name) = name else { continue };
        let opening = lines.find(|line| !line.is_empty());
        assert!(opening.is_some_and(|line| line.starts_with("```")), "no code follows {name}");
        let code = lines.by_ref().take_while(|line| *line != "```");
        let text: String = code.map(|line| format!("{line}\n")).collect();
        assert!(files.insert(name.to_owned(), text).is_none(), "{name} twice");
    }
    files
}

/// What the page says that the program prints.
fn output_of(page: &str) -> &str {
    let (_, output) = page.split_once("$ cargo run --release\n").expect("a call of the program");
    output.split_once("```").expect("an end of the output").0
}

/// The files of the example that a reader writes.
fn files_in(folder: &Path) -> BTreeMap<String, String> {
    let sources = fs::read_dir(folder.join("src")).unwrap().map(|entry| entry.unwrap().path());
    let others = ["Cargo.toml", "experiment.toml"].map(|name| folder.join(name));
    let relative = |path: &Path| path.strip_prefix(folder).unwrap().display().to_string();
    let file = |path: PathBuf| (relative(&path), fs::read_to_string(&path).unwrap());
    others.into_iter().chain(sources).map(file).collect()
}

#[test]
fn the_page_has_every_file_of_the_example() {
    let (page, example) = (files_of(&page()), files_in(&example()));
    let names = |files: &BTreeMap<String, String>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&page), names(&example), "files of the page, and of the example");
    for (name, text) in &page {
        assert_eq!(*text, example[name], "{name} of the page, and of the example");
    }
}

/// Builds the example with the versions, the profile and the target folder of the workspace, so that
/// other libraries that both need are there already. The workspace's own crates are built once more, so they are not
/// optimised: optimising the simulator takes minutes.
#[test]
fn the_program_prints_the_table_of_the_page() {
    fs::copy(repository().join("Cargo.lock"), example().join("Cargo.lock")).unwrap();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline", "--manifest-path"])
        .arg(example().join("Cargo.toml"))
        .args(["--config", "profile.dev.package.\"*\".opt-level=0"])
        .args(["--config", "profile.dev.package.\"*\".debug=false"])
        .env("CARGO_TARGET_DIR", target)
        .current_dir(&folder)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !errors.contains("warning"), "{errors}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), output_of(&page()));
    let results = folder.path().join("results/own-scheme");
    assert!(results.join("flows.parquet").is_file(), "results as `flowsched run` leaves them");
}
