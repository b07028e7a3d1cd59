//! Runs into folders, from files to the report: the example, runs that are killed and go on, and bad input.

use ripplet_fraud::TimeRange;
use ripplet_fraud::chance::NOISE;
use ripplet_fraud::detect::Detection;
use ripplet_fraud::feed::FeedOptions;
use ripplet_fraud::folder::{Manifest, RunFolder, WindowRecord};
use ripplet_fraud::mapping::Mapping;
use ripplet_fraud::output::GnnScope;
use ripplet_fraud::report::ReportLimits;
use ripplet_fraud::run::{self, ModelChoice, PipelineError, PipelineObserver, RunOptions};
use ripplet_fraud::source::reader::{Reading, Sources};
use ripplet_fraud::stream::LONGEST_PAUSE;
use ripplet_fraud::window::Shape;
use ripplet_graph::Observer;
use ripplet_lp::RoundObserver;
use ripplet_lp::cpu::CpuExecutor;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

pub const MAPPING: &str = "time = \"at\"\namount = \"eur\"\n[source]\ncolumn = \"from\"\nkind = \"user\"\n\
    [target]\ncolumn = \"to\"\nkind = \"shop\"\n";

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fraud").join(name)
}

pub fn options(inputs: &[&Path], mapping: &str, known_bad: &Path) -> RunOptions {
    let days = |days: i64| ripplet_fraud::Span::of_days(days).unwrap();
    RunOptions {
        feed: FeedOptions {
            sources: Sources::Files(inputs.iter().map(|path| path.display().to_string()).collect()),
            reading: Reading::default(),
            mapping: Mapping::parse(mapping).unwrap(),
            shape: Shape::new(days(3), days(1)).unwrap(),
            late: None,
            skip_bad_rows: false,
            skip_late_rows: false,
            longest_gap: LONGEST_PAUSE,
            range: TimeRange::ALL,
            full_slides: false,
            from_scratch: false,
        },
        known_bad: Some(known_bad.into()),
        trusted: None,
        confirmed: None,
        cleared: None,
        entity_table: None,
        detection: Detection::default(),
        exact: false,
        memory: None,
        arrays: Some(GnnScope::Clusters),
        model: ModelChoice::Auto,
        noise: NOISE,
        database: None,
        report: ReportLimits::default(),
        described: BTreeMap::new(),
    }
}

/// Observer that ends a run after some windows, or never.
#[derive(Default)]
pub struct Watcher {
    windows: AtomicU32,
    most: Option<u32>,
}

impl Watcher {
    /// Returns one that ends a run after `windows` windows.
    pub fn until(windows: u32) -> Watcher {
        Watcher { windows: AtomicU32::new(0), most: Some(windows) }
    }
}

impl Observer for Watcher {
    fn is_cancelled(&self) -> bool {
        self.most.is_some_and(|most| self.windows.load(Relaxed) >= most)
    }
}

impl RoundObserver for Watcher {}

impl PipelineObserver for Watcher {
    fn on_window(&mut self, _: &WindowRecord) {
        self.windows.fetch_add(1, Relaxed);
    }
}

pub fn run_into(
    options: &RunOptions,
    folder: &Path,
    resume: bool,
) -> Result<Manifest, PipelineError> {
    let executor = CpuExecutor::new(Some(2)).unwrap();
    run::run(&executor, options, folder, resume, &mut Watcher::default())
}

/// Days of transactions, one file each: rings of users and shops among others.
pub struct Days {
    pub folder: tempfile::TempDir,
}

impl Days {
    pub fn new(days: u32) -> Days {
        let made = Days { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(made.path("days")).unwrap();
        (1..=days).for_each(|day| made.write(day, &Days::rows(day)));
        fs::write(made.path("known.csv"), "id,from\nring0,\nring7,2024-03-04\nnobody,\n").unwrap();
        made
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn file(&self, day: u32) -> PathBuf {
        self.path("days").join(format!("dt=2024-03-{day:02}.csv"))
    }

    pub fn rows(day: u32) -> String {
        let mut text = String::from("from,to,at,eur\n");
        for row in 0..120u32 {
            let mix = (row * 7919 + day * 104_729) % 1000;
            let (user, shop) = (mix % 61, (mix / 7) % 37);
            text +=
                &format!("user{user},shop{shop},2024-03-{day:02}T{:02}:00:00,{}\n", row / 5, mix);
        }
        for user in 0..12 {
            for shop in 0..3 {
                if !(user + shop + day).is_multiple_of(3) {
                    let ring = user / 6;
                    text += &format!("ring{user},den{ring}{shop},2024-03-{day:02}T23:30:00,50\n");
                }
            }
        }
        text
    }

    pub fn write(&self, day: u32, rows: &str) {
        fs::write(self.file(day), rows).unwrap();
    }

    pub fn options(&self) -> RunOptions {
        options(&[&self.path("days")], MAPPING, &self.path("known.csv"))
    }
}

/// The bytes of all results in a folder, without figures of time and memory.
pub fn results(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for window in fs::read_dir(folder.join("windows")).unwrap() {
        let window = window.unwrap().path();
        for file in fs::read_dir(&window).unwrap() {
            let file = file.unwrap().path();
            if !file.ends_with("window.json") {
                let name = file.strip_prefix(folder).unwrap().display().to_string();
                all.insert(name, fs::read(&file).unwrap());
            }
        }
    }
    all
}

#[test]
fn files_of_a_run_do_not_depend_on_threads() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(example("mapping.toml")).unwrap();
    let input = example("transactions.csv.gz");
    let mut options = options(&[&input], &text, &example("known.csv"));
    let days = |days: i64| ripplet_fraud::Span::of_days(days).unwrap();
    options.feed.shape = Shape::new(days(30), days(10)).unwrap();
    let files = |threads: usize| {
        let out = folder.path().join(threads.to_string());
        let executor = CpuExecutor::new(Some(threads)).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let run = || run::run(&executor, &options, &out, false, &mut Watcher::default());
        let manifest = pool.install(run).unwrap();
        let is_learnt = |window: &WindowRecord| window.scores.as_ref().is_some_and(|of| of.learnt);
        assert!(manifest.windows.iter().all(is_learnt));
        results(&out)
    };
    let one = files(1);
    assert!(one.len() > 30, "{:?}", one.keys());
    for threads in [2, 4] {
        let more = files(threads);
        assert!(one.keys().eq(more.keys()), "{threads} threads");
        for (name, bytes) in &one {
            assert!(*bytes == more[name], "{name} of {threads} threads");
        }
    }
}

#[test]
fn the_example_runs_from_its_files_to_its_report() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let text = fs::read_to_string(example("mapping.toml")).unwrap();
    let input = example("transactions.csv.gz");
    let mut options = options(&[&input], &text, &example("known.csv"));
    let days = |days: i64| ripplet_fraud::Span::of_days(days).unwrap();
    options.feed.shape = Shape::new(days(30), days(5)).unwrap();
    let manifest = run_into(&options, &out, false).unwrap();
    assert_eq!(manifest.state, "finished");
    assert_eq!((manifest.counts.rows, manifest.windows.len()), (23_383, 4));
    assert_eq!(manifest.inputs[0].rows, 23_383);
    assert_eq!(manifest.inputs[0].sha256.as_ref().unwrap().len(), 64);
    let [first, second, ..] = &*manifest.windows else { panic!() };
    assert_eq!((&*first.from, &*first.until), ("2017-01-02", "2017-02-01"));
    assert!(!first.warm && second.warm && second.merged);
    assert!(first.converged && manifest.windows.iter().all(|window| window.clusters > 0));
    assert!(
        manifest.windows[1..]
            .iter()
            .all(|window| window.rounds <= 4 && window.rounds < first.rounds)
    );
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("1485907200000000"));
    crate::report::opens(&out.join("report.html"), manifest.windows.len());
    let folder = RunFolder::open(&out).unwrap();
    for name in
        ["clusters.parquet", "members.parquet", "edges.parquet", "graph.npz", "report.json.gz"]
    {
        assert!(folder.window(first).join(name).exists(), "{name}");
    }
    assert!(
        matches!(run_into(&options, &out, false), Err(PipelineError::Folder(_))),
        "it is there"
    );
}

