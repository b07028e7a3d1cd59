//! `--device`, with drivers of the tests' own: what needs no GPU.

use crate::driver::{FAKE, FAKE_NVRTC, compiler, driver, no_driver, run};
use crate::sandbox::{Said, Sandbox};
use serde_json::Value;

/// Two triangles with one edge between them.
pub const TRIANGLES: &str = "1 2\n2 3\n3 1\n4 5\n5 6\n6 4\n3 4\n";
pub const LOUD: &str = "struct Loud { voice: u32 }

impl Program for Loud {
    type Score = u64;
    fn load_neighbor(&self, v: Vertex, u: Neighbor) -> Vote {
        Vote::new(u.label, if u.id < v.id { self.voice } else { 1 })
    }
    fn label_score(&self, v: Vertex, c: Candidate) -> u64 { c.frequency }
}
";

/// The commands that a GPU does for a graph in a file.
const COMMANDS: [&str; 2] = ["communities", "lcc"];

/// A sandbox with a graph, a program, and something that is no driver.
fn without_driver() -> Sandbox {
    let sandbox = Sandbox::with([("graph.txt", TRIANGLES), ("loud.rs", LOUD)]);
    no_driver(&sandbox, b"this is no library");
    sandbox
}

/// A sandbox with a driver whose GPU has memory, but fails at kernels.
fn with_driver() -> Sandbox {
    let sandbox = without_driver();
    driver(&sandbox, FAKE);
    sandbox
}

#[track_caller]
fn ok(sandbox: &Sandbox, arguments: &str) -> Said {
    let said = run(sandbox, arguments, &[]);
    assert_eq!(said.code, Some(0), "{arguments}: {said:?}");
    said
}

/// Runs what must fail with `code` and say each of `parts`, and leaves no output.
#[track_caller]
fn fails(sandbox: &Sandbox, run_of: &str, environment: &[(&str, &str)], code: i32, parts: &[&str]) {
    let said = run(sandbox, run_of, environment);
    said.must_fail(&format!("{run_of} {environment:?}"), code, parts);
    assert!(!sandbox.path("out.txt").exists(), "{run_of} leaves its output");
}

#[test]
fn auto_without_a_gpu_is_the_cpu_and_says_so() {
    let sandbox = without_driver();
    for command in COMMANDS {
        ok(&sandbox, &format!("{command} graph.txt -o cpu.txt --device cpu"));
        for flags in ["", "--device auto"] {
            let run = format!("{command} graph.txt -o out.txt --stats stats.json {flags}");
            assert!(!ok(&sandbox, &run).error.contains("CPU"), "{run}");
            let said = ok(&sandbox, &format!("{run} -v"));
            let lines: Vec<&str> = said.error.lines().collect();
            assert_eq!(lines[1], "note: running on the CPU: there is no NVIDIA driver");
            assert_eq!(lines.len(), 3, "{said:?}");
            assert_eq!(sandbox.read("out.txt"), sandbox.read("cpu.txt"));
            assert_eq!(sandbox.json("stats.json")["device"], "cpu");
            assert_eq!(ok(&sandbox, &format!("{run} --quiet")).error, "");
        }
    }
}

#[test]
fn auto_tells_what_is_amiss_with_a_gpu() {
    let sandbox = with_driver();
    for (environment, part) in [
        (("FAKE_COUNT", "0"), "running on the CPU: the NVIDIA driver finds no GPU\n"),
        (("FAKE_VERSION", "11040"), "running on the CPU: the NVIDIA driver is for CUDA 11.4"),
        (("FAKE_INIT", "803"), "restart the machine"),
        (("FAKE_SM", "61"), "sm_61"),
        (("FAKE_OPEN", "46"), "the GPU failed at opening it: error 46"),
    ] {
        let said = run(&sandbox, "communities graph.txt -o out.txt", &[environment]);
        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(said.error.contains("note: ") && said.error.contains(part), "{part}: {said:?}");
    }
}

