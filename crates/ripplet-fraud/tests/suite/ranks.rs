//! Runs that ranks share, which are threads here: the files are those of one process.

use crate::runs::{Days, MAPPING, Watcher, options, results, run_into};
use ripplet_fraud::folder::{Manifest, RunFolder};
use ripplet_fraud::run::{PipelineError, RunOptions, run_on_ranks};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_ranks::Threads;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// Options of windows that start anew, with as many known bad as a scorecard is learnt from.
fn exact(days: &Days) -> RunOptions {
    let known =
        "id,from\nring0,\nring1,\nring2,2024-03-03\nring6,\nring7,2024-03-04\nring8,\nnobody,\n";
    fs::write(days.path("known.csv"), known).unwrap();
    RunOptions { exact: true, ..days.options() }
}

/// Runs ranks, each with its own options, folder and observer.
fn on_ranks(
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
fn are_equal(found: &Path, expected: &Path) {
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
