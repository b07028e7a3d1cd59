//! Detects other formats that are passed as a table of edges: through standard input, or with a wrong
//! extension.

use super::Text;
use crate::fault::Fault;
use memchr::memmem;

/// What to do with one list of objects, and with one of lists, in JSON.
const OF_OBJECTS: &str = "make an object a line of it, such as with jq -c '.[]' FILE > edges.jsonl";
const OF_LISTS: &str = "make a table of it, such as with jq -r '.[] | @csv' FILE > edges.csv";

/// Bytes that are examined.
const LOOK: usize = 4096;

/// Detected format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Other {
    /// A text format with a name for `--from`.
    Text { what: &'static str, from: &'static str },
    /// A format that is found by its extension alone.
    Named { what: &'static str, extension: &'static str },
    /// A format that is not read.
    Foreign { what: &'static str, help: &'static str },
}

/// Rejects the bytes of another format.
///
/// # Errors
/// The format, and how to read it.
pub(super) fn check(text: &mut Text<'_>) -> Result<(), Fault> {
    let sentence = match Other::of(text.look_ahead(LOOK)) {
        None => return Ok(()),
        Some(Other::Text { what, from }) => {
            format!("this is {what}, not a table: use --from {from}, or name the file .{from}")
        }
        Some(Other::Named { what, extension }) => format!(
            "this is {what}, not a table, and is not read from standard input: give a file whose name ends in {extension}"
        ),
        Some(Other::Foreign { what, help }) => format!("this is {what}, which is not read: {help}"),
    };
    Err(Fault::whole(sentence))
}

/// Rejects JSON that is not an object a line, under the name of JSON lines.
///
/// # Errors
/// What it is, and how to read it.
pub(super) fn check_json_lines(text: &mut Text<'_>) -> Result<(), Fault> {
    let head = text.look_ahead(LOOK).trim_ascii_start();
    let has_list = |key: &[u8]| {
        memmem::find(head, key).is_some_and(|at| is_json(&head[at + key.len()..], b":["))
    };
    let sentence = match head {
        [b'[', list @ ..] => what_to_do_with_list(list),
        [b'{', ..] if has_list(b"\"nodes\"") => {
            "this is one object with `nodes`, not an object a line: use --from json, or name the file .json".into()
        }
        [b'{', ..] if first_line(head) == b"{" => {
            "an object has several lines, and JSON lines have each on one: make them so, such as with jq -c . FILE > \
             edges.jsonl"
                .into()
        }
        _ => return Ok(()),
    };
    Err(Fault::line(text.line() + 1, sentence))
}

/// Returns what to do with a list under the name of JSON or JSON lines, by what follows its first bracket.
pub(crate) fn what_to_do_with_list(list: &[u8]) -> String {
    match list.trim_ascii_start() {
        [] | [b'{' | b']', ..] => {
            format!("the file is one list of objects: {OF_OBJECTS}, and read that")
        }
        [b'[', ..] => format!("the file is one list of lists: {OF_LISTS}, and read that"),
        _ => "each line is a list, not an object such as {\"source\": 1, \"target\": 2}: make a table of it, such as with \
              jq -r '@csv' FILE > edges.csv"
            .into(),
    }
}

/// Returns the first line, without blanks at its end.
fn first_line(text: &[u8]) -> &[u8] {
    text.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_end()
}

/// Whether a text under the name of JSON is JSON lines: its first line is an object that is no graph.
pub(crate) fn is_json_lines(head: &[u8]) -> bool {
    let text = head.trim_ascii_start();
    let line = first_line(text);
    let is_whole = line.len() < text.len() || head.len() < LOOK;
    is_whole && text.starts_with(b"{") && is_object_line(text) && !line.contains(&b'[')
}

impl Other {
    /// Returns the format that these first bytes show.
    fn of(head: &[u8]) -> Option<Other> {
        let head = &head[..head.len().min(LOOK)];
        let named = |what, extension| Some(Other::Named { what, extension });
        match head {
            _ if head.starts_with(b"\x89ripplet") => return named("an .rg graph", ".rg"),
            _ if head.starts_with(b"\x89rpgraph") => return named("an .rgz graph", ".rgz"),
            _ if head.starts_with(b"\x89rpswarm") => {
                return named("a .swarm of many graphs", ".swarm");
            }
            _ if head.starts_with(b"PK\x03\x04") => return named("a .zip archive", ".zip"),
            // The magic of POSIX's and GNU's tar is at byte 257.
            _ if head.get(257..262) == Some(b"ustar") => return named("a .tar archive", ".tar"),
            _ => {}
        }
        let text = head.trim_ascii_start();
        let has = |part: &[u8]| memmem::find(text, part).is_some();
        let (what, from) = match text {
            [b'<', ..] if has(b"<graphml") => ("GraphML", "graphml"),
            [b'<', ..] if has(b"<gexf") => ("GEXF", "gexf"),
            [b'{', ..] if has(b"\"nodes\"") || has(b"\"links\"") => ("node-link JSON", "json"),
            [b'{', b'"', ..] if is_object_line(text) => ("JSON lines", "jsonl"),
            [b'[', rest @ ..] if is_json(rest, b"{\"") => {
                let what = "one list of objects in JSON";
                return Some(Other::Foreign { what, help: OF_OBJECTS });
            }
            [b'[', rest @ ..] if is_json(rest, b"[") => {
                let what = "one list of lists in JSON";
                return Some(Other::Foreign { what, help: OF_LISTS });
            }
            _ if text.starts_with(b"version https://git-lfs.github.com/") => {
                let help = "fetch the file that it stands for, with git lfs pull";
                return Some(Other::Foreign { what: "a pointer of Git LFS", help });
            }
            [b'<', ..] if is_html(text) => {
                let help = "download the file itself; this may be a page about it, or an error";
                return Some(Other::Foreign { what: "a page in HTML", help });
            }
            _ if is_gml(text) => ("GML", "gml"),
            _ if is_dimacs(text) => {
                let help = "keep its rows of edges alone, without the letter before them (grep '^[ae] ' FILE | cut -d' ' -f2-)";
                return Some(Other::Foreign { what: "DIMACS", help });
            }
            [b'*', ..] if is_pajek(text) => {
                return Some(Other::Text { what: "Pajek", from: "pajek" });
            }
            _ => return None,
        };
        Some(Other::Text { what, from })
    }
}

