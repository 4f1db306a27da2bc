//! Judges the packets of TCP connections.

use super::{Judge, Place};
use crate::capture::Packet;
use crate::draw::Conversation;
use crate::history::Phase;

/// The offset in the stream of a packet's first byte.
fn offset(packets: &[&Packet], packet: &Packet) -> u64 {
    u64::from(packet.seen.seq.wrapping_sub(packets[0].seen.seq).wrapping_sub(1))
}

/// Judges a packet without payload. It has the top level, except that a FIN may belong to a message.
fn judge_bare(judge: &mut Judge<'_>, packet: &Packet) {
    let is_fin = packet.seen.fin && !packet.seen.syn && !packet.seen.rst;
    judge.judge(
        "TCP without payload",
        packet,
        |_| {
            if is_fin { Place::Any } else { Place::From(0, 0) }
        },
    );
}

/// The place of a packet at this offset in the connection, for a tagger that may have started after the
/// connection. Such a tagger may count the SYN as a byte.
fn earned(offset: u64) -> Place {
    Place::From(offset, offset + 1)
}

/// Judges a connection that is one message, because its only write lasted until its end, or left data in
/// the send buffer until then.
pub(super) fn bulk(judge: &mut Judge<'_>, kind: &'static str, packets: &[&Packet]) {
    for packet in packets {
        if packet.seen.payload == 0 {
            judge_bare(judge, packet);
            continue;
        }
        let offset = offset(packets, packet);
        let is_older = |phase: &Phase| packets[0].at < judge.history.birth(phase.life).1;
        judge.judge(kind, packet, |phase| {
            if is_older(phase) { earned(offset) } else { Place::From(offset, offset) }
        });
    }
}

/// A message of a conversation. `start` is the offset of its first byte.
#[derive(Clone, Copy, Debug, Default)]
struct Message {
    start: u64,
    /// The times at which the first and the last packet of the message were captured.
    seen: Option<(u64, u64)>,
    /// The times at which the first and the last packet with its last byte were captured.
    tail_seen: Option<(u64, u64)>,
}

fn extend(span: &mut Option<(u64, u64)>, at: u64) {
    let (first, _) = span.unwrap_or((at, at));
    *span = Some((first, at));
}

/// Returns the messages, and the index of the message of each data packet.
fn messages(conversation: &Conversation, packets: &[&Packet]) -> (Vec<Message>, Vec<usize>) {
    let mut end = 0;
    let mut messages = Vec::new();
    for size in &conversation.messages {
        messages.push(Message { start: end, ..Message::default() });
        end += size;
    }
    let ends: Vec<u64> = messages.iter().skip(1).map(|next| next.start).chain([end]).collect();
    let mut indices = Vec::new();
    for packet in packets {
        let offset = offset(packets, packet);
        let index = ends.partition_point(|end| *end <= offset).min(messages.len() - 1);
        indices.push(index);
        if packet.seen.payload > 0 {
            extend(&mut messages[index].seen, packet.at);
            if offset + packet.seen.payload as u64 >= ends[index] {
                extend(&mut messages[index].tail_seen, packet.at);
            }
        }
    }
    (messages, indices)
}

/// Judges a connection whose client paused before each message, with everything acknowledged.
///
/// A tagger that started after the end of the previous message has not seen that end, and leaves the
/// connection on its level. This is certain only if the tagger started during the pause. If it started
/// before, the host may have sent the end a second time, and the network may have lost that packet after
/// the tagger saw it.
pub(super) fn conversation(
    judge: &mut Judge<'_>,
    conversation: &Conversation,
    packets: &[&Packet],
) {
    let (messages, indices) = messages(conversation, packets);
    let pause = conversation.pause.as_nanos() as u64;
    for (packet, index) in packets.iter().zip(indices) {
        if packet.seen.payload == 0 {
            judge_bare(judge, packet);
            continue;
        }
        let offset = offset(packets, packet);
        let message = &messages[index];
        let before = index.checked_sub(1).map(|before| &messages[before]);
        let history = judge.history;
        judge.judge("request and response TCP", packet, |phase| {
            let Some(before) = before else { return earned(offset) };
            let (Some((first, _)), Some((tail, last_tail))) = (message.seen, before.tail_seen)
            else {
                return Place::Any;
            };
            let (youngest, oldest) = history.birth(phase.life);
            let until = message.seen.map_or(first, |(_, last)| last);
            if history.has_gap(phase.life, tail, until) {
                // The tagger may have missed the end of the previous message.
                Place::Any
            } else if oldest < tail {
                Place::From(offset - message.start, offset - message.start)
            } else if youngest > last_tail.max(first.saturating_sub(pause)) {
                earned(offset)
            } else {
                Place::Any
            }
        });
    }
}
