//! The agent as a process on the first host of a pair.
#![allow(dead_code, reason = "each of the test programs that share this uses a part of it")]

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use libbpf_rs::{MapCore, MapFlags, MapHandle};

use super::lab::Pair;

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// An agent with folders of its own. It is removed completely when dropped.
pub struct Agent {
    host: String,
    pub pins: String,
    pub folder: PathBuf,
    child: Option<Child>,
    said: Option<Receiver<String>>,
}

fn binary() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let binary = test.parent().unwrap().parent().unwrap().join("examples/flowsched-agent");
    assert!(binary.exists(), "{} is not built", binary.display());
    binary
}

impl Agent {
    /// Starts an agent on the first host's interface, with more arguments for `start`.
    pub fn start(pair: &Pair, rule: &str, more: &[&str]) -> Agent {
        let mut agent = Agent::prepare(pair, rule);
        agent.launch(more);
        agent
    }

    /// Prepares everything except the process.
    pub fn prepare(pair: &Pair, rule: &str) -> Agent {
        let name = format!("fst-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(&name);
        std::fs::create_dir_all(&folder).unwrap();
        let agent = Agent {
            host: pair.a.clone(),
            pins: format!("/sys/fs/bpf/{name}"),
            folder,
            child: None,
            said: None,
        };
        agent.configure(rule);
        agent
    }

    /// Replaces the configuration file in one step.
    pub fn configure(&self, rule: &str) {
        let text = format!("interfaces = [\"east\"]\n{rule}");
        let fresh = self.folder.join("fresh");
        std::fs::write(&fresh, text).unwrap();
        std::fs::rename(fresh, self.config()).unwrap();
    }

    /// The path of the configuration file.
    pub fn config(&self) -> PathBuf {
        self.folder.join("agent.toml")
    }

    fn command(&self) -> Command {
        self.command_after(&[])
    }

    /// The agent's program on its folders, with `before` in front of it.
    pub fn command_after(&self, before: &[&str]) -> Command {
        let mut command = self.program(before, &binary());
        command.args(["--pins", &self.pins, "--run-dir"]).arg(self.run_dir());
        command
    }

    /// A program on the host, with `before` in front of it.
    fn program(&self, before: &[&str], program: &Path) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/run/netns/{}", self.host)).args(before).arg(program);
        command
    }

    /// The run directory.
    pub fn run_dir(&self) -> PathBuf {
        self.folder.join("run")
    }

    /// The agent's program as another user, with these capabilities and no others.
    pub fn as_user(&self, uid: u32, capabilities: &[&str]) -> Command {
        // A copy that this user may run, wherever the tests were built.
        let copy = self.folder.join("flowsched-agent");
        if !copy.exists() {
            std::fs::copy(binary(), &copy).unwrap();
        }
        let with =
            |start: &str| capabilities.iter().fold(start.to_owned(), |all, c| all + ",+" + c);
        let change = [
            "setpriv".into(),
            format!("--reuid={uid}"),
            format!("--regid={uid}"),
            "--clear-groups".into(),
            "--no-new-privs".into(),
            with("--bounding-set=-all"),
            with("--inh-caps=-all"),
            with("--ambient-caps=-all"),
        ];
        let change: Vec<&str> = change.iter().map(String::as_str).collect();
        self.program(&change, &copy)
    }

    /// Starts the process and waits until it is ready.
    pub fn launch(&mut self, more: &[&str]) {
        let mut command = self.command();
        command.args(["start", "--config"]).arg(self.config()).args(more);
        self.launch_as(command);
        self.wait_for("ready");
    }

    /// Starts the process and waits until it prints a line that contains `text`.
    pub fn launch_and_wait_for(&mut self, text: &str) {
        let mut command = self.command();
        command.args(["start", "--config"]).arg(self.config());
        self.launch_as(command);
        self.wait_for(text);
    }

    /// Starts the process in another PID namespace, as its first process.
    pub fn launch_in_pid_namespace(&mut self) {
        let mut command = self.command_after(&["unshare", "--pid", "--fork"]);
        command.args(["start", "--config"]).arg(self.config());
        self.launch_as(command);
        self.wait_for("ready");
    }

    /// Runs `command`, which starts the agent.
    pub fn launch_as(&mut self, mut command: Command) {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let (say, said) = channel();
        let mut log = File::options().create(true).append(true).open(self.log()).unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = writeln!(log, "{line}");
                let _ = say.send(line);
            }
        });
        self.child = Some(child);
        self.said = Some(said);
    }

    /// Waits until the agent prints a line that contains `text`.
    pub fn wait_for(&self, text: &str) {
        let mut before = Vec::new();
        loop {
            match self.said.as_ref().unwrap().recv_timeout(Duration::from_secs(120)) {
                Ok(line) if line.contains(text) => return,
                Ok(line) => before.push(line),
                Err(_) => panic!("the agent never said \"{text}\", but {before:#?}"),
            }
        }
    }

    /// Waits for the next line of the agent, which must contain `text`.
    pub fn wait_for_first(&self, text: &str) {
        let line = self.said.as_ref().unwrap().recv_timeout(Duration::from_secs(120)).unwrap();
        assert!(line.contains(text), "{line}");
    }

    /// The path of the file with all output of the agent.
    pub fn log(&self) -> PathBuf {
        self.folder.join("said")
    }

    /// Discards the agent's output so far, so that later waits ignore it.
    pub fn forget(&self) {
        while self.said.as_ref().unwrap().try_recv().is_ok() {}
    }

    /// The process ID.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Sends a signal to the process, by its name.
    pub fn signal(&self, name: &str) {
        assert!(
            Command::new("kill").args([name, &self.pid().to_string()]).status().unwrap().success()
        );
    }

    /// Waits until the process ends.
    pub fn wait(&mut self) {
        self.child.take().unwrap().wait().unwrap();
    }

    /// Runs another command on the same folders.
    pub fn run(&self, arguments: &str) -> Output {
        self.command().args(arguments.split_whitespace()).output().unwrap()
    }

    /// Runs another command with the run directory alone.
    pub fn run_without_pins(&self, arguments: &str) -> Output {
        let mut command = self.program(&[], &binary());
        command.arg("--run-dir").arg(self.run_dir()).args(arguments.split_whitespace());
        command.output().unwrap()
    }

    /// Runs a `start` that must fail, with `before` in front of the program.
    pub fn fail_to_start(&self, before: &[&str], more: &str) -> Output {
        let mut command = self.command_after(before);
        command.args(["start", "--config"]).arg(self.config()).args(more.split_whitespace());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = String::new();
        for line in BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok) {
            stderr += &format!("{line}\n");
            if line.ends_with("ready") {
                child.kill().unwrap();
                child.wait().unwrap();
                panic!("the agent has started:\n{stderr}");
            }
        }
        let status = child.wait().unwrap();
        Output { status, stdout: Vec::new(), stderr: stderr.into_bytes() }
    }

    /// Runs another command, which must succeed. Returns its output.
    pub fn ok(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments}: {error}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The value of one metric.
    pub fn metric(&self, name: &str) -> u64 {
        let text = self.ok("metrics");
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in\n{text}")).parse().unwrap()
    }

    /// Whether the map of the tagger's next program has the program that writes in place.
    pub fn has_writer(&self) -> bool {
        let map = MapHandle::from_pinned_path(format!("{}/writers", self.pins)).unwrap();
        map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).unwrap().is_some()
    }

    /// Whether anything is pinned.
    pub fn is_installed(&self) -> bool {
        std::path::Path::new(&self.pins).exists()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.command().arg("uninstall").output();
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
