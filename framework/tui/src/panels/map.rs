//! The maps of the fastest algorithm for each block size and each network or machine, and tables of
//! all times.

mod pivot;

use crate::click_map::PanelPosition;
use crate::keys::{Binding, ENTER, LEFT, RIGHT, bind, ch};
use crate::paint::{Painter, below, cut_middle, position, scroll_start, widest, wrap};
use crate::panel::{Keyed, List, Panel, list_in_field, wrap_index};
use crate::session::comparison::{UNCHARGED, UNCHARGED_IN_WORDS};
use crate::session::{RenderKind, Request, Requests, Session, with_others};
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use swapmeet_results::analysis::{MapCell, Margin, RowAxis, Winner, WinnerMap};
use swapmeet_results::{duration, mark};

/// The panel of maps. The cell under its cursor is that of the selected case.
#[derive(Debug, Default)]
pub(crate) struct Map {
    list: List,
    /// The map that the user has chosen. It is shown if it contains the selected case.
    chosen: Option<(RowAxis, String)>,
    /// Whether the panel shows a table instead of the map. The table has the times of all
    /// algorithms in the map row under the cursor.
    is_table: bool,
}

/// The indices of the map, the row and the column of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    map: usize,
    row: usize,
    column: usize,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Action {
    Open,
    Table,
    Left,
    Right,
    Previous,
    Next,
    RunFitting,
}

impl Keyed for Map {
    const TITLE: &'static str = "Winners";
    type Action = Action;
    const KEYS: &'static [Binding<Action>] = &[
        bind(Action::Open, ENTER, "show the details of the fastest case").hint("details"),
        bind(Action::Table, &[ch('v')], "show the map, or a table of the times of all algorithms")
            .hint("map/times"),
        bind(Action::Left, LEFT, "go to smaller blocks"),
        bind(Action::Right, RIGHT, "go to larger blocks").pair("←→", "size"),
        bind(Action::Previous, &[ch('[')], "previous map"),
        bind(Action::Next, &[ch(']')], "next map: other networks, or machines").pair("[ ]", "map"),
        bind(Action::RunFitting, &[ch('+')], "run all other algorithms that may fit").hint("all"),
    ];

    fn act(&mut self, action: Action, session: &Session) -> Requests {
        match action {
            Action::Open => self.open(session),
            Action::Table => {
                self.is_table = !self.is_table;
                Requests::new()
            }
            Action::Left => self.sideways(-1, session),
            Action::Right => self.sideways(1, session),
            Action::Previous => self.turn(-1, session),
            Action::Next => self.turn(1, session),
            Action::RunFitting => vec![Request::RunFitting],
        }
    }

    fn is_idle(&self, action: Action, session: &Session) -> bool {
        match action {
            Action::Previous | Action::Next => session.compared.maps.len() < 2,
            Action::RunFitting => session.fitting_algorithms().is_empty(),
            Action::Open | Action::Table | Action::Left | Action::Right => false,
        }
    }
}

impl Panel for Map {
    list_in_field!();

    fn lines(&self, session: &Session) -> usize {
        self.place(session).map_or(0, |place| session.compared.maps[place.map].rows.len())
    }

    fn has_filter(&self) -> bool {
        false
    }

    fn figure(&self, session: &Session) -> Option<(RenderKind, Vec<usize>)> {
        let place = self.place(session)?;
        let cells = session.compared.maps[place.map].cells.iter().flatten().flatten();
        Some((RenderKind::Winners, cells.map(|cell| cell.group).collect()))
    }

    fn sideways(&mut self, by: isize, session: &Session) -> Requests {
        self.go([0, by.signum()], by.unsigned_abs(), session)
    }

    fn step(&mut self, by: isize, session: &Session) -> Requests {
        self.go([by.signum(), 0], by.unsigned_abs(), session)
    }

    fn go_to(&mut self, line: usize, session: &Session) -> Requests {
        let Some(place) = self.place(session) else { return Requests::new() };
        self.select(Place { row: line, ..place }, session)
    }

    fn open(&mut self, session: &Session) -> Requests {
        let place = self.place(session);
        let mut requests = place.map(|place| self.select(place, session)).unwrap_or_default();
        requests.push(Request::Details);
        requests
    }

    fn click(&mut self, position: PanelPosition, session: &Session) -> Requests {
        let (PanelPosition::Mark(at), Some(place)) = (position, self.place(session)) else {
            return Requests::new();
        };
        let columns = session.compared.maps[place.map].xs.len().max(1);
        self.select(Place { row: at / columns, column: at % columns, ..place }, session)
    }

