//! The comparison panel. It shows the times of algorithms, their ratios to the baseline, and
//! confidence intervals. A line describes one algorithm of a group. The cases of a group differ
//! only in the algorithm.

mod column;
mod layout;

use crate::abbreviate::Abbreviations;
use crate::click_map::PanelPosition;
use crate::keys::{Binding, ENTER, LEFT, RIGHT, bind, ch};
use crate::memo::Memo;
use crate::paint::{Painter, cut, width};
use crate::panel::{Keyed, List, Panel, list_in_field};
use crate::session::comparison::{Compared, Line, UNCHARGED, UNCHARGED_IN_WORDS};
use crate::session::{Request, Session};
use column::{Column, Sorted, passing};
use layout::{Layout, LayoutInput};
use ratatui::layout::Rect;
use std::collections::BTreeSet;
use std::rc::Rc;

#[derive(Debug, Default)]
pub(crate) struct Comparison {
    list: List,
    /// The column by which lines are sorted. If `None`, lines are sorted by group, with the fastest
    /// line of each group first.
    sort: Option<Column>,
    reverse: bool,
    across: usize,
    /// The maximum of `across`, at which the last column is visible.
    farthest: usize,
    in_sight: Vec<Column>,
    /// The lines that pass the filter. The inputs are the number of the analysis
    /// ([`Compared::number`]) and the filter.
    shown: Memo<(u64, String), Shown>,
    /// All lines in the order of the sort column. The inputs are the number of the analysis and the
    /// column. The filter is applied later, so typing it does not sort the lines again.
    sorted: Memo<(u64, Column), Sorted>,
    /// The lines that pass the filter, in the order in which they are displayed. The inputs are the
    /// number of the analysis, the filter, the sort column and its direction.
    order: Memo<(u64, String, Option<Column>, bool), Vec<usize>>,
}

#[derive(Debug)]
struct Shown {
    passes: Vec<bool>,
    algorithms: BTreeSet<String>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Action {
    Open,
    Sort,
    Reverse,
    Left,
    Right,
}

impl Keyed for Comparison {
    const TAB: &'static str = "Compare";
    const TITLE: &'static str = "Comparison";
    type Action = Action;
    const KEYS: &'static [Binding<Action>] = &[
        bind(Action::Open, ENTER, "show the details of the case").hint("details"),
        bind(Action::Sort, &[ch('s')], "sort by the next visible column").hint("sort"),
        bind(Action::Reverse, &[ch('r')], "reverse the order").hint("reverse"),
        bind(Action::Left, LEFT, "scroll to the columns on the left"),
        bind(Action::Right, RIGHT, "scroll to the columns on the right").pair("←→", "columns"),
    ];

    fn act(&mut self, action: Action, session: &mut Session) {
        match action {
            Action::Open => self.open(session),
            Action::Sort => {
                // Sort only by a visible column, so that the user can see why the lines are in this
                // order.
                let next = match self.sort {
                    None => 0,
                    Some(column) => {
                        self.in_sight.iter().position(|c| *c == column).map_or(0, |i| i + 1)
                    }
                };
                self.sort_by(self.in_sight.get(next).copied(), session);
                let text = self.sort.map_or("group, fastest first", Column::title);
                session.show_message(&format!("sorted by {text}"), false);
            }
            Action::Reverse => {
                self.sort.get_or_insert(Column::Time);
                self.reverse = !self.reverse;
                self.cursor_moved(session);
            }
            Action::Left => self.across = self.across.saturating_sub(1),
            Action::Right => self.across = (self.across + 1).min(Column::ALL.len()),
        }
    }

    fn is_idle(&self, action: Action, _: &Session) -> bool {
        matches!(action, Action::Left | Action::Right) && self.farthest == 0
    }
}

impl Panel for Comparison {
    list_in_field!();

    fn lines(&self, session: &Session) -> usize {
        self.order(session).len()
    }

    fn wanted_rows(&self, session: &Session) -> usize {
        1 + self.lines(session) + 3
    }

