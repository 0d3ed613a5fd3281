//! The traits that panels implement. Each panel is a module of [`crate::panels`] with its own
//! state, keys and drawing.

use crate::click_map::PanelPosition;
use crate::filter::Filter;
use crate::keys::{Binding, KeyRow, find};
use crate::paint::{Painter, scroll_start};
use crate::session::Session;
use crate::session::files::{OutputFile, RenderKind};
use crossterm::event::KeyEvent;
use ratatui::layout::Rect;
use std::cell::Cell;
use std::path::Path;
use swapmeet_results::analysis::Axis;
use swapmeet_runner::input::InputError;

#[derive(Debug, Clone, Default)]
pub(crate) struct List {
    pub(crate) cursor: usize,
    pub(crate) filter: Filter,
    pub(crate) page: usize,
    /// The index of the first visible line when the panel was last drawn.
    first: Cell<usize>,
}

impl List {
    /// Returns a list without a filter, with the cursor on line `cursor`.
    pub(crate) fn at(cursor: usize) -> Self {
        Self { cursor, ..Self::default() }
    }

    /// Returns the index of the first line to show. There are `count` lines, of which `height` fit.
    /// Lines stay at their places while the cursor is visible, so that a second click hits the same
    /// line. If the cursor has left the visible lines by one line, the lines scroll by one line. If
    /// it is farther away, its line is shown in the middle if possible.
    pub(crate) fn first_line(&self, count: usize, height: usize) -> usize {
        let (cursor, first) = (self.cursor.min(count.saturating_sub(1)), self.first.get());
        let first = if (first..first + height).contains(&cursor) {
            first.min(count.saturating_sub(height))
        } else if cursor + 1 == first {
            cursor
        } else if cursor == first + height && height > 0 {
            first + 1
        } else {
            scroll_start(cursor, count, height)
        };
        self.first.set(first);
        first
    }
}

/// Implements [`Panel::list`] and [`Panel::list_mut`] for a panel that has a field `list`.
macro_rules! list_in_field {
    () => {
        fn list(&self) -> &$crate::panel::List {
            &self.list
        }

        fn list_mut(&mut self) -> &mut $crate::panel::List {
            &mut self.list
        }
    };
}
pub(crate) use list_in_field;

pub(crate) fn wrap_index(at: usize, by: isize, count: usize) -> usize {
    if count == 0 { 0 } else { (at + count).saturating_add_signed(by) % count }
}

/// Returns the element after `now` in a list. The first element follows the last one.
pub(crate) fn next_of<T: Copy + PartialEq>(all: &[T], now: T) -> T {
    let at = all.iter().position(|element| *element == now).unwrap_or(0);
    all[(at + 1) % all.len()]
}

pub(crate) trait Panel {
    fn list(&self) -> &List;
    fn list_mut(&mut self) -> &mut List;
    /// Returns the number of lines that the cursor can select.
    fn lines(&self, session: &Session) -> usize;
    /// Returns the number of screen rows inside the border that the whole content of the panel
    /// needs. If two panels share an area, a panel that needs less than half of it leaves the rest
    /// to the other panel. By default, a panel uses any number of rows.
    fn wanted_rows(&self, _session: &Session) -> usize {
        usize::MAX
    }
    /// Draws the panel. Apart from drawing, this may only change state that depends on the size of
    /// the area, such as the scroll position.
    fn draw(&mut self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect);

