//! The winners panel. It shows maps of the fastest algorithm for each block size and each network
//! or machine, and tables of all times.

mod pivot;

use crate::click_map::PanelPosition;
use crate::keys::{Binding, ENTER, LEFT, RIGHT, bind, ch};
use crate::paint::{Painter, cut_middle, position, scroll_start, widest, wrap};
use crate::panel::{Keyed, List, Panel, list_in_field, wrap_index};
use crate::session::{RenderKind, Request, Session};
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use swapmeet_results::analysis::{MapCell, Margin, Winner, WinnerMap};
use swapmeet_results::mark;

/// The winners panel. Its cursor moves over the rows of the displayed map.
#[derive(Debug, Default)]
pub(crate) struct Winners {
    list: List,
    column: usize,
    map: usize,
    seen: Option<usize>,
    /// Whether the panel shows a table instead of the map. The table has the times of all
    /// algorithms in the map row under the cursor.
    is_table: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Action {
    Open,
    Table,
    Left,
    Right,
    Previous,
    Next,
}

impl Keyed for Winners {
    const TAB: &'static str = "Map";
    const TITLE: &'static str = "Who wins where";
    type Action = Action;
    const KEYS: &'static [Binding<Action>] = &[
        bind(Action::Open, ENTER, "show the details of the fastest case").hint("details"),
        bind(Action::Table, &[ch('v')], "show the map, or a table of the times of all algorithms")
            .hint("map/times"),
        bind(Action::Left, LEFT, "go to smaller blocks"),
        bind(Action::Right, RIGHT, "go to larger blocks").pair("←→", "size"),
        bind(Action::Previous, &[ch('[')], "previous map"),
        bind(Action::Next, &[ch(']')], "next map: other networks, or machines").pair("[ ]", "map"),
    ];

    fn act(&mut self, action: Action, session: &mut Session) {
        match action {
            Action::Open => self.open(session),
            Action::Table => self.is_table = !self.is_table,
            Action::Left => self.sideways(-1, session),
            Action::Right => self.sideways(1, session),
            Action::Previous => self.turn(-1, session),
            Action::Next => self.turn(1, session),
        }
    }

    fn is_idle(&self, action: Action, session: &Session) -> bool {
        matches!(action, Action::Previous | Action::Next) && session.compared.maps.len() < 2
    }
}

impl Panel for Winners {
    list_in_field!();

    fn lines(&self, session: &Session) -> usize {
        session.compared.maps.get(self.map).map_or(0, |map| map.rows.len())
    }