    /// Moves the cursor to the line that contains the case in focus. If no line contains it, a case
    /// of the line under the cursor becomes the case in focus.
    fn activated(&mut self, session: &mut Session) {
        let record =
            session.focus.and_then(|at| session.queue.rows().get(at)).and_then(|row| row.record());
        let line = record.and_then(|record| session.compared.line_of(record));
        let found =
            line.and_then(|line| self.order(session).iter().position(|index| *index == line));
        match found {
            Some(at) => self.list.cursor = at,
            None => self.cursor_moved(session),
        }
    }

    fn cursor_moved(&mut self, session: &mut Session) {
        let Some(line) = self.line(session) else { return };
        let (group, case) = (line.group, session.queue.find(&line.sample));
        session.group = group;
        session.focus = case.or(session.focus);
    }

    fn open(&mut self, session: &mut Session) {
        self.cursor_moved(session);
        session.request = Some(Request::Details);
    }

    fn click(&mut self, position: PanelPosition, session: &mut Session) {
        let PanelPosition::Heading(column) = position else { return };
        let column = Column::ALL.get(column).copied();
        if self.sort.is_some() && self.sort == column {
            self.reverse = !self.reverse;
            self.cursor_moved(session);
        } else {
            self.sort_by(column, session);
        }
    }

    fn algorithm(&self, session: &Session) -> Option<String> {
        self.line(session).map(|line| line.sample.algorithm.clone())
    }

    fn draw(&mut self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect) {
        let compared = &session.compared;
        let lines = self.order(session);
        let area = painter.panel(area, &self.title_of(session));
        if let Some(error) = &compared.error {
            return painter.placeholder(area, error);
        }
        if lines.is_empty() {
            let text = if compared.lines.is_empty() {
                session.text_without_results("No rows yet. Rows appear as cases end.")
            } else {
                "No row matches the filter. Esc shows all.".to_owned()
            };
            return painter.placeholder(area, &text);
        }
        let cursor = self.list.cursor.min(lines.len() - 1);
        let foot = foot(painter, compared, &lines, area);
        let area = Rect { height: area.height - foot, ..area };
        let height = usize::from(area.height.saturating_sub(1));
        let first = self.list.first_line(lines.len(), height);
        let in_sight = &lines[first..(first + height).min(lines.len())];
        let shown: Vec<&Line> = in_sight.iter().map(|index| &compared.lines[*index]).collect();
        let bar = u16::from(lines.len() > height);
        let room = area.width.saturating_sub(2 + bar);
        let wanted = LayoutInput {
            compared,
            algorithms: &self.passing(session).algorithms,
            shown: &shown,
            room,
            sort: self.sort,
            across: self.across,
        };
        let layout = wanted.layout();
        self.farthest = layout.farthest;
        self.in_sight = layout.columns.iter().map(|(column, _)| *column).collect();
        self.across = self.across.min(self.farthest);
        self.head(painter, &layout, area);
        // Abbreviate specs so that the user can still distinguish the lines.
        let short = |(column, wide): &(Column, u16)| match column {
            column if column.is_number() || *column == Column::Verified => Abbreviations::default(),
            column => Abbreviations::new(
                wanted.texts(*column).iter().map(String::as_str),
                usize::from(*wide),
            ),
        };
        let shorts: Vec<Abbreviations> = layout.columns.iter().map(short).collect();
        for (y, (index, line)) in (1..).zip((first..).zip(&shown)) {
            let here = index == cursor;
            let cursor = painter.list_line(area, y, index, here, painter.theme.text);
            if line.is_uncharged {
                painter.put(area, 0, y, UNCHARGED, if here { cursor } else { painter.theme.warn });
            }
            // Highlight the first line of each group to separate groups. An empty line between
            // groups would take more space.
            let begins = index == first || compared.lines[lines[index - 1]].group != line.group;
            let mut x = 1;
            for ((column, wide), short) in layout.columns.iter().zip(&shorts) {
                let style = if here { cursor } else { column.style(painter, line, begins) };
                let text = column.text(compared, line);
                let text = if *column == Column::Verified { cut(&text, *wide) } else { text };
                let cell = Rect { width: (x + wide).min(area.width), ..area };
                if column.is_number() {
                    painter.put_right(cell, x + wide, y, &text, style);
                } else {
                    painter.put(cell, x, y, short.get(&text), style);
                }
                x += wide + layout.gap;
            }
        }
        let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
        painter.scrollbar(body, first, lines.len());
    }
}

