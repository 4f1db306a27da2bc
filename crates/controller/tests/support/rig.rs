//! For tests: certificates, etcd, Prometheus and controllers as processes with a folder of their
//! own. Everything goes when it is dropped.
#![allow(dead_code, reason = "each of the test programs that share this uses a part of it")]

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use flowsched_fleet::follow::Identity;
use tempfile::TempDir;

/// An address that nobody listens on.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Whether a program is installed; says that the test is skipped where it is not.
pub fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: {program} is missing (scripts/install-agent-deps.sh --test)");
    }
    found
}

/// A program among the examples of the tests' build.
pub fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().unwrap().parent().unwrap().join("examples").join(name);
    assert!(path.exists(), "{} is not built: cargo build --workspace --examples", path.display());
    path
}

/// Waits until `is_so`; a failure after a minute is the test's.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "never: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A process that ends with the test, and what it says.
pub struct Process {
    child: Child,
    said: Receiver<(Instant, String)>,
}

impl Process {
    /// Starts it; its standard error is also kept in `log`.
    pub fn start(command: &mut Command, log: &Path) -> Process {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let (say, said) = channel();
        let mut log = File::options().create(true).append(true).open(log).unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = writeln!(log, "{line}");
                let _ = say.send((Instant::now(), line));
            }
        });
        Process { child, said }
    }

    /// When it says something with `text` in it.
    pub fn wait_for(&self, text: &str) -> Instant {
        self.wait_for_line(text).0
    }

    /// The line with `text` in it, and when it was said.
    pub fn wait_for_line(&self, text: &str) -> (Instant, String) {
        let mut before = Vec::new();
        loop {
            match self.said.recv_timeout(Duration::from_secs(300)) {
                Ok((when, line)) if line.contains(text) => return (when, line),
                Ok((_, line)) => before.push(line),
                Err(_) => panic!("never said \"{text}\", but {before:#?}"),
            }
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, name: &str) {
        let pid = self.pid().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }

    /// kill -9, and its end.
    pub fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder with certificates.
pub struct Rig {
    pub folder: TempDir,
}

impl Rig {
    /// An authority, and the certificate of a controller at 127.0.0.1 and these names.
    pub fn new(names: &[&str]) -> Rig {
        let rig = Rig { folder: tempfile::tempdir().unwrap() };
        rig.certificates(&["ca"]);
        rig.certificates(&[&["controller", "127.0.0.1", "localhost"], names].concat());
        rig.certificates(&["root"]);
        rig
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn certificates(&self, arguments: &[&str]) {
        let mut command = Command::new(example("flowsched-controller"));
        command.args(["certificates", "--folder"]).arg(self.path("tls")).args(arguments);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// The certificate files of `name`.
    pub fn identity(&self, name: &str) -> Identity {
        let file = |ending: &str| self.path("tls").join(format!("{name}.{ending}"));
        let ca = self.path("tls").join("ca.crt");
        Identity { ca, certificate: file("crt"), key: file("key") }
    }

    /// The certificate files of a host, which are made.
    pub fn host(&self, host: &str, group: &str) -> Identity {
        if !self.path("tls").join(format!("{host}.crt")).exists() {
            self.certificates(&["agent", host, "--group", group]);
        }
        self.identity(host)
    }

    /// The table of the controller's certificates.
    pub fn tls(&self) -> String {
        let Identity { ca, certificate, key } = self.identity("controller");
        format!("[tls]\nca = {ca:?}\ncertificate = {certificate:?}\nkey = {key:?}\n")
    }

    /// Starts a controller with the configuration in `text`, and `before` in front of it.
    pub fn controller(&self, name: &str, text: &str, before: &[&str]) -> Process {
        let config = self.path(&format!("{name}.toml"));
        std::fs::write(&config, text).unwrap();
        let program = example("flowsched-controller");
        let mut command = match before {
            [] => Command::new(&program),
            [first, rest @ ..] => {
                let mut command = Command::new(first);
                command.args(rest).arg(&program);
                command
            }
        };
        command.args(["run", "--config"]).arg(&config);
        let process = Process::start(&mut command, &self.path(&format!("{name}.log")));
        process.wait_for("ready");
        process
    }

    /// What the controller `name` shows.
    pub fn status(&self, name: &str) -> String {
        let mut command = Command::new(example("flowsched-controller"));
        command.args(["status", "--config"]).arg(self.path(&format!("{name}.toml")));
        String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
    }
}

/// A real etcd with mutual TLS.
pub struct Etcd {
    pub process: Option<Process>,
    pub url: String,
    peer: u16,
}

impl Etcd {
    pub fn start(rig: &Rig) -> Etcd {
        let url = format!("https://127.0.0.1:{}", free_port());
        let mut etcd = Etcd { process: None, url, peer: free_port() };
        etcd.launch(rig, "etcd");
        etcd
    }

    /// Starts the process on the data in `folder`.
    pub fn launch(&mut self, rig: &Rig, folder: &str) {
        let Identity { ca, certificate, key } = rig.identity("controller");
        let peer = format!("http://127.0.0.1:{}", self.peer);
        let mut command = Command::new("etcd");
        command.arg("--data-dir").arg(rig.path(folder));
        command.args(["--listen-client-urls", &self.url, "--advertise-client-urls", &self.url]);
        command.args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer]);
        command.args(["--initial-cluster", &format!("default={peer}"), "--client-cert-auth"]);
        command.arg("--trusted-ca-file").arg(ca).arg("--cert-file").arg(certificate);
        command.arg("--key-file").arg(key).env("ETCD_UNSUPPORTED_ARCH", "arm64");
        self.process = Some(Process::start(&mut command, &rig.path("etcd.log")));
        wait_until("etcd answers", || self.try_ctl(rig, "root", &["endpoint", "health"]).is_ok());
    }

    fn try_ctl(&self, rig: &Rig, user: &str, arguments: &[&str]) -> Result<String, String> {
        let Identity { ca, certificate, key } = rig.identity(user);
        let mut command = Command::new("etcdctl");
        command.env("ETCDCTL_API", "3").args(["--endpoints", &self.url, "--cacert"]).arg(ca);
        command.arg("--cert").arg(certificate).arg("--key").arg(key).args(arguments);
        let output = command.output().unwrap();
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// Runs etcdctl as a user.
    pub fn ctl(&self, rig: &Rig, user: &str, arguments: &[&str]) -> String {
        self.try_ctl(rig, user, arguments).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
    }

    /// The users and roles of the guide, for these groups.
    pub fn authorise(&self, rig: &Rig, groups: &[&str]) {
        let mut lines = vec![
            "user add root --no-password".to_owned(),
            "user grant-role root root".to_owned(),
            "user add controller --no-password".to_owned(),
            "role add controller".to_owned(),
            "role grant-permission controller --prefix=true readwrite /flowsched/".to_owned(),
            "user grant-role controller controller".to_owned(),
        ];
        for group in groups {
            lines.push(format!("user add agent.{group} --no-password"));
            lines.push(format!("role add agent.{group}"));
            lines.push(format!(
                "role grant-permission agent.{group} read /flowsched/groups/{group}"
            ));
            lines.push(format!("user grant-role agent.{group} agent.{group}"));
        }
        lines.push("auth enable".to_owned());
        for line in lines {
            // etcd knows the user `root` before it is added.
            let words: Vec<&str> = line.split(' ').collect();
            if let Err(error) = self.try_ctl(rig, "root", &words) {
                assert!(error.contains("already exists"), "{line}: {error}");
            }
        }
    }
}
