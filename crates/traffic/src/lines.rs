//! Flows as text: one line per flow, written when the flow ends, so that memory does not grow with the
//! number of flows.
//!
//! Columns are in the order of [`COLUMNS`]. The first four are those of the PIAS authors' generator. The
//! completion time of a flow that has not ended is the word `unfinished`.

use std::fmt;
use std::str::FromStr;

use flowsched_units::Time;

/// The columns' names.
pub(crate) const COLUMNS: &str =
    "size_bytes fct_us dscp rate_mbps flow request server start_ns fct_ns rtt_us out_of_order";
const UNFINISHED: &str = "unfinished";

/// A flow that a client requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) bytes: u32,
    /// Time from the planned start until the client has read the last byte.
    pub(crate) fct: Option<Time>,
    pub(crate) dscp: u8,
    pub(crate) rate_mbps: u32,
    pub(crate) flow: u32,
    pub(crate) request: u64,
    /// The server's index in the configuration.
    pub(crate) server: usize,
    /// The planned start, from the start of the traffic.
    pub(crate) start: Time,
    /// The smoothed round-trip time in microseconds that the client's kernel reports at the flow's end.
    pub(crate) rtt_us: u32,
    /// Packets of the flow that came out of order.
    pub(crate) out_of_order: u32,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = |time: Time| time.as_ps() / 1_000;
        let Line { bytes, fct, dscp, rate_mbps, flow, request, server, start, .. } = self;
        let (fct_us, fct_ns) = match fct {
            Some(fct) => ((ns(*fct) / 1_000).to_string(), ns(*fct).to_string()),
            None => (UNFINISHED.to_owned(), UNFINISHED.to_owned()),
        };
        write!(f, "{bytes} {fct_us} {dscp} {rate_mbps} {flow} {request} {server} {} ", ns(*start))?;
        write!(f, "{fct_ns} {} {}", self.rtt_us, self.out_of_order)
    }
}

impl Line {
    /// Parses a line; `None` if it is invalid.
    pub(crate) fn parse(text: &str) -> Option<Line> {
        let words: Vec<&str> = text.split(' ').collect();
        let [bytes, fct_us, dscp, rate, flow, request, server, start, fct, rtt, out_of_order] =
            <[&str; 11]>::try_from(words).ok()?;
        let fct = match fct {
            UNFINISHED => None,
            _ => Some(Time::from_ns(number(fct)?)),
        };
        if (fct_us == UNFINISHED) != fct.is_none() {
            return None;
        }
        Some(Line {
            bytes: number(bytes)?,
            fct,
            dscp: number(dscp)?,
            rate_mbps: number(rate)?,
            flow: number(flow)?,
            request: number(request)?,
            server: number(server)?,
            start: Time::from_ns(number(start)?),
            rtt_us: number(rtt)?,
            out_of_order: number(out_of_order)?,
        })
    }
}

fn number<T: FromStr>(word: &str) -> Option<T> {
    word.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written() {
        for fct in [Some(Time::from_ns(1_234_567)), None] {
            let line = Line {
                bytes: 20_000,
                fct,
                dscp: 8,
                rate_mbps: 500,
                flow: 3,
                request: 2,
                server: 1,
                start: Time::from_ns(99),
                rtt_us: 120,
                out_of_order: 4,
            };
            let text = line.to_string();
            assert_eq!(text.split(' ').count(), COLUMNS.split(' ').count());
            assert_eq!(Line::parse(&text), Some(line), "{text}");
        }
        assert_eq!(Line::parse("20000 5 8"), None);
    }
}
