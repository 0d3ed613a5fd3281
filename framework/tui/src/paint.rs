//! Drawing within an area, and functions for frames, text layout and scrolling. A function that
//! draws a part of a panel returns the number of its screen rows.

use crate::click_map::{ClickMap, ClickTarget, PanelPosition};
use crate::filter::Filter;
use crate::keys::numbered;
use crate::theme::Theme;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::symbols::Marker;
use ratatui::widgets::canvas::{Canvas, Line};
use ratatui::widgets::{Block, Widget};
use std::time::Duration;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

pub(crate) struct Painter<'f, 'h> {
    buffer: &'f mut Buffer,
    clip: Rect,
    pub(crate) clicks: &'h mut ClickMap,
    pub(crate) theme: Theme,
    panel: usize,
    has_keys: bool,
}

pub(crate) fn width(text: &str) -> u16 {
    u16::try_from(text.width()).unwrap_or(u16::MAX)
}

pub(crate) fn widest<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> u16 {
    texts.into_iter().map(|text| width(text.as_ref())).max().unwrap_or(0)
}

/// Returns the part of an area below its first `rows` rows.
pub(crate) fn below(area: Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    Rect { y: area.y + rows, height: area.height - rows, ..area }
}

pub(crate) fn cut(text: &str, columns: u16) -> String {
    cut_keeping_tail(text, columns.into(), 0)
}

/// Shortens a text in the middle, because specs often differ at the end.
pub(crate) fn cut_middle(text: &str, columns: u16) -> String {
    let tail = if columns < 6 { 0 } else { (columns - 1) / 2 };
    cut_keeping_tail(text, columns.into(), tail.into())
}

/// Shortens a text to a number of columns, and keeps its last `tail` columns.
pub(crate) fn cut_keeping_tail(text: &str, columns: usize, tail: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut end = String::new();
    for c in text.chars().rev() {
        if end.width() + c.width().unwrap_or(0) > tail {
            break;
        }
        end.insert(0, c);
    }
    let mut short = String::new();
    for c in text.chars() {
        if short.width() + c.width().unwrap_or(0) + 1 + end.width() > columns {
            break;
        }
        short.push(c);
    }
    if columns > 0 {
        short.push('…');
    }
    short + &end
}

/// Breaks a text into lines, at spaces where possible.
pub(crate) fn wrap(text: &str, columns: u16) -> Vec<String> {
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split(' ') {
        match line.is_empty() {
            false if width(&line) + 1 + width(word) <= columns => line.push(' '),
            false => lines.push(std::mem::take(&mut line)),
            true => {}
        }
        // A word that is wider than a line has as many characters on each line as fit, but at least
        // one.
        for c in word.chars() {
            if !line.is_empty() && width(&line) + c.width().unwrap_or(0) as u16 > columns {
                lines.push(std::mem::take(&mut line));
            }
            line.push(c);
        }
    }
    lines.push(line);
    lines
}

/// Returns ` (2 of 5)`, or an empty text for a single item.
pub(crate) fn position(index: usize, count: usize) -> String {
    if count > 1 { format!(" ({} of {count})", index + 1) } else { String::new() }
}

pub(crate) fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0 => format!("{:.1} s", time.as_secs_f64()),
        1..60 => format!("{seconds} s"),
        60..3600 => format!("{}:{:02} min", seconds / 60, seconds % 60),
        _ => format!("{}:{:02} h", seconds / 3600, seconds / 60 % 60),
    }
}

/// Returns the first of `height` lines, which have the cursor in the middle if possible.
pub(crate) fn scroll_start(cursor: usize, count: usize, height: usize) -> usize {
    cursor.saturating_sub(height / 2).min(count.saturating_sub(height))
}

impl<'f, 'h> Painter<'f, 'h> {
    pub(crate) fn new(frame: &'f mut Frame<'_>, clicks: &'h mut ClickMap, theme: Theme) -> Self {
        Self {
            clip: frame.area(),
            buffer: frame.buffer_mut(),
            clicks,
            theme,
            panel: 0,
            has_keys: false,
        }
    }

    pub(crate) fn copy(&self, area: Rect) -> Buffer {
        let area = area.intersection(self.buffer.area);
        let mut copy = Buffer::empty(area);
        for position in area.positions() {
            copy[position] = self.buffer[position].clone();
        }
        copy
    }

