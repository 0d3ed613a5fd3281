//! The examination of a plugin. It first checks the tables of the plugin, and then tests every
//! algorithm on a list of topologies.

mod cases;
mod examiner;
mod suited;
mod tables;
mod verdict;

use crate::about::AlgorithmAbout;
use crate::bench::{Bench, Outcome};
use crate::question::{Answer, Question};
use crate::report::{Finding, Report};
use examiner::{Examiner, Params};
use std::io;
use swapmeet_core::spec::{Spec, SpecError};

/// Examines a plugin on a bench. `file` is the name of the plugin file in the report, and
/// `topologies` are the networks of the test cases. `wanted` are the algorithms to examine, with
/// their parameters; if it is empty, all algorithms are examined with default parameters.
///
/// Returns an error of the kind [`io::ErrorKind::InvalidInput`] if the plugin does not have one of
/// these algorithms or parameters.
pub fn examine(
    bench: &dyn Bench,
    file: &str,
    topologies: &[&str],
    wanted: &[Spec],
) -> io::Result<Report> {
    let mut report =
        Report { file: file.to_owned(), about: None, algorithms: Vec::new(), findings: Vec::new() };
    // Check the tables first, because loading a plugin and reading its tables may already fail.
    let unreadable = match bench.ask(&Question::About)? {
        Outcome::Answered { answer: Answer::About(about), printed } => {
            report.findings.extend(tables::findings(&about));
            report
                .findings
                .extend(printed.map(|line| Finding::prints("", &line).at("when it is loaded", "")));
            report.about = Some(about);
            None
        }
        Outcome::Answered { answer: Answer::Refused(why), .. } => Some(("tables", why)),
        Outcome::ClosedFiles => {
            Some(("survives", "when it is loaded, it closes files that it did not open".to_owned()))
        }
        Outcome::UsedFiles => {
            Some(("survives", "when it is loaded, it uses files that it did not open".to_owned()))
        }
        Outcome::Answered { .. } => Some(("tables", "its tables could not be read".to_owned())),
        Outcome::Died(how) => Some(("survives", format!("when it is loaded: {how}"))),
        Outcome::Hung(_) => Some(("time", "loading it does not end".to_owned())),
    };
    if let Some((test, what)) = unreadable {
        report.findings.push(Finding::fault(test, "", what));
    }
    // Then examine each algorithm separately, so that a crash of one algorithm does not hide
    // findings about others.
    let about = report.about.as_ref().map_or(&[][..], |about| &about.algorithms);
    for (algorithm, params) in chosen(about, wanted)? {
        let mut examiner = Examiner::new(bench, algorithm, params);
        examiner.examine_all(topologies)?;
        if let Some(why) = examiner.misprint() {
            let why = format!("`{}`: {why}", examiner.done.algorithm);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        report.algorithms.push(examiner.done);
        report.findings.extend(examiner.findings);
    }
    Ok(report)
}

fn chosen<'a>(
    about: &'a [AlgorithmAbout],
    wanted: &[Spec],
) -> io::Result<Vec<(&'a AlgorithmAbout, Params)>> {
    if wanted.is_empty() || about.is_empty() {
        return Ok(about.iter().map(|algorithm| (algorithm, Params::new())).collect());
    }
    let bad = |error: SpecError| io::Error::new(io::ErrorKind::InvalidInput, error);
    let mut chosen = Vec::new();
    for spec in wanted {
        let Some(algorithm) = about.iter().find(|a| a.name == spec.name()) else {
            return Err(bad(spec.unknown_name(about.iter().map(|a| a.name.as_str()))));
        };
        let mut params = Params::new();
        for arg in spec.args() {
            let keys = || algorithm.params.iter().map(|param| param.key.as_str());
            match arg.key().filter(|key| keys().any(|k| k == *key)) {
                Some(key) => params.push((key.to_owned(), arg.value().to_owned())),
                None => return Err(bad(spec.unknown_key(arg, keys()))),
            }
        }
        chosen.push((algorithm, params));
    }
    Ok(chosen)
}
