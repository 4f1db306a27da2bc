//! Collecting without Prometheus: the controller reads the metrics of up to a thousand agents
//! itself, and adds the growth of their counters to the windows of their group.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use crate::config::{Collect, Group};
use crate::http::{self, Server};
use crate::sample::Sample;
use crate::windows::Windows;

/// The maximum number of requests in flight.
const AT_ONCE: usize = 64;

/// The collected data of one group, which outlives the process.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Collected {
    /// The traffic of each window.
    pub windows: Windows,
    /// The last counters of each agent, by URL. With them no message is lost or counted twice.
    last: BTreeMap<String, Kept>,
}

/// The counters of one agent, without empty bins.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct Kept {
    bytes: u64,
    counts: BTreeMap<usize, u64>,
}

impl Kept {
    fn new(sample: &Sample) -> Kept {
        let counts = sample.counts.iter().copied().enumerate().filter(|(_, count)| *count > 0);
        Kept { bytes: sample.bytes, counts: counts.collect() }
    }

    fn sample(&self, bins: usize) -> Sample {
        let mut counts = vec![0; bins];
        for (bin, count) in &self.counts {
            if let Some(place) = counts.get_mut(*bin) {
                *place = *count;
            }
        }
        Sample { bytes: self.bytes, counts, ..Sample::default() }
    }
}

/// The agents of all groups.
pub struct Scraper {
    agents: Vec<Agent>,
}

#[derive(Clone)]
struct Agent {
    group: String,
    url: String,
    server: Arc<Mutex<Server>>,
}

/// The result of one round in a group.
#[derive(Debug, Default)]
pub struct Round {
    /// The samples of the agents that answered, with their URLs.
    pub samples: Vec<(String, Sample)>,
    /// The errors of the other agents.
    pub errors: Vec<String>,
}

impl Scraper {
    /// The agents of `groups`.
    ///
    /// # Errors
    /// If the authority or the token cannot be read.
    pub fn new(collect: &Collect, groups: &BTreeMap<String, Group>) -> Result<Scraper, String> {
        let tls = collect.ca.as_deref().map(http::trust).transpose()?;
        let token = collect.token_file.as_deref().map(|path| {
            let text = std::fs::read_to_string(path);
            text.map(|text| text.trim().to_owned()).map_err(|e| format!("{}: {e}", path.display()))
        });
        let token = token.transpose()?;
        let mut agents = Vec::new();
        for (name, group) in groups {
            for url in &group.agents {
                let server = Server::new(url, tls.clone(), token.clone(), http::PAGE)?;
                let server = Arc::new(Mutex::new(server));
                agents.push(Agent { group: name.clone(), url: url.clone(), server });
            }
        }
        Ok(Scraper { agents })
    }

    /// Reads the metrics of all agents. Returns the results by group.
    pub async fn round(&self) -> BTreeMap<String, Round> {
        let mut rounds: BTreeMap<String, Round> = BTreeMap::new();
        let mut running = JoinSet::new();
        let mut next = self.agents.iter();
        loop {
            while running.len() < AT_ONCE
                && let Some(agent) = next.next()
            {
                running.spawn(read(agent.clone()));
            }
            let Some(finished) = running.join_next().await else { return rounds };
            // The panic handler has already reported a task that panicked.
            let Ok((agent, result)) = finished else { continue };
            let round = rounds.entry(agent.group).or_default();
            match result {
                Ok(sample) => round.samples.push((agent.url, sample)),
                Err(error) => round.errors.push(error),
            }
        }
    }
}

async fn read(agent: Agent) -> (Agent, Result<Sample, String>) {
    let page = agent.server.lock().await.get("/metrics").await;
    let url = &agent.url;
    let sample =
        page.and_then(|page| Sample::parse(&page).map_err(|error| format!("{url}: {error}")));
    (agent, sample)
}

impl Collected {
    /// Adds what agents have counted since the last round, which was `passed` ago. The first sample of
    /// an agent covers an unknown time: its messages are added, its bytes are not.
    pub fn add(&mut self, round: &Round, passed: Duration, collect: &Collect, group: &Group) {
        let seconds = passed.as_secs_f64();
        let window = self.windows.current(seconds, collect.window, collect.windows);
        for (url, sample) in &round.samples {
            match self.last.get(url) {
                Some(last) => {
                    let grown = sample.since(&last.sample(sample.counts.len()));
                    window.add(&grown.counts, grown.bytes, group.link_rate, seconds);
                }
                None => window.add(&sample.counts, 0, group.link_rate, 0.0),
            }
            self.last.insert(url.clone(), Kept::new(sample));
        }
        // Forget agents that are no longer in the configuration.
        self.last.retain(|url, _| group.agents.contains(url));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::tests::page;
    use flowsched_units::Rate;

    fn collect() -> Collect {
        Collect {
            prometheus: None,
            every: Duration::from_secs(15),
            window: Duration::from_secs(3600),
            windows: 24,
            ca: None,
            token_file: None,
        }
    }

    fn group() -> Group {
        let agents = vec!["http://a".to_owned()];
        Group { agents, selector: String::new(), link_rate: Rate::from_gbps(8) }
    }

    fn round(counts: &[(usize, u64)], bytes: u64) -> Round {
        let sample = Sample::parse(&page("h", counts, bytes)).unwrap();
        Round { samples: vec![("http://a".to_owned(), sample)], errors: Vec::new() }
    }

    #[test]
    fn a_restart_neither_loses_nor_repeats_a_message() {
        let mut collected = Collected::default();
        let second = Duration::from_secs(1);
        collected.add(&round(&[(5, 10)], 100), second, &collect(), &group());
        collected.add(&round(&[(5, 15)], 500_000_100), second, &collect(), &group());
        let text = serde_json::to_string(&collected).unwrap();
        let mut again: Collected = serde_json::from_str(&text).unwrap();
        again.add(&round(&[(5, 18), (6, 1)], 1_000_000_100), second, &collect(), &group());
        let window = again.windows.iter().next().unwrap();
        assert_eq!((window.counts[5], window.counts[6]), (18.0, 1.0));
        assert_eq!(window.messages(), 19.0);
        assert!((window.load() - 0.5).abs() < 0.01, "{}", window.load());
    }
}
