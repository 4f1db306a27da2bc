//! The BPF program in the kernel: loads it, pins its maps, and puts rules in force.
//!
//! Maps that are pinned already are used again, so that counters and the state of flows continue.
//! The programs are always those of this binary.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, MapHandle, OpenObject, PrintLevel, Program, ProgramMut};

use crate::bpf::{LAYOUT, OpenTaggerSkel, SLOTS, Shared, TaggerSkel, TaggerSkelBuilder, types};
use crate::config::Config;
use crate::entry::Entry;
use crate::error::AgentError;
use crate::inherit::{Inheritance, Wanted};
use crate::pins::Places;
use crate::{clock, lone, map, select, sys};

/// Options that are fixed when the program is loaded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LoadOptions {
    /// Whether the time is taken from the packet's time stamp, for test runs.
    pub(crate) injected_clock: bool,
    /// Whether the decisions of the socket path are logged, for tests.
    pub(crate) trace: bool,
}

impl LoadOptions {
    /// The flags of a rule that these options set.
    fn flags(self) -> u32 {
        let flag = |set: bool, flag: types::rule_flag| if set { flag.0 } else { 0 };
        flag(self.injected_clock, types::rule_flag::FS_INJECTED_CLOCK)
            | flag(self.trace, types::rule_flag::FS_TRACE)
    }
}

/// The loaded program.
pub(crate) struct Tagger {
    skel: TaggerSkel<'static>,
    inheritance: Inheritance,
    options: LoadOptions,
}

impl std::fmt::Debug for Tagger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tagger")
    }
}

impl Tagger {
    /// Loads the program. Pins its maps below `places`, or uses the maps that are pinned there.
    ///
    /// # Errors
    /// If the kernel refuses the program. The error has the verifier's log.
    pub(crate) fn load(
        config: &Config,
        places: Option<&Places>,
        options: LoadOptions,
    ) -> Result<Tagger, AgentError> {
        let mut open = open()?;
        if let Some(rodata) = open.maps.rodata_data.as_deref_mut() {
            rodata.trace = options.trace;
            rodata.survey = config.is_survey;
        }
        let refuse = |e| AgentError::kernel("prepare the maps", e);
        open.maps.flows.set_max_entries(config.max_flows).map_err(refuse)?;
        if !options.trace {
            open.maps.trace_records.set_max_entries(4096).map_err(refuse)?;
        }
        let inheritance = match places {
            Some(places) => pin_or_reuse(&mut open, places)?,
            None => Inheritance::default(),
        };
        let skel = collecting_log(|| open.load()).map_err(|(error, log)| load_error(error, log))?;
        if let Some(places) = places {
            inheritance.copy_flows(places, &skel.maps.flows)?;
        }
        Ok(Tagger { skel, inheritance, options })
    }

    /// Puts the whole of `config` in force at once. First writes the rule that is not in force,
    /// then changes the number of the rule in force.
    pub(crate) fn apply(&self, config: &Config) -> Result<(), AgentError> {
        let mut both = self.settings()?;
        let active = both.active as usize % SLOTS;
        let next = (active + 1) % SLOTS;
        select::fill(&self.skel.maps.prefixes, &self.skel.maps.cgroups, &config.selection, next)?;
        both.rules[next] = config.rule();
        both.rules[next].flags.0 |= self.options.flags();
        both.rules[next].generation = both.rules[active].generation.checked_add(1).unwrap_or(1);
        let before = both.rules[active];
        lone::follow(&before, &mut both.rules[next], clock::monotonic_ns());
        both.layout = LAYOUT;
        self.write_settings(&both)?;
        both.active = next as u32;
        self.write_settings(&both)?;
        // A packet that the old rule was tagging has left long before the next change.
        thread::sleep(Duration::from_millis(5));
        select::clear(&self.skel.maps.prefixes, &self.skel.maps.cgroups, active)
    }

    /// Resolves control groups again, since those of containers come and go.
    pub(crate) fn refresh_cgroups(&self, config: &Config) -> Result<(), AgentError> {
        let active = self.settings()?.active as usize % SLOTS;
        select::refresh_cgroups(&self.skel.maps.cgroups, &config.selection, active)
    }

