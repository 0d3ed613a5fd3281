//! OSU micro-benchmarks: a title that names the collective, names of columns, a line a size.
//! Neither ranks nor hosts are in it.

use super::table::Cells;
use super::{Measurement, SizeOf, Source, Wrong, collective, wrong};

pub(super) fn is_like(text: &str) -> bool {
    text.lines().take(20).any(|line| line.starts_with("# OSU "))
}

/// The collective that a title names: `# OSU MPI Allgather Latency Test v7.4`.
fn title(line: &str) -> Option<Option<&'static str>> {
    let title = line.strip_prefix("# OSU ")?.split(" Latency Test").next()?;
    let name = title.strip_prefix("MPI ").unwrap_or(title);
    let name = name.trim_start_matches("Non-blocking ").trim_end_matches(" Personalized Exchange");
    Some(collective(name))
}

pub(super) fn read(source: &Source<'_>) -> Result<Vec<Measurement>, Wrong> {
    let mut now = source.collective.map(str::to_owned);
    let mut columns: Vec<&str> = Vec::new();
    let mut list = Vec::new();
    for (number, line) in (1..).zip(source.text.lines()) {
        if let Some(found) = title(line) {
            let found = found.map(str::to_owned).or_else(|| source.collective.map(str::to_owned));
            now = Some(found.ok_or_else(|| {
                wrong(
                    number,
                    format!(
                        "`{}` names no collective that is known here: name it with --collective",
                        line.trim_start_matches("# ")
                    ),
                )
            })?);
        } else if let Some(names) = line.strip_prefix("# Size") {
            // Names have spaces in them, columns at least two between them.
            columns = names.split("  ").map(str::trim).filter(|name| !name.is_empty()).collect();
        } else if let Some(cells) = Cells::of(number, line) {
            let collective = now.clone().ok_or_else(|| {
                wrong(number, "no title says which collective it is of: name it with --collective")
            })?;
            if columns.first().is_some_and(|name| !name.contains("Latency")) {
                return Err(wrong(
                    number,
                    format!("the first column is `{}`, expected a latency", columns[0]),
                ));
            }
            let more = columns
                .iter()
                .zip(1..)
                .skip(1)
                .filter_map(|(name, at)| Some(format!("{name} {}", cells.word(at)?)));
            list.push(Measurement {
                collective,
                size_of: SizeOf::Count,
                size: cells.whole(0, "the size")?,
                ranks: None,
                algorithm: None,
                time_us: cells.time(1, "the average latency")?,
                note: more.collect::<Vec<_>>().join(", "),
                is_checked: false,
                line: number,
            });
        } else if !line.starts_with('#') && !line.trim().is_empty() {
            return Err(wrong(
                number,
                format!("`{line}`: expected a comment or a line of numbers"),
            ));
        }
    }
    Ok(list)
}
