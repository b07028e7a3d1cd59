//! `ripplet bench lp`: on the CPU, and as far as it goes without a GPU, with drivers of the tests' own.

use crate::driver::{FAKE, FAKE_NVRTC, compiler, driver, no_driver, run};
use crate::gpu::{LOUD, TRIANGLES};
use crate::sandbox::Sandbox;

/// Launches that work, more than any test makes: kernels do nothing, and take 2.5 ms.
const WORKS: (&str, &str) = ("FAKE_LAUNCHES", "1000000");

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with([("graph.txt", TRIANGLES)]);
    driver(&sandbox, FAKE);
    compiler(&sandbox, FAKE_NVRTC);
    sandbox
}

#[test]
fn help_tells_the_flags() {
    let text = Sandbox::new().ok("bench lp --help");
    for part in ["--program", "--iterations", "--device", "--ablation", "--json", "gather ceiling"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("--columns-out"), "{text}");
    assert!(Sandbox::new().ok("--help").contains("\n  bench "));
    Sandbox::new().fails("bench", 2, &["lp"]);
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let sandbox = Sandbox::with([("graph.txt", TRIANGLES), ("graph.rg", "no graph")]);
    for (arguments, parts) in [
        ("", ["<INPUT>", "--help"]),
        ("graph.txt --program seeded", ["--program", "seeds"]),
        ("graph.txt --program lp", ["--program", "expected lpa, cdlp, llp or slpa"]),
        ("graph.txt --program cdlp --weighted", ["cdlp is unweighted", "leave --weighted out"]),
        ("graph.txt --device gpu", ["--device", "expected auto, cpu, cuda, cuda:N"]),
        (
            "graph.txt --device cpu --ablation",
            ["on a GPU, but the device is cpu", "leave --ablation out"],
        ),
        ("graph.txt --device cuda:0,1", ["--device", "runs on one GPU"]),
        ("graph.txt --iterations 0", ["--iterations", "1..=1000"]),
        ("graph.txt --iterations ten", ["--iterations", "ten"]),
        ("graph.txt --param a=1", ["--param", "--program-file"]),
        ("graph.txt --json graph.txt", ["graph.txt", "is named twice"]),
        ("graph.txt --json nowhere/report.json", ["nowhere/report.json", "cannot write"]),
        ("graph.rg --keep-loops", ["graph.rg", "--keep-loops comes too late"]),
    ] {
        sandbox.fails(&format!("bench lp {arguments}"), 2, &parts);
    }
    std::fs::create_dir(sandbox.path("many")).unwrap();
    sandbox.fails("bench lp many", 2, &["many holds many graphs", "name one graph"]);
}

#[test]
fn a_gpu_must_be_there() {
    let sandbox = Sandbox::with([("graph.txt", TRIANGLES)]);
    no_driver(&sandbox, b"this is no library");
    let said = run(&sandbox, "bench lp graph.txt --device cuda --json report.json", &[]);
    let help = "help: `ripplet devices` lists the devices of this machine";
    said.must_fail("no driver", 1, &["error: no NVIDIA driver: no library", help]);
    assert!(!sandbox.path("report.json").exists() && said.out.is_empty(), "{said:?}");
    driver(&sandbox, FAKE);
    let said = run(&sandbox, "bench lp graph.txt --device cuda:1", &[]);
    said.must_fail("cuda:1", 1, &["error: there is no GPU 1: this machine has one, cuda:0", help]);
    compiler(&sandbox, FAKE_NVRTC);
    let said = run(&sandbox, "bench lp graph.txt --json report.json", &[("FAKE_LAUNCHES", "9")]);
    said.must_fail("a lost GPU", 1, &["error: the GPU failed at", help]);
    assert!(!sandbox.path("report.json").exists() && said.out.is_empty(), "{said:?}");
    let said = run(&sandbox, "bench lp graph.txt", &[("FAKE_OTHERS", "1073741000")]);
    said.must_fail("a full GPU", 1, &["error: the run needs", "824 B is free", help]);
}

#[test]
fn without_a_gpu_the_cpu_is_measured() {
    let sandbox = Sandbox::with([("graph.txt", TRIANGLES)]);
    no_driver(&sandbox, b"this is no library");
    let said = run(&sandbox, "bench lp graph.txt --threads 1 --json report.json", &[]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.error.contains("measuring the CPU: no NVIDIA driver"), "{said:?}");
    assert!(
        said.out.starts_with("lpa, full iterations, on cpu (1 thread): 6 vertices"),
        "{said:?}"
    );
    let report = sandbox.json("report.json");
    assert_eq!((&report["device"], &report["arcs"]), (&"cpu (1 thread)".into(), &14.into()));
    let said = run(&sandbox, "bench lp graph.txt --ablation", &[]);
    said.must_fail("ablation", 1, &["error: no NVIDIA driver"]);

    for program in ["lpa", "cdlp", "llp", "slpa"] {
        let arguments =
            format!("--quiet --device cpu --threads 2 --iterations 3 --program {program}");
        let said = run(&sandbox, &format!("bench lp graph.txt {arguments} --json -"), &[]);
        assert_eq!((said.code, &*said.error), (Some(0), ""), "{program}: {said:?}");
        let report: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!(
            (&report["program"], &report["device"]),
            (&program.into(), &"cpu (2 threads)".into())
        );
        assert_eq!(report["ablation"], serde_json::Value::Null);
        let iterations = report["iterations"].as_array().unwrap();
        assert_eq!(iterations.len(), 3);
        for iteration in iterations {
            let steps = iteration["steps"].as_array().unwrap();
            let names: Vec<_> = steps.iter().map(|step| step["name"].as_str().unwrap()).collect();
            assert_eq!(names, ["copy labels", "degree 0-4", "commit labels, activate neighbours"]);
        }
        // All at once, every vertex takes another's label in the first iteration.
        assert!(iterations[0]["changed"].as_u64() > Some(0), "{report}");
    }
}

