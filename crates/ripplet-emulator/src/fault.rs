//! Descriptions of the faults that end a launch.

use std::ffi::{CStr, c_char};

/// Name of a text without `#line`.
pub(super) const FILE: &str = "kernels";

/// A thread, and the call that it is at: `Place` of `fibers.cpp`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Place {
    call: *const c_char,
    file: *const c_char,
    line: u32,
    block: u32,
    thread: u32,
}

/// A fault: `Fault` of `fibers.cpp`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Fault {
    kind: u32,
    here: Place,
    there: Place,
    what: *const c_char,
    address: u64,
}

impl Fault {
    /// Returns an empty fault.
    pub(super) fn none() -> Fault {
        let nowhere =
            Place { call: std::ptr::null(), file: std::ptr::null(), line: 0, block: 0, thread: 0 };
        Fault { kind: 0, here: nowhere, there: nowhere, what: std::ptr::null(), address: 0 }
    }

    /// Describes what went wrong, and where in `text`.
    ///
    /// # Safety
    /// The library that filled the fault is still loaded.
    pub(super) unsafe fn sentence(&self, text: &str) -> String {
        // SAFETY: literals of the library, or null.
        let what = unsafe { string(self.what) };
        // SAFETY: as before.
        let (here_call, there_call) = unsafe { (string(self.here.call), string(self.there.call)) };
        // SAFETY: as before.
        let (here_file, there_file) = unsafe { (string(self.here.file), string(self.there.file)) };
        let here = self.here.thread_and_block();
        let at = site(text, &here_file, self.here.line);
        let threads = || {
            format!(
                "{here} is at {here_call}{at} while {} is at {there_call}{}",
                self.there.thread_and_block(),
                site(text, &there_file, self.there.line),
            )
        };
        // The same line through different calls: a function's collective, reached from two of its
        // callers.
        let ways = match (self.here.line == self.there.line, here_call == there_call) {
            (true, true) if self.here.line != 0 => ", reached by another call or turn of a branch",
            _ => "",
        };
        match self.kind {
            1 => format!("{}{ways}; all lanes of a warp must meet at one call", threads()),
            2 => format!("{}{ways}; all threads of a block must meet at one call", threads()),
            3 => format!("{}; all blocks of a grid must meet at its barrier", threads()),
            4 => format!(
                "{here} gives {here_call}{at} the mask {:#x}; only 0xffffffff is allowed",
                self.address
            ),
            5 => format!("{here} is at {here_call}{at}, but the launch is not cooperative"),
            6 => format!(
                "block {} wrote to byte {} of its shared memory, outside of what its launch gives",
                self.here.block,
                self.address.cast_signed(),
            ),
            7 | 8 => format!("{here}{at}: {what}"),
            9 => format!("{here} used address {:#x}, where there is no memory", self.address),
            10 => format!("{here} used more than its stack of 64 KiB"),
            11 => format!("{here} and others spin for a write that never comes"),
            12 => "the host refused memory for the threads' stacks".to_owned(),
            13 => format!("{here} waits at {here_call}{at} for threads that never come"),
            kind => format!("fault {kind}, which has no description"),
        }
    }
}

impl Place {
    fn thread_and_block(&self) -> String {
        format!("thread {} of block {}", self.thread, self.block)
    }
}

/// Returns ` (tile.cuh, line 7: x += y;)`, as far as it is known.
fn site(text: &str, file: &str, number: u32) -> String {
    if number == 0 {
        return String::new();
    }
    match line(text, file, number) {
        Some(line) => format!(" ({file}, line {number}: {})", line.trim()),
        None => format!(" ({file}, line {number})"),
    }
}

/// Returns a line of a file, in a text with `#line` directives.
fn line<'t>(text: &'t str, file: &str, number: u32) -> Option<&'t str> {
    let (mut current, mut next) = (FILE, 1);
    for line in text.lines() {
        if let Some(directive) = line.strip_prefix("#line ") {
            let (first, name) = directive.split_once(' ').unwrap_or((directive, current));
            (current, next) = (name.trim_matches('"'), first.parse().unwrap_or(0));
        } else if current == file && next == number {
            return Some(line);
        } else {
            next += 1;
        }
    }
    None
}

/// # Safety
/// A C string, or null.
unsafe fn string(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
