//! A sample of one agent's metrics page: counters that only grow, and what is in force.

use flowsched_fleet::bins::{self, BINS};

/// The counters of one host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// The host's name, as the agent reports it; empty if the agent follows no controller.
    pub host: String,
    /// The version in force.
    pub version: u64,
    /// Whether the host is a canary.
    pub is_canary: bool,
    /// Announcements that the host refused.
    pub refused: u64,
    /// TCP segments sent.
    pub segments: u64,
    /// TCP segments retransmitted.
    pub retransmitted: u64,
    /// Bytes that the host's interfaces sent.
    pub bytes: u64,
    /// Ended messages in each bin.
    pub counts: Vec<u64>,
}

impl Sample {
    /// Reads a page in Prometheus's text format. Other families are ignored.
    ///
    /// # Errors
    /// If the page has no histogram of message sizes, or one with other bins.
    pub fn parse(page: &str) -> Result<Sample, String> {
        let bounds: Vec<u64> = bins::bounds().collect();
        let mut sample = Sample { counts: vec![0; BINS], ..Sample::default() };
        let (mut bin, mut before) = (0, 0);
        for line in page.lines() {
            let Some(line) = line.strip_prefix("flowsched_") else { continue };
            let Some((series, value)) = line.rsplit_once(' ') else { continue };
            let (name, labels) = series.split_once('{').unwrap_or((series, ""));
            let number = || value.parse::<u64>().unwrap_or(0);
            match name {
                "message_bytes_bucket" => {
                    let is_expected = match bounds.get(bin) {
                        Some(bound) => label(labels, "le") == Some(&bound.to_string()),
                        None => label(labels, "le") == Some("+Inf"),
                    };
                    if !is_expected || bin >= BINS {
                        return Err("its bins of message sizes are those of another version".into());
                    }
                    sample.counts[bin] = number().saturating_sub(before);
                    (bin, before) = (bin + 1, number());
                }
                "interface_bytes_total" => sample.bytes += number(),
                "tcp_segments_sent_total" => sample.segments = number(),
                "tcp_segments_retransmitted_total" => sample.retransmitted = number(),
                "thresholds_version" => {
                    sample.version = number();
                    sample.host = label(labels, "host").unwrap_or_default().to_owned();
                }
                "thresholds_canary" => sample.is_canary = number() == 1,
                "announcements_refused_total" => sample.refused = number(),
                _ => {}
            }
        }
        match bin {
            BINS => Ok(sample),
            _ => Err("it has no histogram of message sizes".into()),
        }
    }

    /// The counts since `earlier`. If a counter fell, it was reset, and all of it is new.
    pub fn since(&self, earlier: &Sample) -> Sample {
        let grown = |now: u64, before: u64| if now >= before { now - before } else { now };
        let is_same = self.counts.iter().zip(&earlier.counts).all(|(now, before)| now >= before);
        let counts = match is_same && earlier.counts.len() == self.counts.len() {
            true => self.counts.iter().zip(&earlier.counts).map(|(now, b)| now - b).collect(),
            false => self.counts.clone(),
        };
        Sample {
            refused: grown(self.refused, earlier.refused),
            segments: grown(self.segments, earlier.segments),
            retransmitted: grown(self.retransmitted, earlier.retransmitted),
            bytes: grown(self.bytes, earlier.bytes),
            counts,
            ..self.clone()
        }
    }
}

/// The value of a label that has no escapes.
fn label<'a>(labels: &'a str, name: &str) -> Option<&'a str> {
    labels.trim_end_matches('}').split(',').find_map(|label| {
        let value = label.strip_prefix(name)?.strip_prefix("=\"")?;
        value.strip_suffix('"')
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A page as an agent writes it.
    pub(crate) fn page(host: &str, counts: &[(usize, u64)], bytes: u64) -> String {
        let mut text = String::from("# TYPE flowsched_message_bytes histogram\n");
        let mut sum = 0;
        let les = bins::bounds().map(|bound| bound.to_string()).chain(["+Inf".into()]);
        for (bin, le) in les.enumerate() {
            sum += counts.iter().filter(|(at, _)| *at == bin).map(|(_, n)| n).sum::<u64>();
            text.push_str(&format!("flowsched_message_bytes_bucket{{le=\"{le}\"}} {sum}\n"));
        }
        text.push_str(&format!(
            "flowsched_interface_bytes_total{{interface=\"a\"}} {bytes}\n\
             flowsched_interface_bytes_total{{interface=\"b\"}} 1\n\
             flowsched_tcp_segments_sent_total 70\n\
             flowsched_thresholds_version{{group=\"g\",host=\"{host}\"}} 4\n\
             flowsched_thresholds_canary{{group=\"g\",host=\"{host}\"}} 1\n"
        ));
        text
    }

    #[test]
    fn a_page_is_read() {
        let sample = Sample::parse(&page("h1", &[(0, 2), (40, 3), (BINS - 1, 1)], 9)).unwrap();
        assert_eq!((sample.host.as_str(), sample.version, sample.is_canary), ("h1", 4, true));
        assert_eq!((sample.bytes, sample.segments), (10, 70));
        assert_eq!((sample.counts[0], sample.counts[40], sample.counts[BINS - 1]), (2, 3, 1));
        assert!(Sample::parse("").unwrap_err().contains("no histogram"));
        let other = page("h", &[], 0).replace("\"511\"", "\"512\"");
        assert!(Sample::parse(&other).unwrap_err().contains("another version"));
    }

    #[test]
    fn counts_that_fall_began_anew() {
        let sample = |counts| Sample::parse(&page("h", counts, 100)).unwrap();
        let (first, second) = (sample(&[(3, 5)]), sample(&[(3, 7), (4, 1)]));
        let grown = second.since(&first);
        assert_eq!((grown.counts[3], grown.counts[4], grown.bytes), (2, 1, 0));
        let anew = sample(&[(3, 2), (9, 4)]).since(&second);
        assert_eq!((anew.counts[3], anew.counts[9]), (2, 4));
    }
}
