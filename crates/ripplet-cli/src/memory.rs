//! The limit on a command's memory, and its last message if an allocation fails.
//!
//! Allocations that grow with the input are fallible, and a failure becomes an error. Others (small
//! ones, and those of crates that decode Parquet and Arrow) end the process by `abort`, as Rust
//! does. This module then removes unfinished outputs, prints a message and ends the process with
//! code 1, or with 2 if a limit that the user set refused the memory.
//!
//! The allocator is the system's. While [`within`] runs, it also counts bytes, and refuses
//! allocations beyond the limit. It counts requested bytes: memory that is reserved and never
//! written counts, the pages of mapped files and the threads' stacks do not.

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::size::Size;
use clap::Args;
use ripplet::device::{HostLimit, available_memory};
use ripplet::lp::{Item, Plan};
use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize};

/// Smaller requests are counted but never refused by a limit: few of them can be answered with an
/// error, and they do not grow with the input.
const LARGE: usize = 64 << 10;
/// The least that reading is held to: what its buffers take for the smallest file.
const LEAST: u64 = 1 << 20;

static LIMITED: AtomicBool = AtomicBool::new(false);
/// The processes of this command that share the free memory of the machine.
static SHARING: AtomicUsize = AtomicUsize::new(1);
/// Whether the user set the current limit.
static GIVEN: AtomicBool = AtomicBool::new(false);
static LIMIT: AtomicI64 = AtomicI64::new(0);
/// Bytes in use since the limit began; below 0 if older ones were freed.
static USED: AtomicI64 = AtomicI64::new(0);
/// The size of the last request that was refused.
static REFUSED: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Limited = Limited;

struct Limited;

// SAFETY: every request goes to the system's allocator with the layout that came, or is answered
// with null, which the trait allows; nothing here allocates or unwinds.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        counted(layout.size(), 0, || unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        counted(layout.size(), 0, || unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        counted(size, layout.size(), || unsafe { System.realloc(pointer, layout, size) })
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if LIMITED.load(Relaxed) {
            USED.fetch_sub(layout.size() as i64, Relaxed);
        }
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Returns the result of `give` for a request of `size` bytes in place of `old` ones, or null.
fn counted(size: usize, old: usize, give: impl FnOnce() -> *mut u8) -> *mut u8 {
    // A size is at most `isize::MAX`.
    let more = size as i64 - old as i64;
    let limited = LIMITED.load(Relaxed);
    if limited {
        let used = USED.fetch_add(more, Relaxed) + more;
        if used > LIMIT.load(Relaxed) && more > 0 && size >= LARGE {
            USED.fetch_sub(more, Relaxed);
            REFUSED.store(size, Relaxed);
            BY_LIMIT.store(true, Relaxed);
            return std::ptr::null_mut();
        }
    }
    let given = give();
    if given.is_null() {
        REFUSED.store(size, Relaxed);
        BY_LIMIT.store(false, Relaxed);
        if limited {
            USED.fetch_sub(more, Relaxed);
        }
    }
    given
}

/// Whether the last refusal was the limit's, and not the system's.
static BY_LIMIT: AtomicBool = AtomicBool::new(false);

/// Advice if the memory does not suffice to read a graph.
pub const OF_A_GRAPH: &str = "allow more --host-memory, or `ripplet convert` the input to .rg where there \
                              is more: an .rg is opened without reading";
/// Advice if the memory does not suffice to read a list for a graph.
pub const OF_A_LIST: &str = "see that the file is what it should be, or allow more --host-memory";

/// Advice if the memory does not suffice to measure communities.
pub const OF_A_MEASURE: &str = "allow more --host-memory, or use a larger machine";

/// The default limit, in percent of the free memory.
const SHARE: u64 = 80;
/// The variable with the limit if `--host-memory` is not given.
const VARIABLE: &str = "RIPPLET_HOST_MEMORY";

/// The memory that a command may have.
#[derive(Args, Default)]
pub struct MemoryArguments {
    /// The most memory that reading, building and measuring may take: 8GiB, 500MB [default: 80 % of what is free].
    ///
    /// Not less than 1 MiB; mapped files and the threads' stacks do not count. RIPPLET_HOST_MEMORY in the
    /// environment is another default. What is free in a container is what its limit leaves.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, help_heading = "Choices")]
    pub host_memory: Option<Size>,
}

