//! The configuration file, in the format of the PIAS authors' generator: one key and its values per line.
//!
//! ```text
//! server 192.168.1.51 5001          a server; may be repeated
//! req_size_dist conf/DCTCP_CDF.txt  sizes of requests: a CDF file, or a built-in distribution
//! rate 500Mbps 30                   a rate that servers send at, and its weight; 0Mbps: no limit
//! dscp 1 25                         a DSCP of servers' packets, and its weight (also `service`)
//! fanout 5 60                       flows that a request is divided into, and the weight
//! load 800Mbps                      the load of the client's link, headers counted
//! num_reqs 3000                     how many requests
//! ```
//!
//! `load` and `num_reqs` belong to the generator's first version. Later versions take them from the command
//! line.

use std::fs;
use std::iter;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use flowsched_units::Rate;
use flowsched_workload::sizes::{SizeDistribution, by_name, parse_cdf};

use crate::error::TrafficError;

/// The share of a link's rate that carries payload: 1448 of 1538 bytes (the authors' `TG_GOODPUT_RATIO`).
const GOODPUT: f64 = 1448.0 / 1538.0;

/// A value with a weight. Values are drawn in proportion to their weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weighted {
    /// The value.
    pub value: u32,
    /// Its weight.
    pub weight: u32,
}

/// A client's configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// The servers that send flows.
    pub servers: Vec<SocketAddrV4>,
    /// The sizes of requests.
    pub sizes: SizeDistribution,
    /// The load of the client's link, headers included; `None` if the file has none.
    pub load: Option<Rate>,
    /// The number of requests; `None` if the file has none.
    pub requests: Option<u64>,
    /// The DSCPs to draw from, once per request.
    pub dscps: Vec<Weighted>,
    /// The rates to draw from in Mbps, once per request; 0 means no limit.
    pub rates_mbps: Vec<Weighted>,
    /// The numbers of flows to draw from, once per request.
    pub fanouts: Vec<Weighted>,
    /// The text of the file.
    pub text: String,
}

impl Config {
    /// Reads a file. The name of a CDF file is relative to the working directory, as in the authors'
    /// generator, or to the folder of the configuration file, or to the folder above.
    ///
    /// # Errors
    /// [`TrafficError::Line`] for an invalid line, or an error if a file cannot be read.
    pub fn read(path: &Path) -> Result<Config, TrafficError> {
        let text = fs::read_to_string(path).map_err(|e| TrafficError::file("read", path, e))?;
        Reading { path, found: Found::default() }.read(text)
    }

    /// The mean time between two requests in seconds, at this load of the client's link.
    pub fn mean_gap_s(&self, load: Rate) -> f64 {
        self.sizes.mean() * 8.0 / (load.as_bps() as f64 * GOODPUT)
    }
}

/// The values read so far.
#[derive(Default)]
struct Found {
    servers: Vec<SocketAddrV4>,
    sizes: Option<SizeDistribution>,
    load: Option<Rate>,
    requests: Option<u64>,
    dscps: Vec<Weighted>,
    rates_mbps: Vec<Weighted>,
    fanouts: Vec<Weighted>,
}

struct Reading<'a> {
    path: &'a Path,
    found: Found,
}

