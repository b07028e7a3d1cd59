//! Synthetic graphs, deterministic from a seed and built on all cores.
