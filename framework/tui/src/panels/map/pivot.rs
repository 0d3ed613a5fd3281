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

/// The classes of times: the largest ratio to the fastest time, and the label in the legend. Times
/// above all of these ratios belong to the class [`SLOWEST`].
const CLASSES: [(f64, &str); 4] =
    [(1.0, "fastest"), (1.05, "up to 5 % longer"), (1.25, "25 %"), (2.0, "100 %")];
const SLOWEST: &str = "more";

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

/// `row` is the map row that the table shows, and `column` the block size under the cursor.
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
                Some(us) => (duration(us), style_of(&theme, class(us / best(at)))),
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

fn class(ratio: f64) -> usize {
    CLASSES.iter().position(|(most, _)| ratio <= *most).unwrap_or(CLASSES.len())
}

fn style_of(theme: &Theme, class: usize) -> Style {
    // In themes without colours, only the fastest time is highlighted.
    match (theme.coloured, class) {
        (false, 0) => theme.accent,
        (false, _) | (true, 2) => theme.text,
        (true, 0) => theme.good,
        (true, 1) => theme.faint_cursor,
        (true, 3) => theme.warn,
        (true, _) => theme.bad,
    }
}

fn legend(painter: &mut Painter<'_, '_>, area: Rect) {
    let theme = painter.theme;
    let labels = CLASSES.iter().map(|(_, label)| *label).chain([SLOWEST]);
    let mut x = 1;
    for (class, label) in labels.enumerate() {
        if x + width(label) > area.width {
            return;
        }
        x = painter.put(area, x, area.height.saturating_sub(1), label, style_of(&theme, class));
        x += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_depend_on_the_ratio_to_the_fastest() {
        assert_eq!([1.0, 1.04, 1.2, 1.9, 2.1].map(class), [0, 1, 2, 3, 4]);
    }

    /// The fastest time is never in the colour of an alarm, and the classes differ.
    #[test]
    fn classes_have_colours_of_their_own() {
        for theme in Theme::names().filter_map(Theme::named).filter(|theme| theme.coloured) {
            let styles: Vec<Style> = (0..5).map(|class| style_of(&theme, class)).collect();
            assert_eq!((styles[0], styles[4]), (theme.good, theme.bad), "{}", theme.name);
            assert!((0..5).all(|i| (0..i).all(|j| styles[i] != styles[j])), "{}", theme.name);
        }
    }
}
