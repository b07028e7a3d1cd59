//! The argument `--storage`.

use crate::failure::Failure;
use clap::{Args, ValueEnum};
use ripplet::Storage;

/// The storage of the lists of neighbours.
#[derive(Args)]
pub struct StorageArguments {
    /// Storage of the neighbour lists [default: as the file has them: an .rgz compressed,
    /// anything else plain].
    #[arg(long, value_enum)]
    storage: Option<StorageName>,
}

/// The storages by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StorageName {
    /// As they are: 4 bytes an arc, 8 with weights
    Plain,
    /// In fewer bytes, decoded wherever they are read: slower
    Compressed,
}

impl StorageArguments {
    /// Returns the storage, if it is not as in the file.
    pub fn get(&self) -> Option<Storage> {
        self.storage.map(|name| match name {
            StorageName::Plain => Storage::Plain,
            StorageName::Compressed => Storage::Compressed,
        })
    }

    /// Returns whether compressed lists are requested.
    pub fn is_compressed(&self) -> bool {
        self.storage == Some(StorageName::Compressed)
    }

    /// Refuses compressed lists for a batch.
    pub fn check_of_batch(&self) -> Result<(), Failure> {
        match self.is_compressed() {
            true => Err(Failure::refused(
                "--storage compressed is of the lists of one graph, and this is a batch",
                "leave --storage out, or name one graph of the batch",
            )),
            false => Ok(()),
        }
    }
}
