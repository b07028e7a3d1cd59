//! `#[label_program]` as users write it.

mod attenuated;
mod native;
mod refusals;
