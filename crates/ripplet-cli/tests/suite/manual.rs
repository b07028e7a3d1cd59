//! `ripplet completions`, `ripplet man`, and the exit codes that the manual lists.

use crate::sandbox::{Sandbox, data};
use std::fs;
use std::process::Command;

/// The commands that `ripplet COMMAND --help` lists.
fn commands_of(sandbox: &Sandbox, command: &str) -> Vec<String> {
    let help = sandbox.ok(&format!("{command} --help"));
    let Some((_, list)) = help.split_once("\nCommands:\n") else { return Vec::new() };
    let lines = list.lines().take_while(|line| line.starts_with("  "));
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").map(str::to_owned).collect()
}

#[test]
fn each_shell_has_a_script_with_every_command_and_option() {
    let sandbox = Sandbox::new();
    let commands = commands_of(&sandbox, "");
    assert!(commands.len() > 15, "{commands:?}");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = sandbox.ok(&format!("completions {shell}"));
        for command in &commands {
            assert!(script.contains(command.as_str()), "{shell} does not complete {command}");
        }
        assert!(script.contains("program-file"), "{shell} does not complete --program-file");
    }
    sandbox.fails("completions tcsh", 2, &["tcsh", "bash", "zsh"]);
}

#[test]
fn bash_completes_with_the_script() {
    let sandbox = Sandbox::new();
    sandbox.write("ripplet.bash", sandbox.ok("completions bash"));
    let complete = |words: &str| -> Vec<String> {
        let line = format!(
            "source ./ripplet.bash; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _ripplet ripplet \"${{COMP_WORDS[COMP_CWORD]}}\"; echo ${{COMPREPLY[@]}}"
        );
        let folder = sandbox.path("");
        let ran = Command::new("bash").args(["-c", &line]).current_dir(folder).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        String::from_utf8(ran.stdout).unwrap().split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(complete("ripplet commun"), ["communities"]);
    assert!(complete("ripplet communities --sche").contains(&"--schedule".to_owned()));
    assert_eq!(complete("ripplet fraud ev"), ["evaluate"]);
}

#[test]
fn every_command_has_a_manual_page_with_its_options() {
    let sandbox = Sandbox::new();
    let said = sandbox.run("man -o pages");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(said.out, "");
    let mut expected = vec!["ripplet.1".to_owned()];
    for command in commands_of(&sandbox, "") {
        expected.push(format!("ripplet-{command}.1"));
        let below = commands_of(&sandbox, &command);
        expected.extend(below.iter().map(|sub| format!("ripplet-{command}-{sub}.1")));
    }
    expected.sort();
    let entries = fs::read_dir(sandbox.path("pages")).unwrap();
    let mut pages: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    pages.sort();
    assert_eq!(pages, expected);
    assert!(pages.len() > 30, "{pages:?}");
    for page in &pages {
        let name = page.strip_suffix(".1").unwrap();
        let text = sandbox.read(&format!("pages/{page}"));
        let command = name.strip_prefix("ripplet").unwrap().replace('-', " ");
        assert_eq!(sandbox.ok(&format!("man{command}")), text, "{page}");
        for part in [".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS", "EXIT STATUS"] {
            assert!(text.contains(part), "{page} has no {part}");
        }
        assert!(text.contains(&format!(".TH {name} 1")), "{page} has another title");
        let help = sandbox.ok(&format!("{command} --help"));
        for option in long_options(&help) {
            assert!(text.contains(&option.replace('-', "\\-")), "{page} lacks {option}");
        }
    }
}

/// The long options at the beginning of lines of a help text.
fn long_options(help: &str) -> Vec<&str> {
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let words = lines.flat_map(|line| line.split([' ', ',', '['])).map(str::trim);
    words.filter(|word| word.starts_with("--") && word.len() > 2).collect()
}

#[test]
fn a_manual_page_that_is_not_there_is_refused() {
    let sandbox = Sandbox::with([("taken", "")]);
    sandbox.fails("man nope", 2, &["no command `nope`", "communities"]);
    sandbox.fails("man fraud nope", 2, &["no command `nope`", "evaluate"]);
    sandbox.fails("man lcc nope", 2, &["no command `nope`", "no commands of its own"]);
    sandbox.fails("man fraud -o pages", 2, &["cannot be used with"]);
    sandbox.fails("man -o taken", 2, &["taken"]);
}

/// The codes of the section EXIT STATUS, with what is said of them.
fn exit_codes_of_the_manual() -> Vec<(u8, String)> {
    let page = Sandbox::new().ok("man");
    let section = page.split_once(".SH \"EXIT STATUS\"\n").expect("a section").1.to_owned();
    let entries = section.split(".TP\n").skip(1).map(|entry| {
        let (code, meaning) = entry.split_once('\n').unwrap();
        let code = code.trim_start_matches("\\fB").trim_end_matches("\\fR");
        (code.parse().unwrap(), meaning.trim().replace("\\-", "-"))
    });
    entries.collect()
}

#[test]
fn the_page_of_exit_codes_is_that_of_the_code() {
    let codes = exit_codes_of_the_manual();
    assert!(codes.len() >= 4 && codes[0].0 == 0, "{codes:?}");
    let page = fs::read_to_string(data("../docs/exit-codes.md")).unwrap();
    let rows = page.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        let code = cells.next()?.trim_end_matches('`').parse::<u8>().ok()?;
        Some((code, cells.next()?.trim_end_matches(" |").to_owned()))
    });
    assert_eq!(rows.collect::<Vec<_>>(), codes, "docs/exit-codes.md, and `ripplet man`");
}

#[test]
fn exit_codes_are_numbers_in_one_file_only() {
    let mut folders = vec![data("ripplet-cli/src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.ends_with("exit_status.rs") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            for call in ["exit(", "ExitCode::from("] {
                for (at, _) in text.match_indices(call) {
                    let next = text[at + call.len()..].chars().next();
                    let is_number = next.is_some_and(|next| next.is_ascii_digit());
                    assert!(!is_number, "{}: {call}… with a number", path.display());
                }
            }
        }
    }
}
