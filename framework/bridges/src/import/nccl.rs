//! Output of nccl-tests, as text or as JSON of version 3. A size is the number of bytes of the
//! larger of the send and receive buffers. Only times of out-of-place operations are imported.
//! With `NCCL_TESTS_SPLIT`, ranks are in groups. Each group is a communicator, and all
//! communicators run at the same time. Sizes are those of one communicator.

use super::{
    Measurement, MeasurementFile, NumericLine, ParseError, SizeOf, collective, error_at,
    known_collective,
};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Returns the collective that a program measures. Its name is like `./build/alltoall_perf`.
fn collective_of_program(words: &str) -> Option<&'static str> {
    let program = words.split_whitespace().find(|word| word.contains("_perf"))?;
    let name = program.rsplit('/').next()?.split("_perf").next()?;
    match name {
        "all_reduce" => Some("allreduce"),
        "all_gather" => Some("allgather"),
        "reduce_scatter" => Some("reduce-scatter"),
        name => collective(name),
    }
}

fn collective_of(
    source: &MeasurementFile<'_>,
    line: usize,
    program: &str,
    rows: Option<&Implied>,
) -> Result<String, ParseError> {
    match (source.collective, collective_of_program(program)) {
        (Some(name), _) => known_collective(line, name),
        (None, Some(known)) => Ok(known.to_owned()),
        (None, None) => match rows {
            Some(Implied { collectives, .. }) if collectives.len() == 1 => {
                Ok(collectives[0].to_owned())
            }
            _ => Err(error_at(line, question(rows))),
        },
    }
}

/// Returns the message that asks the user for the collective, if the log does not name it.
fn question(rows: Option<&Implied>) -> String {
    const WORDS: [&str; 6] =
        ["allreduce", "allgather", "reduce-scatter", "alltoall", "broadcast", "reduce"];
    let ask = "its collective is unknown: name it with --collective";
    match rows {
        Some(Implied { collectives, reason, .. }) if !collectives.is_empty() => {
            format!("{ask}, expected {} ({reason})", collectives.join(" or "))
        }
        _ => format!("{ask}, expected one of {}", WORDS.join(", ")),
    }
}

/// If the text names no collective, returns the message that asks for it, with the line.
pub fn collective_question(text: &str) -> Option<ParseError> {
    let plain = without_labels(text);
    if program(&plain).is_some_and(|line| collective_of_program(line).is_some()) {
        return None;
    }
    let rows = implied(text);
    match &rows {
        Some(Implied { collectives, .. }) if collectives.len() == 1 => None,
        _ => Some(error_at(rows.as_ref().map_or(0, |rows| rows.line), question(rows.as_ref()))),
    }
}

fn program(text: &str) -> Option<&str> {
    text.lines().find(|line| line.contains("_perf"))
}

/// The properties of a row from which its collective is derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowKind {
    /// Whether the row has a reduction operation, such as `sum`.
    reduces: bool,
    /// The size divided by (count x bytes of the type): 1, or the number of ranks.
    parts: u64,
}

impl RowKind {
    /// Parses a row: its size, and its kind unless the count is 0. Returns `None` for other words.
    pub(super) fn parse(words: &[&str]) -> Option<(u64, Option<Self>)> {
        let number = |at: usize| words.get(at)?.parse::<u64>().ok();
        let (size, count) = (number(0)?, number(1)?);
        let bytes = type_bytes(words.get(2)?)?;
        let operation = words.get(3).filter(|word| word.parse::<f64>().is_err());
        let reduces = operation.is_some_and(|word| *word != "none");
        let of_count = count.saturating_mul(bytes);
        let is_whole = of_count > 0 && size >= of_count && size.is_multiple_of(of_count);
        Some((size, is_whole.then(|| Self { reduces, parts: size / of_count })))
    }
}

