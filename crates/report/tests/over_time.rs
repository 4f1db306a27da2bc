//! What a probe recorded, on the page and in a browser.

mod pages;
mod synthetic;

use std::fs;
use std::path::{Path, PathBuf};

use flowsched_experiment::results::{
    Earlier, Ending, Meta, PortRow, ProbedFlow, ProbedPort, RunStart, Writer,
};
use flowsched_units::Time;
use pages::{browse, chart_called, charts};
use synthetic::Study;

/// A queue that grows by a packet each microsecond to a hundred and starts again, and a window that holds.
fn page(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&dir);
    let study = Study { schemes: vec!["dctcp"], seeds: 2, ..Study::default() };
    let meta = Meta { has_probe: true, ..study.meta() };
    let writer = Writer::create(&dir, &meta, Earlier::Discarded).unwrap();
    for (place, (run, ports)) in study.runs().into_iter().enumerate() {
        let ports = ports.ports;
        let start = RunStart { key: run.key(), ports, has_probe: true, ..RunStart::default() };
        let mut writer = writer.begin(place, start).unwrap();
        for us in 0..10_000 {
            let time = Time::from_us(us);
            let queue_bytes = 1500 * (us % 100);
            let port = PortRow { time, queue_bytes, ..PortRow::default() };
            writer.add_probed_port(ProbedPort { port, rate_bps: Some(1e10) }).unwrap();
            if us % 1_000 == 0 {
                let window_bytes = Some(14_600 * (1 + us / 1_000));
                let flow = ProbedFlow { time, flow: 7, window_bytes, ..ProbedFlow::default() };
                writer.add_probed_flow(flow).unwrap();
            }
        }
        writer.finish(&run).unwrap();
    }
    writer.finish(Ending::Complete).unwrap();
    flowsched_report::html(&dir).unwrap()
}

#[test]
fn charts_show_what_was_recorded() {
    let page = page("over-time");
    let window = chart_called(&page, "Window, flow 7");
    let expected: Vec<f64> = (1..=10).map(|segments| 14_600.0 * f64::from(segments)).collect();
    assert_eq!(window.numbers("window_bytes"), expected);
    assert_eq!(window.numbers("time_ms"), (0..10).map(f64::from).collect::<Vec<_>>());
    let of_port = charts(&page).into_iter().find(|chart| chart.caption.starts_with("Queue over"));
    let queue = of_port.expect("a chart of the queue").numbers("queue_bytes");
    assert!((1_900..=4_000).contains(&queue.len()), "{} points", queue.len());
    assert_eq!(queue.iter().copied().fold(0.0, f64::max), 99.0 * 1500.0);
    // Nothing was recorded of alpha.
    assert!(charts(&page).iter().all(|chart| !chart.svg.contains("<title>Alpha")));
}

#[test]
fn a_chart_zooms_in_a_browser_without_a_network() {
    let page = page("over-time-zoomed");
    let text = fs::read_to_string(&page).unwrap();
    // The page's policy lets no other script run, so the reader's hands act in a copy without it.
    let policy = text.find("<meta http-equiv=\"Content-Security-Policy\"").expect("a policy");
    let after = policy + text[policy..].find('>').unwrap() + 1;
    let act = "<script>
        const plot = document.querySelector('svg[data-from]');
        const press = (key) => plot.dispatchEvent(new KeyboardEvent('keydown', { key }));
        const say = (what) => {
          const ticks = [...plot.parentNode.querySelectorAll('[data-ticks] text')];
          const shown = plot.getAttribute('viewBox') + ' | ' + ticks.map((t) => t.textContent).join(' ');
          document.body.append(Object.assign(document.createElement('p'), { textContent: what + shown }));
        };
        press('+'); press('+'); press('+'); say('in: ');
        press('ArrowRight'); say('right: ');
        const box = plot.getBoundingClientRect();
        const wheel = { deltaY: -1, clientX: box.left + box.width / 2, cancelable: true };
        plot.dispatchEvent(new WheelEvent('wheel', wheel)); say('unfocused: ');
        plot.focus();
        plot.dispatchEvent(new WheelEvent('wheel', wheel)); say('wheel: ');
        press('0'); say('all: ');
        </script>";
    let copy = page.with_file_name("acted.html");
    fs::write(&copy, format!("{}{}{act}", &text[..policy], &text[after..])).unwrap();
    let (dom, log) = browse(&copy, &["--dump-dom".to_owned()]);
    assert!(!log.contains("CONSOLE"), "{log}");
    let said = |what: &str| {
        let start =
            dom.find(&format!("<p>{what}: ")).unwrap_or_else(|| panic!("no {what} in {dom}"));
        dom[start + 3..].split("</p>").next().unwrap().to_owned()
    };
    // Of 10 ms, an eighth around the middle is left; then a quarter of that further on.
    assert_eq!(said("in"), "in: 43750 0 12500 172 | 4.5 5 5.5");
    assert!(said("right").starts_with("right: 46875 0 12500 172 | "), "{}", said("right"));
    assert_eq!(said("unfocused").split(' ').nth(1), said("right").split(' ').nth(1));
    // The pointer is on a whole pixel, about in the middle.
    let wheel = said("wheel");
    assert!(wheel.starts_with("wheel: 4812") && wheel.contains(" 0 10000 172 | "), "{wheel}");
    assert!(said("all").starts_with("all: 0 0 100000 172 | 0 "), "{}", said("all"));
}