/// Explains the mark `†` in the last row, if some line has this mark.
fn foot(painter: &mut Painter<'_, '_>, compared: &Compared, lines: &[usize], area: Rect) -> u16 {
    const MOST: usize = 1_000;
    let is_marked = |index: &usize| compared.lines[*index].is_uncharged;
    if area.height < 8 || !lines.iter().take(MOST).any(is_marked) {
        return 0;
    }
    painter.put(area, 0, area.height - 1, UNCHARGED_IN_WORDS, painter.theme.dim);
    1
}

impl Comparison {
    fn passing(&self, session: &Session) -> Rc<Shown> {
        let (compared, filter) = (&session.compared, &self.list.filter);
        self.shown.get((compared.number, filter.text().to_owned()), || {
            let passes = passing(compared, filter, |label| session.about(label));
            let mut is_shown = vec![false; compared.algorithms.len()];
            for (texts, passes) in compared.texts.iter().zip(&passes) {
                is_shown[texts.algorithm as usize] |= passes;
            }
            let names = compared.algorithms.iter().zip(is_shown);
            let algorithms = names.filter(|(_, is_shown)| *is_shown).map(|(name, _)| name.clone());
            Shown { algorithms: algorithms.collect(), passes }
        })
    }

    pub(crate) fn order(&self, session: &Session) -> Rc<Vec<usize>> {
        let filter = self.list.filter.text().to_owned();
        self.order.get((session.compared.number, filter, self.sort, self.reverse), || {
            let (compared, shown) = (&session.compared, self.passing(session));
            let passes = |line: &usize| shown.passes[*line];
            match self.sort {
                None => (0..shown.passes.len()).filter(passes).collect(),
                Some(column) => {
                    let sorted = (compared.number, column);
                    let sorted = self.sorted.get(sorted, || Sorted::by(compared, column));
                    sorted.lines(self.reverse).filter(passes).collect()
                }
            }
        })
    }

    fn line<'s>(&self, session: &'s Session) -> Option<&'s Line> {
        session.compared.lines.get(*self.order(session).get(self.list.cursor)?)
    }

    fn sort_by(&mut self, column: Option<Column>, session: &mut Session) {
        (self.sort, self.reverse) = (column, false);
        self.cursor_moved(session);
    }

    /// Returns the title of the panel. It contains the specs that are equal in all rows, and the
    /// baseline.
    fn title_of(&self, session: &Session) -> String {
        let compared = &session.compared;
        let mut title = "Comparison".to_owned();
        if let Some(first) = compared.groups.first() {
            let specs = [Column::Topology, Column::Workload, Column::Machine];
            let common = specs
                .iter()
                .filter(|column| !column.varies(compared))
                .map(|column| column.text_of_group(first));
            let common: Vec<&str> = common.collect();
            if !common.is_empty() {
                title += &format!(": {}", common.join(", "));
            }
            if compared.scenario.is_some() {
                title += " (what if)";
            }
            title +=
                &format!(", baseline: {}", session.baseline.as_deref().unwrap_or("the fastest"));
        }
        title + &self.list.filter.suffix()
    }

    fn head(&self, painter: &mut Painter<'_, '_>, layout: &Layout, area: Rect) {
        let mut x = 1;
        for (column, wide) in &layout.columns {
            let sorted = self.sort == Some(*column);
            let mark = match (sorted, self.reverse) {
                (false, _) => "",
                (true, false) => "▴",
                (true, true) => "▾",
            };
            let text = cut(column.title(), wide - width(mark).min(*wide)) + mark;
            let style = if sorted { painter.theme.accent } else { painter.theme.dim };
            if column.is_number() {
                painter.put_right(area, x + wide, 0, &text, style);
            } else {
                painter.put(Rect { width: (x + wide).min(area.width), ..area }, x, 0, &text, style);
            }
            painter.add_click(area, x, 0, *wide, PanelPosition::Heading(*column as usize));
            x += wide + layout.gap;
        }
        if layout.more {
            painter.put_right(area, area.width, 0, "›", painter.theme.accent);
        }
    }
}