fn type_bytes(name: &str) -> Option<u64> {
    Some(match name {
        "int8" | "uint8" | "char" | "f8e4m3" | "f8e5m2" | "fp8_e4m3" | "fp8_e5m2" => 1,
        "half" | "bfloat16" => 2,
        "int32" | "uint32" | "int" | "float" => 4,
        "int64" | "uint64" | "double" => 8,
        _ => return None,
    })
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Implied {
    /// The collectives whose output has such rows; empty if no collective is known to have them.
    pub collectives: Vec<&'static str>,
    pub ranks: Option<u64>,
    /// The line of the row with the largest size.
    pub line: usize,
    /// The reason, as a text for users.
    pub reason: String,
}

/// Derives the collective from the rows: from their operation and root, and from the ratios size /
/// count and busbw / algbw (nccl-tests, doc/PERFORMANCE.md). Returns `None` if there are no rows,
/// or rows of several kinds.
pub fn implied(text: &str) -> Option<Implied> {
    let plain = without_labels(text);
    let columns = Columns::of(&plain);
    let listed =
        plain.lines().filter_map(listed_rank).map(|(rank, _)| rank.saturating_add(1)).max();
    let rows = rows(&plain);
    let mut found: Option<(usize, RowKind, Vec<&str>)> = None;
    let mut pairs: Vec<[f64; 2]> = Vec::new();
    for (line, row) in &rows {
        let words: Vec<&str> = row.split_whitespace().collect();
        let Some((_, Some(kind))) = RowKind::parse(&words) else { continue };
        if found.as_ref().is_some_and(|(_, other, _)| *other != kind) {
            return None;
        }
        let time = columns.time_of(&words);
        let number = |at: usize| words.get(at)?.parse::<f64>().ok();
        pairs.extend(number(time + 1).zip(number(time + 2)).map(<[f64; 2]>::from));
        found = Some((*line, kind, words));
    }
    let (line, RowKind { reduces, parts }, words) = found?;
    // The pair with the largest algbw has the smallest rounding error.
    let factor = pairs.iter().filter(|[algorithm, _]| *algorithm >= 0.5);
    let factor =
        factor.max_by(|a, b| a[0].total_cmp(&b[0])).map(|[algorithm, bus]| bus / algorithm);
    let root = columns.has_root.then(|| words.get(4)?.parse::<i64>().ok()).flatten();
    let is_rooted = root.is_some_and(|root| root >= 0);
    let is_one = factor.is_none_or(|factor| (factor - 1.0).abs() < 0.02);
    let cell = |at: usize| words.get(columns.time_of(&words) + at).copied();
    // Only an all-to-all has right results out of place, but not in place: the program does not
    // check results in place, or old releases have wrong ones.
    let is_right = |word: &str| word.parse::<f64>().is_ok_and(|wrong| wrong == 0.0);
    let in_place = cell(7).is_some_and(is_right) || cell(7).is_none();
    let is_alltoall = cell(3).is_some_and(is_right) && !in_place;
    let share = 1.0 - 1.0 / parts as f64;
    let contradicts = parts > 1 && factor.is_some_and(|factor| (factor - share).abs() > 0.05);
    let collectives: Vec<&'static str> = match (reduces, parts) {
        // A busbw of 0 means that there is a single rank, with which collectives do not differ.
        _ if contradicts || factor.is_some_and(|factor| factor < 0.45) => Vec::new(),
        (true, 1) if is_rooted => vec!["reduce"],
        (true, 1) if !is_one => vec!["allreduce"],
        // The ratio busbw / algbw of an allreduce is 1 only with two ranks.
        (true, 1) if factor.is_none() || listed == Some(2) => vec!["allreduce"],
        (true, 1) if root.is_none() && listed.is_some() => vec!["reduce"],
        (true, 1) if root.is_none() => vec!["allreduce", "reduce"],
        (true, 1) if listed.is_none() => vec!["allreduce"],
        (true, 1) => Vec::new(),
        (true, _) => vec!["reduce-scatter"],
        (false, 1) if is_rooted || (root.is_none() && is_one) => vec!["broadcast"],
        (false, 1) => Vec::new(),
        (false, _) if is_rooted => vec!["gather", "scatter"],
        (false, _) if is_alltoall => vec!["alltoall"],
        (false, _) => vec!["allgather", "alltoall"],
    };
    let ranks = match parts {
        1 => collectives.first().and_then(|name| ranks_of_bandwidths(name, &pairs)),
        _ => (!contradicts).then_some(parts),
    };
    let operation = match reduces {
        true => format!("the operation `{}`", words[3]),
        false => "no operation".to_owned(),
    };
    let size = match parts {
        1 => "its size is that of its count".to_owned(),
        _ => format!("its size is {parts} times that of its count"),
    };
    let ratio = factor.map_or(String::new(), |f| format!(", and busbw is {f:.2} times algbw"));
    let unchecked =
        if is_alltoall { ", and only the results out of place are right or checked" } else { "" };
    let reason = format!("the row has {operation}, {size}{ratio}{unchecked}");
    Some(Implied { collectives, ranks, line, reason })
}

