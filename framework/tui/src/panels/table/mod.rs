//! The table of all cases. A line summarises the rows of one algorithm in a group, or stands for a
//! case that has no row yet. The cases of a group differ only in the algorithm.

mod column;
mod layout;

use crate::click_map::PanelPosition;
use crate::keys::{Binding, ENTER, LEFT, RIGHT, bind, ch};
use crate::memo::Memo;
use crate::paint::{Painter, below, clock, cut, widest, width, wrap};
use crate::panel::{Keyed, List, NO_MATCH, Panel, list_in_field};
use crate::session::comparison::{Compared, Line, UNCHARGED, UNCHARGED_IN_WORDS};
use crate::session::packed::CaseKey;
use crate::session::queue::{CaseRow, CaseState};
use crate::session::{Request, Requests, Session};
use column::{Column, Sorted, mark, passing};
use layout::{Candidate, Layout, layout};
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::rc::Rc;
use swapmeet_results::{Status, duration};

pub(crate) fn value_columns() -> impl Iterator<Item = &'static str> {
    Column::ALL.into_iter().filter(|column| column.is_value()).map(Column::title)
}

/// In a narrower table, the state of a case has no steps, so that names have more room.
const WIDE: u16 = 90;

/// The maximum number of rows for the reason of a failure. The details show the full text.
const MOST_REASON_LINES: usize = 3;

#[derive(Debug, Default)]
pub(crate) struct Table {
    list: List,
    /// The column by which lines are sorted. If `None`, lines are sorted by group, with the fastest
    /// line of each group first.
    sort: Option<Column>,
    reverse: bool,
    across: usize,
    /// The maximum of `across`, at which the last column is visible.
    farthest: usize,
    in_sight: Vec<Column>,
    /// Whether each line passes the filter. The inputs are the number of the analysis
    /// ([`Compared::number`]) and the filter.
    passes: Memo<(u64, String), Vec<bool>>,
    /// All lines in the order of the sort column. The inputs are the number of the analysis and the
    /// column. The filter is applied later, so typing it does not sort the lines again.
    sorted: Memo<(u64, Column), Sorted>,
    order: Memo<OrderInputs, Vec<Entry>>,
}

/// The inputs of the displayed order: the number of the analysis, that of the changes of the queue,
/// the filter, the sort column and its direction.
type OrderInputs = (u64, u64, String, Option<Column>, bool);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The index of a line of the analysis.
    Line(usize),
    /// The index of a case that is not part of the analysis yet.
    Open(usize),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Action {
    Open,
    Sort,
    Reverse,
    Left,
    Right,
}

impl Keyed for Table {
    const TITLE: &'static str = "Table";
    type Action = Action;
    const KEYS: &'static [Binding<Action>] = &[
        bind(Action::Open, ENTER, "show the details of the case").hint("details"),
        bind(Action::Sort, &[ch('s')], "sort by the next visible column").hint("sort"),
        bind(Action::Reverse, &[ch('r')], "reverse the order of the sorted column").hint("reverse"),
        bind(Action::Left, LEFT, "scroll to the columns on the left"),
        bind(Action::Right, RIGHT, "scroll to the columns on the right").pair("←→", "columns"),
    ];

    fn act(&mut self, action: Action, session: &Session) -> Requests {
        match action {
            Action::Open => return self.open(session),
            Action::Sort => {
                // Sort only by a visible column, so that the user can see why the lines are in this
                // order.
                let next = self.in_sight.iter().filter(|column| **column != Column::State);
                self.sort = next.copied().find(|column| Some(*column) > self.sort);
                self.reverse = false;
                let text = self.sort.map_or("group, fastest first", Column::title);
                return vec![Request::Say(format!("sorted by {text}"))];
            }
            Action::Reverse if self.sort.is_none() => {
                return vec![Request::Say("sorted by group: s sorts by a column".to_owned())];
            }
            Action::Reverse => self.reverse = !self.reverse,
            Action::Left => self.across = self.across.saturating_sub(1),
            Action::Right => self.across = (self.across + 1).min(self.farthest),
        }
        Requests::new()
    }

    fn is_idle(&self, action: Action, _: &Session) -> bool {
        match action {
            Action::Left | Action::Right => self.farthest == 0,
            Action::Reverse => self.sort.is_none(),
            Action::Open | Action::Sort => false,
        }
    }
}