    fn no_filter_reason(&self) -> Option<&'static str> {
        Some("a map has no filter, because it compares all algorithms")
    }

    fn figure(&self, _: &Session) -> RenderKind {
        RenderKind::Winners
    }

    fn sideways(&mut self, by: isize, session: &mut Session) {
        self.column = self.column.saturating_add_signed(by);
        self.cursor_moved(session);
    }

    /// Finds the fastest case in the map cell under the cursor. Puts this case and its group into
    /// focus.
    fn cursor_moved(&mut self, session: &mut Session) {
        let Some(map) = session.compared.maps.get(self.map) else { return };
        self.column = self.column.min(map.xs.len().saturating_sub(1));
        let Some(MapCell { group, winner, .. }) = cell(map, self.list.cursor, self.column) else {
            return;
        };
        let mut lines = session.compared.lines_of(*group).iter();
        let fastest = lines.find(|line| line.stats.algorithm == winner.algorithm);
        let case = fastest.and_then(|line| session.queue.find(&line.sample));
        (session.group, self.seen) = (*group, Some(*group));
        session.focus = case.or(session.focus);
    }

    fn open(&mut self, session: &mut Session) {
        self.cursor_moved(session);
        session.request = Some(Request::Details);
    }

    fn click(&mut self, position: PanelPosition, session: &mut Session) {
        if let PanelPosition::Mark(at) = position {
            let columns = session.compared.maps.get(self.map).map_or(1, |map| map.xs.len().max(1));
            (self.list.cursor, self.column) = (at / columns, at % columns);
            self.cursor_moved(session);
        }
    }

    fn sync(&mut self, session: &Session) {
        let maps = &session.compared.maps;
        self.map = self.map.min(maps.len().saturating_sub(1));
        if self.seen == Some(session.group) || maps.is_empty() {
            return;
        }
        self.seen = Some(session.group);
        let here = |map: &WinnerMap| {
            let places = (0..map.rows.len())
                .flat_map(|row| (0..map.xs.len()).map(move |column| (row, column)));
            let of_group = |(row, column): &(usize, usize)| {
                cell(map, *row, *column).is_some_and(|cell| cell.group == session.group)
            };
            places.into_iter().find(of_group)
        };
        // Several maps may contain the group. Prefer the map that is displayed.
        let order = (0..maps.len()).map(|i| (self.map + i) % maps.len());
        if let Some((map, (row, column))) =
            order.into_iter().find_map(|map| Some((map, here(&maps[map])?)))
        {
            (self.map, self.list.cursor, self.column) = (map, row, column);
        }
    }

    fn draw(&mut self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect) {
        let maps = &session.compared.maps;
        let Some(map) = maps.get(self.map) else {
            let area = painter.panel(area, Self::TITLE);
            let text = "A map needs rows of at least two block sizes, networks or machines. Select more in Explore (1), then press a to add them.";
            return painter.placeholder(area, &session.text_without_results(text));
        };
        let which = position(self.map, maps.len());
        let area = painter.panel(
            area,
            &format!(
                "{}{which}, by block size and {}: {}",
                Self::TITLE,
                map.row_axis.label(),
                map.title
            ),
        );
        if let Some(name) = map.rows.get(self.list.cursor).filter(|_| self.is_table) {
            let words = explain(map, self.list.cursor, self.column);
            painter.put(area, 1, 0, &format!("times on {name}"), painter.theme.accent);
            let foot = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
            painter.paragraph(foot, &words, painter.theme.text);
            let table = Rect { y: area.y + 1, height: area.height.saturating_sub(2), ..area };
            return pivot::pivot(painter, session, map, (self.list.cursor, self.column), table);
        }
        let legend = legend(painter, session, map, area);
        let words = explain(map, self.list.cursor, self.column);
        let lines = wrap(&words, area.width.saturating_sub(2)).len() as u16;
        let lines = lines.min(area.height / 3);
        let room = Rect {
            y: area.y + legend,
            height: area.height.saturating_sub(legend + lines + 1),
            ..area
        };
        let high = self.draw_map(painter, session, map, room);
        // In the remaining rows, list the fastest algorithm for each block size. The list belongs
        // to the map row under the cursor.
        let strip = strip(map, self.list.cursor);
        let free = room.height.saturating_sub(high + 1);
        if free > 0 {
            let first = scroll_start(self.column, strip.len(), usize::from(free));
            let shown = strip.iter().enumerate().skip(first).take(usize::from(free));
            for (y, (column, text)) in (legend + high + 1..).zip(shown) {
                let theme = painter.theme;
                painter.put(
                    area,
                    1,
                    y,
                    text,
                    if column == self.column { theme.text } else { theme.dim },
                );
            }
            // If there is still room, show all times of this row below the list.
            let below = legend + high + 2 + strip.len() as u16;
            let left = area.height.saturating_sub(below + lines + 1);
            let height = pivot::height(session, map, self.list.cursor);
            if height <= left {
                let table = Rect { y: area.y + below, height, ..area };
                let at = (self.list.cursor, self.column);
                pivot::pivot(painter, session, map, at, table);
            }
        }
        let foot = Rect { y: area.bottom() - lines, height: lines, ..area };
        painter.paragraph(foot, &words, painter.theme.text);
    }
}

fn cell(map: &WinnerMap, row: usize, column: usize) -> Option<&MapCell> {
    map.cells.get(row)?.get(column)?.as_ref()
}

impl Winners {
    fn turn(&mut self, by: isize, session: &mut Session) {
        self.map = wrap_index(self.map, by, session.compared.maps.len());
        self.clamp(session);
        self.cursor_moved(session);
    }

