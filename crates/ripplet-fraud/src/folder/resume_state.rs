//! State of a run between two windows, on disk.

use super::{CLUSTERS, FolderError, LABELS, LARGEST_STATE, WEIGHTS, read_json, write_json};
use crate::detect::Spread;
use crate::evolution::{BadTracker, Tracker};
use crate::model::Earlier;
use ripplet_io::{checkpoint, read_small_text, write::whole_file};
use std::path::Path;

/// State from which the next window starts.
#[derive(Debug)]
pub struct ResumeState {
    /// Labels and strengths.
    pub spread: Spread,
    /// Ids of clusters.
    pub tracker: Tracker,
    /// Weights of scorecards.
    pub earlier: Earlier,
}

impl ResumeState {
    pub(super) fn write(&self, folder: &Path) -> Result<(), FolderError> {
        let ResumeState { spread, tracker, earlier } = self;
        let strengths: Vec<u32> = spread.strengths.iter().map(|value| value.to_bits()).collect();
        let state = checkpoint::State {
            run: "ripplet fraud",
            rounds: &[],
            labels: &spread.labels,
            active: &[],
            columns: &[&strengths],
        };
        checkpoint::write(&folder.join(LABELS), &state)?;
        whole_file(&folder.join(CLUSTERS), |out| write!(out, "{tracker}"))?;
        write_json(&folder.join(WEIGHTS), earlier)?;
        Ok(())
    }

    pub(super) fn read(folder: &Path) -> Result<ResumeState, FolderError> {
        let path = folder.join(LABELS);
        let state = checkpoint::open(&path)?;
        let damaged = |why: &str| FolderError::Damaged { path: path.clone(), why: why.into() };
        let [strengths] = &*state.columns else { return Err(damaged("strengths are missing")) };
        if strengths.len() != state.labels.len() {
            return Err(damaged("there are not as many strengths as labels"));
        }
        let spread = Spread {
            labels: state.labels.to_vec(),
            strengths: strengths.iter().map(|bits| f32::from_bits(*bits)).collect(),
            rounds: Vec::new(),
            converged: true,
        };
        let path = folder.join(CLUSTERS);
        let text = read_small_text(&path, LARGEST_STATE, "the clusters that a run kept")?;
        let tracker = text
            .parse()
            .map_err(|error: BadTracker| FolderError::Damaged { path, why: error.to_string() })?;
        let path = folder.join(WEIGHTS);
        let earlier: Earlier = read_json(&path)?;
        if !earlier.is_sound() {
            let why = "weights are missing, or not finite".into();
            return Err(FolderError::Damaged { path, why });
        }
        Ok(ResumeState { spread, tracker, earlier })
    }
}
