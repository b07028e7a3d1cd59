//! Benchmarks of ripplet beside its peers and ceilings.
fn main() {}
