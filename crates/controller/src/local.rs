//! The status server, without TLS: `/status` for operators, `/metrics` for Prometheus.

use std::convert::Infallible;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;

use crate::board::{Board, Overview};

/// Serves status and metrics. Never returns.
pub async fn serve(listener: TcpListener, board: Arc<Board>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let board = board.clone();
        tokio::spawn(async move {
            let answer = service_fn(|request: Request<hyper::body::Incoming>| {
                let response = answer(request.uri().path(), &board);
                async move { Ok::<_, Infallible>(response) }
            });
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(Duration::from_secs(10))
                .serve_connection(TokioIo::new(stream), answer)
                .await;
        });
    }
}

fn answer(path: &str, board: &Board) -> Response<Full<Bytes>> {
    let (status, text) = match path {
        "/status" => (StatusCode::OK, status(board)),
        "/metrics" => (StatusCode::OK, metrics(board)),
        _ => (StatusCode::NOT_FOUND, "there are /status and /metrics\n".to_owned()),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response
}

/// The text that `flowsched controller status` prints.
fn status(board: &Board) -> String {
    let leads = if board.leads() { "leads" } else { "does not lead: another controller does" };
    let mut text = format!("controller: {leads}\n");
    let refusals = board.refusals();
    if refusals.count > 0 {
        text.push_str(&format!(
            "refused connections: {}, the last one {}\n",
            refusals.count, refusals.last
        ));
    }
    for (name, overview) in board.overview().iter() {
        // Writing to a string never fails.
        let _ = group(&mut text, name, overview, board.leads());
    }
    text
}

/// Writes what this controller knows about a group. Only the controller that leads hears from the
/// group's hosts.
fn group(text: &mut String, name: &str, overview: &Overview, leads: bool) -> std::fmt::Result {
    let Overview { state, hosts, in_force, unreachable, error, messages, load } = overview;
    let list =
        |bytes: &[u64]| bytes.iter().map(|bytes| format!("{bytes}B")).collect::<Vec<_>>().join(" ");
    writeln!(text, "\ngroup {name}")?;
    writeln!(text, "  version {}: {}", state.version(), list(&state.thresholds))?;
    if let Some(trial) = state.trial() {
        writeln!(text, "  on trial: {}", list(&trial.thresholds))?;
    }
    writeln!(text, "  last decision: {}", state.reason)?;
    if let Some(change) = &state.last_change {
        writeln!(text, "  last change: {change}")?;
    }
    writeln!(text, "  changes: {}, rolled back: {}", state.changes, state.roll_backs)?;
    if leads {
        writeln!(
            text,
            "  hosts: {hosts}, of which {in_force} have this version; {unreachable} do not answer"
        )?;
        writeln!(text, "  messages: {messages:.0}, load: {load:.2}")?;
    }
    if let Some(error) = error {
        writeln!(text, "  error: {error}")?;
    }
    Ok(())
}

/// A family of metrics: its name, its type, its help text, and its value for a group.
type Family = (&'static str, &'static str, &'static str, fn(&Overview) -> f64);

const FAMILIES: &[Family] = &[
    ("version", "gauge", "Version announced last.", |o| o.state.version() as f64),
    ("on_trial", "gauge", "Whether canaries try thresholds.", |o| {
        f64::from(u8::from(o.state.trial().is_some()))
    }),
    ("changes_total", "counter", "Changes of thresholds.", |o| o.state.changes as f64),
    ("roll_backs_total", "counter", "Trials that were rolled back.", |o| o.state.roll_backs as f64),
    ("hosts", "gauge", "Hosts that were collected from last.", |o| o.hosts as f64),
    ("hosts_in_force", "gauge", "Those of them that have the version announced last.", |o| {
        o.in_force as f64
    }),
    ("hosts_unreachable", "gauge", "Agents that did not answer.", |o| o.unreachable as f64),
    ("messages", "gauge", "Messages that decisions are made on.", |o| o.messages),
    ("load", "gauge", "Mean load of the links in the last window.", |o| o.load),
];

fn metrics(board: &Board) -> String {
    let mut text = String::new();
    let prefix = "flowsched_controller";
    let leads = u8::from(board.leads());
    let overview = board.overview();
    let _ = writeln!(text, "# HELP {prefix}_leads Whether this controller leads.");
    let _ = writeln!(text, "# TYPE {prefix}_leads gauge\n{prefix}_leads {leads}");
    let refused = format!("{prefix}_connections_refused_total");
    let _ = writeln!(text, "# HELP {refused} Connections of agents that were refused.");
    let _ = writeln!(text, "# TYPE {refused} counter\n{refused} {}", board.refusals().count);
    for (name, kind, help, value) in FAMILIES {
        let _ = writeln!(text, "# HELP {prefix}_{name} {help}\n# TYPE {prefix}_{name} {kind}");
        for (group, overview) in overview.iter() {
            let _ = writeln!(text, "{prefix}_{name}{{group=\"{group}\"}} {}", value(overview));
        }
    }
    let _ = writeln!(text, "# HELP {prefix}_threshold_bytes Thresholds of all hosts but canaries.");
    let _ = writeln!(text, "# TYPE {prefix}_threshold_bytes gauge");
    for (group, overview) in overview.iter() {
        for (level, bytes) in overview.state.thresholds.iter().enumerate() {
            let labels = format!("{{group=\"{group}\",level=\"{level}\"}}");
            let _ = writeln!(text, "{prefix}_threshold_bytes{labels} {bytes}");
        }
    }
    let _ = writeln!(text, "# HELP {prefix}_decision The last decision's reason.");
    let _ = writeln!(text, "# TYPE {prefix}_decision gauge");
    for (group, overview) in overview.iter() {
        let reason = overview.state.reason.word();
        let _ = writeln!(text, "{prefix}_decision{{group=\"{group}\",reason=\"{reason}\"}} 1");
    }
    text
}