#[test]
fn a_gpu_that_is_insisted_on_must_be_there() {
    let help = "help: run it with --device cpu; `ripplet devices`";
    let sandbox = without_driver();
    for command in COMMANDS {
        for device in ["cuda", "cuda:0", "cuda:7"] {
            let run = format!("{command} graph.txt -o out.txt --device {device}");
            fails(&sandbox, &run, &[], 1, &["error: no NVIDIA driver: no library", help]);
        }
    }
    let run = "communities graph.txt -o out.txt --device";
    let sandbox = with_driver();
    for (device, environment, part) in [
        ("cuda:1", ("FAKE_COUNT", "1"), "error: there is no GPU 1: this machine has one, cuda:0"),
        ("cuda", ("FAKE_COUNT", "0"), "error: the NVIDIA driver finds no GPU"),
        ("cuda", ("FAKE_SM", "61"), "sm_61"),
        ("cuda:3", ("FAKE_INIT", "802"), "fabricmanager"),
    ] {
        fails(&sandbox, &format!("{run} {device}"), &[environment], 1, &[part, help]);
    }
}

/// Several GPUs share a graph: each must be there and have room, and what fails is called by its name.
#[test]
fn several_gpus() {
    let sandbox = with_driver();
    let run_of = "communities graph.txt -o out.txt --device cuda:1,0";
    let one = [("FAKE_COUNT", "1")];
    fails(&sandbox, run_of, &one, 1, &["error: there is no GPU 1: this machine has one, cuda:0"]);
    let two = [("FAKE_COUNT", "2")];
    compiler(&sandbox, FAKE_NVRTC);
    let parts = ["error: cuda:", " Fake GPU ", ": the GPU failed"];
    fails(&sandbox, run_of, &two, 1, &parts);
    let parts = ["of the memory of cuda:1 Fake GPU 1", "what --device-memory allows"];
    fails(&sandbox, &format!("{run_of} --device-memory 10"), &two, 1, &parts);
    let parts = ["--device names several GPUs", "name one, such as --device cuda:0"];
    fails(&sandbox, "lcc graph.txt -o out.txt --device cuda:0,1", &two, 2, &parts);
    let seventeen: Vec<String> = (0..17).map(|number| number.to_string()).collect();
    let run_of = format!("communities graph.txt -o out.txt --device cuda:{}", seventeen.join(","));
    fails(&sandbox, &run_of, &[("FAKE_COUNT", "17")], 1, &["1 to 16 can share one, not 17"]);
}

/// Without peer access and without NCCL, the driver copies, which is said.
#[test]
fn the_plan_of_each_of_several_gpus() {
    let sandbox = with_driver();
    let run_of = "communities graph.txt --estimate=json --device cuda:0,1";
    let said = run(&sandbox, run_of, &[("FAKE_COUNT", "2"), ("FAKE_PEERS", "0")]);
    assert!(said.error.contains("GPUs exchange labels by copies of the driver"), "{said:?}");
    let estimate: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(estimate["device"], "cuda:0,1 Fake GPU 0, Fake GPU 1");
    let devices = estimate["devices"].as_array().expect("a list");
    assert_eq!(devices[1]["device"], "cuda:1 Fake GPU 1");
    let most = devices.iter().map(|device| device["planned_device"].as_u64()).max();
    assert_eq!(most, Some(estimate["planned_device"].as_u64()));
    let text = run_of.replace("=json", "");
    let said = run(&sandbox, &text, &[("FAKE_COUNT", "2")]);
    assert!(!said.error.contains("copies"), "{said:?}");
    for part in
        ["on cuda:0,1 Fake GPU 0, Fake GPU 1, the one that needs most", "\ncuda:1 Fake GPU 1 "]
    {
        assert!(said.out.contains(part), "{part}: {said:?}");
    }
}

