//! The results of clients as the tables of an experiment, for one client or for several together.
//!
//! A client writes `flows.txt` in its results folder, one line per flow. When the traffic ends, the tables
//! of every experiment are written to the same folder: flows.parquet, summary.json and the others.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use flowsched_experiment::results::{
    self, FlowRow, Meta, PacketCounters, PortsOfRun, Program, RunRecord, Summary,
};
use flowsched_schemes::world::Uncounted;
use flowsched_units::{Bytes, Time};
use flowsched_workload::FlowParts;

use crate::error::TrafficError;
use crate::lines::{COLUMNS, Line};

/// The name of the file with a client's flows, in its results folder.
pub const LINES: &str = "flows.txt";
/// The first line of the file.
const FIRST: &str = "# flowsched traffic";

/// The description of a client's traffic at the beginning of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The name of the scheme in the tables, such as the congestion control in use.
    pub scheme: String,
    /// The seed.
    pub seed: u64,
    /// The client's address.
    pub client: Ipv4Addr,
    /// The servers, in the order of the configuration.
    pub servers: Vec<SocketAddrV4>,
    /// When the traffic starts, since the beginning of 1970.
    pub start: Duration,
}

impl Head {
    /// The description of traffic that starts now.
    pub fn now(scheme: &str, seed: u64, client: Ipv4Addr, servers: &[SocketAddrV4]) -> Head {
        let start = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Head { scheme: scheme.to_owned(), seed, client, servers: servers.to_owned(), start }
    }

    /// Creates the folder and the file in it, and writes the description. Returns the file for the lines.
    ///
    /// # Errors
    /// If the folder or the file cannot be written.
    pub fn create(&self, folder: &Path) -> Result<BufWriter<File>, TrafficError> {
        fs::create_dir_all(folder).map_err(|e| TrafficError::file("make", folder, e))?;
        let path = folder.join(LINES);
        let write = || {
            let mut file = BufWriter::new(File::create(&path)?);
            let Head { scheme, seed, client, servers, start } = self;
            writeln!(file, "{FIRST}\n# scheme {scheme}\n# seed {seed}\n# client {client}")?;
            writeln!(file, "# start_ns {}", start.as_nanos())?;
            for server in servers {
                writeln!(file, "# server {server}")?;
            }
            writeln!(file, "# {COLUMNS}")?;
            Ok(file)
        };
        write().map_err(|e| TrafficError::file("write", &path, e))
    }
}

/// The flows of one client.
struct OfClient {
    head: Head,
    /// Each flow with its code point. Its source is the server's index in the configuration, and its times are relative
    /// to the start of the client's traffic.
    flows: Vec<(FlowRow, u8)>,
}

impl OfClient {
    fn read(folder: &Path) -> Result<OfClient, TrafficError> {
        let path = folder.join(LINES);
        let file = File::open(&path).map_err(|e| TrafficError::file("read", &path, e))?;
        let (mut heads, mut flows) = (Vec::new(), Vec::new());
        for (number, line) in (1..).zip(BufReader::new(file).lines()) {
            let line = line.map_err(|e| TrafficError::file("read", &path, e))?;
            match line.strip_prefix("# ") {
                Some(head) => heads.push(head.to_owned()),
                None => flows.push(Line::parse(&line).as_ref().map(flow).ok_or_else(|| {
                    TrafficError::Line {
                        path: path.clone(),
                        line: number,
                        problem:
                            "This is no line of a flow. Restore the file as the client wrote it."
                                .to_owned(),
                    }
                })?),
            }
        }
        let is_known =
            |head: &Head, (row, _): &(FlowRow, u8)| (row.src as usize) < head.servers.len();
        let head = head(&heads).filter(|head| flows.iter().all(|flow| is_known(head, flow)));
        let head = head.ok_or_else(|| TrafficError::Line {
            path,
            line: 0,
            problem: "Its first lines are not those of `flowsched traffic client`.".to_owned(),
        })?;
        Ok(OfClient { head, flows })
    }
}

fn head(lines: &[String]) -> Option<Head> {
    let value = |key: &str| lines.iter().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
    let servers = lines.iter().filter_map(|line| line.strip_prefix("server ")?.parse().ok());
    Some(Head {
        scheme: value("scheme")?.to_owned(),
        seed: value("seed")?.parse().ok()?,
        client: value("client")?.parse().ok()?,
        start: Duration::from_nanos(value("start_ns")?.parse().ok()?),
        servers: servers.collect(),
    })
}

/// Whether a client wrote this folder.
pub fn is_of_client(folder: &Path) -> bool {
    folder.join(LINES).is_file()
}

