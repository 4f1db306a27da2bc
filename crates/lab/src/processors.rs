//! Which processors work for the switch, and which for the hosts.
//!
//! The switch has a processor for itself, so that no other thread of the lab delays it. The others are for the hosts and
//! for the thread that helps the switch.

use std::io;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// The processors of a lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Division {
    /// The number of the switch's processor.
    pub switch: usize,
    /// The numbers of the others, of which there is at least one.
    pub others: Vec<usize>,
}

impl Division {
    /// Divides the processors that the calling thread may use. The switch gets the last one that is not among `taken`,
    /// those of other labs' switches; if all are taken, the last one. `None` if there is one processor.
    ///
    /// # Errors
    /// If the system does not tell which processors there are.
    pub(crate) fn beside(taken: &[usize]) -> io::Result<Option<Division>> {
        let all = places(&sched_getaffinity(Pid::from_raw(0))?);
        let free = all.iter().rev().find(|place| !taken.contains(place));
        let switch = free.or(all.last()).copied();
        Ok(switch.filter(|_| all.len() > 1).map(|switch| {
            let others = all.into_iter().filter(|place| *place != switch).collect();
            Division { switch, others }
        }))
    }
}

/// Keeps the calling thread on these processors until the result is dropped. Threads that it starts meanwhile are kept
/// there too.
///
/// # Errors
/// If the system refuses.
pub(crate) fn keep_on(processors: &[usize]) -> io::Result<Kept> {
    let before = sched_getaffinity(Pid::from_raw(0))?;
    let mut only = CpuSet::new();
    for processor in processors {
        only.set(*processor)?;
    }
    sched_setaffinity(Pid::from_raw(0), &only)?;
    Ok(Kept { before })
}

/// A thread that is kept on some processors. The same thread has to drop this.
#[derive(Debug)]
pub(crate) struct Kept {
    before: CpuSet,
}

impl Drop for Kept {
    fn drop(&mut self) {
        // A thread may always use the processors that it had before.
        let _ = sched_setaffinity(Pid::from_raw(0), &self.before);
    }
}

fn places(set: &CpuSet) -> Vec<usize> {
    (0..CpuSet::count()).filter(|place| set.is_set(*place).unwrap_or(false)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_avoids_the_processors_of_others() {
        let all = places(&sched_getaffinity(Pid::from_raw(0)).unwrap());
        let chosen = |taken: &[usize]| Division::beside(taken).unwrap();
        let [others @ .., last] = &all[..] else { panic!("no processor") };
        let Some(before) = others.last() else {
            return assert_eq!(chosen(&[]), None, "one processor is not divided");
        };
        assert_eq!(chosen(&[]), Some(Division { switch: *last, others: others.to_vec() }));
        assert_eq!(chosen(&[*last]).unwrap().switch, *before);
        assert_eq!(chosen(&all).unwrap().switch, *last);
    }

    #[test]
    fn a_thread_is_kept_until_the_end() {
        let now = || places(&sched_getaffinity(Pid::from_raw(0)).unwrap());
        let all = now();
        let kept = keep_on(&all[..1]).unwrap();
        assert_eq!(now(), all[..1]);
        drop(kept);
        assert_eq!(now(), all);
    }
}
