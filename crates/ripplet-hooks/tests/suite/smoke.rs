#[test]
fn smoke() {
    let text = include_str!("../programs/attenuated.rs");
    match ripplet_hooks::read_program("attenuated.rs", text) {
        Ok(module) => println!("{module:#?}"),
        Err(errors) => panic!("{errors}"),
    }
}
