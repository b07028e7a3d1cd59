//! Ranks: processes that a launcher of MPI started together to share a command.
//!
//! ```text
//! launcher ─▶ Ranks::open ─▶ agree: arguments ─▶ agree: input ─▶ … ─▶ run ─▶ rank 0 writes ─▶ end
//! ```
//!
//! Rank 0 prints and writes; the others are silent. Stages that may fail end in [`Ranks::agree`]: if one rank failed, all
//! end with its error, which rank 0 prints. A rank that fails elsewhere prints its error itself and aborts. If a
//! rank is lost, the others end within the deadline.

use crate::console::{self, Console};
use crate::exit_status::ExitStatus;
use crate::failure::{Ending, Failure};
use crate::interrupt;
use crate::memory;
use crate::message::{counted, one_line};
use crate::size::Size;
use crate::stats::{RanksFigures, Shape};
use crate::threads::ThreadArguments;
use clap::{Args, ValueEnum};
use ripplet::communities::RankReport;
use ripplet::device::{peak_memory, threads_of_rank};
use ripplet::graph::{GraphView, VertexId};
use ripplet::io::write::remove_unfinished;
use ripplet::lp::RunError;
use ripplet::lp::engine::Parts;
use ripplet::ranks::{
    Comm, CommError, HostShare, Hosts, Launch, SharedComm, Sharing, Traffic, host_name,
};
use std::ffi::OsString;
use std::fmt;
use std::io::{Write, stderr};
use std::ops::Range;
use std::process::exit;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::sleep;
use std::time::Duration;

/// The time that rank 0 has to print its error before another rank, which may have the same one, prints its own.
const FIRST_REPORT: Duration = Duration::from_secs(1);
/// The time that the last lines of a rank have before another one's end makes the launcher end all.
const LAST_LINES: Duration = Duration::from_millis(200);
/// The time in which all ranks find that one of them is lost. Until then, none that has found it breaks its connections: MPI may
/// crash where they break.
const FINDING: Duration = Duration::from_secs(1);
/// The default of `--rank-deadline`, in seconds.
const DEADLINE: u32 = 60;

/// Options of ranks.
#[derive(Args)]
#[command(next_help_heading = "Several machines")]
pub struct RanksArguments {
    /// The processes that share the run.
    ///
    /// Processes that `mpirun` or `srun` started share one run: each reads its part of an .rg or of a table of edges, or all of another INPUT, and
    /// rank 0 writes OUT, or each its part of a folder OUT/. Of a batch, each computes some of the graphs. Those on one machine share its cores and its memory, unless --threads and --host-memory say what
    /// each takes. docs/several-machines.md has the details.
    #[arg(long, value_enum, value_name = "HOW", default_value_t = RanksChoice::Auto)]
    ranks: RanksChoice,
    /// Seconds without a sign of life after which a rank is lost, and all others end.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = DEADLINE,
        allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=86_400)
    )]
    rank_deadline: u32,
}

/// The processes that share a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RanksChoice {
    /// The processes that a launcher of MPI started, if there are several
    Auto,
    /// The processes that a launcher of MPI started
    Mpi,
    /// This one alone, although others may have been started
    None,
}

impl From<RanksChoice> for Sharing {
    fn from(choice: RanksChoice) -> Sharing {
        match choice {
            RanksChoice::Auto => Sharing::Auto,
            RanksChoice::Mpi => Sharing::Mpi,
            RanksChoice::None => Sharing::None,
        }
    }
}

/// Keeps the arguments of this process, which are compared with those of the other ranks.
pub fn keep_arguments(arguments: &[OsString]) {
    let texts: Vec<_> = arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    // Only the first arguments of a process count.
    let _ = ARGUMENTS.set(texts.join("\0"));
}

/// Returns whether another process prints what concerns all of them.
pub fn is_other(launch: Option<&Launch>) -> bool {
    launch.is_some_and(|launch| launch.rank > 0)
}

/// Waits, on any rank but the first, until the first one has printed the error that all of them have.
pub fn wait_for_first_report(launch: Option<&Launch>) {
    if is_other(launch) {
        sleep(FIRST_REPORT);
    }
}

/// Returns the refusal of a command that does not share its work.
pub fn refused(launch: &Launch) -> Failure {
    let processes = match launch.knows_size() {
        true => format!("{} processes of this command were started", launch.size),
        false => "several processes of this command may have been started".into(),
    };
    let variable = launch.variable;
    Failure::refused(
        format!(
            "{processes} together ({variable} is set), and this command does not share its work between processes: \
             communities, pagerank, components, lcc, convert and fraud run do, and of batches closeness, harmonic, \
             betweenness, apsp and kcore"
        ),
        format!(
            "start it once, without mpirun or srun; or unset {variable} if each process has its own work"
        ),
    )
}

