//! A random case, drawn from its seed: the network, the rules, the traffic and the life cycle. This
//! module only describes them.

use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Thresholds in bytes and a code point for each level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    pub thresholds: [u64; 2],
    pub dscp: [u8; 3],
}

impl Rule {
    /// The code point at an offset in a message.
    pub fn code_point(&self, offset: u64) -> u8 {
        self.dscp[self.thresholds.iter().filter(|threshold| offset > **threshold).count()]
    }
}

/// How the first host's packets get to the receiver. The packets are captured between `Away`'s
/// queue and the tagger, but behind `Here`'s queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    Fast,
    /// The router in the middle has a narrow link: bits per second, and bytes of its queue.
    Away(u64, u64),
    /// The tagged interface itself has a narrow link: bits per second, and bytes of its queue.
    Here(u64, u64),
}

/// The hook that the agent uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    Tcx,
    Clsact,
}

/// A TCP connection with data in its send buffer until the end, and its reader.
#[derive(Clone, Debug)]
pub struct Bulk {
    pub bytes: usize,
    pub receive_buffer: usize,
    pub read_at_once: usize,
    pub read_pause: Duration,
}

/// A TCP connection whose sender gets the processor late: one write waits for room in a small send
/// buffer, and fills it late.
#[derive(Clone, Debug)]
pub struct Starved {
    pub stream: Bulk,
    pub send_buffer: usize,
    /// The rate of the link for acknowledgements, in bits per second.
    pub acknowledgements: u64,
}

/// A TCP connection whose client waits for an answer to each message, and then pauses for much
/// longer than `message.idle`.
#[derive(Clone, Debug)]
pub struct Conversation {
    pub messages: Vec<u64>,
    pub pause: Duration,
}

/// UDP flows, one after another, each from another port.
#[derive(Clone, Debug)]
pub struct Datagrams {
    pub size: usize,
    pub at_once: usize,
    pub gap: Duration,
    pub bytes: usize,
    /// Each flow pauses once for this time, and sends as much again.
    pub pause: Option<Duration>,
}

/// QUIC connections, one after another.
#[derive(Clone, Debug)]
pub struct Quic {
    pub bytes: usize,
    pub window: u32,
    pub read_pause: Duration,
}

/// A program of somebody else that accepts every packet, so that no later program sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// A program on tcx that returns TC_ACT_OK. It is attached after all others.
    Tcx,
    /// A filter on clsact with this preference that matches every packet. With 0, the kernel chooses
    /// the preference.
    Filter(u32),
}

/// What happens to the agent, or around it. The agent runs before and after each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// `kill -9`. A new agent starts a while later, with the other rule if `other_rule`.
    Kill { other_rule: bool },
    /// The command `stop`. A new agent starts a while later.
    Stop,
    /// The file changes to the other rule.
    Reload,
    /// The file changes to nonsense and back.
    Refused,
    /// `stop`, and then `start` with the other hook.
    HookChange,
    /// The interface is renamed, and gets its own name again.
    Rename,
    /// The interface is removed and comes back.
    Away,
    /// The interface is deleted and made again at once, this many times. The agent may notice none, one
    /// or several of these interfaces. The last one may have the index of the first.
    Replaced { times: u64, has_old_index: bool },
    /// Somebody else attaches a program.
    Foreign(Foreign),
    /// `uninstall`, and then a start with the other rule.
    Reinstall,
}

impl Event {
    /// The name of its row in the figures.
    pub fn name(self) -> &'static str {
        match self {
            Event::Kill { .. } => "`kill -9` and restart",
            Event::Stop => "`stop` and restart",
            Event::Reload => "reload",
            Event::Refused => "refused reload",
            Event::HookChange => "change of hook",
            Event::Rename => "interface renamed and back",
            Event::Away => "interface removed and back",
            Event::Replaced { .. } => "interface replaced",
            Event::Foreign(_) => "other program attached",
            Event::Reinstall => "`uninstall` and start anew",
        }
    }
}