/// A limit on memory, and its source.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Bytes.
    pub size: Size,
    source: LimitSource,
}

/// Source of a memory limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LimitSource {
    /// `--host-memory`.
    Option,
    /// The environment.
    Variable,
    /// A share of what is free at this moment.
    Free,
}

impl Limit {
    /// Returns the limit of the option, else of the environment, else a share of the free memory; `None` if the
    /// system does not report that.
    pub fn of(asked: Option<Size>) -> Result<Option<Limit>, Failure> {
        if let Some(size) = asked {
            return Ok(Some(Limit { size, source: LimitSource::Option }));
        }
        if let Some(text) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) {
            let size = text.to_string_lossy().parse();
            let size = size.map_err(|why: String| {
                Failure::refused(format!("{VARIABLE}: {why}"), "set it otherwise, or not at all")
            })?;
            return Ok(Some(Limit { size, source: LimitSource::Variable }));
        }
        let sharing = SHARING.load(Relaxed).max(1) as u64;
        let share = available_memory().map(|free| Size(free / 100 * SHARE / sharing));
        Ok(share.map(|size| Limit { size, source: LimitSource::Free }))
    }

    /// Whether the user set the limit: then the same command fails again, whatever else the machine does.
    pub fn is_given(self) -> bool {
        self.source != LimitSource::Free
    }

    /// The end of a sentence about the limit's size.
    fn meaning(self) -> &'static str {
        match self.source {
            LimitSource::Option => "is what --host-memory allows",
            LimitSource::Variable => "is what RIPPLET_HOST_MEMORY allows",
            LimitSource::Free if SHARING.load(Relaxed) > 1 => {
                "is this rank's share of 80 % of what is free here"
            }
            LimitSource::Free => "is 80 % of what is free here",
        }
    }

    /// Returns the limit of a run's plan. One that the user set is for everything; without one, what comes beside the graph,
    /// which is in memory already, must fit the default limit.
    pub fn of_plan(self) -> HostLimit {
        match self.is_given() {
            true => HostLimit::WithGraph(self.size.0),
            false => HostLimit::BesideGraph(self.size.0),
        }
    }

    /// Returns the failure of a run that needs `needed` bytes by its plan; `less` is what else would make it need less.
    pub fn refusal(self, plan: &Plan, needed: u64, less: &str) -> Failure {
        let graph = Item { purpose: "the graph", bytes: plan.graph_host };
        let (counted, beside) = match self.is_given() {
            true => (Some(graph), ""),
            false => (None, " beside the graph"),
        };
        let largest = plan.items.iter().copied().chain(counted).max_by_key(|item| item.bytes);
        let largest = largest.map_or_else(String::new, |item| {
            format!(" (the largest part of it is {}: {})", item.purpose, Size(item.bytes))
        });
        let (needed, meaning) = (Size(needed), self.meaning());
        let way_out = match self.is_given() {
            true => format!("allow --host-memory {}", needed.0),
            false => "end other programs, allow more --host-memory, or use a larger machine".into(),
        };
        self.failure(
            format!("the run needs {needed}{beside}{largest}, but {} {meaning}", self.size),
            format!("{way_out}{less}"),
        )
    }

    /// The failure of a run that does not keep to the limit.
    fn failure(self, sentence: String, help: String) -> Failure {
        match self.is_given() {
            true => Failure::Refused { sentence, help },
            false => Failure::TooLarge { sentence, help },
        }
    }
}

/// Divides the default limit by the number of processes of this command on the machine.
pub fn share_among(processes: usize) {
    SHARING.store(processes, Relaxed);
}

/// Returns whether an option or the environment sets the limit.
pub fn is_limit_given(asked: Option<Size>) -> bool {
    asked.is_some() || std::env::var_os(VARIABLE).is_some_and(|text| !text.is_empty())
}