/// Returns the refusal of what ranks cannot do.
pub fn not_on_ranks(what: &str, help: &str) -> Failure {
    Failure::refused(format!("{what} is not possible on several ranks"), help)
}

/// The processes that share a command: this one alone, or ranks.
pub struct Ranks {
    connected: Option<Connected>,
}

/// A connection to other ranks.
struct Connected {
    comm: SharedComm,
    rank: usize,
    size: usize,
    /// Whether all ranks know of a failure.
    is_over: AtomicBool,
}

/// The hosts of the ranks; messages about a rank that is lost name its host.
static HOSTS: OnceLock<Hosts> = OnceLock::new();
/// The arguments of this process.
static ARGUMENTS: OnceLock<String> = OnceLock::new();
/// Whether this process has connected to others.
static CONNECTED: AtomicBool = AtomicBool::new(false);

impl RanksArguments {
    /// Runs a command together with other processes, if there are some: of any but the first, the console is silent.
    pub fn share(
        &self,
        console: &Console,
        run: impl FnOnce(&Ranks, &Console) -> Result<Ending, Failure>,
    ) -> Result<Ending, Failure> {
        let ranks = self.open()?;
        let silent = ranks.console();
        let ended = run(&ranks, silent.as_ref().unwrap_or(console));
        ranks.end(ended)
    }

    /// Connects this process with the others, if there are some.
    fn open(&self) -> Result<Ranks, Failure> {
        let launch = Sharing::from(self.ranks).launch().map_err(|_| {
            Failure::refused(
                "--ranks mpi is for processes that a launcher of MPI started, and none started this one",
                "start it by mpirun or srun, or leave --ranks out",
            )
        })?;
        let Some(launch) = launch else { return Ok(Ranks { connected: None }) };
        if is_other(Some(&launch)) {
            interrupt::silence();
        }
        let deadline = Duration::from_secs(self.rank_deadline.into());
        let opened = wire::open(&launch, deadline);
        let comm = match opened {
            Ok(comm) => comm,
            Err(failure) => {
                wait_for_first_report(Some(&launch));
                return Err(match (launch.rank, launch.rank_on_host) {
                    (0, _) => failure,
                    // Another one of this host reports it.
                    (_, Some(1..)) => Failure::reported(failure.status()),
                    (rank, _) => failure.on_rank(rank, &host_name()),
                });
            }
        };
        CONNECTED.store(true, SeqCst);
        interrupt::hurry();
        let (rank, size) = {
            let comm = locked(&comm);
            (comm.rank(), comm.size())
        };
        let ranks = Ranks {
            connected: Some(Connected { comm, rank, size, is_over: AtomicBool::new(false) }),
        };
        ranks.introduce()?;
        Ok(ranks)
    }
}

impl Ranks {
    /// Returns whether several processes share the command.
    pub fn are_several(&self) -> bool {
        self.connected.is_some()
    }

    /// Returns whether this process prints and writes.
    pub fn is_first(&self) -> bool {
        self.connected.as_ref().is_none_or(|connected| connected.rank == 0)
    }

    /// Returns the number of this process among those that share the command.
    pub fn number(&self) -> usize {
        self.connected.as_ref().map_or(0, |connected| connected.rank)
    }

    /// Returns how many ranks computed something, as the end of a sentence.
    pub fn as_end(&self) -> String {
        format!(" on {} ranks", self.size())
    }

    /// Returns the number of processes that share the command.
    pub fn size(&self) -> usize {
        self.connected.as_ref().map_or(1, |connected| connected.size)
    }

    /// Returns the communicator, if there are others.
    pub fn comm(&self) -> Option<&SharedComm> {
        self.connected.as_ref().map(|connected| &connected.comm)
    }

    /// Returns what a collective returns; after an error, ends the process. `None` if there are no others.
    pub fn together<T>(
        &self,
        collective: impl FnOnce(&mut Comm) -> Result<T, CommError>,
    ) -> Option<T> {
        let connected = self.connected.as_ref()?;
        let done = collective(&mut locked(&connected.comm));
        Some(connected.done(done))
    }