/// Writes the flows in clients' folders as the runs of one experiment to the folder `out`. Clients with the
/// same scheme and seed form one run. Each flow goes from a server to a client; hosts are told apart by
/// their addresses. Times are those of the clients' clocks.
///
/// # Errors
/// If a folder is not a client's, or if `out` cannot be written.
pub fn write(folders: &[PathBuf], out: &Path, program: Program) -> Result<Summary, TrafficError> {
    let clients: Vec<OfClient> =
        folders.iter().map(|folder| OfClient::read(folder)).collect::<Result<_, _>>()?;
    let meta = Meta {
        name: "traffic between hosts".to_owned(),
        experiment: experiment(&clients),
        program,
        ..Meta::default()
    };
    let mut runs: BTreeMap<(u64, usize), Vec<OfClient>> = BTreeMap::new();
    let mut schemes: Vec<String> = Vec::new();
    for client in clients {
        let name = &client.head.scheme;
        let place = schemes.iter().position(|scheme| scheme == name).unwrap_or_else(|| {
            schemes.push(name.clone());
            schemes.len() - 1
        });
        runs.entry((client.head.seed, place)).or_default().push(client);
    }
    let records = runs.into_values().map(|clients| {
        let record = record(clients);
        let ports = PortsOfRun { run: record.key(), ..PortsOfRun::default() };
        (record, ports)
    });
    Ok(results::write(out, &meta, records)?)
}

/// The text that takes the place of the experiment file: the clients and their servers.
fn experiment(clients: &[OfClient]) -> String {
    let mut text =
        "# The flows of `flowsched traffic client`; each goes from a server to a client.\n"
            .to_owned();
    for OfClient { head, flows } in clients {
        let servers: Vec<String> = head.servers.iter().map(|at| format!("\"{at}\"")).collect();
        text += &format!(
            "\n[[client]]\naddress = \"{}\"\nscheme = {:?}\nseed = {}\nstart_ns = {}\nflows = {}\nservers = [{}]\n",
            head.client,
            head.scheme,
            head.seed,
            head.start.as_nanos(),
            flows.len(),
            servers.join(", "),
        );
    }
    text
}

/// One run, from all its clients.
fn record(clients: Vec<OfClient>) -> RunRecord {
    let first = clients.iter().map(|client| client.head.start).min().unwrap_or_default();
    let mut hosts: Vec<Ipv4Addr> = Vec::new();
    let mut host = |address: Ipv4Addr| {
        hosts.iter().position(|one| *one == address).unwrap_or_else(|| {
            hosts.push(address);
            hosts.len() - 1
        }) as u32
    };
    let (scheme, seed) = clients
        .first()
        .map(|client| (client.head.scheme.clone(), client.head.seed))
        .unwrap_or_default();
    let mut all: Vec<(FlowRow, u8)> = Vec::new();
    for OfClient { head, flows } in clients {
        let dst = host(head.client);
        let servers: Vec<u32> = head.servers.iter().map(|server| host(*server.ip())).collect();
        let late = head.start.saturating_sub(first).as_nanos();
        let late = Time::from_ns(u64::try_from(late).unwrap_or(u64::MAX));
        all.extend(flows.into_iter().map(|(row, dscp)| {
            let src = servers[row.src as usize];
            (FlowRow { src, dst, start: row.start + late, ..row }, dscp)
        }));
    }
    all.sort_by_key(|(row, _)| row.start);
    let names: [String; 256] = std::array::from_fn(|dscp| format!("dscp {dscp}"));
    let is_one = all.windows(2).all(|two| two[0].1 == two[1].1);
    let parts = match is_one {
        true => FlowParts::default(),
        false => {
            FlowParts::from_names(all.iter().map(|(_, dscp)| names[usize::from(*dscp)].as_str()))
        }
    };
    (0..).zip(&mut all).for_each(|(number, (row, _))| row.flow = number);
    let flows: Vec<FlowRow> = all.into_iter().map(|(row, _)| row).collect();
    let ends = flows.iter().map(|row| row.start + row.fct.unwrap_or_default());
    RunRecord {
        scheme,
        seed,
        end: ends.max().unwrap_or_default(),
        hosts: hosts.iter().map(Ipv4Addr::to_string).collect(),
        parts,
        flows,
        // Clients know neither the timeouts and retransmissions, which the sender counts, nor the drops and
        // marks, which the switches count.
        uncounted: Uncounted {
            retransmissions: true,
            timeouts: true,
            timeout_rows: true,
            arrivals: true,
            losses: true,
            overhead: true,
            ports: true,
        },
        ..RunRecord::default()
    }
}

/// A flow, as [`OfClient`] has it.
fn flow(line: &Line) -> (FlowRow, u8) {
    let row = FlowRow {
        src: u32::try_from(line.server).unwrap_or(u32::MAX),
        size: Bytes::new(line.bytes.into()),
        start: line.start,
        fct: line.fct,
        receiver_fct: line.fct,
        packets: PacketCounters {
            reordered: line.out_of_order.into(),
            ..PacketCounters::default()
        },
        measured: true,
        ..FlowRow::default()
    };
    (row, line.dscp)
}