    pub(crate) fn begin(&mut self, panel: usize, has_keys: bool, area: Rect) {
        (self.panel, self.has_keys) = (panel, has_keys);
        self.clip = area.intersection(self.buffer.area);
        self.clicks.add(area, ClickTarget::Panel(panel, PanelPosition::Anywhere));
    }

    pub(crate) fn end(&mut self) {
        self.clip = self.buffer.area;
    }

    /// Writes a text, cut at the edge of the area. Returns the column after it.
    pub(crate) fn put(&mut self, area: Rect, x: u16, y: u16, text: &str, style: Style) -> u16 {
        let area = area.intersection(self.clip);
        if y >= area.height || x >= area.width {
            return x;
        }
        let shown = cut(text, area.width - x);
        self.buffer.set_stringn(area.x + x, area.y + y, &shown, usize::from(area.width - x), style);
        x + width(&shown)
    }

    /// Writes a text from the second column. An ellipsis ends the last row if there are too few.
    pub(crate) fn paragraph(&mut self, area: Rect, text: &str, style: Style) {
        let lines = wrap(text, area.width.saturating_sub(2));
        for (y, line) in (0..area.height).zip(&lines) {
            let is_cut = y + 1 == area.height && lines.len() > usize::from(area.height);
            let rest = if is_cut { " …" } else { "" };
            let line = cut(&format!("{line}{rest}"), area.width.saturating_sub(2));
            self.put(area, 1, y, &line, style);
        }
    }

    /// Writes a legend: marks and texts, with their styles. Returns the number of rows.
    pub(crate) fn legend(
        &mut self,
        area: Rect,
        entries: impl IntoIterator<Item = [(String, Style); 2]>,
    ) -> u16 {
        let (mut x, mut y) = (1, 0);
        for [(mark, mark_style), (text, style)] in entries {
            if x > 1 && x + width(&mark) + 1 + width(&text) > area.width {
                (x, y) = (1, y + 1);
            }
            x = self.put(area, x, y, &mark, mark_style) + 1;
            x = self.put(area, x, y, &text, style) + 2;
        }
        y + 1
    }

    pub(crate) fn put_right(&mut self, area: Rect, end: u16, y: u16, text: &str, style: Style) {
        let end = end.min(area.width);
        self.put(Rect { width: end, ..area }, end.saturating_sub(width(text)), y, text, style);
    }

    pub(crate) fn dot(&mut self, area: Rect, x: u16, y: u16, c: char, style: Style) {
        let area = area.intersection(self.clip);
        if x < area.width && y < area.height {
            self.buffer[(area.x + x, area.y + y)].set_char(c).set_style(style);
        }
    }

    pub(crate) fn shade(&mut self, area: Rect, y: u16, style: Style) {
        if y < area.height {
            let row = Rect { y: area.y + y, height: 1, ..area };
            self.buffer.set_style(row.intersection(self.clip), style);
        }
    }

    pub(crate) fn clear(&mut self, area: Rect) {
        ratatui::widgets::Clear.render(area.intersection(self.clip), self.buffer);
    }

    /// Makes a line of a list clickable, and highlights it if the cursor is on it (`here`). Returns
    /// the style of its text.
    pub(crate) fn list_line(
        &mut self,
        area: Rect,
        y: u16,
        index: usize,
        here: bool,
        style: Style,
    ) -> Style {
        self.add_click(area, 0, y, area.width, PanelPosition::Line(index));
        let style = if here { self.cursor() } else { style };
        if here {
            self.shade(area, y, style);
        }
        style
    }

    /// Makes part of a row clickable, as a position of the current panel.
    pub(crate) fn add_click(
        &mut self,
        area: Rect,
        x: u16,
        y: u16,
        width: u16,
        position: PanelPosition,
    ) {
        self.add_click_target(area, x, y, width, ClickTarget::Panel(self.panel, position));
    }

    /// Makes part of a row clickable.
    pub(crate) fn add_click_target(
        &mut self,
        area: Rect,
        x: u16,
        y: u16,
        width: u16,
        target: ClickTarget,
    ) {
        if x < area.width && y < area.height {
            let position =
                Rect { x: area.x + x, y: area.y + y, width: width.min(area.width - x), height: 1 };
            self.clicks.add(position, target);
        }
    }

