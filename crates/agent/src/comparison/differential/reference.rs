//! Computes the level that each packet must have: the MLFQ tagger in Rust, behind a second
//! implementation of what turns packets into departures.

use std::collections::BTreeMap;

use flowsched_schemes::tagger::Departure;
use flowsched_schemes::tagger::mlfq::{Bookkeeping, MessageStart, Mlfq, MlfqFlow};
use flowsched_units::Time;

use super::frames::{FIN, FlowName, Frame, RST, SYN, Truth};
use crate::bpf::types::constant;
use crate::config::Config;

const UDP: u8 = 17;
/// Binary digits of a tick of the injected clock.
const INJECTED_TICK: u32 = constant::FS_INJECTED_TICK_BITS.0;

#[derive(Default)]
struct Flow {
    mlfq: MlfqFlow,
    /// The offset of the next byte, from the first byte of the flow.
    next_offset: u64,
    next_seq: u32,
    last_sent: u64,
    /// The tick in which the last packet was sent.
    tick: Option<u64>,
    /// The sequence number of the last timeout, and the number of timeouts in a row that it had.
    timeouts: Option<(u32, u32)>,
    mark: u32,
    /// The time of the last packet from the other end, for TCP.
    last_heard: Option<u64>,
}

/// The rule in Rust, and counters to compare.
pub(super) struct Reference {
    rule: Mlfq,
    /// The rule for a packet with which the application begins a message: any idle time is enough.
    start: Mlfq,
    config: Option<Config>,
    flows: BTreeMap<FlowName, Flow>,
    pub(super) tagged: u64,
    pub(super) left_alone: u64,
    pub(super) payload_bytes: u64,
    pub(super) wire_packets: u64,
    pub(super) application_starts: u64,
    /// Pauses that would have been long enough for a new message, if nothing had arrived meanwhile.
    pub(super) held_up: u64,
}

impl Reference {
    pub(super) fn new() -> Reference {
        Reference {
            rule: Mlfq::new(&[], Bookkeeping::Offset).unwrap(),
            start: Mlfq::new(&[], Bookkeeping::Offset).unwrap(),
            config: None,
            flows: BTreeMap::new(),
            tagged: 0,
            left_alone: 0,
            payload_bytes: 0,
            wire_packets: 0,
            application_starts: 0,
            held_up: 0,
        }
    }

    pub(super) fn obey(&mut self, config: &Config) {
        let bookkeeping =
            if config.cumulative { Bookkeeping::Cumulative } else { Bookkeeping::Offset };
        let idle = config.flow_idle.unwrap_or(Time::MAX);
        let rule = |idle| {
            Mlfq::new(&config.thresholds, bookkeeping)
                .unwrap()
                .with_message_start(MessageStart::Idle(idle))
                .with_ageing(config.ageing_timeouts)
        };
        (self.rule, self.start) = (rule(idle), rule(Time::ZERO));
        self.config = Some(config.clone());
    }

    /// Notes that the other end of the flow has sent something.
    pub(super) fn hear(&mut self, flow: FlowName, now: u64) {
        if let Some(flow) = self.flows.get_mut(&flow) {
            flow.last_heard = Some(now);
        }
    }

    /// The frame's level; `None` if the frame is left alone.
    pub(super) fn level(&mut self, frame: &Frame, now: u64) -> Option<usize> {
        let config = self.config.clone()?;
        let level = match &frame.truth {
            Some(truth) if chosen(&config, truth) => {
                self.payload_bytes += u64::from(truth.payload);
                self.wire_packets += u64::from(frame.wire_packets());
                Some(self.tag(&config, truth, frame.mark, now))
            }
            _ => None,
        };
        *(if level.is_some() { &mut self.tagged } else { &mut self.left_alone }) += 1;
        level
    }

    fn tag(&mut self, config: &Config, truth: &Truth, mark: u32, now: u64) -> usize {
        if truth.is_tcp && truth.flags & (SYN | RST) != 0 {
            self.flows.remove(&truth.flow);
            return 0;
        }
        if truth.is_tcp && truth.payload == 0 && truth.flags & FIN == 0 {
            return 0;
        }
        let mark = mark & config.start_mark.unwrap_or(0);
        let flow = self.flows.entry(truth.flow).or_insert_with(|| Flow {
            next_seq: truth.seq,
            last_sent: now,
            mark,
            ..Flow::default()
        });
        // All packets that a UDP flow sends in one tick have the time of the first.
        let tick = Some(now >> INJECTED_TICK);
        let is_by_ticks = truth.flow.4 == UDP && config.knows_time_by_ticks();
        let now = if is_by_ticks && flow.tick == tick { flow.last_sent } else { now };
        flow.tick = tick;
        let behind = flow.next_seq.wrapping_sub(truth.seq) as i32;
        let sent_before = truth.is_tcp && behind > 0;
        let offset = match truth.is_tcp {
            true => flow.next_offset.saturating_add_signed(-i64::from(behind)),
            false => flow.next_offset,
        };
        let gap = config.timeout_gap.as_ps() / 1000;
        flow.timeouts = match flow.timeouts {
            _ if truth.is_tcp && !sent_before => None,
            Some((seq, count)) if truth.is_tcp && now - flow.last_sent >= gap => {
                Some((truth.seq, if seq == truth.seq { count + 1 } else { 1 }))
            }
            None if truth.is_tcp && now - flow.last_sent >= gap => Some((truth.seq, 1)),
            unchanged => unchanged,
        };
        // A FIN without data begins no message.
        let begins = !sent_before && (truth.payload > 0 || !truth.is_tcp);
        let starts = flow.mark != mark && begins;
        if starts {
            flow.mark = mark;
            self.application_starts += 1;
        }
        let enough = config.flow_idle.map_or(u64::MAX, |idle| idle.as_ps() / 1000);
        let is_quiet = flow.last_heard.is_none_or(|heard| now - heard >= enough);
        if begins && !is_quiet && now - flow.last_sent >= enough {
            self.held_up += 1;
        }
        let departure = Departure {
            now: Time::from_ns(now),
            offset,
            payload: truth.payload,
            idle: begins && (starts || is_quiet),
            timeouts_in_a_row: flow.timeouts.map_or(0, |(_, count)| count),
        };
        flow.last_sent = now;
        if offset + u64::from(truth.payload) > flow.next_offset {
            flow.next_offset = offset + u64::from(truth.payload);
            flow.next_seq = truth.seq.wrapping_add(truth.payload);
        }
        let rule = if starts { &self.start } else { &self.rule };
        usize::from(rule.tag(&mut flow.mlfq, &departure))
    }
}

fn chosen(config: &Config, truth: &Truth) -> bool {
    if config.respect_dscp && truth.outer_dscp != 0 {
        return false;
    }
    let ports = &config.selection.ports;
    let in_ports = |port| ports.iter().any(|(first, last)| (*first..=*last).contains(&port));
    if !ports.is_empty() && !in_ports(truth.flow.2) && !in_ports(truth.flow.3) {
        return false;
    }
    // 10.0.0.0/29 and fd00::/125 both hold the hosts 0 to 7.
    let _ = truth.is_ipv6;
    config.selection.prefixes.is_empty() || truth.destination < 8
}
