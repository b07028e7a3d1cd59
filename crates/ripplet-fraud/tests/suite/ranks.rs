//! Runs that ranks share, which are threads here: the files are those of one process.

use crate::memory::{table, text_of};
use crate::runs::{Days, MAPPING, Watcher, options, results, run_into};
use ripplet_fraud::folder::{Manifest, RunFolder};
use ripplet_fraud::run::{PipelineError, RunOptions, run_on_ranks};
use ripplet_fraud::source::reader::Sources;
use ripplet_lp::cpu::CpuExecutor;
use ripplet_ranks::Threads;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// Options of windows that start anew, with as many known bad as a scorecard is learnt from.
pub fn exact(days: &Days) -> RunOptions {
    let known =
        "id,from\nring0,\nring1,\nring2,2024-03-03\nring6,\nring7,2024-03-04\nring8,\nnobody,\n";
    fs::write(days.path("known.csv"), known).unwrap();
    RunOptions { exact: true, ..days.options() }
}

/// Runs ranks, each with its own options, folder and observer.
pub fn on_ranks(
    size: usize,
    resume: bool,
    of_rank: impl Fn(usize) -> (RunOptions, PathBuf, Watcher) + Sync,
) -> Vec<Result<Manifest, PipelineError>> {
    Threads::run(size, PATIENCE, |mut comm| {
        let executor = CpuExecutor::new(Some(1)).unwrap();
        let (options, folder, mut watcher) = of_rank(comm.rank());
        run_on_ranks(&executor, &options, &folder, resume, &mut watcher, &mut comm)
    })
}

/// A manifest without figures of time and memory, and without the id of the run.
fn plain(folder: &Path) -> serde_json::Value {
    let mut manifest = RunFolder::open(folder).unwrap().manifest().unwrap();
    for record in &mut manifest.windows {
        (record.seconds, record.bytes_peak) = (Default::default(), None);
        // How far the reader is ahead counts.
        record.bytes_planned.clear();
    }
    (manifest.run_id, manifest.seconds, manifest.threads) = (String::new(), 0.0, 0);
    serde_json::to_value(manifest).unwrap()
}

#[track_caller]
pub fn are_equal(found: &Path, expected: &Path) {
    let (found_files, files) = (results(found), results(expected));
    assert!(found_files.keys().eq(files.keys()), "{:?}", found_files.keys());
    for (name, bytes) in &files {
        assert!(*bytes == found_files[name], "{name}");
    }
    assert!(plain(found) == plain(expected), "{} and {}", plain(found), plain(expected));
}

#[test]
fn the_files_are_those_of_one_process() {
    let days = Days::new(9);
    let options = exact(&days);
    let one = days.path("one");
    let manifest = run_into(&options, &one, false).unwrap();
    assert_eq!(manifest.windows.len(), 7);
    assert!(
        manifest.windows.iter().any(|window| window.scores.as_ref().is_some_and(|of| of.learnt))
    );
    for size in [1, 2, 3, 4, 9] {
        let folder = days.path(&format!("ranks{size}"));
        let all = on_ranks(size, false, |_| (options.clone(), folder.clone(), Watcher::default()));
        for manifest in all {
            assert_eq!(manifest.unwrap().windows.len(), 7);
        }
        are_equal(&folder, &one);
        assert!(folder.join("report.html").exists());
    }
}

#[test]
fn a_run_that_ended_goes_on_with_another_number_of_ranks() {
    let days = Days::new(9);
    let options = exact(&days);
    let one = days.path("one");
    run_into(&options, &one, false).unwrap();
    for (begun, size) in [(1, 3), (2, 1), (3, 2)] {
        let folder = days.path(&format!("run{begun}"));
        let all = on_ranks(begun, false, |rank| {
            let watcher = if rank == 0 { Watcher::until(3) } else { Watcher::default() };
            (options.clone(), folder.clone(), watcher)
        });
        assert!(all[0].as_ref().is_err_and(PipelineError::is_cancelled), "{:?}", all[0]);
        assert!(all[1..].iter().all(|end| matches!(end, Err(PipelineError::Ranks(_)))), "{all:?}");
        let kept = RunFolder::open(&folder).unwrap().finished().unwrap().len();
        assert!((3..6).contains(&kept), "{kept}");
        match size {
            1 => drop(run_into(&options, &folder, true).unwrap()),
            _ => {
                let ranks = |_| (options.clone(), folder.clone(), Watcher::default());
                let all = on_ranks(size, true, ranks);
                assert!(all.iter().all(Result::is_ok), "{all:?}");
            }
        }
        are_equal(&folder, &one);
    }
}

