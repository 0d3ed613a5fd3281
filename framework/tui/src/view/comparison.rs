//! Who is faster, by how much, and how sure that is.

use super::Target;
use super::paint::{Painter, cut, first_shown, width};
use crate::app::App;
use crate::model::comparison::{Column, Group, Line};
use crate::model::short::Short;
use crate::ui::Panel;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::collections::BTreeSet;
use swapmeet_results::duration;

/// Columns that go first when there is little room.
const FIRST_TO_GO: [Column; 5] =
    [Column::Messages, Column::OverBound, Column::Steps, Column::WorstLink, Column::Interval];

/// Specs narrower than this are hard to read.
const EASY: usize = 13;

/// Specs narrower than this tell little.
const NARROW: usize = 8;

pub(super) fn draw(painter: &mut Painter<'_, '_>, app: &App, area: Rect) {
    let lines = app.lines();
    let area = painter.panel(area, Panel::Comparison, &title(app));
    if let Some(error) = &app.compared.error {
        return painter.nothing(area, error);
    }
    if lines.is_empty() {
        let text = if app.compared.lines.is_empty() {
            "No rows yet: they come as cases end."
        } else {
            "No row has these words. Esc shows all."
        };
        return painter.nothing(area, text);
    }
    let cursor = app.ui.cursors[Panel::Comparison as usize].min(lines.len() - 1);
    let height = usize::from(area.height.saturating_sub(1));
    let first = first_shown(cursor, lines.len(), height);
    let shown = &lines[first..(first + height).min(lines.len())];
    let bar = u16::from(lines.len() > height);
    let room = area.width.saturating_sub(1 + bar);
    let (columns, gap, more) = columns(app, &lines, shown, room.saturating_sub(1), &mut painter.hits.across);
    head(painter, app, &columns, gap, area);
    if more {
        painter.put_right(area, area.width, 0, "›", painter.theme.accent);
    }
    // What is cut off may be just what tells two lines apart.
    let short = |(column, wide): &(Column, u16)| match column {
        column if is_figure(*column) || *column == Column::Verified => Short::default(),
        column => Short::of(texts(app, &lines, shown, *column).iter().map(String::as_str), usize::from(*wide)),
    };
    let shorts: Vec<Short> = columns.iter().map(short).collect();
    for (y, (index, line)) in (1..).zip((first..).zip(shown)) {
        let here = index == cursor;
        let cursor = painter.cursor(Panel::Comparison);
        if here {
            painter.shade(area, y, cursor);
        }
        // A line between groups would cost a row each: a group's name is bright only where it begins.
        let begins = index == first || lines[index - 1].group != line.group;
        let mut x = 1;
        for ((column, wide), short) in columns.iter().zip(&shorts) {
            let style = if here { cursor } else { style(painter, *column, line, begins) };
            let text = text(app, *column, line);
            let text = if *column == Column::Verified { cut(&text, *wide) } else { text };
            let cell = Rect { width: (x + wide).min(area.width), ..area };
            if is_figure(*column) {
                painter.put_right(cell, x + wide, y, &text, style);
            } else {
                painter.put(cell, x, y, short.get(&text), style);
            }
            x += wide + gap;
        }
        painter.hit(area, 0, y, area.width, Target::Row(Panel::Comparison, index));
    }
    let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    painter.scrollbar(body, first, lines.len());
}

/// What all rows have in common, and what they are compared with.
fn title(app: &App) -> String {
    let mut title = "Comparison".to_owned();
    if let Some(first) = app.compared.groups.first() {
        let common: Vec<&str> = [Column::Topology, Column::Workload, Column::Machine]
            .iter()
            .filter(|c| !varies(app, **c))
            .map(|c| c.of(first))
            .collect();
        if !common.is_empty() {
            title += &format!(": {}", common.join(", "));
        }
        match &app.baseline {
            Some(name) => title += &format!(", against {name}"),
            None => title += ", against the fastest",
        }
    }
    let filter = app.filter(Panel::Comparison);
    if filter.is_empty() { title } else { format!("{title} /{filter}") }
}

fn varies(app: &App, column: Column) -> bool {
    let of = |group: &Group| column.of(group).to_owned();
    let mut groups = app.compared.groups.iter();
    groups.next().is_some_and(|first| groups.any(|group| of(group) != of(first)))
}

