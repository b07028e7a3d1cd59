//! `report.html`: what a run found, as one file for a browser that works without a network.
//!
//! ```text
//! window, findings, known bad ─▶ WindowReport ─(report.json of the window)─▶ Document, newest first ─▶ page
//! ```
//!
//! A window's part is made when the window is finished, and can be kept in a file. The page is made of the parts
//! of any number of windows, newest first, as far as [`PageLimits`] lets them in; what is left out is said in it.
//!
//! The file asks for nothing else, and a browser would not let it: its Content-Security-Policy allows the script
//! and the style that are in it, by their hashes, and no requests. Ids go into the page as text.
//!
//! Memory: the page's bytes about four times, and one window's part.
//!
//! Determinism: the same parts give the same bytes; where vertices are drawn depends on the cluster alone.

mod document;
mod events;
mod page;
mod search;
mod window_report;

pub use crate::output::WindowFindings;
pub use document::{PageLimits, ReportBuilder};
pub use page::{Run, write_report};
pub use window_report::{
    ClusterReport, EdgeReport, Evidence, InactiveEntryReport, ListStatus, MemberReport,
    OtherReport, Presence, ReportLimits, WindowReport,
};
