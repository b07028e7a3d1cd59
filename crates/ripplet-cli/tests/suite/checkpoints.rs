//! Runs that are killed at any moment, go on, and write what they would have written.

use crate::driver::{FAKE, FAKE_NVRTC, compiler, driver, run};
use crate::sandbox::{Said, Sandbox};
use serde_json::Value;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longer than any run here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The names in a folder of a sandbox, those of leftovers as well.
fn names(sandbox: &Sandbox, folder: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(sandbox.path(folder)) else { return Vec::new() };
    let names = entries.filter_map(Result::ok).map(|entry| entry.file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

/// The rounds after which there are checkpoints.
fn rounds(sandbox: &Sandbox, folder: &str) -> Vec<u32> {
    let number = |name: String| {
        name.strip_prefix("round-")?.strip_suffix(".checkpoint")?.parse::<u32>().ok()
    };
    names(sandbox, folder).into_iter().filter_map(number).collect()
}

fn newest(sandbox: &Sandbox) -> u32 {
    rounds(sandbox, "kept").into_iter().max().unwrap_or(0)
}

/// Numbers that look drawn.
struct Draws(u64);

impl Draws {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % end
    }
}

/// Waits until a process has finished `rounds` more rounds, and a moment more. Returns whether it still runs.
fn comes_further(sandbox: &Sandbox, child: &mut Child, rounds: u32, moment: Duration) -> bool {
    let (start, before) = (Instant::now(), newest(sandbox));
    while newest(sandbox) < before + rounds {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        assert!(start.elapsed() < PATIENCE, "no round is done");
        sleep(Duration::from_micros(300));
    }
    sleep(moment);
    true
}

/// Runs a command, kills it again and again, and lets it go on; returns how often it was killed, and its
/// statistics.
fn killed_until_done(sandbox: &Sandbox, flags: &str, draws: &mut Draws) -> (u32, Value) {
    let line = format!(
        "communities graph.rg -o out.txt --stats s.json --device cpu {flags} --checkpoint kept \
         --checkpoint-every 1 --resume"
    );
    let mut kills = 0;
    loop {
        let mut child = sandbox.command(&line).stderr(Stdio::piped()).spawn().unwrap();
        let (further, moment) = (1 + draws.below(9) as u32, draws.below(30_000));
        if comes_further(sandbox, &mut child, further, Duration::from_micros(moment)) {
            // SIGKILL: nothing is tidied.
            child.kill().unwrap();
            kills += 1;
        }
        let output = child.wait_with_output().unwrap();
        match output.status.code() {
            Some(0) => return (kills, sandbox.json("s.json")),
            None => assert!(names(sandbox, "kept").len() <= 4, "{:?}", names(sandbox, "kept")),
            Some(_) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        }
    }
}

#[test]
fn killed_at_any_moment() {
    let mut draws = Draws(7);
    for (graph, flags) in [
        ("social --scale 12", "--program slpa --iterations 40"),
        ("social --scale 12", "--program llp --gamma 1 --schedule sync --iterations 40 --seed 5"),
        ("road --scale 13", "--program cdlp --iterations 120 --threads 1"),
    ] {
        let sandbox = Sandbox::new();
        sandbox.ok(&format!("generate {graph} -o graph.rg"));
        let whole = "communities graph.rg -o whole.txt --stats whole.json --device cpu";
        sandbox.ok(&format!("{whole} {flags}"));
        let (kills, stats) = killed_until_done(&sandbox, flags, &mut draws);
        let whole = sandbox.json("whole.json");
        println!("{flags}: killed {kills} times, {} rounds", whole["iterations"]);
        assert!(kills >= 3, "{flags}: {kills}");
        assert!(sandbox.read("out.txt") == sandbox.read("whole.txt"), "{flags}");
        for name in ["iterations", "changed", "visited", "edges_scanned", "stop", "modularity"] {
            assert_eq!(stats[name], whole[name], "{flags}: {name}");
        }
        assert!(stats["checkpoints"]["resumed_after"].as_u64().unwrap() >= 3);
        assert_eq!(whole["checkpoints"], Value::Null);
        assert_eq!(names(&sandbox, "kept"), [""; 0], "{flags}");
    }
}

#[test]
fn an_interrupt_leaves_what_was_kept() {
    let sandbox = Sandbox::new();
    sandbox.ok("generate road --scale 13 -o graph.rg");
    let line = "communities graph.rg -o out.txt --device cpu --program slpa --iterations 4000000000 \
                --checkpoint kept --checkpoint-every 2";
    let mut child = sandbox.command(line).stderr(Stdio::piped()).spawn().unwrap();
    assert!(comes_further(&sandbox, &mut child, 4, Duration::from_millis(3)));
    // Not Ctrl-C's signal: a shell that starts these tests in the background has it ignored.
    let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let said = Said::of(child.wait_with_output().unwrap());
    said.must_fail(
        line,
        143,
        &["interrupted; nothing was written; the run can --resume after round"],
    );
    let kept = rounds(&sandbox, "kept");
    assert!(kept.len() == 2 && names(&sandbox, "kept").len() == 2, "{:?}", names(&sandbox, "kept"));
    assert!(said.error.trim_end().ends_with(&kept[1].to_string()), "{said:?}: {kept:?}");
}

/// A graph whose vertices remember for as long as they are asked to.
const RING: &str = "0 1\n1 2\n2 3\n3 4\n4 0\n0 2\n";

/// A sandbox with a run that could not keep its third state and has two, and what it would have found.
fn stopped() -> Sandbox {
    let sandbox = Sandbox::with([("graph.txt", RING)]);
    sandbox.ok(&format!("communities graph.txt -o whole.txt --device cpu {SLPA}"));
    fs::create_dir(sandbox.path("kept")).unwrap();
    let full = sandbox.path("kept/round-0000000006.checkpoint");
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    let parts = [
        "the state after round 6 could not be kept",
        "No space left on device",
        "what was kept before stands",
        "--resume",
    ];
    sandbox.fails(&format!("{RUN} {SLPA}"), 1, &parts);
    fs::remove_file(full).unwrap();
    assert_eq!(rounds(&sandbox, "kept"), [2, 4]);
    assert_eq!(names(&sandbox, "kept").len(), 2);
    sandbox
}

const SLPA: &str = "--program slpa --iterations 9";
const RUN: &str = "communities graph.txt -o out.txt --stats s.json --device cpu --checkpoint kept \
                   --checkpoint-every 2";

#[test]
fn a_full_disk_leaves_what_was_kept() {
    let sandbox = stopped();
    let said = sandbox.run(&format!("{RUN} {SLPA} --resume"));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.error.contains("note: going on after round 4, from kept/round-0000000004"));
    assert_eq!(sandbox.read("out.txt"), sandbox.read("whole.txt"));
    let figures = &sandbox.json("s.json")["checkpoints"];
    assert_eq!((&figures["written"], &figures["resumed_after"]), (&2.into(), &4.into()));
    assert!(figures["bytes"].as_u64().unwrap() > 500, "{figures}");
    assert!(figures["seconds"].as_f64().unwrap() > 0.0, "{figures}");
    // The folder was there before the runs, and stays.
    assert_eq!(sandbox.names(), ["graph.txt", "kept", "out.txt", "s.json", "whole.txt"]);
    assert_eq!(names(&sandbox, "kept"), [""; 0]);
}

