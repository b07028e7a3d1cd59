//! Detects the header of a table and the columns of an edge from the first rows.
//!
//! ```text
//! --no-header                                             no header
//! --header, names of --columns, or a known pair of names  header
//! no name above integers first, a known pair behind       header
//! 0,1,2… above nothing but words                          header
//! other numbers above nothing but words                   an error: ambiguous
//! a number in the first row                               no header
//! a word above numbers (or dates) only                    header
//! words above words: an id of the first row recurs        no header
//!                    both ends are codes (X17, a@b.org)   no header
//!                    words above nothing but codes        header
//!                    none of these                        an error: ambiguous
//! ```
//!
//! With a header, the columns are those of `--columns`, else a known pair of names at any position; else the
//! first two, if there are no other candidates. Without a header, they are the first two, if these are
//! integers or the table has at most three columns; or those beside a column of one constant mark, such as
//! `->`. Columns that are chosen by position alone must both be integers or both be words. Anything else is
//! an error with the first two rows and the option to use.

mod decision;
mod graphs;
mod sample;
mod sentences;
mod times;

pub(super) use decision::Decision;
pub(crate) use decision::number;
pub(crate) use sample::{KnownEnds, known_ends};
pub(super) use sample::{
    MOST_ROWS, Sample, is_decimal_comma, is_number_like, is_padded, is_several,
};
