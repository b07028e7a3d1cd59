//! The generated families, by name: what is measured.

use ripplet_graph::EdgeTable;
use ripplet_graph::generate::{Rmat, Road, Social, Web};
use std::error::Error;

/// A graph of 2^`scale` vertices.
pub fn edges(family: &str, scale: u32) -> Result<EdgeTable, Box<dyn Error>> {
    Ok(match family {
        "web" => Web::new(scale).generate()?,
        "social" => Social::new(scale).generate()?,
        "rmat" => Rmat::new(scale).generate()?,
        "road" => Road::new(scale).generate()?,
        _ => return Err("expected web, social, rmat or road".into()),
    })
}
