use crate::args::ReportArgs;
use crate::failure::{ExitStatus, Failure, SUCCESS};
use crate::plot::RowSelection;
use crate::trace::{MOST_BYTES, title_of};
use crate::{output, result_files};
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use swapmeet_plot::{Link, Page, PageOptions};
use swapmeet_results::{ComparedRows, Record};
use swapmeet_runner::experiment::Experiment;

pub(crate) fn report(args: &ReportArgs) -> Result<ExitStatus, Failure> {
    output::may_write(&args.out, args.over, args.rows.files.iter().chain(&args.schedules))?;
    let mut selection = RowSelection::new(&args.rows);
    let mut title = DefaultTitle::default();
    let rows = result_files::compared(&args.rows.files, |row| {
        let is_selected = selection.contains(row);
        if is_selected {
            title.add(row);
        }
        is_selected
    })?;
    selection.check()?;
    let links: Vec<Link> =
        args.schedules.iter().map(|page| link(page, &args.out)).collect::<Result<_, _>>()?;
    let title = args.title.clone().unwrap_or_else(|| title.text());
    let page = Page::of(&rows, options(&title, args.baseline.as_deref(), &links));
    let page = page.map_err(Failure::usage)?;
    output::file(&args.out, |out| {
        let mut out = BufWriter::new(out);
        page.write(&mut out).and_then(|()| out.flush())
    })?;
    Ok(SUCCESS)
}

fn options<'a>(title: &'a str, baseline: Option<&'a str>, links: &'a [Link]) -> PageOptions<'a> {
    let program = concat!("swapmeet ", env!("CARGO_PKG_VERSION"));
    PageOptions { title, baseline, program, links }
}

pub(crate) fn page_of(
    files: &[(String, Vec<Record>)],
    baseline: Option<&str>,
) -> Result<Vec<u8>, String> {
    let mut title = DefaultTitle::default();
    files.iter().flat_map(|(_, rows)| rows).for_each(|row| title.add(row));
    let (title, rows) = (title.text(), ComparedRows::of(files));
    let page = Page::of(&rows, options(&title, baseline, &[])).map_err(|e| e.to_string())?;
    let mut text = Vec::new();
    page.write(&mut text).map_err(|e| e.to_string())?;
    Ok(text)
}

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
    // If the page is in or below the report's folder, a relative path lets both be moved.
    let absolute = |path: &Path| path.canonicalize().map_err(|e| Failure::file(path, &e));
    let folder = out.parent().filter(|folder| *folder != Path::new(""));
    let path = absolute(page)?;
    let path = match absolute(folder.unwrap_or(Path::new("."))) {
        Ok(folder) => path.strip_prefix(folder).map(Path::to_owned).unwrap_or(path),
        Err(_) => path,
    };
    Ok(Link { path: path.to_string_lossy().into_owned(), title })
}

#[derive(Default)]
struct DefaultTitle(Vec<String>);

impl DefaultTitle {
    fn add(&mut self, row: &Record) {
        if row.experiment != Experiment::default().name && !self.0.contains(&row.experiment) {
            self.0.push(row.experiment.clone());
        }
    }

    fn text(&self) -> String {
        if self.0.is_empty() { "Swapmeet report".to_owned() } else { self.0.join(", ") }
    }
}
