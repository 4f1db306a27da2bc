//! Pages for tests: written from a made-up study, and read by a browser or as text.

// Each test file uses some of this.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use flowsched_experiment::results::{self, PortsOfRun, RunRecord};

use crate::synthetic::Study;

/// Writes a study to a folder of that name, after some `change`, and reports on it.
pub fn report(
    name: &str,
    study: &Study,
    change: impl FnOnce(&mut Vec<(RunRecord, PortsOfRun)>),
) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if dir.exists() {
        fs::remove_dir_all(&dir).unwrap();
    }
    let mut runs = study.runs();
    change(&mut runs);
    results::write(&dir, &study.meta(), runs).unwrap();
    let page = flowsched_report::html(&dir).unwrap();
    assert!(fs::metadata(&page).unwrap().len() < 2_100_000, "the page of {name} is too large");
    page
}

/// Runs the browser on `page` and returns what it prints and what it complains about.
pub fn browse(page: &Path, arguments: &[String]) -> (String, String) {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new("chromium")
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
        .args(["--disable-background-networking", "--disable-component-update"])
        .args(["--enable-logging=stderr", "--log-level=0"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(arguments)
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("chromium runs; scripts/install-report-deps.sh installs it");
    assert!(output.status.success(), "chromium failed");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// The page as the browser understood it. Asserts that the browser's console is empty.
pub fn dom(page: &Path) -> String {
    let (dom, log) = browse(page, &["--dump-dom".to_owned()]);
    let console: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(console.is_empty(), "{console:?}");
    assert!(dom.contains("</footer>"), "the page ends early");
    dom
}

/// A chart that is drawn on a page.
pub struct Chart {
    /// The drawing, as it stands in the page.
    pub svg: String,
    pub caption: String,
    /// Its data: the heading, then the rows.
    pub data: Vec<Vec<String>>,
}

impl Chart {
    /// The values of a column.
    pub fn column(&self, name: &str) -> Vec<&str> {
        let place = self.data[0].iter().position(|column| column == name);
        let place = place.unwrap_or_else(|| panic!("no {name} in {:?}", self.data[0]));
        self.data[1..].iter().map(|row| row[place].as_str()).collect()
    }

    /// The values of a column, as numbers.
    pub fn numbers(&self, name: &str) -> Vec<f64> {
        self.column(name).iter().map(|value| value.parse().unwrap()).collect()
    }
}

/// The charts of a page that are drawn.
pub fn charts(page: &Path) -> Vec<Chart> {
    let text = fs::read_to_string(page).unwrap();
    let figures = text.split("<figure").skip(1).filter(|figure| figure.contains("<svg"));
    figures.map(chart).collect()
}

/// The chart whose drawing is called `title`.
pub fn chart_called(page: &Path, title: &str) -> Chart {
    let title = format!("<title>{title}</title>");
    let found = charts(page).into_iter().find(|chart| chart.svg.contains(&title));
    found.unwrap_or_else(|| panic!("there is no {title}"))
}

fn chart(figure: &str) -> Chart {
    let between = |start: &str, end: &str| {
        let from = figure.find(start).unwrap() + start.len();
        let to = from + figure[from..].find(end).unwrap();
        figure[from..to].to_owned()
    };
    let data = plain(&between("<template>", "</template>"));
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(data.as_bytes());
    let row = |row: Result<csv::StringRecord, _>| row.unwrap().iter().map(str::to_owned).collect();
    Chart {
        svg: format!("<svg{}</svg>", between("<svg", "</svg>")),
        caption: plain(&between("<figcaption>", "</figcaption>")),
        data: reader.records().map(row).collect(),
    }
}

fn plain(escaped: &str) -> String {
    let text = escaped.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    text.replace("&amp;", "&")
}
