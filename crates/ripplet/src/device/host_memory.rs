//! The memory of the machine: all, what is free within the limits of a container's control groups, and what this
//! process had at most.

use ripplet_lp::Plan;
use std::fs;
use std::path::Path;

/// A limit on the host memory of a run, which its plan must keep to.
///
/// # Examples
/// ```
/// use ripplet::device::HostLimit;
/// use ripplet::lp::Plan;
///
/// let plan = Plan { graph_host: 100, ..Plan::default() }.with("labels", 10);
/// assert_eq!(HostLimit::WithGraph(105).needed(&plan), 110);
/// assert_eq!(HostLimit::BesideGraph(105).needed(&plan), 10);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostLimit {
    /// Bytes of all that the run needs, its graph among it.
    WithGraph(u64),
    /// Bytes of what the run needs beside its graph, which is in memory already: a limit for what is
    /// [free](available_memory).
    BesideGraph(u64),
}

impl HostLimit {
    /// Returns the bytes.
    pub fn bytes(self) -> u64 {
        match self {
            HostLimit::WithGraph(bytes) | HostLimit::BesideGraph(bytes) => bytes,
        }
    }

    /// Returns the bytes of a plan that count.
    pub fn needed(self, plan: &Plan) -> u64 {
        match self {
            HostLimit::WithGraph(_) => plan.total_host(),
            HostLimit::BesideGraph(_) => plan.algorithm_host(),
        }
    }

    /// Returns what counts, as the end of a clause.
    pub(crate) fn counted(self) -> &'static str {
        match self {
            HostLimit::WithGraph(_) => "with its graph",
            HostLimit::BesideGraph(_) => "beside its graph",
        }
    }
}

/// Returns the memory that a new allocation may take without swapping or being killed, if the system
/// reports it.
///
/// The least of what the machine has available, and of what is left of each limit of a control group
/// around this process (versions 1 and 2). Pages of files that a group would give up count as free.
pub fn available_memory() -> Option<u64> {
    available_under(Path::new("/"))
}

/// Returns the memory of the machine, if the system reports it.
pub fn machine_memory() -> Option<u64> {
    kibibytes(Path::new("/proc/meminfo"), "MemTotal:")
}

/// Returns the peak resident memory of this process, if the system reports it.
pub fn peak_memory() -> Option<u64> {
    kibibytes(Path::new("/proc/self/status"), "VmHWM:")
}

/// [`available_memory`] of the system whose files are below `root`.
fn available_under(root: &Path) -> Option<u64> {
    let machine = kibibytes(&root.join("proc/meminfo"), "MemAvailable:");
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let left = groups.lines().filter_map(|line| left_of_line(root, line));
    machine.into_iter().chain(left).min()
}

/// Returns the memory within the limit of a line `number:controllers:path` of `/proc/self/cgroup`.
fn left_of_line(root: &Path, line: &str) -> Option<u64> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (controllers, path) = (fields.next()?, fields.next()?);
    let below = root.join("sys/fs/cgroup");
    let (mount, files) = match controllers {
        "" if below.join("unified").is_dir() => (below.join("unified"), &VERSION_2),
        "" => (below, &VERSION_2),
        _ if controllers.split(',').any(|name| name == "memory") => {
            (below.join("memory"), &VERSION_1)
        }
        _ => return None,
    };
    let path = mount.join(path.trim_start_matches('/'));
    // A limit holds for all groups below; in a container the path may be one that only the host has.
    let groups = path.ancestors().take_while(|group| group.starts_with(&mount));
    groups.filter_map(|group| files.left_of(group)).min()
}

/// The files of a control group.
struct Files {
    limit: &'static str,
    used: &'static str,
    /// The line of `memory.stat` with the inactive pages of files.
    spare: &'static str,
}

const VERSION_1: Files = Files {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    spare: "total_inactive_file ",
};
const VERSION_2: Files =
    Files { limit: "memory.max", used: "memory.current", spare: "inactive_file " };

impl Files {
    fn left_of(&self, group: &Path) -> Option<u64> {
        let number = |file: &str| -> Option<u64> {
            fs::read_to_string(group.join(file)).ok()?.trim().parse().ok()
        };
        // Without a limit, version 2 has the word `max` there, and version 1 a number beyond any machine.
        let limit = number(self.limit)?;
        let used = number(self.used)?;
        let stat = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
        let spare =
            stat.lines().find_map(|line| line.strip_prefix(self.spare)?.trim().parse().ok());
        Some(limit.saturating_sub(used.saturating_sub(spare.unwrap_or(0))))
    }
}

/// Returns a line of Linux's `name: 123 kB`, in bytes.
fn kibibytes(file: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    number.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the memory that is available on a system with these files.
    fn available(files: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        available_under(root.path())
    }

    const MACHINE: (&str, &str) = ("proc/meminfo", "MemTotal: 99 kB\nMemAvailable: 64 kB\n");

    #[test]
    fn without_limits_the_machine_counts() {
        assert_eq!(available(&[]), None);
        assert_eq!(available(&[MACHINE]), Some(64 << 10));
        let groups = ("proc/self/cgroup", "0::/a\n1:cpu:/b\n");
        let none = ("sys/fs/cgroup/a/memory.max", "max\n");
        assert_eq!(available(&[MACHINE, groups, none]), Some(64 << 10));
    }

    #[test]
    fn the_tightest_group_around_counts() {
        let files = [
            MACHINE,
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/a/memory.max", "50000\n"),
            ("sys/fs/cgroup/a/memory.current", "40000\n"),
            ("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 3000\n"),
            ("sys/fs/cgroup/a/b/memory.max", "30000\n"),
            ("sys/fs/cgroup/a/b/memory.current", "10000\n"),
        ];
        assert_eq!(available(&files), Some(13_000));
        // Of version 1, in a container that sees its own group as the root.
        let files = [
            MACHINE,
            ("proc/self/cgroup", "4:memory:/docker/1\n0::/\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9000\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "8000\n"),
            ("sys/fs/cgroup/memory/memory.stat", "cache 1\ntotal_inactive_file 500\n"),
        ];
        assert_eq!(available(&files), Some(1500));
        // More is used than allowed for a moment.
        let files = [
            MACHINE,
            ("proc/self/cgroup", "0::/\n"),
            ("sys/fs/cgroup/memory.max", "10\n"),
            ("sys/fs/cgroup/memory.current", "20\n"),
        ];
        assert_eq!(available(&files), Some(0));
    }
}