#[test]
fn a_run_that_is_cancelled_goes_on_and_writes_the_same_bytes() {
    let days = Days::new(9);
    let options = days.options();
    let whole = days.path("whole");
    let manifest = run_into(&options, &whole, false).unwrap();
    assert_eq!(manifest.windows.len(), 7);
    assert_eq!(manifest.unseen, 1, "nobody");
    let cut = days.path("cut");
    for most in [1, 1, 2] {
        let executor = CpuExecutor::new(Some(1)).unwrap();
        let mut watcher = Watcher { most: Some(most), ..Watcher::default() };
        let resume = cut.exists();
        let ended = run::run(&executor, &options, &cut, resume, &mut watcher).unwrap_err();
        assert!(ended.is_cancelled());
    }
    // As if killed between a window and the end of what was kept of the one before.
    let mut windows: Vec<_> =
        fs::read_dir(cut.join("windows")).unwrap().collect::<Result<_, _>>().unwrap();
    windows.sort_by_key(fs::DirEntry::file_name);
    let [.., before, last] = &*windows else { panic!("{windows:?}") };
    for name in ["labels.checkpoint", "clusters.txt", "weights.json"] {
        fs::copy(last.path().join(name), before.path().join(name)).unwrap();
    }
    let resumed = run_into(&options, &cut, true).unwrap();
    assert_eq!(resumed.windows.len(), 7);
    assert_eq!(results(&cut), results(&whole));
    // And once more, with nothing left to do.
    run_into(&options, &cut, true).unwrap();
    assert_eq!(results(&cut), results(&whole));
}

#[test]
fn kept_clusters_that_are_damaged_are_refused() {
    let days = Days::new(6);
    let folder = days.path("run");
    run_into(&days.options(), &folder, false).unwrap();
    let windows = RunFolder::open(&folder).unwrap();
    let last = windows.finished().unwrap().pop().unwrap();
    let path = windows.window(&last).join("clusters.txt");
    let text = fs::read(&path).unwrap();
    // The last window is computed again from what the one before kept.
    let before = windows.finished().unwrap().into_iter().rev().nth(1).unwrap();
    let paths = [path, windows.window(&before).join("clusters.txt")];
    for cut in [0, 9, text.len() / 2, text.len() - 1] {
        let found: Vec<_> = paths.iter().filter(|path| path.exists()).collect();
        let kept: Vec<_> = found.iter().map(|path| fs::read(path).unwrap()).collect();
        found
            .iter()
            .zip(&kept)
            .for_each(|(path, text)| fs::write(path, &text[..cut.min(text.len() - 1)]).unwrap());
        let error = run_into(&days.options(), &folder, true).unwrap_err().to_string();
        assert!(error.contains("clusters.txt: line "), "{cut}: {error}");
        found.iter().zip(&kept).for_each(|(path, text)| fs::write(path, text).unwrap());
    }
    run_into(&days.options(), &folder, true).unwrap();
}

#[test]
fn exact_runs_do_not_depend_on_where_the_window_came_from() {
    let days = Days::new(8);
    let exact = RunOptions { exact: true, ..days.options() };
    run_into(&exact, &days.path("merged"), false).unwrap();
    let mut scratch = exact.clone();
    scratch.feed.from_scratch = true;
    run_into(&scratch, &days.path("scratch"), false).unwrap();
    assert_eq!(results(&days.path("merged")), results(&days.path("scratch")));
}

/// Child process of the next test, which runs until it is killed.
#[test]
fn child_that_is_killed() {
    let Ok(folder) = std::env::var("RIPPLET_FRAUD_CHILD") else { return };
    let folder = Path::new(&folder);
    let options = options(&[&folder.join("days")], MAPPING, &folder.join("known.csv"));
    let cut = folder.join("cut");
    let resume = cut.join("manifest.json").exists();
    run_into(&options, &cut, resume).unwrap();
}

#[test]
fn a_run_that_is_killed_at_any_moment_goes_on() {
    let days = Days::new(14);
    run_into(&days.options(), &days.path("whole"), false).unwrap();
    let child = || {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "runs::child_that_is_killed", "--nocapture"])
            .env("RIPPLET_FRAUD_CHILD", days.folder.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let windows = days.path("cut/windows");
    let finished = || fs::read_dir(&windows).map_or(0, |entries| entries.count());
    for kill in 0..4 {
        let mut running = child();
        let (before, begin) = (finished(), Instant::now());
        // Another moment each time, once a window more is there or on its way.
        while finished() <= before && begin.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(3 * kill));
        running.kill().unwrap();
        running.wait().unwrap();
    }
    assert!(child().wait().unwrap().success());
    assert_eq!(results(&days.path("cut")), results(&days.path("whole")));
    let left = fs::read_dir(&windows)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with('.'));
    assert_eq!(left.count(), 0);
}