    /// Returns the vertices of this rank, of the parts of a file or of a graph that each rank has.
    pub fn own(&self, graph: GraphView<'_>, parts: Option<&Parts>) -> Range<VertexId> {
        let Some(connected) = &self.connected else { return 0..graph.vertices() };
        let parts = match parts {
            Some(parts) => parts.clone(),
            None => Parts::of_ranks(graph, connected.size),
        };
        if connected.rank < parts.ranks() { parts.of(connected.rank) } else { 0..0 }
    }

    /// Refuses graphs that differ, of which each rank has the whole.
    pub fn compare_graphs(&self, graph: GraphView<'_>) -> Result<(), Failure> {
        self.compare("graph", &[if self.are_several() { graph.identity() } else { 0 }])
    }

    /// Refuses words, such as a hash, that differ between the ranks; all ranks call it.
    pub fn compare(&self, purpose: &'static str, own: &[u64]) -> Result<(), Failure> {
        let Some(all) = self.together(|comm| comm.all_gather(purpose, own)) else {
            return Ok(());
        };
        match all.other_than_first() {
            None => Ok(()),
            Some(rank) => Err(RunError::RanksDiffer { rank }.into()),
        }
    }

    /// Returns a number of each rank, all of which call it; of a single process, its own.
    pub fn gather(&self, purpose: &'static str, own: u64) -> Vec<u64> {
        let all = self.together(|comm| comm.all_gather(purpose, &[own]));
        all.map_or_else(|| vec![own], |all| all.all().collect())
    }

    /// Returns the shape of a graph of which this rank has the lists of its own vertices; all ranks call it.
    pub fn shape(&self, graph: GraphView<'_>, own: Range<VertexId>) -> Shape {
        let own = graph.self_loops_of(own);
        let all = self.together(|comm| comm.all_reduce("self-loops", own, u64::wrapping_add));
        Shape::with_loops(graph, all.unwrap_or(own))
    }

    /// Returns what this rank has sent and received.
    pub fn traffic(&self) -> Traffic {
        self.connected.as_ref().map(Connected::traffic).unwrap_or_default()
    }

    /// Returns the console of this process: that of any but the first prints nothing.
    fn console(&self) -> Option<Console> {
        (!self.is_first()).then(Console::silent)
    }

    /// Compares versions and arguments, and makes the hosts known.
    fn introduce(&self) -> Result<(), Failure> {
        let Some(connected) = &self.connected else { return Ok(()) };
        let hosts = connected.done(Hosts::gather(&mut locked(&connected.comm)));
        let _ = HOSTS.set(hosts);
        let arguments = ARGUMENTS.get().map(String::as_str).unwrap_or_default();
        let own = format!("{}\0{arguments}", env!("CARGO_PKG_VERSION"));
        let gathered = connected.done(locked(&connected.comm).all_gather("start", own.as_bytes()));
        let alike = match gathered.other_than_first() {
            None => Ok(()),
            Some(rank) => Err(Failure::refused(
                format!(
                    "rank {rank} on {} was started with another version of ripplet, or with other arguments, than \
                     rank 0 on {}",
                    host_of(rank),
                    host_of(0)
                ),
                "start every rank by the same command",
            )),
        };
        self.agree(alike)
    }

    /// Divides the cores and the memory of a host between the ranks on it, unless options or the environment say what
    /// each takes; returns the threads.
    pub fn share_host(
        &self,
        threads: ThreadArguments,
        host_memory: Option<Size>,
        console: &Console,
    ) -> ThreadArguments {
        let (Some(connected), Some(hosts)) = (&self.connected, HOSTS.get()) else { return threads };
        memory::share_among(hosts.share_of(connected.rank).ranks);
        let shares_memory = !memory::is_limit_given(host_memory);
        if let Some(shares) = description(hosts, !threads.is_given(), shares_memory) {
            console.remark(&shares);
        }
        threads.with_count(threads_of_rank(threads.count(), hosts, connected.rank))
    }

    /// Ends a stage that all ranks do: if it failed on one of them, it fails on all, and the first one reports it.
    pub fn agree<T>(&self, own: Result<T, Failure>) -> Result<T, Failure> {
        let Some(connected) = &self.connected else { return own };
        let text = own.as_ref().err().map(Reported::of).unwrap_or_default().to_string();
        let gathered = connected.done(locked(&connected.comm).all_gather("stage", text.as_bytes()));
        let failed = (0..connected.size).find(|&rank| !gathered.of(rank).is_empty());
        let Some(failed) = failed else { return own };
        connected.is_over.store(true, SeqCst);
        let reported = Reported::read(&String::from_utf8_lossy(gathered.of(failed)));
        match own {
            // As a single process says it.
            Err(failure) if connected.rank == 0 && gathered.iter().all(|text| !text.is_empty()) => {
                Err(failure)
            }
            _ if connected.rank == 0 => Err(reported.failure().on_rank(failed, &host_of(failed))),
            _ => Err(Failure::reported(reported.status)),
        }
    }

