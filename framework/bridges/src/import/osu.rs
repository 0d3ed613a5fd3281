//! Output of the OSU micro-benchmarks: a title with the collective, the names of the columns, and
//! one line for each size. The output states neither the number of ranks nor the hosts.

use super::{Measurement, MeasurementFile, NumericLine, ParseError, SizeOf, collective, error_at};
use swapmeet_core::text::excerpt;

pub(super) fn is_like(text: &str) -> bool {
    text.lines().take(20).any(|line| line.starts_with("# OSU "))
}

/// Returns the collective in a title such as `# OSU MPI-CUDA Allreduce Latency Test v7.4`. Returns
/// `None` if the line is no title, and `Some(None)` if the collective in the title is unknown.
fn title(line: &str) -> Option<Option<&'static str>> {
    let title = line.strip_prefix("# OSU ")?.split(" Latency Test").next()?;
    let is_library = |word: &str| word.starts_with("MPI") || word.contains("CCL");
    let name = match title.split_once(' ') {
        Some((word, name)) if is_library(word) => name,
        Some(_) | None => title,
    };
    let name = name.trim_start_matches("Non-blocking ").trim_end_matches(" Personalized Exchange");
    Some(collective(name))
}

pub(super) fn read(source: &MeasurementFile<'_>) -> Result<Vec<Measurement>, ParseError> {
    let mut collective_name = source.collective.map(str::to_owned);
    let mut columns: Vec<&str> = Vec::new();
    let mut list = Vec::new();
    for (number, line) in (1..).zip(source.text.lines()) {
        // The output of the next benchmark begins with a title.
        if let Some(found) = title(line) {
            let found = found.map(str::to_owned).or_else(|| source.collective.map(str::to_owned));
            collective_name = Some(found.ok_or_else(|| {
                error_at(
                    number,
                    format!(
                        "`{}` names no known collective: name it with --collective",
                        line.trim_start_matches("# ")
                    ),
                )
            })?);
        } else if let Some(names) = line.strip_prefix("# Size") {
            // The names of columns contain single spaces, and at least two spaces separate them.
            columns = names.split("  ").map(str::trim).filter(|name| !name.is_empty()).collect();
        } else if let Some(cells) = NumericLine::parse(number, line) {
            // Bandwidth benchmarks are refused, because their values would be read as times.
            let collective = collective_name.clone().ok_or_else(|| {
                error_at(number, "no title names the collective: name it with --collective")
            })?;
            if columns.first().is_some_and(|name| !name.contains("Latency")) {
                return Err(error_at(
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
                time_us: cells.time(1, "the average latency")?,
                note: more.collect::<Vec<_>>().join(", "),
                line: number,
                ..Measurement::default()
            });
        } else if !line.starts_with('#') && !line.trim().is_empty() {
            return Err(error_at(
                number,
                format!("`{}`: expected a comment or a line of numbers", excerpt(line)),
            ));
        }
    }
    Ok(list)
}