impl Panel for Table {
    list_in_field!();

    fn lines(&self, session: &Session) -> usize {
        self.order(session).len()
    }

    fn go_to(&mut self, line: usize, session: &Session) -> Requests {
        let order = self.order(session);
        let entry = order.get(line.min(order.len().saturating_sub(1)));
        entry.map(|entry| Request::Select(case_of(*entry, session))).into_iter().collect()
    }

    /// Returns the title of the sort column, after a `-` if the order is reversed.
    fn state(&self) -> String {
        let sign = if self.reverse { "-" } else { "" };
        self.sort.map_or_else(String::new, |column| format!("{sign}{}", column.title()))
    }

    fn restore(&mut self, state: &str) {
        let (reverse, title) = state.strip_prefix('-').map_or((false, state), |rest| (true, rest));
        self.sort = Column::ALL.into_iter().find(|column| column.title() == title);
        self.reverse = reverse && self.sort.is_some();
    }

    fn current_line(&self, session: &Session) -> Option<usize> {
        self.cursor(session)
    }

    /// If the filter hides the selected case, the first step goes to the first line.
    fn step(&mut self, by: isize, session: &Session) -> Requests {
        let at = self.cursor(session);
        self.go_to(at.map_or(0, |at| at.saturating_add_signed(by)), session)
    }

    /// Shows the details of the selected case. If the filter hides it, selects the first line.
    fn open(&mut self, session: &Session) -> Requests {
        let mut requests = match self.cursor(session) {
            Some(_) => Requests::new(),
            None => self.go_to(0, session),
        };
        requests.push(Request::Details);
        requests
    }

    fn click(&mut self, position: PanelPosition, _: &Session) -> Requests {
        if let PanelPosition::Heading(column) = position {
            let column = Column::ALL.get(column).copied();
            self.reverse = self.sort.is_some() && self.sort == column && !self.reverse;
            self.sort = column;
        }
        Requests::new()
    }

    fn draw(&mut self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect) {
        let compared = &session.compared;
        let lines = self.order(session);
        let area = painter.filtered_panel(area, &self.title_of(session), &self.list.filter);
        if let Some(error) = &compared.error {
            return painter.placeholder(area, error);
        }
        if lines.is_empty() {
            let text = "No cases yet. Choose them in 1, then press R to run them.";
            let text = match session.queue.rows().is_empty() {
                true => session.text_without_results(text),
                false => NO_MATCH.to_owned(),
            };
            return painter.placeholder(area, &text);
        }
        let top = progress(painter, session, area);
        let area = below(area, top);
        let at = self.cursor(session);
        self.list.cursor = at.unwrap_or(0);
        let foot = foot(painter, session, lines[self.list.cursor], &lines, area);
        let area = Rect { height: area.height - foot, ..area };
        let height = usize::from(area.height.saturating_sub(1));
        let first = self.list.first_line(lines.len(), height);
        let shown = &lines[first..(first + height).min(lines.len())];
        let bar = u16::from(lines.len() > height);
        let room = area.width.saturating_sub(2 + bar);
        let is_wide = area.width >= WIDE;
        let candidates = self.candidates(session, shown, is_wide);
        let layout = layout(candidates, room, self.sort, self.across);
        self.farthest = layout.farthest;
        self.in_sight = layout.columns.iter().map(|placed| placed.column).collect();
        self.across = self.across.min(self.farthest);
        self.head(painter, &layout, area);
        for (y, (index, entry)) in (1..).zip((first..).zip(shown)) {
            let here = index == self.list.cursor;
            let style = if at.is_some() { painter.cursor() } else { painter.theme.faint_cursor };
            let plain = painter.list_line(area, y, index, false, painter.theme.text);
            if here {
                painter.shade(area, y, style);
            }
            let begins =
                index == first || group_of(lines[index - 1], session) != group_of(*entry, session);
            if line_of(entry, compared).is_some_and(|line| line.is_uncharged) {
                painter.put(area, 0, y, UNCHARGED, if here { style } else { painter.theme.warn });
            }
            let mut x = 1;
            let cells: Vec<_> = layout
                .columns
                .iter()
                .map(|placed| cell(painter, session, *entry, placed.column, (begins, is_wide)))
                .collect();
            for (number, (placed, (text, own))) in layout.columns.iter().zip(&cells).enumerate() {
                let style = if here { style } else { own.unwrap_or(plain) };
                // The reason of a failure also uses the empty columns after it.
                let is_last = cells[number + 1..].iter().all(|(text, _)| text.is_empty());
                let end = match placed.column {
                    Column::Verified if is_last => 1 + room,
                    _ => (x + placed.wide).min(area.width),
                };
                let cell = Rect { width: end, ..area };
                if placed.column.is_number() {
                    painter.put_right(cell, x + placed.wide, y, text, style);
                } else {
                    painter.put(cell, x, y, placed.shorten(text), style);
                }
                x += placed.wide + layout.gap;
            }
        }
        painter.scrollbar(below(area, 1), first, lines.len());
    }
}

