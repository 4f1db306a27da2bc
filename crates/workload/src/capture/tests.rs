//! Captures that are made here, packet by packet.

use etherparse::PacketBuilder;
use proptest::prelude::*;

use super::*;
use crate::{parse_trace, write_trace};

/// A capture under way, in the format of libpcap.
struct Made(Vec<u8>);

const HOSTS: [[u8; 4]; 3] = [[10, 0, 0, 1], [10, 0, 0, 2], [10, 0, 0, 3]];

impl Made {
    fn new(link: u32) -> Made {
        let mut bytes = 0xa1b2_3c4d_u32.to_le_bytes().to_vec();
        bytes.extend([2, 0, 4, 0]);
        for word in [0, 0, 65_535, link] {
            bytes.extend(u32::to_le_bytes(word));
        }
        Made(bytes)
    }

    /// A frame at this many nanoseconds, of which `kept` bytes were captured.
    fn frame(mut self, ns: u64, frame: &[u8], kept: usize) -> Made {
        let kept = &frame[..kept.min(frame.len())];
        let (seconds, rest) = (1_000 + ns / 1_000_000_000, ns % 1_000_000_000);
        for word in [seconds as u32, rest as u32, kept.len() as u32, frame.len() as u32] {
            self.0.extend(word.to_le_bytes());
        }
        self.0.extend(kept);
        self
    }

    /// A segment from host `src` to host `dst` between ports 7 and 80.
    fn tcp(self, ns: u64, (src, dst): (usize, usize), sequence: u32, length: usize) -> Made {
        let frame = segment((src, dst), sequence, false, length);
        self.frame(ns, &frame, 128)
    }

    fn syn(self, ns: u64, (src, dst): (usize, usize), sequence: u32) -> Made {
        let frame = segment((src, dst), sequence, true, 0);
        self.frame(ns, &frame, 128)
    }

    fn read(&self) -> Result<Capture, CaptureError> {
        read_capture(self.0.as_slice(), Time::from_ms(1_000))
    }

    /// Start in nanoseconds, ends and size of each flow.
    fn flows(&self) -> Vec<(u64, u32, u32, u64)> {
        let flows = self.read().unwrap().flows;
        flows.iter().map(|f| (f.start.as_ps() / 1000, f.src.0, f.dst.0, f.size.get())).collect()
    }
}

fn segment((src, dst): (usize, usize), sequence: u32, syn: bool, length: usize) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2([1; 6], [2; 6])
        .ipv4(HOSTS[src], HOSTS[dst], 64)
        .tcp(7, 80, sequence, 65_000);
    let builder = if syn { builder.syn() } else { builder };
    let mut frame = Vec::new();
    builder.write(&mut frame, &vec![0; length]).unwrap();
    frame.resize(frame.len().max(60), 0);
    frame
}

fn datagram((src, dst): (usize, usize), length: usize) -> Vec<u8> {
    let builder =
        PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4(HOSTS[src], HOSTS[dst], 64).udp(53, 5353);
    let mut frame = Vec::new();
    builder.write(&mut frame, &vec![0; length]).unwrap();
    frame
}

const ETHERNET: u32 = 1;

#[test]
fn each_direction_is_a_flow_that_starts_with_its_first_byte() {
    let made = Made::new(ETHERNET)
        .syn(0, (0, 1), 99)
        .syn(10, (1, 0), 499)
        .tcp(20, (0, 1), 100, 0)
        .tcp(30, (0, 1), 100, 200)
        .tcp(40, (1, 0), 500, 1460)
        .tcp(50, (1, 0), 1960, 1460)
        .frame(60, &datagram((2, 0), 12), 2000);
    assert_eq!(made.flows(), [(30, 0, 1, 200), (40, 1, 0, 2920), (60, 2, 0, 12)]);
    let capture = made.read().unwrap();
    assert_eq!((capture.packets, capture.others, capture.is_cut_off), (7, 0, false));
    assert_eq!(capture.hosts, HOSTS.map(IpAddr::from));
    let read_back = parse_trace(&write_trace(&capture.flows), 3).unwrap();
    assert_eq!(read_back, capture.flows);
}

