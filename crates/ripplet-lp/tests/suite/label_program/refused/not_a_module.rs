use ripplet_lp::hooks::label_program;

#[label_program]
pub struct Mine;

#[label_program(fast)]
mod with_arguments {}

#[label_program]
mod empty {}

fn main() {}
