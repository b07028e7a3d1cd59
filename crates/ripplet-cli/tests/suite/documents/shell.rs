//! Runs each page's commands, in their order, in a folder that has what a clone has in `examples/`.

use super::leftovers::{Leftovers, collisions, not_ignored};
use super::page::{Block, Command, Need, blocks};
use super::{Document, root, user_pages};
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// No command of a page takes longer than this, even in a test build on a busy machine.
const PATIENCE: Duration = Duration::from_secs(240);

/// The limit on commands that no test machine can run, over all pages.
const MOST_UNTESTED: usize = 4;

/// A folder like a clone, with `ripplet` on the path.
struct Clone {
    folder: tempfile::TempDir,
}

impl Clone {
    fn new() -> Clone {
        let clone = Clone { folder: tempfile::tempdir().unwrap() };
        copy(&root().join("examples"), &clone.root().join("examples"));
        fs::create_dir(clone.folder.path().join("bin")).unwrap();
        symlink(env!("CARGO_BIN_EXE_ripplet"), clone.folder.path().join("bin/ripplet")).unwrap();
        clone
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("clone")
    }

    /// The names at the root but `examples`, sorted; those of folders end with `/`.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.root()).unwrap().map(Result::unwrap);
        let name = |entry: fs::DirEntry| {
            let end = if entry.path().is_dir() { "/" } else { "" };
            entry.file_name().into_string().unwrap() + end
        };
        let mut names: Vec<_> = entries.map(name).filter(|name| name != "examples/").collect();
        names.sort();
        names
    }

    /// Runs a line of bash, or a script of another program; returns the exit code and all that is
    /// printed.
    fn run(&self, program: &str, script: &str) -> (Option<i32>, String) {
        let printed = self.folder.path().join("printed");
        let out = File::create(&printed).unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let mpi = mpi().map(|folder| format!("{}:", folder.join("bin").display()));
        let path = format!(
            "{}:{}{path}",
            self.folder.path().join("bin").display(),
            mpi.unwrap_or_default()
        );
        let mut child = process::Command::new(program)
            .args(["-c", script])
            .current_dir(self.root())
            .env("PATH", path)
            .stdin(Stdio::null())
            .stderr(out.try_clone().unwrap())
            .stdout(out)
            .spawn()
            .unwrap_or_else(|error| panic!("{program}: {error}"));
        let code = wait(&mut child);
        (code, String::from_utf8_lossy(&fs::read(&printed).unwrap()).into_owned())
    }
}

/// The folder of an installed MPI.
fn mpi() -> Option<PathBuf> {
    let folder = std::env::var_os("RIPPLET_MPICH").map(PathBuf::from);
    let is_required = std::env::var_os("RIPPLET_REQUIRE_MPI").is_some();
    assert!(folder.is_some() || !is_required, "RIPPLET_MPICH is not set");
    folder
}

/// The exit code; none where a signal or the limit of time ended it.
fn wait(child: &mut process::Child) -> Option<i32> {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if begin.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let copied = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &copied),
            false => drop(fs::copy(&path, &copied).unwrap()),
        }
    }
}

/// Result of running a page.
#[derive(Default)]
struct Checked {
    /// Failures, a text for each command.
    wrong: Vec<String>,
    /// Number of commands that were not run.
    untested: usize,
    leftovers: Leftovers,
}

fn check(page: &Document) -> Checked {
    let clone = Clone::new();
    let (mut wrong, mut untested, mut saved) = (Vec::new(), 0, Vec::new());
    for block in blocks(&page.text) {
        let body = block.lines.join("\n") + "\n";
        if let Some(name) = &block.file {
            fs::write(clone.root().join(name), &body).unwrap();
            saved.push((name.clone(), body.clone()));
        }
        let at = |line: usize| format!("{}:{line}", page.name);
        match &*block.language {
            "sh" | "console" => {
                for command in block.commands() {
                    untested += usize::from(command.need() == Need::Other);
                    if let Err(error) = try_command(&clone, &command) {
                        wrong.push(format!("{}: {}\n{error}", at(command.line), command.text));
                    }
                }
            }
            "python" => {
                if let Err(error) = try_python(&clone, &body) {
                    wrong.push(format!("{}: the Python code\n{error}", at(block.line)));
                }
            }
            _ => wrong.extend(hidden_command(&block).map(|line| {
                format!("{}: a command in a block that is not `sh` or `console`", at(line))
            })),
        }
    }
    let leftovers = Leftovers { page: page.name.clone(), names: clone.names(), saved };
    Checked { wrong, untested, leftovers }
}