#[test]
fn inputs_that_name_a_file_twice_are_refused_before_anything_is_read() {
    let days = Days::new(3);
    let path = |name: &str| days.path(name).display().to_string();
    let (folder, file) = (path("days"), path("days/dt=2024-03-02.csv"));
    for (second, repeated) in [(&folder, 3), (&file, 1)] {
        let mut options = days.options();
        options.feed.sources = Sources::Files(vec![folder.clone(), second.clone()]);
        let run = days.path(&format!("run{repeated}"));
        let refused = run_into(&options, &run, false).unwrap_err().to_string();
        let sentence =
            format!("the inputs name {second} twice: its transactions would count twice.");
        assert!(refused.starts_with(&sentence), "{refused}");
        assert!(!run.exists());
        options.feed.reading.skip_repeated = true;
        let manifest = run_into(&options, &run, false).unwrap();
        let skipped = manifest.inputs.iter().filter(|input| input.repeats.is_some());
        assert_eq!(skipped.count(), repeated);
    }
}

#[test]
fn files_that_come_twice_or_are_replaced_are_reported() {
    let days = Days::new(5);
    fs::write(days.path("days/dt=2024-03-06.csv"), Days::rows(5)).unwrap();
    let refused = run_into(&days.options(), &days.path("twice"), false).unwrap_err().to_string();
    assert!(refused.contains("dt=2024-03-06.csv has the same content as"), "{refused}");
    assert!(refused.contains("dt=2024-03-05.csv"), "{refused}");
    let manifest = RunFolder::open(&days.path("twice")).unwrap().manifest().unwrap();
    assert_eq!(manifest.state, refused);
    assert!(!manifest.windows.is_empty(), "finished windows are kept");
    let mut options = days.options();
    options.feed.reading.skip_repeated = true;
    let manifest = run_into(&options, &days.path("skipped"), false).unwrap();
    assert!(manifest.inputs[5].repeats.as_ref().unwrap().ends_with("dt=2024-03-05.csv"));
    assert_eq!(manifest.windows.len(), 3);

    fs::remove_file(days.path("days/dt=2024-03-06.csv")).unwrap();
    days.write(2, &Days::rows(2).replace("user1,", "user2,"));
    let refused = run_into(&days.options(), &days.path("twice"), true).unwrap_err().to_string();
    assert!(refused.contains("dt=2024-03-02.csv was replaced since the run read it"), "{refused}");
    let other = RunOptions { exact: true, ..days.options() };
    let refused = run_into(&other, &days.path("twice"), true).unwrap_err().to_string();
    assert!(
        refused.contains("has labels from the window before, and here it is anew"),
        "{refused}"
    );
}

#[test]
fn half_written_and_missing_inputs_are_reported() {
    let days = Days::new(4);
    let whole = Days::rows(4);
    days.write(4, &whole[..whole.len() - 9]);
    let refused = run_into(&days.options(), &days.path("half"), false).unwrap_err().to_string();
    let lines = whole.lines().count();
    assert!(refused.contains(&format!("dt=2024-03-04.csv:{lines}: 3 fields")), "{refused}");
    assert!(!days.path("half").exists(), "three days had not ended");
    fs::write(days.file(4), b"PAR1 cut").unwrap();
    fs::rename(days.file(4), days.path("days/dt=2024-03-04.parquet")).unwrap();
    let refused = run_into(&days.options(), &days.path("cut"), false).unwrap_err().to_string();
    assert!(refused.contains("dt=2024-03-04.parquet"), "{refused}");
    // Names of what is not finished are skipped.
    fs::rename(days.path("days/dt=2024-03-04.parquet"), days.path("days/_temporary.parquet"))
        .unwrap();
    assert_eq!(run_into(&days.options(), &days.path("run"), false).unwrap().windows.len(), 1);
    let nothing = options(&[&days.path("none")], MAPPING, &days.path("known.csv"));
    let refused = run_into(&nothing, &days.path("none-run"), false).unwrap_err().to_string();
    assert!(refused.contains("there is no such file or folder"), "{refused}");
    fs::write(days.path("empty.csv"), "from,to,at,eur\n").unwrap();
    let empty = options(&[&days.path("empty.csv")], MAPPING, &days.path("known.csv"));
    let refused = run_into(&empty, &days.path("empty-run"), false).unwrap_err().to_string();
    assert!(refused.contains("no transactions in the input: of 0 rows none is taken"), "{refused}");
    fs::write(days.path("empty.csv"), "").unwrap();
    let refused = run_into(&empty, &days.path("empty-run"), false).unwrap_err().to_string();
    assert!(refused.contains("empty.csv: the file is empty: its first row"), "{refused}");
    for (bytes, format) in [
        (&b"PAR1\x15\x04\n"[..], "Parquet"),
        (&b"ARROW1\0\0\n"[..], "Arrow"),
        (&b"\xff\xfef\0r\0\n\0"[..], "UTF-16"),
        (&b"\xfe\xff\0f\0r\0\n"[..], "UTF-16"),
    ] {
        fs::write(days.path("empty.csv"), bytes).unwrap();
        let refused = run_into(&empty, &days.path("empty-run"), false).unwrap_err().to_string();
        assert!(refused.contains(&format!("not UTF-8, but {format}")), "{refused}");
    }
    fs::write(days.path("empty.csv"), "from,to,at,eur\na,b,2024-05-01,1\na,b,2024-05-03T12:00,1\n")
        .unwrap();
    let mut later = options(&[&days.path("empty.csv")], MAPPING, &days.path("known.csv"));
    later.feed.range = TimeRange::new("2024-06-01".parse().unwrap(), TimeRange::ALL.until);
    let refused = run_into(&later, &days.path("empty-run"), false).unwrap_err().to_string();
    let outside = "of 2 rows, 2 are outside --since and --before, with times from 2024-05-01 to 2024-05-03T12:00:00Z";
    assert!(refused.contains(outside), "{refused}");
    fs::write(days.path("empty.csv"), "from,to,at,eur\na,b,2024-05-01,-1\na,b,soon,1\n").unwrap();
    let mut skips = empty;
    skips.feed.skip_bad_rows = true;
    let refused = run_into(&skips, &days.path("empty-run"), false).unwrap_err().to_string();
    assert!(refused.contains("of 2 rows, 1 bad time, 1 negative amount"), "{refused}");
}