    fn draw_map(
        &self,
        painter: &mut Painter<'_, '_>,
        session: &Session,
        map: &WinnerMap,
        area: Rect,
    ) -> u16 {
        const NARROWEST: u16 = 3;
        // If all cells fit, each cell is as wide as the widest heading. Otherwise, cells are
        // narrower. If cells with the minimum width do not fit either, the map scrolls.
        let theme = painter.theme;
        let label = widest(&map.rows).min(area.width / 3);
        let sizes: Vec<String> = map.xs.iter().map(|x| map.x_axis.text(*x)).collect();
        let widest = widest(&sizes) + 1;
        let room = area.width.saturating_sub(label + 3);
        let wide = (room / (sizes.len() as u16).max(1)).clamp(NARROWEST, widest.max(NARROWEST));
        let columns = usize::from(room / wide);
        let first = scroll_start(self.column, sizes.len(), columns);
        let high = usize::from(area.height.saturating_sub(1)).min(map.rows.len());
        let top = self.list.first_line(map.rows.len(), high);
        // Omit a heading that would overlap the previous heading.
        let mut free = 0;
        for (at, size) in sizes.iter().enumerate().skip(first).take(columns) {
            let x = label + 2 + (at - first) as u16 * wide;
            if x >= free {
                let style = if at == self.column { theme.accent } else { theme.dim };
                free = painter.put(area, x, 0, size, style) + 1;
            }
        }
        // A cell shows the mark of the fastest algorithm, and a shade for the difference to the
        // second fastest.
        for (y, row) in (1..).zip(top..top + high) {
            let style = if row == self.list.cursor { theme.accent } else { theme.text };
            painter.put(area, 1, y, &cut_middle(&map.rows[row], label), style);
            for column in (first..sizes.len()).take(columns) {
                let place = Rect {
                    x: area.x + label + 2 + (column - first) as u16 * wide,
                    width: wide - 1,
                    ..area
                };
                painter.add_click(
                    place,
                    0,
                    y,
                    wide,
                    PanelPosition::Mark(row * sizes.len() + column),
                );
                let here = (row, column) == (self.list.cursor, self.column);
                let Some(cell) = cell(map, row, column) else {
                    painter.put(place, 0, y, "-", if here { painter.cursor() } else { theme.dim });
                    continue;
                };
                let look = session.styles.number(&cell.winner.algorithm);
                let own = theme.series(look);
                let text = format!(
                    "{}{}",
                    mark(look),
                    shade(&cell.winner).to_string().repeat(usize::from(wide) - 2)
                );
                painter.put(
                    place,
                    0,
                    y,
                    &text,
                    if here { own.add_modifier(Modifier::REVERSED) } else { own },
                );
            }
        }
        high as u16 + 1
    }
}

/// Returns a shade for how much faster the fastest algorithm is than the second fastest. A blank
/// means that the difference is not significant.
fn shade(winner: &Winner) -> char {
    match winner.margin() {
        Margin::Tied => ' ',
        Margin::Under5 => '░',
        Margin::Under25 => '▒',
        Margin::Under100 => '▓',
        Margin::Clear => '█',
        Margin::Alone => '╱',
    }
}

fn legend(painter: &mut Painter<'_, '_>, session: &Session, map: &WinnerMap, area: Rect) -> u16 {
    let theme = painter.theme;
    let entry = |name: &str| {
        let look = session.styles.number(name);
        [mark(look).to_string(), name.to_owned()].map(|text| (text, theme.series(look)))
    };
    let y = painter.legend(area, map.winners().into_iter().map(entry));
    let shades =
        "the next one is slower by: blank not significant  ░ up to 5 %  ▒ 25 %  ▓ 100 %  █ more";
    painter.put(area, 1, y, shades, theme.dim);
    y + 1
}

/// Returns one line for each block size in a row of the map. The line names the fastest algorithm
/// and how much faster it is than the second fastest.
fn strip(map: &WinnerMap, row: usize) -> Vec<String> {
    let sizes: Vec<String> = map.xs.iter().map(|x| map.x_axis.text(*x)).collect();
    let wide = widest(&sizes);
    let line = |(column, size): (usize, &String)| {
        let text =
            cell(map, row, column).map_or("no time".to_owned(), |cell| cell.winner.in_words());
        format!("{size:>wide$}  {text}", wide = usize::from(wide))
    };
    sizes.iter().enumerate().map(line).collect()
}

fn explain(map: &WinnerMap, row: usize, column: usize) -> String {
    let (Some(at), Some(x)) = (map.rows.get(row), map.xs.get(column)) else {
        return String::new();
    };
    let place = format!("{at}, {}: ", map.x_axis.text(*x));
    let Some(MapCell { winner, .. }) = cell(map, row, column) else {
        return format!("{place}no algorithm has a time here");
    };
    let mut text = place + &winner.in_words();
    let interval =
        winner.second.as_ref().and_then(|second| second.times_as_long.as_ref()?.interval);
    if let Some(interval) = interval.filter(|interval| !interval.is_point()) {
        text += &format!(" (95 %: {:.3}..{:.3})", interval.low, interval.high);
    }
    if !winner.tied.is_empty() {
        text += &format!("; not significantly different from {}", winner.tied.join(", "));
    }
    text
}
