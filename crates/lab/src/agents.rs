//! Runs the agent on every host. The agent is the program that tags packets on real machines, and it
//! starts here as its operator would start it.
//!
//! Each agent runs in the network namespace of its host and has a BPF file system of its own. A shell
//! around the agent waits for its standard input, which the lab holds open, and so ends the agent when
//! the lab ends in whatever way. The kernel frees the tagger with the file system and the interface.

use std::fs::{self, File};
use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use flowsched_schemes::on_linux::{AgentTags, code_point};
use flowsched_topology::HostId;
use flowsched_units::Bytes;

use crate::error::LabError;
use crate::hosts::Hosts;
use crate::tap::INTERFACE;

/// Mounts the agent's file system, runs the agent, and ends it when the shell's standard input is closed.
const SHELL: &str = "mount -t bpf bpf /sys/fs/bpf || exit; \"$@\" & cat; kill $!; wait";
/// How long an agent may take to be ready, on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// The agents of all hosts. They end when this is dropped.
#[derive(Debug)]
pub struct Agents {
    shells: Vec<Child>,
}

impl Agents {
    /// Starts `program agent start` on every host, to tag as `tags` says, and waits until all do.
    ///
    /// # Errors
    /// [`LabError::Agent`] with the last message of an agent that does not start.
    pub fn start(hosts: &Hosts, tags: &AgentTags, program: &Path) -> Result<Agents, LabError> {
        let mut agents = Agents { shells: Vec::new() };
        let folders: Vec<PathBuf> =
            (0..hosts.count()).map(|host| hosts.folder().join(format!("agent-{host}"))).collect();
        for (host, folder) in (0..).map(HostId).zip(&folders) {
            fs::create_dir(folder).map_err(|e| LabError::file("make", folder, e))?;
            let config = folder.join("agent.toml");
            fs::write(&config, configuration(tags))
                .map_err(|e| LabError::file("write", &config, e))?;
            let namespace = hosts.namespace(host).ok_or(LabError::NeedsRoot)?;
            let ready = listen(folder)?;
            agents.shells.push(namespace.run(|| start(folder, program))?);
            wait(&ready, folder)?;
        }
        Ok(agents)
    }
}

impl Drop for Agents {
    fn drop(&mut self) {
        for shell in &mut self.shells {
            drop(shell.stdin.take());
        }
        for shell in &mut self.shells {
            // The shell ends by itself, and ends its agent first.
            let _ = shell.wait();
        }
    }
}

/// The agent's configuration file.
fn configuration(tags: &AgentTags) -> String {
    let AgentTags { thresholds, message_idle, is_cumulative, ageing_timeouts } = tags;
    let priorities = thresholds.len() + 1;
    let sizes: Vec<String> = thresholds.iter().map(Bytes::to_string).collect();
    let points: Vec<String> =
        (0..priorities).map(|priority| code_point(priority, priorities).to_string()).collect();
    let message = match message_idle {
        Some(idle) => format!("idle = \"{idle}\""),
        None => "start = \"priority\"".to_owned(),
    };
    let bookkeeping = if *is_cumulative { "cumulative" } else { "offset" };
    format!(
        "interfaces = [\"{INTERFACE}\"]\n\
         thresholds = \"{}\"\n\
         dscp = [{}]\n\
         bookkeeping = \"{bookkeeping}\"\n\
         [message]\n{message}\n\
         [ageing]\ntimeouts = {ageing_timeouts}\n",
        sizes.join(" "),
        points.join(", ")
    )
}

/// The socket on which an agent reports that it is ready, as services report to systemd.
fn listen(folder: &Path) -> Result<UnixDatagram, LabError> {
    let path = folder.join("notify");
    let socket = UnixDatagram::bind(&path).map_err(|e| LabError::file("make", &path, e))?;
    let patient = socket.set_read_timeout(Some(PATIENCE));
    patient.map_err(|e| LabError::file("use", &path, e))?;
    Ok(socket)
}

/// Starts the agent of the host in whose namespace this runs.
fn start(folder: &Path, program: &Path) -> Result<Child, LabError> {
    let path = folder.join("log");
    let log = File::create(&path).map_err(|e| LabError::file("make", &path, e))?;
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c", SHELL, "agent"]);
    command.arg(program).args(["agent", "--run-dir"]).arg(folder.join("run"));
    command.args(["start", "--config"]).arg(folder.join("agent.toml"));
    command.env("NOTIFY_SOCKET", folder.join("notify"));
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log);
    command.spawn().map_err(|e| LabError::system("start an agent with unshare", e))
}

fn wait(ready: &UnixDatagram, folder: &Path) -> Result<(), LabError> {
    let mut message = [0; 256];
    loop {
        let length = match ready.recv(&mut message) {
            Ok(length) => length,
            // The lab was stopped meanwhile, as by Ctrl-Z.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(failed(folder, &error)),
        };
        let text = String::from_utf8_lossy(message.get(..length).unwrap_or_default());
        if text.lines().any(|line| line == "READY=1") {
            return Ok(());
        }
    }
}

/// The error of an agent that does not become ready, with the agent's last message.
fn failed(folder: &Path, error: &io::Error) -> LabError {
    let said = fs::read_to_string(folder.join("log")).unwrap_or_default();
    let said = said.lines().last().map_or_else(|| error.to_string(), str::to_owned);
    LabError::Agent { said }
}

#[cfg(test)]
mod tests {
    use flowsched_units::Time;

    use super::*;

    #[test]
    fn the_configuration_says_what_the_scheme_says() {
        let tags = AgentTags {
            thresholds: vec![Bytes::new(10_000), Bytes::new(200_000)],
            message_idle: Some(Time::from_us(500)),
            is_cumulative: false,
            ageing_timeouts: 2,
        };
        let text = configuration(&tags);
        for line in ["dscp = [16, 8, 0]", "idle = \"500us\"", "timeouts = 2"] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert!(configuration(&AgentTags { message_idle: None, ..tags }).contains("\"priority\""));
    }
}