/// Returns whether a line names the columns. In a copied text, the `#` before it may be missing.
pub(super) fn is_header(line: &str) -> bool {
    line.contains("algbw") && line.contains("busbw")
}

pub(super) fn is_like_text(text: &str) -> bool {
    text.lines().any(is_header)
}

/// Removes the labels with which launchers mark the lines of a rank, such as `[0]`, `0:` and
/// `[1,0]<stdout>:`. The label is the text before the names of the columns in the header. A label
/// that contains a time of day is different in each line.
pub fn without_labels(text: &str) -> Cow<'_, str> {
    let label = text.lines().find(|line| is_header(line)).and_then(|header| {
        // The end is the first name, because later names can contain the character `#`.
        let end = header.find("size").unwrap_or(header.len());
        let before = header[..end].trim();
        let label = before.trim_end_matches('#').trim_end();
        let is_label = before.ends_with('#') || label.ends_with([':', ']', 'Z', '>']);
        (!label.is_empty() && is_label).then_some(label)
    });
    let Some(label) = label else { return Cow::Borrowed(text) };
    // The program prints a row in several pieces, and each can have a label.
    let is_in_lines = label.starts_with('[');
    let is_timed = label.split_whitespace().any(|word| word.matches(':').count() >= 2);
    let plain = |line: &str| match line.trim_start().strip_prefix(label) {
        Some(rest) if is_in_lines => rest.replace(label, " "),
        Some(rest) => rest.to_owned(),
        None if is_timed => without_time(line, label).unwrap_or(line).to_owned(),
        None => line.to_owned(),
    };
    Cow::Owned(text.lines().map(|line| plain(line) + "\n").collect())
}

/// Removes a label that is like `label` but has other digits. Returns `None` if the line has no
/// such label. If `label` has a tag, such as `<stdout>:`, the label of the line ends at this tag.
/// Otherwise, it has as many words as `label`.
fn without_time<'a>(line: &'a str, label: &str) -> Option<&'a str> {
    if let Some((_, tag)) = label.split_once('<') {
        let tag = format!("<{tag}");
        return line.split_once(&*tag).map(|(_, rest)| rest);
    }
    let pattern = |text: &str| {
        let mut pattern: Vec<char> =
            text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        pattern.dedup_by(|a, b| (*a, *b) == ('0', '0'));
        pattern
    };
    let mut rest = line;
    for word in label.split_whitespace() {
        rest = rest.trim_start();
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        if pattern(&rest[..end]) != pattern(word) {
            return None;
        }
        rest = &rest[end..];
    }
    Some(rest)
}

const MESSAGES: [&str; 3] = ["NCCL INFO", "NCCL WARN", "NCCL TRACE"];

