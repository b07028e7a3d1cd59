//! A graph's lists in a device's memory, shared by label propagation and the clustering coefficient.
//!
//! Imports point upwards in this list only:
//!
//! | file | what it has |
//! |---|---|
//! | `kernel.rs` | structs that the host and the kernels share |
//! | `plain.rs`, `compressed.rs` | places of lists that are all on the device |
//! | `stored.rs` | lists in the host's memory |
//! | `load.rs`, `stretch.rs` | copies of lists to the staging area, by the host and by the copy engine |
//! | `split.rs` | which lists are on the device, and the room for the others |
//! | `streamed.rs` | places of lists that are partly on the device |
//! | `places.rs` | places of lists of any storage, whole or split |

mod compressed;
mod kernel;
mod load;
mod places;
mod plain;
mod split;
mod stored;
mod streamed;
mod stretch;

pub(crate) use kernel::{
    Compressed, CompressedShard, Copied, LONG_PIECE_BYTES, Lists, ShardStart, StreamedShard,
};
pub(crate) use load::{Load, STAGING_BUFFER_BYTES, STAGING_LISTS, STAGING_WORDS, refused};
pub(crate) use places::StoredPlaces;
pub(crate) use plain::GraphPlaces;
pub(crate) use split::Split;
pub use split::Supply;
pub(crate) use stored::arrays_of;
pub(crate) use streamed::StreamedPlaces;
pub(crate) use stretch::{Stretch, stretches};