/// After the input is mended, the same command runs again.
#[test]
fn a_run_that_ended_before_its_first_window_begins_again_in_its_folder() {
    let days = Days::new(4);
    let (good, out) = (Days::rows(2), days.path("run"));
    days.write(2, "from,to\n");
    let refused = run_into(&days.options(), &out, false).unwrap_err().to_string();
    assert!(refused.contains("there is no column `at`"), "{refused}");
    assert!(!out.exists(), "nothing is left");
    days.write(2, &good);
    run_into(&days.options(), &out, false).unwrap();
    run_into(&days.options(), &days.path("other"), false).unwrap();
    assert_eq!(results(&out), results(&days.path("other")));
    // A run with a window stays.
    let refused = run_into(&days.options(), &out, false).unwrap_err().to_string();
    assert!(refused.contains("has a run in it already"), "{refused}");
    // So does what is at work, or was killed.
    let manifest = fs::read_to_string(out.join("manifest.json")).unwrap();
    fs::remove_dir_all(&out).unwrap();
    fs::create_dir_all(out.join("windows")).unwrap();
    let mut manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    manifest["state"] = "running".into();
    manifest["windows"] = serde_json::json!([]);
    fs::write(out.join("manifest.json"), manifest.to_string()).unwrap();
    let refused = run_into(&days.options(), &out, false).unwrap_err().to_string();
    assert!(refused.contains("has a run in it already"), "{refused}");
}

#[test]
fn days_without_transactions_are_windows_too() {
    let days = Days::new(9);
    (3..=7).for_each(|day| fs::remove_file(days.file(day)).unwrap());
    let manifest = run_into(&days.options(), &days.path("run"), false).unwrap();
    let transactions: Vec<u64> =
        manifest.windows.iter().map(|window| window.transactions).collect();
    assert_eq!(transactions.len(), 7);
    assert_eq!(&transactions[2..5], [0, 0, 0]);
}

#[test]
fn wrong_lists_are_reported() {
    let days = Days::new(4);
    let refuses = |list: &str| {
        fs::write(days.path("known.csv"), list).unwrap();
        let out = tempfile::tempdir().unwrap();
        run_into(&days.options(), out.path(), false).unwrap_err().to_string()
    };
    assert!(refuses("who\nring0\n").contains(
        "known.csv: the first row `who` may be an id, or the name of a column; the first two rows are `who` and `ring0`"
    ));
    assert!(refuses("").contains("known.csv: the file is empty"));
    assert!(refuses("id,from\nring0,soon\n").contains("known.csv:2: from: `soon` is no time"));
    assert!(
        refuses("id,kind\nring0,card\n")
            .contains("known.csv:2: the kind `card` is none of the mapping's: user, shop")
    );
    fs::write(days.path("known.csv"), "id\nring0\n").unwrap();
    let none = RunOptions { known_bad: Some(days.path("none.csv").into()), ..days.options() };
    let out = tempfile::tempdir().unwrap();
    let refused = run_into(&none, out.path(), false).unwrap_err();
    assert!(matches!(refused, PipelineError::List(_)), "{refused:?}");
    assert!(refused.to_string().contains("none.csv: "), "{refused}");
    let trusted = RunOptions { trusted: Some(days.path("known.csv").into()), ..days.options() };
    let out = tempfile::tempdir().unwrap();
    let refused = run_into(&trusted, out.path(), false).unwrap_err().to_string();
    assert!(refused.contains("the user `ring0` is known to be bad and trusted"), "{refused}");
}

#[test]
fn a_folder_is_followed() {
    let days = Days::new(5);
    run_into(&days.options(), &days.path("whole"), false).unwrap();
    let later: Vec<String> = (4..=5).map(Days::rows).collect();
    (4..=5).for_each(|day| fs::remove_file(days.file(day)).unwrap());
    let mut options = days.options();
    options.feed.reading.follow = Some(Duration::from_millis(20));
    let cut = days.path("followed");
    let write = || {
        std::thread::sleep(Duration::from_millis(300));
        for (day, rows) in (4..=5).zip(&later) {
            days.write(day, rows);
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(write);
        let executor = CpuExecutor::new(Some(1)).unwrap();
        // The last day has not ended: who follows does not know that there is no more.
        let mut watcher = Watcher { most: Some(2), ..Watcher::default() };
        let ended = run::run(&executor, &options, &cut, false, &mut watcher).unwrap_err();
        assert!(ended.is_cancelled());
    });
    let (followed, whole) = (results(&cut), results(&days.path("whole")));
    let same =
        |name: &&String| name.ends_with("members.parquet") || name.ends_with("clusters.parquet");
    let names: Vec<&String> = followed.keys().filter(same).collect();
    assert_eq!(names.len(), 4);
    names.iter().for_each(|name| assert_eq!(followed[*name], whole[*name], "{name}"));
}

/// Rows of one user and shop a day, from the first day of March.
fn daily(days: std::ops::RangeInclusive<u32>) -> String {
    let row =
        |day: u32| (0..6).map(move |user| format!("u{user},s{},2024-03-{day:02},1.50\n", user % 2));
    format!("from,to,at,eur\n{}", days.flat_map(row).collect::<String>())
}

/// A run over `text`, in windows of 4 days by 3.
fn slid(text: &str, change: impl FnOnce(&mut RunOptions)) -> Result<Manifest, PipelineError> {
    let folder = tempfile::tempdir().unwrap();
    let [rows, known] = ["rows.csv", "known.csv"].map(|name| folder.path().join(name));
    fs::write(&rows, text).unwrap();
    fs::write(&known, "id\nu0\n").unwrap();
    let mut options = options(&[&rows], MAPPING, &known);
    let days = |days: i64| ripplet_fraud::Span::of_days(days).unwrap();
    options.feed.shape = Shape::new(days(4), days(3)).unwrap();
    change(&mut options);
    run_into(&options, &folder.path().join("run"), false)
}

#[test]
fn windows_of_known_bad_alone_are_noted() {
    let mut manifest = slid(&daily(1..=4), |_| ()).unwrap();
    let few = "1 window has too few known bad with transactions to hold one out";
    let notes = run::notes(&manifest, &manifest.windows).join("\n");
    assert!(notes.contains(few) && !notes.contains("but known bad ones"), "{notes}");
    let scores = manifest.windows[0].scores.as_mut().unwrap();
    (scores.entities, scores.known_bad) = (8, 8);
    let notes = run::notes(&manifest, &manifest.windows).join("\n");
    let alone = "1 window has no entities with transactions but known bad ones";
    assert!(notes.contains(alone) && !notes.contains(few), "{notes}");
}

