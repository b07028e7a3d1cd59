//! Notes on a run for a reader of its results, and its report page.

use super::{MODEL_OPTION, NO_LIST, PipelineError};
use crate::counts::say;
use crate::evidence::is_of_ties;
use crate::folder::{Manifest, RunFolder, ScoreRecord, WindowRecord};
use crate::model::FEWEST_CHECKED;
use crate::report::{PageLimits, ReportBuilder, Run as ReportRun, write_report};
use crate::source::reader::Input;
use crate::window::{last_unit, unit_of};
use crate::{Span, Timestamp};
use std::path::PathBuf;

/// Writes `report.html` for all finished windows.
///
/// # Errors
/// If a window's part cannot be read, or the page cannot be written.
pub fn write_page(folder: &RunFolder) -> Result<PathBuf, PipelineError> {
    let manifest = folder.manifest()?;
    let windows = folder.finished()?;
    let mut builder = ReportBuilder::new(PageLimits::default());
    for record in windows.iter().rev() {
        builder.add(folder.part(record)?);
    }
    let mut facts = vec![("ripplet".to_owned(), manifest.ripplet.clone())];
    facts.extend(manifest.options.iter().map(|(name, value)| (name.clone(), value.clone())));
    facts.push(("seconds".into(), format!("{:.1}", manifest.seconds)));
    let input = |input: &Input| {
        let hash = input.sha256.as_deref().unwrap_or("no hash");
        (input.path.clone(), format!("{} rows, {} bytes, SHA-256 {hash}", input.rows, input.bytes))
    };
    let run = ReportRun {
        title: format!("Suspicious clusters in {}", folder.path().display()),
        facts,
        inputs: manifest.inputs.iter().map(input).collect(),
        notes: notes(&manifest, &windows),
        folder: folder.path().display().to_string(),
    };
    let path = folder.report();
    write_report(&path, &run, &builder)?;
    Ok(path)
}

/// Share of the counts' significant ties below which a weight loses most of the signal.
const ENOUGH_KEPT: f64 = 0.5;

/// Returns notes on a run for a reader of its results.
pub fn notes(manifest: &Manifest, windows: &[WindowRecord]) -> Vec<String> {
    let mut notes = manifest.counts.notes();
    if manifest.unseen > 0 {
        let named = manifest.unseen_first.join(", ");
        let rest = match manifest.unseen - manifest.unseen_first.len() as u64 {
            0 => String::new(),
            rest => format!(
                " and {rest} others; the windows’ known_bad.parquet have all of the known bad"
            ),
        };
        let entries = ["entry of the lists is", "entries of the lists are"];
        let who = format!("in no transaction: {named}{rest}");
        say(&mut notes, manifest.unseen, entries, &who);
    }
    say(
        &mut notes,
        manifest.unheld,
        ["entry of the lists holds", "entries of the lists hold"],
        "at the end of no window, by `from` and `until`",
    );
    let why = format!(
        "behind the end of the last window, in none: without --full-slides (and --follow), a last window ends with the last {}",
        last_unit_of(manifest)
    );
    let lie = ["transaction lies", "transactions lie"];
    say(&mut notes, manifest.transactions_behind, lie, &why);
    notes.extend(short_slide_note(manifest, windows));
    notes.extend(weight_note(windows));
    let repeated = manifest.inputs.iter().filter(|input| input.repeats.is_some()).count();
    let same = "passed over: others with the same content were read before";
    say(&mut notes, repeated as u64, ["file was", "files were"], same);
    let warm = windows.iter().filter(|window| window.warm).count();
    say(
        &mut notes,
        warm as u64,
        ["window", "windows"],
        "started from the labels of the previous window: a few clusters may differ from those of --exact",
    );
    let alone = windows.iter().filter(|window| window.known_bad == 0).count();
    if manifest.options.get("known bad").is_some_and(|list| list == NO_LIST) {
        notes.push("there is no list of known bad: all clusters were found without seeds".into());
    } else {
        let without = "no entity that is known to be bad: their clusters were found without seeds";
        say(&mut notes, alone as u64, ["window has", "windows have"], without);
    }
    notes.extend(score_notes(manifest, windows));
    if !["finished", "running"].contains(&&*manifest.state) {
        notes.push(format!("The run ended early: {}", manifest.state));
    }
    notes
}