#[test]
fn bytes_that_are_sent_again_or_out_of_order_count_once() {
    let again = Made::new(ETHERNET)
        .tcp(0, (0, 1), 2_460, 1000)
        .tcp(1, (0, 1), 1_000, 1460)
        .tcp(2, (0, 1), 1_000, 1460)
        .tcp(3, (0, 1), 3_000, 1000);
    assert_eq!(again.flows(), [(0, 0, 1, 3000)]);
    // A keep-alive is before everything; sequence numbers come around.
    let around = Made::new(ETHERNET).tcp(0, (0, 1), u32::MAX - 9, 20).tcp(1, (0, 1), 10, 20);
    assert_eq!(around.flows(), [(0, 0, 1, 40)]);
    // The capture missed 1000 bytes in the middle.
    let gap = Made::new(ETHERNET).tcp(0, (0, 1), 0, 1000).tcp(1, (0, 1), 2000, 1000);
    assert_eq!(gap.flows(), [(0, 0, 1, 3000)]);
}

#[test]
fn silence_and_new_connections_end_a_flow() {
    let second = 1_000_000_000;
    let silence = Made::new(ETHERNET).tcp(0, (0, 1), 0, 100).tcp(second, (0, 1), 100, 100).tcp(
        2 * second + 1,
        (0, 1),
        200,
        50,
    );
    assert_eq!(silence.flows(), [(0, 0, 1, 200), (2 * second + 1, 0, 1, 50)]);
    let anew = Made::new(ETHERNET)
        .syn(0, (0, 1), 9)
        .tcp(1, (0, 1), 10, 100)
        .syn(2, (0, 1), 70_000)
        .tcp(3, (0, 1), 70_001, 30);
    assert_eq!(anew.flows(), [(1, 0, 1, 100), (3, 0, 1, 30)]);
}

#[test]
fn raw_and_cooked_captures_are_read_too() {
    let frame = segment((0, 1), 5, false, 33);
    let ip = &frame[14..];
    assert_eq!(Made::new(101).frame(0, ip, 99).flows(), [(0, 0, 1, 33)]);
    let cooked = [&[0; 14][..], &[8, 0], ip].concat();
    assert_eq!(Made::new(113).frame(0, &cooked, 99).flows(), [(0, 0, 1, 33)]);
    let cooked = [&[8, 0][..], &[0; 18], ip].concat();
    assert_eq!(Made::new(276).frame(0, &cooked, 99).flows(), [(0, 0, 1, 33)]);
}

#[test]
fn what_is_no_capture_of_flows_is_refused() {
    assert_eq!(read_capture(&b"start_s,src\n"[..], Time::ZERO), Err(CaptureError::NoCapture));
    assert_eq!(read_capture(&b""[..], Time::ZERO), Err(CaptureError::NoCapture));
    let wireless = Made::new(105).tcp(0, (0, 1), 0, 1);
    assert_eq!(wireless.read(), Err(CaptureError::LinkType(105)));
    let empty = Made::new(ETHERNET).tcp(0, (0, 1), 0, 0);
    assert_eq!(empty.read(), Err(CaptureError::NoFlows { packets: 1 }));
    let mut cut = Made::new(ETHERNET).tcp(0, (0, 1), 0, 7).tcp(1, (0, 1), 7, 7);
    cut.0.pop();
    let capture = cut.read().unwrap();
    assert!(capture.is_cut_off && capture.flows[0].size == Bytes::new(7));
}

