//! `--pcap`: compares what tshark reads in a capture with what the tables say of the same port.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;

use crate::common::Place;

/// Hosts whose packets are marked and have two priorities.
const MARKED: &str = r#"name = "marked"
seeds = 1

[topology]
kind = "star"
hosts = 4

[workload]
pattern = "many-to-one"
receiver = 0
sizes = "fixed 100pkt"
load = 0.9
flows = 60

[[scheme]]
preset = "pias"
queues = 2
thresholds = "10pkt"
ecn_threshold = "15KB"

[[scheme]]
preset = "pdq"
"#;

/// The last counters of the port from `owner` to `peer`: packets and bytes sent, and marks.
pub fn counted(folder: &Path, scheme: &str, owner: &str, peer: &str) -> (u64, u64, u64) {
    let file = File::open(folder.join("ports.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let names: Vec<String> = reader
        .metadata()
        .file_metadata()
        .schema_descr()
        .columns()
        .iter()
        .map(|column| column.name().to_owned())
        .collect();
    let column = |name: &str| names.iter().position(|one| one == name).unwrap();
    let rows = reader.get_row_iter(None).unwrap().map(Result::unwrap);
    let of_port = rows.filter(|row| {
        row.get_string(column("scheme")).unwrap() == scheme
            && row.get_string(column("owner")).unwrap() == owner
            && row.get_string(column("peer")).unwrap() == peer
    });
    let last = of_port.last().unwrap();
    let count = |name: &str| last.get_long(column(name)).unwrap() as u64;
    (count("tx_packets"), count("tx_bytes"), count("ecn_marks"))
}

/// The values of these fields that tshark prints, with a line for each packet.
pub fn tshark(capture: &Path, fields: &[&str]) -> Vec<Vec<String>> {
    let mut command = Command::new("tshark");
    command.args(["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]);
    command.arg("-r").arg(capture).args(["-T", "fields"]);
    for field in fields {
        command.args(["-e", field]);
    }
    let done = command.output().expect("tshark is installed");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8(done.stdout).unwrap();
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn simulated_packets_open_in_tshark_and_agree_with_the_port() {
    let place = Place::new();
    place.write("marked.toml", MARKED);
    let plain = place.flowsched(&["run", "marked.toml", "--out", "plain"]);
    assert_eq!(plain.status, Some(0), "{}", plain.errors);
    let ports = ["--pcap", "switch0:0", "--pcap", "host1:switch0"];
    let run = ["run", "marked.toml", "--out", "captured"];
    let done = place.flowsched(&[&run[..], &ports[..]].concat());
    assert_eq!(done.status, Some(0), "{}", done.errors);
    for table in ["flows.parquet", "ports.parquet"] {
        let [plain, captured] =
            ["plain", "captured"].map(|folder| fs::read(place.path(folder).join(table)).unwrap());
        assert_eq!(plain, captured, "captures change {table}");
    }
    let folder = place.path("captured");
    for (scheme, file, owner, peer) in [
        ("pias", "switch0-0", "switch 0", "host 0"),
        ("pias", "host1-switch0", "host 1", "switch 0"),
        ("pdq", "switch0-0", "switch 0", "host 0"),
    ] {
        let capture = folder.join(format!("captures/{scheme}-1/{file}.pcapng"));
        let fields = ["frame.len", "ip.dsfield.dscp", "ip.dsfield.ecn", "frame.time_relative"];
        let packets = tshark(&capture, &fields);
        let bytes: u64 = packets.iter().map(|row| row[0].parse::<u64>().unwrap() - 14).sum();
        let (sent, sent_bytes, marks) = counted(&folder, scheme, owner, peer);
        assert_eq!((packets.len() as u64, bytes), (sent, sent_bytes), "{scheme} {file}");
        let times: Vec<f64> = packets.iter().map(|row| row[3].parse().unwrap()).collect();
        assert!(times.is_sorted(), "{scheme} {file}");
        if scheme == "pias" {
            let count = |column: usize, value: &str| {
                packets.iter().filter(|row| row[column] == value).count()
            };
            let marked = count(2, "3") as u64;
            assert!(count(1, "8") > 0 && count(1, "0") > 0, "two priorities");
            assert_eq!(count(1, "8") + count(1, "0"), packets.len());
            // Nobody else has marked the packets that a host sends; those that a switch sends may
            // have been marked before.
            let are_its_own = marked == marks || (file == "switch0-0" && marked > marks);
            assert!(marks > 0 && are_its_own, "{file}: {marked} marked, {marks} by the port");
        }
    }
    let capture = folder.join("captures/pias-1/switch0-0.pcapng");
    let protocols = tshark(&capture, &["frame.protocols"]);
    assert!(protocols.iter().all(|row| !row[0].contains("gsm")), "{:?}", protocols.first());
    let expert = ["_ws.malformed", "ip.checksum.status", "tcp.seq", "tcp.len", "tcp.ack"];
    for row in tshark(&capture, &expert) {
        assert_eq!((row[0].as_str(), row[1].as_str()), ("", "1"), "{row:?}");
        assert!(!row[2].is_empty() && !row[3].is_empty() && !row[4].is_empty(), "{row:?}");
    }
}

#[test]
fn ports_that_are_not_there_are_refused_before_anything_runs() {
    let place = Place::new();
    for (port, said) in [
        ("switch0:4", "has ports 0 to 3"),
        ("switch9:0", "no such host or switch"),
        ("switch0:host9", "has no link to host9"),
        ("nothing", "no colon"),
    ] {
        let done = place.flowsched(&["run", "small.toml", "--pcap", port]);
        assert_eq!(done.status, Some(2), "{}", done.errors);
        let words: Vec<&str> = done.errors.split_whitespace().collect();
        assert!(words.join(" ").contains(said), "{}", done.errors);
        assert!(!place.path("results").exists());
    }
}

/// One port under two names would leave one of the files empty.
#[test]
fn one_port_under_two_names_is_refused() {
    let place = Place::new();
    for second in ["switch0:host0", "switch0:0"] {
        let arguments = ["run", "small.toml", "--pcap", "switch0:0", "--pcap", second];
        let done = place.flowsched(&arguments);
        assert_eq!(done.status, Some(2), "{}", done.errors);
        let words = done.errors.split_whitespace().collect::<Vec<_>>().join(" ");
        let said = format!("`--pcap switch0:0` and `--pcap {second}` name the same port");
        assert!(words.contains(&said), "{words}");
        assert!(!place.path("results").exists());
    }
}
