//! Counters for Prometheus: `GET /metrics`. Reads the pinned maps anew for each request.

use std::fmt::Write;
use std::net::SocketAddr;
use std::thread;

use tiny_http::{Header, Response, Server};

use crate::error::AgentError;
use crate::histogram::Histogram;
use crate::pins::Places;
use crate::stats::{self, LEFT_ALONE, Snapshot};

/// Serves the metrics for as long as the process lives.
///
/// # Errors
/// If the address cannot be listened on.
pub(crate) fn serve(places: Places, address: SocketAddr) -> Result<(), AgentError> {
    let server = Server::http(address)
        .map_err(|e| AgentError::kernel(format!("serve metrics on {address}"), e))?;
    thread::spawn(move || {
        let mut evicted = 0;
        for request in server.incoming_requests() {
            let answer = match request.url() {
                "/metrics" => match page(&places, &mut evicted) {
                    Ok(text) => plain(text, 200),
                    Err(error) => plain(format!("{error}\n"), 503),
                },
                _ => plain("the metrics are at /metrics\n".into(), 404),
            };
            // A client that went away is no concern of ours.
            let _ = request.respond(answer);
        }
    });
    Ok(())
}

fn plain(text: String, code: u16) -> Response<std::io::Cursor<Vec<u8>>> {
    let response = Response::from_string(text).with_status_code(code);
    match Header::from_bytes("Content-Type", "text/plain; version=0.0.4") {
        Ok(header) => response.with_header(header),
        Err(()) => response,
    }
}

/// All metrics in the text format.
pub(crate) fn text(places: &Places) -> Result<String, AgentError> {
    page(places, &mut 0)
}

/// The same. How many flows made room is a difference of counts that are not read at one moment, and
/// a counter that falls by one is taken for one that began anew: hence the most that it ever was.
fn page(places: &Places, evicted: &mut u64) -> Result<String, AgentError> {
    let snapshot = Snapshot::read(places)?;
    *evicted = snapshot.evicted().max(*evicted);
    let mut page = Page::default();
    let counters = &snapshot.counters;
    let levels = [
        ("packets", "Packets tagged with the level", counters.levels.map(|l| l.packets)),
        ("payload_bytes", "Payload bytes of the level", counters.levels.map(|l| l.payload_bytes)),
        ("wire_bytes", "Bytes on the wire of the level", counters.levels.map(|l| l.wire_bytes)),
    ];
    for (name, about, counts) in levels {
        let labelled = counts.into_iter().take(snapshot.levels).enumerate();
        let labelled = labelled.map(|(level, count)| {
            (format!("{{level=\"{level}\",dscp=\"{}\"}}", snapshot.code_points[level]), count)
        });
        page.family(&format!("{name}_total"), about, "counter", labelled);
    }
    let left = LEFT_ALONE.iter().zip(counters.left_alone);
    let left = left.map(|((name, _), count)| (format!("{{reason=\"{name}\"}}"), count));
    page.family("left_alone_total", "Packets that went out as they came", "counter", left);
    let started = [
        ("{by=\"idle\"}".to_owned(), counters.messages_idle),
        ("{by=\"application\"}".to_owned(), counters.messages_application),
    ];
    page.family("messages_total", "Messages begun on a used connection", "counter", started);
    page.counter("starved_total", "Flows made new after timeouts", counters.starved);
    page.counter("ect_forced_total", "Packets that ECT(0) was set on", counters.ect_forced);
    page.counter("socket_flows_total", "Local connections seen", counters.flows_socket);
    page.counter("hash_flows_total", "Flows known by 5-tuple", counters.flows_hash);
    page.counter("evicted_total", "Flows that made room for others", *evicted);
    page.counter("reloads_total", "Rules put in force", snapshot.agent.reloads);
    page.counter("reloads_refused_total", "Rules refused", snapshot.agent.reloads_refused);
    page.gauge("hash_flows", "Flows known by 5-tuple now", snapshot.flows);
    page.gauge("hash_flows_max", "Room for such flows", u64::from(snapshot.max_flows));
    page.counter("program_runs_total", "Measured runs of the program", snapshot.programs.runs);
    page.counter(
        "program_run_time_ns_total",
        "Nanoseconds of those runs",
        snapshot.programs.run_time_ns,
    );
    page.sizes(&stats::histogram(places)?);
    Ok(page.0)
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn family(
        &mut self,
        name: &str,
        about: &str,
        kind: &str,
        values: impl IntoIterator<Item = (String, u64)>,
    ) {
        let _ = writeln!(self.0, "# HELP flowsched_{name} {about}.");
        let _ = writeln!(self.0, "# TYPE flowsched_{name} {kind}");
        for (labels, value) in values {
            let _ = writeln!(self.0, "flowsched_{name}{labels} {value}");
        }
    }

    fn counter(&mut self, name: &str, about: &str, value: u64) {
        self.family(name, about, "counter", [(String::new(), value)]);
    }

    fn gauge(&mut self, name: &str, about: &str, value: u64) {
        self.family(name, about, "gauge", [(String::new(), value)]);
    }

    /// Message sizes in buckets a factor of two wide; the distribution file is finer.
    fn sizes(&mut self, histogram: &Histogram) {
        let mut buckets = Vec::new();
        let sizes: Vec<_> = histogram.sizes().collect();
        for exponent in 8..40 {
            // The largest size in the octave below: sizes at the bound itself are in the next.
            let bound = (1u64 << exponent) - 1;
            let within = sizes.iter().filter(|(size, _)| size.get() <= bound);
            buckets.push((format!("_bucket{{le=\"{bound}\"}}"), within.map(|(_, n)| n).sum()));
        }
        let total = sizes.iter().map(|(size, count)| size.get() * count).sum();
        buckets.push(("_bucket{le=\"+Inf\"}".into(), histogram.messages()));
        buckets.push(("_sum".into(), total));
        buckets.push(("_count".into(), histogram.messages()));
        self.family("message_bytes", "Sizes of ended messages", "histogram", buckets);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::{BUCKETS, bucket_of};

    #[test]
    fn a_bucket_holds_all_that_is_not_larger_than_its_bound() {
        let mut counts = vec![0; BUCKETS];
        (counts[255], counts[bucket_of(256)], counts[bucket_of(1_000_000)]) = (3, 4, 5);
        let mut page = Page::default();
        page.sizes(&Histogram::new(counts));
        for line in ["{le=\"255\"} 3", "{le=\"511\"} 7", "{le=\"524287\"} 7", "{le=\"1048575\"} 12"]
        {
            let line = format!("flowsched_message_bytes_bucket{line}\n");
            assert!(page.0.contains(&line), "{line} is not in\n{}", page.0);
        }
        assert!(page.0.contains("_bucket{le=\"+Inf\"} 12\n"));
    }
}