#[test]
fn device_memory_without_a_gpu_is_refused() {
    let sandbox = without_driver();
    for command in COMMANDS {
        let run = format!("{command} graph.txt -o out.txt --device-memory 1GiB");
        let parts = ["is for a GPU", "there is no NVIDIA driver", "leave --device-memory out"];
        fails(&sandbox, &run, &[], 2, &parts);
        let parts = ["is for a GPU", "the device is cpu"];
        fails(&sandbox, &format!("{run} --device cpu"), &[], 2, &parts);
        fails(&sandbox, &format!("{run} --device cuda"), &[], 1, &["no NVIDIA driver"]);
    }
}

#[test]
fn a_graph_that_does_not_fit_the_gpu() {
    let sandbox = with_driver();
    for command in COMMANDS {
        ok(&sandbox, &format!("{command} graph.txt -o cpu.txt --device cpu"));
        let run = format!("{command} graph.txt --device-memory 1KiB");
        let figure = "the memory of Fake GPU 0";
        let allowed = "1.0 KiB is what --device-memory allows";
        let parts = ["the run needs", figure, allowed, "help: allow "];
        fails(&sandbox, &format!("{run} -o out.txt --device cuda"), &[], 1, &parts);
        let said = ok(&sandbox, &format!("{run} -o out.txt --stats stats.json"));
        assert!(said.error.contains("note: running on the CPU: the run needs"), "{said:?}");
        assert!(said.error.contains(figure), "{said:?}");
        assert_eq!(sandbox.read("out.txt"), sandbox.read("cpu.txt"));
        let stats = sandbox.json("stats.json");
        let found = (&stats["device"], &stats["bytes"]["planned_device"]);
        assert_eq!(found, (&"cpu".into(), &0.into()));
        std::fs::remove_file(sandbox.path("out.txt")).unwrap();
    }
}

#[test]
fn an_estimate_tells_of_the_gpu() {
    let sandbox = with_driver();
    let purposes = ["labels and active vertices", "each edge once"];
    for (command, purpose) in COMMANDS.into_iter().zip(purposes) {
        let text = ok(&sandbox, &format!("{command} graph.txt --estimate --device cuda")).out;
        for part in ["\n\non cuda:0 Fake GPU 0\ngraph ", purpose] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert_eq!(text.matches("\ntotal ").count(), 2, "{text}");
        let estimate = |flags: &str| -> Value {
            let said = ok(&sandbox, &format!("{command} graph.txt --estimate=json {flags}"));
            serde_json::from_str(&said.out).unwrap()
        };
        for flags in ["", "--device cuda", "--device cuda --device-memory 1KiB"] {
            let estimate = estimate(flags);
            let number = |name: &str| estimate[name].as_u64().unwrap();
            assert_eq!(estimate["device"], "cuda:0 Fake GPU 0", "{flags}");
            let items = estimate["device_plan"].as_array().unwrap().iter();
            let sum: u64 = items.map(|item| item["bytes"].as_u64().unwrap()).sum();
            assert_eq!(number("algorithm_device"), sum);
            assert_eq!(number("planned_device"), number("graph_device") + sum);
            assert!(number("graph_device") > 0 && sum > 0, "{estimate}");
        }
        if command == "communities" {
            // The state comes to the host: 4 bytes and a bit for each vertex.
            let kept = &estimate("--device cuda --checkpoint kept")["plan"];
            let is_kept = |item: &&Value| item["purpose"] == "a checkpoint";
            let kept = kept.as_array().unwrap().iter().find(is_kept).expect("it is planned");
            assert_eq!(kept["bytes"], 6 * 4 + 8);
            let on_cpu = &estimate("--device cpu --checkpoint kept")["plan"];
            assert!(!on_cpu.as_array().unwrap().iter().any(|item| is_kept(&item)));
        }
        // The output has what would be run.
        let estimate = estimate("--device-memory 1KiB");
        assert_eq!((&estimate["device"], &estimate["planned_device"]), (&"cpu".into(), &0.into()));
    }
}

