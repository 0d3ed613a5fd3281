//! The size of the cells in which a grid is drawn, and the places of links within a cell.

use ratatui::layout::Rect;

/// The cell that shows a node and its links, in characters. The node is in the upper left corner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) wide: u16,
    pub(super) high: u16,
}

/// The place of a link in a cell: a line of characters, one of which is an arrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LinkPlace {
    pub(super) x: u16,
    pub(super) y: u16,
    pub(super) length: u16,
    pub(super) is_vertical: bool,
    /// Whether the arrow is the last character of the line. Otherwise, it is the first one.
    pub(super) arrow_is_last: bool,
}

impl LinkPlace {
    /// Returns the place of the arrow, relative to the first character.
    pub(super) fn point(self) -> (u16, u16) {
        let at = if self.arrow_is_last { self.length - 1 } else { 0 };
        if self.is_vertical { (0, at) } else { (at, 0) }
    }
}

impl Cell {
    /// The smallest cell of a node that takes at least two screen rows.
    pub(super) const LEAST: Self = Self { wide: 4, high: 2 };
    /// The smallest cell of a node that takes one screen row.
    pub(super) const FLAT: Self = Self { wide: 6, high: 1 };

    /// Returns the largest cell with which `planes` planes of `rows` times `columns` nodes fit into
    /// an area, and the number of planes next to each other. If there are several planes, each of
    /// them has a heading and a margin.
    pub(super) fn largest(planes: u64, rows: u64, columns: u64, area: Rect) -> Option<(Self, u64)> {
        let heading = u64::from(planes > 1);
        let size = |per_row: u64| {
            let wide = ((u64::from(area.width) - 2) / per_row).saturating_sub(heading * 2);
            let high = u64::from(area.height) / planes.div_ceil(per_row);
            // Limit the height of the cell to as many characters as its width.
            let wide = (wide / columns.max(1)) as u16;
            let high = ((high.saturating_sub(heading) / rows.max(1)) as u16).min(wide);
            let fits = |least: Self| wide >= least.wide && high >= least.high;
            let cell = Self { wide, high };
            (fits(Self::LEAST) || fits(Self::FLAT)).then_some((cell, per_row))
        };
        let most_per_row = planes.min(u64::from(area.width.checked_sub(2)?));
        // A character is about twice as high as wide.
        let size_of = |(cell, _): &(Self, u64)| (cell.wide.min(2 * cell.high), cell.wide);
        (1..=most_per_row).filter_map(size).max_by_key(size_of)
    }

    /// Returns the places of five links: the links to the next column, previous column, next row,
    /// previous row and other planes.
    pub(super) fn links(self) -> [LinkPlace; 5] {
        let Self { wide, high } = self;
        let across = |x, y, length, arrow_is_last| LinkPlace {
            x,
            y,
            length,
            is_vertical: false,
            arrow_is_last,
        };
        let down = |x, arrow_is_last| LinkPlace {
            x,
            y: 1,
            length: high - 1,
            is_vertical: true,
            arrow_is_last,
        };
        let one = |x, y| across(x, y, 1, true);
        match high {
            0 | 1 => {
                let half = (wide - 4) / 2;
                let (back, ahead) = (across(1, 0, half, false), across(1 + half, 0, half, true));
                [ahead, back, one(wide - 3, 0), one(wide - 2, 0), one(wide - 1, 0)]
            }
            // In a cell of two rows, the links to the next and to the previous column share the
            // first row.
            2 => {
                let half = (wide - 2) / 2;
                let back = across(2, 0, half, false);
                let ahead = across(2 + half, 0, half, true);
                [ahead, back, down(0, true), down(1, false), one(wide - 1, 1)]
            }
            // In a higher cell, each of these two links has its own row, which ends with a space
            // before the next node.
            _ => {
                let ahead = across(2, 0, wide - 3, true);
                let back = across(2, 1, wide - 3, false);
                [ahead, back, down(0, true), down(1, false), one(wide - 1, high - 1)]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_as_large_as_the_area_allows() {
        let largest = |planes, rows, columns, width, height| {
            let area = Rect { width, height, ..Rect::default() };
            Cell::largest(planes, rows, columns, area).map(|(c, per_row)| (c.wide, c.high, per_row))
        };
        assert_eq!(largest(1, 4, 4, 78, 12), Some((19, 3, 1)));
        assert_eq!(largest(1, 4, 4, 198, 40), Some((49, 10, 1)));
        assert_eq!(largest(1, 16, 16, 118, 28), Some((7, 1, 1)));
        assert_eq!(largest(1, 16, 16, 90, 34), Some((5, 2, 1)));
        assert_eq!(largest(1, 16, 16, 60, 10), None);
        assert_eq!(largest(1, 1, 16, 118, 28), Some((7, 7, 1)), "not higher than wide");
        assert_eq!(largest(8, 8, 8, 218, 40), Some((6, 2, 4)), "two rows of four planes");
        assert_eq!(largest(1, 4, 4, 1, 1), None);
    }

    /// Links stay inside their cell. A link shares no character with another link or with the node.
    #[test]
    fn links_do_not_overlap() {
        let cells = (4..20).flat_map(|wide| (2..=wide.min(9)).map(move |high| Cell { wide, high }));
        for cell in cells.chain((6..20).map(|wide| Cell { wide, high: 1 })) {
            let mut taken = vec![(0, 0)];
            for LinkPlace { x, y, length, is_vertical, .. } in cell.links() {
                assert!(length > 0, "{cell:?}");
                for i in 0..length {
                    taken.push(if is_vertical { (x, y + i) } else { (x + i, y) });
                }
            }
            assert!(taken.iter().all(|(x, y)| *x < cell.wide && *y < cell.high), "{cell:?}");
            let count = taken.len();
            taken.sort_unstable();
            taken.dedup();
            assert_eq!(taken.len(), count, "{cell:?}");
        }
    }
}
