//! Where time goes: the six parts of each algorithm's time, end to end.

use super::paint::{Painter, width};
use crate::app::App;
use crate::model::Words;
use crate::model::comparison::{Group, Line, PARTS};
use crate::model::short::Short;
use crate::theme::FILLINGS;
use crate::ui::Panel;
use ratatui::layout::Rect;
use ratatui::style::Style;
use swapmeet_results::duration;

pub(super) fn draw(painter: &mut Painter<'_, '_>, app: &App, area: Rect) {
    let groups = &app.compared.groups;
    let number = app.ui.group.min(groups.len().saturating_sub(1));
    let Some(group) = groups.get(number) else {
        let area = painter.panel(area, Panel::Parts, "Where time goes");
        return painter.nothing(area, "No rows yet: they come as cases end.");
    };
    let which = if groups.len() > 1 { format!(" ({} of {})", number + 1, groups.len()) } else { String::new() };
    let filter = app.filter(Panel::Parts);
    let filtered = if filter.is_empty() { String::new() } else { format!(" /{filter}") };
    let head = format!("Where time goes{which}: ");
    let room = area.width.saturating_sub(8 + width(&head) + width(&filtered));
    let title = format!("{head}{}{filtered}", told_apart(groups, group, room));
    let area = painter.panel(area, Panel::Parts, &title);
    let words = Words::of(filter);
    let timed = app.compared.lines.iter().filter(|l| l.group == number && !l.parts.is_empty());
    let mut lines: Vec<&Line> = timed.filter(|l| words.are_in(&l.algorithm)).collect();
    if lines.is_empty() {
        let text = if filter.is_empty() {
            "No algorithm has a time here."
        } else {
            "No algorithm with a time here has these words. Esc shows all."
        };
        return painter.nothing(area, text);
    }
    let top = legend(painter, &lines, area) + 1;
    let most = lines.iter().map(|l| total(l)).fold(0.0, f64::max);
    let names = lines.iter().map(|l| width(&l.algorithm)).max().unwrap_or(0).min(area.width / 3);
    let room = area.width.saturating_sub(names + 14);
    // A bar of its own line, its figures below it, a line between: as much of that as there is room for.
    let high = area.height.saturating_sub(top);
    let each = (high / lines.len() as u16).clamp(1, 3);
    let fit = usize::from(high / each);
    let left_out = if lines.len() > fit { lines.len() - (fit.max(1) - 1) } else { 0 };
    if left_out > 0 {
        lines.truncate(fit.max(1) - 1);
        let text = format!("and {left_out} slower ones: / shows only those with some words, e takes the whole screen");
        painter.put(area, 1, area.height - 1, &text, painter.theme.dim);
    }
    for (i, line) in (0..).zip(&lines) {
        let y = top + i * each;
        painter.put(Rect { width: (1 + names).min(area.width), ..area }, 1, y, &line.algorithm, painter.theme.text);
        let whole = if app.ui.shares { total(line) } else { most };
        let end = bar(painter, line, whole, Rect { x: area.x + names + 2, width: room, ..area }, y);
        painter.put(area, names + 3 + end, y, &duration(total(line)), painter.theme.text);
        if each > 1 {
            painter.put(area, names + 2, y + 1, &in_words(line), painter.theme.dim);
        }
    }
}

/// A group by what tells it from others. Where there is no room for all of it that goes which groups have in common, and what is left is
/// cut where it agrees.
pub(super) fn told_apart(groups: &[Group], group: &Group, room: u16) -> String {
    let parts: [fn(&Group) -> &str; 4] = [|g| &g.topology, |g| &g.workload, |g| &g.machine, |g| &g.model];
    let varies = |part: &fn(&Group) -> &str| groups.iter().any(|other| part(other) != part(group));
    // The model is the machine's, unless groups differ in it.
    let shown = |part: &(usize, fn(&Group) -> &str)| part.0 < 3 || varies(&part.1);
    let join = |texts: &[String]| texts.join(", ");
    let all: Vec<_> = parts.into_iter().enumerate().filter(shown).map(|(_, part)| part).collect();
    let full = join(&all.iter().map(|part| part(group).to_owned()).collect::<Vec<_>>());
    if width(&full) <= room || !all.iter().any(varies) {
        return full;
    }
    let apart: Vec<_> = all.into_iter().filter(varies).collect();
    let mut wide: Vec<usize> = apart.iter().map(|part| usize::from(width(part(group)))).collect();
    while wide.iter().map(|wide| wide + 2).sum::<usize>() > usize::from(room) + 2 {
        let Some(widest) = wide.iter_mut().max().filter(|wide| **wide > 6) else { break };
        *widest -= 1;
    }
    let short = |(part, wide): (&fn(&Group) -> &str, &usize)| {
        Short::of(groups.iter().map(part), *wide).get(part(group)).to_owned()
    };
    join(&apart.iter().zip(&wide).map(short).collect::<Vec<_>>())
}

fn total(line: &Line) -> f64 {
    line.parts.iter().sum()
}

/// How a part is filled in.
fn filling(painter: &Painter<'_, '_>, part: usize) -> (char, Style) {
    let theme = painter.theme;
    let c = if theme.coloured { '█' } else { FILLINGS[part] };
    (c, Style::new().fg(theme.parts[part]))
}

/// Which filling is which part, of those that take any time; returns the lines it took.
fn legend(painter: &mut Painter<'_, '_>, lines: &[&Line], area: Rect) -> u16 {
    let (mut x, mut y) = (1, 0);
    for (part, (name, _)) in PARTS.iter().enumerate() {
        if lines.iter().all(|l| l.parts.get(part).is_none_or(|time| *time == 0.0)) {
            continue;
        }
        if x > 1 && x + width(name) + 3 > area.width {
            (x, y) = (1, y + 1);
        }
        let (c, style) = filling(painter, part);
        painter.put(area, x, y, &format!("{c}{c}"), style);
        x = painter.put(area, x + 3, y, name, painter.theme.text) + 2;
    }
    y + 1
}

/// Draws a bar whose whole length is `whole`; returns where it ends. Ends are rounded, not lengths, so that no bar is longer than its sum.
fn bar(painter: &mut Painter<'_, '_>, line: &Line, whole: f64, area: Rect, y: u16) -> u16 {
    let (mut sum, mut from) = (0.0, 0);
    for (part, time) in line.parts.iter().enumerate() {
        sum += time;
        let to = if whole > 0.0 { (sum / whole * f64::from(area.width)).round() as u16 } else { 0 };
        let (c, style) = filling(painter, part);
        for x in from..to {
            painter.dot(area, x, y, c, style);
        }
        from = to;
    }
    from
}

/// The shares, the largest first.
fn in_words(line: &Line) -> String {
    let all = total(line);
    let mut parts: Vec<(&str, f64)> = PARTS.iter().zip(&line.parts).map(|((name, _), time)| (*name, *time)).collect();
    parts.retain(|(_, time)| *time > 0.0);
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let share = |(name, time): &(&str, f64)| {
        let percent = time / all * 100.0;
        if percent < 0.5 { format!("{name} <1 %") } else { format!("{name} {percent:.0} %") }
    };
    parts.iter().map(share).collect::<Vec<_>>().join(", ")
}