proptest! {
    /// Whatever the order and however often they are sent, the bytes of a flow count once.
    #[test]
    fn a_tcp_flow_has_the_bytes_of_its_segments(
        first: u32, lengths in prop::collection::vec(1usize..1460, 1..20),
        again in prop::collection::vec(any::<prop::sample::Index>(), 0..10), seed: u64,
    ) {
        let mut segments = Vec::new();
        let mut sequence = first;
        for length in &lengths {
            segments.push((sequence, *length));
            sequence = sequence.wrapping_add(*length as u32);
        }
        segments.extend(again.iter().map(|index| *index.get(&segments)).collect::<Vec<_>>());
        use rand::seq::SliceRandom;
        segments.shuffle(&mut crate::random::stream(seed, "test", 0));
        let made = segments.iter().zip(0..).fold(Made::new(ETHERNET), |made, ((at, length), ns)| {
            made.tcp(ns, (0, 1), *at, *length)
        });
        let bytes = lengths.iter().sum::<usize>() as u64;
        prop_assert_eq!(made.flows(), [(0, 0, 1, bytes)]);
    }

    #[test]
    fn nothing_panics(mut bytes: Vec<u8>, link in prop::sample::select(vec![1u32, 101, 113, 276]), at: prop::sample::Index) {
        let _ = read_capture(bytes.as_slice(), Time::ZERO);
        let made = Made::new(link).frame(0, &bytes, 2000).tcp(5, (0, 1), 7, 100);
        let _ = made.read();
        let place = at.index(made.0.len());
        bytes = made.0;
        bytes[place] ^= 0x55;
        let _ = read_capture(bytes.as_slice(), Time::ZERO);
    }
}

/// One flow of 3000 B.
fn one_flow() -> Made {
    Made::new(1).tcp(0, (0, 1), 1, 1000).tcp(1_000, (0, 1), 1001, 2000)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn gzip_and_zstd_are_read_as_the_capture_in_them() {
    let capture = one_flow();
    let plain = capture.read().unwrap();
    assert_eq!(plain.flows.len(), 1);
    let (first, second) = capture.0.split_at(50);
    let members = [gzip(first), gzip(second)].concat();
    let zstd = |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap();
    let frames = [zstd(first), zstd(second)].concat();
    for compressed in [gzip(&capture.0), members, zstd(&capture.0), frames] {
        assert_eq!(Made(compressed).read(), Ok(plain.clone()));
    }
}

#[test]
fn other_compression_is_named_with_the_command_that_undoes_it() {
    for (start, command) in [(&b"BZh91AY&SY"[..], "bunzip2"), (b"\xfd7zXZ\0\0\x04", "unxz")] {
        let error = Made(start.to_vec()).read().unwrap_err().to_string();
        assert!(error.contains(&format!("Decompress it with `{command}`")), "{error}");
    }
}

#[test]
fn damaged_compression_is_refused() {
    for damaged in [&b"\x1f\x8b"[..], b"\x1f\x8b not gzip at all", b"\x28\xb5\x2f\xfd no zstd"] {
        assert!(Made(damaged.to_vec()).read().is_err(), "{damaged:?}");
    }
    let mut cut_off = gzip(&one_flow().0);
    cut_off.truncate(cut_off.len() / 2);
    assert!(Made(cut_off).read().is_err());
}

#[test]
fn a_wrong_checksum_is_refused() {
    let capture = one_flow().0;
    let mut zstd = zstd::Encoder::new(Vec::new(), 1).unwrap();
    zstd.include_checksum(true).unwrap();
    std::io::Write::write_all(&mut zstd, &capture).unwrap();
    // gzip ends with a checksum and the length, zstd with a checksum.
    let ends = [(gzip(&capture), 8), (gzip(&capture), 4), (zstd.finish().unwrap(), 4)];
    for (mut compressed, from_end) in ends {
        assert!(Made(compressed.clone()).read().is_ok());
        let place = compressed.len() - from_end;
        compressed[place] ^= 1;
        let error = Made(compressed).read().unwrap_err();
        assert!(error.to_string().contains("damaged after packet"), "{error}");
    }
}
