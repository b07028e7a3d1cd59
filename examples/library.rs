//! Communities of a file, from a Rust program.

use ripplet::Device;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = ripplet::load("examples/graphs/payments.csv".as_ref(), &Default::default())?;
    let found = ripplet::communities(&graph).program("lpa")?.device(Device::auto()).run()?;
    for community in found.by_size().iter().take(5) {
        let members: Vec<String> = community.members().take(4).map(|id| id.to_string()).collect();
        println!("{} members: {}, …", community.len(), members.join(", "));
    }
    Ok(())
}
