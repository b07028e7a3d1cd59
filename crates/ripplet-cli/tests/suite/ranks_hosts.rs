//! Runs whose ranks are on several machines: network namespaces, each with an interface of its own.

use crate::sandbox::{Said, Sandbox, data};
use ripplet_conformance::hosts::Hosts;
use ripplet_conformance::launcher::{Mpi, output};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

const RIPPLET: &str = env!("CARGO_BIN_EXE_ripplet");

/// The hosts have one network: one test at a time has it.
fn alone() -> MutexGuard<'static, ()> {
    static NETWORK: Mutex<()> = Mutex::new(());
    NETWORK.lock().unwrap_or_else(PoisonError::into_inner)
}

fn launch(hosts: &Hosts, mpi: &Mpi, sandbox: &Sandbox, arguments: &str) -> Command {
    let mut command = hosts.launcher(mpi);
    command.current_dir(sandbox.path("")).arg(RIPPLET).args(arguments.split_whitespace());
    command
}

#[test]
fn four_hosts_write_the_bytes_of_one_process_and_send_what_they_say() {
    let _alone = alone();
    let (sandbox, scripts) = (Sandbox::new(), Sandbox::new());
    let Some(hosts) = Hosts::new(4, &scripts.path("")) else { return };
    sandbox.ok(&format!("convert {} g.rg", data("../examples/graphs/pgp.graph").display()));
    sandbox.ok("communities g.rg -o one.tsv");
    let expected = sandbox.read("one.tsv");
    let (slow, lossy) = ("tbf rate 100mbit burst 64kb latency 400ms", "netem loss 1%");
    for (mpi, network) in Mpi::all().flat_map(|mpi| ["", slow, lossy].map(|of| (mpi.clone(), of))) {
        if !network.is_empty()
            && let Err(why) = hosts.shape(network)
        {
            eprintln!("not tested: {why}");
            continue;
        }
        for labels in ["all", "ghosts"] {
            let before = hosts.sent();
            let run = format!("communities g.rg --rank-labels {labels} --stats s.json -o out.tsv");
            let said = Said::of(output(&mut launch(&hosts, &mpi, &sandbox, &run)));
            assert_eq!((said.code, &*said.out), (Some(0), ""), "{network}: {said:?}");
            assert_eq!(sandbox.read("out.tsv"), expected, "{network}");
            let figures = &sandbox.json("s.json")["ranks"];
            assert_eq!(figures["hosts"], serde_json::json!(["node1", "node2", "node3", "node4"]));
            for (host, (before, after)) in before.iter().zip(hosts.sent()).enumerate() {
                let (sent, said) = (after - before, figures["sent"][host].as_u64().unwrap());
                assert!(said > 0 && sent >= said, "host {host} sent {sent}, and says {said}");
            }
        }
    }
}

#[test]
fn a_link_that_goes_down_ends_all_ranks_within_the_deadline() {
    let _alone = alone();
    let (sandbox, scripts) = (Sandbox::new(), Sandbox::new());
    let Some(hosts) = Hosts::new(4, &scripts.path("")) else { return };
    sandbox.ok(&format!("convert {} g.rg", data("../examples/graphs/pgp.graph").display()));
    // So slow that the link goes down in the midst of the rounds, wherever the test runs.
    if let Err(why) = hosts.shape("tbf rate 4mbit burst 16kb latency 400ms") {
        return eprintln!("not tested: {why}");
    }
    let run = "communities g.rg --program slpa --rank-labels all --rank-deadline 5 -o out.tsv";
    for mpi in Mpi::all() {
        let before = hosts.sent()[1];
        let mut command = launch(&hosts, &mpi, &sandbox, run);
        let launcher = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let wait = |what: &str, is_so: &dyn Fn() -> bool| {
            let begun = Instant::now();
            while !is_so() {
                assert!(begun.elapsed() < Duration::from_secs(60), "not within a minute: {what}");
                sleep(Duration::from_millis(20));
            }
            begun.elapsed()
        };
        wait("messages of the second host", &|| hosts.sent()[1] - before > 500_000);
        assert_eq!(hosts.running(Path::new(RIPPLET)), 4);
        hosts.link(2, false);
        // Five seconds, and what a busy machine takes in addition.
        let ended = wait("the end of all ranks", &|| hosts.running(Path::new(RIPPLET)) == 0);
        assert!(ended < Duration::from_secs(30), "{ended:?}");
        // The launchers themselves wait for their own process on that host.
        hosts.link(2, true);
        let said = Said::of(launcher.wait_with_output().unwrap());
        // MPICH's launcher sometimes fails by itself once the link is back.
        let failed = said.error.contains("launcher returned error");
        assert!(said.code == Some(1) || failed, "{said:?}");
        assert!(said.error.contains("is silent since 5 s"), "{said:?}");
        assert!(said.error.contains("or the network between them is down"), "{said:?}");
        assert_eq!(sandbox.names(), ["g.rg"]);
    }
}