/// The columns that have room, how wide they are, what is between them, and whether there are more to the right. `most` becomes how many
/// can be skipped until the last has room.
fn columns(
    app: &App,
    lines: &[&Line],
    shown: &[&Line],
    room: u16,
    most: &mut usize,
) -> (Vec<(Column, u16)>, u16, bool) {
    let wanted = |column: &Column| match column {
        Column::Topology | Column::Workload | Column::Machine => varies(app, *column),
        Column::Interval => shown.iter().any(|line| line.interval.is_some()),
        _ => true,
    };
    let wide = |column: Column| {
        let texts = shown.iter().map(|line| width(&text(app, column, line))).max().unwrap_or(0);
        let texts = if column == Column::Verified { texts.min(24) } else { texts };
        texts.max(width(column.title()) + u16::from(app.ui.sort == Some(column)))
    };
    // A mark and `amounts`, or how it went wrong in a word: details have all of that.
    let verdict = |line: &&Line| if line.time.is_some() { 9 } else { width(line.status.word()) + 1 };
    let verified = shown.iter().map(verdict).max().unwrap_or(9);
    let mut columns: Vec<(Column, u16)> = Column::ALL.into_iter().filter(wanted).map(|c| (c, wide(c))).collect();
    let first = columns.iter().position(|(c, _)| *c == Column::Verified).unwrap_or(0);
    // How narrow specs may become: to be read with ease; or, if time and ratio had no room then, so that they stay different, or less still.
    let texts = |(column, _): &(Column, u16)| (*column, texts(app, lines, shown, *column));
    let specs: Vec<(Column, BTreeSet<String>)> = columns[..first].iter().map(texts).collect();
    let apart = |least: usize| -> Vec<(Column, u16)> {
        let least = |texts: &BTreeSet<String>| Short::least(texts.iter().map(String::as_str), least) as u16;
        specs.iter().map(|(column, texts)| (*column, least(texts))).collect()
    };
    let narrow = specs.iter().map(|(column, _)| (*column, NARROW as u16)).collect();
    let mut ways = vec![narrow, apart(NARROW), apart(EASY)];
    ways.iter_mut().for_each(|way| way.push((Column::Verified, verified)));
    let fit = |columns: &[(Column, u16)], least: &[(Column, u16)]| {
        let mut narrow = columns.to_vec();
        shrink(&mut narrow, room, least);
        taken(&narrow, 1) <= room
    };
    let most_wanted = &columns[..columns.len().min(first + 3)];
    while ways.len() > 1 && !ways.last().is_some_and(|least| fit(most_wanted, least)) {
        ways.pop();
    }
    let least = ways.pop().unwrap_or_default();
    let fits = |columns: &[(Column, u16)]| fit(columns, &least);
    let mut more = false;
    if !fits(&columns) {
        // One who has moved to the right wants what comes next there; others want what matters most.
        let without = |skipped: usize| [&columns[..first], &columns[first + skipped..]].concat();
        let all = columns.len() - first - 1;
        *most = (1..all).find(|skipped| fits(&without(*skipped))).unwrap_or(all);
        let skipped = app.ui.across.min(*most);
        columns = without(skipped);
        let before = columns.len();
        let mut go = FIRST_TO_GO.iter();
        while !fits(&columns) && columns.len() > first + 1 {
            match go.next() {
                Some(column) if skipped == 0 => columns.retain(|(other, _)| other != column),
                _ => drop(columns.pop()),
            }
        }
        // Part of a figure is another figure.
        while !fits(&columns) && columns.last().is_some_and(|(column, _)| is_figure(*column)) {
            columns.pop();
        }
        more = columns.len() < before;
    }
    shrink(&mut columns, room, &least);
    // Specs that are cut where they agree may not need all that they have: the next that is cut gets it.
    for (at, (_, texts)) in specs.iter().enumerate() {
        let free = room.saturating_sub(taken(&columns, 1));
        let (column, wide) = columns[at];
        let short = Short::of(texts.iter().map(String::as_str), usize::from(wide + free));
        let needed = texts.iter().map(|text| width(short.get(text))).max().unwrap_or(0);
        columns[at].1 = needed.max(width(column.title()).min(wide));
    }
    let gap = if taken(&columns, 2) <= room { 2 } else { 1 };
    (columns, gap, more)
}

