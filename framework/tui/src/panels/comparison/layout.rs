//! The layout of the comparison panel: which columns fit, and how wide they are.

use super::column::Column;
use crate::abbreviate::Abbreviations;
use crate::fit::{shrink, total_width};
use crate::paint::{widest, width};
use crate::session::comparison::{Compared, Line};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The least important columns. They are removed first if the width is too small.
const FIRST_TO_GO: [Column; 8] = [
    Column::AlgorithmBandwidth,
    Column::BusBandwidth,
    Column::Messages,
    Column::OverBound,
    Column::Steps,
    Column::LinkLoad,
    Column::OverOptimum,
    Column::Interval,
];

const PREFERRED_WIDTH: usize = 13;

/// The smallest width in which a spec is still recognisable.
const USEFUL_WIDTH: usize = 8;

pub(super) struct LayoutInput<'a> {
    pub(super) compared: &'a Compared,
    pub(super) algorithms: &'a BTreeSet<String>,
    pub(super) shown: &'a [&'a Line],
    pub(super) room: u16,
    pub(super) sort: Option<Column>,
    pub(super) across: usize,
}

pub(super) struct Layout {
    pub(super) columns: Vec<(Column, u16)>,
    pub(super) gap: u16,
    /// Whether there are more columns, for which there is no space.
    pub(super) more: bool,
    /// The maximum number of columns to scroll past, at which the last column becomes visible.
    pub(super) farthest: usize,
}

impl LayoutInput<'_> {
    pub(super) fn layout(&self) -> Layout {
        let Self { compared, shown, room, sort, across, .. } = *self;
        let wanted = |column: &Column| match column {
            Column::Topology | Column::Workload | Column::Machine => column.varies(compared),
            Column::Interval => shown.iter().any(|line| line.interval().is_some()),
            Column::AlgorithmBandwidth | Column::BusBandwidth => {
                shown.iter().any(|line| line.stats.bandwidths.is_some())
            }
            Column::OverOptimum => shown.iter().any(|line| line.over_optimum.is_some()),
            _ => true,
        };
        let wide = |column: Column| {
            let texts = widest(shown.iter().map(|line| column.text(compared, line)));
            let texts = if column == Column::Verified { texts.min(24) } else { texts };
            texts.max(width(column.title()) + u16::from(sort == Some(column)))
        };
        // The minimum width of the column `verified`. It has room for a mark and the word
        // `amounts`, or for the status of a failed case.
        let verdict = |line: &&Line| {
            if line.stats.time.is_some() { 9 } else { width(line.stats.status.word()) + 1 }
        };
        let verified = shown.iter().map(verdict).max().unwrap_or(9);
        let mut columns: Vec<(Column, u16)> =
            Column::ALL.into_iter().filter(wanted).map(|c| (c, wide(c))).collect();
        let first = columns.iter().position(|(c, _)| *c == Column::Time).unwrap_or(0);
        // There are four candidates for the minimum widths of specs. The first only keeps specs
        // recognisable. The second also keeps different specs different. The third is easy to read.
        // The fourth does not shorten algorithms. Use the last candidate with which the columns for
        // time and ratio still fit.
        let texts = |(column, _): &(Column, u16)| (*column, self.texts(*column));
        let specs: Vec<(Column, Cow<'_, BTreeSet<String>>)> =
            columns[..first].iter().map(texts).collect();
        let different = |least: usize| -> Vec<(Column, u16)> {
            let least = |texts: &BTreeSet<String>| {
                Abbreviations::min_width(texts.iter().map(String::as_str), least) as u16
            };
            specs.iter().map(|(column, texts)| (*column, least(texts))).collect()
        };
        let narrow = specs.iter().map(|(column, _)| (*column, USEFUL_WIDTH as u16)).collect();
        let readable = different(PREFERRED_WIDTH);
        let full = |&(column, least): &(Column, u16)| match column {
            Column::Algorithm => (column, wide(column)),
            _ => (column, least),
        };
        let whole = readable.iter().map(full).collect();
        let mut candidates = vec![narrow, different(USEFUL_WIDTH), readable, whole];
        candidates.iter_mut().for_each(|candidate| candidate.push((Column::Verified, verified)));
        let fit = |columns: &[(Column, u16)], least: &[(Column, u16)]| {
            shrink(&mut columns.to_vec(), min_width(least), 1, room)
        };
        let most_wanted = &columns[..columns.len().min(first + 3)];
        while candidates.len() > 1
            && !candidates.last().is_some_and(|least| fit(most_wanted, least))
        {
            candidates.pop();
        }
        let least = candidates.pop().unwrap_or_default();
        let fits = |columns: &[(Column, u16)]| fit(columns, &least);
        let (mut more, mut farthest) = (false, 0);
        if !fits(&columns) {
            // Not all columns fit. If the user has scrolled, leave out the columns that the user
            // has scrolled past, and then remove columns at the right end. Otherwise, remove the
            // least important columns first.
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
            // A number is never cut. If it does not fit, remove its whole column.
            while !fits(&columns) && columns.last().is_some_and(|(column, _)| column.is_number()) {
                columns.pop();
            }
            more = columns.len() < before;
        }
        shrink(&mut columns, min_width(&least), 1, room);
        // If an abbreviation needs less than the width of its column, the next column gets the
        // unused width.
        for (at, (_, texts)) in specs.iter().enumerate() {
            let free = room.saturating_sub(total_width(columns.iter().map(|(_, wide)| *wide), 1));
            let (column, wide) = columns[at];
            let short =
                Abbreviations::new(texts.iter().map(String::as_str), usize::from(wide + free));
            let needed = widest(texts.iter().map(|text| short.get(text)));
            columns[at].1 = needed.max(width(column.title()).min(wide));
        }
        let gap = if total_width(columns.iter().map(|(_, wide)| *wide), 2) <= room { 2 } else { 1 };
        Layout { columns, gap, more, farthest }
    }

    /// Returns the texts of a column that should have different abbreviations. These are the texts
    /// of all lines or, if there are too many different texts, those of the visible lines.
    pub(super) fn texts(&self, column: Column) -> Cow<'_, BTreeSet<String>> {
        /// The maximum number of different texts of all lines. More texts would take too long to
        /// compare in each frame.
        const MOST: usize = 64;
        let all = column.texts(self.compared).unwrap_or(self.algorithms);
        if all.len() <= MOST {
            Cow::Borrowed(all)
        } else {
            Cow::Owned(self.shown.iter().map(|line| column.text(self.compared, line)).collect())
        }
    }
}

/// Returns a function with the minimum width of each column. Numbers are never cut.
fn min_width(least: &[(Column, u16)]) -> impl Fn(&Column) -> u16 {
    |column| {
        let wide = least.iter().find(|(other, _)| other == column).map_or(0, |(_, wide)| *wide);
        if column.is_number() { u16::MAX } else { wide }
    }
}
