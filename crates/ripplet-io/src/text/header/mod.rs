//! What the first rows of a table say of its columns: whether the first row names them, and which are the edge's.
//!
//! ```text
//! --no-header                                             no header
//! --header, names of --columns, or a known pair of names  header
//! no name above integers first, a known pair behind       header
//! 0,1,2… above nothing but words                          header
//! other numbers above nothing but words                   refused: it may be either
//! a number in the first row                               no header
//! a word above numbers (or dates) only                    header
//! words above words: an id of the first row comes again   no header
//!                    both ends are codes (X17, a@b.org)   no header
//!                    words above nothing but codes        header
//!                    none of these                        refused: it may be either
//! ```
//!
//! With a header, the columns are those of `--columns`, else a known pair of names, wherever in the row they
//! stand; else the first two, if there are no others that could be meant. Without one, they are the first two,
//! where these hold integers or the table has no more than three columns; or those beside a column of one same mark, such
//! as `->`. Columns that are taken for their place alone hold both integers or both words. Anything else is refused with
//! the first two rows and the option to use.

mod decision;
mod graphs;
mod names;
mod sample;
mod sentences;
mod times;

pub use names::{KNOWN_COLUMN_PAIRS, KNOWN_WEIGHT_NAMES, UNSPECIFIC_WORDS};

pub(super) use decision::Decision;
pub(crate) use decision::number;
pub(crate) use names::{KnownEnds, is_graph_name, is_weight_name, known_ends};
pub(super) use sample::{
    MOST_ROWS, Sample, is_decimal_comma, is_number_like, is_padded, is_several,
};
