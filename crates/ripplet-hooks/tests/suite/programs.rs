//! Program texts around the line that a test is about.

use ripplet_hooks::ir::Module;
use ripplet_hooks::{ProgramErrors, read_program};

/// Returns a program whose `label_score` has this body, followed by other items.
pub fn scoring(body: &str, items: &str) -> String {
    format!(
        "pub struct Mine {{ pub n: u32, pub decay: f32 }}\n\
         #[columns] struct Columns {{ #[default(0)] age: u32 }}\n\
         impl Program for Mine {{ type Score = u64;\n\
         fn label_score(&self, v: Vertex, c: Candidate) -> u64 {{\n{body}\n}} }}\n{items}"
    )
}

/// Reads a program whose `label_score` has this body.
pub fn read(body: &str) -> Result<Module, ProgramErrors> {
    read_program("mine.rs", &scoring(body, ""))
}

/// Returns the error messages for a refused body.
pub fn refusal(body: &str) -> String {
    match read(body) {
        Ok(_) => panic!("accepted: {body}"),
        Err(errors) => errors.to_string(),
    }
}