    /// Ends the command on all ranks.
    pub fn end(self, ended: Result<Ending, Failure>) -> Result<Ending, Failure> {
        let ended = match (&self.connected, ended) {
            (None, ended) => return ended,
            (Some(connected), Err(failure)) if !connected.is_over.load(SeqCst) => {
                connected.fail(failure)
            }
            (Some(connected), ended) if connected.is_over.load(SeqCst) => ended,
            (Some(_), ended) => self.agree(ended),
        };
        let Some(connected) = self.connected else { return ended };
        let Err(failure) = ended else { return ended };
        // The launcher ends all ranks as soon as one has ended with an error: the first one speaks before that.
        if connected.rank == 0 {
            console::clear();
            failure.report();
        }
        connected.done(locked(&connected.comm).barrier("end"));
        Err(Failure::reported(failure.status()))
    }
}

impl Ranks {
    /// Returns the figures of all ranks, of the traffic of a run and of each of its rounds; each rank calls it. `whole` is
    /// whether each has the whole graph.
    pub fn figures(&self, parts: &[Traffic], whole: bool) -> Option<RanksFigures> {
        let gathered = self.together(|comm| Traffic::gather(comm, parts))?;
        let (run, rounds) = gathered.split_first()?;
        self.figures_of(run, rounds, whole)
    }

    /// Returns the figures of all ranks after a run of communities; each rank calls it.
    pub fn figures_of_run(&self, report: &RankReport, whole: bool) -> Option<RanksFigures> {
        let figures = self.figures_of(&report.run, &report.rounds, whole)?;
        let peak = [peak_memory().unwrap_or(0)];
        let peaks = self.together(|comm| comm.all_gather("peak memory", &peak))?;
        let (labels, peak_memory) = (Some(report.labels.name()), peaks.all().collect());
        Some(RanksFigures { labels, peak_memory, ..figures })
    }

    /// Returns the figures of all ranks, of the traffic of each in a run and in each of its rounds.
    fn figures_of(
        &self,
        run: &[Traffic],
        rounds: &[Vec<Traffic>],
        whole: bool,
    ) -> Option<RanksFigures> {
        let own = [rayon::current_num_threads() as u64, ripplet::io::fetched().bytes];
        let all = self.together(|comm| comm.all_gather("threads", &own))?;
        let column = |at: usize| all.iter().filter_map(move |own| own.get(at).copied());
        let mpi = self.comm().map(|comm| locked(comm).name())?;
        let waiting = |of: &[Traffic]| of.iter().map(|of| of.waited.as_secs_f64()).collect();
        Some(RanksFigures {
            mpi,
            hosts: (0..self.size()).map(host_of).collect(),
            graph: if whole { "whole" } else { "parts" },
            labels: None,
            peak_memory: Vec::new(),
            fetched: column(1).collect(),
            threads: column(0).map(|threads| threads as usize).collect(),
            calls: run.first().map_or(0, |of| of.calls),
            sent: run.iter().map(|of| of.sent).collect(),
            received: run.iter().map(|of| of.received).collect(),
            waiting: waiting(run),
            round_sent: rounds.iter().map(|of| of.iter().map(|of| of.sent).sum()).collect(),
            round_waiting: rounds.iter().map(|of| waiting(of)).collect(),
        })
    }
}

impl Connected {
    /// Returns what this rank has sent and received.
    fn traffic(&self) -> Traffic {
        locked(&self.comm).traffic()
    }

    /// Returns what a collective returned; after an error, ends the process.
    fn done<T>(&self, result: Result<T, CommError>) -> T {
        result.unwrap_or_else(|error| {
            let of_memory = matches!(error, CommError::OutOfMemory { .. });
            let refused = of_memory.then(memory::refusal).flatten();
            self.fail(refused.unwrap_or_else(|| RunError::Ranks(error).into()))
        })
    }

