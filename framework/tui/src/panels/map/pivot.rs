//! A table of the times of all algorithms against block sizes, for one row of a map.

use super::cell;
use crate::paint::{Painter, scroll_start, widest, width};
use crate::session::Session;
use crate::theme::Theme;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use std::collections::BTreeMap;
use swapmeet_results::analysis::WinnerMap;
use swapmeet_results::{duration, mark};

/// The classes of times: the largest ratio to the fastest time, the heat level whose colour the class
/// has, and the label in the legend. Times above all of these ratios belong to [`SLOWEST`].
///
/// The heat levels are chosen by their colours in the themes `default` and `light`: level 3 is green
/// for the fastest time, levels 2 and 1 are cyan and blue for times that are little longer, and
/// level 5 is red.
const LEVELS: [(f64, usize, &str); 4] =
    [(1.0, 3, "fastest"), (1.05, 2, "up to 5 % longer"), (1.25, 1, "25 %"), (2.0, 4, "100 %")];
const SLOWEST: (usize, &str) = (5, "more");

/// The times of one algorithm, one for each block size.
struct Row<'s> {
    algorithm: &'s str,
    times: Vec<Option<f64>>,
}

/// Returns the times in one row of the map. The algorithm that is fastest in a column is first.
fn rows<'s>(session: &'s Session, map: &WinnerMap, row: usize, column: usize) -> Vec<Row<'s>> {
    let mut rows: BTreeMap<&str, Row<'_>> = BTreeMap::new();
    for at in 0..map.xs.len() {
        let Some(found) = cell(map, row, at) else { continue };
        for line in session.compared.lines_of(found.group) {
            let algorithm = line.stats.algorithm.as_str();
            let entry = rows
                .entry(algorithm)
                .or_insert_with(|| Row { algorithm, times: vec![None; map.xs.len()] });
            entry.times[at] = line.stats.mean();
        }
    }
    let mut rows: Vec<Row<'_>> = rows.into_values().collect();
    let time = |row: &Row<'_>| row.times[column].unwrap_or(f64::INFINITY);
    rows.retain(|row| row.times.iter().any(Option::is_some));
    rows.sort_by(|a, b| time(a).total_cmp(&time(b)));
    rows
}

/// Draws the table. `row` is the map row that the table shows, and `column` is the index of the
/// block size under the cursor.
pub(super) fn pivot(
    painter: &mut Painter<'_, '_>,
    session: &Session,
    map: &WinnerMap,
    (row, column): (usize, usize),
    area: Rect,
) {
    let rows = rows(session, map, row, column);
    let best =
        |at: usize| rows.iter().filter_map(|row| row.times[at]).fold(f64::INFINITY, f64::min);
    // All columns have the same width. If not all of them fit, the table scrolls.
    let theme = painter.theme;
    let sizes: Vec<String> = map.xs.iter().map(|x| map.x_axis.text(*x)).collect();
    let texts = rows.iter().flat_map(|row| row.times.iter().flatten().map(|us| duration(*us)));
    let wide = widest(texts.chain(sizes.iter().cloned())) + 2;
    let names = widest(rows.iter().map(|row| row.algorithm)).min(area.width / 3) + 2;
    let columns = usize::from(area.width.saturating_sub(names + 1) / wide);
    let first = scroll_start(column, sizes.len(), columns);
    let right = |at: usize| names + 1 + (at - first + 1) as u16 * wide;
    for (at, size) in sizes.iter().enumerate().skip(first).take(columns) {
        let style = if at == column { theme.accent } else { theme.dim };
        painter.put_right(area, right(at), 0, size, style);
    }
    let most = usize::from(area.height.saturating_sub(2));
    let hidden = if rows.len() > most { rows.len() + 1 - most.max(1) } else { 0 };
    for (y, row) in (1..area.height.saturating_sub(1)).zip(&rows[..rows.len() - hidden]) {
        let look = session.styles.number(row.algorithm);
        let name = Rect { width: (names + 1).min(area.width), ..area };
        let text = format!("{} {}", mark(look), row.algorithm);
        painter.put(name, 1, y, &text, theme.series(look));
        for at in (first..sizes.len()).take(columns) {
            let (text, style) = match row.times[at] {
                Some(us) => (duration(us), level_style(&theme, level(us / best(at)))),
                None => ("-".to_owned(), theme.dim),
            };
            let style = if at == column { style.add_modifier(Modifier::BOLD) } else { style };
            painter.put_right(area, right(at), y, &text, style);
        }
    }
    if hidden > 0 {
        let text = format!("{hidden} slower algorithms are hidden");
        painter.put(area, 1, area.height.saturating_sub(2), &text, theme.dim);
    }
    legend(painter, area);
}

fn level(ratio: f64) -> usize {
    let found = LEVELS.iter().find(|(most, _, _)| ratio <= *most);
    found.map_or(SLOWEST.0, |(_, level, _)| *level)
}

fn level_style(theme: &Theme, level: usize) -> Style {
    // In themes without colours, only the fastest time is highlighted.
    if theme.coloured {
        theme.heat(level)
    } else if level == LEVELS[0].1 {
        theme.accent
    } else {
        theme.text
    }
}

fn legend(painter: &mut Painter<'_, '_>, area: Rect) {
    let theme = painter.theme;
    let labels = LEVELS.iter().map(|(_, level, label)| (*level, *label)).chain([SLOWEST]);
    let mut x = 1;
    for (level, label) in labels {
        if x + width(label) > area.width {
            return;
        }
        x = painter.put(area, x, area.height.saturating_sub(1), label, level_style(&theme, level));
        x += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_depend_on_the_ratio_to_the_fastest() {
        assert_eq!([1.0, 1.04, 1.2, 1.9, 2.1].map(level), [3, 2, 1, 4, 5]);
    }
}
