//! The share of a host that each of several ranks on it takes by default: its cores and its memory.
//!
//! Ranks are on one host if its name and the identity of its running system are equal: containers of one machine that
//! have their own names have their own limits. Launchers may give ranks cores of their own; a core is divided only
//! between the ranks that may run on it.

use std::fmt;
use std::thread::available_parallelism;

/// The host of a rank, and the cores that it may use there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The name of the host.
    pub host: String,
    /// The identity of the running system; empty if it is unknown.
    system: String,
    /// A bit for each core that the rank may run on; empty if they are unknown.
    cores: Vec<u64>,
    /// The number of threads that run at once, which a quota may limit further.
    parallelism: usize,
}

/// The default share of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostShare {
    /// The number of ranks on its host.
    pub ranks: usize,
    /// The threads of the rank.
    pub threads: usize,
}

impl Place {
    /// Returns the place of this process on a host of this name.
    pub fn own(host: String) -> Place {
        let system = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
        let system = system.map(|text| text.trim().to_owned()).unwrap_or_default();
        let parallelism = available_parallelism().map_or(1, usize::from);
        Place { host, system, cores: own_cores(), parallelism }
    }

    /// Parses the text of [`Place::to_string`]; what is missing is empty.
    pub fn of(text: &str) -> Place {
        let mut lines = text.lines();
        let mut line = || lines.next().unwrap_or_default();
        let (host, system) = (line().to_owned(), line().to_owned());
        let parallelism = line().parse().unwrap_or(1);
        let words = line().split_whitespace().map(|word| u64::from_str_radix(word, 16));
        let cores = words.collect::<Result<_, _>>().unwrap_or_default();
        Place { host, system, cores, parallelism }
    }

    fn is_beside(&self, other: &Place) -> bool {
        (&self.host, &self.system) == (&other.host, &other.system)
    }

    fn has_core(&self, core: usize) -> bool {
        self.cores.get(core / 64).is_some_and(|word| word >> (core % 64) & 1 == 1)
    }
}

/// Writes a line for each field.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { host, system, cores, parallelism } = self;
        let cores: Vec<String> = cores.iter().map(|word| format!("{word:x}")).collect();
        write!(f, "{}\n{system}\n{parallelism}\n{}", host.replace('\n', " "), cores.join(" "))
    }
}

impl HostShare {
    /// Returns the share of a rank; its threads are at least one.
    pub fn of(places: &[Place], rank: usize) -> HostShare {
        let Some(own) = places.get(rank) else { return HostShare { ranks: 1, threads: 1 } };
        let here: Vec<&Place> = places.iter().filter(|place| place.is_beside(own)).collect();
        let ranks = here.len();
        let cores: Vec<usize> = (0..64 * own.cores.len()).filter(|&c| own.has_core(c)).collect();
        let parts = cores.iter().map(|&core| {
            let sharing = here.iter().filter(|place| place.has_core(core)).count();
            1.0 / sharing.max(1) as f64
        });
        // A third of three cores is one core.
        let of_cores = (parts.sum::<f64>() + 1e-6) as usize;
        let is_limited = cores.is_empty() || own.parallelism < cores.len();
        let threads = match is_limited {
            // A quota is that of all processes of a container.
            true if cores.is_empty() => own.parallelism / ranks,
            true => of_cores.min(own.parallelism / ranks),
            false => of_cores,
        };
        HostShare { ranks, threads: threads.max(1) }
    }
}

/// Describes for a user the shares of ranks that are not alone on their host; `None` if each is alone.
///
/// `threads` and `memory` are whether these are shared, and not given by options.
pub fn description(places: &[Place], threads: bool, memory: bool) -> Option<String> {
    /// Hosts that a message lists.
    const LISTED: usize = 3;
    let mut hosts: Vec<(usize, HostShare)> = Vec::new();
    for (rank, place) in places.iter().enumerate() {
        let is_first = places.iter().position(|other| other.is_beside(place)) == Some(rank);
        let share = HostShare::of(places, rank);
        if is_first && share.ranks > 1 {
            hosts.push((rank, share));
        }
    }
    if hosts.is_empty() || !(threads || memory) {
        return None;
    }
    let of_host = |&(rank, HostShare { ranks, threads: count }): &(usize, HostShare)| {
        let count = match count {
            1 => "1 thread".to_owned(),
            count => format!("{count} threads"),
        };
        let limit = format!("1/{ranks} of the memory that ripplet may take");
        let each = match (threads, memory) {
            (true, true) => format!("{count} and {limit}"),
            (true, false) => count,
            _ => limit,
        };
        let host = places.get(rank).map(|place| &*place.host).unwrap_or_default();
        format!("{ranks} ranks share {host}: {each} for each")
    };
    let mut listed: Vec<String> = hosts.iter().take(LISTED).map(of_host).collect();
    if hosts.len() > LISTED {
        listed.push(format!("{} more machines are shared", hosts.len() - LISTED));
    }
    Some(listed.join("; "))
}