/// A line of a block of another language that is a command.
fn hidden_command(block: &Block) -> Option<usize> {
    let is_command = |line: &String| {
        let line = line.trim_start().trim_start_matches("$ ");
        ["ripplet ", "cargo "].iter().any(|program| line.starts_with(program))
    };
    block.lines.iter().position(is_command).map(|index| block.line + index)
}

fn try_command(clone: &Clone, command: &Command) -> Result<(), String> {
    let text = &command.text;
    if text.starts_with("cargo ") {
        return check_cargo(text);
    }
    let needs_gpu = matches!(command.need(), Need::Gpu | Need::MpiAndGpus);
    let needs_mpi = matches!(command.need(), Need::Mpi | Need::MpiAndGpus);
    if command.need() == Need::Other || (needs_mpi && mpi().is_none()) {
        let (code, printed) = clone.run("bash", &format!("set -n\n{text}"));
        return (code == Some(0)).then_some(()).ok_or(printed);
    }
    let mut words = text.split([' ', '\n', ';', '&', '|']);
    if let Some(word) = words.find(|word| ["cd", "export"].contains(word)) {
        return Err(format!("`{word}` does not last: each command runs in its own shell"));
    }
    let (code, printed) = clone.run("bash", &format!("set -o pipefail\n{text}"));
    let failed = |what: &str| Err(format!("{what}; exit code {code:?}; it printed:\n{printed}"));
    let about = |words: &[&str]| words.iter().any(|word| printed.contains(word));
    let is_refused = match command.need() {
        Need::Gpu | Need::MpiAndGpus => {
            code == Some(1) && about(&["NVIDIA", "GPU", "CUDA", "cuda"])
        }
        Need::Server => code != Some(0) && about(&["connect", "server"]),
        Need::Nothing | Need::Mpi | Need::Other => command.fails() && matches!(code, Some(1..=3)),
    };
    match command.missing(&printed) {
        _ if needs_gpu && is_refused => try_on_the_cpu(clone, text),
        _ if command.need() == Need::Server && is_refused => Ok(()),
        Some(line) => failed(&format!("it does not print `{line}`, in this order")),
        None if is_refused || (code == Some(0) && !command.fails()) => Ok(()),
        None if command.fails() => failed("it does not fail as shown"),
        None => failed("it fails"),
    }
}

/// Runs a command that needs a GPU without one: its files and its other options are right.
fn try_on_the_cpu(clone: &Clone, text: &str) -> Result<(), String> {
    if !text.contains("--device cuda") {
        return Ok(());
    }
    let mut words =
        text.split_whitespace().take_while(|word| *word != "#").filter(|word| *word != "\\");
    let mut on_the_cpu = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "--device" => on_the_cpu.extend(words.next().map(|_| "--device cpu")),
            "--device-memory" => drop(words.next()),
            word => on_the_cpu.push(word),
        }
    }
    let text = on_the_cpu.join(" ");
    let (code, printed) = clone.run("bash", &text);
    (code == Some(0)).then_some(()).ok_or(format!("on the CPU, {text}: it printed:\n{printed}"))
}

/// Building takes minutes: that what a command names exists is all that is checked.
fn check_cargo(text: &str) -> Result<(), String> {
    let text = text.split(" -- ").next().unwrap_or(text);
    let words: Vec<_> = text.split_whitespace().take_while(|word| *word != "#").collect();
    let file = |path: String| match root().join(&path).exists() {
        true => Ok(()),
        false => Err(format!("there is no {path}")),
    };
    let known = ["build", "run", "test", "install", "xtask", "bench"];
    if !words.get(1).is_some_and(|command| known.contains(command)) {
        return Err(format!("cargo knows {known:?} here"));
    }
    for pair in words.windows(2) {
        match pair {
            ["-p", "ripplet-bench"] => {}
            ["-p", name] => file(format!("crates/{name}/Cargo.toml"))?,
            ["--path", path] => file(format!("{path}/Cargo.toml"))?,
            ["--example", name] => file(format!("examples/{name}.rs"))?,
            ["--bin", name] => file(format!("bench/src/bin/{name}.rs"))?,
            ["xtask", name] => file(format!("xtask/src/{}.rs", name.replace('-', "_")))?,
            _ => {}
        }
    }
    Ok(())
}

