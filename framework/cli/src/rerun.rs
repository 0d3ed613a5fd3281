//! `swapmeet rerun` runs the cases of a result file again, and compares the rows.

use crate::args::{PluginArgs, RerunArgs};
use crate::bundle::Bundle;
use crate::failure::{ExitStatus, Failure, INTERRUPTED, SOME_FAILED, SUCCESS};
use crate::result_files;
use crate::run::{for_each_row, note_threads, registry};
use crate::say::say;
use crate::streams;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;
use swapmeet_core::delivery::fault::Count;
use swapmeet_core::simulation::ProofScope;
use swapmeet_results::{Difference, Record};
use swapmeet_runner::case::RunOptions;
use swapmeet_runner::lookup::CaseLookup;
use swapmeet_runner::registry::Registry;

enum Outcome {
    Same,
    /// The outcome columns that differ, and the conditions that differ, such as the plugin version.
    Differs(Vec<Difference>, Vec<Difference>),
    Refused(String),
}

pub(crate) fn rerun(args: &RerunArgs) -> Result<ExitStatus, Failure> {
    // Row 1 is the first line after the header, as in error messages.
    let rows = result_files::rows(&[&args.file])?;
    let selected: Vec<usize> =
        if args.all { (1..=rows.len()).collect() } else { args.rows.clone() };
    if let Some(number) = selected.iter().find(|number| !(1..=rows.len()).contains(number)) {
        let file = args.file.display();
        return Err(Failure::Usage(format!("--row {number}: {file} has rows 1 to {}", rows.len())));
    }
    note_threads(args.threads);
    let bundle = Bundle::beside(&args.file)?;
    let chosen: Vec<&Record> = selected.iter().map(|number| &rows[number - 1]).collect();
    let (registry, plugins) = registry_for(&chosen, bundle.as_ref(), &args.plugins)?;
    // A case may no longer exist, for instance without its plugin. Such cases are reported.
    let mut results: BTreeMap<usize, Outcome> = BTreeMap::new();
    let (mut numbers, mut cases, mut restored) = (Vec::new(), Vec::new(), Vec::new());
    let mut lookup =
        CaseLookup::new(&registry, RunOptions::new(args.timeout, ProofScope::default()));
    for number in selected {
        let row = &rows[number - 1];
        let of_bundle = bundle.as_ref().map(|bundle| bundle.restored(row)).transpose();
        let found = of_bundle.and_then(|of_bundle| {
            let case = lookup.row(of_bundle.as_ref().map_or(row, |of_bundle| &of_bundle.row))?;
            Ok((case, of_bundle))
        });
        match found {
            Ok((case, of_bundle)) => {
                numbers.push(number);
                cases.push(case);
                restored.push(of_bundle);
            }
            Err(why) => {
                results.insert(number, Outcome::Refused(why));
            }
        }
    }
    let finished = for_each_row(&cases, args.jobs, &plugins, |index, again| {
        let (number, old) = (numbers[index], &rows[numbers[index] - 1]);
        let again = match &restored[index] {
            Some(restored) => restored.with_original_names(again),
            None => again,
        };
        let (changes, reasons) = (old.changes(&again), old.reasons(&again));
        // If input files have changed, the row is that of another case, even with equal values.
        let has_other_inputs = reasons.iter().any(|difference| difference.column == "inputs");
        let outcome = if changes.is_empty() && !has_other_inputs {
            Outcome::Same
        } else {
            Outcome::Differs(changes, reasons)
        };
        results.insert(number, outcome);
    })?;
    let mut out = streams::stdout();
    for (number, outcome) in &results {
        let row = &rows[number - 1];
        let case = row.case().in_words();
        let earlier = row.earlier_defaults();
        let earlier = earlier.iter().map(|change| format!("; default changed: {change}"));
        let earlier: String = earlier.collect();
        writeln!(out, "row {number} ({case}): {}{earlier}", describe(outcome))
            .map_err(|e| Failure::printing(&e))?;
    }
    let same = results.values().filter(|outcome| matches!(outcome, Outcome::Same)).count();
    let (count, interrupted) = (results.len(), if finished { "" } else { "interrupted: " });
    say!(
        "{interrupted}{} run again: {same} identical, {} different",
        Count(count as u64, "row"),
        count - same
    );
    Ok(match (finished, same == count) {
        (false, _) => INTERRUPTED,
        (true, true) => SUCCESS,
        (true, false) => SOME_FAILED,
    })
}

/// Returns the plugins for these rows, and the options with which they were found. A plugin in the
/// bundle is loaded only if no plugin file in the usual folders has the same digest.
fn registry_for(
    rows: &[&Record],
    bundle: Option<&Bundle>,
    plugins: &PluginArgs,
) -> Result<(Registry, PluginArgs), Failure> {
    let (found, mut plugins) = (registry(plugins)?, plugins.clone());
    let digests: BTreeSet<&str> = rows.iter().map(|row| &*row.plugin_digest).collect();
    let missing = digests.into_iter().filter(|digest| !found.has_build(digest));
    let kept: Vec<(String, PathBuf)> =
        missing.filter_map(|digest| Some((digest.to_owned(), bundle?.plugin(digest)?))).collect();
    if kept.is_empty() {
        return Ok((found, plugins));
    }
    let (digests, files): (Vec<String>, Vec<PathBuf>) = kept.into_iter().unzip();
    plugins.plugin_dirs.extend(files);
    let mut all = registry(&plugins)?;
    all.prefer_builds(&digests);
    Ok((all, plugins))
}

fn describe(outcome: &Outcome) -> String {
    let list = |differences: &[Difference]| {
        let words =
            differences.iter().map(|d| format!("{} was `{}`, is `{}`", d.column, d.ours, d.theirs));
        words.collect::<Vec<_>>().join(", ")
    };
    match outcome {
        Outcome::Same => "the same".to_owned(),
        Outcome::Differs(changes, reasons) if changes.is_empty() => {
            format!("its input files have changed, its values have not: {}", list(reasons))
        }
        Outcome::Differs(changes, reasons) if reasons.is_empty() => {
            format!("differs: {}; version, build, files and machine are unchanged", list(changes))
        }
        Outcome::Differs(changes, reasons) => {
            format!("differs: {}; {}", list(changes), list(reasons))
        }
        Outcome::Refused(why) => format!("cannot be run again: {why}"),
    }
}
