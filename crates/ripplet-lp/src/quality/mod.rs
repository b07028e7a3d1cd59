//! How good communities are.
