//! A test for each fault that was found, named by what went wrong.

use crate::sandbox::Sandbox;

#[test]
fn an_output_that_names_a_folder_was_noticed_only_after_the_run() {
    let sandbox = Sandbox::with([("a.txt", "1 2\n")]);
    sandbox.fails("communities a.txt -o out.txt/", 2, &["out.txt/ names a folder"]);
    sandbox.fails("convert a.txt out.rg/", 2, &["out.rg/ names a folder"]);
}

#[test]
fn a_negative_number_was_taken_for_a_flag() {
    let sandbox = Sandbox::with([("a.txt", "1 2\n")]);
    let said = sandbox.fails("communities a.txt -o b.txt --resolution -1", 2, &["not -1"]);
    assert!(!said.error.contains("unexpected argument"), "{said:?}");
    let said = sandbox.fails("quality a.txt a.txt --resolution -1", 2, &["0 or above"]);
    assert!(!said.error.contains("unexpected argument"), "{said:?}");
}