/// Runs `work`, which may have no more memory than the limit at any moment, or 1 MiB if that is more;
/// `way_out` is the advice if that does not suffice. A limit that already holds stays.
pub fn within<T>(
    asked: Option<Size>,
    what: &str,
    way_out: &str,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let Some(limit) = Limit::of(asked)? else { return work() };
    if LIMITED.load(Relaxed) {
        return work();
    }
    LIMIT.store(i64::try_from(limit.size.0.max(LEAST)).unwrap_or(i64::MAX), Relaxed);
    USED.store(0, Relaxed);
    BY_LIMIT.store(false, Relaxed);
    GIVEN.store(limit.is_given(), Relaxed);
    LIMITED.store(true, Relaxed);
    let done = work();
    LIMITED.store(false, Relaxed);
    match done {
        Err(failure) if failure.is_out_of_memory() && BY_LIMIT.load(Relaxed) => {
            let (size, meaning) = (Size(limit.size.0.max(LEAST)), limit.meaning());
            let asked = Size(REFUSED.load(Relaxed) as u64);
            let sentence = format!(
                "{what} needs more memory than {size}, which {meaning}: it asked for {asked} more"
            );
            Err(limit.failure(sentence, way_out.into()))
        }
        done => done,
    }
}

/// Refuses a run that will not fit; `less` is what else would make it need less.
pub fn check_plan(plan: &Plan, asked: Option<Size>, less: &str) -> Result<(), Failure> {
    let Some(limit) = Limit::of(asked)? else { return Ok(()) };
    check_against(plan, limit, less)
}

fn check_against(plan: &Plan, limit: Limit, less: &str) -> Result<(), Failure> {
    let needed = limit.of_plan().needed(plan);
    match needed <= limit.size.0 {
        true => Ok(()),
        false => Err(limit.refusal(plan, needed, less)),
    }
}

/// Refuses a limit that the user set below what a command needs whatever it reads.
pub fn check_least(asked: Option<Size>, what: &str, least: Size) -> Result<(), Failure> {
    let Some(limit) = Limit::of(asked)?.filter(|limit| limit.is_given()) else { return Ok(()) };
    if limit.size.0 >= least.0 {
        return Ok(());
    }
    let more = match limit.source {
        LimitSource::Option => "allow --host-memory",
        LimitSource::Variable | LimitSource::Free => "set RIPPLET_HOST_MEMORY to",
    };
    Err(Failure::refused(
        format!("{what} needs {least} at least, but {} {}", limit.size, limit.meaning()),
        format!("{more} {}, or more", least.0),
    ))
}

/// Whether the last request was refused by a limit that the user set.
fn is_refused_by_user() -> bool {
    BY_LIMIT.load(Relaxed) && GIVEN.load(Relaxed)
}

/// The sentence on a request of so many bytes that exceeded the user's limit; to write it takes no memory.
struct Exceeded {
    bytes: usize,
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = Size(LIMIT.load(Relaxed).unsigned_abs());
        write!(
            f,
            "the memory does not suffice: {limit} is what --host-memory or {VARIABLE} allows, and {} bytes more were refused",
            self.bytes
        )
    }
}

/// Returns the failure of the last request that was refused where no error says so, if one was.
pub fn refusal() -> Option<Failure> {
    let bytes = Some(REFUSED.load(Relaxed)).filter(|&bytes| bytes > 0)?;
    if !is_refused_by_user() {
        return Some(Failure::Memory { bytes });
    }
    Some(Failure::refused(
        Exceeded { bytes }.to_string(),
        "allow more of it, or use fewer --threads",
    ))
}

/// Sees to it that a process which is refused memory where no error can say so ends with a sentence
/// and a code of [`ExitStatus`], and leaves no unfinished output.
#[cfg(unix)]
pub fn report_before_aborting() {
    let handler = last_message as extern "C" fn(libc::c_int);
    // SAFETY: the handler is a function of the type that `signal` asks for. It is called by `abort`,
    // on the thread and at the place where the allocator has just answered null, so it may do what
    // any function there may.
    unsafe { libc::signal(libc::SIGABRT, handler as libc::sighandler_t) };
}

/// On other systems such a process ends by Rust's default.
#[cfg(not(unix))]
pub fn report_before_aborting() {}

