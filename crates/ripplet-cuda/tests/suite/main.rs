//! The GPU engine's tests.

mod shim;
