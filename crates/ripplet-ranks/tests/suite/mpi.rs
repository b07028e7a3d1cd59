//! Collectives over MPICH and Open MPI: processes that their launchers start.

use ripplet_conformance::launcher::{Mpi, output};
use ripplet_ranks::mpi::{LIBRARY, MpiOptions, OnLost, OpenError, is_unfinished, open};
use ripplet_ranks::{Comm, CommError, Launch};
use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio, exit, id};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What a started process does.
const CASE: &str = "RIPPLET_RANKS_CASE";
/// The file by which a started process says that it has reported.
const REPORTED: &str = "RIPPLET_RANKS_REPORTED";

/// Runs a case on this number of ranks.
fn on_ranks(mpi: &Mpi, ranks: usize, case: &str, library: Option<PathBuf>) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut command = mpi.launcher();
    command.args(["-n", &ranks.to_string()]);
    command.arg(env::current_exe().unwrap());
    command.args(["mpi::a_started_process", "--exact", "--ignored", "--nocapture"]);
    command.env(CASE, case);
    command.env(REPORTED, folder.path().join("reported"));
    if let Some(library) = library {
        command.env(LIBRARY, library);
    }
    output(&mut command)
}

/// Returns the lines in which ranks report, sorted.
fn reports(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    let report = |line: &str| line.find("rank ").and_then(|at| line.get(at..)).map(str::to_owned);
    let mut lines: Vec<String> = text.lines().filter_map(report).collect();
    lines.sort();
    lines
}

/// Ends the process without what MPI would do at its end, which may wait for a rank that is gone or hangs.
fn leave(code: i32) -> ! {
    unsafe extern "C" {
        fn _exit(code: i32) -> !;
    }
    // SAFETY: the system's function of this name has this type, and no precondition.
    unsafe { _exit(code) }
}

#[test]
#[ignore = "not a test: the process that a launcher starts"]
fn a_started_process() {
    let Ok(case) = env::var(CASE) else { return };
    let launch = Launch::detect().expect("a launcher's variables");
    let deadline = Duration::from_millis(match &*case {
        "hangs" => 1000,
        "computes" => 4000,
        _ => 20_000,
    });
    let own = launch.rank;
    let on_lost = move |lost: &CommError| {
        if let CommError::Silent { .. } | CommError::Stuck { .. } = lost {
            println!("rank {own}: {lost}");
            leave(1);
        }
    };
    let on_lost: OnLost = Box::new(on_lost);
    let options = MpiOptions { deadline, piece: 1000, on_lost: Some(on_lost), library: None };
    let mut comm = match open(&launch, options) {
        Ok(comm) => comm,
        Err(error) => {
            println!("rank {}: {error}", launch.rank);
            leave(if matches!(error, OpenError::OtherFamily { .. }) { 2 } else { 1 });
        }
    };
    let rank = comm.rank();
    assert_eq!(rank, launch.rank);
    let done = match &*case {
        "collectives" => collectives(&mut comm),
        "other order" => match rank {
            1 => comm.barrier("other order"),
            _ => comm.all_gather("other order", &[rank as u64]).map(|_| ()),
        },
        "fails" if rank == 1 => {
            comm.abort(5);
            wait_for_the_report();
            Ok(())
        }
        "hangs" if rank == 1 => hang(),
        "leaves early" if rank == 1 => Ok(()),
        // Longer than the deadline.
        "computes" if rank == 1 => {
            sleep(Duration::from_millis(4500));
            comm.barrier("wait")
        }
        _ => comm.barrier("wait"),
    };
    match &done {
        Ok(()) => println!("rank {rank}: done"),
        Err(error) => println!("rank {rank}: {error}"),
    }
    if rank == 0 {
        fs::write(env::var_os(REPORTED).unwrap(), "").unwrap();
    }
    drop(comm);
    let code = i32::from(done.is_err());
    match is_unfinished() {
        // What was printed ended lines, and so is written.
        true => leave(code),
        false => exit(code),
    }
}

/// Stops this process, threads that send signs of life and all.
///
/// A launcher may let it go on, and it stops again. One that asks it to end by SIGTERM waits until it goes on: after the
/// test's deadline, it does.
fn hang() -> ! {
    let own = id();
    let mut later = Command::new("sh");
    later.args(["-c", &format!("(sleep 6; kill -CONT {own}) &")]);
    later.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    later.status().unwrap();
    loop {
        Command::new("kill").args(["-STOP", &own.to_string()]).status().unwrap();
    }
}

/// Waits until rank 0 has reported: once a process has failed, a launcher ends the others at any time.
fn wait_for_the_report() {
    let file = PathBuf::from(env::var_os(REPORTED).unwrap());
    let begun = Instant::now();
    while !file.exists() && begun.elapsed() < Duration::from_secs(20) {
        sleep(Duration::from_millis(10));
    }
}

