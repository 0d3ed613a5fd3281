use super::paint::Painter;
use crate::app::{App, Panel};
use ratatui::layout::Rect;
pub(super) fn draw(painter: &mut Painter<'_, '_>, app: &App, area: Rect) {
    let _ = app;
    painter.panel(area, Panel::Curves, "Curves");
}