    /// The program of an entry point.
    pub(crate) fn program(&self, entry: Entry) -> &ProgramMut<'static> {
        match entry {
            Entry::TagEthernet => &self.skel.progs.tag_ethernet,
            Entry::TagIp => &self.skel.progs.tag_ip,
            Entry::HearEthernet => &self.skel.progs.hear_ethernet,
            Entry::HearIp => &self.skel.progs.hear_ip,
        }
    }

    /// Pins the programs, so that `status`, `top` and a later agent find them. Also pins the map of
    /// the program that they continue with, which the kernel would otherwise empty when the agent
    /// ends.
    pub(crate) fn pin_programs(&self, places: &Places) -> Result<(), AgentError> {
        for entry in Entry::ALL {
            pin_anew(self.program(entry).as_fd(), &places.program(entry.name()))?;
        }
        pin_anew(self.skel.maps.writers.as_fd(), &places.map(map::WRITERS))
    }

    /// Whether a rule of an earlier agent is in force in the maps.
    pub(crate) fn has_rule(&self) -> bool {
        let settings = self.settings();
        settings.is_ok_and(|both| both.rules[both.active as usize % SLOTS].generation != 0)
    }

    /// Replaces the old maps by the maps that were made anew. Returns whether there were any.
    pub(crate) fn take_over(&self, places: &Places) -> Result<bool, AgentError> {
        self.inheritance.take_over(places)
    }

    fn settings(&self) -> Result<types::settings, AgentError> {
        map::read_settings(&self.skel.maps.data_settings)
    }

    fn write_settings(&self, both: &types::settings) -> Result<(), AgentError> {
        self.skel
            .maps
            .data_settings
            .update(&0u32.to_ne_bytes(), both.bytes(), MapFlags::ANY)
            .map_err(|e| AgentError::kernel("write the rule", e))
    }

    /// The skeleton of the BPF program, for tests.
    #[cfg(test)]
    pub(crate) fn skel(&self) -> &TaggerSkel<'static> {
        &self.skel
    }
}

/// The programs of the installed tagger, which are restored if the start of another one fails.
pub(crate) struct Earlier {
    programs: [OwnedFd; Entry::ALL.len()],
    /// The map of the program that they continue with.
    writers: MapHandle,
}

impl Earlier {
    /// Opens the pinned programs. `None` if no tagger is installed, or not a complete one.
    pub(crate) fn pinned(places: &Places) -> Option<Earlier> {
        let open = |entry: Entry| Program::fd_from_pinned_path(places.program(entry.name())).ok();
        let [tag_ethernet, tag_ip, hear_ethernet, hear_ip] = Entry::ALL.map(open);
        Some(Earlier {
            programs: [tag_ethernet?, tag_ip?, hear_ethernet?, hear_ip?],
            writers: places.open_map(map::WRITERS).ok()?,
        })
    }

    /// The program of an entry point.
    pub(crate) fn program(&self, entry: Entry) -> BorrowedFd<'_> {
        self.programs[entry as usize].as_fd()
    }

    /// Pins the programs and the map where they were.
    pub(crate) fn pin_again(&self, places: &Places) -> Result<(), AgentError> {
        for entry in Entry::ALL {
            pin_anew(self.program(entry), &places.program(entry.name()))?;
        }
        pin_anew(self.writers.as_fd(), &places.map(map::WRITERS))
    }
}

/// Replaces the pin at `path`, if there is one, by a new one.
fn pin_anew(object: BorrowedFd<'_>, path: &Path) -> Result<(), AgentError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let fresh = path.with_file_name(format!("new_{name}"));
    let _ = std::fs::remove_file(&fresh);
    sys::pin(object, &fresh)
        .map_err(|e| AgentError::kernel(format!("pin {}", fresh.display()), e))?;
    std::fs::rename(&fresh, path).map_err(|e| AgentError::file(path, e))
}

fn open() -> Result<OpenTaggerSkel<'static>, AgentError> {
    // The object lives as long as the process, because the agent does.
    let object: &'static mut MaybeUninit<OpenObject> = Box::leak(Box::new(MaybeUninit::uninit()));
    TaggerSkelBuilder::default()
        .open(object)
        .map_err(|e| AgentError::kernel("read the BPF object", e))
}

/// Makes libbpf use the pinned maps that fit, and pin the maps that it makes.
fn pin_or_reuse(
    open: &mut OpenTaggerSkel<'static>,
    places: &Places,
) -> Result<Inheritance, AgentError> {
    let maps = &mut open.maps;
    let mut pinned = [
        (map::SETTINGS, &mut maps.data_settings),
        (map::COUNTERS, &mut maps.counters_of_cpu),
        (map::HISTOGRAM, &mut maps.histogram),
        (map::SOCKETS, &mut maps.sockets),
        (map::FLOWS, &mut maps.flows),
        (map::PREFIXES, &mut maps.prefixes),
        (map::CGROUPS, &mut maps.cgroups),
        (map::AGENT, &mut maps.agent_counters),
    ];
    let wanted = pinned.each_ref().map(|(name, map)| Wanted {
        name,
        key_size: map.key_size(),
        value_size: map.value_size(),
        max_entries: map.max_entries(),
    });
    let inheritance = Inheritance::find(places, &wanted);
    for (name, map) in &mut pinned {
        let path = inheritance.pin(places, name);
        map.set_pin_path(&path)
            .map_err(|e| AgentError::kernel(format!("pin {}", path.display()), e))?;
    }
    Ok(inheritance)
}

