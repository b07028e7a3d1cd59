//! Detects the layout of a table from its first rows.

use super::header::{Decision, Sample, is_number_like, is_padded};
use super::json_lines::{self, Keys};
use super::layout::{IdRole, Ids, Layout};
use super::sample_error::SampleError;
use super::separator::{BLANKS, Separator, fields};
use super::widths::FirstRow;
use super::{delimiter, widths};
use crate::intern::Sign;
use crate::summary::{ReadColumns, ReadGraphColumns};
use crate::{Format, Header, IdKind, ReadOptions};
use std::sync::Arc;

impl Layout {
    /// Returns the layout of a table that starts with these rows, and its columns; otherwise the error of one
    /// of them.
    pub(super) fn of(
        rows: &[&[u8]],
        format: Format,
        options: &ReadOptions,
    ) -> Result<(Layout, ReadColumns), SampleError> {
        let separator = delimiter::of_rows(rows, format, options)?;
        let mut sample = Sample::of(rows, separator)?;
        sample.ends_first |= format == Format::EdgeList;
        if options.header == Header::Absent {
            sample = sample.without_row_names();
        }
        let (mut layout, columns) = Layout::of_sample(&sample, separator, options)?;
        let is_asked = sample.is_asked_by_number(options) && !layout.header;
        if separator != BLANKS && !is_asked {
            layout.width = widths::check(rows, &layout, FirstRow::of(&sample))?;
        }
        Ok((layout, columns))
    }

    /// Returns the layout of a table whose first row has known names, if it has, and as many as the rows have fields: as
    /// [`Layout::of`].
    pub(super) fn of_known_names(
        rows: &[&[u8]],
        format: Format,
        options: &ReadOptions,
    ) -> Option<Result<(Layout, ReadColumns), SampleError>> {
        let separator = delimiter::of_rows(rows, format, options).ok()?;
        let names = fields(rows[0], separator).collect::<Result<Vec<_>, _>>().ok()?;
        let width = names.len();
        let is_even = rows.iter().all(|row| fields(row, separator).count() == width);
        let is_known = Sample::new(names, Vec::new()).has_known_names();
        let options = ReadOptions { header: Header::Present, ..options.clone() };
        (is_even && is_known).then(|| Layout::of(rows, format, &options))
    }

    /// Returns the layout of JSON lines that start with these: as [`Layout::of`].
    pub(super) fn of_json_lines(
        lines: &[&[u8]],
        options: &ReadOptions,
    ) -> Result<(Layout, ReadColumns), SampleError> {
        if options.header == Header::Absent {
            return Err(SampleError::from(
                "JSON lines name their columns by keys: leave --no-header out",
            ));
        }
        let mut sample = json_lines::sample(lines)?;
        sample.raw = lines.iter().take(2).copied().collect();
        let options = ReadOptions { header: Header::Present, ..options.clone() };
        let (layout, columns) = Layout::of_sample(&sample, BLANKS, &options)?;
        let key = |column| sample.name(column).filter(|_| layout.header);
        match (key(layout.source), key(layout.target)) {
            (Some(source), Some(target)) => {
                let weight = layout.weight.and_then(key);
                let keys = Some(Arc::new(Keys { source, target, weight }));
                Ok((Layout { keys, ..layout }, columns))
            }
            _ => Err("the first object has no keys for both ends of an edge: expected such as \
                      {\"source\": 1, \"target\": 2}"
                .into()),
        }
    }

    /// Returns the layout of an edge list under [`NAMED_TABS`]: as [`Layout::of`].
    pub(super) fn of_named_tabs(
        rows: &[&[u8]],
        options: &ReadOptions,
    ) -> Result<(Layout, ReadColumns), SampleError> {
        let mut options = options.clone();
        if options.header == Header::Auto {
            options.header = Header::Absent;
        }
        if options.ids == IdKind::Auto {
            options.ids = IdKind::Names;
        }
        let tab = Separator::Each(b'\t');
        let mut sample = Sample::of(rows, tab)?;
        sample.ends_known = true;
        Ok(Layout::of_sample(&sample, tab, &options)?)
    }

    fn of_sample(
        sample: &Sample<'_>,
        separator: Separator,
        options: &ReadOptions,
    ) -> Result<(Layout, ReadColumns), String> {
        let Decision { header, source, target, weight, mark } = sample.decide(options)?;
        let decimal_comma = options.weighted
            && separator != Separator::Each(b',')
            && separator != BLANKS
            && sample.has_decimal_commas(header, weight)?;
        let layout = Layout {
            separator,
            ids: ids_of(sample, header, [source, target], options.ids),
            source,
            target,
            weight: options.weighted.then_some(weight),
            header,
            of: IdRole::Vertices,
            exact: options.ids == IdKind::Auto,
            keys: None,
            width: None,
            decimal_comma,
            mark: mark.map(|column| (column, sample.first[column].to_vec())),
        };
        let columns = sample.columns(header, [source, target], layout.weight, mark);
        Ok((layout, columns))
    }

