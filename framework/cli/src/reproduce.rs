//! `swapmeet reproduce`: the papers' tables, re-run.

use crate::args::ReproduceArgs;
use crate::failure::Failure;
use crate::output;
use crate::run;
use crate::say::say;
use std::io::Write;
use std::process::ExitCode;
use swapmeet_core::spec::near_matches;
use swapmeet_reproduce::{Bench, Paper, Report, ReproduceError, papers};
use swapmeet_runner::input::Text;

/// Re-runs one paper, or all.
pub(crate) fn reproduce(args: &ReproduceArgs) -> Result<ExitCode, Failure> {
    let wanted: Vec<&Paper> = match &args.paper {
        None => papers().iter().collect(),
        Some(name) => vec![find(name)?],
    };
    let registry = run::registry(&args.plugins)?;
    let bench = Bench::new(&registry);
    output::keep().map_err(|e| Failure::printing(&e))?;
    for paper in wanted {
        let report = paper.run(&bench).map_err(|e| match e {
            ReproduceError::Input(e) => Failure::Input(e),
            error @ (ReproduceError::Row { .. } | ReproduceError::Data { .. }) => Failure::Output(error.to_string()),
        })?;
        match &args.out {
            None => output::data()
                .and_then(|mut out| writeln!(out, "{}", report.to_markdown()))
                .map_err(|e| Failure::printing(&e))?,
            Some(folder) => write(&report, folder)?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn find(name: &str) -> Result<&'static Paper, Failure> {
    papers().iter().find(|p| p.name == name).ok_or_else(|| {
        let names: Vec<&str> = papers().iter().map(|p| p.name).collect();
        let error = Text::flag("PAPER", name).error(format!("unknown paper `{name}`"));
        error.near(&near_matches(name, names.iter().copied()), &format!("papers are {}", names.join(", "))).into()
    })
}

fn write(report: &Report, folder: &std::path::Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|e| Failure::file(folder, &e))?;
    let csv = report.to_csv().map_err(|e| Failure::Output(e.to_string()))?;
    for (ending, text) in [("csv", csv), ("md", report.to_markdown())] {
        let path = folder.join(format!("{}.{ending}", report.paper));
        output::file(&path, |out| out.write_all(text.as_bytes()))?;
        say!("wrote {}", path.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(name: &str) -> (String, Option<String>) {
        match find(name) {
            Err(Failure::Input(error)) => (error.message, error.help),
            found => panic!("{found:?}"),
        }
    }

    #[test]
    fn every_paper_is_found_by_its_name() {
        for paper in papers() {
            assert_eq!(find(paper.name).unwrap().title, paper.title);
        }
    }

    #[test]
    fn an_unknown_paper_is_refused_with_its_near_matches() {
        let (message, help) = refusal("thakkur");
        assert_eq!(message, "unknown paper `thakkur`");
        assert_eq!(help.as_deref(), Some("did you mean `thakur`?"));
        let help = refusal("knuth").1.unwrap();
        assert!(help.starts_with("papers are suh-shin, thakur, "), "{help}");
    }
}
