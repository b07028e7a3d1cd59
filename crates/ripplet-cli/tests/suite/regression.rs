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
    let said = sandbox.fails("communities a.txt -o b.txt --guard -1", 2, &["not -1"]);
    assert!(!said.error.contains("unexpected argument"), "{said:?}");
    let said = sandbox.fails("quality a.txt a.txt --resolution -1", 2, &["0 or above"]);
    assert!(!said.error.contains("unexpected argument"), "{said:?}");
}

#[test]
fn ids_with_leading_zeros_were_merged() {
    let sandbox = Sandbox::with([("a.csv", "00123,00999\n123,555\n")]);
    let text = sandbox.ok("communities a.csv -o -");
    for id in ["00123", "00999", "123", "555"] {
        assert!(text.lines().any(|line| line.starts_with(&format!("{id} "))), "{id} in {text}");
    }
    sandbox.write("late.csv", format!("{}3,0004\n", "1,2\n".repeat(5000)));
    sandbox.fails("communities late.csv -o b.txt", 2, &["late.csv:5001", "0004", "--ids names"]);
    sandbox.ok("communities late.csv -o b.txt --ids unsigned");
    assert!(sandbox.read("b.txt").contains("\n4 "));
    // A file about the vertices has their ids, not other texts for the same number.
    sandbox.write("truth.txt", "1 a\n2 a\n3 b\n04 b\n");
    sandbox.fails("quality late.csv truth.txt --ids unsigned", 2, &["`04` is no vertex"]);
}

#[test]
fn text_called_gz_was_said_to_be_damaged() {
    let sandbox = Sandbox::with([("a.txt.gz", "1 2\n")]);
    sandbox.fails("communities a.txt.gz -o b.txt", 2, &["ends in .gz", "not compressed"]);
}