/// A run whose checkpoints grow with its rounds, on a disk that is full at one of them.
#[test]
fn a_disk_that_fills_up_leaves_what_was_kept() {
    const SLPA: &str = "--program slpa --iterations 60";
    let sandbox = Sandbox::with([("graph.txt", RING), ("out.txt", "old\n"), ("s.json", "old\n")]);
    sandbox.ok(&format!("communities graph.txt -o whole.txt --device cpu {SLPA}"));
    let run = RUN.replace("--checkpoint-every 2", "--checkpoint-every 1");
    let fails = |blocks: u64, line: &str, round: u32| {
        let said = sandbox.run_with_blocks(blocks, line);
        let sentence = format!(
            "the state after round {round} could not be kept: kept/round-{round:010}.checkpoint: File too large"
        );
        said.must_fail(line, 1, &[&sentence, "what was kept before stands", "--resume"]);
        assert_eq!(
            (sandbox.read("out.txt"), sandbox.read("s.json")),
            ("old\n".into(), "old\n".into())
        );
    };
    // Not even the first: the folder that was made for the run goes with it.
    fails(0, &format!("{run} {SLPA}"), 1);
    assert_eq!(sandbox.names(), ["graph.txt", "out.txt", "s.json", "whole.txt"]);

    let size = |round: u32| {
        let path = sandbox.path(&format!("kept/round-{round:010}.checkpoint"));
        fs::metadata(path).unwrap().len()
    };
    let said = sandbox.run_with_blocks(6, &format!("{run} {SLPA}"));
    assert_eq!(said.code, Some(1), "{said:?}");
    let last = newest(&sandbox);
    assert!(last > 5 && size(last) <= 6 * 512, "{said:?}");
    assert_eq!((rounds(&sandbox, "kept").len(), names(&sandbox, "kept").len()), (2, 2));
    let both = || {
        [last - 1, last].map(|round| {
            fs::read(sandbox.path(&format!("kept/round-{round:010}.checkpoint"))).unwrap()
        })
    };
    let kept = both();
    // Going on changes nothing as long as there is no room.
    fails(6, &format!("{run} {SLPA} --resume"), last + 1);
    fails(0, &format!("{run} {SLPA} --resume"), last + 1);
    assert!(both() == kept && names(&sandbox, "kept").len() == 2);

    let said = sandbox.run(&format!("{run} {SLPA} --resume"));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.error.contains(&format!("note: going on after round {last}")), "{said:?}");
    assert_eq!(sandbox.read("out.txt"), sandbox.read("whole.txt"));
    assert_eq!(names(&sandbox, "kept"), [""; 0]);
}

