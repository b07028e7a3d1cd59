//! The Rust code in the README and in `docs/your-own-variant.md` equals that of `examples/`, which
//! is compiled.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns the blocks of Rust code of a page, as a reader sees them.
fn rust_blocks(page: &str) -> Vec<String> {
    let text = text(page);
    let blocks = text.split("```rust\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    blocks.map(str::to_owned).collect()
}

#[test]
fn the_code_of_the_guide_is_that_of_the_examples() {
    let blocks = rust_blocks("docs/your-own-variant.md");
    assert_eq!(blocks.len(), 2);
    assert_eq!(blocks[0], text("examples/programs/wary.rs"));
    assert_eq!(blocks[1], text("examples/wary.rs"));
}

#[test]
fn the_code_of_the_readme_is_that_of_an_example() {
    assert!(rust_blocks("README.md").contains(&text("examples/library.rs")));
}

/// Returns the executable of an example, which `cargo test` builds beside this test.
fn example(name: &str) -> Option<PathBuf> {
    let test = env::current_exe().unwrap();
    let path = test.parent()?.parent()?.join("examples").join(name);
    path.exists().then_some(path)
}

#[test]
fn the_examples_print_what_the_pages_show() {
    for (name, page) in [("wary", "docs/your-own-variant.md"), ("library", "README.md")] {
        let Some(program) = example(name) else {
            // The examples are missing if this test is built alone by its name.
            continue;
        };
        let ran = Command::new(program).current_dir(root()).output().unwrap();
        assert!(ran.status.success(), "{name}: {ran:?}");
        let printed = String::from_utf8(ran.stdout).unwrap();
        let page_text = text(page);
        assert!(printed.lines().count() >= 5, "{printed}");
        assert!(page_text.contains(&printed), "{page} does not show:\n{printed}");
    }
}