/// Runs Python code; where a package is missing that it imports, checks its grammar.
fn try_python(clone: &Clone, code: &str) -> Result<(), String> {
    let (has_python, _) = clone.run("bash", "python3 -c 1");
    if has_python != Some(0) {
        assert!(std::env::var_os("CI").is_none(), "CI has Python");
        return Ok(());
    }
    let (code_of_run, printed) = clone.run("python3", code);
    if code_of_run == Some(0) {
        return Ok(());
    }
    if printed.contains("ModuleNotFoundError") {
        fs::write(clone.folder.path().join("page.py"), code).unwrap();
        let parse = "import ast; ast.parse(open('../page.py').read())";
        let (parsed, printed) = clone.run("python3", parse);
        return (parsed == Some(0)).then_some(()).ok_or(printed);
    }
    Err(printed)
}

#[test]
fn every_command_runs_as_the_page_shows_it() {
    let mut pages = user_pages();
    // One page while it is written: RIPPLET_PAGE=docs/fraud.md.
    if let Ok(only) = std::env::var("RIPPLET_PAGE") {
        pages.retain(|page| page.name == only);
        assert_eq!(pages.len(), 1, "{only} is no page");
    }
    let (next, checked) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(page) = pages.get(next.fetch_add(1, Relaxed)) {
            let begin = Instant::now();
            let of_page = check(page);
            println!("{} in {:.1} s", page.name, begin.elapsed().as_secs_f64());
            checked.lock().unwrap().push(of_page);
        }
    };
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    let checked = checked.into_inner().unwrap();
    let wrong: Vec<_> = checked.iter().flat_map(|page| page.wrong.iter().cloned()).collect();
    assert!(wrong.is_empty(), "{} commands:\n\n{}", wrong.len(), wrong.join("\n\n"));
    let untested: usize = checked.iter().map(|page| page.untested).sum();
    assert!(untested <= MOST_UNTESTED, "{untested} commands need what no test has");
    check_leftovers(checked.into_iter().map(|page| page.leftovers).collect());
}

/// Pages can be followed in one clone, and leave nothing there that `git status` shows.
fn check_leftovers(mut all: Vec<Leftovers>) {
    all.sort_by(|a, b| a.page.cmp(&b.page));
    let together = collisions(&all);
    assert!(together.is_empty(), "in one clone:\n{}", together.join("\n"));
    let gitignore = fs::read_to_string(root().join(".gitignore")).unwrap();
    for Leftovers { page, names, .. } in &all {
        let shown = not_ignored(names, &gitignore);
        assert!(shown.is_empty(), "{page} leaves what .gitignore lacks: {shown:?}");
    }
}

#[test]
fn a_page_with_a_wrong_command_is_found_out() {
    for (text, part) in [
        ("```sh\nripplet lcc nowhere.csv -o x.tsv\n```\n", "p.md:2: ripplet lcc"),
        ("```sh\n\nripplet devices --nonsense\n```\n", "p.md:3: ripplet devices"),
        ("```console\n$ ripplet devices\nno such line\n```\n", "does not print `no such line`"),
        ("```console\n$ ripplet devices\nerror: no\n```\n", "does not print `error: no`"),
        ("```\nripplet devices\n```\n", "not `sh` or `console`"),
        ("```sh\ncargo build -p unknown\n```\n", "no crates/unknown/Cargo.toml"),
        ("```sh\nripplet devices --nonsense  # needs a GPU\n```\n", "exit code Some(2)"),
        ("```sh\nripplet lcc no.txt -o o.tsv --device cuda  # needs a GPU\n```\n", "no.txt"),
        ("```sh\nexport A=1\n```\n", "does not last"),
        ("```python\nraise ValueError(7)\n```\n", "ValueError"),
        ("```sh\nfor  # needs the network\n```\n", "syntax error"),
    ] {
        let page = Document { name: "p.md".into(), text: text.into() };
        let Checked { wrong, .. } = check(&page);
        assert_eq!(wrong.len(), 1, "{text}: {wrong:?}");
        assert!(wrong[0].contains(part), "{text}: {wrong:?}");
    }
    let right = "```sh\nripplet devices > d.txt\ncat d.txt\n```\n";
    let checked = check(&Document { name: "p.md".into(), text: right.into() });
    assert!(checked.wrong.is_empty(), "{:?}", checked.wrong);
    assert_eq!(checked.leftovers.names, ["d.txt"]);
}