static LOG: Mutex<String> = Mutex::new(String::new());

fn keep_in_log(_: PrintLevel, message: String) {
    if let Ok(mut log) = LOG.lock() {
        log.push_str(&message);
    }
}

/// Runs `action`. If it fails, returns its error with the messages of libbpf meanwhile, which
/// include the verifier's log.
fn collecting_log<T>(
    action: impl FnOnce() -> libbpf_rs::Result<T>,
) -> Result<T, (libbpf_rs::Error, String)> {
    if let Ok(mut log) = LOG.lock() {
        log.clear();
    }
    let before = libbpf_rs::set_print(Some((PrintLevel::Info, keep_in_log)));
    let result = action();
    libbpf_rs::set_print(before);
    result.map_err(|error| (error, LOG.lock().map(|log| log.clone()).unwrap_or_default()))
}

fn load_error(error: libbpf_rs::Error, log: String) -> AgentError {
    let advice = match error.kind() {
        _ if log.contains("BTF is missing") => {
            "this kernel has no BTF (CONFIG_DEBUG_INFO_BTF), without which nothing is loaded"
        }
        _ if log.contains("failed to create: -ENOMEM") => {
            "there is too little memory for the maps: lower `flows.max`, or raise the limit (in \
             systemd, MemoryMax of the service)"
        }
        libbpf_rs::ErrorKind::PermissionDenied if !log.contains("PROG LOAD LOG") => {
            "it takes the capabilities CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON, or root"
        }
        _ => {
            "run `flowsched agent doctor`, and report its output with the log below; kernels \
             before 6.1 are untested"
        }
    };
    AgentError::Load { reason: error.to_string(), advice, log: last_lines(&log, 40) }
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_error_ends_with_what_the_verifier_said() {
        let refused = || libbpf_rs::Error::from_raw_os_error(libc::EACCES);
        let log = "libbpf: -- BEGIN PROG LOAD LOG --\nR1 offset is outside of the packet\n";
        let said = load_error(refused(), log.into()).to_string();
        assert!(said.contains("doctor") && said.ends_with("outside of the packet"), "{said}");
        assert!(load_error(refused(), String::new()).to_string().contains("CAP_PERFMON"));
        let large =
            load_error(refused(), "libbpf: map 'flows': failed to create: -ENOMEM\n".into());
        assert!(large.to_string().contains("flows.max"), "{large}");
        let bare = load_error(refused(), "libbpf: kernel BTF is missing at '/sys'\n".into());
        assert!(bare.to_string().contains("CONFIG_DEBUG_INFO_BTF"), "{bare}");
    }

    /// Removes all capabilities but these from this thread.
    #[allow(unsafe_code)]
    fn keep_only(capabilities: &[u32]) {
        const VERSION_3: u32 = 0x2008_0522;
        let header = [VERSION_3, 0];
        let bits = capabilities.iter().fold(0u64, |bits, number| bits | 1 << number);
        let (low, high) = (bits as u32, (bits >> 32) as u32);
        // Effective, permitted and inheritable of capabilities below 32, then of the others.
        let sets = [low, low, 0, high, high, 0];
        // SAFETY: both are as long as the call's third version reads.
        let result = unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), sets.as_ptr()) };
        assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
    }

    /// The kernel's own message: without CAP_PERFMON, it refuses what the program does with
    /// pointers.
    #[test]
    fn what_the_kernel_itself_says_against_the_program_is_in_the_error() {
        if !nix::unistd::geteuid().is_root() {
            eprintln!("skipped: loading needs root");
            return;
        }
        const NET_ADMIN: u32 = 12;
        const BPF: u32 = 39;
        let refused = thread::spawn(|| {
            keep_only(&[NET_ADMIN, BPF]);
            let text = "interfaces = [\"none\"]\nthresholds = \"1KB\"\n";
            let config = Config::parse(text, Path::new("rule")).unwrap();
            Tagger::load(&config, None, LoadOptions::default()).unwrap_err()
        });
        let said = refused.join().unwrap().to_string();
        let log = said.split_once("doctor").unwrap_or_else(|| panic!("no advice: {said}")).1;
        assert!(log.contains("processed") && log.contains("insns"), "no log: {said}");
    }
}
