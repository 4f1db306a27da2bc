//! The rules of patterns: how each draws senders and receivers.

use flowsched_topology::{HostId, Network};
use flowsched_units::{SettingError, Settings};
use rand::Rng;
use rand::seq::{SliceRandom, index};
use rand_chacha::ChaCha8Rng;

use super::parameters::{DEGREE, RECEIVER, SAME_RACK, STRIDE};
use crate::racks::Racks;

/// Who sends to whom.
#[derive(Clone, Debug)]
pub(crate) enum Rule {
    /// Several hosts to one at each arrival.
    Incast(Incast),
    /// One flow at each arrival.
    One(Pairs),
}

/// Several hosts send to one at the same time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incast {
    /// How many send.
    pub(super) degree: u32,
    /// Who receives; without one, a new receiver is drawn for every burst.
    pub(super) receiver: Option<HostId>,
}

/// The sender and the receiver of one flow.
#[derive(Clone, Debug)]
pub(crate) enum Pairs {
    AllToAll,
    Rising,
    Falling,
    Permutation { partners: Vec<HostId> },
    ManyToOne { receiver: HostId },
    Stride { stride: u32 },
    Staggered(Racks),
}

impl Incast {
    /// Senders and the receiver of the next burst.
    pub(super) fn draw(&self, hosts: u32, random: &mut ChaCha8Rng) -> Vec<(HostId, HostId)> {
        let dst = self.receiver.unwrap_or_else(|| HostId(random.random_range(0..hosts)));
        index::sample(random, hosts as usize - 1, self.degree as usize)
            .into_iter()
            .map(|other| (other_than(dst, other as u32), dst))
            .collect()
    }
}

impl Pairs {
    /// A sender, drawn at random.
    pub(super) fn sender(&self, hosts: u32, random: &mut ChaCha8Rng) -> HostId {
        match self {
            Pairs::ManyToOne { receiver } => {
                other_than(*receiver, random.random_range(0..hosts - 1))
            }
            _ => HostId(random.random_range(0..hosts)),
        }
    }

    /// The ends of the next flow, drawn from those that `src` may have.
    pub(super) fn ends(
        &self,
        src: HostId,
        hosts: u32,
        random: &mut ChaCha8Rng,
    ) -> (HostId, HostId) {
        let other = |random: &mut ChaCha8Rng| other_than(src, random.random_range(0..hosts - 1));
        match self {
            Pairs::AllToAll => (src, other(random)),
            Pairs::Rising => {
                let dst = other(random);
                (src.min(dst), src.max(dst))
            }
            Pairs::Falling => {
                let dst = other(random);
                (src.max(dst), src.min(dst))
            }
            Pairs::Permutation { partners } => (src, partners[src.index()]),
            Pairs::ManyToOne { receiver } => (src, *receiver),
            Pairs::Stride { stride } => (src, HostId((src.0 + stride) % hosts)),
            Pairs::Staggered(racks) => (src, racks.receiver(src, random)),
        }
    }
}

/// The `index`th of the hosts other than `host`.
pub(super) fn other_than(host: HostId, index: u32) -> HostId {
    HostId(if index < host.0 { index } else { index + 1 })
}

pub(super) fn incast(
    settings: &Settings,
    network: &Network,
    _random: &mut ChaCha8Rng,
) -> Result<Rule, SettingError> {
    let (hosts, degree) = (network.host_count(), settings.count(&DEGREE));
    match u32::try_from(degree) {
        Ok(degree) if (1..hosts).contains(&degree) => {
            Ok(Rule::Incast(Incast { degree, receiver: receiver(settings, hosts)? }))
        }
        _ => {
            let allowed = format!("a number of senders from 1 to {}, all hosts but one", hosts - 1);
            Err(SettingError::new(&DEGREE, degree.to_string(), allowed))
        }
    }
}

pub(super) fn permutation(
    _settings: &Settings,
    network: &Network,
    random: &mut ChaCha8Rng,
) -> Result<Rule, SettingError> {
    Ok(Rule::One(Pairs::Permutation { partners: derangement(network.host_count(), random) }))
}

pub(super) fn many_to_one(
    settings: &Settings,
    network: &Network,
    random: &mut ChaCha8Rng,
) -> Result<Rule, SettingError> {
    let hosts = network.host_count();
    let drawn = || HostId(random.random_range(0..hosts));
    let receiver = receiver(settings, hosts)?.unwrap_or_else(drawn);
    Ok(Rule::One(Pairs::ManyToOne { receiver }))
}

/// A rule with the stride of the settings. Refuses strides with which the receivers would be the
/// senders.
pub(super) fn stride(
    settings: &Settings,
    network: &Network,
    _random: &mut ChaCha8Rng,
) -> Result<Rule, SettingError> {
    let (hosts, stride) = (network.host_count(), settings.count(&STRIDE));
    match u32::try_from(stride % u64::from(hosts)) {
        Ok(stride) if stride > 0 => Ok(Rule::One(Pairs::Stride { stride })),
        _ => {
            let problem = format!(
                "With a stride of {stride}, each of {hosts} hosts sends to itself. Use a number that \
                 is not a multiple of {hosts}, such as 1."
            );
            Err(SettingError::sentence(&STRIDE, problem))
        }
    }
}

pub(super) fn staggered(
    settings: &Settings,
    network: &Network,
    _random: &mut ChaCha8Rng,
) -> Result<Rule, SettingError> {
    Ok(Rule::One(Pairs::Staggered(Racks::new(network, settings.number(&SAME_RACK))?)))
}

/// The receiver that was asked for, or none for a random one.
fn receiver(settings: &Settings, hosts: u32) -> Result<Option<HostId>, SettingError> {
    let text = settings.text(&RECEIVER);
    if text == "random" {
        return Ok(None);
    }
    match text.parse() {
        Ok(host) if host < hosts => Ok(Some(HostId(host))),
        _ => {
            let allowed = format!("\"random\" or a host from 0 to {}", hosts - 1);
            Err(SettingError::new(&RECEIVER, format!("\"{text}\""), allowed))
        }
    }
}

/// A permutation without a fixed point, all of them equally likely.
pub(super) fn derangement(hosts: u32, random: &mut ChaCha8Rng) -> Vec<HostId> {
    let mut partners: Vec<HostId> = (0..hosts).map(HostId).collect();
    // About one permutation in e is a derangement, whatever the number of hosts.
    loop {
        partners.shuffle(random);
        if partners.iter().enumerate().all(|(host, partner)| host != partner.index()) {
            return partners;
        }
    }
}
