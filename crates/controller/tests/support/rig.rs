//! For tests: certificates, and etcd, Prometheus and controllers as processes. They share a temporary
//! folder. Dropping a value ends its process or removes its folder.
#![allow(dead_code, reason = "each of the test programs that share this uses a part of it")]

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use flowsched_fleet::follow::Identity;
use tempfile::TempDir;

/// A free TCP port.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Whether a program is installed. If it is not, prints that the test is skipped, or panics if the
/// environment variable `CI` is set, because CI must install the program.
pub fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    assert!(found || std::env::var_os("CI").is_none(), "{program} is missing, which CI installs");
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

/// Runs the program that follows with its clock set two years ahead.
pub const AHEAD: [&str; 4] = ["env", FAKETIME, "FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME=+2y"];
/// Runs the program that follows with its clock set two years back.
const AGO: [&str; 3] = ["env", FAKETIME, "FAKETIME=-2y"];
/// The program `faketime` does this too, but stays as the parent of what it runs.
const FAKETIME: &str = "LD_PRELOAD=/usr/$LIB/faketime/libfaketimeMT.so.1";

/// A command with `before` in front of the program.
pub fn after(before: &[&str], program: impl AsRef<OsStr>) -> Command {
    let [first, rest @ ..] = before else { return Command::new(program) };
    let mut command = Command::new(first);
    command.args(rest).arg(program);
    command
}

/// Waits until `is_so`. Panics after a minute.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "never: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A process that is killed when this is dropped, and the lines of its standard error.
pub struct Process {
    child: Child,
    said: Receiver<(Instant, String)>,
}

impl Process {
    /// Starts the process. Its standard error is also appended to `log`.
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

    /// Waits for a line that contains `text`. Returns when it was printed.
    pub fn wait_for(&self, text: &str) -> Instant {
        self.wait_for_line(text).0
    }

    /// Waits for a line that contains `text`. Returns the line and when it was printed.
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

    /// Sends SIGKILL, and waits for the process to end.
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
        self.certificates_after(&[], arguments);
    }

    fn certificates_after(&self, before: &[&str], arguments: &[&str]) {
        let mut command = after(before, example("flowsched-controller"));
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

    /// The certificate files of a host. Makes them if there are none.
    pub fn host(&self, host: &str, group: &str) -> Identity {
        if !self.path("tls").join(format!("{host}.crt")).exists() {
            self.certificates(&["agent", host, "--group", group]);
        }
        self.identity(host)
    }

    /// Replaces the certificate of `name` by one made with these arguments, expired or valid now.
    pub fn replace(&self, name: &str, arguments: &[&str], is_expired: bool) {
        for ending in ["crt", "key"] {
            std::fs::remove_file(self.path("tls").join(format!("{name}.{ending}"))).unwrap();
        }
        self.certificates_after(if is_expired { &AGO } else { &[] }, arguments);
    }

    /// The table `[tls]` with the controller's certificates.
    pub fn tls(&self) -> String {
        let Identity { ca, certificate, key } = self.identity("controller");
        format!("[tls]\nca = {ca:?}\ncertificate = {certificate:?}\nkey = {key:?}\n")
    }

    /// The configuration of a controller that decides all the time: rounds of 200 ms, windows and trials of
    /// one second. `levels` and `place` are keys: the levels of all hosts, and the place of announcements.
    pub fn hasty(&self, name: &str, levels: &str, place: &str, agents: &[String]) -> String {
        format!(
            "{levels}\n{place}\nlink-rate = \"10Gbps\"\nstatus = \"127.0.0.1:{}\"\nstate = {:?}\n{}\
             [collect]\nevery = \"200ms\"\nwindow = \"1s\"\nwindows = 1\n\
             [decide]\nevery = \"300ms\"\ninterval = \"1s\"\nimprovement = 0.001\nleast-messages = 100\n\
             [canary]\ntime = \"1s\"\nshare = 0.25\n\
             [groups.rack-1]\nagents = {agents:?}\n",
            free_port(),
            self.path(&format!("state-{name}")),
            self.tls(),
        )
    }

    /// Starts a controller with the configuration in `text`, and `before` in front of the program.
    pub fn controller(&self, name: &str, text: &str, before: &[&str]) -> Process {
        let config = self.path(&format!("{name}.toml"));
        std::fs::write(&config, text).unwrap();
        let mut command = after(before, example("flowsched-controller"));
        command.args(["run", "--config"]).arg(&config);
        let process = Process::start(&mut command, &self.path(&format!("{name}.log")));
        process.wait_for("ready");
        process
    }

    /// Starts a Prometheus that scrapes the targets of each job, with `before` in front of the program.
    pub fn prometheus(
        &self,
        before: &[&str],
        port: u16,
        every: &str,
        jobs: &[(&str, Vec<String>)],
    ) -> Process {
        let mut text = format!("global: {{scrape_interval: {every}}}\nscrape_configs:\n");
        for (job, targets) in jobs {
            text += &format!("- {{job_name: {job}, static_configs: [{{targets: {targets:?}}}]}}\n");
        }
        std::fs::write(self.path("prometheus.yml"), text).unwrap();
        let mut command = after(before, "prometheus");
        command.arg(format!("--config.file={}", self.path("prometheus.yml").display()));
        command.arg(format!("--storage.tsdb.path={}", self.path("tsdb").display()));
        command.arg(format!("--web.listen-address=127.0.0.1:{port}"));
        Process::start(&mut command, &self.path("prometheus.log"))
    }

    /// The status of the controller `name`.
    pub fn status(&self, name: &str) -> String {
        self.status_after(name, &[])
    }

    /// The status of the controller `name`, with `before` in front of the program.
    pub fn status_after(&self, name: &str, before: &[&str]) -> String {
        let mut command = after(before, example("flowsched-controller"));
        command.args(["status", "--config"]).arg(self.path(&format!("{name}.toml")));
        String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
    }
}

