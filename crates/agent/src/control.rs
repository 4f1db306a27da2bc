//! The socket by which other commands reach the running agent. They send one word, `pid` or `stop`,
//! and the agent answers with its process ID. Commands send no signals, so they also reach an agent in
//! another PID namespace, and never reach another process.
//!
//! The agent serves the socket between other work and never waits for a caller.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{fs, process};

use nix::sys::socket::{getsockopt, sockopt};
use nix::unistd::geteuid;

use crate::error::AgentError;
use crate::folder;
use crate::lock::Lock;
use crate::log;
use crate::pins::Places;

const PID: &[u8] = b"pid\n";
const STOP: &[u8] = b"stop\n";
/// The number of callers at a time, and the time that each may take to send its word.
const CALLERS: usize = 8;
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a command waits for the answer. A starting agent answers late.
const ANSWER: Duration = Duration::from_secs(10);

/// The agent's end.
#[derive(Debug)]
pub(crate) struct Control {
    listener: UnixListener,
    path: PathBuf,
    callers: Vec<Caller>,
}

#[derive(Debug)]
struct Caller {
    stream: UnixStream,
    since: Instant,
}

/// What a caller has sent.
enum Heard {
    Nothing,
    Gone,
    Pid,
    Stop,
}

impl Control {
    /// Listens on the socket. The caller must hold the lock, so an existing socket can only be one of
    /// an agent that was killed.
    pub(crate) fn listen(places: &Places) -> Result<Control, AgentError> {
        let path = path(places);
        let _ = fs::remove_file(&path);
        let listen = || {
            let listener = UnixListener::bind(&path)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
            listener.set_nonblocking(true)?;
            Ok(listener)
        };
        let listener = listen().map_err(|e| AgentError::file(&path, e))?;
        Ok(Control { listener, path, callers: Vec::new() })
    }