    fn draw(&mut self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect) {
        let maps = &session.compared.maps;
        let theme = painter.theme;
        let Some(place) = self.place(session) else {
            let area = painter.panel(area, Self::TITLE);
            if let Some(answer) = session.answer() {
                painter.paragraph(area, &answer, theme.text);
                let why = session.selected_group().and_then(|group| session.compared.why(group));
                painter.paragraph(below(area, 3), &why.unwrap_or_default(), theme.accent);
                return;
            }
            let text = "A map needs rows of at least two block sizes, networks or machines. Choose more in 1, then press a to add them.";
            let tally = session.queue.tally();
            let running =
                format!("{} of {} cases have ended; 2 shows them.", tally.rows(), tally.cases);
            let text = if session.queue.is_busy() { &running } else { text };
            return painter.placeholder(area, &session.text_without_results(text));
        };
        let map = &maps[place.map];
        self.list.cursor = place.row;
        let title = format!(
            "{}{}, by block size and {}: {}",
            Self::TITLE,
            position(place.map, maps.len()),
            map.row_axis.label(),
            map.settings.title()
        );
        let area = painter.panel(area, &title);
        // The answer and, at the bottom, the reason for the winner in the selected cell.
        let answer = session.answer().unwrap_or_default();
        let wide = area.width.saturating_sub(2);
        let lines = |text: &str, most: u16| (wrap(text, wide).len() as u16).min(most);
        let top = if area.height >= 8 { lines(&answer, area.height / 5 + 1) } else { 0 };
        painter.paragraph(Rect { height: top, ..area }, &answer, theme.accent);
        let foot = self.foot(session, map, place);
        let high: u16 = foot.iter().map(|text| lines(text, 2)).sum::<u16>().min(area.height / 3);
        let mut y = area.bottom() - high;
        for text in &foot {
            let rows = lines(text, 2).min(area.bottom() - y);
            painter.paragraph(Rect { y, height: rows, ..area }, text, theme.text);
            y += rows;
        }
        let body = below(Rect { height: area.height - high, ..area }, top);
        if self.is_table {
            let text = format!("times on {}", map.rows[place.row]);
            painter.put(body, 1, 0, &text, theme.accent);
            return pivot::pivot(painter, session, map, (place.row, place.column), below(body, 1));
        }
        let legend = if body.height >= 7 { legend(painter, session, map, body) } else { 0 };
        let room = below(body, legend);
        let high = self.draw_map(painter, session, map, place, room);
        // In the remaining rows, list the fastest algorithm for each block size, and then all times.
        // Both belong to the map row of the selected case.
        let rest = below(room, high + 1);
        let strip = strip(session, map, place.row);
        let rows = (strip.len() as u16).min(rest.height);
        let list = Rect { height: rows, ..rest };
        let first = scroll_start(place.column, strip.len(), usize::from(rows));
        for (y, (column, text)) in (0..rows).zip(strip.iter().enumerate().skip(first)) {
            let style = if column == place.column { theme.text } else { theme.dim };
            painter.put(Rect { width: list.width.saturating_sub(1), ..list }, 1, y, text, style);
        }
        painter.scrollbar(list, first, strip.len());
        let table = below(rest, rows + 1);
        if table.height >= 4 {
            pivot::pivot(painter, session, map, (place.row, place.column), table);
        }
    }
}

fn cell(map: &WinnerMap, row: usize, column: usize) -> Option<&MapCell> {
    map.cells.get(row)?.get(column)?.as_ref()
}

fn place_in(map: &WinnerMap, group: usize) -> Option<(usize, usize)> {
    let rows = map.cells.iter().enumerate();
    let mut places =
        rows.flat_map(|(row, cells)| cells.iter().enumerate().map(move |(x, cell)| (row, x, cell)));
    let is_here = |cell: &Option<MapCell>| cell.as_ref().is_some_and(|cell| cell.group == group);
    places.find(|(_, _, cell)| is_here(cell)).map(|(row, column, _)| (row, column))
}

impl Map {
    /// Returns the position of the selected group. If several maps contain it, prefers the map that
    /// the user has chosen. If the selected group is in no map, returns the first cell.
    fn place(&self, session: &Session) -> Option<Place> {
        let maps = &session.compared.maps;
        let is_chosen = |map: &WinnerMap| {
            self.chosen.as_ref().is_some_and(|(axis, title)| {
                (*axis, &**title) == (map.row_axis, &*map.settings.title())
            })
        };
        let of_group = session.selected_group().and_then(|group| {
            let places = maps.iter().enumerate().filter_map(|(map, shown)| {
                let (row, column) = place_in(shown, group)?;
                Some((is_chosen(shown), Place { map, row, column }))
            });
            places.min_by_key(|(is_chosen, place)| (!is_chosen, place.map)).map(|(_, place)| place)
        });
        of_group.or((!maps.is_empty()).then_some(Place { map: 0, row: 0, column: 0 }))
    }