/// The page at `path` of the status server of a controller with the configuration `config`.
pub fn page(config: &str, path: &str) -> String {
    let config: toml::Table = config.parse().unwrap();
    let mut stream = TcpStream::connect(config["status"].as_str().unwrap()).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// A real etcd with mutual TLS.
pub struct Etcd {
    pub process: Option<Process>,
    pub url: String,
    peer: u16,
    before: Vec<String>,
}

impl Etcd {
    pub fn start(rig: &Rig) -> Etcd {
        Etcd::start_at(rig, "127.0.0.1", &[])
    }

    /// Starts etcd at `address`, with `before` in front of the program.
    pub fn start_at(rig: &Rig, address: &str, before: &[&str]) -> Etcd {
        let url = format!("https://{address}:{}", free_port());
        let before = before.iter().map(ToString::to_string).collect();
        let mut etcd = Etcd { process: None, url, peer: free_port(), before };
        etcd.launch(rig, "etcd");
        etcd
    }

    fn program(&self, name: &str) -> Command {
        let before: Vec<&str> = self.before.iter().map(String::as_str).collect();
        after(&before, name)
    }

    /// Starts the process on the data in `folder`.
    pub fn launch(&mut self, rig: &Rig, folder: &str) {
        let Identity { ca, certificate, key } = rig.identity("controller");
        let peer = format!("http://127.0.0.1:{}", self.peer);
        let mut command = self.program("etcd");
        command.arg("--data-dir").arg(rig.path(folder));
        // Without this option, etcd 3.4 has no logger for its warnings when it is overloaded, and crashes.
        command.args(["--logger", "zap"]);
        command.args(["--listen-client-urls", &self.url, "--advertise-client-urls", &self.url]);
        command.args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer]);
        command.args(["--initial-cluster", &format!("default={peer}"), "--client-cert-auth"]);
        command.arg("--trusted-ca-file").arg(ca).arg("--cert-file").arg(certificate);
        command.arg("--key-file").arg(key).env("ETCD_UNSUPPORTED_ARCH", "arm64");
        self.process = Some(Process::start(&mut command, &rig.path("etcd.log")));
        wait_until("etcd answers", || self.try_ctl(rig, "root", &["endpoint", "health"]).is_ok());
    }

    /// Kills etcd, restores the snapshot into `folder`, and starts etcd on it.
    pub fn restore(&mut self, rig: &Rig, folder: &str) {
        if let Some(process) = self.process.take() {
            process.kill();
        }
        let mut command = Command::new("etcdctl");
        command.env("ETCDCTL_API", "3").args(["snapshot", "restore"]).arg(rig.path("snapshot"));
        let output = command.arg("--data-dir").arg(rig.path(folder)).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.launch(rig, folder);
    }

    /// Saves a snapshot to the file `snapshot` in the rig's folder.
    pub fn save(&self, rig: &Rig) {
        let path = rig.path("snapshot").display().to_string();
        self.ctl(rig, "root", &["snapshot", "save", &path]);
    }

    fn try_ctl(&self, rig: &Rig, user: &str, arguments: &[&str]) -> Result<String, String> {
        let Identity { ca, certificate, key } = rig.identity(user);
        let mut command = self.program("etcdctl");
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

    /// Creates the users and roles of the documentation for these groups.
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
