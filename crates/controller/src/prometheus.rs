//! Collecting with Prometheus, through its HTTP API: flow sizes and load per window, and what is in
//! force on each host.

use std::collections::BTreeMap;
use std::time::Duration;

use flowsched_fleet::bins::{self, BINS};
use serde::Deserialize;

use crate::config::{Collect, Group};
use crate::http::{self, Server};
use crate::sample::Sample;
use crate::windows::{Window, Windows};

/// The time-out of a query. By default, Prometheus gives up after two minutes too. A sum over the
/// bins of 10,000 hosts takes longer than a page.
const QUERY: Duration = Duration::from_secs(120);

#[derive(Deserialize)]
struct Answer {
    data: Option<Data>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Data {
    result: Vec<Series>,
}

#[derive(Deserialize)]
struct Series {
    metric: BTreeMap<String, String>,
    value: (f64, String),
}

impl Series {
    fn label(&self, name: &str) -> &str {
        self.metric.get(name).map_or("", String::as_str)
    }

    fn number(&self) -> f64 {
        self.value.1.parse().unwrap_or(0.0)
    }
}

/// Copies the value of a series into the sample of its host.
type Set = fn(&mut Sample, &Series);

/// The Prometheus server of the configuration; `None` if there is none.
///
/// # Errors
/// If its address or the authority's file is wrong.
pub fn server(collect: &Collect) -> Result<Option<Server>, String> {
    let Some(url) = &collect.prometheus else { return Ok(None) };
    let tls = collect.ca.as_deref().map(http::trust).transpose()?;
    Server::new(url, tls, None, QUERY).map(Some)
}

/// The queries about one group.
pub struct Queries<'a> {
    collect: &'a Collect,
    group: &'a Group,
}

impl<'a> Queries<'a> {
    /// The queries about `group`.
    pub fn new(collect: &'a Collect, group: &'a Group) -> Queries<'a> {
        Queries { collect, group }
    }

    fn series(&self, name: &str) -> String {
        format!("flowsched_{name}{{{}}}", self.group.selector)
    }

    /// A PromQL range of one window that ends `ago` windows before now.
    fn range(&self, ago: usize) -> String {
        let seconds = self.collect.window.as_secs().max(1);
        let offset = match ago {
            0 => String::new(),
            ago => format!(" offset {}s", seconds * ago as u64),
        };
        format!("[{seconds}s]{offset}")
    }

    /// The query for the messages up to each bin's bound.
    fn sizes(&self, ago: usize) -> String {
        let (series, range) = (self.series("message_bytes_bucket"), self.range(ago));
        format!("sum by (le) (increase({series}{range}))")
    }

    /// The query for the bytes that each host has sent.
    fn bytes(&self, ago: usize) -> String {
        let (series, range) = (self.series("interface_bytes_total"), self.range(ago));
        format!("sum by (instance) (increase({series}{range}))")
    }

    /// The traffic of each window, the oldest first. Windows without data are left out.
    ///
    /// # Errors
    /// If Prometheus cannot be reached or refuses a query.
    pub async fn windows(&self, server: &mut Server) -> Result<Windows, String> {
        let mut windows = Vec::new();
        for ago in (0..self.collect.windows).rev() {
            let sizes = query(server, &self.sizes(ago)).await?;
            if sizes.is_empty() {
                continue;
            }
            let bytes = query(server, &self.bytes(ago)).await?;
            let seconds = self.collect.window.as_secs_f64();
            let link = self.group.link_rate.as_bytes_per_sec_f64();
            windows.push(Window {
                seconds,
                bytes: bytes.iter().map(Series::number).sum(),
                capacity: link * seconds * bytes.len() as f64,
                counts: counts(&sizes)?,
            });
        }
        Ok(windows.into_iter().collect())
    }

    /// The thresholds in force on each host, and the host's counters.
    ///
    /// # Errors
    /// If Prometheus cannot be reached or refuses a query.
    pub async fn hosts(&self, server: &mut Server) -> Result<Vec<Sample>, String> {
        let mut hosts: BTreeMap<String, Sample> = BTreeMap::new();
        let all: [(&str, Set); 5] = [
            ("thresholds_version", |host, series| {
                host.host = series.label("host").to_owned();
                host.version = series.number() as u64;
            }),
            ("thresholds_canary", |host, series| host.is_canary = series.number() == 1.0),
            ("announcements_refused_total", |host, series| host.refused = series.number() as u64),
            ("tcp_segments_sent_total", |host, series| host.segments = series.number() as u64),
            ("tcp_segments_retransmitted_total", |host, series| {
                host.retransmitted = series.number() as u64;
            }),
        ];
        for (name, set) in all {
            for series in query(server, &self.series(name)).await? {
                set(hosts.entry(series.label("instance").to_owned()).or_default(), &series);
            }
        }
        Ok(hosts.into_values().filter(|host| !host.host.is_empty()).collect())
    }
}

async fn query(server: &mut Server, query: &str) -> Result<Vec<Series>, String> {
    let path = format!("{}/api/v1/query?query={}", server.path(), escaped(query));
    let text = server.get(&path).await?;
    let answer: Answer = serde_json::from_str(&text)
        .map_err(|e| format!("Prometheus sent an answer that is none: {e}"))?;
    match (answer.data, answer.error) {
        (Some(data), None) => Ok(data.result),
        (_, error) => Err(format!("Prometheus: {}", error.unwrap_or_default())),
    }
}

/// The count of each bin, from the cumulative counts by bound. Prometheus extrapolates: counts may
/// be fractions, and cumulative counts may fall.
fn counts(series: &[Series]) -> Result<Vec<f64>, String> {
    let up_to: BTreeMap<&str, f64> =
        series.iter().map(|one| (one.label("le"), one.number())).collect();
    let mut counts = Vec::with_capacity(BINS);
    let mut before = 0.0_f64;
    for bound in bins::bounds().map(|bound| bound.to_string()).chain(["+Inf".into()]) {
        // Prometheus writes bounds as agents do; later versions write them as floats.
        let float = format!("{bound}.0");
        let found = up_to.get(bound.as_str()).or_else(|| up_to.get(float.as_str()));
        let found = found.ok_or_else(|| {
            format!(
                "flowsched_message_bytes has no bin up to {bound}: agents are of another version"
            )
        })?;
        counts.push((found - before).max(0.0));
        before = before.max(*found);
    }
    Ok(counts)
}

/// Percent-encodes a query for a URL (RFC 3986).
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                escaped.push(byte as char);
            }
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_escaped() {
        assert_eq!(escaped("a{b=\"ü\"}"), "a%7Bb%3D%22%C3%BC%22%7D");
    }

    #[test]
    fn cumulative_counts_become_counts() {
        let mut up_to = 0.0;
        let series = |le: String, value: f64| Series {
            metric: [("le".to_owned(), le)].into_iter().collect(),
            value: (0.0, value.to_string()),
        };
        let les = bins::bounds().map(|bound| bound.to_string()).chain(["+Inf".into()]);
        let all: Vec<Series> = les
            .map(|le| {
                up_to += 1.5;
                series(le, up_to)
            })
            .collect();
        assert_eq!(counts(&all).unwrap(), vec![1.5; BINS]);
        assert!(counts(&all[1..]).unwrap_err().contains("no bin up to 255"));
    }
}
