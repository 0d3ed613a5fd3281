//! Pictures of the screen as SVG.

use crate::contrast::rgb;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr;

/// The width and the height of a cell in pixels.
const CELL: [f64; 2] = [8.0, 17.0];

/// Returns a picture of a part of the screen. The text has the colours of the theme on a light or a
/// dark background.
pub(crate) fn svg(screen: &Buffer, is_light: bool) -> String {
    let area = screen.area;
    let [wide, high] = [f64::from(area.width) * CELL[0], f64::from(area.height) * CELL[1]];
    let (text, ground) = if is_light { ([0; 3], [255; 3]) } else { ([229; 3], [17, 19, 23]) };
    let hex = |colour: Color, default| {
        let [r, g, b] = rgb(colour, default);
        format!("#{r:02x}{g:02x}{b:02x}")
    };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide} {high}\">\n\
         <style>text {{ font: 13.3px \"DejaVu Sans Mono\", Menlo, Consolas, monospace; white-space: pre; }}</style>\n\
         <rect width=\"{wide}\" height=\"{high}\" fill=\"{}\"/>\n",
        hex(Color::Reset, ground)
    );
    let rows = screen.content.chunks(usize::from(area.width.max(1)));
    for (y, cells) in (0_u32..).zip(rows) {
        let top = f64::from(y) * CELL[1];
        // Consecutive cells with the same style become one text.
        let look = |cell: &Cell| {
            let is_reversed = cell.modifier.contains(Modifier::REVERSED);
            let (front, back) = (hex(cell.fg, text), hex(cell.bg, ground));
            let (front, back) = if is_reversed { (back, front) } else { (front, back) };
            (front, back, cell.modifier.contains(Modifier::BOLD))
        };
        let mut x = 0.0;
        for run in cells.chunk_by(|a, b| look(a) == look(b)) {
            let (front, back, is_bold) = look(&run[0]);
            let words: String = run.iter().map(Cell::symbol).collect();
            let width = words.width().max(run.len()) as f64 * CELL[0];
            if back != hex(Color::Reset, ground) {
                let _ = writeln!(
                    out,
                    "<rect x=\"{x}\" y=\"{top}\" width=\"{width}\" height=\"{}\" fill=\"{back}\"/>",
                    CELL[1]
                );
            }
            if !words.trim().is_empty() {
                let bold = if is_bold { " font-weight=\"bold\"" } else { "" };
                let words = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
                let _ = writeln!(
                    out,
                    "<text x=\"{x}\" y=\"{}\" textLength=\"{width}\" lengthAdjust=\"spacingAndGlyphs\" fill=\"{front}\"{bold}>{words}</text>",
                    top + 13.0
                );
            }
            x += run.len() as f64 * CELL[0];
        }
    }
    out + "</svg>\n"
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
        let picture = svg(&screen, false);
        assert!(picture.contains("fill=\"#00cd00\">a &lt; b</text>"), "{picture}");
        assert!(picture.contains("<rect x=\"16\" y=\"17\" width=\"8\""), "{picture}");
        assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
    }
}