/// The texts of a column, of lines out of sight, too, if there aren't too many: what those in sight agree in may be what tells them from others.
fn texts(app: &App, lines: &[&Line], shown: &[&Line], column: Column) -> BTreeSet<String> {
    /// More are too many to be told apart at every picture.
    const MOST: usize = 64;
    let all: BTreeSet<String> = if column == Column::Algorithm {
        lines.iter().map(|line| line.algorithm.clone()).collect()
    } else {
        app.compared.groups.iter().map(|group| column.of(group).to_owned()).collect()
    };
    if all.len() <= MOST { all } else { shown.iter().map(|line| text(app, column, line)).collect() }
}

fn taken(columns: &[(Column, u16)], gap: u16) -> u16 {
    columns.iter().map(|(_, wide)| wide + gap).sum::<u16>().saturating_sub(gap)
}

/// Takes from the widest columns of words what there is no room for, but leaves them as wide as `least` says.
fn shrink(columns: &mut [(Column, u16)], room: u16, least: &[(Column, u16)]) {
    while taken(columns, 1) > room {
        let least = |column| least.iter().find(|(other, _)| *other == column).map_or(0, |(_, wide)| *wide);
        let words = columns.iter_mut().filter(|(column, wide)| !is_figure(*column) && *wide > least(*column));
        let Some((_, wide)) = words.max_by_key(|(_, wide)| *wide) else { return };
        *wide -= 1;
    }
}

fn head(painter: &mut Painter<'_, '_>, app: &App, columns: &[(Column, u16)], gap: u16, area: Rect) {
    let mut x = 1;
    for (column, wide) in columns {
        let sorted = app.ui.sort == Some(*column);
        let mark = match (sorted, app.ui.reverse) {
            (false, _) => "",
            (true, false) => "▴",
            (true, true) => "▾",
        };
        let text = format!("{}{mark}", column.title());
        let style = if sorted { painter.theme.accent } else { painter.theme.dim };
        if is_figure(*column) {
            painter.put_right(area, x + wide, 0, &text, style);
        } else {
            painter.put(Rect { width: (x + wide).min(area.width), ..area }, x, 0, &text, style);
        }
        painter.hit(area, x, 0, *wide, Target::Header(*column));
        x += wide + gap;
    }
}

fn is_figure(column: Column) -> bool {
    !matches!(column, Column::Topology | Column::Workload | Column::Machine | Column::Algorithm | Column::Verified)
}

fn text(app: &App, column: Column, line: &Line) -> String {
    let count = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
    match column {
        Column::Topology | Column::Workload | Column::Machine => {
            app.compared.groups.get(line.group).map(|group| column.of(group).to_owned()).unwrap_or_default()
        }
        Column::Algorithm => line.algorithm.clone(),
        Column::Verified if line.time.is_none() && !line.reason.is_empty() => {
            format!("{}: {}", line.status, line.reason)
        }
        Column::Verified if line.time.is_none() => line.status.to_string(),
        Column::Verified => format!("✓ {}", line.verified),
        Column::Time => line.time.as_ref().map(|t| duration(t.mean)).unwrap_or_default(),
        Column::Ratio if line.is_baseline => "base".to_owned(),
        Column::Ratio => line.ratio.map(|r| format!("{r:.3}")).unwrap_or_default(),
        Column::Interval => match line.interval {
            Some(i) if i.is_point() => "no spread".to_owned(),
            Some(i) => format!("{:.3}..{:.3}", i.low, i.high),
            None => String::new(),
        },
        Column::OverBound => line.over_bound.map(|x| format!("{x:.2}")).unwrap_or_default(),
        Column::Steps => count(line.steps),
        Column::Messages => count(line.messages),
        Column::WorstLink => count(line.worst_link),
    }
}

fn style(painter: &Painter<'_, '_>, column: Column, line: &Line, begins: bool) -> Style {
    let theme = painter.theme;
    match column {
        Column::Topology | Column::Workload | Column::Machine if !begins => theme.dim,
        Column::Verified if line.time.is_some() => theme.good,
        Column::Verified if line.status == swapmeet_results::Status::Unsupported => theme.dim,
        Column::Verified => theme.bad,
        Column::Ratio if line.is_baseline => theme.accent,
        Column::Ratio if line.ratio.is_some_and(|r| r < 1.0) => theme.good,
        Column::Algorithm if line.is_baseline => theme.accent,
        _ => theme.text,
    }
}