/// Returns whether a line contains a message of NCCL, which can follow values of a row.
pub(super) fn is_message(line: &str) -> bool {
    MESSAGES.iter().any(|name| line.contains(name))
}

/// Returns the part of a line before a message of NCCL. nccl-tests prints a row in several pieces,
/// and NCCL can print messages between them, such as `HOST:PID:TID [0] NCCL INFO ..`. Then the name
/// of the host follows the last value of the piece without a space.
fn before_message(line: &str) -> Cow<'_, str> {
    let message = MESSAGES.iter().find_map(|name| line.find(name));
    let Some(end) = message else { return Cow::Borrowed(line) };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let is_process = |word: &&str| {
        let mut parts = word.rsplit(':');
        parts.next().is_some_and(is_number)
            && parts.next().is_some_and(is_number)
            && parts.next().is_some()
    };
    let Some(process) = line[..end].split_whitespace().find(is_process) else {
        // The text before the message can be a label such as `[0]`, which is no part of a row.
        return Cow::Borrowed(line[..end].split('[').next().unwrap_or_default());
    };
    let piece = line.split(process).next().unwrap_or_default().trim_end();
    let value = ["-1", "N/A", "0"].into_iter().find(|value| process.starts_with(value));
    match value.filter(|_| !piece.is_empty()) {
        Some(value) => Cow::Owned(format!("{piece} {value}")),
        None => Cow::Borrowed(piece),
    }
}

/// Returns the rows of a text with their line numbers. A row begins with a size, a count and a
/// type. If messages of NCCL interrupt a row, its other values are in later lines.
fn rows(text: &str) -> Vec<(usize, String)> {
    let mut rows: Vec<(usize, String)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let piece = before_message(line);
        let mut words = piece.split_whitespace();
        let is_value = |word: &str| word == "N/A" || word.parse::<f64>().is_ok();
        let is_size = |word: Option<&str>| word.is_some_and(|word| word.parse::<u64>().is_ok());
        if is_size(words.next())
            && is_size(words.next())
            && words.next().is_some_and(|w| !is_value(w))
        {
            rows.push((number, piece.into_owned()));
        } else if let Some((_, row)) = rows.last_mut()
            && !piece.trim().is_empty()
            && piece.split_whitespace().all(is_value)
        {
            *row += " ";
            *row += &piece;
        }
    }
    rows
}

struct Columns {
    /// Whether rows have a column `root`. It does not exist before release 2.12.
    has_root: bool,
    /// Whether the last column is the number of wrong results. In older releases, it is an error.
    counts_wrong: bool,
}

impl Columns {
    fn of(text: &str) -> Self {
        let header = text.lines().find(|line| is_header(line)).unwrap_or_default();
        let has = |name: &str| header.split_whitespace().any(|word| word == name);
        Self { has_root: has("root"), counts_wrong: has("#wrong") || !has("error") }
    }

    /// Returns the index of the time in a row. The columns are size, count, type, operation, root,
    /// time, algbw, busbw and the number of wrong results. The last four columns are repeated for
    /// in-place operations.
    fn time(&self, cells: &NumericLine<'_>) -> usize {
        self.time_of(&cells.words)
    }

    fn time_of(&self, words: &[&str]) -> usize {
        let has_operation = words.get(3).is_some_and(|word| word.parse::<f64>().is_err());
        if self.has_root { 5 } else { 3 + usize::from(has_operation) }
    }
}

/// Reads a line such as `#  Rank  3 Group  1 Pid 4711 on host device 3`. Returns the rank and, if
/// the release prints it, the group.
fn listed_rank(line: &str) -> Option<(u64, Option<u64>)> {
    let words = line.trim_start_matches(|c: char| c == '#' || c.is_whitespace());
    let words: Vec<&str> = words.split_whitespace().collect();
    let number = |at: usize, name| {
        (words.get(at) == Some(&name)).then(|| words.get(at + 1)?.parse::<u64>().ok())?
    };
    Some((number(0, "Rank")?, number(2, "Group")))
}