/// Whether the system has nothing left to give. The C library asks it for memory of its own where a thread
/// starts, and aborts without a word to the allocator here when it gets none; it asks for a mebibyte.
#[cfg(unix)]
fn is_exhausted() -> bool {
    const ASKED: usize = 1 << 20;
    let (access, kind) = (libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new anonymous mapping, which is unmapped at once if it was made.
    unsafe {
        let mapped = libc::mmap(std::ptr::null_mut(), ASKED, access, kind, -1, 0);
        mapped == libc::MAP_FAILED || {
            libc::munmap(mapped, ASKED);
            false
        }
    }
}

#[cfg(unix)]
extern "C" fn last_message(signal: libc::c_int) {
    use std::io::Write;
    let refused = REFUSED.load(Relaxed);
    // The standard library asks the system, and not the allocator here, for what a thread starts with: then the
    // last error of this thread has the reason.
    let was_refused = std::io::Error::last_os_error().raw_os_error() == Some(libc::ENOMEM);
    if refused == 0 && !was_refused && !is_exhausted() {
        // An abort for another reason remains one.
        // SAFETY: the default action is restored and the signal sent again, which ends the process.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
        return;
    }
    ripplet::io::write::try_remove_unfinished();
    let by_user = is_refused_by_user();
    let status = if by_user { ExitStatus::Wrong } else { ExitStatus::Failed };
    let mut text = [0u8; 320];
    let mut rest = &mut text[..];
    let _ = match refused {
        0 => writeln!(rest, "error: the memory does not suffice to start a thread"),
        _ if by_user => writeln!(rest, "error: {}", Exceeded { bytes: refused }),
        _ => {
            writeln!(rest, "error: the memory does not suffice: {refused} bytes more were refused")
        }
    };
    let _ = match by_user {
        true => writeln!(rest, "help: allow more of it, or use fewer --threads"),
        false => {
            writeln!(rest, "help: allow more memory, use fewer --threads, or use a larger machine")
        }
    };
    let left = rest.len();
    // SAFETY: the bytes are those of the array. A failure of the write cannot be reported.
    unsafe {
        libc::write(2, text.as_ptr().cast(), text.len() - left);
        libc::_exit(i32::from(status.code()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCES: [LimitSource; 3] =
        [LimitSource::Option, LimitSource::Variable, LimitSource::Free];

    /// Returns the refusal of a plan of 100 KiB for the graph and 20 KiB beside it, within `room` bytes.
    fn said(room: u64, source: LimitSource) -> Option<(String, ExitStatus)> {
        let plan = Plan { graph_host: 100 << 10, ..Plan::default() };
        let plan = plan.with("labels", 12 << 10).with("label totals", 8 << 10);
        let failure = check_against(&plan, Limit { size: Size(room), source }, "").err()?;
        Some((failure.to_string(), failure.status()))
    }

    #[test]
    fn a_limit_that_was_set_is_wrong_and_what_is_free_may_change() {
        let codes = SOURCES.map(|source| said(1 << 10, source).unwrap().1);
        assert_eq!(codes, [ExitStatus::Wrong, ExitStatus::Wrong, ExitStatus::Failed]);
        assert!(SOURCES.iter().all(|&source| said(1 << 20, source).is_none()));
        // The graph is already in memory if the limit is the free memory.
        assert!(said(50 << 10, LimitSource::Option).is_some());
        assert!(said(50 << 10, LimitSource::Free).is_none());
    }

    #[test]
    fn the_largest_part_is_the_graph_where_that_counts() {
        let [option, variable, free] = SOURCES.map(|source| said(1 << 10, source).unwrap().0);
        let largest = "the run needs 120.0 KiB (the largest part of it is the graph: 100.0 KiB), but 1.0 KiB is what";
        assert_eq!(option, format!("{largest} --host-memory allows"));
        assert_eq!(variable, format!("{largest} RIPPLET_HOST_MEMORY allows"));
        assert_eq!(
            free,
            "the run needs 20.0 KiB beside the graph (the largest part of it is labels: 12.0 KiB), but 1.0 KiB is 80 % \
             of what is free here"
        );
    }
}