    /// Returns the layouts of the ends and of the graphs of a table of many graphs, and its columns; the
    /// graph of a row is both its ends.
    ///
    /// The ends are detected among the other columns as in a table of one graph.
    pub(super) fn of_graphs(
        rows: &[&[u8]],
        format: Format,
        options: &ReadOptions,
    ) -> Result<([Layout; 2], ReadGraphColumns), SampleError> {
        if format == Format::JsonLines {
            let formats = ".csv, .tsv, .parquet or .arrow";
            return Err(SampleError::from(format!(
                "a table of many graphs is read from {formats}, not from JSON lines"
            )));
        }
        let separator = delimiter::of_rows(rows, format, options)?;
        let mut sample = Sample::of(rows, separator)?;
        if options.header == Header::Absent {
            sample = sample.without_row_names();
        }
        let (graph, header) = sample.graph_column(options)?;
        sample.check_apart(graph, options)?;
        // Kind of the column, without a header and with one.
        let kind = if options.ids == IdKind::Names { IdKind::Names } else { IdKind::Auto };
        let ids = [false, true].map(|header| ids_of(&sample, header, [graph, graph], kind));
        let called = [false, true].map(|header| sample.read_column(graph, header));
        let first = FirstRow::of(&sample);
        let others = sample.without(graph);
        let of_edges = ReadOptions { header, ..options.clone() };
        let found = Layout::of_sample(&others, separator, &of_edges);
        let (edges, columns) = found.map_err(|why| {
            let graph = &called[usize::from(header == Header::Present)];
            format!("{why} (beside {graph}, the column of graphs)")
        })?;
        let place = |column| others.place_in_table(column);
        let edges = Layout {
            source: place(edges.source),
            target: place(edges.target),
            weight: edges.weight.map(place),
            mark: edges.mark.map(|(column, sign)| (place(column), sign)),
            ..edges
        };
        let edges = match separator == BLANKS {
            true => edges,
            false => Layout { width: widths::check(rows, &edges, first)?, ..edges },
        };
        let header = usize::from(edges.header);
        let graphs = Layout {
            ids: ids[header],
            source: graph,
            target: graph,
            weight: None,
            of: IdRole::Graphs,
            exact: kind == IdKind::Auto,
            mark: None,
            width: None,
            ..edges.clone()
        };
        let graph = called[header].clone();
        Ok(([edges, graphs], ReadGraphColumns { graph, edges: columns }))
    }
}

/// Returns the kind of ids, detected from the first edge unless the options fix it: names if any sampled id
/// is a padded number (`007`), whose value would be another id.
///
/// Integers that are negative or too large, and other numbers, are taken for wrong ids, not for names: a
/// silent change of kind would be a trap.
fn ids_of(sample: &Sample<'_>, header: bool, ends: [usize; 2], kind: IdKind) -> Ids {
    match kind {
        IdKind::Unsigned => Ids::Integers(Sign::Unsigned),
        IdKind::Signed => Ids::Integers(Sign::Signed),
        IdKind::Names => Ids::Names,
        IdKind::Auto => {
            let first = sample.data(header);
            let integers =
                ends.iter().filter_map(|&end| first.get(end)).all(|id| is_number_like(id));
            let padded = sample
                .rows(header)
                .any(|row| ends.iter().filter_map(|&end| row.get(end)).any(|id| is_padded(id)));
            if integers && !padded { Ids::Integers(Sign::Unsigned) } else { Ids::Names }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Columns;

    fn layout(rows: &str, format: Format, options: &ReadOptions) -> Result<Layout, String> {
        let lines: Vec<&[u8]> = rows.lines().map(str::as_bytes).collect();
        Ok(Layout::of(&lines, format, options)?.0)
    }

    fn of(rows: &str, format: Format) -> Layout {
        layout(rows, format, &ReadOptions::default()).unwrap()
    }

    #[test]
    fn the_first_row_tells_separator_and_ids() {
        let unsigned = Ids::Integers(Sign::Unsigned);
        assert_eq!(of("1 2", Format::Csv).separator, BLANKS);
        assert_eq!(of("1;2", Format::Csv).separator, Separator::Each(b';'));
        assert_eq!(of("\"a;b\",c", Format::Csv).separator, Separator::Each(b','));
        assert_eq!(of("1,2", Format::Tsv).separator, Separator::Each(b','));
        assert_eq!(of("a b\tc\nc\ta b", Format::EdgeList).separator, Separator::Each(b'\t'));
        assert_eq!(of("a b", Format::EdgeList).ids, Ids::Names);
        for numbers in ["1 2", "-1 2", "1 99999999999999999999", "1.5 2"] {
            assert_eq!(of(numbers, Format::EdgeList).ids, unsigned, "{numbers}");
        }
    }

    #[test]
    fn columns_are_found_by_name() {
        let [source, target, weight] = ["to", "by", "amount"].map(String::from);
        let columns = Columns { source, target, weight, ..Columns::default() };
        let options = ReadOptions { columns, weighted: true, ..ReadOptions::default() };
        let found = layout("by,day,amount,to\n1,x,2,3", Format::Csv, &options).unwrap();
        assert_eq!((found.source, found.target, found.weight), (3, 0, Some(2)));
        assert_eq!(found.ids, Ids::Integers(Sign::Unsigned));
        let missing = layout("by,day,to\n1,x,2,3", Format::Csv, &options).unwrap_err();
        assert!(missing.contains("`amount`") && missing.contains("by, day, to"), "{missing}");
        assert!(layout("1,2,3", Format::Csv, &options).is_err(), "no header");
        let wide: String = (0..5000).map(|at| format!(",y{at}")).collect();
        let many = format!("by,to,{}{wide}\n", "x".repeat(40));
        let message = layout(&many, Format::Csv, &options).unwrap_err();
        assert!(message.contains("and 4991 more") && message.len() < 300, "{message}");
    }
}
