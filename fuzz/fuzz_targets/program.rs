//! A program file: a program, which is translated, or errors with places.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ripplet_hooks::{cpp, read_program};

fuzz_target!(|text: &str| {
    match read_program("fuzz.rs", text) {
        Ok(module) => assert!(!cpp::emit(&module).is_empty()),
        Err(errors) => assert!(errors.errors.iter().all(|error| error.line > 0)),
    }
});