    pub(crate) fn framed(&mut self, area: Rect, title: &str, style: Style) -> Rect {
        let area = area.intersection(self.clip);
        let block = Block::bordered().border_style(style);
        let inner = block.inner(area);
        block.render(area, self.buffer);
        let title = cut(title, area.width.saturating_sub(4));
        if !title.is_empty() {
            self.put(area, 1, 0, &format!(" {title} "), style);
        }
        inner
    }

    pub(crate) fn panel(&mut self, area: Rect, title: &str) -> Rect {
        let style = if self.has_keys { self.theme.accent } else { self.theme.dim };
        self.framed(area, &numbered(self.panel, title), style)
    }

    /// Draws the frame of a panel with a filter. If the title is too long, its end is cut, but not
    /// the filter.
    pub(crate) fn filtered_panel(&mut self, area: Rect, title: &str, filter: &Filter) -> Rect {
        // Four columns are those of the frame, and two those of the number.
        let room = area.width.saturating_sub(6);
        let suffix = cut(&filter.suffix(), room);
        self.panel(area, &(cut(title, room - width(&suffix)) + &suffix))
    }

    pub(crate) fn has_keys(&self) -> bool {
        self.has_keys
    }

    pub(crate) fn cursor(&self) -> Style {
        if self.has_keys { self.theme.cursor } else { self.theme.faint_cursor }
    }

    /// Draws lines with Braille dots. `bounds` are the ranges of x and y.
    pub(crate) fn lines(
        &mut self,
        area: Rect,
        bounds: ([f64; 2], [f64; 2]),
        lines: &[(Vec<(f64, f64)>, Style)],
    ) {
        let area = area.intersection(self.clip);
        let canvas =
            Canvas::default().marker(Marker::Braille).x_bounds(bounds.0).y_bounds(bounds.1).paint(
                |context| {
                    for (points, style) in lines {
                        for (from, to) in points.iter().zip(points.iter().skip(1)) {
                            context.draw(&Line::new(
                                from.0,
                                from.1,
                                to.0,
                                to.1,
                                style.fg.unwrap_or_default(),
                            ));
                        }
                    }
                },
            );
        canvas.render(area, self.buffer);
    }

    pub(crate) fn placeholder(&mut self, area: Rect, text: &str) {
        let style = self.theme.dim;
        let columns = area.width.saturating_sub(2);
        let lines = wrap(text, columns);
        let top = area.height.saturating_sub(lines.len() as u16) / 2;
        for (y, line) in (top..).zip(&lines) {
            self.put(area, (area.width.saturating_sub(width(line))) / 2, y, line, style);
        }
    }

    pub(crate) fn scrollbar(&mut self, area: Rect, first: usize, count: usize) {
        let height = usize::from(area.height);
        if count <= height || height < 2 || area.width == 0 {
            return;
        }
        let long = (height * height / count).max(1);
        let at = first * (height - long) / (count - height).max(1);
        // The style of the line under the cursor does not apply.
        let style = Style::reset().patch(self.theme.dim);
        for y in 0..height {
            let c = if (at..at + long).contains(&y) { '█' } else { '│' };
            self.dot(area, area.width - 1, y as u16, c, style);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_by_display_width() {
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("環環環", 4), "環…");
        assert_eq!(cut("ab", 0), "");
        assert_eq!(cut_middle("irregular:mean=512,cv=2", 12), "irregu…,cv=2");
        assert_eq!(cut_middle("環環環環環", 7), "環環…環");
    }

    #[test]
    fn texts_are_wrapped_at_spaces_and_long_words_anywhere() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("", 3), [""]);
        assert_eq!(wrap("環環", 1), ["環", "環"], "what fits nowhere is not lost");
    }

    #[test]
    fn the_cursor_is_always_visible() {
        for (cursor, count, height) in
            [(0, 5, 10), (4, 5, 3), (50, 100, 7), (99, 100, 1), (0, 0, 4)]
        {
            let first = scroll_start(cursor, count, height);
            assert!(
                first <= cursor && (count == 0 || cursor < first + height),
                "{cursor} {count} {height}"
            );
        }
    }
}