/// Smallest share of checked windows with a clearly better evidence from which there is a warning: one in this number.
const CLEAR_WINDOWS: usize = 3;

const TIES_ALONE: &str = ", or rank clusters by ties alone with --model none";

/// Says how to rank entities by an evidence.
fn ranking_by(evidence: &str) -> String {
    format!(
        "sort entities.parquet by this column, descending, missing values last (in SQL: ORDER BY \"{}\" DESC NULLS LAST)",
        evidence.replace('"', "\"\"")
    )
}

/// Whether entities have a score that are not known bad, or none is known bad.
fn has_others(of: &ScoreRecord) -> bool {
    of.known_bad == 0 || of.entities > u64::from(of.known_bad)
}

/// Returns notes on the scores of entities: how well they rank held-out known bad, and where they do not.
fn score_notes(manifest: &Manifest, windows: &[WindowRecord]) -> Vec<String> {
    let mut notes = Vec::new();
    let scored = windows.iter().filter_map(|window| Some((window, window.scores.as_ref()?)));
    let checked = scored.clone().filter_map(|(window, of)| Some((window, of.check.as_ref()?)));
    let chance: Vec<_> = checked.clone().filter(|(_, check)| check.is_chance()).collect();
    if let Some((window, check)) = chance.last() {
        let advice = match check.clearly_better_evidence() {
            Some((name, value)) => {
                format!(". `{name}` alone has {value:.3}: {} instead", ranking_by(name))
            }
            None => {
                ", and no evidence alone is clearly better: the known bad do not look alike here"
                    .into()
            }
        };
        notes.push(format!(
            "WARNING: scores of entities rank held-out known bad no better than chance in {} of {} windows. In the last of \
             these, {}, their AUC is {:.2}, and that of a random ranking 0.5; their average precision is {:.3}, and that of a \
             random ranking {:.3}{advice}",
            chance.len(),
            checked.clone().count(),
            window.days(),
            check.auc,
            check.average_precision,
            check.chance,
        ));
    }
    let unclear: Vec<_> = checked.clone().filter(|(_, check)| check.is_unclear()).collect();
    if let Some((window, check)) = unclear.last() {
        notes.push(format!(
            "WARNING: less than {FEWEST_CHECKED} known bad are too few to judge scores of entities in {} of {} windows. In the \
             last of these, {}, {} were held out; their AUC is {:.2}, and that of a random ranking 0.5, so that chance alone may \
             rank them so. Scores may be good or bad there: look at the first entities before you rely on them",
            unclear.len(),
            checked.clone().count(),
            window.days(),
            check.known_bad,
            check.auc,
        ));
    }
    let clear = checked.clone().filter(|(_, check)| !check.is_chance() && !check.is_unclear());
    let clear =
        clear.filter_map(|(window, check)| Some((window, check, check.clearly_better_evidence()?)));
    let clear: Vec<_> = clear.collect();
    // One window of many is clear by chance.
    let is_clear = clear.len() * CLEAR_WINDOWS >= checked.clone().count();
    if let Some((window, check, (name, value))) = clear.last().filter(|_| is_clear) {
        let found = check.evidence_found_at_100.get(*name).map_or(String::new(), |found| {
            format!(
                ". Among the first 100 by `{name}` are {found:.0} of {} that were held out fold by fold, and {:.0} among those by scores",
                check.most_at_100(),
                check.found_at_100(),
            )
        });
        let (ranking, or_ties) = (ranking_by(name), if is_of_ties(name) { TIES_ALONE } else { "" });
        notes.push(format!(
            "WARNING: one kind of evidence alone ranks held-out known bad clearly better than scores of entities in {} of {} \
             windows. In the last of these, {}, `{name}` has an average precision of {value:.3}, and scores have {:.3}{found}. To \
             rank by it, {ranking}{or_ties}. `ripplet fraud evaluate` compares them",
            clear.len(),
            checked.clone().count(),
            window.days(),
            check.average_precision,
        ));
    }
    let last = checked.clone().next_back();
    if let Some((window, check)) =
        last.filter(|(_, check)| !check.is_chance() && !check.is_unclear())
    {
        let alone = check.evidence.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)));
        // The best of all kinds on few known bad is mostly so by chance.
        let alone = alone.filter(|_| check.known_bad >= FEWEST_CHECKED);
        let alone = alone.map_or(String::new(), |(name, value)| {
            format!("; the best evidence alone is `{name}`, with {value:.3}")
        });
        notes.push(format!(
            "scores of entities rank {} held-out known bad of {} with an average precision of {:.3} and an AUC of {:.2}, where a \
             random ranking has {:.3} and 0.5{alone}",
            check.known_bad,
            window.days(),
            check.average_precision,
            check.auc,
            check.chance,
        ));
    }
    let is_auto = manifest.options.get(MODEL_OPTION).is_some_and(|model| model == "auto");
    let fixed = scored.filter(|(_, of)| is_auto && !of.learnt);
    let without_others = fixed.clone().filter(|(_, of)| !has_others(of)).count() as u64;
    let fixed = fixed.filter(|(_, of)| has_others(of));
    let (fixed, cleared) = fixed.fold((0, false), |(count, cleared), (window, _)| {
        (count + 1, cleared || window.cleared > 0)
    });
    let cleared = if cleared { ", and cleared entities change nothing" } else { "" };
    let why = format!(
        "too few known bad with transactions to hold one out: scores of entities are a fixed combination there, drawn towards the \
         known bad if there are any, and neither calibrated nor checked{cleared}"
    );
    say(&mut notes, fixed, ["window has", "windows have"], &why);
    let why = "no entities with transactions but known bad ones: scores of entities are a fixed combination there, and neither \
               calibrated nor checked";
    say(&mut notes, without_others, ["window has", "windows have"], why);
    notes
}