#[test]
fn the_last_window_ends_with_the_last_day() {
    let ends = |manifest: &Manifest| -> Vec<String> {
        manifest.windows.iter().map(|window| window.until.clone()).collect()
    };
    let manifest = slid(&daily(1..=9), |_| ()).unwrap();
    assert_eq!(ends(&manifest), ["2024-03-05", "2024-03-08", "2024-03-10"]);
    assert_eq!(manifest.windows.iter().map(|w| w.cut).collect::<Vec<_>>(), [false, false, true]);
    assert_eq!(manifest.windows[2].from, "2024-03-06");
    assert_eq!((manifest.windows[2].transactions, manifest.transactions_behind), (24, 0));
    assert!(!run::notes(&manifest, &manifest.windows).iter().any(|n| n.contains("--full-slides")));

    let notes = run::notes(&manifest, &manifest.windows).join("\n");
    let expected =
        "the last window ends with the last day, 2 days after the one before instead of 3d";
    assert!(notes.contains(expected), "{notes}");
    let by_hours = slid(&daily(1..=3), |options| {
        options.feed.shape = Shape::new("1d".parse().unwrap(), "7h".parse().unwrap()).unwrap();
    });
    let by_hours = by_hours.unwrap();
    let notes = run::notes(&by_hours, &by_hours.windows).join("\n");
    assert!(notes.contains("4h after the one before instead of 7h"), "{notes}");
    assert!(notes.contains("the last window ends with the last 1h with transactions"), "{notes}");
    assert_eq!(by_hours.options["last window"], "ends with the last 1h with transactions");
    assert!(manifest.windows.iter().all(|window| window.to_themselves == Some(0)));

    let manifest = slid(&daily(1..=9), |options| options.feed.full_slides = true).unwrap();
    let notes = run::notes(&manifest, &manifest.windows).join("\n");
    assert!(!notes.contains("after the one before"), "{notes}");
    assert_eq!(ends(&manifest), ["2024-03-05", "2024-03-08"]);
    assert_eq!(manifest.transactions_behind, 12);
    let notes = run::notes(&manifest, &manifest.windows).join("\n");
    assert!(notes.contains("12 transactions lie behind the end of the last window"), "{notes}");
    assert!(notes.contains("without --full-slides"), "{notes}");
    // With even slides, there is no further window.
    assert_eq!(ends(&slid(&daily(1..=7), |_| ()).unwrap()), ["2024-03-05", "2024-03-08"]);
}

/// Also where the last window of before ended with its input.
#[test]
fn a_run_goes_on_with_more_input_as_one_that_had_it_all() {
    let days = Days::new(8);
    let mut options = days.options();
    let span = |days: i64| ripplet_fraud::Span::of_days(days).unwrap();
    options.feed.shape = Shape::new(span(3), span(2)).unwrap();
    run_into(&options, &days.path("whole"), false).unwrap();
    for first in [2, 4, 6] {
        let later: Vec<String> = (first + 1..=8).map(Days::rows).collect();
        (first + 1..=8).for_each(|day| fs::remove_file(days.file(day)).unwrap());
        let cut = days.path(&format!("cut-{first}"));
        let before = run_into(&options, &cut, false).unwrap();
        assert!(before.windows.last().unwrap().cut);
        (first + 1..=8).zip(&later).for_each(|(day, rows)| days.write(day, rows));
        run_into(&options, &cut, true).unwrap();
        assert_eq!(results(&cut), results(&days.path("whole")), "{first}");
        run_into(&options, &cut, true).unwrap();
        assert_eq!(results(&cut), results(&days.path("whole")), "{first}");
    }
}

/// The input of before ended in the middle of a day, and late rows left the days before that open, too.
#[test]
fn a_run_goes_on_with_more_rows_of_the_days_that_its_input_ended_with() {
    let days = Days::new(8);
    let mut options = days.options();
    let all: Vec<String> = (1..=8).map(Days::rows).collect();
    for (late, open) in [(0, 1), (2, 3)] {
        options.feed.late = (late > 0).then(|| ripplet_fraud::Span::of_days(late).unwrap());
        (1..=8).for_each(|day| days.write(day, &all[day as usize - 1]));
        // With late rows, the file of the sixth day has the second half of the fourth.
        let (header, rows) = all[5].split_once('\n').unwrap();
        let half = |rows: &str| rows.match_indices('\n').nth(59).unwrap().0 + 1;
        let early = all[3].split_at(header.len() + 1).1;
        let (morning, evening) = rows.split_at(half(rows));
        let (kept, moved) = early.split_at(if late > 0 { half(early) } else { early.len() });
        days.write(4, &format!("{header}\n{kept}"));
        days.write(6, &format!("{header}\n{morning}"));
        fs::write(days.path("days/dt=2024-03-06b.csv"), format!("{header}\n{moved}{evening}"))
            .unwrap();
        let [whole, cut] = ["whole", "cut"].map(|name| days.path(&format!("{name}-{late}")));
        run_into(&options, &whole, false).unwrap();
        let later: Vec<PathBuf> =
            vec![days.path("days/dt=2024-03-06b.csv"), days.file(7), days.file(8)];
        let texts: Vec<String> = later.iter().map(|p| fs::read_to_string(p).unwrap()).collect();
        later.iter().for_each(|path| fs::remove_file(path).unwrap());
        let before = run_into(&options, &cut, false).unwrap();
        let are_cut: Vec<bool> = before.windows.iter().map(|window| window.cut).collect();
        assert_eq!(are_cut, (0..4).map(|at| at + open >= 4).collect::<Vec<_>>());
        // Nothing more came: the same again.
        let same = results(&cut);
        run_into(&options, &cut, true).unwrap();
        assert_eq!(results(&cut), same);
        later.iter().zip(&texts).for_each(|(path, text)| fs::write(path, text).unwrap());
        let resumed = run_into(&options, &cut, true).unwrap();
        assert_eq!(results(&cut), results(&whole), "{late}");
        let transactions: Vec<u64> = resumed.windows.iter().map(|w| w.transactions).collect();
        let whole = RunFolder::open(&whole).unwrap().finished().unwrap();
        assert_eq!(transactions, whole.iter().map(|w| w.transactions).collect::<Vec<_>>());
        fs::remove_file(&later[0]).unwrap();
    }
}