    /// The files to poll. While all places are taken, further callers wait.
    pub(crate) fn files(&self) -> Vec<BorrowedFd<'_>> {
        let mut files: Vec<BorrowedFd<'_>> =
            self.callers.iter().map(|caller| caller.stream.as_fd()).collect();
        if files.len() < CALLERS {
            files.push(self.listener.as_fd());
        }
        files
    }

    /// Answers all callers who have sent their word. Returns whether one asks the agent to end.
    pub(crate) fn serve(&mut self) -> bool {
        self.accept();
        let mut stop = false;
        self.callers.retain_mut(|caller| {
            let heard = caller.hear();
            stop |= matches!(heard, Heard::Stop);
            matches!(heard, Heard::Nothing) && caller.since.elapsed() < PATIENCE
        });
        stop
    }

    fn accept(&mut self) {
        while self.callers.len() < CALLERS {
            let Ok((stream, _)) = self.listener.accept() else { return };
            let uid = getsockopt(&stream, sockopt::PeerCredentials).map(|peer| peer.uid());
            let is_allowed =
                uid.is_ok_and(|uid| is_allowed(uid, geteuid().as_raw(), overflow_uid()));
            if is_allowed && stream.set_nonblocking(true).is_ok() {
                self.callers.push(Caller { stream, since: Instant::now() });
            } else {
                log::warn(format_args!("refused a command of uid {uid:?} on the control socket"));
            }
        }
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl Caller {
    fn hear(&mut self) -> Heard {
        let mut buffer = [0; 16];
        let heard = match self.stream.read(&mut buffer) {
            Ok(length) if &buffer[..length] == PID => Heard::Pid,
            Ok(length) if &buffer[..length] == STOP => Heard::Stop,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Heard::Nothing,
            Ok(_) | Err(_) => return Heard::Gone,
        };
        // The request counts even if the caller has gone away meanwhile.
        let _ = self.stream.write_all(format!("{}\n", process::id()).as_bytes());
        heard
    }
}

/// Allows root and the agent's own user. Users that this user namespace does not know all appear as
/// `overflow`, which therefore identifies nobody.
fn is_allowed(uid: u32, own: u32, overflow: u32) -> bool {
    uid == 0 || (uid == own && uid != overflow)
}

fn overflow_uid() -> u32 {
    let text = fs::read_to_string("/proc/sys/kernel/overflowuid");
    text.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(65_534)
}

fn path(places: &Places) -> PathBuf {
    places.record("control")
}

/// The process ID that the running agent reports; `None` if no agent runs.
pub(crate) fn running(places: &Places) -> Result<Option<u32>, AgentError> {
    ask(places, PID)
}

/// Takes the lock of the run directory.
///
/// # Errors
/// If another agent holds it. The error names that agent's process, if it answers.
pub(crate) fn take_lock(places: &Places) -> Result<Lock, AgentError> {
    let lock = Lock::try_take(places)?;
    lock.ok_or_else(|| AgentError::Running { pid: running(places).ok().flatten() })
}

/// Asks the agent to end. Returns its process ID, if there is an agent.
pub(crate) fn stop(places: &Places) -> Result<Option<u32>, AgentError> {
    ask(places, STOP)
}

fn ask(places: &Places, request: &[u8]) -> Result<Option<u32>, AgentError> {
    let path = path(places);
    let mut stream = match UnixStream::connect(&path) {
        Ok(stream) => stream,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let text = format!("{}: {error}\n{}", path.display(), folder::WHO_MAY);
            return Err(AgentError::Denied(text));
        }
        // There is no socket, or a killed agent has left one.
        Err(_) if !Lock::is_held(places) => return Ok(None),
        Err(error) => {
            return Err(AgentError::Refused(format!(
                "an agent holds the lock in {}, but cannot be reached: {}: {error}\nEnd its process \
                 yourself (`systemctl stop flowsched-agent`).",
                places.run.display(),
                path.display()
            )));
        }
    };
    let mut answer = String::new();
    let spoken = stream
        .set_read_timeout(Some(ANSWER))
        .and_then(|()| stream.write_all(request))
        .and_then(|()| stream.read_to_string(&mut answer));
    match (spoken, answer.trim().parse()) {
        (Ok(_), Ok(pid)) => Ok(Some(pid)),
        // The agent ended, or was killed, just now.
        (_, _) if !Lock::is_held(places) => Ok(None),
        (Err(error), _) => Err(AgentError::Refused(format!(
            "the agent does not answer on {}: {error}. It may be starting, or be suspended.",
            path.display()
        ))),
        (Ok(_), Err(_)) => Err(AgentError::Refused(format!(
            "the agent refuses this user's command on {}: it obeys root, and the user who started \
             it, in its own user namespace",
            path.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn places(name: &str) -> Places {
        let run = std::env::temp_dir().join(format!("fst-{name}-{}", process::id()));
        folder::make(&run, 0o755, folder::Purpose::Start).unwrap();
        Places { pins: "/none".into(), run }
    }

    /// Serves until a caller asks the agent to end.
    fn serve(mut control: Control) -> thread::JoinHandle<()> {
        thread::spawn(move || {
            while !control.serve() {
                thread::sleep(Duration::from_millis(1));
            }
        })
    }

    #[test]
    fn an_agent_says_its_process_and_ends_when_it_is_asked() {
        let places = places("control");
        assert_eq!(running(&places).unwrap(), None);
        let lock = take_lock(&places).unwrap();
        let serving = serve(Control::listen(&places).unwrap());
        assert_eq!(running(&places).unwrap(), Some(process::id()));
        assert_eq!(stop(&places).unwrap(), Some(process::id()));
        serving.join().unwrap();
        assert!(!path(&places).exists());
        let error = running(&places).unwrap_err().to_string();
        assert!(error.contains("holds the lock"), "{error}");
        drop(lock);
        assert_eq!(running(&places).unwrap(), None);
        fs::remove_dir_all(&places.run).unwrap();
    }

    #[test]
    fn a_killed_agents_socket_is_no_agent_and_no_obstacle() {
        let places = places("stale");
        // Close the socket without removing it, as the kernel does after a SIGKILL.
        drop(UnixListener::bind(path(&places)).unwrap());
        assert_eq!(stop(&places).unwrap(), None);
        let _lock = take_lock(&places).unwrap();
        drop(serve(Control::listen(&places).unwrap()));
        assert_eq!(stop(&places).unwrap(), Some(process::id()));
        fs::remove_dir_all(&places.run).unwrap();
    }

    #[test]
    fn callers_that_say_nothing_or_nonsense_are_dropped() {
        let places = places("callers");
        let mut control = Control::listen(&places).unwrap();
        let silent: Vec<UnixStream> =
            (0..3 * CALLERS).map(|_| UnixStream::connect(path(&places)).unwrap()).collect();
        assert!(!control.serve());
        assert_eq!((control.callers.len(), control.files().len()), (CALLERS, CALLERS));
        for caller in &mut control.callers {
            caller.since -= PATIENCE;
        }
        let mut rude = &silent[CALLERS - 1];
        rude.write_all(&[b'x'; 4000]).unwrap();
        assert!(!control.serve());
        assert_eq!(control.callers.len(), 0);
        fs::remove_dir_all(&places.run).unwrap();
    }

    #[test]
    fn only_root_and_the_agents_own_user_are_obeyed() {
        const OVERFLOW: u32 = 65_534;
        assert!(is_allowed(0, 110, OVERFLOW) && is_allowed(110, 110, OVERFLOW));
        assert!(!is_allowed(111, 110, OVERFLOW) && !is_allowed(1000, 0, OVERFLOW));
        // A user that this user namespace does not know.
        assert!(!is_allowed(OVERFLOW, OVERFLOW, OVERFLOW));
    }
}
