//! The command `ripplet` from the outside: processes, exit codes, sentences, files.

mod analyses;
mod arguments;
mod bad_input;
mod bad_rows;
#[cfg(target_os = "linux")]
mod bench;
mod centrality;
#[cfg(target_os = "linux")]
mod checkpoints;
mod devices;
mod documents;
mod draw;
#[cfg(target_os = "linux")]
mod driver;
mod exchange;
#[cfg(target_os = "linux")]
mod faults;
mod flow;
mod fraud;
#[cfg(target_os = "linux")]
mod gpu;
mod graphalytics;
mod hostile;
#[cfg(target_os = "linux")]
mod injected;
mod interrupt;
mod knobs;
mod lcc;
mod manual;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(all(target_os = "linux", feature = "object-storage"))]
mod object_checkpoints;
#[cfg(all(target_os = "linux", feature = "object-storage"))]
mod object_outputs;
#[cfg(all(target_os = "linux", feature = "object-storage"))]
mod object_storage;
mod outputs;
#[cfg(target_os = "linux")]
mod parts;
mod programs;
mod quality;
#[cfg(target_os = "linux")]
mod ranks;
#[cfg(target_os = "linux")]
mod ranks_batches;
#[cfg(all(target_os = "linux", feature = "fraud"))]
mod ranks_fraud;
#[cfg(target_os = "linux")]
mod ranks_hosts;
mod regression;
#[cfg(all(target_os = "linux", feature = "object-storage"))]
mod s3;
mod sandbox;
mod storage;
mod swarm;
mod tables;
mod words;
