//! Divides an output of nccl-tests into runs. Each run has its own header, ranks and launcher.

use super::nccl::{RowKind, is_header, is_message};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The first line of the run's header, counted from 1.
    pub first: usize,
    /// The line of the run's last row, or of its mean bus bandwidth.
    pub last: usize,
    after: usize,
    /// The last line before the next run.
    end: usize,
    /// The line with the names of its columns. A run without such a line uses that of an earlier
    /// run.
    header: Option<usize>,
}

impl Run {
    /// Returns the text of the run. Empty lines replace the previous runs, so that line numbers do
    /// not change.
    pub fn text_in(&self, whole: &str) -> String {
        let mut text = "\n".repeat(self.after);
        let mut lines = whole.lines();
        // The names of the columns, if they are in a previous run, replace the last empty line.
        if let Some(header) = self.header.filter(|header| *header <= self.after) {
            text.pop();
            text += whole.lines().nth(header - 1).unwrap_or_default();
            text.push('\n');
        }
        if let Some(before) = self.after.checked_sub(1) {
            lines.nth(before);
        }
        for line in lines.take(self.end - self.after) {
            text += line;
            text.push('\n');
        }
        text
    }
}

#[derive(Default)]
struct Open {
    first: Option<usize>,
    header: Option<usize>,
    /// The line after which the previous run ended.
    after: usize,
    last: usize,
    size: Option<u64>,
    kind: Option<RowKind>,
    /// Whether a line that does not belong to the rows follows them.
    has_ended: bool,
}

/// Returns the size and the kind of a row. A launcher can have written a label before the row.
fn row(line: &str) -> Option<(u64, Option<RowKind>)> {
    // Labels such as `Thu Jul 18 15:41:05 2024<stdout>:` have up to five words.
    let words: Vec<&str> = line.split_whitespace().take(10).collect();
    (0..words.len().min(6)).find_map(|at| RowKind::parse(&words[at..]))
}

/// Returns the runs of a text. Once a run has rows, a new run begins:
/// - with a header,
/// - with a row of another kind,
/// - with a row that follows other lines, if its size is not larger than the previous size.
pub fn runs(text: &str) -> Vec<Run> {
    let lines: Vec<&str> = text.lines().collect();
    let mut all: Vec<Open> = Vec::new();
    let mut open = Open::default();
    for (number, line) in (1..).zip(&lines) {
        let is_start = is_header(line)
            || line.contains("Using devices")
            || (line.contains("nThread ") && line.contains("nGpus "));
        let row = if is_start || is_message(line) { None } else { row(line) };
        let is_new = match row {
            Some((size, kind)) => {
                let is_other = kind.is_some() && open.kind.is_some() && kind != open.kind;
                is_other || (open.has_ended && open.size.is_some_and(|last| size <= last))
            }
            None => is_start && open.size.is_some(),
        };
        if is_new {
            let after = open.last;
            all.push(std::mem::replace(&mut open, Open { after, ..Open::default() }));
        }
        if is_start || row.is_some() {
            open.first = open.first.or(Some(number));
        }
        if is_header(line) {
            open.header = Some(number);
        }
        if let Some((size, kind)) = row {
            open.last = number;
            open.size = Some(size);
            open.kind = kind.or(open.kind);
        } else if open.size.is_some() {
            if line.contains("Avg bus bandwidth") {
                open.last = number;
            }
            // Messages of NCCL, and lines with further pieces of a row, do not end the rows.
            let mut values = line.split_whitespace().skip(1).peekable();
            let is_piece = values.peek().is_some()
                && values.all(|word| word == "N/A" || word.parse::<f64>().is_ok());
            open.has_ended |= !is_piece && !is_message(line);
        }
    }
    // If the last lines of the text have no rows, they belong to the last run.
    match (open.size, all.last()) {
        (None, Some(_)) => {}
        _ => all.push(open),
    }
    let count = all.len();
    let mut header = None;
    let mut found: Vec<Run> = Vec::new();
    for (index, run) in all.into_iter().enumerate() {
        let end = if index + 1 == count { lines.len() } else { run.last };
        header = run.header.or(header);
        let first = run.first.unwrap_or(run.after + 1);
        found.push(Run { first, last: run.last, after: run.after, end, header });
    }
    found
}