#[test]
fn a_run_needs_no_list_of_known_bad() {
    let days = Days::new(6);
    let none = RunOptions { known_bad: None, ..days.options() };
    let manifest = run_into(&none, &days.path("none"), false).unwrap();
    assert!(manifest.windows.iter().all(|window| window.known_bad == 0));
    let notes = run::notes(&manifest, &manifest.windows).join("\n");
    assert!(notes.contains("there is no list of known bad"), "{notes}");
    assert!(!notes.contains("no entity that is known to be bad"), "{notes}");
    fs::write(days.path("known.csv"), "id\n").unwrap();
    run_into(&days.options(), &days.path("empty"), false).unwrap();
    assert_eq!(results(&days.path("none")), results(&days.path("empty")), "as an empty list");
    let mut seeded = none;
    seeded.detection.unseeded = false;
    let refused = run_into(&seeded, &days.path("seeded"), false).unwrap_err();
    assert!(matches!(refused, PipelineError::NoKnownBad), "{refused:?}");
    assert!(!days.path("seeded").exists());
}

/// Each is named by its line, and leaves the others as they would be.
#[test]
fn a_wrong_year_and_a_huge_amount_are_bad_rows() {
    let good = daily(1..=9);
    let plain = slid(&good, |_| ()).unwrap();
    let bad = |line: usize, row: &str| {
        let mut lines: Vec<&str> = good.lines().collect();
        lines.insert(line - 1, row);
        lines.join("\n") + "\n"
    };
    let too_heavy = "u0,s0,2024-03-04,50000000.00";
    for (line, row, weight, part, name) in [
        (2, "u0,s0,1970-01-01,1", "count", "is more than 180d before", "time far"),
        (2, "u0,s0,2924-03-01,1", "count", "is more than 180d after", "time far"),
        (30, "u0,s0,2025-03-04,1", "count", "the time 2025-03-04 in the column `at`", "time far"),
        (30, "u0,s0,2023-03-04,1", "count", "is more than 180d before", "time far"),
        (56, "u0,s0,2924-03-09,1", "count", "is more than 180d after", "time far"),
        (30, "u0,s0,2024-03-04,1e17", "count", "is more than 2⁵⁰", "amount too large"),
        (30, "u0,s0,2024-03-04,1e300", "count", "does not fit 64 bits", "amount too large"),
        (30, too_heavy, "amount", "`50000000.00` in the column `eur`", "amount too large"),
        (30, "u0,s0,infinity,1", "count", "`infinity` in the column `at` is no time", "bad time"),
        (30, "u0,s0,2024-03-04T00:00:00+99:99,1", "count", "+99:99` in", "bad time"),
        (30, "u0,s0,2024-03-04T00:00:00-18:01,1", "count", "-18:01` in", "bad time"),
    ] {
        let text = bad(line, row);
        let rule = |options: &mut RunOptions| {
            options.feed.mapping.weight.of = Some(weight.into());
        };
        let refused = slid(&text, rule).unwrap_err().to_string();
        assert!(refused.contains(&format!("rows.csv:{line}: ")), "{row}: {refused}");
        assert!(refused.contains(part), "{row}: {refused}");
        let skipped = slid(&text, |options| {
            rule(options);
            options.feed.skip_bad_rows = true;
        });
        let skipped = skipped.unwrap();
        let faults: Vec<_> = skipped.counts.faults.iter().collect();
        assert!(
            faults.len() == 1 && faults[0].0.starts_with(name) && *faults[0].1 == 1,
            "{faults:?}"
        );
        assert_eq!(skipped.windows.len(), plain.windows.len(), "{row}");
        assert_eq!(skipped.counts.taken, plain.counts.taken);
    }
    // An allowed gap needs no decision.
    let text = bad(2, "u0,s0,2023-03-05,1");
    let wide = ripplet_fraud::Span::of_days(400).unwrap();
    let manifest = slid(&text, |options| options.feed.longest_gap = wide).unwrap();
    assert_eq!(manifest.counts.taken, plain.counts.taken + 1);
}

/// An Arrow file and a Parquet file have `infinity` as the largest number, and texts as they are.
#[test]
fn infinite_times_of_columnar_files_are_bad_rows() {
    use arrow_array::{ArrayRef, RecordBatch, StringArray, TimestampMicrosecondArray};
    let day = 86_400_000_000;
    let first = 19_783 * day;
    let mut stamps: Vec<i64> = (0..24).map(|row| first + row / 4 * day).collect();
    let mut texts: Vec<String> =
        (0..24).map(|row| format!("2024-03-{:02}T00:00:00-18:00", 1 + row / 4)).collect();
    for (row, stamp, text) in
        [(5, i64::MAX, "infinity"), (9, i64::MIN, "2024-03-03T00:00:00+18:30")]
    {
        stamps.insert(row, stamp);
        texts.insert(row, text.into());
    }
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("known.csv"), "id\nu0\n").unwrap();
    let users = (0..26).map(|row| format!("u{}", row % 4)).collect::<Vec<_>>();
    let users: ArrayRef = std::sync::Arc::new(StringArray::from(users));
    let columns: [(&str, ArrayRef, &str); 2] = [
        ("stamps", std::sync::Arc::new(TimestampMicrosecondArray::from(stamps)), "`infinity`"),
        ("texts", std::sync::Arc::new(StringArray::from(texts)), "`infinity`"),
    ];
    for (name, times, named) in columns {
        let batch = [("from", users.clone()), ("to", users.clone()), ("at", times)];
        let batch = RecordBatch::try_from_iter(batch).unwrap();
        for format in ["arrow", "parquet"] {
            let rows = at(&format!("{name}.{format}"));
            let mut table = ripplet_io::write::RecordWriter::create(&rows, batch.schema()).unwrap();
            table.append(&batch).unwrap();
            table.finish().unwrap();
            let mut options =
                options(&[&rows], &MAPPING.replace("amount = \"eur\"\n", ""), &at("known.csv"));
            let out = at(&format!("{name}-{format}"));
            let refused = run_into(&options, &out, false).unwrap_err().to_string();
            let expected =
                format!("{name}.{format} at row 6: {named} in the column `at` is no time");
            assert!(refused.contains(&expected), "{refused}");
            assert!(!out.exists());
            options.feed.skip_bad_rows = true;
            let manifest = run_into(&options, &out, false).unwrap();
            assert_eq!(manifest.counts.faults, [("bad time".to_owned(), 2)].into());
            assert_eq!(manifest.counts.taken, 24);
        }
    }
}

