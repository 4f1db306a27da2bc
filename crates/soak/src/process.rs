//! Runs one process under limits of memory, processor time and file size.
//!
//! What lives here: starting `flowsched`, signals, measuring. What may not: judging how the process
//! ended.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, SysconfVar, sysconf};

/// Limits of a process.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Address space in bytes.
    pub memory: u64,
    /// Processor time of all its threads, after which it is sent SIGTERM.
    pub cpu: Duration,
    /// The largest size in bytes of a file that it writes. Writing more fails as on a full disk.
    pub file: u64,
}

/// A signal that is sent on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disturbance {
    /// The signal.
    pub signal: Signal,
    /// The time from the start of the process to the signal.
    pub after: Duration,
}

/// How a process ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Its exit status or the signal that ended it.
    pub status: ExitStatus,
    /// What it wrote to standard error.
    pub errors: String,
    /// The elapsed time.
    pub wall: Duration,
    /// The first signal that it was sent.
    pub sent: Option<Signal>,
    /// Whether it was sent this signal because it had used its processor time.
    pub is_over_time: bool,
    /// Whether it ran for too long after the signal, and was killed.
    pub is_late: bool,
}

/// The processor time per thread that a process may use after a signal.
const STOP_CPU: Duration = Duration::from_secs(1);
/// The elapsed time that a process may take after a signal, however busy the machine is.
const STOP_WALL: Duration = Duration::from_secs(60);
/// How fast results are written at least, in bytes per second of processor time.
const BYTES_A_SECOND: u64 = 10_000_000;
/// The interval at which a process is checked.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A program and where it runs.
#[derive(Clone, Debug)]
pub struct Program {
    /// The `flowsched` binary.
    pub binary: PathBuf,
    /// The folder that it runs in.
    pub folder: PathBuf,
}

impl Program {
    /// Runs the program to its end. `written` is the folder that the program has to write before it
    /// can stop.
    ///
    /// # Errors
    /// If the process cannot be started or measured.
    pub fn run(
        &self,
        arguments: &[String],
        limits: Limits,
        disturbance: Option<Disturbance>,
        written: &Path,
    ) -> io::Result<Ended> {
        let errors = self.folder.join("stderr");
        let child = self.start(arguments, limits, File::create(&errors)?)?;
        let mut watch = Running::new(child, limits.cpu, disturbance);
        let status = watch.wait(written)?;
        Ok(Ended {
            status,
            errors: String::from_utf8_lossy(&fs::read(&errors)?).into_owned(),
            wall: watch.start.elapsed(),
            sent: watch.stop.map(|stop| stop.signal),
            is_over_time: watch.is_over_time,
            is_late: watch.is_late,
        })
    }

    /// Starts a shell that sets the limits and then becomes the program. The signal for a file that
    /// grows too large is ignored, so that the program gets an error, as on a full disk. `env`
    /// restores the default signals, because a soak in the background of a script ignores SIGINT
    /// and the program must not inherit this.
    fn start(&self, arguments: &[String], limits: Limits, errors: File) -> io::Result<Child> {
        let script = format!(
            "trap '' XFSZ; ulimit -v {}; ulimit -f {}; exec \"$0\" \"$@\"",
            limits.memory / 1024,
            limits.file.div_ceil(1024),
        );
        Command::new("env")
            .args(["--default-signal=HUP,INT,QUIT,TERM", "bash", "-c", &script])
            .arg(&self.binary)
            .args(arguments)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors)
            .spawn()
    }
}

/// A running process.
struct Running {
    child: Child,
    start: Instant,
    cpu_limit: Duration,
    disturbance: Option<Disturbance>,
    stop: Option<Stop>,
    is_over_time: bool,
    is_late: bool,
}

/// The signal that asked the process to stop, and the clocks at that time.
#[derive(Clone, Copy)]
struct Stop {
    signal: Signal,
    at: Instant,
    cpu: Duration,
}

impl Running {
    fn new(child: Child, cpu_limit: Duration, disturbance: Option<Disturbance>) -> Running {
        Running {
            child,
            start: Instant::now(),
            cpu_limit,
            disturbance,
            stop: None,
            is_over_time: false,
            is_late: false,
        }
    }

    fn wait(&mut self, written: &Path) -> io::Result<ExitStatus> {
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            let usage = Usage::read(self.child.id());
            match self.stop {
                None => self.stop_if_due(usage.cpu),
                Some(stop) if !self.is_late && stop.is_over(usage, written) => {
                    self.is_late = true;
                    self.send(Signal::SIGKILL);
                }
                Some(_) => {}
            }
            sleep(LOOK_EVERY);
        }
    }

    fn stop_if_due(&mut self, cpu: Duration) {
        let due = self.disturbance.filter(|due| self.start.elapsed() >= due.after);
        self.is_over_time = due.is_none() && cpu > self.cpu_limit;
        let over_time = self.is_over_time.then_some(Signal::SIGTERM);
        if let Some(signal) = due.map(|due| due.signal).or(over_time) {
            self.send(signal);
            self.stop = Some(Stop { signal, at: Instant::now(), cpu });
        }
    }

    /// Sends a signal. Failure is ignored, because the process may have just ended.
    fn send(&self, signal: Signal) {
        let _ = kill(Pid::from_raw(self.child.id() as i32), signal);
    }
}

