//! The parts panel. It shows one bar for each algorithm. The bar is divided into the kinds of time,
//! such as start-up or contention.

use crate::keys::{Binding, NEXT, PREVIOUS, bind, ch};
use crate::paint::{Painter, below, position, widest, width, wrap};
use crate::panel::{Keyed, List, Panel, list_in_field, wrap_index};
use crate::session::comparison::{Line, UNCHARGED};
use crate::session::{RenderKind, Request, Requests, Session};
use ratatui::layout::Rect;
use swapmeet_core::cost::kind::{Kind, Parts as Times};
use swapmeet_results::{duration, parts};

/// Its cursor selects a group.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    list: List,
    /// Whether a bar shows percentages of the algorithm's time. Otherwise, it shows absolute times.
    shares: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Action {
    Shares,
    Previous,
    Next,
}

impl Keyed for Parts {
    const TITLE: &'static str = "Where time goes";
    type Action = Action;
    const KEYS: &'static [Binding<Action>] = &[
        bind(Action::Shares, &[ch('v')], "show times, or shares of each algorithm's time")
            .hint("times/shares"),
        bind(Action::Previous, PREVIOUS, "previous group of cases"),
        bind(Action::Next, NEXT, "next group of cases").pair("[ ]", "group"),
    ];

    fn act(&mut self, action: Action, session: &Session) -> Requests {
        match action {
            Action::Shares => {
                self.shares = !self.shares;
                Requests::new()
            }
            Action::Previous => self.sideways(-1, session),
            Action::Next => self.sideways(1, session),
        }
    }

    fn is_idle(&self, action: Action, session: &Session) -> bool {
        !matches!(action, Action::Shares) && session.compared.groups.len() < 2
    }
}

impl Panel for Parts {
    list_in_field!();

    fn lines(&self, session: &Session) -> usize {
        session.compared.groups.len()
    }

    fn figure(&self, session: &Session) -> Option<(RenderKind, Vec<usize>)> {
        Some((RenderKind::Parts, session.selected_group().into_iter().collect()))
    }

    fn sideways(&mut self, by: isize, session: &Session) -> Requests {
        let group = session.selected_group().unwrap_or(0);
        vec![Request::SelectGroup(wrap_index(group, by, session.compared.groups.len()))]
    }

    fn go_to(&mut self, line: usize, _: &Session) -> Requests {
        vec![Request::SelectGroup(line)]
    }

    fn step(&mut self, by: isize, session: &Session) -> Requests {
        self.sideways(by.signum(), session)
    }

    fn draw(&mut self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect) {
        let groups = &session.compared.groups;
        let Some(number) = session.selected_group() else {
            let area = painter.panel(area, Self::TITLE);
            let text = "The selected case has no row yet. Rows appear as cases end.";
            return painter.placeholder(area, &session.text_without_results(text));
        };
        self.list.cursor = number;
        let group = &groups[number];
        let filter = &self.list.filter;
        let head = format!("{}{}: ", Self::TITLE, position(number, groups.len()));
        let room = area.width.saturating_sub(8 + width(&head) + width(&filter.suffix()));
        let title = head + &session.compared.group_label(group, room.into());
        let area = painter.filtered_panel(area, &title, filter);
        // Show the bars of this group and, in the remaining rows, those of the groups after it.
        let lines = self.timed_lines(session, number);
        if lines.is_empty() {
            let text = if filter.text().is_empty() {
                "No algorithm has a time here."
            } else {
                "No algorithm with a time matches the filter. Esc shows all."
            };
            return painter.placeholder(area, text);
        }
        let mut rows = 0;
        if let Some(why) = session.compared.why(number).filter(|_| area.height > 6) {
            rows = wrap(&why, area.width.saturating_sub(2)).len().min(2) as u16;
            painter.paragraph(Rect { height: rows, ..area }, &why, painter.theme.accent);
        }
        let area = below(area, rows);
        let mut left = area.height.saturating_sub(3 + lines.len() as u16 * MOST_ROWS);
        let others = (1..groups.len()).map(|offset| (number + offset) % groups.len());
        let others = others.map(|other| (other, self.timed_lines(session, other)));
        let others = others.take_while(|(_, lines)| {
            let needed = 1 + lines.len() as u16 * MOST_ROWS;
            let fits = needed <= left;
            left = left.saturating_sub(needed);
            fits
        });
        let others: Vec<(usize, Vec<Bar<'_>>)> = others.collect();
        let all = lines.iter().chain(others.iter().flat_map(|(_, lines)| lines));
        let mut top = legend(painter, &all.collect::<Vec<_>>(), area) + 1;
        top += self.bars(painter, lines, below(area, top));
        for (other, lines) in others.into_iter().filter(|(_, lines)| !lines.is_empty()) {
            let room = area.width.saturating_sub(2).into();
            let label = session.compared.group_label(&groups[other], room);
            painter.put(area, 1, top, &label, painter.theme.dim);
            top += 1 + self.bars(painter, lines, below(area, top + 1));
        }
    }
}

/// The maximum number of screen rows of an algorithm: its bar, the percentages of the parts, and an
/// empty row.
const MOST_ROWS: u16 = 3;

impl Parts {
    /// Returns the bars of a group: those of the algorithms that have a time and pass the filter.
    fn timed_lines<'s>(&self, session: &'s Session, group: usize) -> Vec<Bar<'s>> {
        let lines = session.compared.lines_of(group).iter();
        let shown = lines.filter(|l| session.passes(&self.list.filter, &l.stats.algorithm, ""));
        let bar = |line: &'s Line| {
            let parts = session.compared.parts(line);
            Some(Bar { line, total: parts::total(&parts)?, parts })
        };
        shown.filter_map(bar).collect()
    }

    fn bars(&self, painter: &mut Painter<'_, '_>, mut lines: Vec<Bar<'_>>, area: Rect) -> u16 {
        // Divide the width among names, bars and times.
        let most = lines.iter().map(|bar| bar.total).fold(0.0, f64::max);
        let names = widest(lines.iter().map(|bar| &bar.line.stats.algorithm)).min(area.width / 3);
        let spreads = widest(lines.iter().map(|line| spread(line)));
        let room = area.width.saturating_sub(names + 14 + spreads);
        let each = (area.height / lines.len() as u16).clamp(1, MOST_ROWS);
        let fit = usize::from(area.height / each);
        let left_out = if lines.len() > fit { lines.len() - (fit.max(1) - 1) } else { 0 };
        if left_out > 0 {
            lines.truncate(fit.max(1) - 1);
            let text =
                format!("{left_out} slower algorithms are hidden: filter with /, or expand with e");
            painter.put(area, 1, area.height.saturating_sub(1), &text, painter.theme.dim);
        }
        // If bars show percentages, all bars have the full length. Otherwise, the length of a bar
        // is proportional to the time.
        for (i, bar) in (0..).zip(&lines) {
            let (line, y) = (bar.line, i * each);
            let name = Rect { width: (1 + names).min(area.width), ..area };
            painter.put(name, 1, y, &line.stats.algorithm, painter.theme.text);
            if line.is_uncharged {
                painter.put(area, 0, y, UNCHARGED, painter.theme.warn);
            }
            let whole = if self.shares { bar.total } else { most };
            let room = Rect { x: area.x + names + 2, width: room, ..area };
            let end = bar.draw(painter, whole, room, y);
            let text = format!("{}{}", duration(bar.total), spread(bar));
            painter.put(area, names + 3 + end, y, &text, painter.theme.text);
            if each > 1 {
                painter.put(area, names + 2, y + 1, &in_words(bar), painter.theme.dim);
            }
        }
        lines.len() as u16 * each
    }
}

