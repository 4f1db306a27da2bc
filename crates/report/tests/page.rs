//! The HTML page, as text and in a real browser. `scripts/install-report-deps.sh` installs the
//! browser. The pages and screenshots stay in the target folder's `tmp/` for a person to see.

mod pages;
mod synthetic;

use std::fs;
use std::path::Path;

use flowsched_experiment::results::{self, Folder, Meta, PortsOfRun, ResultsError, RunRecord};
use flowsched_report::ReportError;
use flowsched_workload::FlowParts;
use pages::{browse, dom, report};
use synthetic::Study;

fn sweep() -> Study {
    Study { loads: vec!["0.5", "0.6", "0.7", "0.8", "0.9"], flows: 800, ..Study::default() }
}

/// Asserts that the page asks for no other file or host. It could only do so in one of these ways,
/// and its own policy also forbids the browser to follow.
fn assert_self_contained(page: &Path) {
    let text = fs::read_to_string(page).unwrap();
    assert_eq!(text.matches("<script").count(), 1, "the page has one script, its own");
    for way in ["<link", "<img", "<iframe", "src=", "href=", "url(", "@import"] {
        assert!(!text.contains(way), "the page has {way}");
    }
    let elsewhere = text.replace("http://www.w3.org/2000/svg", "");
    assert!(!elsewhere.contains("http:") && !elsewhere.contains("https:"));
    assert!(text.contains("default-src 'none'"));
}

fn assert_sections(dom: &str, sections: &[&str]) {
    for section in sections {
        let start = dom.find(&format!("<section id=\"{section}\">"));
        let start = start.unwrap_or_else(|| panic!("there is no section {section}"));
        let end = dom[start..].find("</section>").map_or(dom.len(), |end| start + end);
        let section_has = |what: &str| dom[start..end].contains(what);
        assert!(
            section_has("role=\"img\"") || section_has("<table") || section_has("<pre"),
            "section {section} shows nothing"
        );
    }
    let (figures, captions) = (dom.matches("<figure").count(), dom.matches("<figcaption>").count());
    assert_eq!(figures, captions, "every chart has a caption");
}

/// Takes a picture `width` pixels wide and returns it.
fn picture(page: &Path, name: &str, width: u32, dark: bool) -> Vec<u8> {
    let file = page.with_file_name(format!("{name}.png"));
    let scheme = if dark { 0 } else { 1 };
    let arguments = [
        format!("--screenshot={}", file.display()),
        format!("--window-size={width},4000"),
        format!("--blink-settings=preferredColorScheme={scheme}"),
    ];
    browse(page, &arguments);
    fs::read(file).unwrap()
}

#[test]
fn a_single_point_in_a_browser() {
    let page = report("single", &Study::default(), |_| {});
    assert_self_contained(&page);
    let dom = dom(&page);
    let sections = ["comparison", "change", "fct", "distribution", "tail", "slowdown", "queues"];
    assert_sections(&dom, &sections);
    assert_sections(&dom, &["utilisation", "drops", "marks", "sizes", "runs", "experiment"]);
    // 4 classes: change, mean, p99, p99.9, distribution, tails of FCT and slowdown; slowdown by
    // size at 2 of 3 percentiles; 4 classes of ports: queues, utilisation, drops, marks.
    assert_eq!(dom.matches("role=\"img\"").count(), 4 * 7 + 2 + 4 * 4);
    assert_eq!(dom.matches("class=\"empty\"").count(), 1, "no size has the flows for a p99.9");
    assert!(!dom.contains("class=\"save\" hidden"), "the script does not run");
    assert!(dom.contains("# &lt;the default&gt;"), "the experiment is there, escaped");

    let light = picture(&page, "light", 1280, false);
    let dark = picture(&page, "dark", 1280, true);
    assert_ne!(light, dark, "the page does not follow the reader's scheme");
    picture(&page, "narrow", 400, false);
}

#[test]
fn a_sweep_in_a_browser() {
    let page = report("sweep", &sweep(), |_| {});
    assert_self_contained(&page);
    let dom = dom(&page);
    assert_sections(&dom, &["fct", "change", "comparison", "points", "runs", "experiment"]);
    assert_sections(&dom, &["distribution-0", "marks-4"]);
    assert_eq!(dom.matches("role=\"img\"").count(), 4 * 4 + 5 * (4 * 3 + 2 + 4 * 4));
    picture(&page, "light", 1280, false);
    picture(&page, "dark", 1280, true);
}