/// Everything that happens with one seed.
#[derive(Clone, Debug)]
pub struct Case {
    pub seed: u64,
    pub ipv6: bool,
    pub link: Link,
    /// The rule at the start, and the other rule. They have no code point in common.
    pub rules: [Rule; 2],
    pub message_end: &'static str,
    pub message_idle: Duration,
    /// `None` means never.
    pub flow_idle: Option<Duration>,
    pub hook: Hook,
    /// Another program that is attached before the agent first starts.
    pub foreign: Option<Foreign>,
    pub bulks: Vec<Bulk>,
    pub starved: Option<Starved>,
    pub conversations: Vec<Conversation>,
    pub datagrams: Vec<Datagrams>,
    pub quic: Option<Quic>,
    /// The events, each with the pause before it.
    pub events: Vec<(Duration, Event)>,
}

impl Case {
    /// The case of `seed`.
    pub fn new(seed: u64) -> Case {
        let draw = &mut Draw(ChaCha8Rng::seed_from_u64(seed));
        let link = draw.link();
        // Only TCP notices packets that the tagged interface's own queue dropped.
        let has_datagrams = !matches!(link, Link::Here(..));
        let message_end = draw.pick(&["acknowledged", "sent"]);
        let flow_idle = draw.pick(&[None, Some(Duration::from_secs(1))]);
        Case {
            seed,
            ipv6: draw.chance(0.3),
            link,
            rules: draw.rules(),
            message_end,
            message_idle: match message_end {
                "sent" => Duration::from_millis(20),
                _ => draw.milliseconds(&[5, 20]),
            },
            flow_idle,
            hook: draw.pick(&[Hook::Tcx, Hook::Clsact]),
            foreign: draw.chance(0.3).then(|| draw.foreign()),
            bulks: (0..draw.count(1, 3)).map(|_| draw.bulk()).collect(),
            starved: draw.chance(0.3).then(|| draw.starved()),
            conversations: (0..draw.count(0, 2)).map(|_| draw.conversation()).collect(),
            datagrams: (0..if has_datagrams { draw.count(0, 2) } else { 0 })
                .map(|_| draw.datagrams(flow_idle))
                .collect(),
            quic: (has_datagrams && draw.chance(0.4)).then(|| draw.quic()),
            events: draw.events(),
        }
    }

    /// A fixed case with one event of nearly every kind, for `cargo test`.
    pub fn short() -> Case {
        let quiet = Duration::from_millis(400);
        let events = [
            Event::Reload,
            Event::Kill { other_rule: false },
            Event::HookChange,
            Event::Rename,
            Event::Foreign(Foreign::Filter(10)),
            Event::Reinstall,
            Event::Away,
            Event::Replaced { times: 2, has_old_index: true },
        ];
        Case {
            hook: Hook::Tcx,
            foreign: Some(Foreign::Tcx),
            bulks: [(16, 10), (256, 0)]
                .map(|(receive_buffer, read_pause)| Bulk {
                    bytes: 1_000_000,
                    receive_buffer: receive_buffer << 10,
                    read_at_once: 16 << 10,
                    read_pause: Duration::from_millis(read_pause),
                })
                .to_vec(),
            starved: Some(Starved {
                stream: Bulk {
                    bytes: 300_000,
                    receive_buffer: 16 << 10,
                    read_at_once: 64 << 10,
                    read_pause: Duration::ZERO,
                },
                send_buffer: 16 << 10,
                acknowledgements: 1_000_000,
            }),
            message_idle: Duration::from_millis(5),
            events: events.map(|event| (quiet, event)).to_vec(),
            link: Link::Away(20_000_000, 60_000),
            datagrams: vec![Datagrams {
                size: 1000,
                at_once: 5,
                gap: Duration::from_millis(15),
                bytes: 300_000,
                pause: None,
            }],
            conversations: vec![Conversation {
                messages: vec![60_000, 300, 130_000],
                pause: Duration::from_millis(60),
            }],
            quic: Some(Quic {
                bytes: 300_000,
                window: 64 << 10,
                read_pause: Duration::from_millis(5),
            }),
            ..Case::new(1)
        }
    }
}

struct Draw(ChaCha8Rng);