/// Derives the number of ranks n from pairs of algbw and busbw, which nccl-tests prints with two
/// decimals. busbw / algbw is 2(n - 1)/n for an allreduce, and (n - 1)/n for an allgather, a
/// reduce-scatter and an all-to-all (nccl-tests, doc/PERFORMANCE.md). Returns `None` unless exactly
/// one n matches these decimals.
fn ranks_of_bandwidths(collective: &str, pairs: &[[f64; 2]]) -> Option<u64> {
    const ERROR: f64 = 0.005;
    let scale = match collective {
        "allreduce" => 2.0,
        "allgather" | "reduce-scatter" | "alltoall" => 1.0,
        _ => return None,
    };
    let ranks = |share: f64| if share < 1.0 { 1.0 / (1.0 - share) } else { f64::INFINITY };
    let (mut least, mut most) = (2.0_f64, f64::INFINITY);
    for [algorithm, bus] in pairs.iter().filter(|[algorithm, _]| *algorithm > 2.0 * ERROR) {
        least = least.max(ranks((bus - ERROR) / (algorithm + ERROR) / scale));
        most = most.min(ranks((bus + ERROR) / (algorithm - ERROR) / scale));
    }
    let (least, most) = (least.ceil(), most.floor());
    // Both values are whole numbers, or infinite.
    (0.0..0.5).contains(&(most - least)).then_some(least as u64)
}

pub(super) fn read_text(source: &MeasurementFile<'_>) -> Result<Vec<Measurement>, ParseError> {
    let mut list: Vec<Measurement> = Vec::new();
    let mut bandwidths = Vec::new();
    let text = without_labels(source.text);
    // A log can have several runs, each of which lists the same ranks.
    let devices: BTreeMap<u64, Option<u64>> = text.lines().filter_map(listed_rank).collect();
    // In an excerpt of a log, the first ranks can be missing from the list.
    let ranks = devices.last_key_value().map(|(last, _)| last.saturating_add(1));
    let is_whole = ranks == Some(devices.len() as u64);
    let communicators = if is_whole { communicators(devices) } else { Vec::new() };
    let columns = Columns::of(&text);
    let program = program(&text).unwrap_or_default();
    let implied = implied(source.text);
    for (number, row) in rows(&text) {
        let cells = NumericLine::parse(number, row.trim_start());
        let cells = cells.unwrap_or_else(|| unreachable!("a row begins with a number"));
        let time = columns.time(&cells);
        let is_wrong = cells.word(time + 3).filter(|_| columns.counts_wrong).unwrap_or("N/A");
        if is_wrong != "N/A" && is_wrong != "0" {
            return Err(error_at(
                number,
                format!("{is_wrong} results were wrong, expected 0: not a time of this collective"),
            ));
        }
        let busbw = cells.word(time + 2);
        let number_at = |at| cells.word(at)?.parse::<f64>().ok();
        bandwidths.extend(number_at(time + 1).zip(number_at(time + 2)).map(<[f64; 2]>::from));
        list.push(Measurement {
            collective: collective_of(source, number, program, implied.as_ref())?,
            size_of: SizeOf::Buffer,
            size: cells.whole(0, "the size")?,
            ranks,
            communicators: communicators.clone(),
            time_us: cells.time(time, "the time")?,
            in_place_us: cells.time(time + 4, "the in-place time").ok(),
            note: busbw.map(|busbw| format!("busbw {busbw} GB/s")).unwrap_or_default(),
            is_checked: is_wrong == "0",
            line: number,
            ..Measurement::default()
        });
    }
    if list.is_empty() {
        let header = text.lines().position(is_header).map_or(0, |at| at + 1);
        let why = "it has no measurement: no line below begins with a size, a count and a type";
        return Err(error_at(header, why));
    }
    if let (None, Some(first)) = (ranks, list.first()) {
        let is_own = |rows: &Implied| rows.collectives.contains(&&*first.collective);
        let ranks = implied.filter(is_own).and_then(|rows| rows.ranks);
        let ranks = ranks.or_else(|| ranks_of_bandwidths(&first.collective, &bandwidths));
        list.iter_mut().for_each(|measurement| measurement.ranks = ranks);
    }
    Ok(list)
}

