//! Communities from a file that a command reads in addition to its graph.

use crate::console::Console;
use crate::failure::Failure;
use crate::output::named_input;
use clap::ValueEnum;
use ripplet::graph::VertexIds;
use ripplet::io::{self, LabelSummary, MembershipForm, Memberships, ReadOptions};
use ripplet::lp::quality::Cover;
use std::path::Path;

/// Meaning of a line in a file of communities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// Rows or memberships, as the first rows show; refused if they do not
    Auto,
    /// A vertex and a community that it is in
    Rows,
    /// A vertex and all communities that it is in
    Memberships,
    /// A community: the ids of its members
    Members,
}

impl From<Form> for MembershipForm {
    fn from(form: Form) -> MembershipForm {
        match form {
            Form::Auto => MembershipForm::Auto,
            Form::Rows => MembershipForm::Rows,
            Form::Memberships => MembershipForm::Memberships,
            Form::Members => MembershipForm::Members,
        }
    }
}

/// Communities, and their names in the file.
pub struct NamedCover {
    /// The communities, by number.
    pub cover: Cover,
    /// Their names, by number.
    pub names: Vec<String>,
    /// The report of the reader.
    pub summary: LabelSummary,
}

impl NamedCover {
    /// Reads the communities of the vertices of `ids`.
    ///
    /// # Errors
    /// If the file cannot be read, or no vertex has a community.
    pub fn read(
        path: &Path,
        form: Form,
        columns: Option<&LabelColumns>,
        ids: &VertexIds,
    ) -> Result<NamedCover, Failure> {
        let label_columns = columns.map(|columns| columns.0.clone());
        let options = ReadOptions { label_columns, ..ReadOptions::default() };
        let Memberships { memberships, names, summary } =
            io::read_memberships(path, form.into(), &options, ids)?;
        if memberships.is_empty() && !ids.is_empty() {
            return Err(Failure::refused(
                format!("{}: no vertex has a community", named_input(path)),
                "give a table with a vertex and its community in each row",
            ));
        }
        let cover = Cover::new(ids.len() as u32, names.len() as u32, memberships)?;
        Ok(NamedCover { cover, names, summary })
    }
}

/// Reports which columns of a table of labels were read, unless the table has no others.
pub fn say_columns(path: &Path, summary: &LabelSummary, console: &Console) {
    if !summary.is_plain() {
        console.remark(&format!("{}: {summary}", named_input(path)));
    }
}

/// The columns of ids and of labels in a table of labels, as the command line names them.
#[derive(Clone, Debug)]
pub struct LabelColumns(pub [String; 2]);

/// Parses `ID,LABEL`.
pub fn label_columns(text: &str) -> Result<LabelColumns, String> {
    match text.split(',').map(|name| name.trim().to_owned()).collect::<Vec<_>>().as_slice() {
        [id, label] if !id.is_empty() && !label.is_empty() => {
            Ok(LabelColumns([id.clone(), label.clone()]))
        }
        _ => Err("expected two columns, by name or by number from 1: ID,LABEL".into()),
    }
}