    /// Updates the panel after the session or another panel has changed.
    fn sync(&mut self, _session: &Session) {}
    fn activated(&mut self, _session: &mut Session) {}
    fn cursor_moved(&mut self, _session: &mut Session) {}
    /// Opens the line under the cursor, after the user has clicked on this line a second time.
    fn open(&mut self, _session: &mut Session) {}
    /// Called on a click inside the panel that does not hit a line.
    fn click(&mut self, _spot: PanelPosition, _session: &mut Session) {}
    /// Handles the left and right keys, for instance by going to the previous or the next step.
    fn sideways(&mut self, _by: isize, _session: &mut Session) {}
    /// Handles Esc by closing an element that is open in the panel, such as a form. Returns whether
    /// an element was open.
    fn close(&mut self) -> bool {
        false
    }
    /// Handles Esc if no element is open. Returns whether the key had an effect.
    fn back(&mut self, _session: &mut Session) -> bool {
        false
    }
    fn reset(&mut self) {
        self.list_mut().cursor = 0;
    }
    /// Called once per frame; returns whether the panel has changed.
    fn tick(&mut self, _session: &mut Session) -> bool {
        false
    }
    /// Returns whether the panel is animated, so that it changes even if the user presses no key.
    fn is_animated(&self) -> bool {
        false
    }
    /// Returns whether the panel shows the schedule of the case in focus. If so, the session tries
    /// to simulate it.
    fn shows_schedule(&self) -> bool {
        false
    }
    /// Returns the algorithm under the cursor. By default, it is the algorithm of the case in
    /// focus.
    fn algorithm(&self, session: &Session) -> Option<String> {
        session.focused().map(|(_, row)| row.specs()[0].to_owned())
    }
    /// Returns the reason why the user cannot filter the panel; `None` if the panel can be
    /// filtered.
    fn no_filter_reason(&self) -> Option<&'static str> {
        None
    }

    fn step(&mut self, by: isize, session: &mut Session) {
        let last = self.lines(session).saturating_sub(1);
        let cursor = &mut self.list_mut().cursor;
        *cursor = cursor.saturating_add_signed(by).min(last);
        self.cursor_moved(session);
    }
    fn go_to_end(&mut self, last: bool, session: &mut Session) {
        let lines = self.lines(session);
        self.list_mut().cursor = if last { lines.saturating_sub(1) } else { 0 };
        self.cursor_moved(session);
    }
    fn clamp(&mut self, session: &Session) {
        let last = self.lines(session).saturating_sub(1);
        let cursor = &mut self.list_mut().cursor;
        *cursor = (*cursor).min(last);
    }

    /// Checks a text that the panel has requested, while the user types it.
    fn check(&self, _text: &str, _session: &Session) -> Option<InputError> {
        None
    }
    /// Accepts a text that the panel has requested.
    fn accept(&mut self, _text: &str, _session: &mut Session) -> Result<(), InputError> {
        Ok(())
    }
    /// Returns completions of a text that the panel has requested, while the user types it.
    fn completions(&self, _text: &str, _session: &Session) -> Vec<String> {
        Vec::new()
    }
    /// Returns a short and a long description of the typed text.
    fn explain(&self, _text: &str, _session: &Session) -> Option<[String; 2]> {
        None
    }

    /// Returns the kind of figure that corresponds to the content of the panel.
    fn figure(&self, _session: &Session) -> RenderKind {
        RenderKind::Curves(Axis::Block)
    }

    /// Returns an additional file that the panel writes when the session is saved under `name`.
    fn output_file(&self, _session: &Session, _name: &Path) -> Option<OutputFile> {
        None
    }
}

/// The name, the actions and the key table of a panel. The compiler warns about an action that has
/// no key, because the action is never constructed.
pub(crate) trait Keyed: Panel {
    const TAB: &'static str;
    /// The title of the panel in help and documentation.
    const TITLE: &'static str;
    type Action: Copy + 'static;
    const KEYS: &'static [Binding<Self::Action>];

    fn act(&mut self, action: Self::Action, session: &mut Session);
    /// Returns whether an action currently has no effect. The hint for such an action is hidden.
    fn is_idle(&self, _action: Self::Action, _session: &Session) -> bool {
        false
    }
}

/// A panel of any type. In contrast to [`Keyed`], this trait has no type of actions, so that panels
/// with different actions can be stored in one list.
pub(crate) trait AnyPanel: Panel {
    fn tab(&self) -> &'static str;
    fn title(&self) -> &'static str;
    /// Handles a key. Returns whether the panel has an action for this key.
    fn press(&mut self, event: &KeyEvent, session: &mut Session) -> bool;
    fn table(&self) -> Vec<KeyRow>;
    fn active_keys(&self, session: &Session) -> Vec<KeyRow>;
}

impl<P: Keyed> AnyPanel for P {
    fn tab(&self) -> &'static str {
        P::TAB
    }

    fn title(&self) -> &'static str {
        P::TITLE
    }

    fn press(&mut self, event: &KeyEvent, session: &mut Session) -> bool {
        let action = find(P::KEYS, event);
        action.map(|action| self.act(action, session)).is_some()
    }

    fn table(&self) -> Vec<KeyRow> {
        P::KEYS.iter().map(Binding::row).collect()
    }

    fn active_keys(&self, session: &Session) -> Vec<KeyRow> {
        P::KEYS
            .iter()
            .filter(|binding| !self.is_idle(binding.action, session))
            .map(Binding::row)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_in_place_while_the_cursor_is_visible() {
        let mut list = List::default();
        let mut first = |cursor| {
            list.cursor = cursor;
            list.first_line(100, 10)
        };
        assert_eq!([9, 10, 11, 5, 2, 1].map(&mut first), [0, 1, 2, 2, 2, 1]);
        assert_eq!([50, 54, 45, 99].map(&mut first), [45, 45, 45, 90]);
        assert_eq!(list.first_line(3, 10), 0);
        assert_eq!(list.first_line(0, 0), 0);
    }
}