impl Reading<'_> {
    fn read(mut self, text: String) -> Result<Config, TrafficError> {
        for (number, line) in (1..).zip(text.lines()) {
            self.line(line).map_err(|problem| self.wrong(number, problem))?;
        }
        let Found { servers, sizes, load, requests, dscps, rates_mbps, fanouts } = self.found;
        let path = self.path;
        let lacks = |what: &str| TrafficError::Line {
            path: path.to_owned(),
            line: 0,
            problem: format!("There is no {what}. Add a line `{what}`."),
        };
        if servers.is_empty() {
            return Err(lacks("server ADDRESS PORT"));
        }
        for (key, found) in [("dscp", &dscps), ("rate", &rates_mbps), ("fanout", &fanouts)] {
            if !found.is_empty() && found.iter().all(|one| one.weight == 0) {
                let problem = format!(
                    "All weights of `{key}` are 0, so that no value can be drawn. Give at least one \
                     value a weight from 1."
                );
                return Err(TrafficError::Line { path: path.to_owned(), line: 0, problem });
            }
        }
        let or = |found: Vec<Weighted>, value| {
            if found.is_empty() { vec![Weighted { value, weight: 1 }] } else { found }
        };
        Ok(Config {
            servers,
            sizes: sizes.ok_or_else(|| lacks("req_size_dist FILE"))?,
            load,
            requests,
            dscps: or(dscps, 0),
            rates_mbps: or(rates_mbps, 0),
            fanouts: or(fanouts, 1),
            text,
        })
    }

    fn wrong(&self, line: usize, problem: String) -> TrafficError {
        TrafficError::Line { path: self.path.to_owned(), line, problem }
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some((key, values)) = words.split_first() else { return Ok(()) };
        let found = &mut self.found;
        match *key {
            "server" => found.servers.push(server(values)?),
            "req_size_dist" => once(&mut found.sizes, key, sizes(self.path, &values.join(" "))?)?,
            "load" => once(&mut found.load, key, load(one(key, values)?)?)?,
            "num_reqs" => {
                let number = number(key, one(key, values)?, 1, u64::from(u32::MAX))?;
                once(&mut found.requests, key, number)?;
            }
            "dscp" | "service" => found.dscps.push(weighted(key, values, 0, 63)?),
            "rate" => {
                let [rate, weight] = two(key, values)?;
                let mbps = rate.strip_suffix("Mbps").unwrap_or(rate);
                found.rates_mbps.push(weighted(key, &[mbps, weight], 0, 1_000_000)?);
            }
            "fanout" => found.fanouts.push(weighted(key, values, 1, 10_000)?),
            _ => {
                return Err(format!(
                    "`{key}` is no key. Use server, req_size_dist, load, num_reqs, dscp, service, \
                     rate or fanout."
                ));
            }
        }
        Ok(())
    }
}

fn once<T>(place: &mut Option<T>, key: &str, value: T) -> Result<(), String> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(format!("`{key}` is there twice. Remove one of the lines.")),
    }
}

fn one<'a>(key: &str, values: &[&'a str]) -> Result<&'a str, String> {
    match values {
        [value] => Ok(*value),
        _ => Err(format!("`{key}` takes one value.")),
    }
}

fn two<'a>(key: &str, values: &[&'a str]) -> Result<[&'a str; 2], String> {
    match values {
        [value, weight] => Ok([*value, *weight]),
        _ => Err(format!("`{key}` takes a value and a weight, such as `{key} 1 25`.")),
    }
}

fn server(values: &[&str]) -> Result<SocketAddrV4, String> {
    // In the authors' multi-rack files, a third word names the rack. Clients ignore it.
    let [address, port, ..] = values else {
        return Err("`server` takes an address and a port: `server 192.168.1.51 5001`.".to_owned());
    };
    let address = Ipv4Addr::from_str(address)
        .map_err(|_| format!("`{address}` is no IPv4 address, such as 192.168.1.51."))?;
    let port = number("server", port, 1, u64::from(u16::MAX))?;
    Ok(SocketAddrV4::new(address, port as u16))
}

fn number(key: &str, word: &str, least: u64, most: u64) -> Result<u64, String> {
    let value = word.parse::<u64>().ok().filter(|value| (least..=most).contains(value));
    value.ok_or_else(|| {
        format!("`{key}` takes a whole number from {least} to {most}, not `{word}`.")
    })
}

fn weighted(key: &str, values: &[&str], least: u64, most: u64) -> Result<Weighted, String> {
    let [value, weight] = two(key, values)?;
    let value = number(key, value, least, most)? as u32;
    Ok(Weighted { value, weight: number(key, weight, 0, 1_000_000)? as u32 })
}

fn load(word: &str) -> Result<Rate, String> {
    // The authors' files also have rates such as 800.5Mbps.
    let rate = match word.strip_suffix("Mbps").and_then(|mbps| mbps.parse::<f64>().ok()) {
        Some(mbps) => Rate::from_bps((mbps * 1e6).clamp(0.0, 1e15) as u64),
        None => word.parse().map_err(|_| format!("`{word}` is no rate, such as 800Mbps."))?,
    };
    match rate.as_bps() {
        0 => Err("`load` is 0. Use a rate above 0, such as 800Mbps.".to_owned()),
        _ => Ok(rate),
    }
}

