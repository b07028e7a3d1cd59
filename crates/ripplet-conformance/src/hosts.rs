//! Network namespaces as the machines of a cluster, for tests of ranks over a real network.
//!
//! ```text
//!            bridge, 10.213.N.254: the launcher
//!    ┌───────────┬───┴───────┬───────────┐
//!  node1       node2       node3       node4       a namespace each, with a name and an interface of its own
//! ```
//!
//! Ranks in different namespaces can reach one another through these interfaces alone, whose counters, rates and
//! links are the tests' to read and to change. The file system is common, as a cluster's shared one is.
//!
//! It needs root and `ip`, `tc` and `unshare`; without them, the tests say so and do nothing.

use crate::launcher::Mpi;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Namespaces on one bridge; removed at the end.
#[derive(Debug)]
pub struct Hosts {
    /// What the names of all begin with: of this process alone, so that two runs of the tests do not meet.
    prefix: String,
    /// The first three numbers of all addresses.
    network: String,
    count: usize,
    agent: PathBuf,
}

impl Hosts {
    /// Creates these hosts, called `node1` and so on; `None`, with a word, if this process may not. `folder` gets the
    /// script by which a launcher reaches them.
    pub fn new(count: usize, folder: &Path) -> Option<Hosts> {
        let process = std::process::id();
        let (prefix, network) = (format!("rpl{process}"), format!("10.213.{}", process % 256));
        let hosts = Hosts { prefix, network, count, agent: folder.join("agent") };
        match hosts.begin() {
            Ok(()) => Some(hosts),
            Err(why) => {
                eprintln!("not tested, as network namespaces are not to be had: {why}");
                None
            }
        }
    }

    fn begin(&self) -> Result<(), String> {
        let Hosts { prefix, network, .. } = self;
        ip(&format!("link add {prefix}b type bridge"))?;
        ip(&format!("addr add {network}.254/24 dev {prefix}b"))?;
        ip(&format!("link set {prefix}b up"))?;
        for host in 1..=self.count {
            let (space, wire) = (format!("{prefix}n{host}"), format!("{prefix}v{host}"));
            ip(&format!("netns add {space}"))?;
            ip(&format!("link add {wire} type veth peer name eth0 netns {space}"))?;
            ip(&format!("link set {wire} master {prefix}b up"))?;
            ip(&format!("-n {space} addr add {network}.{host}/24 dev eth0"))?;
            ip(&format!("-n {space} link set eth0 up"))?;
            ip(&format!("-n {space} link set lo up"))?;
        }
        // What a launcher calls in place of ssh: options, the address of a host, and a command.
        let script = format!(
            "#!/bin/sh\n\
             while [ \"${{1#-}}\" != \"$1\" ]; do shift; done\n\
             host=${{1##*.}}; shift\n\
             exec ip netns exec {prefix}n$host unshare --uts sh -c \"hostname node$host; $*\"\n"
        );
        fs::write(&self.agent, script).map_err(|error| error.to_string())?;
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&self.agent, executable).map_err(|error| error.to_string())
    }

    /// Returns the launcher with a rank on each host, without the command that they run. Messages take the network:
    /// shared memory, which the ranks of one system have, is off.
    pub fn launcher(&self, mpi: &Mpi) -> Command {
        let address = |host: usize| format!("{}.{host}", self.network);
        let hosts = (1..=self.count).map(address).collect::<Vec<_>>().join(",");
        let mut command = mpi.launcher();
        if mpi.is_open_mpi() {
            command.args(["--allow-run-as-root", "--prtemca", "plm_ssh_agent"]).arg(&self.agent);
            command.args(["--mca", "pml", "ob1", "--mca", "btl", "tcp,self"]);
            command.args(["--map-by", "node", "--host", &hosts]);
        } else {
            command.env("MPIR_CVAR_NOLOCAL", "1");
            command.env("UCX_TLS", "tcp,self").env("FI_PROVIDER", "tcp");
            command.args(["-launcher", "ssh", "-launcher-exec"]).arg(&self.agent);
            command.args(["-localhost", &address(254), "-hosts", &hosts]);
        }
        command.args(["-n", &self.count.to_string()]);
        command
    }

    /// Returns the bytes that each host has sent.
    pub fn sent(&self) -> Vec<u64> {
        // On the other end of its wire they are those that were received.
        let counter = |host| {
            let wire = format!("{}v{host}", self.prefix);
            format!("/sys/class/net/{wire}/statistics/rx_bytes")
        };
        let read = |host| fs::read_to_string(counter(host)).unwrap().trim().parse().unwrap();
        (1..=self.count).map(read).collect()
    }

    /// Sends what each host sends through this queue of `tc`, such as `tbf rate 100mbit burst 64kb latency 400ms`.
    ///
    /// # Errors
    /// What `tc` says, if the system has no such queue.
    pub fn shape(&self, queue: &str) -> Result<(), String> {
        (1..=self.count).try_for_each(|host| {
            let space = format!("{}n{host}", self.prefix);
            said(
                Command::new("tc").args(["-n", &space, "qdisc", "replace", "dev", "eth0", "root"]),
                queue,
            )
        })
    }

    /// Takes the link of a host down, or up again.
    pub fn link(&self, host: usize, is_up: bool) {
        let state = if is_up { "up" } else { "down" };
        ip(&format!("-n {}n{host} link set eth0 {state}", self.prefix)).unwrap();
    }

    /// Returns how many processes of this program run on all hosts.
    pub fn running(&self, program: &Path) -> usize {
        let processes = (1..=self.count).flat_map(|host| {
            let space = format!("{}n{host}", self.prefix);
            let listed = Command::new("ip").args(["netns", "pids", &space]).output().unwrap();
            let listed = String::from_utf8(listed.stdout).unwrap();
            listed.lines().map(str::to_owned).collect::<Vec<_>>()
        });
        let runs = |process: &String| {
            fs::read_link(format!("/proc/{process}/exe")).is_ok_and(|runs| runs == program)
        };
        processes.filter(runs).count()
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        // Of hosts that could not be created, there may be some.
        for host in 1..=self.count {
            let _ = ip(&format!("netns del {}n{host}", self.prefix));
            let _ = ip(&format!("link del {}v{host}", self.prefix));
        }
        let _ = ip(&format!("link del {}b", self.prefix));
    }
}

/// Runs `ip` with these arguments.
fn ip(arguments: &str) -> Result<(), String> {
    said(&mut Command::new("ip"), arguments)
}

fn said(command: &mut Command, arguments: &str) -> Result<(), String> {
    command.args(arguments.split_whitespace());
    let named = format!("{command:?}");
    match command.output() {
        Ok(Output { status, .. }) if status.success() => Ok(()),
        Ok(Output { stderr, .. }) => {
            Err(format!("{named}: {}", String::from_utf8_lossy(&stderr).trim()))
        }
        Err(error) => Err(format!("{named}: {error}")),
    }
}