/// Returns a bit for each core that this process may run on; nothing if the system does not report them.
#[cfg(target_os = "linux")]
fn own_cores() -> Vec<u64> {
    /// 8192 cores, more than the kernel supports.
    const WORDS: usize = 128;
    let mut words = [0u64; WORDS];
    // SAFETY: the system writes at most as many bytes as there are; 0 is the calling thread.
    let given =
        unsafe { libc::sched_getaffinity(0, size_of_val(&words), words.as_mut_ptr().cast()) };
    let last = words.iter().rposition(|&word| word != 0);
    match (given, last) {
        (0, Some(last)) => words.iter().take(last + 1).copied().collect(),
        _ => Vec::new(),
    }
}

#[cfg(not(target_os = "linux"))]
fn own_cores() -> Vec<u64> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(host: &str, cores: u64, parallelism: usize) -> Place {
        let cores = if cores == 0 { vec![] } else { vec![cores] };
        Place { host: host.into(), system: "s".into(), cores, parallelism }
    }

    fn threads(places: &[Place]) -> Vec<usize> {
        (0..places.len()).map(|rank| HostShare::of(places, rank).threads).collect()
    }

    #[test]
    fn a_core_is_divided_between_those_that_may_run_on_it() {
        let all = || place("a", 0xff, 8);
        assert_eq!(threads(&[all()]), [8]);
        assert_eq!(threads(&[all(), all(), all()]), [2, 2, 2]);
        assert_eq!(threads(&[all(), place("b", 0xf, 4)]), [8, 4]);
        // Three thirds of a core are one.
        assert_eq!(
            threads(&[place("a", 0b111, 3), place("a", 0b111, 3), place("a", 0b111, 3)]),
            [1; 3]
        );
        // Bound to cores of their own.
        assert_eq!(threads(&[place("a", 0x0f, 4), place("a", 0xf0, 4)]), [4, 4]);
        // One may run on all of four cores, and one on two of them.
        assert_eq!(threads(&[place("a", 0xf, 4), place("a", 0x3, 2)]), [3, 1]);
        // More ranks than cores.
        assert_eq!(threads(&[place("a", 1, 1), place("a", 1, 1)]), [1, 1]);
    }

    #[test]
    fn a_quota_is_divided_as_well() {
        assert_eq!(threads(&[place("a", 0xff, 4), place("a", 0xff, 4)]), [2, 2]);
        // The system does not report cores.
        assert_eq!(threads(&[place("a", 0, 6), place("a", 0, 6)]), [3, 3]);
    }

    #[test]
    fn containers_with_names_of_their_own_and_other_machines_share_nothing() {
        let other = Place { system: "t".into(), ..place("a", 0xff, 8) };
        let places = [place("a", 0xff, 8), place("b", 0xff, 8), other];
        assert_eq!(threads(&places), [8, 8, 8]);
        assert_eq!(HostShare::of(&places, 0).ranks, 1);
        assert_eq!(description(&places, true, true), None);
    }

    #[test]
    fn a_place_is_the_same_after_it_was_sent() {
        let own = Place::own("a name".into());
        assert!(own.parallelism > 0 && Place::of(&own.to_string()) == own);
        assert_eq!(Place::of(""), Place { parallelism: 1, ..Place::default() });
    }

    #[test]
    fn what_is_shared_is_said() {
        let places = [place("a", 3, 2), place("b", 3, 2), place("a", 3, 2)];
        let said = description(&places, true, true).unwrap();
        assert_eq!(
            said,
            "2 ranks share a: 1 thread and 1/2 of the memory that ripplet may take for each"
        );
        assert_eq!(
            description(&places, true, false).unwrap(),
            "2 ranks share a: 1 thread for each"
        );
        assert_eq!(description(&places, false, false), None);
    }
}
