//! Ctrl-C and SIGTERM, at every stage: the process ends within a second, with code 130 or 143 and no
//! half-written file.
#![cfg(target_os = "linux")]

use crate::sandbox::{PATIENCE, Said, Sandbox, wait_for};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The command, as `/proc` names it.
static BINARY: LazyLock<PathBuf> =
    LazyLock::new(|| fs::canonicalize(env!("CARGO_BIN_EXE_ripplet")).unwrap());

/// Longest time until an interrupted command ends.
const LIMIT: Duration = Duration::from_secs(1);

/// The exit code of a process that a signal ended, as shells have it.
fn code_of(signal: &str) -> i32 {
    match signal {
        "-HUP" => 129,
        "-INT" => 130,
        _ => 143,
    }
}

/// Starts a command, and waits until it listens to signals.
fn start(sandbox: &Sandbox, arguments: &str, stdin: Stdio) -> Child {
    let mut command = with_default_signals(env!("CARGO_BIN_EXE_ripplet"));
    command.args(arguments.split_whitespace()).current_dir(sandbox.path(""));
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    wait_for("the handler", || catches_ctrl_c(&child).then_some(()));
    child
}

/// A program for which no signal is ignored, as Ctrl-C is where these tests run in a shell's background.
fn with_default_signals(program: &str) -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal", program]);
    command
}

/// Whether the process is the command, and has installed its handlers. A shell that is to become the command catches
/// Ctrl-C, too, before it has set its traps: a signal to it would end it.
fn catches_ctrl_c(child: &Child) -> bool {
    let program = fs::read_link(format!("/proc/{}/exe", child.id())).unwrap_or_default();
    if program != *BINARY {
        return false;
    }
    let status = format!("/proc/{}/status", child.id());
    let text = fs::read_to_string(&status).unwrap_or_default();
    let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_some_and(|mask| mask & 0b10 != 0)
}

/// Sends a signal; what the process said, and how long it took to end.
fn signal(child: Child, signal: &str) -> (Said, Duration) {
    let sent = Instant::now();
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    (Said::of(output), sent.elapsed())
}