fn case_of(entry: Entry, session: &Session) -> CaseKey {
    match entry {
        Entry::Line(line) => session.case_of(&session.compared.lines[line]),
        Entry::Open(index) => session.queue.rows()[index].key.clone(),
    }
}

fn line_of<'c>(entry: &Entry, compared: &'c Compared) -> Option<&'c Line> {
    match entry {
        Entry::Line(line) => Some(&compared.lines[*line]),
        Entry::Open(_) => None,
    }
}

fn group_of(entry: Entry, session: &Session) -> Option<usize> {
    match entry {
        Entry::Line(line) => Some(session.compared.lines[line].group),
        Entry::Open(index) => session.compared.group_of(&session.queue.rows()[index].key.setting),
    }
}

/// Returns the text of a cell, and its style if it has one of its own.
fn cell(
    painter: &Painter<'_, '_>,
    session: &Session,
    entry: Entry,
    column: Column,
    (begins, is_wide): (bool, bool),
) -> (String, Option<Style>) {
    match entry {
        Entry::Line(line) => {
            let line = &session.compared.lines[line];
            let text = match column {
                // A line without a time has its status instead.
                Column::Time if line.stats.time.is_none() => line.stats.status.to_string(),
                _ => column.text(&session.compared, line),
            };
            (text, Some(column.style(painter, line, begins)))
        }
        Entry::Open(index) => {
            let case = &session.queue.rows()[index];
            let (word, style) = state(painter, session, case, is_wide);
            match column {
                Column::State => (word, Some(style)),
                // A row that is not part of the analysis yet already has a time.
                Column::Time => {
                    let time = case.row().and_then(|row| row.time_us);
                    (time.map(duration).unwrap_or_default(), None)
                }
                _ => (column.text_of_case(case), Some(painter.theme.dim)),
            }
        }
    }
}

/// Returns the state of a case in words. The elapsed time of a running case is that on this computer.
fn state(
    painter: &Painter<'_, '_>,
    session: &Session,
    case: &CaseRow,
    is_wide: bool,
) -> (String, Style) {
    let theme = painter.theme;
    match &case.state {
        CaseState::Waiting => ("· waiting".to_owned(), theme.dim),
        CaseState::Stopped => ("- stopped".to_owned(), theme.dim),
        CaseState::Running(since) => {
            let since = clock(session.now.saturating_sub(*since));
            let step = match case.steps() {
                step if step > 0 && is_wide => format!("step {step}, "),
                _ => String::new(),
            };
            (format!("▸ {step}{since}"), theme.warn)
        }
        CaseState::Done(record) => (format!("{} done", mark(record.status)), theme.good),
    }
}

/// Draws the progress of the run in the first row. Returns the number of used rows, 0 or 1.
fn progress(painter: &mut Painter<'_, '_>, session: &Session, area: Rect) -> u16 {
    let tally = session.queue.tally();
    if !session.queue.is_busy() || area.height < 4 || area.width < 20 {
        return 0;
    }
    let ended = tally.cases - tally.open();
    let left = session.queue.left(session.now).map(|left| format!("{} left", clock(left)));
    let text = format!(" {ended}/{} {}", tally.cases, left.unwrap_or_default());
    let room = area.width.saturating_sub(width(&text) + 2);
    let full = (usize::from(room) * ended / tally.cases.max(1)) as u16;
    for x in 0..room {
        let (c, style) =
            if x < full { ('█', painter.theme.good) } else { ('░', painter.theme.dim) };
        painter.dot(area, 1 + x, 0, c, style);
    }
    painter.put(area, 1 + room, 0, &text, painter.theme.text);
    1
}