#[test]
fn amounts_of_a_day_that_sum_up_to_too_much_are_named() {
    let row = "u1,s1,2024-03-01,9000000000000.00\n";
    let text = format!("from,to,at,eur\n{}", row.repeat(3));
    let refused = slid(&text, |_| ()).unwrap_err().to_string();
    assert!(refused.contains("rows.csv:3: with the amount `9000000000000.00`"), "{refused}");
    assert!(refused.contains("between user u1 and shop s1 in the 1d from 2024-03-01"), "{refused}");
    let manifest = slid(&text, |options| options.feed.skip_bad_rows = true).unwrap();
    assert_eq!(manifest.counts.faults, [("sum of amounts too large".to_owned(), 2)].into());
}

#[test]
fn amounts_that_are_rounded_are_counted() {
    let text = daily(1..=4).replace("1.50", "1.505");
    let manifest = slid(&text, |_| ()).unwrap();
    assert_eq!(manifest.counts.rounded, 24);
    let notes = run::notes(&manifest, &manifest.windows).join("\n");
    assert!(notes.contains("24 amounts were rounded, with more decimals than are kept"), "{notes}");
    assert_eq!(slid(&daily(1..=4), |_| ()).unwrap().counts.rounded, 0);
}

/// Interrupted while it reads, or as it is about to write.
#[test]
fn a_run_that_is_stopped_before_its_first_window_leaves_nothing() {
    let days = Days::new(4);
    let executor = CpuExecutor::new(Some(1)).unwrap();
    let mut watcher = Watcher { most: Some(0), ..Watcher::default() };
    let out = days.path("a/b/run");
    let ended = run::run(&executor, &days.options(), &out, false, &mut watcher).unwrap_err();
    assert!(ended.is_cancelled());
    assert!(!days.path("a").exists());
    // A folder that was there stays, and empty.
    fs::create_dir_all(&out).unwrap();
    let mut watcher = Watcher { most: Some(0), ..Watcher::default() };
    run::run(&executor, &days.options(), &out, false, &mut watcher).unwrap_err();
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
    fs::write(out.join("else"), "").unwrap();
    let refused = run_into(&days.options(), &out, false).unwrap_err().to_string();
    assert!(refused.contains("is not empty, and no run is in it"), "{refused}");
}

/// Repeated payments to one partner are no chance; one payment to each of many may be.
#[test]
fn clusters_have_a_chance_and_a_sentence() {
    let mut text = String::from("from,to,at,eur\n");
    for user in 0..300u32 {
        for pay in 0..2 {
            let (to, day) = ((user * 7 + 13 + pay * 101) % 300, 1 + (user + pay) % 4);
            text += &format!("u{user},u{to},2024-03-0{day}T12:00:00,1.50\n");
        }
    }
    for (from, to) in [("a", "b"), ("b", "c"), ("c", "a")] {
        text += &format!("{from},{to},2024-03-04T13:00:00,0.10\n").repeat(5);
    }
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows.csv");
    // In the order of time.
    let mut lines: Vec<&str> = text.lines().skip(1).collect();
    lines.sort_by_key(|line| line.split(',').nth(2).unwrap().to_owned());
    fs::write(&rows, format!("from,to,at,eur\n{}\n", lines.join("\n"))).unwrap();
    let mapping = MAPPING.replace("shop", "user");
    let mut options = options(&[&rows], &mapping, &rows);
    options.known_bad = None;
    let out = folder.path().join("run");
    let manifest = run_into(&options, &out, false).unwrap();
    let run = RunFolder::open(&out).unwrap();
    let report = serde_json::to_value(run.part(&manifest.windows[1]).unwrap()).unwrap();
    let top = &report["listed"][0];
    assert_eq!(top["size"], 3, "{top}");
    assert_eq!(
        top["why"].as_str().unwrap().split(", where").next().unwrap(),
        "15 transactions among its 3 members on 2024-03-04"
    );
    assert!(top["chance"].as_f64().unwrap() < 1e-6, "{top}");
    let edges = top["evidence"]["edges"].as_array().unwrap();
    assert!(edges.iter().all(|edge| edge["amount"] == 50 && edge["count"] == 5), "{edges:?}");
    options.noise = 1.5;
    let refused = run_into(&options, &folder.path().join("other"), false).unwrap_err();
    assert!(matches!(refused, PipelineError::Noise(_)), "{refused:?}");
}

/// With the device that a row also names, it is three edges, and one transaction.
#[test]
fn a_sentence_counts_a_row_of_several_edges_once() {
    let mut rows: Vec<(String, String, String, String)> = Vec::new();
    for at in 0..400u32 {
        let (user, shop) = (at * 7919 % 97, at * 104_729 % 41);
        let device = if at % 2 == 0 { format!("d{user}") } else { String::new() };
        rows.push((format!("u{user}"), format!("s{shop}"), format!("{:02}", at / 20), device));
    }
    let ring = |row: &(String, String, String, String)| row.0.starts_with('r');
    for at in 0..24u32 {
        let device = if at < 14 { "dd" } else { "" };
        let time = format!("{:02}", at % 20);
        rows.push((format!("r{}", at % 2), format!("t{}", at / 2 % 2), time, device.into()));
    }
    rows.sort_by(|a, b| a.2.cmp(&b.2));
    let text: String = rows
        .iter()
        .map(|(from, to, hour, device)| format!("{from},{to},2024-03-04T{hour}:00:00,1,{device}\n"))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.csv");
    fs::write(&file, format!("from,to,at,eur,device\n{text}")).unwrap();
    let mapping = format!(
        "{MAPPING}[[also]]\ncolumn = \"device\"\nkind = \"device\"\nto = [\"source\", \"target\"]\noptional = true\n"
    );
    let mut options = options(&[&file], &mapping, &file);
    options.known_bad = None;
    let out = folder.path().join("run");
    let manifest = run_into(&options, &out, false).unwrap();
    let run = RunFolder::open(&out).unwrap();
    let report = serde_json::to_value(run.part(&manifest.windows[0]).unwrap()).unwrap();
    let top = &report["listed"][0];
    assert_eq!(top["size"], 5, "{top}");
    let own: Vec<_> = rows.iter().filter(|row| ring(row)).collect();
    let with_device = own.iter().filter(|row| !row.3.is_empty()).count();
    let said: usize = top["why"].as_str().unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!([own.len(), with_device].contains(&said), "{}", top["why"]);
    // Edges have all that they link.
    let edges = top["evidence"]["edges"].as_array().unwrap();
    let counts: u64 = edges.iter().map(|edge| edge["count"].as_u64().unwrap()).sum();
    assert_eq!(counts as usize, own.len() + 2 * with_device);
    // Each is of one pair of columns, which has a name, and so has that of the sentence.
    assert_eq!(report["pairs"], serde_json::json!(["from → to", "from → device", "to → device"]));
    let links = |edge: &&serde_json::Value, pair: u32| edge["pairs"] == serde_json::json!([pair]);
    let of_pair = |pair| {
        let edges = edges.iter().filter(|edge| links(edge, pair));
        edges.map(|edge| edge["count"].as_u64().unwrap()).sum::<u64>() as usize
    };
    assert_eq!([0, 1, 2].map(of_pair), [own.len(), with_device, with_device]);
    let named = report["pairs"].as_array().unwrap().iter();
    let mut named = named.map(|pair| format!(" ({}) ", pair.as_str().unwrap()));
    assert!(named.any(|pair| top["why"].as_str().unwrap().contains(&pair)), "{}", top["why"]);
}