/// Names the end of a last window: the last day, or unit of a shorter slide.
fn last_unit_of(manifest: &Manifest) -> String {
    let span = |name: &str| manifest.options.get(name)?.parse::<Span>().ok();
    let unit = span("window").zip(span("slide")).map(|(length, slide)| unit_of(length, slide));
    last_unit(unit.unwrap_or(Span::DAY))
}

/// Returns a note if the last window follows the one before by less than a slide.
fn short_slide_note(manifest: &Manifest, windows: &[WindowRecord]) -> Option<String> {
    let [.., before, last] = windows else { return None };
    let [before, until] = [before, last].map(|window| window.until.parse::<Timestamp>());
    let (before, until) = before.ok().zip(until.ok())?;
    let slide: Span = manifest.options.get("slide")?.parse().ok()?;
    let moved = until.0 - before.0;
    (moved < slide.micros()).then(|| {
        let days = Span::of_micros(moved).map_or(String::new(), |moved| match moved {
            Span::DAY => "1 day".to_owned(),
            moved if moved.micros() % Span::DAY.micros() == 0 => format!("{} days", moved.days()),
            moved => moved.to_string(),
        });
        format!(
            "the last window ends with the last {}, {days} after the one before instead of {slide}: it shares more with it \
             than other windows do",
            last_unit_of(manifest)
        )
    })
}

/// Returns a note if the weight loses most of the signal, with the window in which it loses most.
fn weight_note(windows: &[WindowRecord]) -> Option<String> {
    let each = windows.iter().filter_map(|window| Some((window.weight_keeps?, window)));
    let few: Vec<_> = each.filter(|(keeps, _)| *keeps < ENOUGH_KEPT).collect();
    let (keeps, worst) = few.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let windows = match few.len() {
        1 => String::new(),
        count => format!(", and less than half in {count} windows"),
    };
    Some(format!(
        "the weight of the mapping takes most of the signal: of the ties that plain counts of transactions have beyond \
         chance, it keeps {:.0} % in the window of {}{windows}. Leave [weight] out, or compare both by `ripplet fraud evaluate`",
        100.0 * keeps,
        worst.days()
    ))
}