#[test]
fn an_error_of_the_input_is_that_of_one_process() {
    let days = Days::new(9);
    let options = exact(&days);
    // The first 65,536 rows are examined before there is a window.
    let rows = Days::rows(5);
    let (header, rows) = rows.split_once('\n').unwrap();
    days.write(5, &format!("{header}\n{}", rows.repeat(500)));
    // A row of a day that has ended.
    days.write(7, "from,to,at,eur\nuser1,shop1,2024-03-02T01:00:00,5\n");
    let one = days.path("one");
    let expected = run_into(&options, &one, false).unwrap_err().to_string();
    assert!(results(&one).len() > 20, "{expected}");
    for size in [2, 3, 5] {
        let folder = days.path(&format!("ranks{size}"));
        let all = on_ranks(size, false, |_| (options.clone(), folder.clone(), Watcher::default()));
        for end in all {
            assert_eq!(end.unwrap_err().to_string(), expected);
        }
        are_equal(&folder, &one);
    }
    // Without a window, nothing is left.
    let none = days.path("none.csv");
    fs::write(&none, "from,to,at,eur\n").unwrap();
    let nothing = crate::runs::options(&[&none], MAPPING, &days.path("known.csv"));
    let options = RunOptions { exact: true, ..nothing };
    let folder = days.path("none");
    for end in on_ranks(3, false, |_| (options.clone(), folder.clone(), Watcher::default())) {
        assert!(matches!(end, Err(PipelineError::NoTransactions(_))), "{end:?}");
    }
    assert!(!folder.exists());
}

#[test]
fn an_error_of_one_rank_keeps_the_windows_before_it() {
    let days = Days::new(9);
    let options = exact(&days);
    let one = days.path("one");
    run_into(&options, &one, false).unwrap();
    for failing in 0..3 {
        let folder = days.path(&format!("failing{failing}"));
        let all = on_ranks(3, false, |rank| {
            let memory = if rank == failing { Some(1) } else { None };
            (RunOptions { memory, ..options.clone() }, folder.clone(), Watcher::default())
        });
        for (rank, end) in all.into_iter().enumerate() {
            match end {
                Err(PipelineError::Memory { .. }) => assert_eq!(rank, failing),
                Err(PipelineError::Elsewhere { rank: other, sentence }) => {
                    assert_eq!(other, failing);
                    assert!(sentence.contains("and 0 MiB are allowed"), "{sentence}");
                }
                end => panic!("{end:?}"),
            }
        }
        assert_eq!(folder.exists(), failing > 0);
        if failing > 0 {
            let manifest = RunFolder::open(&folder).unwrap().manifest().unwrap();
            assert_eq!(manifest.windows.len(), failing);
            assert!(manifest.state.contains("and 0 MiB are allowed"), "{}", manifest.state);
            let names = fs::read_dir(folder.join("windows")).unwrap().count();
            assert_eq!(names, failing, "a window that was not finished is left");
            run_into(&options, &folder, true).unwrap();
            are_equal(&folder, &one);
        }
    }
}

#[test]
fn a_folder_that_ranks_do_not_share_is_refused() {
    let days = Days::new(5);
    let options = exact(&days);
    let all = on_ranks(2, false, |rank| {
        (options.clone(), days.path(&format!("of{rank}")), Watcher::default())
    });
    assert!(matches!(&all[1], Err(PipelineError::OtherFolder(_))), "{all:?}");
    assert!(matches!(&all[0], Err(PipelineError::Elsewhere { rank: 1, .. })), "{all:?}");
    assert!(!days.path("of1").exists());
}

/// Checks that all ranks refuse rows of `input`, of which rank `rank` has others than rank `other`; returns the first row of the
/// block.
#[track_caller]
pub fn rows_differ(
    all: Vec<Result<Manifest, PipelineError>>,
    named: &str,
    (of, than): (usize, usize),
) -> u64 {
    let rows = all.into_iter().map(|end| match end {
        Err(PipelineError::RowsDiffer { input, rank, other, row }) => {
            assert_eq!((&*input, rank, other), (named, of, than));
            row
        }
        end => panic!("{end:?}"),
    });
    let rows: Vec<u64> = rows.collect();
    assert!(rows.iter().all(|row| *row == rows[0]), "{rows:?}");
    rows[0]
}

