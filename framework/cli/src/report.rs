//! `swapmeet report`: writes a page that summarises result files.

use crate::args::ReportArgs;
use crate::failure::{ExitStatus, Failure, SUCCESS};
use crate::output;
use crate::plot::rows;
use crate::trace::{MOST_BYTES, title_of};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use swapmeet_plot::{Link, PageOptions, page};
use swapmeet_results::{CompareError, Record};
use swapmeet_runner::experiment::Experiment;

pub(crate) fn report(args: &ReportArgs) -> Result<ExitStatus, Failure> {
    output::may_write(&args.out, args.over, args.rows.files.iter().chain(&args.schedules))?;
    let files = rows(&args.rows)?;
    let links: Vec<Link> =
        args.schedules.iter().map(|page| link(page, &args.out)).collect::<Result<_, _>>()?;
    let page = page_of(&files, args.title.as_deref(), args.baseline.as_deref(), &links);
    let text = page.map_err(Failure::usage)?;
    output::text(&args.out, &text)?;
    Ok(SUCCESS)
}

/// Returns a page that summarises rows. The default title lists the names of the experiments.
pub(crate) fn page_of(
    files: &[(String, Vec<Record>)],
    title: Option<&str>,
    baseline: Option<&str>,
    links: &[Link],
) -> Result<String, CompareError> {
    let title = title.map_or_else(|| experiments(files), str::to_owned);
    let wanted = PageOptions {
        title: &title,
        baseline,
        program: concat!("swapmeet ", env!("CARGO_PKG_VERSION")),
        links,
    };
    page(files, &wanted)
}

/// Returns a link from the report at `out` to a page of `trace --format html`.
fn link(page: &Path, out: &Path) -> Result<Link, Failure> {
    let mut text = String::new();
    let read = File::open(page).and_then(|file| file.take(MOST_BYTES).read_to_string(&mut text));
    read.map_err(|e| Failure::file(page, &e))?;
    let Some(title) = title_of(&text) else {
        return Err(Failure::Usage(format!(
            "--schedule {}: expected a page of `swapmeet trace --format html`",
            page.display()
        )));
    };
    // If the page is in the folder of the report or below it, use a relative path, so that both can
    // be moved together.
    let absolute = |path: &Path| path.canonicalize().map_err(|e| Failure::file(path, &e));
    let folder = out.parent().filter(|folder| *folder != Path::new(""));
    let path = absolute(page)?;
    let path = match absolute(folder.unwrap_or(Path::new("."))) {
        Ok(folder) => path.strip_prefix(folder).map(Path::to_owned).unwrap_or(path),
        Err(_) => path,
    };
    Ok(Link { path: path.to_string_lossy().into_owned(), title })
}

/// Returns the default title: the names of the experiments without duplicates.
fn experiments(files: &[(String, Vec<Record>)]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for row in files.iter().flat_map(|(_, rows)| rows) {
        let named = row.experiment != Experiment::default().name;
        if named && !names.contains(&row.experiment.as_str()) {
            names.push(&row.experiment);
        }
    }
    if names.is_empty() { "Swapmeet report".to_owned() } else { names.join(", ") }
}