/// Whether JSON begins with such signs, between which may be blanks.
fn is_json(json: &[u8], value: &[u8]) -> bool {
    let mut signs = json.iter().filter(|byte| !byte.is_ascii_whitespace());
    value.iter().all(|sign| signs.next() == Some(sign))
}

fn is_html(text: &[u8]) -> bool {
    [&b"<!doctype html"[..], b"<html"]
        .iter()
        .any(|word| text.get(..word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word)))
}

/// Whether the first line is an object of JSON.
fn is_object_line(text: &[u8]) -> bool {
    let line = first_line(text);
    line.ends_with(b"}") && memmem::find(line, b"\":").is_some()
}

/// Whether the first words are those of GML: `graph [`, possibly after a creator.
fn is_gml(text: &[u8]) -> bool {
    let begins = text.starts_with(b"graph") || text.starts_with(b"Creator \"");
    let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    begins
        && words.any(|word| word == b"graph")
        && words.next() == Some(b"[")
        && memmem::find(text, b"node").is_some()
}

/// Whether comments (`c`) and the line of the problem (`p sp 4 5`, `p edge 4 5`) come before edges (`a 1 2 7`, `e 1 2`).
fn is_dimacs(text: &[u8]) -> bool {
    let words = |line: &'_ [u8]| -> Vec<Vec<u8>> {
        line.split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty())
            .map(<[u8]>::to_vec)
            .collect()
    };
    let is_number = |word: &Vec<u8>| word.iter().all(u8::is_ascii_digit);
    let mut lines = text.split(|byte| *byte == b'\n').map(words).filter(|line| !line.is_empty());
    let Some(problem) = lines.by_ref().find(|line| line[0] != b"c") else { return false };
    let is_problem = problem.len() == 4 && problem[0] == b"p" && problem[2..].iter().all(is_number);
    let Some(edge) = lines.find(|line| line[0] != b"c" && line[0] != b"n") else { return false };
    is_problem
        && [b"a", b"e"].iter().any(|letter| edge[0] == *letter)
        && edge[1..].iter().all(is_number)
}

fn is_pajek(text: &[u8]) -> bool {
    let begins =
        |word: &[u8]| text.get(..word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word));
    begins(b"*Vertices ") || begins(b"*Network ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_show_by_their_first_bytes() {
        let mut tar = vec![b'a'; 512];
        tar[257..262].copy_from_slice(b"ustar");
        let cases: [(&[u8], &str); 18] = [
            (b"<?xml version=\"1.0\"?>\n<graphml>", "graphml"),
            (b"\n<gexf>", "gexf"),
            (b"{\"directed\": false, \"nodes\": []", "json"),
            (b"{\"source\":1,\"target\":2}\n{\"source\":1,\"target\":3}\n", "jsonl"),
            (b"graph [\n  node [\n id 0 ] ]", "gml"),
            (b"Creator \"igraph\"\nVersion 1\ngraph\n[\n  node\n", "gml"),
            (b"*vertices 3\n1 2\n", "pajek"),
            (b"\x89ripplet\x01", ".rg"),
            (b"\x89rpgraph\x02", ".rgz"),
            (b"\x89rpswarm\x01", ".swarm"),
            (b"PK\x03\x04", ".zip"),
            (&tar, ".tar"),
            (b"c road\np sp 3 2\na 1 2 5\na 2 3 6\n", "DIMACS"),
            (b"p edge 3 2\ne 1 2\n", "DIMACS"),
            (b"[\n  {\"source\": 1, \"target\": 2}]", "one list of objects in JSON"),
            (b"[[1, 2], [2, 3]]", "one list of lists in JSON"),
            (
                b"version https://git-lfs.github.com/spec/v1\noid sha256:4d\n",
                "a pointer of Git LFS",
            ),
            (b"<!DOCTYPE html>\n<html>", "a page in HTML"),
        ];
        for (head, expected) in cases {
            let found = match Other::of(head) {
                Some(Other::Text { from, .. }) => from,
                Some(Other::Named { extension, .. }) => extension,
                Some(Other::Foreign { what, .. }) => what,
                None => "",
            };
            assert_eq!(found, expected, "{}", head.escape_ascii());
        }
        for table in [
            &b""[..],
            b"1 2\n",
            b"graph,source,target\n",
            b"graph node\nnode [\n",
            b"{a} {b}\n",
            b"<a> <b>\n",
            b"[1] [2]\n",
            b"[{a}] [{b}]\n",
        ] {
            assert_eq!(Other::of(table), None, "{}", table.escape_ascii());
        }
    }
}
