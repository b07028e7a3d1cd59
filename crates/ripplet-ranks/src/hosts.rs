//! The hosts of ranks, and the share of a host's cores that each rank on it takes by default.
//!
//! Ranks are on one host if its name and the identity of its running system are equal: containers of one machine that
//! have their own names have their own limits. Launchers may give ranks cores of their own; a core is divided only
//! between the ranks that may run on it.

use crate::comm::Comm;
use crate::error::CommError;
use std::fmt;
use std::thread::available_parallelism;

/// The name of a host that the system does not report.
const UNKNOWN: &str = "an unknown host";

/// The hosts of all ranks of a communicator.
///
/// # Examples
/// Each of several ranks on a machine starts as many threads as its share of the cores:
/// ```
/// use ripplet_ranks::{CommError, Hosts, Threads, host_name};
/// use std::time::Duration;
///
/// let shares = Threads::run(2, Duration::from_secs(10), |mut comm| {
///     let hosts = Hosts::gather(&mut comm)?;
///     assert_eq!(hosts.name_of(1), host_name());
///     Ok::<_, CommError>(hosts.share_of(comm.rank()))
/// });
/// for share in shares {
///     let share = share?;
///     assert!(share.ranks == 2 && share.threads >= 1);
/// }
/// # Ok::<(), CommError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    /// Of each rank.
    places: Vec<Place>,
}

/// What a rank has of its host by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostShare {
    /// The number of ranks on the host.
    pub ranks: usize,
    /// The threads of the rank, at least one: its share of the cores on which it may run, and of the quota of a container.
    pub threads: usize,
}

/// The host of a rank, and the cores that it may use there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Place {
    /// The name of the host.
    host: String,
    /// The identity of the running system; empty if it is unknown.
    system: String,
    /// A bit for each core that the rank may run on; empty if they are unknown.
    cores: Vec<u64>,
    /// The number of threads that run at once, which a quota may limit further.
    parallelism: usize,
}

impl Hosts {
    /// Gathers the hosts of all ranks, which call it at the same time.
    ///
    /// The cores are those of the calling thread.
    ///
    /// # Errors
    /// See [`Wire::exchange`](crate::Wire::exchange).
    pub fn gather(comm: &mut Comm) -> Result<Hosts, CommError> {
        let own = Place::own().to_string();
        let gathered = comm.all_gather("hosts", own.as_bytes())?;
        let places = gathered.iter().map(|text| Place::of(&String::from_utf8_lossy(text)));
        Ok(Hosts { places: places.collect() })
    }

    /// Returns the name of a rank's host, or "an unknown host".
    pub fn name_of(&self, rank: usize) -> &str {
        self.places.get(rank).map_or(UNKNOWN, |place| &place.host)
    }

    /// Returns the share of a rank; one thread of a rank that does not exist.
    pub fn share_of(&self, rank: usize) -> HostShare {
        let Some(own) = self.places.get(rank) else { return HostShare { ranks: 1, threads: 1 } };
        let here: Vec<&Place> = self.places.iter().filter(|place| place.is_beside(own)).collect();
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

    /// Returns the number of a rank among those on its host, from 0; 0 of a rank that does not exist.
    pub fn rank_on_host(&self, rank: usize) -> usize {
        let Some(own) = self.places.get(rank) else { return 0 };
        self.places[..rank].iter().filter(|place| place.is_beside(own)).count()
    }

    /// Yields the hosts with several ranks: the first rank of each, and its share.
    pub fn shared(&self) -> impl Iterator<Item = (usize, HostShare)> {
        let is_first = |rank: usize, place: &Place| {
            self.places.iter().position(|other| other.is_beside(place)) == Some(rank)
        };
        let firsts = self.places.iter().enumerate().filter(move |&(rank, own)| is_first(rank, own));
        let shares = firsts.map(|(rank, _)| (rank, self.share_of(rank)));
        shares.filter(|(_, share)| share.ranks > 1)
    }
}

impl Place {
    /// Returns the place of this process.
    fn own() -> Place {
        let system = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
        let system = system.map(|text| text.trim().to_owned()).unwrap_or_default();
        let parallelism = available_parallelism().map_or(1, usize::from);
        Place { host: host_name(), system, cores: own_cores(), parallelism }
    }

    /// Parses the text of [`Place::to_string`]; what is missing is empty.
    fn of(text: &str) -> Place {
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

/// Returns the name of this host, or "an unknown host".
pub fn host_name() -> String {
    #[cfg(unix)]
    {
        let mut name = [0u8; 256];
        // SAFETY: the system writes at most as many bytes as there are.
        let given = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len()) };
        let name: Vec<u8> = name.into_iter().take_while(|&byte| byte > 0).collect();
        if given == 0 && !name.is_empty() {
            return String::from_utf8_lossy(&name).into_owned();
        }
    }
    UNKNOWN.into()
}

/// Returns a bit for each core that this thread may run on; nothing if the system does not report them.
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
        let hosts = Hosts { places: places.to_vec() };
        (0..places.len()).map(|rank| hosts.share_of(rank).threads).collect()
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
        let hosts = Hosts { places: places.to_vec() };
        assert_eq!(hosts.share_of(0).ranks, 1);
        assert_eq!(hosts.shared().count(), 0);
    }

    #[test]
    fn a_host_that_ranks_share_is_listed_once() {
        let places = [place("b", 3, 2), place("a", 3, 2), place("b", 3, 2), place("c", 3, 2)];
        let hosts = Hosts { places: places.to_vec() };
        let share = HostShare { ranks: 2, threads: 1 };
        assert_eq!(hosts.shared().collect::<Vec<_>>(), [(0, share)]);
        assert_eq!((hosts.name_of(2), hosts.name_of(4)), ("b", UNKNOWN));
    }

    #[test]
    fn a_place_is_the_same_after_it_was_sent() {
        let own = Place { host: "a name".into(), ..Place::own() };
        assert!(own.parallelism > 0 && Place::of(&own.to_string()) == own);
        assert_eq!(Place::of(""), Place { parallelism: 1, ..Place::default() });
    }
}