    /// Goes to the cell with a winner that is `count` such cells away in a direction.
    fn go(&self, [down, right]: [isize; 2], count: usize, session: &Session) -> Requests {
        let Some(from) = self.place(session) else { return Requests::new() };
        let map = &session.compared.maps[from.map];
        let places = (1..).map_while(|step| {
            let row = from.row.checked_add_signed(step * down)?;
            let column = from.column.checked_add_signed(step * right)?;
            (row < map.rows.len() && column < map.xs.len()).then_some(Place { row, column, ..from })
        });
        let filled = places.filter(|place| cell(map, place.row, place.column).is_some());
        filled.take(count).last().map(|place| self.select(place, session)).unwrap_or_default()
    }

    fn select(&self, place: Place, session: &Session) -> Requests {
        let map = &session.compared.maps[place.map];
        let winner = cell(map, place.row, place.column).and_then(|cell| {
            let lines = session.compared.lines_of(cell.group);
            lines.iter().find(|line| line.stats.algorithm == cell.winner.algorithm)
        });
        winner.map(|line| Request::Select(session.case_of(line))).into_iter().collect()
    }

    /// Shows the next map. If it does not contain the selected case, selects its first winner.
    fn turn(&mut self, by: isize, session: &Session) -> Requests {
        let maps = &session.compared.maps;
        let Some(place) = self.place(session) else { return Requests::new() };
        let next = wrap_index(place.map, by, maps.len());
        let map = &maps[next];
        self.chosen = Some((map.row_axis, map.settings.title()));
        if session.selected_group().and_then(|group| place_in(map, group)).is_some() {
            return Requests::new();
        }
        let mut places =
            (0..map.rows.len()).flat_map(|row| (0..map.xs.len()).map(move |x| (row, x)));
        let first = places.find(|(row, column)| cell(map, *row, *column).is_some());
        first
            .map(|(row, column)| self.select(Place { map: next, row, column }, session))
            .unwrap_or_default()
    }

    /// Returns the winner of the selected cell, and the reason.
    fn foot(&self, session: &Session, map: &WinnerMap, place: Place) -> Vec<String> {
        let compared = &session.compared;
        let found = cell(map, place.row, place.column);
        let mut texts = vec![explain(session, map, place)];
        texts.extend(found.and_then(|cell| compared.why(cell.group)));
        let is_remarked =
            |cell: &MapCell| !compared.remark(cell.group, &cell.winner.algorithm).is_empty();
        if map.cells.iter().flatten().flatten().any(is_remarked) {
            texts.push(format!("{UNCHARGED_IN_WORDS}: E shows equal charges"));
        }
        texts
    }

    fn draw_map(
        &self,
        painter: &mut Painter<'_, '_>,
        session: &Session,
        map: &WinnerMap,
        place: Place,
        area: Rect,
    ) -> u16 {
        const NARROWEST: u16 = 4;
        // If all cells fit, each cell is as wide as the widest heading. Otherwise, cells are
        // narrower. If cells with the minimum width do not fit either, the map scrolls.
        let theme = painter.theme;
        let label = widest(&map.rows).min(area.width / 3);
        let sizes: Vec<String> = map.xs.iter().map(|x| map.x_axis.text(*x)).collect();
        let widest = widest(&sizes) + 1;
        let room = area.width.saturating_sub(label + 4);
        let wide = (room / (sizes.len() as u16).max(1)).clamp(NARROWEST, widest.max(NARROWEST));
        let columns = usize::from(room / wide);
        let first = scroll_start(place.column, sizes.len(), columns);
        let high = usize::from(area.height.saturating_sub(1)).min(map.rows.len());
        let top = self.list.first_line(map.rows.len(), high);
        // Omit a heading that would overlap the previous heading.
        let mut free = 0;
        for (at, size) in sizes.iter().enumerate().skip(first).take(columns) {
            let x = label + 3 + (at - first) as u16 * wide;
            if x >= free {
                let style = if at == place.column { theme.accent } else { theme.dim };
                free = painter.put(area, x, 0, size, style) + 1;
            }
        }
        // A cell shows the mark of the fastest algorithm, the mark of unequal charges, and a shade
        // for the difference to the second fastest.
        for (y, row) in (1..).zip(top..top + high) {
            let style = if row == place.row { theme.accent } else { theme.text };
            painter.put(area, 1, y, &cut_middle(&map.rows[row], label), style);
            for column in (first..sizes.len()).take(columns) {
                let x = label + 3 + (column - first) as u16 * wide;
                let position = PanelPosition::Mark(row * sizes.len() + column);
                painter.add_click(area, x, y, wide, position);
                if let Some(cell) = cell(map, row, column) {
                    let look = session.styles.number(&cell.winner.algorithm);
                    let own = theme.series(look);
                    let remark = session.compared.remark(cell.group, &cell.winner.algorithm);
                    let shades = usize::from(wide - 2) - usize::from(!remark.is_empty());
                    let shade = shade(&cell.winner).to_string().repeat(shades);
                    painter.put(area, x, y, &format!("{}{remark}{shade}", mark(look)), own);
                } else {
                    painter.put(area, x, y, "-", theme.dim);
                }
                // Brackets mark the selected cell, because another style would change its shade.
                if (row, column) == (place.row, place.column) {
                    let style = theme.accent.add_modifier(Modifier::BOLD);
                    painter.put(area, x - 1, y, "[", style);
                    painter.put(area, x + wide - 2, y, "]", style);
                }
            }
        }
        high as u16 + 1
    }
}

