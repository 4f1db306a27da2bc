//! The memcached servers: real ones, one on each host that has values.
//!
//! A shell around each server ends it when the lab ends in whatever way: part of the shell waits for its standard
//! input, which the lab holds open. If the server ends first, the shell ends too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use flowsched_topology::HostId;
use flowsched_units::Bytes;
use flowsched_workload::Flow;

use crate::address::ipv4;
use crate::error::LabError;
use crate::hosts::Hosts;
use crate::sys::Scheduling;

/// memcached's own port.
pub(super) const PORT: u16 = 11_211;
const PROGRAM: &str = "memcached";
/// Runs a program until it ends or standard input is closed. Then destroys the connections that are left in the
/// namespace, because they would go on sending what the program wrote until they had timed out twice. Ends with the
/// program's status.
const SHELL: &str = "exec 3<&0; \"$@\" & server=$!; { cat <&3; kill $server; } & guard=$!; \
                     wait $server; status=$?; kill $guard; \
                     ss -tK state all >/dev/null 2>&1; exit $status";
/// The scheduling of [`Rank::Hosts`](crate::precedence::Rank). A server sleeps unless it is asked.
const REAL_TIME: Scheduling = Scheduling { policy: libc::SCHED_FIFO, rank: 1, niceness: -20 };
/// How long a server may take to start, on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(60);
const RETRY: Duration = Duration::from_millis(10);

/// The servers. They end when this is dropped.
#[derive(Debug)]
pub struct Servers {
    shells: Vec<Child>,
}

/// The key of a value of this size: 4 B for values below 1 KB, and a byte more for each further digit of the size. PIAS
/// ToN 2017, V-A.2, has keys of 4 B and values of 1 KB, whose key here has 5 B.
pub(super) fn key(size: Bytes) -> String {
    format!("v{:03}", size.get())
}

/// All bytes that a server sends for the value of this size.
pub(super) fn answer(size: Bytes) -> Vec<u8> {
    let head = format!("VALUE {} 0 {}\r\n", key(size), size.get()).into_bytes();
    [head, vec![b'x'; size.get() as usize], b"\r\nEND\r\n".to_vec()].concat()
}

impl Servers {
    /// Starts a server on each source of these flows, and gives it its values.
    ///
    /// # Errors
    /// [`LabError::Memcached`] if a server does not answer.
    pub fn start(hosts: &Hosts, flows: &[Flow]) -> Result<Servers, LabError> {
        let mut values: BTreeMap<HostId, BTreeSet<Bytes>> = BTreeMap::new();
        for flow in flows {
            values.entry(flow.src).or_default().insert(flow.size);
        }
        let mut servers = Servers { shells: Vec::new() };
        for (host, sizes) in &values {
            let failed = |error: io::Error| LabError::Memcached { host: host.0, source: error };
            let missing = || failed(io::ErrorKind::NotFound.into());
            let namespace = hosts.namespace(*host).ok_or_else(missing)?;
            let mut shell = namespace.run(|| start(PROGRAM, *host).map_err(failed))?;
            let filled = namespace.run(|| fill(&mut shell, *host, sizes).map_err(failed));
            servers.shells.push(shell);
            filled?;
        }
        Ok(servers)
    }

    /// The longest time that any of the servers has waited for a processor since its start.
    pub fn waited(&self) -> Duration {
        let processes = self.shells.iter().flat_map(|shell| children(shell.id()));
        processes.map(waited).max().unwrap_or_default()
    }
}

/// The processes that a process with one thread has started, and that have not ended.
fn children(process: u32) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    list.unwrap_or_default().split_whitespace().filter_map(|id| id.parse().ok()).collect()
}

/// The total time that the threads of a process have waited for a processor; zero if the kernel does not count it.
fn waited(process: u32) -> Duration {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let of_thread = |thread: fs::DirEntry| {
        // Nanoseconds on a processor, nanoseconds waiting for one, and how often it had one.
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    Duration::from_nanos(threads.filter_map(of_thread).sum())
}

impl Drop for Servers {
    fn drop(&mut self) {
        for shell in &mut self.shells {
            drop(shell.stdin.take());
        }
        for shell in &mut self.shells {
            // The shell ends by itself, and ends its server first.
            let _ = shell.wait();
        }
    }
}

/// Starts a server that goes before all programs outside the lab, as the lab's own threads do. It inherits this from
/// the calling thread, which must do nothing else.
fn start(program: &str, host: HostId) -> io::Result<Child> {
    // Where the system grants no real time, the server is an ordinary process.
    let _ = REAL_TIME.set();
    let mut command = Command::new("sh");
    command.args(["-c", SHELL, "sh", program, "-u", "root", "-U", "0", "-t", "1", "-l"]);
    command.arg(ipv4(host).to_string()).arg("-p").arg(PORT.to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}

/// Waits until the server that the shell has started can be reached.
fn wait_for<S>(shell: &mut Child, reach: impl Fn() -> io::Result<S>) -> io::Result<S> {
    let start = Instant::now();
    loop {
        if let Some(status) = shell.try_wait()? {
            return Err(io::Error::other(format!("it ended at its start ({status})")));
        }
        match reach() {
            Ok(stream) => return Ok(stream),
            Err(error) if start.elapsed() > PATIENCE => return Err(error),
            Err(_) => thread::sleep(RETRY),
        }
    }
}

/// Waits for the server and stores the values, over the host's loopback.
fn fill(shell: &mut Child, host: HostId, sizes: &BTreeSet<Bytes>) -> io::Result<()> {
    let mut stream = wait_for(shell, || TcpStream::connect((ipv4(host), PORT)))?;
    for size in sizes {
        let length = size.get() as usize;
        let head = format!("set {} 0 0 {length}\r\n", key(*size)).into_bytes();
        stream.write_all(&[head, vec![b'x'; length], b"\r\n".to_vec()].concat())?;
        let mut stored = [0; 8];
        stream.read_exact(&mut stored)?;
        if stored != *b"STORED\r\n" {
            let said = String::from_utf8_lossy(&stored).into_owned();
            return Err(io::Error::other(format!("it answers {said:?}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_server_that_ends_at_its_start_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("ends");
        fs::write(&program, "#!/bin/sh\nexit 71\n").unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        let mut shell = start(program.to_str().unwrap(), HostId(60)).unwrap();
        let refused = || Err::<(), _>(io::ErrorKind::ConnectionRefused.into());
        let error = wait_for(&mut shell, refused).unwrap_err();
        assert_eq!(error.to_string(), "it ended at its start (exit status: 71)");
    }

    #[test]
    fn keys_have_four_bytes_below_a_kilobyte() {
        let lengths = [1, 999, 1_000, 20_000].map(|size| key(Bytes::new(size)).len());
        assert_eq!(lengths, [4, 4, 5, 6]);
    }

    #[test]
    fn an_answer_is_a_whole_value() {
        let text = String::from_utf8(answer(Bytes::new(3))).unwrap();
        assert_eq!(text, "VALUE v003 0 3\r\nxxx\r\nEND\r\n");
    }
}