fn sizes(config: &Path, name: &str) -> Result<SizeDistribution, String> {
    let around = config.ancestors().skip(1).take(2).map(|folder| folder.join(name));
    let mut files = iter::once(PathBuf::from(name)).chain(around);
    let Some(file) = files.find(|path| path.is_file()) else {
        return by_name(name)
            .map_err(|_| format!("`{name}` is no file, and no built-in distribution."));
    };
    let text =
        fs::read_to_string(&file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
    parse_cdf(&text).map_err(|error| format!("{}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The authors' examples, with other addresses and names.
    const EXAMPLE: &str = "server 127.0.0.1 5001\nserver 127.0.0.2 5001 2\nreq_size_dist conf/cdf.txt\n\
        load 800Mbps\nnum_reqs 3000\nrate 0Mbps 10\nrate 500Mbps 30\nrate 800Mbps 60\ndscp 0 25\n\
        service 1 75\nfanout 1 10\nfanout 5 60\nfanout 10 30\n";
    const CDF: &str = "0     0\n10000 0.15\n53 000\n";

    fn read(text: &str, cdf: &str) -> Result<Config, TrafficError> {
        let folder = tempfile::tempdir().unwrap();
        let conf = folder.path().join("conf");
        fs::create_dir(&conf).unwrap();
        fs::write(conf.join("cdf.txt"), cdf).unwrap();
        let path = conf.join("config.txt");
        fs::write(&path, text).unwrap();
        Config::read(&path)
    }

    #[test]
    fn the_authors_files_are_read_unchanged() {
        let config = read(EXAMPLE, "6 0\n6 0.15\n13 0.2\n53 0.53       \n20000 1\n\n").unwrap();
        assert_eq!(config.servers[1], "127.0.0.2:5001".parse().unwrap());
        let load = Rate::from_bps(800_000_000);
        assert_eq!(config.load, Some(load));
        assert_eq!(config.requests, Some(3_000));
        let weights = |of: &[Weighted]| of.iter().map(|w| (w.value, w.weight)).collect::<Vec<_>>();
        assert_eq!(weights(&config.dscps), [(0, 25), (1, 75)]);
        assert_eq!(weights(&config.rates_mbps), [(0, 10), (500, 30), (800, 60)]);
        assert_eq!(weights(&config.fanouts), [(1, 10), (5, 60), (10, 30)]);
        let goodput = config.sizes.mean() * 8.0 / config.mean_gap_s(load);
        let later = EXAMPLE.replace("load 800Mbps\nnum_reqs 3000\n", "");
        let config = read(&later, "0     0\n20000 1\n").unwrap();
        assert_eq!((config.load, config.requests), (None, None), "the command line has them");
        assert!((goodput / 800e6 - 1448.0 / 1538.0).abs() < 1e-9, "{goodput}");
    }

    #[test]
    fn mistakes_have_their_line() {
        let good = "6 0\n20000 1\n";
        for (change, line, said) in [
            (("800Mbps\n", "0Mbps\n"), 4, "is 0"),
            (("num_reqs 3000", "num_reqs many"), 5, "whole number"),
            (("dscp 0 25", "dscp 64 25"), 9, "from 0 to 63"),
            (("fanout 5 60", "fanout 0 60"), 12, "from 1"),
            (("127.0.0.1", "nowhere"), 1, "IPv4"),
            (("rate 0Mbps", "speed 0Mbps"), 6, "is no key"),
            (("cdf.txt", "none.txt"), 3, "no file"),
        ] {
            let error = read(&EXAMPLE.replacen(change.0, change.1, 1), good).unwrap_err();
            let TrafficError::Line { line: found, problem, .. } = error else { panic!("{error}") };
            assert!(found == line && problem.contains(said), "{found}: {problem}");
        }
        for (key, lines) in [
            ("dscp", "dscp 0 0\nservice 1 0\n"),
            ("rate", "rate 0Mbps 0\n"),
            ("fanout", "fanout 1 0\n"),
        ] {
            let of_key = |line: &&str| !line.starts_with(key) && !line.starts_with("service");
            let rest: String =
                EXAMPLE.lines().filter(of_key).map(|line| format!("{line}\n")).collect();
            let error = read(&(rest + lines), good).unwrap_err().to_string();
            assert!(error.contains(&format!("All weights of `{key}` are 0")), "{error}");
        }
        assert!(read(EXAMPLE, CDF).unwrap_err().to_string().contains("cdf.txt"));
    }
}