    /// Reports an error of this rank alone, and ends all ranks.
    fn fail(&self, failure: Failure) -> ! {
        if let Failure::Run(RunError::Ranks(error)) = &failure
            && is_loss(error)
        {
            leave_after(error, self.rank);
        }
        let status = failure.status();
        if self.rank > 0 && !interrupt::requested() {
            // An error of all ranks is reported by the first, which ends this one.
            sleep(FIRST_REPORT);
        }
        console::clear();
        match (self.rank, status) {
            // All ranks have it. After a signal, the first rank has the last word.
            (0, ExitStatus::Wrong) => failure.report(),
            _ if matches!(failure, Failure::Interrupted(_)) => failure.report(),
            (rank, _) => failure.on_rank(rank, &host_of(rank)).report(),
        }
        locked(&self.comm).abort(status.code());
        leave(status)
    }
}

/// Returns whether an error says that another rank ended, or is lost.
fn is_loss(error: &CommError) -> bool {
    use CommError::{Failed, Gone, Silent, Stuck};
    matches!(error, Failed { .. } | Gone { .. } | Silent { .. } | Stuck { .. })
}

/// Ends this process after another rank was lost; of several threads, one does it.
fn leave_after(lost: &CommError, own: usize) -> ! {
    static ENDING: Mutex<()> = Mutex::new(());
    let _ending = ENDING.lock().unwrap_or_else(PoisonError::into_inner);
    console::clear();
    let status = match *lost {
        CommError::Failed { code, .. } => ExitStatus::of(code),
        _ => ExitStatus::Failed,
    };
    if interrupt::requested() {
        interrupt::print_last_message();
        leave(interrupt::status());
    }
    let first_left = |rank: usize| usize::from(rank == 0);
    match *lost {
        // It has said why.
        CommError::Failed { .. } => {}
        CommError::Gone { rank } | CommError::Silent { rank, .. } if own != first_left(rank) => {}
        CommError::Gone { rank } | CommError::Silent { rank, .. } => {
            say_lost(format_args!("{lost}; rank {rank} runs on {}", host_of(rank)), rank == 0);
        }
        _ => {
            if own > 0 {
                sleep(FIRST_REPORT);
            }
            // The rank that hangs may be any other one.
            say_lost(format_args!("{lost}; rank {own} on {} noticed it", host_name()), own > 0);
        }
    }
    let _stopped = remove_unfinished();
    match *lost {
        CommError::Silent { .. } => sleep(FINDING),
        _ if own > 0 => sleep(LAST_LINES),
        _ => {}
    }
    leave(status)
}

/// Prints that a rank is lost, and what to do.
fn say_lost(sentence: fmt::Arguments<'_>, is_writer_lost: bool) {
    let sentence = one_line(&sentence.to_string());
    let help = match (is_writer_lost, interrupt::kept()) {
        (true, _) => {
            "see what its machine says, and start the command again, with --resume if it has checkpoints; an unfinished \
             file, whose name ends in .part, may be left"
                .into()
        }
        (false, _) if interrupt::has_windows() => {
            "see what its machine says, and start the command again, with --resume if there is a run folder: finished windows \
             are kept, and what is unfinished is removed"
                .into()
        }
        (false, 0) => "nothing unfinished was left; see what its machine says, and start the command again".into(),
        (false, round) => format!("nothing unfinished was left; the run can --resume after round {round}"),
    };
    // If standard error is closed, the exit code is the only report.
    let _ = writeln!(stderr(), "error: {sentence}\nhelp: {help}");
}

/// Ends the process. What MPI would do at the end of one may wait for ranks that are gone.
pub fn leave(status: ExitStatus) -> ! {
    #[cfg(unix)]
    if CONNECTED.load(SeqCst) {
        // SAFETY: the function has no precondition.
        unsafe { libc::_exit(status.code().into()) }
    }
    exit(status.code().into())
}

/// Ends the process if a rank was lost after this one had done its part.
pub fn leave_if_unfinished(status: ExitStatus) {
    if wire::is_unfinished() {
        // As at the end of any process: an error cannot be reported any more.
        let _ = std::io::stdout().flush();
        leave(status);
    }
}

fn locked(comm: &SharedComm) -> std::sync::MutexGuard<'_, Comm> {
    comm.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the host of a rank.
fn host_of(rank: usize) -> String {
    HOSTS.get().unwrap_or(&Hosts::default()).name_of(rank).into()
}