/// The signal of the example is in repeated transactions: amounts that fade drown it, counts to a power do not.
#[test]
fn a_weight_that_takes_most_of_the_signal_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(example("mapping.toml")).unwrap();
    for (at, weight, is_noted) in [
        (0, "count", false),
        (1, "powf(count, 1.2)", false),
        (2, "ln(1.0 + amount) * powf(0.5, age / 7.0)", true),
    ] {
        let text = text.replace("of = \"count\"", &format!("of = \"{weight}\""));
        let mut options = options(&[&example("transactions.csv.gz")], &text, &example("known.csv"));
        let days = |days: i64| ripplet_fraud::Span::of_days(days).unwrap();
        options.feed.shape = Shape::new(days(45), days(45)).unwrap();
        let out = folder.path().join(at.to_string());
        let manifest = run_into(&options, &out, false).unwrap();
        let keeps = manifest.windows[0].weight_keeps;
        assert_eq!(keeps.is_some(), weight != "count", "{keeps:?}");
        let notes = run::notes(&manifest, &manifest.windows).join("\n");
        assert_eq!(
            notes.contains("takes most of the signal"),
            is_noted,
            "{weight}: {keeps:?} {notes}"
        );
    }
}

/// The first window has too few ties to say anything; a weight that fades takes those of the second, and of the last.
#[test]
fn a_weight_that_takes_the_signal_of_a_later_window_is_noted_with_that_window() {
    let mapping = "time = \"date\"\namount = \"amount\"\n[source]\ncolumn = \"payer\"\nkind = \"account\"\n\
        [target]\ncolumn = \"payee\"\nkind = \"account\"\n[weight]\nof = \"powf(0.5, age / 2.0)\"\n";
    let mut options = options(&[&example("payments.csv")], mapping, &example("known.csv"));
    options.known_bad = None;
    let days = |days: i64| ripplet_fraud::Span::of_days(days).unwrap();
    options.feed.shape = Shape::new(days(14), days(4)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let manifest = run_into(&options, &folder.path().join("run"), false).unwrap();
    let notes = run::notes(&manifest, &manifest.windows).join("\n");
    let keeps: Vec<_> = manifest.windows.iter().map(|w| (&w.until, w.weight_keeps)).collect();
    assert_eq!(manifest.windows[0].weight_keeps, None);
    let last = manifest.windows.last().unwrap();
    assert!(last.weight_keeps.is_some_and(|keeps| keeps < 0.5), "{keeps:?}");
    assert!(notes.contains("takes most of the signal"), "{keeps:?} {notes}");
    let worst = manifest.windows.iter().filter(|w| w.weight_keeps.is_some());
    let worst = worst.min_by(|a, b| a.weight_keeps.unwrap().total_cmp(&b.weight_keeps.unwrap()));
    assert!(notes.contains(&format!("in the window of {}", worst.unwrap().days())), "{notes}");
    // Once, not for each.
    assert_eq!(notes.matches("takes most of the signal").count(), 1);
}

#[test]
fn options_are_described_in_words() {
    let days = Days::new(4);
    let manifest = run_into(&days.options(), &days.path("run"), false).unwrap();
    assert_eq!(manifest.options["order of updates"], "in 32 phases a round");
    assert_eq!(manifest.options["members of a cluster"], "3 to 100");
    let page = fs::read_to_string(days.path("run/report.html")).unwrap();
    for debug in ["Detection {", "TieRule", "Phased {", "Some(", "None,"] {
        assert!(!page.contains(debug), "{debug}");
        assert!(!manifest.options.values().any(|value| value.contains(debug)), "{debug}");
    }
}

#[test]
fn a_source_that_is_a_name_alone_says_what_is_expected() {
    let text = "time = \"at\"\nsource = \"from\"\n[target]\ncolumn = \"to\"\nkind = \"account\"\n";
    let error = Mapping::parse(text).unwrap_err().to_string();
    assert!(error.contains("expected a table with `column` and `kind`, such as {"), "{error}");
}

/// The rows of damaged data may be wrong in any way: that is no error of these rows, whichever part of the reader finds it.
#[test]
fn a_wrong_row_of_damaged_data_is_damage() {
    use flate2::write::GzEncoder;
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let (path, bad) = (folder.path().join("t.csv.gz"), folder.path().join("bad.csv"));
    fs::write(&bad, "id\na\n").unwrap();
    for wrong in ["a,s,2024-05-01,x", "a,s,2024-05-99,1", "a,s", "a,\"s,2024-05-01,1"] {
        let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::default());
        writeln!(gzip, "from,to,at,eur\na,s,2024-05-01,1\n{wrong}\na,t,2024-05-02,1").unwrap();
        let mut bytes = gzip.finish().unwrap();
        let run = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            let options = options(&[&path], MAPPING, &bad);
            run_into(&options, &folder.path().join("run"), false).unwrap_err().to_string()
        };
        let whole = run(&bytes);
        assert!(whole.contains("t.csv.gz:3: "), "{whole}");
        // The checksum of the data is before its length.
        let checksum = bytes.len() - 5;
        bytes[checksum] ^= 1;
        let damaged = run(&bytes);
        assert!(damaged.contains("t.csv.gz: ") && damaged.contains("checksum"), "{damaged}");
    }
}
