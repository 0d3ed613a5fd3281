//! The layout of the table: which columns fit, how wide they are, and how specs are shortened.

use super::column::Column;
use crate::abbreviate::{Abbreviations, ShortNames};
use crate::fit::{shrink, total_width};
use crate::paint::{widest, width};
use std::collections::BTreeSet;

/// The columns of values, the most important first. If the width is too small for all of them, the
/// last ones are left out.
const BY_IMPORTANCE: [Column; 11] = [
    Column::Time,
    Column::Ratio,
    Column::Interval,
    Column::OverOptimum,
    Column::LinkLoad,
    Column::Steps,
    Column::Verified,
    Column::OverBound,
    Column::Messages,
    Column::BusBandwidth,
    Column::AlgorithmBandwidth,
];

/// The number of columns of values for which specs are shortened.
const ESSENTIAL: usize = 2;

/// The widths at which specs are still recognisable, the preferred one first.
const USEFUL_WIDTHS: [usize; 3] = [13, 8, 4];

/// A column that the table may show.
pub(super) struct Candidate {
    pub(super) column: Column,
    /// The width that its values need.
    pub(super) wide: u16,
    /// If the column is a spec, its texts.
    pub(super) texts: Option<BTreeSet<String>>,
}

/// A visible column.
pub(super) struct Placed {
    pub(super) column: Column,
    pub(super) wide: u16,
    pub(super) title: String,
    names: ShortNames,
    abbreviations: Abbreviations,
}

impl Placed {
    pub(super) fn shorten<'s>(&'s self, text: &'s str) -> &'s str {
        self.abbreviations.get(self.names.get(text))
    }
}

pub(super) struct Layout {
    pub(super) columns: Vec<Placed>,
    pub(super) gap: u16,
    /// Whether there are more columns, for which there is no space.
    pub(super) more: bool,
    /// The maximum number of columns to scroll past, at which the last column becomes visible.
    pub(super) farthest: usize,
}

/// Chooses the columns. `sort` is the column by which lines are sorted, which is always visible, and
/// `across` the number of columns that the user has scrolled past.
pub(super) fn layout(
    candidates: Vec<Candidate>,
    room: u16,
    sort: Option<Column>,
    across: usize,
) -> Layout {
    let (specs, values): (Vec<Candidate>, Vec<Candidate>) =
        candidates.into_iter().partition(|candidate| candidate.texts.is_some());
    let is_essential = |value: &&Candidate| {
        value.column == Column::State || BY_IMPORTANCE[..ESSENTIAL].contains(&value.column)
    };
    let essential: u16 = values.iter().filter(is_essential).map(|value| value.wide + 1).sum();
    // Shorten the specs if they do not fit next to the essential values: first drop the parts that
    // all of them have in common, and then abbreviate them.
    let room_of_specs = room.saturating_sub(essential);
    let texts = |spec: &Candidate| spec.texts.clone().unwrap_or_default();
    let full = |spec: &Candidate| (spec.column, ShortNames::default(), texts(spec));
    let short = |spec: &Candidate| {
        let names = ShortNames::new(&texts(spec));
        let texts = texts(spec).iter().map(|text| names.get(text).to_owned()).collect();
        (spec.column, names, texts)
    };
    let wide = |(column, _, texts): &(Column, ShortNames, BTreeSet<String>)| {
        // The heading of the sort column also has a mark.
        widest(texts).max(width(column.title()).min(9) + u16::from(sort == Some(*column)))
    };
    let mut forms: Vec<_> = specs.iter().map(full).collect();
    if total_width(forms.iter().map(wide), 1) > room_of_specs {
        forms = specs.iter().map(short).collect();
    }
    let mut widths: Vec<(usize, u16)> = forms.iter().map(wide).enumerate().collect();
    for useful in USEFUL_WIDTHS {
        let least = |at: &usize| {
            let texts = forms[*at].2.iter().map(String::as_str);
            Abbreviations::min_width(texts, useful).min(usize::from(u16::MAX)) as u16
        };
        let mut tried = widths.clone();
        if shrink(&mut tried, least, 1, room_of_specs) {
            widths = tried;
            break;
        }
        if useful == USEFUL_WIDTHS[2] {
            shrink(&mut widths, |_| useful as u16, 1, room_of_specs);
        }
    }
    let mut placed: Vec<Placed> = forms
        .into_iter()
        .zip(widths)
        .map(|((column, names, texts), (_, wide))| {
            let abbreviations =
                Abbreviations::new(texts.iter().map(String::as_str), usize::from(wide));
            let title = names.title().filter(|title| width(title) <= wide);
            let title = title.unwrap_or_else(|| column.title().to_owned());
            Placed { column, wide, title, names, abbreviations }
        })
        .collect();
    // Add the values in the remaining width.
    let used = total_width(placed.iter().map(|placed| placed.wide), 1);
    let fits = |columns: &[&Candidate]| {
        used + columns.iter().map(|value| value.wide + 1).sum::<u16>() <= room
    };
    let farthest = (0..values.len())
        .find(|skipped| fits(&values[*skipped..].iter().collect::<Vec<_>>()))
        .unwrap_or(values.len().saturating_sub(1));
    let across = across.min(farthest);
    let mut shown: Vec<&Candidate> = Vec::new();
    // The state and the sort column are first.
    let importance = |value: &&Candidate| {
        let place = BY_IMPORTANCE.iter().position(|other| *other == value.column);
        place.filter(|_| sort != Some(value.column))
    };
    let mut order: Vec<&Candidate> = values[across..].iter().collect();
    if across == 0 {
        order.sort_by_key(importance);
    }
    for value in order {
        shown.push(value);
        if !fits(&shown) {
            shown.pop();
            break;
        }
    }
    let more = across + shown.len() < values.len();
    shown.sort_by_key(|value| value.column);
    placed.extend(shown.into_iter().map(|value| Placed {
        column: value.column,
        wide: value.wide,
        title: value.column.title().to_owned(),
        names: ShortNames::default(),
        abbreviations: Abbreviations::default(),
    }));
    // The state is the first column.
    placed.sort_by_key(|placed| placed.column);
    let gap = if total_width(placed.iter().map(|p| p.wide), 2) <= room { 2 } else { 1 };
    Layout { columns: placed, gap, more, farthest }
}