#[test]
fn rows_without_a_checksum_are_compared() {
    let days = Days::new(6);
    let text = text_of(&days, 6);
    let exact = exact(&days);
    let of = |text: &str, batch| {
        let mut options = exact.clone();
        options.feed.sources = Sources::Memory(table("payments", text, batch));
        options
    };
    let one = days.path("one");
    run_into(&of(&text, 1000), &one, false).unwrap();
    // Batches do not matter.
    for size in [1, 2, 3] {
        let folder = days.path(&format!("ranks{size}"));
        // The manifest has the bytes of rank 0's batches.
        let batch = |rank| if rank == 0 { 1000 } else { 70 + rank };
        let ranks = |rank| (of(&text, batch(rank)), folder.clone(), Watcher::default());
        let all = on_ranks(size, false, ranks);
        assert!(all.iter().all(Result::is_ok), "{all:?}");
        are_equal(&folder, &one);
    }
    let last = text.lines().last().unwrap();
    let before = &text[..text.len() - last.len() - 1];
    let second = before.lines().last().unwrap();
    let swapped = format!("{}{last}\n{second}\n", &before[..before.len() - second.len() - 1]);
    for other in [
        text.replacen("user3,", "user4,", 1),
        text.replacen(",shop7,", ",shop8,", 1),
        // Another time of the last row, another order of the last rows, one less, and one that is faulty.
        format!("{before}{}\n", last.replace("T23:30:00", "T23:31:00")),
        swapped,
        before.to_owned(),
        format!("{before}{}\n", last.replace(",50", ",")),
        // A row that is too late: all ranks report what makes them differ.
        format!("{text}user1,shop1,2024-03-01T00:00:00,1\n"),
    ] {
        assert!(other != text);
        let folder = days.path("other");
        let all = on_ranks(3, false, |rank| {
            let text = if rank == 2 { &other } else { &text };
            (of(text, 500), folder.clone(), Watcher::default())
        });
        assert_eq!(rows_differ(all, "payments", (2, 0)), 1);
        assert!(!folder.exists());
    }
}

#[test]
fn windows_before_other_rows_are_those_of_one_process() {
    let days = Days::new(9);
    let mut text = String::from("from,to,at,eur\n");
    for day in 1..=9 {
        let rows = Days::rows(day);
        text += &rows.split_once('\n').unwrap().1.repeat(150);
    }
    // In the order of time: rows of a day are repeated.
    let mut rows: Vec<&str> = text.lines().skip(1).collect();
    rows.sort_by_key(|row| row.split(',').nth(2).map(str::to_owned));
    let text = format!("from,to,at,eur\n{}\n", rows.join("\n"));
    // A row of the seventh day.
    let other = text.replacen(",2024-03-07T10:00:00,", ",2024-03-07T10:00:01,", 1);
    let row = text.lines().zip(other.lines()).position(|(a, b)| a != b).unwrap() as u64;
    let payments = [&text, &other].map(|text| table("payments", text, 30_000));
    let exact = exact(&days);
    let of = |table: usize| {
        let mut options = exact.clone();
        options.feed.sources = Sources::Memory(payments[table].clone());
        options
    };
    let one = days.path("one");
    run_into(&of(0), &one, false).unwrap();
    let (expected, all_windows) = (results(&one), 7);
    for (size, rank_with_others) in [(2, 1), (3, 1), (3, 2), (3, 0)] {
        let folder = days.path(&format!("ranks{size}{rank_with_others}"));
        let all = on_ranks(size, false, |rank| {
            (of(usize::from(rank == rank_with_others)), folder.clone(), Watcher::default())
        });
        let found = rows_differ(all, "payments", (rank_with_others.max(1), 0));
        assert!(found <= row && row < found + 65_536, "{found} and {row}");
        let manifest = RunFolder::open(&folder).unwrap().manifest().unwrap();
        let finished = manifest.windows.len();
        assert!((1..all_windows - 1).contains(&finished), "{finished}");
        assert!(manifest.state.contains("has read other rows than rank 0"), "{}", manifest.state);
        let found = results(&folder);
        for record in &manifest.windows {
            let mut of_window = expected.iter().filter(|(name, _)| name.contains(&record.folder));
            assert!(of_window.clone().count() > 8);
            assert!(of_window.all(|(name, bytes)| found[name] == *bytes), "{}", record.folder);
        }
        // A run that goes on has the files of one process.
        run_into(&of(0), &folder, true).unwrap();
        are_equal(&folder, &one);
    }
}

#[test]
fn what_ranks_cannot_share_is_refused() {
    let days = Days::new(3);
    let warm = options(&[&days.path("days")], MAPPING, &days.path("known.csv"));
    let mut followed = exact(&days);
    followed.feed.reading.follow = Some(Duration::from_secs(1));
    for (options, part) in
        [(warm, "start from the labels of those before"), (followed, "following")]
    {
        let folder = days.path("run");
        for end in on_ranks(2, false, |_| (options.clone(), folder.clone(), Watcher::default())) {
            let error = end.unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
            assert!(error.to_string().ends_with(" is not possible on several ranks"), "{error}");
        }
        assert!(!folder.exists());
    }
}
