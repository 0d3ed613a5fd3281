//! Mouse handling. A click selects a line, a second click on the same line opens it, and the wheel
//! scrolls.

use super::App;
use crate::click_map::{ClickMap, ClickTarget, PanelPosition};
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

/// The number of lines by which one notch of the wheel scrolls.
const WHEEL_LINES: isize = 3;

impl App {
    /// Handles a mouse event. `clicks` contains the clickable areas of the last frame.
    pub fn mouse(&mut self, event: &MouseEvent, clicks: &ClickMap) {
        let Some(target) = clicks.at(event.column, event.row) else { return };
        match event.kind {
            MouseEventKind::Down(MouseButton::Left) => self.click(target),
            MouseEventKind::ScrollUp => self.wheel(target, -WHEEL_LINES),
            MouseEventKind::ScrollDown => self.wheel(target, WHEEL_LINES),
            _ => {}
        }
        self.sync();
    }

    fn click(&mut self, target: ClickTarget) {
        if self.question.is_some() || self.help.is_some() {
            (self.question, self.help) = (None, None);
            return;
        }
        if self.prompt.is_some() {
            return;
        }
        match target {
            ClickTarget::Key(key) => self.key(&key.event()),
            ClickTarget::Panel(panel, position) => {
                let again = self.active == panel
                    && position == PanelPosition::Line(self.panels[panel].list().cursor);
                self.show(panel);
                let (panel, session) = (&mut self.panels[panel], &mut self.session);
                match position {
                    PanelPosition::Line(line) => {
                        panel.list_mut().cursor = line;
                        panel.clamp(session);
                        panel.cursor_moved(session);
                        if again {
                            panel.open(session);
                        }
                    }
                    PanelPosition::Anywhere
                    | PanelPosition::Heading(_)
                    | PanelPosition::Mark(_) => panel.click(position, session),
                }
            }
        }
    }

    fn wheel(&mut self, target: ClickTarget, by: isize) {
        if let Some(help) = &mut self.help {
            help.scrolled = help.scrolled.saturating_add_signed(by);
        } else if let (ClickTarget::Panel(panel, _), None) = (target, &self.prompt) {
            self.show(panel);
            self.panels[panel].step(by, &mut self.session);
        }
    }
}
