//! Which links of a network lose packets.

use flowsched_units::{SettingError, Settings};

use crate::ids::PortId;
use crate::loss::{LOSS_ON, Loss, PROBABILITY};
use crate::network::Network;

impl Network {
    /// Lets the links that the settings name lose packets, if the settings have a probability of
    /// loss.
    pub(crate) fn lose(&mut self, settings: &Settings) -> Result<(), SettingError> {
        if settings.get(&PROBABILITY).is_none() {
            return Ok(());
        }
        let probability = settings.number(&PROBABILITY);
        if probability >= 1.0 {
            let allowed = "less than 1, so that something arrives";
            return Err(SettingError::new(&PROBABILITY, probability.to_string(), allowed));
        }
        let text = settings.text(&LOSS_ON);
        for port in self.named_ports(&text)? {
            self.ports[port.index()].loss = Loss::from_probability(probability);
        }
        Ok(())
    }

    /// Both ports of each link that the text names.
    fn named_ports(&self, text: &str) -> Result<Vec<PortId>, SettingError> {
        let all = || (0..self.ports.len() as u32).map(PortId);
        match text.trim() {
            "all" => return Ok(all().collect()),
            "core" => return Ok(self.core_ports().collect()),
            "hosts" => return Ok(all().filter(|port| !self.is_core(*port)).collect()),
            _ => {}
        }
        let refuse = |found: &str, allowed: String| {
            SettingError::new(&LOSS_ON, format!("\"{}\"", found.trim()), allowed)
        };
        let mut ports = Vec::new();
        for link in text.split(';').filter(|link| !link.trim().is_empty()) {
            let Some((one, other)) = link.split_once(" - ") else {
                let allowed = "all, hosts, core, or links such as \"host 0 - leaf 0\"".into();
                return Err(refuse(link, allowed));
            };
            let node = |name: &str| {
                let mut nodes = (0..self.node_count()).map(crate::NodeId);
                let found = nodes.find(|node| self.name(*node) == name.trim());
                let example = self.name(crate::NodeId(self.hosts));
                let allowed =
                    format!("a node of the topology, such as \"host 0\" or \"{example}\"");
                found.ok_or_else(|| refuse(name, allowed))
            };
            let (one, other) = (node(one)?, node(other)?);
            let between = |port: &&PortId| self.port(**port).peer == other;
            let before = ports.len();
            for port in self.ports_of(one).iter().filter(between) {
                ports.extend([*port, self.reverse(*port)]);
            }
            if ports.len() == before {
                return Err(refuse(link, "two nodes with a link between them".into()));
            }
        }
        if ports.is_empty() {
            return Err(refuse(text, "at least one link".into()));
        }
        Ok(ports)
    }
}

#[cfg(test)]
mod tests {
    use flowsched_units::Value;

    use super::*;
    use crate::{build, kind};

    fn tree(loss: f64, on: &str) -> Result<Network, SettingError> {
        let mut settings = Settings::defaults(kind("single-rooted-tree").unwrap().parameters);
        settings.set("loss", Value::Number(loss));
        settings.set("loss_on", Value::Text(on.into()));
        build("single-rooted-tree", &settings)
    }

    fn lossy(network: &Network) -> Vec<(String, String)> {
        let ports = network.ports().iter().filter(|port| port.loss != Loss::NONE);
        ports.map(|port| (network.name(port.owner), network.name(port.peer))).collect()
    }

    #[test]
    fn named_links_lose_in_both_directions() {
        let network = tree(0.03, "host 0 - top-of-rack 0; root 0 - top-of-rack 1").unwrap();
        let link = |one: &str, other: &str| (one.to_owned(), other.to_owned());
        let expected = [
            link("host 0", "top-of-rack 0"),
            link("top-of-rack 0", "host 0"),
            link("top-of-rack 1", "root 0"),
            link("root 0", "top-of-rack 1"),
        ];
        assert_eq!(lossy(&network), expected);
        assert_eq!(lossy(&tree(0.5, "all").unwrap()).len(), 32);
        assert_eq!(lossy(&tree(0.5, "hosts").unwrap()).len(), 24);
        assert_eq!(lossy(&tree(0.5, "core").unwrap()).len(), 8);
        assert_eq!(lossy(&tree(0.0, "all").unwrap()).len(), 0);
    }

    #[test]
    fn what_is_no_link_is_refused() {
        for on in ["", "none", "host 0", "host 0 - host 1", "host 99 - root 0", "host 0 - leaf 0"] {
            assert_eq!(tree(0.1, on).unwrap_err().key, "loss_on", "{on}");
        }
        assert_eq!(tree(1.0, "all").unwrap_err().key, "loss");
    }

    #[test]
    fn a_loss_strikes_as_often_as_its_probability() {
        for probability in [0.0, 0.001, 0.03, 0.999] {
            let loss = Loss::from_probability(probability);
            let struck = (0..=u32::MAX).step_by(1 << 12).filter(|draw| loss.strikes(*draw)).count();
            let share = struck as f64 / f64::from(1 << 20);
            assert!((share - probability).abs() < 1e-5, "{probability}: {share}");
        }
    }
}