/// Collectives with messages of no byte, within a frame, of its size, and of many pieces.
fn collectives(comm: &mut Comm) -> Result<(), CommError> {
    let (rank, size) = (comm.rank(), comm.size());
    let lengths = [0, 1, 4047, 4048, 4049, 5048, 5049, 100_000];
    let message = |from: usize, to: usize, length: usize| -> Vec<u8> {
        (0..length).map(|at| (at * 7 + from * 31 + to * 3) as u8).collect()
    };
    for length in lengths {
        let to: Vec<Vec<u8>> = (0..size).map(|peer| message(rank, peer, length + peer)).collect();
        let received = comm.all_to_all("bytes", &to)?;
        for peer in 0..size {
            assert!(received.of(peer) == message(peer, rank, length + rank), "{peer} {length}");
        }
    }
    let sum = comm.all_reduce("sum", rank as u64, |a, b| a + b)?;
    assert_eq!(sum as usize, size * (size - 1) / 2);
    assert_eq!(comm.broadcast("root", 0, &[rank as u32 + 7])?, [7]);
    for _ in 0..200 {
        comm.barrier("again")?;
    }
    Ok(())
}

#[test]
fn collectives_work_over_both_and_in_every_interface() {
    for mpi in Mpi::all() {
        let standard = mpi.library("libmpi_abi.so.1");
        let libraries = [None, Some(standard).filter(|path| path.is_file())];
        let libraries = &libraries[..if mpi.is_open_mpi() { 1 } else { 2 }];
        for library in libraries {
            let output = on_ranks(&mpi, 3, "collectives", library.clone());
            assert!(output.status.success(), "{output:?}");
            assert_eq!(reports(&output), ["rank 0: done", "rank 1: done", "rank 2: done"]);
        }
    }
}

#[test]
fn ranks_out_of_step_over_mpi_are_told_so() {
    for mpi in Mpi::all() {
        let output = on_ranks(&mpi, 2, "other order", None);
        assert!(!output.status.success());
        let reports = reports(&output);
        assert!(reports.iter().any(|line| line.contains("ranks are out of step")), "{output:?}");
    }
}

#[test]
fn a_failure_reaches_the_others_over_mpi() {
    for mpi in Mpi::all() {
        let output = on_ranks(&mpi, 2, "fails", None);
        assert!(reports(&output).contains(&"rank 0: rank 1 failed".to_owned()), "{output:?}");
    }
}

#[test]
fn a_rank_that_leaves_early_is_missed() {
    for mpi in Mpi::all() {
        let output = on_ranks(&mpi, 2, "leaves early", None);
        let said = "rank 0: rank 1 ended before the run did".to_owned();
        assert!(reports(&output).contains(&said), "{output:?}");
    }
}

#[test]
fn computing_for_long_is_no_silence() {
    // It waits for longer than the deadline: over both at the same time.
    let begin = |mpi: Mpi| std::thread::spawn(move || on_ranks(&mpi, 2, "computes", None));
    let runs: Vec<_> = Mpi::all().map(begin).collect();
    for output in runs.into_iter().map(|run| run.join().unwrap()) {
        assert_eq!(reports(&output), ["rank 0: done", "rank 1: done"], "{output:?}");
    }
}

#[test]
fn a_rank_that_hangs_ends_all_within_the_deadline() {
    for mpi in Mpi::all() {
        let begun = Instant::now();
        let output = on_ranks(&mpi, 2, "hangs", None);
        assert!(!output.status.success());
        // MPI itself may wait for what the other process holds in shared memory.
        let said = ["rank 0: rank 1 is silent since 1 s", "rank 0: MPI does not return since 1 s"];
        let is_it = |line: &String| said.iter().any(|said| line.starts_with(said));
        assert!(reports(&output).iter().any(is_it), "{output:?}");
        assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    }
}

#[test]
fn a_library_of_another_launcher_is_refused() {
    let (Some(mpich), Some(open_mpi)) = (Mpi::mpich(), Mpi::open_mpi()) else {
        return;
    };
    let output = on_ranks(&open_mpi, 2, "waits", Some(mpich.library("libmpi.so.12")));
    let said = reports(&output);
    let is_it = |line: &String| {
        line.ends_with("is MPICH, and OMPI_COMM_WORLD_RANK is of the launcher of Open MPI")
    };
    // Its launcher may end the second process before it has said so.
    assert!(!said.is_empty() && said.iter().all(is_it), "{output:?}");
    let output = on_ranks(&mpich, 2, "waits", Some(open_mpi.library("libmpi.so.40")));
    let is_it =
        |line: &String| line.ends_with("is Open MPI, and PMI_RANK is of the launcher of MPICH");
    assert!(reports(&output).iter().any(is_it), "{output:?}");
}