impl Draw {
    fn chance(&mut self, probability: f64) -> bool {
        self.0.random_bool(probability)
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.0.random_range(0..choices.len())]
    }

    /// A number from `from` to `to`, both inclusive.
    fn count(&mut self, from: u64, to: u64) -> u64 {
        self.0.random_range(from..=to)
    }

    fn milliseconds(&mut self, choices: &[u64]) -> Duration {
        Duration::from_millis(self.pick(choices))
    }

    fn link(&mut self) -> Link {
        let rate = self.pick(&[5, 10, 20, 50]) * 1_000_000;
        let queue = self.pick(&[20_000, 60_000, 200_000]);
        match self.count(0, 4) {
            0 | 1 => Link::Fast,
            2 | 3 => Link::Away(rate, queue),
            _ => Link::Here(rate, queue),
        }
    }

    fn rules(&mut self) -> [Rule; 2] {
        let all = [[20_000, 100_000], [30_000, 60_000], [50_000, 200_000]];
        let first = Rule { thresholds: self.pick(&all), dscp: [40, 20, 3] };
        [first, Rule { thresholds: self.pick(&all), dscp: [41, 21, 4] }]
    }

    fn bulk(&mut self) -> Bulk {
        Bulk {
            bytes: self.count(400_000, 2_000_000) as usize,
            receive_buffer: self.pick(&[8, 16, 64, 256]) << 10,
            read_at_once: self.pick(&[2, 16, 64]) << 10,
            read_pause: self.milliseconds(&[0, 2, 10, 30]),
        }
    }

    fn starved(&mut self) -> Starved {
        let stream = Bulk {
            bytes: self.count(200_000, 500_000) as usize,
            read_pause: self.milliseconds(&[0, 2]),
            ..self.bulk()
        };
        Starved {
            stream,
            send_buffer: self.pick(&[8, 16, 32]) << 10,
            acknowledgements: self.pick(&[200_000, 1_000_000]),
        }
    }

    fn conversation(&mut self) -> Conversation {
        let size = |draw: &mut Draw| match draw.count(0, 2) {
            0 => draw.count(100, 3_000),
            1 => draw.count(3_000, 40_000),
            _ => draw.count(40_000, 150_000),
        };
        let count = self.count(5, 20);
        Conversation {
            messages: (0..count).map(|_| size(self)).collect(),
            pause: self.milliseconds(&[60, 100]),
        }
    }

    fn datagrams(&mut self, flow_idle: Option<Duration>) -> Datagrams {
        Datagrams {
            size: self.count(100, 1400) as usize,
            at_once: self.count(1, 8) as usize,
            gap: self.milliseconds(&[5, 10, 20]),
            bytes: self.count(30_000, 300_000) as usize,
            pause: flow_idle.map(|idle| 2 * idle),
        }
    }

    fn quic(&mut self) -> Quic {
        Quic {
            bytes: self.count(100_000, 500_000) as usize,
            window: self.pick(&[16, 64, 256]) << 10,
            read_pause: self.milliseconds(&[0, 5, 20]),
        }
    }

    fn foreign(&mut self) -> Foreign {
        self.pick(&[Foreign::Tcx, Foreign::Filter(0), Foreign::Filter(10)])
    }

    fn events(&mut self) -> Vec<(Duration, Event)> {
        let count = self.count(3, 6);
        (0..count).map(|_| (Duration::from_millis(self.count(200, 1200)), self.event())).collect()
    }

    fn event(&mut self) -> Event {
        match self.count(0, 10) {
            0 | 1 => Event::Kill { other_rule: self.chance(0.5) },
            2 => Event::Stop,
            3 => Event::Reload,
            4 => Event::Refused,
            5 => Event::HookChange,
            6 => Event::Rename,
            7 => Event::Away,
            8 => Event::Foreign(self.foreign()),
            9 => Event::Replaced { times: self.count(1, 4), has_old_index: self.chance(0.5) },
            _ => Event::Reinstall,
        }
    }
}

#[test]
fn a_seed_gives_one_case_and_seeds_give_every_event_and_link() {
    let text = |seed| format!("{:?}", Case::new(seed));
    assert!((0..50).all(|seed| text(seed) == text(seed)));
    let all: String = (0..50).map(text).collect();
    let expected = [
        "Fast",
        "Away(",
        "Here(",
        "Kill",
        "Stop",
        "Reload",
        "Refused",
        "HookChange",
        "Rename",
        "Away)",
        "has_old_index: true",
        "has_old_index: false",
        "starved: Some",
        "Foreign(Tcx",
        "Filter(0)",
        "Reinstall",
        "ipv6: true",
        "quic: Some",
        "sent",
    ];
    for part in expected {
        assert!(all.contains(part), "no case has {part}");
    }
}