/// The communities do not fit, but the states do: those of the last round stand, too.
#[test]
fn communities_that_cannot_be_written_cost_no_round() {
    let name = |vertex: &str| vertex.repeat(1000);
    let rows = RING.lines().map(|row| {
        let (source, target) = row.split_once(' ').unwrap();
        format!("{}\t{}\n", name(source), name(target))
    });
    let sandbox = Sandbox::with([("graph.tsv", &*rows.collect::<String>())]);
    let run = "communities graph.tsv --ids names --device cpu --iterations 5";
    sandbox.ok(&format!("{run} -o whole.csv"));
    let line = format!("{run} -o out.csv --checkpoint kept --checkpoint-every 1");
    let said = sandbox.run_with_blocks(8, &line);
    said.must_fail(&line, 1, &["cannot write out.csv: File too large"]);
    assert_eq!(sandbox.names(), ["graph.tsv", "kept", "whole.csv"]);
    let kept = newest(&sandbox);
    assert!(kept >= 1 && names(&sandbox, "kept").len() <= 2, "{:?}", names(&sandbox, "kept"));
    let said = sandbox.run(&format!("{line} --resume"));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.error.contains(&format!("note: going on after round {kept}")), "{said:?}");
    assert_eq!(sandbox.read("out.csv"), sandbox.read("whole.csv"));
    assert_eq!(names(&sandbox, "kept"), [""; 0]);
}

#[test]
fn a_refinement_goes_on_after_an_iteration() {
    let name = |vertex: &str| vertex.repeat(1000);
    let rows = RING.lines().map(|row| {
        let (source, target) = row.split_once(' ').unwrap();
        format!("{}\t{}\n", name(source), name(target))
    });
    let sandbox = Sandbox::with([("graph.tsv", &*rows.collect::<String>())]);
    let run = "communities graph.tsv --ids names --refine modularity";
    sandbox.ok(&format!("{run} -o whole.csv --stats whole.json"));
    let line = format!("{run} -o out.csv --stats s.json --checkpoint kept --checkpoint-every 1");
    sandbox.run_with_blocks(8, &line).must_fail(
        &line,
        1,
        &["cannot write out.csv: File too large"],
    );
    let kept = newest(&sandbox);
    assert!(kept >= 1, "{:?}", names(&sandbox, "kept"));
    let parts = ["another run", "resolution: auto there, 1 here"];
    sandbox.fails(&format!("{line} --resume --resolution 1"), 2, &parts);
    let said = sandbox.run(&format!("{line} --resume --threads 1"));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.error.contains(&format!("note: going on after round {kept}")), "{said:?}");
    assert_eq!(sandbox.read("out.csv"), sandbox.read("whole.csv"));
    let (whole, found) = (sandbox.json("whole.json"), sandbox.json("s.json"));
    for name in ["changed", "visited", "edges_scanned", "stop", "modularity"] {
        assert_eq!(found[name], whole[name], "{name}");
    }
    for name in ["resolution", "iterations", "arcs_read", "round_levels", "round_iterations"] {
        assert_eq!(found["refinement"][name], whole["refinement"][name], "{name}");
    }
    assert_eq!(found["checkpoints"]["resumed_after"], kept);
    assert_eq!(names(&sandbox, "kept"), [""; 0]);
}