/// Writes below the table why the case under the cursor has no time, or else what the mark `†`
/// means, if some line has it.
fn foot(
    painter: &mut Painter<'_, '_>,
    session: &Session,
    entry: Entry,
    lines: &[Entry],
    area: Rect,
) -> u16 {
    const MOST: usize = 1_000;
    let line = |entry| line_of(entry, &session.compared);
    if area.height < 8 {
        return 0;
    }
    let has_failed = |line: &&Line| line.stats.time.is_none() && line.stats.status != Status::Ok;
    if line(&entry).filter(has_failed).is_some() {
        let row = session.selected_row().map(|(_, row)| row.remark()).unwrap_or_default();
        let lines = wrap(&row, area.width.saturating_sub(2)).len().min(MOST_REASON_LINES) as u16;
        painter.paragraph(below(area, area.height - lines), &row, painter.theme.dim);
        return lines;
    }
    if lines.iter().take(MOST).filter_map(line).any(|line| line.is_uncharged) {
        painter.put(area, 0, area.height - 1, UNCHARGED_IN_WORDS, painter.theme.dim);
        return 1;
    }
    0
}

impl Table {
    /// Returns the position of the selected case among the lines; `None` if the filter hides it.
    fn cursor(&self, session: &Session) -> Option<usize> {
        let line = session.selected_line();
        let row = session.selected_row().map(|(index, _)| index);
        let is_here = |entry: &Entry| match entry {
            Entry::Line(at) => Some(*at) == line,
            Entry::Open(at) => Some(*at) == row,
        };
        self.order(session).iter().position(is_here)
    }

    pub(crate) fn order(&self, session: &Session) -> Rc<Vec<Entry>> {
        let (compared, filter) = (&session.compared, &self.list.filter);
        let text = filter.text().to_owned();
        let inputs =
            (compared.number, session.queue.changes(), text.clone(), self.sort, self.reverse);
        self.order.get(inputs, || {
            let passes = self.passes.get((compared.number, text.clone()), || {
                passing(compared, filter, |label| session.about(label))
            });
            let shown = |line: &usize| passes[*line];
            let mut order: Vec<Entry> = match self.sort {
                None => (0..passes.len()).filter(shown).map(Entry::Line).collect(),
                Some(column) => {
                    let inputs = (compared.number, column);
                    let sorted = self.sorted.get(inputs, || Sorted::by(compared, column));
                    sorted.lines(self.reverse).filter(shown).map(Entry::Line).collect()
                }
            };
            let mut open: Vec<usize> = session.queue.open(compared.number).collect();
            if !open.is_empty() && !text.is_empty() {
                let passing = session.queue.passing(filter);
                open.retain(|index| passing.binary_search(index).is_ok());
            }
            // Running cases come before waiting ones.
            let is_running =
                |index: &usize| matches!(session.queue.rows()[*index].state, CaseState::Running(_));
            open.sort_by_key(|index| !is_running(index));
            order.extend(open.into_iter().map(Entry::Open));
            order
        })
    }

