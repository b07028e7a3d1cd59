//! The argument `--storage`.

use crate::failure::Failure;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use ripplet::Storage;

/// The storage of the lists of neighbours.
#[derive(Args)]
pub struct StorageArguments {
    /// Storage of the neighbour lists [default: as the file has them: an .rgz compressed,
    /// anything else plain].
    #[arg(long, value_parser = storages())]
    storage: Option<Storage>,
}

/// Reads a storage by its name.
fn storages() -> impl TypedValueParser<Value = Storage> {
    let value = |of: Storage| PossibleValue::new(of.name()).help(of.summary());
    let names = PossibleValuesParser::new(Storage::NAMED.map(value));
    // The parser passes no other name on.
    names.map(|name| Storage::named(&name).unwrap_or(Storage::Plain))
}

impl StorageArguments {
    /// Returns the storage, if it is not as in the file.
    pub fn get(&self) -> Option<Storage> {
        self.storage
    }

    /// Refuses other than plain lists for a batch.
    pub fn check_of_batch(&self) -> Result<(), Failure> {
        match self.storage {
            Some(Storage::Plain) | None => Ok(()),
            Some(other) => Err(Failure::refused(
                format!("--storage {other} is of the lists of one graph, and this is a batch"),
                "leave --storage out, or name one graph of the batch",
            )),
        }
    }
}