#[test]
fn threads_and_storage_may_be_others() {
    for flags in ["--threads 1", "--storage compressed", "--storage compressed --threads 3"] {
        let sandbox = stopped();
        let said = sandbox.run(&format!("{RUN} {SLPA} --resume {flags}"));
        assert!(said.error.contains("note: going on after round 4"), "{flags}: {said:?}");
        assert_eq!(sandbox.read("out.txt"), sandbox.read("whole.txt"), "{flags}");
    }
}

#[test]
fn where_a_gpu_fails_the_cpu_goes_on() {
    let sandbox = stopped();
    driver(&sandbox, FAKE);
    compiler(&sandbox, FAKE_NVRTC);
    let line = format!("{RUN} {SLPA} --resume").replace("--device cpu", "--device auto");
    let said = run(&sandbox, &line, &[("FAKE_LAUNCHES", "2")]);
    assert_eq!(said.code, Some(0), "{said:?}");
    for part in ["running on the CPU: the GPU failed", "going on after round 4"] {
        assert!(said.error.contains(part), "no `{part}` in {said:?}");
    }
    assert_eq!(sandbox.read("out.txt"), sandbox.read("whole.txt"));
    assert_eq!(sandbox.json("s.json")["checkpoints"]["resumed_after"], 4);
}

#[test]
fn damaged_checkpoints() {
    let sandbox = stopped();
    let place = |round: u32| sandbox.path(&format!("kept/round-{round:010}.checkpoint"));
    let mut bytes = fs::read(place(4)).unwrap();
    bytes[300] ^= 1;
    fs::write(place(4), &bytes).unwrap();
    let said = sandbox.run(&format!("{RUN} {SLPA} --resume"));
    assert_eq!(said.code, Some(0), "{said:?}");
    let damaged = "note: kept/round-0000000004.checkpoint at byte 64: the state: the bytes up to";
    for part in [damaged, "taking the checkpoint before", "note: going on after round 2"] {
        assert!(said.error.contains(part), "no `{part}` in {said:?}");
    }
    assert!(!said.error.contains("convert"), "checkpoints cannot be converted: {said:?}");
    assert_eq!(sandbox.read("out.txt"), sandbox.read("whole.txt"));

    let sandbox = stopped();
    for round in [2, 4] {
        let place = sandbox.path(&format!("kept/round-{round:010}.checkpoint"));
        let bytes = fs::read(&place).unwrap();
        fs::write(&place, &bytes[..bytes.len() / 2]).unwrap();
    }
    let parts = ["no checkpoint is whole: kept/round-0000000004", "cut short", "to begin anew"];
    sandbox.fails(&format!("{RUN} {SLPA} --resume"), 2, &parts);
    assert_eq!(rounds(&sandbox, "kept"), [2, 4]);
}

#[test]
fn another_run_is_refused_with_what_differs() {
    let sandbox = stopped();
    let parts = ["kept has a checkpoint of a run, after round 4", "--resume", "another folder"];
    sandbox.fails(&format!("{RUN} {SLPA}"), 2, &parts);
    let refused = |flags: &str, parts: &[&str]| {
        sandbox.fails(&format!("{RUN} --resume {flags}"), 2, parts);
    };
    refused(
        &format!("{SLPA} --seed 3"),
        &["is a checkpoint of another run: seed: 0 there, 3 here"],
    );
    refused(&format!("{SLPA} --memory 3"), &["parameters: 8 there, 3 here"]);
    refused(&format!("{SLPA} --schedule sync"), &["schedule: phased there, sync here"]);
    refused("", &["another run: program: slpa there, lpa here; phases: 32 there, 8 here\n"]);
    refused(&format!("{SLPA} --directed"), &["direction: undirected there, directed here"]);
    let ended = ["the checkpoint is of round 4, but by these rules the run ends after round 3"];
    refused("--program slpa --iterations 3", &ended);
    sandbox.write("graph.txt", format!("{RING}1 4\n"));
    refused(SLPA, &["arcs: 12 there, 14 here; graph: "]);
    assert_eq!(rounds(&sandbox, "kept"), [2, 4]);
    sandbox.write("graph.txt", RING);
    sandbox.ok(&format!("{RUN} {SLPA} --resume"));
    assert_eq!(sandbox.read("out.txt"), sandbox.read("whole.txt"));
}