#[test]
fn a_class_without_flows_says_so() {
    let study = Study { largest: 5e4, flows: 400, ..Study::default() };
    let page = fs::read_to_string(report("small", &study, |_| {})).unwrap();
    assert!(page.contains("No flow of this class finished under any scheme."));
    assert_sections(&page, &["change", "fct", "distribution"]);
}

#[test]
fn parts_have_a_table() {
    let study = Study { flows: 400, seeds: 1, ..Study::default() };
    let divide = |runs: &mut Vec<(RunRecord, PortsOfRun)>| {
        for (run, _) in runs {
            run.parts = FlowParts::from_names(["short"; 400]);
        }
    };
    let page = fs::read_to_string(report("parts", &study, divide)).unwrap();
    assert!(page.contains("FCT by part of the workload."));
    let (_, table) = page.split_once("FCT by part and scheme").unwrap();
    let (table, _) = table.split_once("</table>").unwrap();
    assert!(table.contains("rowgroup\">short</th>") && !table.contains("Query"), "{table}");
    assert_eq!(table.matches("scope=\"row\"").count(), study.schemes.len(), "{table}");
    let undivided = fs::read_to_string(report("undivided", &study, |_| {})).unwrap();
    assert!(!undivided.contains("FCT by part of the workload."));
}

#[test]
fn names_are_text_and_never_markup() {
    let schemes = vec!["<script>alert(1)</script>", "\"quoted\" & 'so'", "速い"];
    let study = Study { schemes, flows: 300, seeds: 1, ..Study::default() };
    let page = report("names", &study, |_| {});
    assert_self_contained(&page);
    assert_sections(&dom(&page), &["comparison", "distribution"]);
}

#[test]
fn a_long_sweep_has_some_points_in_detail() {
    let loads = vec!["0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9"];
    let study = Study { loads, seeds: 1, flows: 60, ..Study::default() };
    let page = fs::read_to_string(report("many", &study, |_| {})).unwrap();
    assert!(page.contains("Charts of 6 of the 9 points"));
}

#[test]
fn partial_results_are_marked_and_nothing_is_said_to_be_nothing() {
    let study = Study { flows: 200, seeds: 2, ..Study::default() };
    let page = report("partial", &study, |runs| runs[5].0.stopped = true);
    assert!(fs::read_to_string(page).unwrap().contains("Partial results"));
    let page = report("nothing", &study, Vec::clear);
    assert!(dom(&page).contains("There are no runs."));
    let page = report("silent", &study, |runs| {
        for (run, ports) in runs {
            ports.samples.clear();
            run.flows.clear();
        }
    });
    assert!(fs::read_to_string(page).unwrap().contains("There is nothing to draw."));
}

#[test]
fn warnings_are_at_the_top() {
    let study = Study { flows: 200, seeds: 2, ..Study::default() };
    let page = report("warnings", &study, |_| {});
    let dir = page.parent().unwrap();
    let mut summary = Folder::open(dir).unwrap().summary().clone();
    summary.warnings = vec!["The load is <b>not</b> what it seems.".to_owned()];
    fs::write(dir.join("summary.json"), summary.to_json()).unwrap();
    flowsched_report::html(dir).unwrap();
    let page = fs::read_to_string(page).unwrap();
    let warning = page.find("The load is &lt;b&gt;not&lt;/b&gt; what it seems.").unwrap();
    assert!(warning < page.find("<main>").unwrap());
}

#[test]
fn a_folder_that_is_not_ours_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let error = flowsched_report::html(dir.path()).unwrap_err();
    assert!(matches!(error, ReportError::Results(ResultsError::NotResults { .. })), "{error}");

    results::write(dir.path(), &Meta::default(), []).unwrap();
    fs::write(dir.path().join("flows.parquet"), "PAR1").unwrap();
    let error = flowsched_report::html(dir.path()).unwrap_err();
    assert!(error.to_string().contains("damaged"), "{error}");
    assert!(!dir.path().join("report.html").exists());
}
