//! Pictures of the screen, which the program writes as files.

use crate::contrast::rgb;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr;

/// Consecutive characters in a row that have the same appearance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenRun {
    /// The column and the row of the first character, from 0.
    pub at: (u16, u16),
    pub words: String,
    pub columns: u16,
    pub front: [u8; 3],
    pub back: [u8; 3],
    pub is_bold: bool,
}

/// A part of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenPicture {
    pub columns: u16,
    pub rows: u16,
    pub ground: [u8; 3],
    pub runs: Vec<ScreenRun>,
}

impl ScreenPicture {
    pub(crate) fn new(screen: &Buffer, is_light: bool) -> Self {
        let (text, ground) = if is_light { ([0; 3], [255; 3]) } else { ([229; 3], [17, 19, 23]) };
        let look = |cell: &Cell| {
            let (front, back) = (rgb(cell.fg, text), rgb(cell.bg, ground));
            let is_reversed = cell.modifier.contains(Modifier::REVERSED);
            let (front, back) = if is_reversed { (back, front) } else { (front, back) };
            (front, back, cell.modifier.contains(Modifier::BOLD))
        };
        let mut runs = Vec::new();
        let rows = screen.content.chunks(usize::from(screen.area.width.max(1)));
        for (y, cells) in (0..).zip(rows) {
            let mut x = 0;
            for run in cells.chunk_by(|a, b| look(a) == look(b)) {
                let (front, back, is_bold) = look(&run[0]);
                let words: String = run.iter().map(Cell::symbol).collect();
                // A wide character is followed by a cell that is not drawn.
                let columns = words.width().max(run.len()) as u16;
                runs.push(ScreenRun { at: (x, y), words, columns, front, back, is_bold });
                x += run.len() as u16;
            }
        }
        let ground = rgb(Color::Reset, ground);
        Self { columns: screen.area.width, rows: screen.area.height, ground, runs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    #[test]
    fn a_picture_has_every_text_with_its_colour() {
        let mut screen = Buffer::empty(Rect { x: 0, y: 0, width: 12, height: 2 });
        screen.set_string(0, 0, "a < b", Style::new().fg(Color::Green));
        screen.set_string(2, 1, "x", Style::new().add_modifier(Modifier::REVERSED));
        let picture = ScreenPicture::new(&screen, false);
        let first = &picture.runs[0];
        assert_eq!((first.words.as_str(), first.front, first.at), ("a < b", [0, 205, 0], (0, 0)));
        let reversed = picture.runs.iter().find(|run| run.words == "x").unwrap();
        assert_eq!((reversed.at, reversed.columns), ((2, 1), 1));
        assert_eq!((reversed.front, reversed.back), (picture.ground, [229; 3]));
    }
}
