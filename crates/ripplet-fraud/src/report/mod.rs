//! `report.html`: the findings of a run as one file for a browser, without a network.
//!
//! ```text
//! window, findings, known bad ─▶ WindowReport ─(report.json.gz of the window)─▶ Document, newest first ─▶ page
//! ```
//!
//! The part of a window is built when the window is finished, and can be kept in a file. The page consists of
//! the parts of any number of windows, newest first, as far as [`PageLimits`] allows. The page says what is
//! left out. Its parts are compressed, and a browser unpacks those of a window when it is opened.
//!
//! The file loads nothing else: its Content-Security-Policy allows only the script and the style inside it,
//! by their hashes, and no requests. Ids are inserted as text.
//!
//! Memory: about four times the page's size, and one window's part.
//!
//! Determinism: equal parts give equal bytes; the layout of a cluster depends on the cluster alone.

mod document;
mod events;
mod others;
mod page;
mod run;
mod search;
mod window_report;

pub use crate::output::WindowFindings;
pub use document::{PageLimits, ReportBuilder};
pub use others::{OtherReport, Presence};
pub use page::write_report;
pub use run::Run;
pub use window_report::{
    ClusterReport, EdgeReport, EntityReport, Evidence, ExplanationReport, FlowReport,
    InactiveEntryReport, ListStatus, MemberReport, ReportLimits, TransactionReport, WindowReport,
};
