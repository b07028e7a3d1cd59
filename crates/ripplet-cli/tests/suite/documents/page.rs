//! A page's fenced blocks, and the commands in them.

/// A fenced block.
#[derive(Debug)]
pub struct Block {
    /// The number of the line after the fence, from 1.
    pub line: usize,
    /// Language after the fence: `sh`, `console`, `rust`, or nothing.
    pub language: String,
    /// The lines, without the fence's indentation.
    pub lines: Vec<String>,
    /// The name under which the page asks the reader to save it.
    pub file: Option<String>,
}

/// A command as the page shows it.
#[derive(Debug, PartialEq)]
pub struct Command {
    /// The number of its first line, from 1.
    pub line: usize,
    pub text: String,
    /// The lines that the page shows below it.
    pub shown: Vec<String>,
}

/// Requirement of a command beside a clone, from the comment after it.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Need {
    Nothing,
    Gpu,
    Server,
    /// MPI, whose folder a variable names.
    Mpi,
    MpiAndGpus,
    /// Something that a test cannot have: the network, minutes, a package.
    Other,
}

/// The fenced blocks of a page.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, Block)> = None;
    let mut before = "";
    for (index, line) in text.lines().enumerate() {
        let fence = line.trim_start().strip_prefix("```");
        open = match (open, fence) {
            (None, Some(language)) => {
                let indent = line.len() - line.trim_start().len();
                let (language, file) = (language.trim().to_owned(), file_of(before));
                Some((indent, Block { line: index + 2, language, lines: Vec::new(), file }))
            }
            (Some((_, block)), Some(_)) => {
                blocks.push(block);
                before = "";
                None
            }
            (Some((indent, mut block)), None) => {
                let blank = line.len() - line.trim_start().len();
                block.lines.push(line[indent.min(blank)..].to_owned());
                Some((indent, block))
            }
            (None, None) => {
                if !line.trim().is_empty() {
                    before = line;
                }
                None
            }
        };
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

/// The name in a line such as "Save this as `wary.rs`:".
fn file_of(line: &str) -> Option<String> {
    let rest = line.split("ave this as `").nth(1)?;
    Some(rest.split_once("`:")?.0.to_owned())
}

impl Block {
    /// The commands of a block `sh`, where all but comments are commands, or `console`, where a
    /// command follows a `$`.
    pub fn commands(&self) -> Vec<Command> {
        let mut commands: Vec<Command> = Vec::new();
        let mut lines = self.lines.iter().enumerate();
        while let Some((index, line)) = lines.next() {
            let first = match &*self.language {
                "console" => line.strip_prefix("$ "),
                _ => Some(line.as_str()).filter(|line| !line.is_empty() && !line.starts_with('#')),
            };
            let Some(first) = first else {
                if let ("console", Some(command)) = (&*self.language, commands.last_mut()) {
                    command.shown.push(line.clone());
                }
                continue;
            };
            let mut text = first.to_owned();
            while text.ends_with('\\') || here_document_is_open(&text) {
                let (_, next) = lines.next().unwrap_or_else(|| panic!("{text} is cut off"));
                text = text + "\n" + next;
            }
            commands.push(Command { line: self.line + index, text, shown: Vec::new() });
        }
        commands
    }
}

/// Whether a document `<<'END'` of the command is still without its end.
fn here_document_is_open(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("<<'") else { return false };
    let (end, body) = rest.split_once('\'').expect("a quote ends");
    !body.lines().any(|line| line == end)
}

impl Command {
    /// Comment at the end of the command.
    pub fn need(&self) -> Need {
        let comment = self.text.rsplit_once(" # ").map_or("", |(_, comment)| comment);
        match comment.strip_prefix("needs ") {
            Some("a GPU" | "two GPUs" | "four GPUs") => Need::Gpu,
            Some("a server") => Need::Server,
            Some("MPI") => Need::Mpi,
            Some("MPI and two GPUs") => Need::MpiAndGpus,
            Some(_) => Need::Other,
            None if comment.starts_with("takes minutes") => Need::Other,
            None => Need::Nothing,
        }
    }

    /// Whether the page shows that it fails.
    pub fn fails(&self) -> bool {
        self.shown.iter().any(|line| line.starts_with("error: "))
    }

    /// The first line that the page shows and `printed` lacks; `…` is any text.
    pub fn missing<'a>(&'a self, printed: &str) -> Option<&'a str> {
        let mut printed = printed.lines();
        let shown = self.shown.iter().map(String::as_str);
        let mut shown = shown.filter(|line| !line.trim().is_empty() && line.trim() != "…");
        shown.find(|line| !printed.any(|found| is_like(line, found.trim_end())))
    }
}

/// Whether a line is as shown, where `…` is any text.
fn is_like(shown: &str, found: &str) -> bool {
    let parts: Vec<_> = shown.trim_end().split('…').collect();
    let [first, between @ .., last] = &parts[..] else { return parts[0] == found };
    let Some(mut rest) = found.strip_prefix(first) else { return false };
    for part in between {
        match rest.split_once(part) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[test]
fn commands_are_found() {
    let page = "Save this as `a.txt`:\n\n```text\na b\n```\n1. x\n   ```sh\n   one \\\n      two  # needs a GPU\n   \
                # three\n   cat <<'END' > f\n   x\n   END\n   ```\n```console\n$ four\nfive … six\nerror: no\n```\n";
    let blocks = blocks(page);
    assert!(blocks[1].file.is_none());
    assert_eq!(blocks[0].file.as_deref(), Some("a.txt"));
    assert_eq!((blocks[0].line, &*blocks[0].language, &*blocks[0].lines[0]), (4, "text", "a b"));
    let commands = blocks[1].commands();
    assert_eq!(commands.len(), 2, "{commands:?}");
    assert_eq!((commands[0].line, commands[0].need()), (8, Need::Gpu));
    assert_eq!(commands[0].text, "one \\\n   two  # needs a GPU");
    assert_eq!(commands[1].text, "cat <<'END' > f\nx\nEND");
    assert_eq!(commands[1].need(), Need::Nothing);
    let command = &blocks[2].commands()[0];
    assert!(command.fails());
    assert_eq!(command.missing("x\nfive 5 6 six\nerror: no\n"), None);
    assert_eq!(command.missing("five 5 6\nerror: no\n"), Some("five … six"));
    assert_eq!(command.missing("error: no\nfive 5 six\n"), Some("error: no"));
}

#[test]
fn an_ellipsis_is_any_text() {
    assert!(is_like("a … b … c", "a 1 b 2 c"));
    assert!(is_like("a …", "a 1"));
    assert!(!is_like("a … b", "a 1 c"));
    assert!(!is_like("a", "a 1"));
}