#[test]
fn a_program_of_ones_own_is_known_by_its_text() {
    let program = |weight: u64| {
        format!(
            "#[label_program]\nmod own {{\n    pub struct Own;\n    impl Program for Own {{\n        \
             type Score = u64;\n        fn name(&self) -> &str {{\n            \"own\"\n        }}\n        \
             fn label_score(&self, _v: Vertex<'_>, c: Candidate<'_>) -> u64 {{\n            \
             c.frequency * {weight}\n        }}\n    }}\n}}\n"
        )
    };
    let sandbox = Sandbox::new();
    sandbox.ok("generate road --scale 10 -o graph.rg");
    sandbox.write("own.rs", program(1));
    fs::create_dir(sandbox.path("kept")).unwrap();
    let full = sandbox.path("kept/round-0000000003.checkpoint");
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    let run = "communities graph.rg -o out.txt --device cpu --program-file own.rs --checkpoint kept \
               --checkpoint-every 1";
    sandbox.fails(run, 1, &["the state after round 3"]);
    fs::remove_file(full).unwrap();
    sandbox.write("own.rs", program(2));
    sandbox.fails(&format!("{run} --resume"), 2, &["another run: program's text: "]);
    sandbox.write("own.rs", program(1));
    sandbox.ok(&format!("{run} --resume"));
}

#[test]
fn nothing_to_go_on_from_is_a_beginning() {
    let sandbox = Sandbox::with([("graph.txt", RING)]);
    let said = sandbox.run(&format!("{RUN} {SLPA} --resume"));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.error.contains("note: kept has no checkpoint: the run begins"), "{said:?}");
    assert_eq!(sandbox.json("s.json")["checkpoints"]["resumed_after"], Value::Null);
    assert_eq!(sandbox.json("s.json")["checkpoints"]["written"], 4);
    // The folder was made for the run alone.
    assert_eq!(sandbox.names(), ["graph.txt", "out.txt", "s.json"]);
    // An estimate keeps nothing.
    sandbox.ok("communities graph.txt --estimate --device cpu --checkpoint kept");
    assert_eq!(sandbox.names().len(), 3);
}

#[test]
fn where_it_makes_no_sense() {
    let sandbox =
        Sandbox::with([("graph.txt", RING), ("file", ""), ("b.csv", "graph,source,target\n")]);
    let refused = |flags: &str, parts: &[&str]| {
        sandbox.fails(&format!("communities graph.txt -o out.txt {flags}"), 2, parts);
    };
    refused("--resume", &["--checkpoint"]);
    refused("--checkpoint-every 3", &["--checkpoint"]);
    refused("--checkpoint kept --checkpoint-every 0", &["expected rounds (10) or a time (30s"]);
    refused("--checkpoint kept --program llp --sweep 3", &["--sweep is many runs"]);
    refused("--checkpoint kept --counter auto", &["--counter auto", "name the counter"]);
    let profile = "--checkpoint kept --refine modularity --resolution-profile p.csv";
    refused(profile, &["--resolution-profile is many runs"]);
    refused("--checkpoint out.txt", &["out.txt is named twice"]);
    refused("--checkpoint file", &["cannot write file: "]);
    refused("--checkpoint no/where", &["cannot write no/where: "]);
    // Found before the input is read, which does not exist; not even root makes files there.
    let there = "communities none.txt -o out.txt --checkpoint /proc";
    sandbox.fails(there, 2, &["cannot write /proc: "]);
    let batch = "communities b.csv --batch -o out.csv --checkpoint kept";
    sandbox.fails(batch, 2, &["--checkpoint keeps the state of one run, but the input is a batch"]);
    refused("--checkpoint kept --labels nowhere.txt", &["nowhere.txt"]);
}