/// The GPU fails at kernels, so that a note shows that a run was on it.
#[test]
fn refinement_is_on_the_gpu_but_for_profiles() {
    let sandbox = with_driver();
    sandbox.write("fixed.txt", "1\n2\n");
    let run_of = |flags: &str, device: &str| {
        format!("communities graph.txt -o out.txt --refine modularity {flags} --device {device}")
    };
    let flags = ["", "--directed", "--fixed fixed.txt", "--max-size 2", "--dendrogram d.csv"];
    let more =
        ["--directed --fixed fixed.txt --max-size 3", "--checkpoint kept --checkpoint-every 1"];
    for flags in flags.into_iter().chain(more) {
        ok(&sandbox, &run_of(flags, "cpu"));
        let expected = sandbox.read("out.txt");
        std::fs::remove_file(sandbox.path("out.txt")).unwrap();
        fails(&sandbox, &run_of(flags, "cuda"), &[], 1, &["GPU", "--device cpu"]);
        let said = ok(&sandbox, &run_of(flags, "auto"));
        assert!(said.error.contains("note: running on the CPU: "), "{flags}: {said:?}");
        assert_eq!(sandbox.read("out.txt"), expected, "{flags}");
        std::fs::remove_file(sandbox.path("out.txt")).unwrap();
        let estimate = ok(&sandbox, &format!("{} --estimate", run_of(flags, "auto"))).out;
        assert!(estimate.contains("on cuda:0 Fake GPU 0\n"), "{flags}: {estimate}");
    }
    let (flags, sentence) = ("--resolution-profile p.csv", "--resolution-profile runs on the CPU");
    fails(&sandbox, &run_of(flags, "cuda"), &[], 2, &[sentence, "--device cpu"]);
    fails(&sandbox, &run_of(flags, "auto --device-memory 8MiB"), &[], 2, &[sentence]);
    ok(&sandbox, &run_of(flags, "cpu"));
    let expected = sandbox.read("out.txt");
    let said = ok(&sandbox, &run_of(&format!("{flags} --stats s.json"), "auto"));
    assert!(!said.error.contains("CPU"), "{flags}: {said:?}");
    assert_eq!(
        (sandbox.read("out.txt"), &sandbox.json("s.json")["device"]),
        (expected, &"cpu".into())
    );
    std::fs::remove_file(sandbox.path("out.txt")).unwrap();
}

/// The state comes to the host: 4 bytes, one byte and a bit for each vertex.
#[test]
fn the_copy_of_a_refinement_s_state_is_planned() {
    let sandbox = with_driver();
    for (device, bytes) in [("cuda", 6 * 5 + 8), ("cpu", 8)] {
        let flags = "--refine modularity --checkpoint kept --estimate=json";
        let run = format!("communities graph.txt -o out.txt {flags} --device {device}");
        let estimate: Value = serde_json::from_str(&ok(&sandbox, &run).out).unwrap();
        let mut items = estimate["plan"].as_array().unwrap().iter();
        let kept = items.find(|item| item["purpose"] == "a checkpoint").expect("it is planned");
        assert_eq!(kept["bytes"], bytes, "{device}");
    }
}

#[test]
fn a_gpu_that_fails_leaves_the_run_to_the_cpu_under_auto_alone() {
    let sandbox = with_driver();
    for command in [
        "communities",
        "communities --schedule sync",
        "communities --program llp --sweep 2",
        "communities --program-file loud.rs --param voice=3",
        "lcc",
        "closeness",
        "apsp",
    ] {
        ok(&sandbox, &format!("{command} graph.txt -o cpu.txt --device cpu"));
        // Without NVRTC, the kernels do not compile; with it, the first of them is the GPU's end.
        let run = format!("{command} graph.txt -o out.txt");
        fails(&sandbox, &format!("{run} --device cuda"), &[], 1, &["GPU", "--device cpu"]);
        let said = ok(&sandbox, &run);
        let notes = said.error.lines().filter(|line| line.starts_with("note: "));
        assert!(notes.count() == 1 && said.error.contains("running on the CPU: "), "{said:?}");
        assert_eq!(sandbox.read("out.txt"), sandbox.read("cpu.txt"), "{command}");
        std::fs::remove_file(sandbox.path("out.txt")).unwrap();
    }
}