/// The bar of an algorithm: the mean parts of its time, and their sum.
struct Bar<'s> {
    line: &'s Line,
    parts: Times,
    total: f64,
}

/// Returns the confidence interval of the mean and the number of repetitions, if there are any.
fn spread(bar: &Bar<'_>) -> String {
    let Some(time) = bar.line.stats.time.as_ref().filter(|time| time.n > 1) else {
        return String::new();
    };
    let half = time.interval.map_or(0.0, |interval| (interval.high - interval.low) / 2.0);
    let percent = if time.mean > 0.0 { half / time.mean * 100.0 } else { 0.0 };
    format!(" ±{percent:.1} % (n = {})", time.n)
}

fn legend(painter: &mut Painter<'_, '_>, bars: &[&Bar<'_>], area: Rect) -> u16 {
    let theme = painter.theme;
    let occurs = |kind: &Kind| bars.iter().any(|b| b.parts[*kind].is_some_and(|time| time != 0.0));
    let entries = Kind::PARTS.into_iter().filter(occurs).map(|kind| {
        let (c, style) = theme.part(kind);
        [(format!("{c}{c}"), style), (kind.name().to_owned(), theme.text)]
    });
    painter.legend(area, entries)
}

impl Bar<'_> {
    /// Draws the bar. The full width corresponds to the time `whole`. Returns the column in which
    /// the bar ends. To prevent rounding errors from accumulating, the end of each part is rounded
    /// instead of its length.
    fn draw(&self, painter: &mut Painter<'_, '_>, whole: f64, area: Rect, y: u16) -> u16 {
        let (mut sum, mut from) = (0.0, 0);
        for kind in Kind::PARTS {
            sum += self.parts[kind].unwrap_or(0.0);
            let share = if whole > 0.0 { sum / whole } else { 0.0 };
            let to = (share * f64::from(area.width)).round() as u16;
            let (c, style) = painter.theme.part(kind);
            (from..to).for_each(|x| painter.dot(area, x, y, c, style));
            from = to;
        }
        from
    }
}

/// Lists the percentage of each part, the largest first.
fn in_words(bar: &Bar<'_>) -> String {
    let timed = bar
        .parts
        .each()
        .filter_map(|(kind, time)| Some((kind.name(), time.filter(|time| *time > 0.0)?)));
    let mut parts: Vec<(&str, f64)> = timed.collect();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let share = |(name, time): &(&str, f64)| {
        let percent = time / bar.total * 100.0;
        if percent < 0.5 { format!("{name} <1 %") } else { format!("{name} {percent:.0} %") }
    };
    parts.iter().map(share).collect::<Vec<_>>().join(", ")
}
