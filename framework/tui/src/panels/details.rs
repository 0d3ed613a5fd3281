//! The details panel. It shows how to repeat a case, the phases of its schedule, and all columns of
//! its row.

use crate::keys::Binding;
use crate::paint::{Painter, widest, wrap};
use crate::panel::{Keyed, List, NO_MATCH, Panel, list_in_field};
use crate::session::files::command;
use crate::session::queue::CaseRow;
use crate::session::{Request, Requests, Session};
use ratatui::layout::Rect;
use std::convert::Infallible;
use swapmeet_results::{Record, Residual, columns, units};
use swapmeet_runner::case::Case;

/// Its cursor is the scroll position.
#[derive(Debug, Default)]
pub(crate) struct Details {
    list: List,
}

impl Keyed for Details {
    const TITLE: &'static str = "Details of a case";
    type Action = Infallible;
    const KEYS: &'static [Binding<Infallible>] = &[];

    fn act(&mut self, action: Infallible, _: &Session) -> Requests {
        match action {}
    }
}

impl Panel for Details {
    list_in_field!();

    fn lines(&self, session: &Session) -> usize {
        self.entries(session).len()
    }

    fn sideways(&mut self, by: isize, _: &Session) -> Requests {
        self.list.cursor = 0;
        vec![Request::SelectNext(by)]
    }

    fn shows_schedule(&self) -> bool {
        true
    }

    fn draw(&mut self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect) {
        let Some((_, row)) = session.selected_row() else {
            let area = painter.panel(area, "Details");
            let text = "No cases yet. Choose them in 1, then press R to run them.";
            return painter.placeholder(area, text);
        };
        let [algorithm, topology, workload, machine] = row.specs();
        let title = format!(
            "Details{}: {algorithm} on {topology}, {workload}, {machine}",
            of_repetitions(session, row)
        );
        let area = painter.filtered_panel(area, &title, &self.list.filter);
        let theme = painter.theme;
        let all = self.entries(session);
        if all.is_empty() {
            return painter.placeholder(area, NO_MATCH);
        }
        // Values form a column to the right of the longest name. Long values are wrapped within
        // this column.
        let names =
            widest(all.iter().filter(|e| !e.value.is_empty()).map(|e| &e.name)).min(area.width / 3);
        let room = area.width.saturating_sub(names + 4);
        let texts: Vec<Vec<String>> = all.iter().map(|entry| wrap(&entry.value, room)).collect();
        let mut left = usize::from(area.height);
        let last_page = texts.iter().rev().take_while(|lines| {
            let fits = lines.len() <= left;
            left = left.saturating_sub(lines.len());
            fits
        });
        let farthest = all.len() - last_page.count().clamp(1, all.len());
        // The last scroll position is the one at which the last page is full.
        self.list.cursor = self.list.cursor.min(farthest);
        let first = self.list.cursor;
        let mut y = 0;
        // On the last page, the end of the previous value fills the lines that are left.
        if first > 0 && first == farthest {
            let shown: usize = texts[first..].iter().map(Vec::len).sum();
            let left = usize::from(area.height).saturating_sub(shown);
            let previous = &texts[first - 1];
            for line in &previous[previous.len().saturating_sub(left)..] {
                painter.put(area, names + 3, y, line, theme.text);
                y += 1;
            }
        }
        // An entry without a value whose name is in capitals is the heading of a group of entries.
        for (entry, lines) in all.iter().zip(&texts).skip(first) {
            if y >= area.height {
                break;
            }
            let heading =
                entry.value.is_empty() && entry.name.chars().all(|c| c.is_uppercase() || c == ' ');
            let style = if heading { theme.accent } else { theme.dim };
            let width = if heading { area.width } else { (1 + names).min(area.width) };
            painter.put(Rect { width, ..area }, 1, y, &entry.name, style);
            for line in lines {
                painter.put(area, names + 3, y, line, theme.text);
                y += 1;
            }
        }
        painter.scrollbar(area, first, all.len());
    }
}

impl Details {
    fn entries(&self, session: &Session) -> Vec<DetailLine> {
        let Some((_, row)) = session.selected_row() else { return Vec::new() };
        let mut all = match &row.case {
            Ok(case) => about(case, row, session),
            Err(why) => vec![
                detail("command", format!("not available: {why}")),
                detail("state", state(row)),
            ],
        };
        let record = row.record();
        let residuals = &session.compared.residuals;
        all.extend(record.iter().flat_map(|record| residual_lines(residuals, record)));
        let faults = record.as_ref().map(|record| record.faults.clone());
        all.extend(faults.filter(|links| !links.is_empty()).map(|links| detail("faults", links)));
        all.extend(schedule(session));
        if let Some(record) = record {
            all.extend([detail("", ""), detail("ALL COLUMNS", "")]);
            all.extend(columns().zip(record.fields()).map(|(name, value)| detail(name, value)));
        }
        all.retain(|entry| {
            self.list.filter.text().is_empty()
                || self.list.filter.passes(&format!("{} {}", entry.name, entry.value))
        });
        all
    }
}

