//! All about one case, in words: how to repeat it, its schedule's phases, every column of its row.

use crate::app::{App, many};
use crate::model::Words;
use crate::model::curves::size_text;
use crate::model::queue::{Row, State};
use crate::save::command;
use crate::ui::Panel;
use swapmeet_results::columns;

/// A name and what it is; a heading has nothing after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The name.
    pub name: String,
    /// What it is.
    pub value: String,
}

fn entry(name: &str, value: impl Into<String>) -> Entry {
    Entry { name: name.to_owned(), value: value.into() }
}

/// All there is to say.
pub(crate) fn entries(app: &App) -> Vec<Entry> {
    let Some((_, row)) = app.focused() else { return Vec::new() };
    let algorithm = &row.case.algorithm.algorithm;
    let mut all = vec![entry("to repeat it", command(&row.case, &app.plugin_dirs)), entry("state", state(row))];
    all.push(entry("algorithm", algorithm.title.clone()));
    if !algorithm.paper.is_empty() {
        all.push(entry("paper", algorithm.paper.clone()));
    }
    all.push(entry("plugin", format!("{} {}", algorithm.plugin.0, algorithm.plugin.1)));
    if let Some(spec) = row.case.machine.stands_for() {
        all.push(entry("machine", format!("{} is {spec}", row.case.machine.name())));
    }
    all.extend(schedule(app, row));
    if let Some(record) = row.record() {
        all.extend([entry("", ""), entry("ALL COLUMNS", "")]);
        all.extend(columns().zip(record.fields()).map(|(name, value)| entry(name, value)));
    }
    let filter = app.filter(Panel::Details);
    let words = Words::of(filter);
    all.retain(|entry| filter.is_empty() || words.are_in(&format!("{} {}", entry.name, entry.value)));
    all
}

fn state(row: &Row) -> String {
    match &row.state {
        State::Done(record) if !record.reason.is_empty() => format!("{}: {}", record.status, record.reason),
        _ => row.word().to_owned(),
    }
}

/// The schedule's phases, once it has been walked.
fn schedule(app: &App, row: &Row) -> Vec<Entry> {
    let Some(recording) = app.recording.as_ref().filter(|r| r.key == row.key) else { return Vec::new() };
    if recording.phases().is_empty() && !recording.is_walking() {
        return Vec::new();
    }
    let mut all = vec![entry("", ""), entry("SCHEDULE", "")];
    for (number, phase) in (1..).zip(recording.phases()) {
        let name = if phase.name.is_empty() { String::new() } else { format!("{}: ", phase.name) };
        all.push(entry(
            &format!("{number}."),
            format!(
                "{name}{}, {}, longest {}, busiest link {}",
                many(phase.steps as usize, "step"),
                many(phase.messages as usize, "message"),
                size_text(phase.longest as f64),
                phase.worst_link
            ),
        ));
    }
    if recording.is_walking() {
        all.push(entry("", "being walked .."));
    }
    all
}