impl Stop {
    /// Whether the process has run for longer than stopping and writing take.
    fn is_over(&self, usage: Usage, written: &Path) -> bool {
        let since = usage.cpu.saturating_sub(self.cpu);
        if since <= STOP_CPU * usage.threads && self.at.elapsed() <= STOP_WALL {
            return false;
        }
        let writing = Duration::from_secs(bytes_in(written) / BYTES_A_SECOND);
        since > STOP_CPU * usage.threads + writing || self.at.elapsed() > STOP_WALL + writing
    }
}

/// Processor time and number of threads of a process.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    cpu: Duration,
    threads: u32,
}

impl Usage {
    /// Reads the usage from `/proc`. Zero if the process is gone.
    fn read(process: u32) -> Usage {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        // The second field is the name in parentheses, which may contain blanks.
        let (_, fields) = stat.rsplit_once(')').unwrap_or_default();
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let field = |index: usize| fields.get(index).and_then(|text| text.parse::<u64>().ok());
        let ticks = field(11).unwrap_or(0) + field(12).unwrap_or(0);
        let a_second = sysconf(SysconfVar::CLK_TCK).ok().flatten().unwrap_or(100) as f64;
        Usage {
            cpu: Duration::from_secs_f64(ticks as f64 / a_second),
            threads: field(17).unwrap_or(1) as u32,
        }
    }
}

/// The bytes of all files below the folder.
fn bytes_in(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let bytes = |entry: fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => bytes_in(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.flatten().map(bytes).sum()
}

impl Ended {
    /// The signal that ended the process.
    pub fn died_of(&self) -> Option<i32> {
        self.status.signal()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { memory: 1 << 30, cpu: Duration::from_secs(60), file: 1 << 20 };

    fn shell(script: &str, limits: Limits, disturbance: Option<Disturbance>) -> Ended {
        let folder = tempfile::tempdir().unwrap();
        let program = Program { binary: "bash".into(), folder: folder.path().into() };
        let arguments = ["-c".to_owned(), script.to_owned()];
        program.run(&arguments, limits, disturbance, folder.path()).unwrap()
    }

    #[test]
    fn an_end_is_told_with_its_status_and_errors() {
        let ended = shell("echo why >&2; exit 3", LIMITS, None);
        assert_eq!((ended.status.code(), ended.errors.as_str()), (Some(3), "why\n"));
        assert_eq!((ended.sent, ended.died_of()), (None, None));
    }

    #[test]
    fn a_signal_is_sent() {
        let disturbance = Disturbance { signal: Signal::SIGHUP, after: Duration::ZERO };
        let ended = shell("sleep 100 & wait", LIMITS, Some(disturbance));
        assert_eq!(ended.sent, Some(Signal::SIGHUP));
        assert_eq!(ended.died_of(), Some(Signal::SIGHUP as i32));
    }

    /// The test runs itself once more, with SIGINT ignored.
    #[test]
    fn a_program_obeys_sigint_where_the_soak_ignores_it() {
        let ignored = "grep -q 'SigIgn:.*[2367abef]$' /proc/self/status";
        if std::env::var_os("SIGINT_IS_IGNORED").is_some() {
            let ended = shell(ignored, LIMITS, None);
            assert_eq!(ended.status.code(), Some(1), "SIGINT is ignored");
            return;
        }
        let name = "process::tests::a_program_obeys_sigint_where_the_soak_ignores_it";
        let again = Command::new("bash")
            .args(["-c", &format!("trap '' INT; {ignored} && exec \"$0\" --exact {name}")])
            .arg(std::env::current_exe().unwrap())
            .env("SIGINT_IS_IGNORED", "")
            .output()
            .unwrap();
        assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stdout));
    }

    #[test]
    fn a_process_that_uses_up_its_time_is_stopped_and_then_killed() {
        let limits = Limits { cpu: Duration::from_millis(50), ..LIMITS };
        let ended = shell("while :; do :; done", limits, None);
        assert_eq!((ended.is_over_time, ended.is_late), (true, false));
        let ended = shell("trap '' TERM; while :; do :; done", limits, None);
        assert_eq!((ended.is_over_time, ended.is_late), (true, true));
        assert_eq!(ended.died_of(), Some(Signal::SIGKILL as i32));
    }

    #[test]
    fn files_do_not_grow_beyond_the_limit() {
        let ended = shell("head -c 2000000 /dev/zero > large", LIMITS, None);
        assert_eq!(ended.status.code(), Some(1), "{}", ended.errors);
        assert!(ended.errors.contains("File too large"), "{}", ended.errors);
    }
}
