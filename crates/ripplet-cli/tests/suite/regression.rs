//! A test for each fault that was found, named by what went wrong.

use crate::sandbox::{Said, Sandbox};

#[test]
fn an_output_that_names_a_folder_was_noticed_only_after_the_run() {
    let sandbox = Sandbox::with([("a.txt", "1 2\n")]);
    sandbox.fails("lcc a.txt -o out.txt/", 2, &["out.txt/ names a folder"]);
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
fn weights_far_from_the_resolution_of_cpm_gave_other_communities() {
    let tiny = "1 2 1e-12\n2 3 1e-12\n3 1 1e-12\n";
    let sandbox = Sandbox::with([("a.txt", tiny), ("b.txt", &*tiny.replace("e-12", "e23"))]);
    for file in ["a.txt", "b.txt"] {
        let run = format!("communities {file} --weighted --refine cpm --resolution 1 -o c.txt");
        sandbox.fails(&run, 2, &["resolution 1 is", "multiply all weights"]);
        assert!(!sandbox.path("c.txt").exists());
    }
    // The last line said `resolution 0.0000`.
    let near = "communities a.txt --weighted --refine cpm --resolution 1e-9 -o c.txt";
    let said = sandbox.run(near);
    assert!(said.code == Some(0) && said.error.contains("resolution 1.000e-9"), "{said:?}");
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

#[test]
fn three_words_of_a_line_were_read_as_an_edge_between_the_first_two() {
    let davis = "Evelyn Jefferson E1\nEvelyn Jefferson E2\nLaura Mandeville E1\n";
    let sandbox = Sandbox::with([("davis.txt", davis)]);
    let parts = ["Evelyn Jefferson E1", "--columns 1,3 --no-header", "--delimiter tab"];
    sandbox.fails("communities davis.txt -o c.txt", 2, &parts);
    sandbox.ok("communities davis.txt -o c.txt --columns 1,3 --no-header");
    sandbox.write("davis.txt", davis.replace(" E", "\tE"));
    assert!(sandbox.ok("communities davis.txt -o - --to csv").contains("Evelyn Jefferson,"));
}

#[test]
fn other_formats_on_standard_input_were_read_as_tables() {
    let sandbox = Sandbox::with([("a.txt", "1 2\n2 3\n")]);
    for (extension, what) in [
        ("graphml", "this is GraphML, not a table: use --from graphml"),
        ("gexf", "this is GEXF, not a table: use --from gexf"),
        ("gml", "this is GML, not a table: use --from gml"),
        ("net", "this is Pajek, not a table: use --from pajek"),
        ("json", "this is node-link JSON, not a table: use --from json"),
        ("jsonl", "this is JSON lines, not a table: use --from jsonl"),
        ("rg", "name ends in .rg"),
        ("rgz", "name ends in .rgz"),
    ] {
        let file = format!("b.{extension}");
        sandbox.ok(&format!("convert a.txt {file}"));
        let piped = |options: &str| {
            let mut command = sandbox.command(&format!("info - {options}"));
            command.stdin(std::fs::File::open(sandbox.path(&file)).unwrap());
            Said::of(command.output().unwrap())
        };
        let said = piped("");
        assert!(said.code == Some(2) && said.error.contains(what), "{extension}: {said:?}");
        assert!(said.error.starts_with("error: standard input: "), "{said:?}");
        if matches!(extension, "rg" | "rgz") {
            let said = piped(&format!("--from {extension}"));
            assert!(said.error.contains("is not read from standard input"), "{said:?}");
        }
    }
}

#[test]
fn json_in_a_folder_of_graphs_vanished() {
    let sandbox = Sandbox::with([("a.txt", "1 2\n2 3\n")]);
    std::fs::create_dir(sandbox.path("graphs")).unwrap();
    sandbox.write("graphs/a.txt", "1 2\n");
    sandbox.ok("convert a.txt graphs/b.json");
    sandbox.ok("convert a.txt graphs/c.json");
    let said = sandbox.run("info graphs");
    let both = format!("{}{}", said.out, said.error);
    assert!(
        both.contains("b.json and 1 more file: left out") && both.contains("--from json"),
        "{both}"
    );
    std::fs::remove_file(sandbox.path("graphs/a.txt")).unwrap();
    sandbox.fails("info graphs", 2, &["no file of the folder is a graph", "b.json", "--from json"]);
    assert!(sandbox.ok("info graphs --from json").contains("graphs      2"));
}

#[test]
fn an_archive_packed_otherwise_was_said_to_need_a_format() {
    let sandbox = Sandbox::with([("a.tar.xz", "x"), ("a.txt.bz2", "x")]);
    for name in ["a.tar.xz", "a.txt.bz2"] {
        let said = sandbox.fails(&format!("info {name}"), 2, &["pack it as .gz or .zst"]);
        assert!(!said.error.contains("--from"), "{said:?}");
    }
}

#[test]
fn notes_and_refusals_on_labels_named_what_is_not_there() {
    let sandbox = Sandbox::with([
        ("a.txt", "1 2\n2 3\n"),
        ("several.txt", "1\t7 8\n2\t7\n3\t9\n"),
        ("doubled.csv", "vertex,node,community\n1,1,5\n2,2,5\n"),
        ("other.tsv", "1\t5\n9\t5\n"),
        ("wide.tsv", "1\tx\ty\n2\tx\ty\n"),
    ]);
    let said = sandbox.run("quality a.txt several.txt");
    assert!(said.error.contains("1 row has several communities"), "{said:?}");
    assert!(!said.error.contains("ignored"), "{said:?}");
    sandbox.fails("quality a.txt doubled.csv", 2, &["such as --labels-columns 1,3"]);
    sandbox.fails(
        "quality a.txt other.tsv",
        2,
        &["`9` is no vertex", "--columns", "--labels-columns"],
    );
    sandbox.fails("quality a.txt wide.tsv", 2, &["`1\\tx\\ty` and `2\\tx\\ty`"]);
}

#[test]
fn an_empty_graph_id_was_called_an_empty_graph() {
    let sandbox = Sandbox::with([("a.csv", "graph,source,target\na,1,2\n,2,3\n")]);
    let parts = ["a.csv:3: the value of the column of graphs is empty"];
    sandbox.fails("components a.csv --batch -o b.csv", 2, &parts);
}

#[test]
fn undirected_was_ignored_for_a_directed_stored_graph() {
    let sandbox = Sandbox::with([("a.txt", "1 2\n2 3\n")]);
    std::fs::create_dir(sandbox.path("many")).unwrap();
    sandbox.write("many/a.txt", "1 2\n2 3\n");
    for name in ["a.rg", "a.rgz"] {
        sandbox.ok(&format!("convert a.txt {name} --directed"));
    }
    sandbox.ok("convert many a.swarm --directed");
    let stored = ["stored directed", "make it again from its source"];
    for name in ["a.rg", "a.rgz", "a.swarm"] {
        for run in ["closeness", "communities", "components", "pagerank", "lcc"] {
            sandbox.fails(&format!("{run} {name} -o out.csv --undirected"), 2, &stored);
        }
        sandbox.fails(&format!("info {name} --undirected"), 2, &stored);
        sandbox.ok(&format!("closeness {name} -o - --directed"));
    }
    sandbox.fails("convert a.rg b.rg --undirected", 2, &stored);
    sandbox.fails("convert a.swarm b.swarm --undirected", 2, &stored);
    sandbox.ok("convert a.txt b.rg");
    sandbox.ok("closeness b.rg -o - --undirected");
}

#[test]
fn undirected_was_answered_with_advice_to_keep_directions() {
    let sandbox = Sandbox::with([(
        "a.gml",
        "graph [ directed 1 node [ id 1 ] node [ id 2 ] \
                                            edge [ source 1 target 2 ] ]\n",
    )]);
    let advice = "--directed keeps it";
    let said = sandbox.run("components a.gml -o -");
    assert!(said.code == Some(0) && said.error.contains(advice), "{said:?}");
    let said = sandbox.run("components a.gml -o - --undirected");
    assert!(said.code == Some(0) && !said.error.contains(advice), "{said:?}");
}

#[test]
fn two_outputs_ran_into_one_another_on_standard_output() {
    let sandbox = Sandbox::with([("a.txt", "1 2\n")]);
    let parts = ["`-` is named for two outputs", "name a file for the other"];
    for run in ["communities", "closeness", "pagerank", "lcc"] {
        sandbox.fails(&format!("{run} a.txt -o - --to csv --stats -"), 2, &parts);
    }
    sandbox.ok("communities a.txt -o - --stats s.json");
}

#[test]
fn one_triangle_was_said_in_the_plural() {
    let sandbox = Sandbox::with([("a.txt", "1 2\n2 3\n3 1\n")]);
    let said = sandbox.run("lcc a.txt -o out.csv");
    assert!(said.error.contains("mean 1.0000, 1 triangle, in "), "{said:?}");
}

#[test]
fn a_run_under_async_was_advised_to_use_async() {
    let rows: String = (0..100_000).map(|edge| format!("{edge} {}\n", edge + 1)).collect();
    let sandbox = Sandbox::with([("a.txt", &*rows)]);
    sandbox.ok("convert a.txt a.rg");
    let run = "communities a.rg -o out.csv --device cpu --host-memory 1MiB";
    let advice = "--schedule async";
    sandbox.fails(run, 2, &["the run needs", advice]);
    let said = sandbox.fails(&format!("{run} --schedule async"), 2, &["the run needs"]);
    assert!(!said.error.contains(advice), "{said:?}");
}