    /// Returns the columns that the table may show, with the widths that they need. The widths do
    /// not depend on the rows that arrive during a run, unless a value is unusually long.
    fn candidates(&self, session: &Session, shown: &[Entry], is_wide: bool) -> Vec<Candidate> {
        /// The maximum number of different texts of a spec for which all texts are considered. With
        /// more texts, only the visible ones are.
        const MOST: usize = 64;
        let compared = &session.compared;
        let tally = session.queue.tally();
        let lines = || shown.iter().filter_map(|entry| line_of(entry, compared));
        let is_wanted = |column: &Column| match column {
            Column::State => tally.open() + tally.stopped > 0,
            Column::Topology | Column::Workload | Column::Machine => {
                column.texts(&session.queue).is_some_and(|texts| texts.len() > 1)
            }
            // The user has chosen the columns of values.
            column if column.is_value() && !session.columns.is_empty() => {
                session.columns.iter().any(|title| title == column.title())
            }
            Column::Interval => lines().any(|line| line.interval().is_some()),
            Column::AlgorithmBandwidth | Column::BusBandwidth => {
                lines().any(|line| line.stats.bandwidths.is_some())
            }
            Column::OverOptimum => lines().any(|line| line.over_optimum().is_some()),
            _ => true,
        };
        let candidate = |column: Column| {
            let text = |entry: &Entry| match entry {
                Entry::Line(line) => column.text(compared, &compared.lines[*line]),
                Entry::Open(index) => column.text_of_case(&session.queue.rows()[*index]),
            };
            let texts = column.texts(&session.queue).map(|all| {
                if all.len() <= MOST { all.clone() } else { shown.iter().map(text).collect() }
            });
            let least = match column {
                Column::State if tally.open() > 0 && is_wide => 18,
                Column::State => 10,
                Column::Time => 11,
                Column::Ratio => 6,
                Column::Verified => 15,
                _ => 0,
            };
            let title = width(column.title()) + u16::from(self.sort == Some(column));
            let values = match column {
                Column::State | Column::Verified => 0,
                _ if texts.is_some() => 0,
                _ => widest(shown.iter().map(text)),
            };
            Candidate { column, wide: least.max(title).max(values), texts }
        };
        Column::ALL.into_iter().filter(is_wanted).map(candidate).collect()
    }

    /// Returns the title: the number of cases in each state, the specs that are equal in all cases,
    /// and the baseline.
    fn title_of(&self, session: &Session) -> String {
        let tally = session.queue.tally();
        let counts = [
            (tally.ok, "ok"),
            (tally.unsupported, "unsupported"),
            (tally.failed, "failed"),
            (tally.running, "running"),
            (tally.waiting, "waiting"),
            (tally.stopped, "stopped"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let mut parts: Vec<String> =
            counts.map(|(count, word)| format!("{count} {word}")).collect();
        let specs = [Column::Topology, Column::Workload, Column::Machine];
        let common = specs.iter().filter_map(|column| column.texts(&session.queue));
        parts.extend(common.filter(|texts| texts.len() == 1).flatten().cloned());
        if !session.compared.groups.is_empty() {
            parts.push(format!("baseline: {}", baseline(&session.compared, session)));
        }
        let colon = if parts.is_empty() { "" } else { ": " };
        format!("{}{colon}{}", Self::TITLE, parts.join(", "))
    }

    fn head(&self, painter: &mut Painter<'_, '_>, layout: &Layout, area: Rect) {
        let mut x = 1;
        for placed in &layout.columns {
            let (column, wide) = (placed.column, placed.wide);
            let sorted = self.sort == Some(column);
            let mark = match (sorted, self.reverse) {
                (false, _) => "",
                (true, false) => "▴",
                (true, true) => "▾",
            };
            let text = cut(&placed.title, wide - width(mark).min(wide)) + mark;
            let style = if sorted { painter.theme.accent } else { painter.theme.dim };
            if column.is_number() {
                painter.put_right(area, x + wide, 0, &text, style);
            } else {
                painter.put(Rect { width: (x + wide).min(area.width), ..area }, x, 0, &text, style);
            }
            painter.add_click(area, x, 0, wide, PanelPosition::Heading(column as usize));
            x += wide + layout.gap;
        }
        if layout.more {
            painter.put_right(area, area.width, 0, "›", painter.theme.accent);
        }
    }
}

/// Names the baseline that the rows have: the chosen algorithm where it has a time.
fn baseline(compared: &Compared, session: &Session) -> String {
    let Some(name) = session.baseline.as_deref() else { return "the fastest".to_owned() };
    let is_used = |group: &usize| {
        compared
            .lines_of(*group)
            .iter()
            .any(|line| line.is_baseline && line.stats.algorithm == name)
    };
    let used = (0..compared.groups.len()).filter(is_used).count();
    match used {
        0 => format!("the fastest ({name} has no time)"),
        _ if used == compared.groups.len() => name.to_owned(),
        _ => format!("{name}, or the fastest where it has no time"),
    }
}