/// Processor seconds that a process has used, in hundredths.
fn ticks(child: &Child) -> u64 {
    let text = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn while_reading() {
    for name in ["-INT", "-TERM", "-HUP"] {
        let sandbox = Sandbox::new();
        let mut child = start(&sandbox, "communities - -o out.txt --stats s.json", Stdio::piped());
        // More is expected, and does not come.
        let mut stdin = child.stdin.take().unwrap();
        let written = stdin.write_all(b"1 2\n2 3\n");
        let (said, time) = signal(child, name);
        assert!(written.is_ok(), "{written:?}: {said:?}");
        said.must_fail(name, code_of(name), &["interrupted; nothing was written"]);
        assert!(time < LIMIT, "{name}: {time:?}");
        assert_eq!(said.error.lines().count(), 1, "{said:?}");
        assert!(sandbox.names().is_empty(), "{:?}", sandbox.names());
    }
}

#[test]
fn while_computing() {
    // The hub and the leaves of a star swap their labels for ever.
    let star: String = (1..200_000).map(|leaf| format!("0 {leaf}\n")).collect();
    let sandbox = Sandbox::with([("star.txt", &star)]);
    for schedule in [
        "--schedule sync --iterations 4000000000 --guard 0",
        "--program cdlp --iterations 4000000000",
    ] {
        let run = format!("communities star.txt -o out.txt --stats s.json --device cpu {schedule}");
        let child = start(&sandbox, &run, Stdio::null());
        // Reading takes a tenth of this.
        wait_for("the run", || (ticks(&child) > 100).then_some(()));
        let (said, time) = signal(child, "-INT");
        said.must_fail(schedule, 130, &["interrupted; nothing was written"]);
        assert!(time < LIMIT, "{schedule}: {time:?}");
        assert_eq!(said.error.lines().count(), 2, "{said:?}");
        assert_eq!(sandbox.names(), ["star.txt"]);
    }
}

#[test]
fn while_finding_coefficients() {
    let sandbox = Sandbox::new();
    // All vertices know each other: few bytes to read, and triangles for a long time.
    let clique = |n: u32| (0..n).flat_map(move |u| (u + 1..n).map(move |v| (u, v)));
    let text: String = clique(2_500).map(|(u, v)| format!("{u} {v}\n")).collect();
    sandbox.write("clique.txt", text);
    sandbox.ok("convert clique.txt clique.rg");
    sandbox.write("out.txt", "old\n");
    for name in ["-INT", "-TERM"] {
        let run = "lcc clique.rg -o out.txt --stats s.json --threads 1 --device cpu";
        let child = start(&sandbox, run, Stdio::null());
        wait_for("the run", || (ticks(&child) > 30).then_some(()));
        let (said, time) = signal(child, name);
        said.must_fail(name, code_of(name), &["interrupted; nothing was written"]);
        assert!(time < LIMIT, "{name}: {time:?}");
        assert_eq!(said.error.lines().count(), 1, "{said:?}");
        assert_eq!(sandbox.names(), ["clique.rg", "clique.txt", "out.txt"]);
        assert_eq!(sandbox.read("out.txt"), "old\n");
    }
}

#[test]
fn while_a_batch_is_read_asked_and_written() {
    let sandbox = Sandbox::new();
    let rings = (0..300).flat_map(|graph| (0..800).map(move |v| (graph, v, (v + 1) % 800)));
    let rows: String = rings.map(|(graph, u, v)| format!("{graph},{u},{v}\n")).collect();
    sandbox.write("rings.csv", format!("graph,source,target\n{rows}"));
    sandbox.write("out.csv.gz", "old\n");
    let unfinished = || sandbox.names().iter().any(|name| name.ends_with(".part"));
    for command in ["apsp", "betweenness"] {
        let input = "rings.csv --batch --threads 1 --device cpu";
        let run = format!("{command} {input} -o out.csv.gz --stats s.json");
        let mut child = start(&sandbox, &run, Stdio::null());
        assert!(unfinished_after_reading(&mut child, unfinished), "{command} is long");
        let (said, time) = signal(child, "-INT");
        said.must_fail(command, 130, &["interrupted; nothing was written"]);
        assert!(time < LIMIT, "{command}: {time:?}");
        assert_eq!(said.error.lines().count(), 1, "{said:?}");
        assert_eq!(sandbox.names(), ["out.csv.gz", "rings.csv"]);
        assert_eq!(sandbox.read("out.csv.gz"), "old\n");
    }
}

#[test]
fn while_writing() {
    let sandbox = Sandbox::new();
    sandbox.ok("generate road --scale 20 -o a.rg");
    let names = || sandbox.names();
    let unfinished = || names().iter().any(|name| name.ends_with(".part"));
    let mut child = start(&sandbox, "convert a.rg out.csv.gz --threads 1", Stdio::null());
    // The place is tried at the start: what is waited for is the second time.
    let begun = unfinished_after_reading(&mut child, unfinished);
    let (said, time) = match begun {
        true => signal(child, "-INT"),
        false => (Said::of(child.wait_with_output().unwrap()), Duration::ZERO),
    };
    assert!(time < LIMIT, "{time:?}");
    if said.code == Some(0) {
        // It was nearly done, and finished within its time.
        assert_eq!(names(), ["a.rg", "out.csv.gz"]);
        sandbox.ok("info out.csv.gz");
    } else {
        said.must_fail("convert", 130, &["interrupted; nothing was written"]);
        assert_eq!(names(), ["a.rg"]);
    }
}

/// Waits until an output is being written; false if it is written already.
fn unfinished_after_reading(child: &mut Child, unfinished: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < PATIENCE && child.try_wait().unwrap().is_none() {
        if ticks(child) > 10 && unfinished() {
            return true;
        }
        sleep(Duration::from_millis(1));
    }
    false
}

#[test]
fn what_is_to_be_ignored_is_ignored() {
    let sandbox = Sandbox::new();
    let binary = env!("CARGO_BIN_EXE_ripplet");
    // As `nohup` starts it.
    let line = format!("trap '' HUP; exec {binary} communities - -o out.txt");
    let mut command = with_default_signals("sh");
    command.args(["-c", &line]).current_dir(sandbox.path("")).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("the handler", || catches_ctrl_c(&child).then_some(()));
    let mut stdin = child.stdin.take().unwrap();
    let kill = Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    sleep(Duration::from_millis(900));
    let written = stdin.write_all(b"1 2\n");
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let status = output.status;
    let said = Said::of(output);
    assert!(written.is_ok() && status.success(), "{written:?}, {status}: {said:?}");
    assert_eq!(sandbox.names(), ["out.txt"]);
}
