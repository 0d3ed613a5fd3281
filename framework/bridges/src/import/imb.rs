//! Output of the Intel MPI Benchmarks. Each section contains the name of a benchmark, the number of
//! processes, and a table of times in microseconds.
//! With `-multi`, groups of ranks run at the same time, and the section lists the ranks of each
//! group. With `-multi 0`, `t_avg` is the average over all groups. With `-multi 1`, each group has
//! a line, and the mean of the `t_avg` of these lines is the average over all groups.

use super::{Measurement, MeasurementFile, NumericLine, ParseError, SizeOf, collective, error_at};

pub(super) fn is_like(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("# Benchmarking "))
}

pub(super) fn read(source: &MeasurementFile<'_>) -> Result<Vec<Measurement>, ParseError> {
    let (mut collective_name, mut ranks, mut columns): (Option<String>, _, Vec<&str>) =
        (None, None, Vec::new());
    let mut groups = Groups::default();
    let mut list: Vec<Measurement> = Vec::new();
    for (number, line) in (1..).zip(source.text.lines()) {
        if let Some(name) = line.strip_prefix("# Benchmarking ") {
            // Benchmarks that do not measure a collective, such as PingPong, are skipped.
            let name = name.trim();
            collective_name =
                collective(name.strip_prefix("Multi-").unwrap_or(name)).map(str::to_owned);
            (ranks, columns, groups) = (None, Vec::new(), Groups::default());
        } else if let Some(size) = size_of_groups(line) {
            groups.size = Some(size.ok_or_else(|| {
                error_at(number, "expected numbers, as in `# ( 2 groups of 4 processes each ..`")
            })?);
        } else if groups.size.is_some() && columns.is_empty() && groups.add(line) {
            // The line has been added to `groups`. The list of ranks ends where the table begins.
        } else if let Some(count) = line.strip_prefix("# #processes =") {
            let count = count.split_whitespace().next().unwrap_or_default();
            ranks = Some(count.parse().map_err(|_| {
                error_at(number, format!("`{count}` processes, expected a whole number"))
            })?);
        } else if line.split_whitespace().any(|word| word == "#bytes") {
            columns = line.split_whitespace().collect();
            if let Some(size) = groups.size {
                let wrong = || format!("the list of ranks above has no groups of {size} ranks");
                groups.all = groups.listed(size).ok_or_else(|| error_at(number, wrong()))?;
                ranks = Some(groups.ranks.len() as u64);
            }
        } else if let (Some(collective), Some(cells)) =
            (&collective_name, NumericLine::parse(number, line))
        {
            // The time is the average over ranks, `t_avg`. The other columns become a note.
            let time = columns.iter().position(|name| *name == "t_avg[usec]");
            let time =
                time.ok_or_else(|| error_at(number, "no column `t_avg[usec]` is named above it"))?;
            if cells.len() < columns.len() {
                return Err(error_at(
                    number,
                    format!("{} numbers, expected {}", cells.len(), columns.len()),
                ));
            }
            let column = |name: &str| columns.iter().position(|column| *column == name);
            let (group, bytes) = (column("Group"), column("#bytes").unwrap_or_default());
            let size = cells.whole(bytes, "#bytes")?;
            let time_us = cells.time(time, "t_avg[usec]")?;
            let group = group.map(|at| cells.whole(at, "Group")).transpose()?.unwrap_or_default();
            if group > 0 {
                let first = list.last_mut().filter(|first| first.size == size);
                let first = first.ok_or_else(|| {
                    error_at(number, format!("group {group} has no line of group 0 above it"))
                })?;
                // The time becomes the mean of the times of this group and of the groups before it.
                let before = group as f64;
                first.time_us = (first.time_us * before + time_us) / (before + 1.0);
                first.note = format!("mean of {} groups", group + 1);
                continue;
            }
            let is_other = |at: usize| at != bytes && at != time && columns[at] != "Group";
            let more =
                columns.iter().zip(0..).filter(|(_, at)| is_other(*at)).filter_map(|(name, at)| {
                    Some(format!("{} {}", name.trim_start_matches('#'), cells.word(at)?))
                });
            list.push(Measurement {
                collective: collective.clone(),
                size_of: SizeOf::Count,
                size,
                ranks,
                communicators: groups.all.clone(),
                time_us,
                note: more.collect::<Vec<_>>().join(", "),
                line: number,
                ..Measurement::default()
            });
        }
    }
    Ok(list)
}

#[derive(Default)]
struct Groups {
    /// The number of ranks of a group; `None` without `-multi`.
    size: Option<u64>,
    /// The listed ranks of all groups, in the order of the file.
    ranks: Vec<u64>,
    is_shortened: bool,
    all: Vec<Vec<u64>>,
}

impl Groups {
    /// Adds the ranks of a line such as `# Group  1:     4    5`. The next lines, which continue
    /// the list, have only ranks. Returns false for any other line.
    fn add(&mut self, line: &str) -> bool {
        let Some(text) = line.strip_prefix('#') else { return false };
        let text = match text.trim_start().strip_prefix("Group") {
            Some(group) => group.split_once(':').map_or("", |(_, ranks)| ranks),
            None => text,
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        self.is_shortened |= words.iter().any(|word| matches!(*word, "..." | "."));
        let ranks: Option<Vec<u64>> = words.iter().map(|word| word.parse().ok()).collect();
        let is_list = ranks.as_ref().is_some_and(|ranks| !ranks.is_empty());
        self.ranks.extend(ranks.unwrap_or_default());
        is_list
    }

    /// Returns the ranks of each group, or `None` if the file does not list all of them.
    fn listed(&self, size: u64) -> Option<Vec<Vec<u64>>> {
        let size = usize::try_from(size).ok().filter(|size| *size > 0)?;
        let is_whole = !self.ranks.is_empty() && self.ranks.len().is_multiple_of(size);
        let groups = self.ranks.chunks(size).map(<[u64]>::to_vec);
        (is_whole && !self.is_shortened).then(|| groups.collect())
    }
}

/// Returns the number of ranks of a group from a line such as `# ( 2 groups of 4 processes each
/// running simultaneous )`. Returns `None` for other lines, and `Some(None)` if the number is not
/// readable.
fn size_of_groups(line: &str) -> Option<Option<u64>> {
    let (_, rest) = line.strip_prefix("# (")?.split_once(" groups of ")?;
    Some(rest.split_whitespace().next().and_then(|size| size.parse().ok()))
}
