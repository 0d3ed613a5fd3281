//! What the mouse does: a click selects what it hits, a second click opens it, the wheel scrolls.

use crate::app::App;
use crate::keys::Action;
use crate::model::comparison::Column;
use crate::ui::Panel;
use crate::view::{Hits, Target};
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
    }

    fn click(&mut self, target: Target) {
        if self.ui.asked.is_some() || self.ui.help.is_some() {
            return self.act(Action::Back);
        }
        if self.ui.typing.is_some() {
            return;
        }
        match target {
            Target::Panel(panel) => self.show(panel),
            Target::Row(panel, index) => {
                let again = self.ui.panel == panel && self.ui.cursors[panel as usize] == index;
                self.show(panel);
                self.ui.cursors[panel as usize] = index;
                self.clamp();
                self.look();
                if again && matches!(panel, Panel::Cases | Panel::Comparison) {
                    self.act(Action::Open);
                }
            }
            Target::Section(section) => {
                self.show(Panel::Explore);
                self.open_section(section);
            }
            Target::Item(section, index) => {
                let again = self.ui.section == section && self.ui.items.get(section) == Some(&index);
                let here = self.ui.panel == Panel::Explore;
                self.show(Panel::Explore);
                self.open_section(section);
                if let Some(item) = self.ui.items.get_mut(section) {
                    *item = index;
                }
                self.clamp();
                if again && here {
                    self.act(Action::Pick);
                }
            }
            Target::Header(column) => self.sort_by(column),
            Target::Step(step) => {
                self.show(Panel::Network);
                self.go_to_step(step);
            }
            Target::Hint(action) => self.act(action),
        }
    }

    /// Sorts by a column; by the same again, the other way round.
    fn sort_by(&mut self, column: Column) {
        self.show(Panel::Comparison);
        if self.ui.sort == Some(column) {
            self.ui.reverse = !self.ui.reverse;
        } else {
            (self.ui.sort, self.ui.reverse) = (Some(column), false);
        }
        self.rearranged();
    }

    fn wheel(&mut self, target: Target, by: isize) {
        if self.ui.help.is_some() {
            for _ in 0..by.unsigned_abs() {
                self.act(if by > 0 { Action::Down } else { Action::Up });
            }
            return;
        }
        if self.ui.typing.is_some() {
            return;
        }
        match target {
            Target::Panel(panel) | Target::Row(panel, _) => self.show(panel),
            Target::Section(_) | Target::Item(..) => self.show(Panel::Explore),
            Target::Header(_) => self.show(Panel::Comparison),
            Target::Step(_) => self.show(Panel::Network),
            Target::Hint(_) => return,
        }
        self.step_by(by);
    }
}
