//! Scorecards as files: `model.json` of a window, which a later run reads with `--model FILE`.

use super::scorecard::{FORMAT, Points, Scorecard};
use crate::evidence::Definition;
use crate::source::files;
use ripplet_graph::{OutOfMemory, memory};
use ripplet_io::{ReadError, read_small_text};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Size limit of a model in bytes: some ten thousand columns.
const LARGEST: u64 = 1 << 25;

/// Error of reading a model.
#[derive(Debug, Error)]
pub enum ModelError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The file is no model that can be used.
    #[error("{}: {why}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        why: String,
    },
    /// Memory allocation failed.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

/// Scorecard that was read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelFile {
    /// The file.
    pub path: PathBuf,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// The scorecard, with its tables in the order of the file.
    pub scorecard: Scorecard,
}

impl ModelFile {
    /// Reads and checks a scorecard.
    ///
    /// # Errors
    /// If the file cannot be read, is of another format, or has numbers that are not finite, intervals that do not
    /// ascend, or not one more points than ends.
    pub fn read(path: &Path) -> Result<ModelFile, ModelError> {
        let text = read_small_text(path, LARGEST, "a model, the model.json of a window")?;
        let invalid = |why: String| ModelError::Invalid { path: path.into(), why };
        let scorecard = parsed(&text).map_err(invalid)?;
        let (sha256, _) = files::fingerprint(path)?;
        Ok(ModelFile { path: path.into(), sha256, scorecard })
    }

    /// Returns the scorecard with a table for each column, in their order; without points for columns that the
    /// model does not have.
    ///
    /// # Errors
    /// If the model has evidence that is not among the columns.
    pub fn for_columns(&self, columns: &[Definition]) -> Result<Scorecard, ModelError> {
        let is_column = |table: &&Points| columns.iter().any(|column| column.key == table.evidence);
        if let Some(table) = self.scorecard.tables.iter().find(|table| !is_column(table)) {
            let keys: Vec<&str> = columns.iter().map(|column| column.key).collect();
            let why = format!(
                "this run has no evidence `{}`, only {}: take a model of a run with the same evidence",
                table.evidence,
                keys.join(", ")
            );
            return Err(ModelError::Invalid { path: self.path.clone(), why });
        }
        let mut tables = memory::with_room(columns.len())?;
        for column in columns {
            let table = self.scorecard.tables.iter().find(|table| table.evidence == column.key);
            let none =
                || Points { evidence: column.key.into(), ends: Vec::new(), points: vec![0.0] };
            tables.push(table.cloned().unwrap_or_else(none));
        }
        Ok(Scorecard { tables, ..self.scorecard.clone() })
    }
}

/// Parses and checks a scorecard; the error says what is wrong, and what to do.
fn parsed(text: &str) -> Result<Scorecard, String> {
    const EXPECTED: &str = "expected the model.json of a window of a run";
    let value: serde_json::Value = serde_json::from_str(text)
        .map_err(|error| format!("this is no JSON ({error}): {EXPECTED}"))?;
    match value.get("format").map(serde_json::Value::as_u64) {
        Some(Some(format)) if format == u64::from(FORMAT) => {}
        Some(Some(format)) => {
            return Err(format!(
                "the model is of format {format}, and this version reads {FORMAT}: write it anew by a run of this \
                 version with --model auto"
            ));
        }
        _ => return Err(format!("there is no number `format`: {EXPECTED}")),
    }
    let card: Scorecard = serde_json::from_value(value)
        .map_err(|error| format!("this is no model ({error}): {EXPECTED}"))?;
    if card.tables.is_empty() {
        return Err(format!("there are no tables: {EXPECTED}"));
    }
    for (at, table) in card.tables.iter().enumerate() {
        let Points { evidence, ends, points } = table;
        let wrong = |what: &str| Err(format!("the table of `{evidence}` {what}: {EXPECTED}"));
        if card.tables[..at].iter().any(|before| before.evidence == *evidence) {
            return wrong("is there twice");
        }
        if points.len() != ends.len() + 1 {
            let (points, ends) = (points.len(), ends.len());
            return wrong(&format!("has {points} points for {ends} ends, and needs one more"));
        }
        if !ends.iter().all(|end| end.is_finite()) || !points.iter().all(|of| of.is_finite()) {
            return wrong("has a number that is not finite");
        }
        if !ends.windows(2).all(|pair| pair[0] < pair[1]) {
            return wrong("has ends that do not ascend");
        }
    }
    let calibration = card.calibration;
    if !(calibration.slope > 0.0 && calibration.slope.is_finite() && calibration.offset.is_finite())
    {
        return Err(format!(
            "the calibration needs a slope above 0 and a finite offset, not {} and {}: {EXPECTED}",
            calibration.slope, calibration.offset
        ));
    }
    let largest = |table: &Points| table.points.iter().fold(0.0f64, |most, of| most.max(of.abs()));
    let most = card.tables.iter().map(largest).sum::<f64>() * calibration.slope;
    if !(most + calibration.offset.abs()).is_finite() {
        return Err(format!("the points add up to more than a number can hold: {EXPECTED}"));
    }
    Ok(card)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARD: &str = r#"{"format":1,"learnt":true,"known_bad":5,"others":9,"tables":[{"evidence":"burst","ends":[1.0,2.5],
        "points":[-1.0,0.25,2.0]}],"calibration":{"slope":1.5,"offset":-3.0}}"#;

    #[test]
    fn a_card_is_read_and_its_points_are_those_of_its_intervals() {
        let card = parsed(CARD).unwrap();
        let at = |value: f32| card.points([value]);
        assert_eq!([at(-9.0), at(1.0), at(1.1), at(2.5), at(2.6)], [-1.0, -1.0, 0.25, 0.25, 2.0]);
        assert!((card.probability(2.0) - 0.5).abs() < 1e-12);
        let text = serde_json::to_string(&card).unwrap();
        assert_eq!(parsed(&text).unwrap(), card);
    }

    #[test]
    fn damaged_models_are_refused_in_words() {
        let cases = [
            ("{\"format\"", "\"format\"", "no JSON"),
            ("\"format\":1", "\"format\":2", "of format 2, and this version reads 1"),
            ("\"format\":1,", "", "no number `format`"),
            ("\"known_bad\":5", "\"known_bad\":-5", "this is no model"),
            ("\"others\"", "\"strangers\"", "unknown field"),
            ("0.25", "NaN", "no JSON"),
            ("0.25", "null", "this is no model"),
            ("0.25,", "", "has 2 points for 2 ends"),
            ("2.5]", "1e39]", "not finite"),
            ("2.5]", "1.0]", "do not ascend"),
            ("\"slope\":1.5", "\"slope\":0", "a slope above 0"),
            ("0.25", "-1.5e308", "add up to more than a number can hold"),
        ];
        for (from, to, expected) in cases {
            let text = CARD.replacen(from, to, 1);
            let why = parsed(&text).unwrap_err();
            assert!(why.contains(expected), "{to}: {why}");
            assert!(
                why.contains("expected the model.json") || why.contains("--model auto"),
                "{why}"
            );
        }
        let twice = CARD.replace("]}]", "]},{\"evidence\":\"burst\",\"ends\":[],\"points\":[0]}]");
        assert!(parsed(&twice).unwrap_err().contains("`burst` is there twice"));
    }
}