fn about(case: &Case, row: &CaseRow, session: &Session) -> Vec<DetailLine> {
    let algorithm = &case.algorithm.algorithm;
    let mut all =
        vec![detail("command", command(case, &session.plugin_dirs)), detail("state", state(row))];
    all.push(detail("algorithm", algorithm.title.clone()));
    if !algorithm.paper.is_empty() {
        all.push(detail("paper", algorithm.paper.clone()));
    }
    all.push(detail("plugin", format!("{} {}", algorithm.plugin.name, algorithm.plugin.version)));
    if let Some(spec) = case.machine.stands_for() {
        all.push(detail("machine", format!("{} is {spec}", case.machine.name())));
    }
    all
}

/// A line with a name and a value. A heading has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DetailLine {
    name: String,
    value: String,
}

fn detail(name: &str, value: impl Into<String>) -> DetailLine {
    DetailLine { name: name.to_owned(), value: value.into() }
}

/// Returns the number of this repetition, because a line of the table has the mean of all of them.
fn of_repetitions(session: &Session, row: &CaseRow) -> String {
    let compared = &session.compared;
    let line = compared.line_of(&row.key);
    match line.and_then(|at| compared.lines[at].stats.time.as_ref()).map(|time| time.n) {
        Some(count) if count > 1 => format!(" of repetition {} of {count}", row.key.repetition + 1),
        _ => String::new(),
    }
}

fn state(row: &CaseRow) -> String {
    let remark = row.remark();
    if remark.is_empty() { row.word().to_owned() } else { format!("{}: {remark}", row.word()) }
}

/// Compares the time of a predicted row with measured times of the same case, and vice versa.
fn residual_lines(all: &[Residual], row: &Record) -> Vec<DetailLine> {
    let name = |row: &Record| row.case().setting.short_machine().into_owned();
    let is_of = |b: &&Residual| {
        let case = [&b.topology, &b.collective, &b.workload, &b.algorithm];
        let (machine, model) = (name(row), &row.model);
        case == [&row.topology, &row.collective, &row.workload, &row.algorithm]
            && (b.measured_on == machine || (b.predicted_for == machine && b.model == *model))
    };
    let in_words = |b: &Residual| {
        let n = if b.n > 1 { format!(" ({} times)", b.n) } else { String::new() };
        let [measured, predicted] = [b.measured_us, b.predicted_us].map(units::duration);
        format!(
            "{measured} on {}{n}, {:+.1} % relative to {predicted} predicted for {}, {}",
            b.measured_on, b.residual_percent, b.predicted_for, b.model
        )
    };
    all.iter().filter(is_of).map(|b| detail("measured", in_words(b))).collect()
}

fn schedule(session: &Session) -> Vec<DetailLine> {
    let Some(recording) = session.schedule() else { return Vec::new() };
    if recording.phases().is_empty() && !recording.is_growing() {
        return Vec::new();
    }
    let mut all = vec![detail("", ""), detail("SCHEDULE", "")];
    for (number, phase) in (1..).zip(recording.phases()) {
        let name = if phase.name.is_empty() { String::new() } else { format!("{}: ", phase.name) };
        all.push(detail(
            &format!("{number}."),
            format!(
                "{name}{}, {}, longest {}, link load {}",
                units::count(phase.steps as usize, "step"),
                units::count(phase.messages as usize, "message"),
                units::size(phase.longest as f64),
                phase.max_link_load
            ),
        ));
    }
    if recording.is_growing() {
        all.push(detail("", "simulation in progress"));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_are_shown_only_with_their_predictions() {
        let case = Record {
            topology: "ring:4".to_owned(),
            collective: "alltoall".to_owned(),
            workload: "uniform:64".to_owned(),
            algorithm: "ring".to_owned(),
            machine: "sp2".to_owned(),
            model: "flat".to_owned(),
            ..Record::default()
        };
        let known = Residual {
            topology: case.topology.clone(),
            collective: case.collective.clone(),
            workload: case.workload.clone(),
            algorithm: case.algorithm.clone(),
            measured_on: "measured:here".to_owned(),
            n: 3,
            measured_us: 12.5,
            predicted_for: "sp2".to_owned(),
            model: "flat".to_owned(),
            predicted_us: 10.0,
            residual_percent: 25.0,
        };
        let all = [known];
        let of = |row: &Record| {
            residual_lines(&all, row).into_iter().map(|entry| entry.value).collect::<Vec<_>>()
        };
        let expected = [
            "12.50 µs on measured:here (3 times), +25.0 % relative to 10.00 µs predicted for sp2, flat",
        ];
        assert_eq!(of(&case), expected);
        let measured = Record {
            machine: "measured:here".to_owned(),
            model: "measured".to_owned(),
            ..case.clone()
        };
        assert_eq!(of(&measured), expected);
        assert_eq!(of(&Record { machine: "t3d".to_owned(), ..case.clone() }), [""; 0]);
        assert_eq!(of(&Record { algorithm: "bruck".to_owned(), ..case }), [""; 0]);
    }
}
