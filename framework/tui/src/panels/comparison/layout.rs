//! Which columns of the comparison have room, and how wide they are.

use super::column::Column;
use crate::paint::width;
use crate::session::comparison::{Compared, Line};
use crate::short::Short;
use std::collections::BTreeSet;

/// Columns that go first when there is little room.
const FIRST_TO_GO: [Column; 5] =
    [Column::Messages, Column::OverBound, Column::Steps, Column::WorstLink, Column::Interval];

/// Specs narrower than this are hard to read.
const EASY: usize = 13;

/// Specs narrower than this tell little.
const NARROW: usize = 8;

/// What is to be laid out.
pub(super) struct Wanted<'a> {
    pub(super) compared: &'a Compared,
    pub(super) lines: &'a [&'a Line],
    /// Those in sight.
    pub(super) shown: &'a [&'a Line],
    pub(super) room: u16,
    pub(super) sort: Option<Column>,
    /// How many columns of figures are skipped, if that many are out of sight.
    pub(super) across: usize,
}

/// The columns that have room.
pub(super) struct Layout {
    /// Each with how wide it is.
    pub(super) columns: Vec<(Column, u16)>,
    /// What is between them.
    pub(super) gap: u16,
    /// Whether there are more to the right.
    pub(super) more: bool,
    /// How many can be skipped until the last has room.
    pub(super) farthest: usize,
}

impl Wanted<'_> {
    /// The columns that have room, and how wide they are.
    pub(super) fn layout(&self) -> Layout {
        let Self { compared, lines, shown, room, sort, across } = *self;
        let wanted = |column: &Column| match column {
            Column::Topology | Column::Workload | Column::Machine => column.varies(compared),
            Column::Interval => shown.iter().any(|line| line.interval().is_some()),
            _ => true,
        };
        let wide = |column: Column| {
            let texts =
                shown.iter().map(|line| width(&column.text(compared, line))).max().unwrap_or(0);
            let texts = if column == Column::Verified { texts.min(24) } else { texts };
            texts.max(width(column.title()) + u16::from(sort == Some(column)))
        };
        // A mark and `amounts`, or how it went wrong in a word: details have all of that.
        let verdict = |line: &&Line| {
            if line.stats.time.is_some() { 9 } else { width(line.stats.status.word()) + 1 }
        };
        let verified = shown.iter().map(verdict).max().unwrap_or(9);
        let mut columns: Vec<(Column, u16)> =
            Column::ALL.into_iter().filter(wanted).map(|c| (c, wide(c))).collect();
        let first = columns.iter().position(|(c, _)| *c == Column::Time).unwrap_or(0);
        // How narrow specs may become: to be read with ease; or, if time and ratio had no room
        // then, so that they stay different, or less still.
        let texts = |(column, _): &(Column, u16)| (*column, texts(compared, lines, shown, *column));
        let specs: Vec<(Column, BTreeSet<String>)> = columns[..first].iter().map(texts).collect();
        let apart = |least: usize| -> Vec<(Column, u16)> {
            let least = |texts: &BTreeSet<String>| {
                Short::least(texts.iter().map(String::as_str), least) as u16
            };
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
        let (mut more, mut farthest) = (false, 0);
        if !fits(&columns) {
            // One who has moved to the right wants what comes next there; others want what matters
            // most.
            let without =
                |skipped: usize| [&columns[..first], &columns[first + skipped..]].concat();
            let all = columns.len() - first - 1;
            farthest = (1..all).find(|skipped| fits(&without(*skipped))).unwrap_or(all);
            let skipped = across.min(farthest);
            columns = without(skipped);
            let before = columns.len();
            let mut go = FIRST_TO_GO.iter();
            while !fits(&columns) && columns.len() > first + 1 {
                match go.next() {
                    Some(column) if Some(*column) == sort => {}
                    Some(column) if skipped == 0 => columns.retain(|(other, _)| other != column),
                    _ => drop(columns.pop()),
                }
            }
            // Part of a figure is another figure.
            while !fits(&columns) && columns.last().is_some_and(|(column, _)| column.is_figure()) {
                columns.pop();
            }
            more = columns.len() < before;
        }
        shrink(&mut columns, room, &least);
        // Specs that are cut where they agree may not need all that they have: the next that is cut
        // gets it.
        for (at, (_, texts)) in specs.iter().enumerate() {
            let free = room.saturating_sub(taken(&columns, 1));
            let (column, wide) = columns[at];
            let short = Short::of(texts.iter().map(String::as_str), usize::from(wide + free));
            let needed = texts.iter().map(|text| width(short.get(text))).max().unwrap_or(0);
            columns[at].1 = needed.max(width(column.title()).min(wide));
        }
        let gap = if taken(&columns, 2) <= room { 2 } else { 1 };
        Layout { columns, gap, more, farthest }
    }
}

/// The texts of a column, of lines out of sight, too, if there aren't too many: what those in sight
/// agree in may be what tells them from others.
pub(super) fn texts(
    compared: &Compared,
    lines: &[&Line],
    shown: &[&Line],
    column: Column,
) -> BTreeSet<String> {
    /// More are too many to be told apart at every picture.
    const MOST: usize = 64;
    let all: BTreeSet<String> = if column == Column::Algorithm {
        lines.iter().map(|line| line.stats.algorithm.clone()).collect()
    } else {
        compared.groups.iter().map(|group| column.of(group).to_owned()).collect()
    };
    if all.len() <= MOST {
        all
    } else {
        shown.iter().map(|line| column.text(compared, line)).collect()
    }
}

fn taken(columns: &[(Column, u16)], gap: u16) -> u16 {
    columns.iter().map(|(_, wide)| wide + gap).sum::<u16>().saturating_sub(gap)
}

/// Takes from the widest columns of words what there is no room for, but leaves them as wide as
/// `least` says.
fn shrink(columns: &mut [(Column, u16)], room: u16, least: &[(Column, u16)]) {
    while taken(columns, 1) > room {
        let least =
            |column| least.iter().find(|(other, _)| *other == column).map_or(0, |(_, wide)| *wide);
        let words = columns
            .iter_mut()
            .filter(|(column, wide)| !column.is_figure() && *wide > least(*column));
        let Some((_, wide)) = words.max_by_key(|(_, wide)| *wide) else { return };
        *wide -= 1;
    }
}