#[derive(Deserialize)]
struct Document {
    version: u64,
    #[serde(default)]
    args: Vec<String>,
    config: Config,
    results: Vec<SizeResult>,
}

#[derive(Deserialize)]
struct Config {
    #[serde(default)]
    devices: Vec<Device>,
}

#[derive(Deserialize)]
struct Device {
    rank: u64,
    group: Option<u64>,
}

/// Returns the ranks of each group, or no groups if the group of any device is unknown.
fn communicators(devices: impl IntoIterator<Item = (u64, Option<u64>)>) -> Vec<Vec<u64>> {
    let mut groups: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (rank, group) in devices {
        let Some(group) = group else { return Vec::new() };
        groups.entry(group).or_default().push(rank);
    }
    groups.into_values().collect()
}

#[derive(Deserialize)]
struct SizeResult {
    size: u64,
    out_of_place: Option<Times>,
    in_place: Option<Times>,
}

#[derive(Deserialize)]
struct Times {
    #[serde(alias = "cpu_time")]
    time: f64,
    nwrong: Option<f64>,
    #[serde(flatten)]
    more: BTreeMap<String, serde_json::Value>,
}

pub(super) fn is_like_json(text: &str) -> bool {
    text.trim_start().starts_with('{') && text.contains("\"nccl_version\"")
}

pub(super) fn read_json(source: &MeasurementFile<'_>) -> Result<Vec<Measurement>, ParseError> {
    const VERSION: u64 = 3;
    // Other versions of the format are refused, because their units may differ.
    let document: Document =
        serde_json::from_str(source.text).map_err(|e| error_at(e.line(), e.to_string()))?;
    if document.version != VERSION {
        return Err(error_at(
            0,
            format!("its version is {}, expected {VERSION}", document.version),
        ));
    }
    // The collective is derived from the command line, and the number of ranks from the devices.
    let collective = collective_of(source, 0, &document.args.join(" "), None)?;
    let ranks = document.config.devices.iter().map(|device| device.rank.saturating_add(1)).max();
    let devices: Vec<(u64, Option<u64>)> =
        document.config.devices.iter().map(|device| (device.rank, device.group)).collect();
    let communicators = communicators(devices);
    let mut list = Vec::new();
    // Only out-of-place times are imported, because MPI benchmarks also measure out of place.
    for result in document.results {
        let Some(times) = result.out_of_place else { continue };
        if times.nwrong.is_some_and(|n| n != 0.0) {
            return Err(error_at(
                0,
                format!("{} bytes: results were wrong, expected none", result.size),
            ));
        }
        if !(times.time.is_finite() && times.time >= 0.0) {
            return Err(error_at(
                0,
                format!(
                    "{} bytes: the time is {}, expected a time of 0 or more",
                    result.size, times.time
                ),
            ));
        }
        // The extremes and percentiles become a note, because rows have no columns for them.
        let spread = ["min_us", "max_us", "p50_us", "p99_us", "stdev_us"];
        let note = spread.iter().filter_map(|key| Some(format!("{key} {}", times.more.get(*key)?)));
        list.push(Measurement {
            collective: collective.clone(),
            size_of: SizeOf::Buffer,
            size: result.size,
            ranks,
            communicators: communicators.clone(),
            time_us: times.time,
            in_place_us: result.in_place.map(|times| times.time).filter(|us| us.is_finite()),
            note: note.collect::<Vec<_>>().join(", "),
            is_checked: times.nwrong.is_some(),
            line: 0,
            ..Measurement::default()
        });
    }
    Ok(list)
}