/// Describes for a user the shares of ranks that are not alone on their host; `None` if each is alone.
///
/// `threads` and `memory` are whether these are shared, and not given by options.
fn description(hosts: &Hosts, threads: bool, memory: bool) -> Option<String> {
    /// Hosts that a message lists.
    const LISTED: usize = 3;
    let of_host = |(rank, HostShare { ranks, threads: count }): (usize, HostShare)| {
        let count = counted(count as u64, "thread", "threads");
        let limit = format!("1/{ranks} of the memory that ripplet may take");
        let each = match (threads, memory) {
            (true, true) => format!("{count} and {limit}"),
            (true, false) => count,
            _ => limit,
        };
        format!("{ranks} ranks share {}: {each} for each", hosts.name_of(rank))
    };
    let shared = hosts.shared().count();
    if shared == 0 || !(threads || memory) {
        return None;
    }
    let mut listed: Vec<String> = hosts.shared().take(LISTED).map(of_host).collect();
    if shared > LISTED {
        listed.push(format!("{} more machines are shared", shared - LISTED));
    }
    Some(listed.join("; "))
}

/// An error as one rank sends it to the others: an exit code, a sentence and the advice, a line each.
#[derive(Debug, Default)]
struct Reported {
    status: ExitStatus,
    sentence: String,
    help: String,
}

impl Reported {
    fn of(failure: &Failure) -> Reported {
        if matches!(failure, Failure::Elsewhere) {
            return Reported::default();
        }
        let (sentence, help) = failure.sentences();
        Reported { status: failure.status(), sentence, help }
    }

    fn read(text: &str) -> Reported {
        let mut lines = text.lines();
        let status = lines.next().and_then(|code| code.parse().ok());
        let mut line = || lines.next().unwrap_or_default().to_owned();
        let status = status.map_or(ExitStatus::Failed, ExitStatus::of);
        Reported { status, sentence: line(), help: line() }
    }

    fn failure(self) -> Failure {
        let Reported { status, sentence, help } = self;
        Failure::OfRank { sentence, help, status, is_reported: false }
    }
}

impl fmt::Display for Reported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Reported { status, sentence, help } = self;
        match status {
            // No error.
            ExitStatus::Done => Ok(()),
            _ => write!(f, "{}\n{sentence}\n{help}", status.code()),
        }
    }
}

#[cfg(feature = "mpi")]
mod wire {
    use super::{Failure, leave_after};
    pub use ripplet::ranks::mpi::is_unfinished;
    use ripplet::ranks::mpi::{self, MpiOptions, OnLost, OpenError};
    use ripplet::ranks::{Launch, SharedComm};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    /// Connects this process with the others.
    pub fn open(launch: &Launch, deadline: Duration) -> Result<SharedComm, Failure> {
        let rank = launch.rank;
        let on_lost: OnLost = Box::new(move |lost| leave_after(lost, rank));
        let options = MpiOptions { deadline, on_lost: Some(on_lost), ..MpiOptions::default() };
        let comm = mpi::open(launch, options).map_err(|error| {
            let help = match error {
                OpenError::NotFound { .. }
                | OpenError::NotOpened { .. }
                | OpenError::NotKnown { .. } => {
                    "install the MPI of the launcher on every machine, or name its library by RIPPLET_MPI"
                }
                OpenError::Several { .. } => "name the library of the launcher by RIPPLET_MPI",
                OpenError::OtherLauncher { .. } | OpenError::OtherFamily { .. } => {
                    "use the mpirun of that MPI, or name the library of this launcher's MPI by RIPPLET_MPI"
                }
                _ => "run it in one process with --ranks none, or mend the installation of MPI",
            };
            Failure::refused(error.to_string(), help)
        })?;
        Ok(Arc::new(Mutex::new(comm)))
    }
}

#[cfg(not(feature = "mpi"))]
mod wire {
    use super::Failure;
    use crate::absent;
    use ripplet::ranks::{Launch, SharedComm};
    use std::time::Duration;

    /// Refuses several ranks.
    pub fn open(_: &Launch, _: Duration) -> Result<SharedComm, Failure> {
        Err(absent::refused("a run of several ranks", "mpi"))
    }

    pub fn is_unfinished() -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_the_same_after_it_was_sent() {
        let failure = Failure::refused("no\nsuch thing", "take another");
        let reported = Reported::read(&Reported::of(&failure).to_string());
        assert_eq!(reported.status, ExitStatus::Wrong);
        assert_eq!(reported.sentence, Reported::of(&failure).sentence);
        assert!(!reported.sentence.contains('\n') && reported.help == "take another");
        assert_eq!(Reported::default().to_string(), "");
        let damaged = Reported::read("no number");
        assert_eq!(damaged.status, ExitStatus::Failed);
    }
}