/// Returns the shade of the lead over the second fastest algorithm, which the legend explains.
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
    let shades = "lead: blank not significant  ░ up to 5 %  ▒ 25 %  ▓ 100 %  █ more  ╱ alone";
    painter.put(area, 1, y, shades, theme.dim);
    y + 1
}

/// Describes the winner of a cell, and how many others are equally fast.
fn winner_in_words(session: &Session, cell: &MapCell) -> String {
    let (compared, winner) = (&session.compared, &cell.winner);
    let equal = compared.equally_fast(cell.group);
    if !equal.is_empty() {
        let name = &winner.algorithm;
        let name = format!("{name}{}", compared.remark(cell.group, name));
        let time = duration(winner.time.mean);
        let floor = session.floor_mark(cell.group);
        let mut text = format!("{} {time}{floor}", with_others(&name, &equal));
        let next = compared.lines_of(cell.group).get(1 + equal.len());
        if let Some((next, time)) = next.and_then(|line| Some((line, line.stats.mean()?))) {
            let name = &next.stats.algorithm;
            let mark = compared.remark(cell.group, name);
            text += &format!("; next {name}{mark} {:.3} times as long", time / winner.time.mean);
        }
        return text;
    }
    let mut text = winner.in_words();
    let second = winner.second.as_ref().map(|second| second.algorithm.as_str());
    for name in [Some(winner.algorithm.as_str()), second].into_iter().flatten() {
        if !compared.remark(cell.group, name).is_empty() {
            text = text.replacen(&format!("{name} "), &format!("{name}{UNCHARGED} "), 1);
        }
    }
    text
}

/// Describes the winner for each block size in a row of the map.
fn strip(session: &Session, map: &WinnerMap, row: usize) -> Vec<String> {
    let sizes: Vec<String> = map.xs.iter().map(|x| map.x_axis.text(*x)).collect();
    let wide = widest(&sizes);
    let line = |(column, size): (usize, &String)| {
        let winner = cell(map, row, column).map(|cell| winner_in_words(session, cell));
        let text = winner.unwrap_or_else(|| "no time".to_owned());
        format!("{size:>wide$}  {text}", wide = usize::from(wide))
    };
    sizes.iter().enumerate().map(line).collect()
}

fn explain(session: &Session, map: &WinnerMap, place: Place) -> String {
    let (Some(at), Some(x)) = (map.rows.get(place.row), map.xs.get(place.column)) else {
        return String::new();
    };
    let label = format!("{at}, {}: ", map.x_axis.text(*x));
    let Some(found) = cell(map, place.row, place.column) else {
        return format!("{label}no algorithm has a time here");
    };
    let winner = &found.winner;
    let mut text = label + &winner_in_words(session, found);
    let equal = session.compared.equally_fast(found.group);
    let interval =
        winner.second.as_ref().and_then(|second| second.times_as_long.as_ref()?.interval);
    if let Some(interval) = interval.filter(|interval| !interval.is_point()) {
        text += &format!(" (95 %: {:.3}..{:.3})", interval.low, interval.high);
    }
    if equal.len() > 1 {
        text += &format!("; equally fast: {}", equal.join(", "));
    }
    let noisy = winner.tied.iter().map(String::as_str).filter(|name| !equal.contains(name));
    let noisy: Vec<&str> = noisy.collect();
    if !noisy.is_empty() {
        text += &format!("; not significantly different from {}", noisy.join(", "));
    }
    text
}
