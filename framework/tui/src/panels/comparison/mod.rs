//! Who is faster, by how much, and how sure that is.

mod column;
mod layout;

use crate::hits::Spot;
use crate::keys::{Binding, ENTER, LEFT, RIGHT, bind, ch};
use crate::paint::{Painter, cut, first_shown, width};
use crate::panel::{Keyed, List, Panel};
use crate::session::comparison::Line;
use crate::session::{Request, Session};
use crate::short::Short;
use column::{Column, sorted};
use layout::{Layout, Wanted, texts};
use ratatui::layout::Rect;

/// The comparison on screen.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    list: List,
    /// What lines are sorted by; `None` for groups, fastest first.
    sort: Option<Column>,
    reverse: bool,
    /// How many columns of figures are skipped where not all have room, and how many can be before
    /// the last is in sight.
    across: usize,
    farthest: usize,
    /// The columns that have room, as last drawn.
    in_sight: Vec<Column>,
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
        bind(Action::Open, ENTER, "details of the row's case").hint("details"),
        bind(Action::Sort, &[ch('s')], "sort by the next column in sight").hint("sort"),
        bind(Action::Reverse, &[ch('r')], "turn the order round").hint("reverse"),
        bind(Action::Left, LEFT, "columns to the left"),
        bind(Action::Right, RIGHT, "columns that had no room").pair("←→", "columns"),
    ];

    fn act(&mut self, action: Action, session: &mut Session) {
        match action {
            Action::Open => self.open(session),
            Action::Sort => {
                // Nobody sees why lines stand where they do if the column is out of sight.
                let next = match self.sort {
                    None => 0,
                    Some(column) => {
                        self.in_sight.iter().position(|c| *c == column).map_or(0, |i| i + 1)
                    }
                };
                self.sort_by(self.in_sight.get(next).copied(), session);
                let text = self.sort.map_or("group, fastest first", Column::title);
                session.tell(&format!("sorted by {text}"), false);
            }
            Action::Reverse => {
                self.sort.get_or_insert(Column::Time);
                self.reverse = !self.reverse;
                self.look(session);
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
    fn list(&self) -> &List {
        &self.list
    }

    fn list_mut(&mut self) -> &mut List {
        &mut self.list
    }

    fn lines(&self, session: &Session) -> usize {
        self.sorted(session).len()
    }

    /// The cursor goes to the line of the case that was looked at last; if none has it, the line
    /// under the cursor is looked at.
    fn enter(&mut self, session: &mut Session) {
        let record =
            session.focus.and_then(|at| session.queue.rows().get(at)).and_then(|row| row.record());
        let found = record
            .and_then(|record| self.sorted(session).iter().position(|line| line.is_of(record)));
        match found {
            Some(at) => self.list.cursor = at,
            None => self.look(session),
        }
    }

    fn look(&mut self, session: &mut Session) {
        let lines = self.sorted(session);
        let Some(line) = lines.get(self.list.cursor) else { return };
        let group = line.group;
        let case = session
            .queue
            .rows()
            .iter()
            .position(|row| row.record().is_some_and(|r| *r == line.sample));
        session.group = group;
        session.focus = case.or(session.focus);
    }

    fn open(&mut self, session: &mut Session) {
        self.look(session);
        session.request = Some(Request::Details);
    }

    fn click(&mut self, spot: Spot, session: &mut Session) {
        let Spot::Heading(column) = spot else { return };
        let column = Column::ALL.get(column).copied();
        if self.sort.is_some() && self.sort == column {
            self.reverse = !self.reverse;
            self.look(session);
        } else {
            self.sort_by(column, session);
        }
    }

    fn algorithm(&self, session: &Session) -> Option<String> {
        self.sorted(session).get(self.list.cursor).map(|line| line.sample.algorithm.clone())
    }

    fn draw(&mut self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect) {
        let compared = &session.compared;
        let lines = self.sorted(session);
        let area = painter.panel(area, &self.title_of(session));
        if let Some(error) = &compared.error {
            return painter.nothing(area, error);
        }
        if lines.is_empty() {
            let text = if compared.lines.is_empty() {
                "No rows yet: they come as cases end."
            } else {
                "No row has these words. Esc shows all."
            };
            return painter.nothing(area, text);
        }
        let cursor = self.list.cursor.min(lines.len() - 1);
        let height = usize::from(area.height.saturating_sub(1));
        let first = first_shown(cursor, lines.len(), height);
        let shown = &lines[first..(first + height).min(lines.len())];
        let bar = u16::from(lines.len() > height);
        let room = area.width.saturating_sub(2 + bar);
        let wanted =
            Wanted { compared, lines: &lines, shown, room, sort: self.sort, across: self.across };
        let layout = wanted.layout();
        self.farthest = layout.farthest;
        self.in_sight = layout.columns.iter().map(|(column, _)| *column).collect();
        self.across = self.across.min(self.farthest);
        self.head(painter, &layout, area);
        // What is cut off may be just what tells two lines apart.
        let short = |(column, wide): &(Column, u16)| match column {
            column if column.is_figure() || *column == Column::Verified => Short::default(),
            column => Short::of(
                texts(compared, &lines, shown, *column).iter().map(String::as_str),
                usize::from(*wide),
            ),
        };
        let shorts: Vec<Short> = layout.columns.iter().map(short).collect();
        for (y, (index, line)) in (1..).zip((first..).zip(shown)) {
            let here = index == cursor;
            let cursor = painter.cursor();
            if here {
                painter.shade(area, y, cursor);
            }
            // A line between groups would cost a row each.
            let begins = index == first || lines[index - 1].group != line.group;
            let mut x = 1;
            for ((column, wide), short) in layout.columns.iter().zip(&shorts) {
                let style = if here { cursor } else { column.style(painter, line, begins) };
                let text = column.text(compared, line);
                let text = if *column == Column::Verified { cut(&text, *wide) } else { text };
                let cell = Rect { width: (x + wide).min(area.width), ..area };
                if column.is_figure() {
                    painter.put_right(cell, x + wide, y, &text, style);
                } else {
                    painter.put(cell, x, y, short.get(&text), style);
                }
                x += wide + layout.gap;
            }
            painter.hit(area, 0, y, area.width, Spot::Line(index));
        }
        let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
        painter.scrollbar(body, first, lines.len());
    }
}

impl Comparison {
    /// The lines as they are shown.
    fn sorted<'s>(&self, session: &'s Session) -> Vec<&'s Line> {
        let passes = |line: &Line, text: &str| {
            session.passes(&self.list.filter, &line.stats.algorithm, text)
        };
        sorted(&session.compared, self.sort, self.reverse, passes)
    }

    fn sort_by(&mut self, column: Option<Column>, session: &mut Session) {
        (self.sort, self.reverse) = (column, false);
        self.look(session);
    }

    /// What all rows have in common, and what they are compared with.
    fn title_of(&self, session: &Session) -> String {
        let compared = &session.compared;
        let mut title = "Comparison".to_owned();
        if let Some(first) = compared.groups.first() {
            let specs = [Column::Topology, Column::Workload, Column::Machine];
            let common = specs
                .iter()
                .filter(|column| !column.varies(compared))
                .map(|column| column.of(first));
            let common: Vec<&str> = common.collect();
            if !common.is_empty() {
                title += &format!(": {}", common.join(", "));
            }
            if compared.tried.is_some() {
                title += " (what if)";
            }
            title += &format!(", against {}", session.baseline.as_deref().unwrap_or("the fastest"));
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
            if column.is_figure() {
                painter.put_right(area, x + wide, 0, &text, style);
            } else {
                painter.put(Rect { width: (x + wide).min(area.width), ..area }, x, 0, &text, style);
            }
            painter.hit(area, x, 0, *wide, Spot::Heading(*column as usize));
            x += wide + layout.gap;
        }
        if layout.more {
            painter.put_right(area, area.width, 0, "›", painter.theme.accent);
        }
    }
}
