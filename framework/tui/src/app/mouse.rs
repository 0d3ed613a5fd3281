//! What the mouse does: a click selects what it hits, a second click opens it, the wheel scrolls.

use super::App;
use crate::hits::{Hits, Spot, Target};
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

/// Lines that a notch of the wheel moves.
const NOTCH: isize = 3;

impl App {
    /// Takes what the mouse did; `hits` is what was drawn last.
    pub fn mouse(&mut self, event: &MouseEvent, hits: &Hits) {
        let Some(target) = hits.at(event.column, event.row) else { return };
        match event.kind {
            MouseEventKind::Down(MouseButton::Left) => self.click(target),
            MouseEventKind::ScrollUp => self.wheel(target, -NOTCH),
            MouseEventKind::ScrollDown => self.wheel(target, NOTCH),
            _ => {}
        }
        self.settle();
    }

    fn click(&mut self, target: Target) {
        if self.asked.is_some() || self.help.is_some() {
            (self.asked, self.help) = (None, None);
            return;
        }
        if self.prompt.is_some() {
            return;
        }
        match target {
            Target::Key(key) => self.key(&key.event()),
            Target::Panel(panel, spot) => {
                let again =
                    self.active == panel && spot == Spot::Line(self.panels[panel].list().cursor);
                self.show(panel);
                let (panel, session) = (&mut self.panels[panel], &mut self.session);
                match spot {
                    Spot::Line(line) => {
                        panel.list_mut().cursor = line;
                        panel.clamp(session);
                        panel.look(session);
                        if again {
                            panel.open(session);
                        }
                    }
                    Spot::Anywhere | Spot::Heading(_) | Spot::Mark(_) => panel.click(spot, session),
                }
            }
        }
    }

    fn wheel(&mut self, target: Target, by: isize) {
        if let Some(help) = &mut self.help {
            help.scrolled = help.scrolled.saturating_add_signed(by);
        } else if let (Target::Panel(panel, _), None) = (target, &self.prompt) {
            self.show(panel);
            self.panels[panel].step(by, &mut self.session);
        }
    }
}
