//! `swapmeet rerun`: runs the cases of a result file again, and compares the rows.

use crate::args::RerunArgs;
use crate::failure::{ExitStatus, Failure, INTERRUPTED, SOME_FAILED, SUCCESS};
use crate::result_files;
use crate::run::{for_each_row, note_threads, registry};
use crate::say::say;
use crate::streams;
use std::collections::BTreeMap;
use std::io::Write;
use swapmeet_core::delivery::fault::Count;
use swapmeet_core::simulation::ProofScope;
use swapmeet_results::Difference;
use swapmeet_runner::case::RunOptions;
use swapmeet_runner::lookup::CaseLookup;

/// The result of repeating a case.
enum Outcome {
    Same,
    /// The columns of results that differ, and the differences in conditions, such as the plugin
    /// version, that may explain them.
    Differs(Vec<Difference>, Vec<Difference>),
    /// The reason why the case cannot be repeated.
    Refused(String),
}

pub(crate) fn rerun(args: &RerunArgs) -> Result<ExitStatus, Failure> {
    // Row numbers start at 1 and do not count the header, as in error messages.
    let rows = result_files::rows(&[&args.file])?;
    let selected: Vec<usize> =
        if args.all { (1..=rows.len()).collect() } else { args.rows.clone() };
    if let Some(number) = selected.iter().find(|number| !(1..=rows.len()).contains(number)) {
        let file = args.file.display();
        return Err(Failure::Usage(format!("--row {number}: {file} has rows 1 to {}", rows.len())));
    }
    note_threads(args.threads);
    let registry = registry(&args.plugins)?;
    // Some cases may no longer exist, for instance because their plugin is missing. The rows of
    // such cases are reported, but their cases are not run.
    let mut results: BTreeMap<usize, Outcome> = BTreeMap::new();
    let (mut numbers, mut cases) = (Vec::new(), Vec::new());
    let mut lookup =
        CaseLookup::new(&registry, RunOptions::new(args.timeout, ProofScope::default()));
    for number in selected {
        match lookup.row(&rows[number - 1]) {
            Ok(case) => {
                numbers.push(number);
                cases.push(case);
            }
            Err(why) => {
                results.insert(number, Outcome::Refused(why));
            }
        }
    }
    // Compare each row when its case ends, but print the results in the order of the file.
    let finished = for_each_row(&cases, args.jobs, &args.plugins, |index, again| {
        let (number, old) = (numbers[index], &rows[numbers[index] - 1]);
        let changes = old.changes(&again);
        let outcome = if changes.is_empty() {
            Outcome::Same
        } else {
            Outcome::Differs(changes, old.reasons(&again))
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
    // The exit status reports a failure if any row differs or any case cannot be repeated.
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

fn describe(outcome: &Outcome) -> String {
    let list = |differences: &[Difference]| {
        let words =
            differences.iter().map(|d| format!("{} was `{}`, is `{}`", d.column, d.ours, d.theirs));
        words.collect::<Vec<_>>().join(", ")
    };
    match outcome {
        Outcome::Same => "the same".to_owned(),
        Outcome::Differs(changes, reasons) if reasons.is_empty() => {
            format!("differs: {}; version, build, files and machine are unchanged", list(changes))
        }
        Outcome::Differs(changes, reasons) => {
            format!("differs: {}; {}", list(changes), list(reasons))
        }
        Outcome::Refused(why) => format!("cannot be run again: {why}"),
    }
}