#[test]
fn a_graph_must_be_one() {
    let sandbox = sandbox();
    sandbox.write("bad.txt", "1 2\n2 x y\n");
    sandbox.write("loops.txt", "1 1\n2 2\n");
    for (graph, parts) in [
        ("nowhere.txt", ["nowhere.txt", "error: "]),
        ("bad.txt", ["bad.txt:2: ", "error: "]),
        ("loops.txt", ["loops.txt has no arcs", "help: name a graph with edges"]),
    ] {
        let said = run(&sandbox, &format!("bench lp {graph}"), &[WORKS]);
        said.must_fail(graph, 2, &parts);
    }
}

#[test]
fn the_tables_and_the_json_tell_the_same() {
    let sandbox = sandbox();
    let run = |arguments: &str| {
        let said = run(&sandbox, &format!("bench lp graph.txt --quiet {arguments}"), &[WORKS]);
        assert_eq!((said.code, &*said.error), (Some(0), ""), "{arguments}: {said:?}");
        said.out
    };
    let text = run("--iterations 3 --ablation --json report.json");
    let report = sandbox.json("report.json");
    assert_eq!(report["device"], "cuda:0 Fake GPU 0");
    assert_eq!((&report["program"], &report["arcs"]), (&"lpa".into(), &14.into()));
    for name in ["stream_ceiling", "gather_ceiling"] {
        assert_eq!(report[name]["seconds"], 0.0025, "{report}");
    }
    assert_eq!(report["gather_ceiling"]["of_gather"], 1.0);
    let iterations = report["iterations"].as_array().unwrap();
    assert_eq!(iterations.len(), 3);
    for iteration in iterations {
        assert_eq!(
            (&iteration["arcs_per_second"], &iteration["changed"]),
            (&5600.0.into(), &0.into())
        );
        // The kernels list no member of any class.
        let steps = iteration["steps"].as_array().unwrap();
        let names: Vec<_> = steps.iter().map(|step| step["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["compact the frontier", "commit labels", "activate neighbours"]);
    }
    let ways = report["ablation"].as_array().unwrap();
    let names: Vec<_> = ways.iter().map(|way| way["counting"].as_str().unwrap()).collect();
    assert_eq!(names, ["global tables", "shared tables", "packed warps"]);
    assert!(ways.iter().all(|way| way["iterations"].as_array().unwrap().len() == 3));

    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "lpa, full iterations, on cuda:0 Fake GPU 0: 6 vertices, 14 arcs");
    for start in [
        "stream ceiling  ",
        "gather ceiling  ",
        "iteration 1  ",
        "iteration 3  ",
        "iteration 1, step by step  ",
        "iteration 3, step by step  ",
        "compact the frontier  ",
        "commit labels  ",
        "activate neighbours  ",
        "milliseconds  ",
    ] {
        assert!(lines.iter().any(|line| line.starts_with(start)), "{start} in {text}");
    }
    let tables: Vec<&str> = text.split("\n\n").collect();
    for table in &tables[1..] {
        let widths: Vec<usize> = table.lines().map(str::len).collect();
        let most = widths.iter().max().unwrap();
        assert!(widths.iter().filter(|&width| width == most).count() > 1, "ragged: {table}");
    }

    let text = run("--iterations 1");
    assert_eq!(text.matches("step by step").count(), 1, "{text}");
    assert!(!text.contains("milliseconds"), "{text}");
    let text = run("--iterations 1 --json - --program cdlp");
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&report["program"], &report["ablation"]), (&"cdlp".into(), &().into()));
}

#[test]
fn all_programs_are_measured() {
    let sandbox = sandbox();
    sandbox.write("loud.rs", LOUD);
    for program in ["--program llp", "--program slpa", "--program-file loud.rs --param voice=3"] {
        let said = run(
            &sandbox,
            &format!("bench lp graph.txt --quiet --iterations 2 {program}"),
            &[WORKS],
        );
        assert_eq!((said.code, &*said.error), (Some(0), ""), "{program}: {said:?}");
    }
}
