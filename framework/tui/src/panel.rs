//! The traits that panels implement. Each panel is a module of [`crate::panels`] with its own
//! state, keys and drawing.

use crate::click_map::PanelPosition;
use crate::filter::Filter;
use crate::keys::{Binding, KeyRow, find};
use crate::paint::{Painter, scroll_start};
use crate::session::files::RenderKind;
use crate::session::{Requests, Session};
use crossterm::event::KeyEvent;
use ratatui::layout::Rect;
use std::cell::Cell;
use std::fmt::Debug;
use swapmeet_runner::input::InputError;

/// The text of a panel whose filter leaves out all lines.
pub(crate) const NO_MATCH: &str = "No line matches the filter. Esc shows all.";

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

/// A part of a view. Apart from its own state, such as options and scroll positions, a panel changes
/// nothing: it returns requests, and the session carries them out.
pub(crate) trait Panel {
    fn list(&self) -> &List;
    fn list_mut(&mut self) -> &mut List;
    /// Returns the number of lines that the cursor can select.
    fn lines(&self, session: &Session) -> usize;
    /// Draws the panel. Apart from drawing, this may only change state that depends on the size of
    /// the area, such as the scroll position.
    fn draw(&mut self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect);

    /// Updates the panel after the session or another panel has changed.
    fn sync(&mut self, _session: &Session) {}
    /// Moves the cursor to a line.
    fn go_to(&mut self, line: usize, session: &Session) -> Requests {
        self.list_mut().cursor = line.min(self.lines(session).saturating_sub(1));
        Requests::new()
    }
    /// Returns the line under the cursor, if there is one.
    fn current_line(&self, _session: &Session) -> Option<usize> {
        Some(self.list().cursor)
    }
    /// Opens the line under the cursor, after the user has clicked on this line a second time.
    fn open(&mut self, _session: &Session) -> Requests {
        Requests::new()
    }
    /// Called on a click inside the panel that does not hit a line.
    fn click(&mut self, _spot: PanelPosition, _session: &Session) -> Requests {
        Requests::new()
    }
    /// Handles the left and right keys, for instance by going to the previous or the next step.
    fn sideways(&mut self, _by: isize, _session: &Session) -> Requests {
        Requests::new()
    }
    /// Handles Esc by closing an element that is open in the panel, such as a form. Returns whether
    /// an element was open.
    fn close(&mut self) -> bool {
        false
    }
    /// Called once per frame; returns whether the panel has changed.
    fn tick(&mut self, _session: &Session) -> (bool, Requests) {
        (false, Requests::new())
    }
    /// Returns whether the panel is animated, so that it changes even if the user presses no key.
    fn is_animated(&self) -> bool {
        false
    }
    /// Returns whether the panel shows the schedule of the selected case. If so, the session tries
    /// to simulate it.
    fn shows_schedule(&self) -> bool {
        false
    }
    /// Returns the algorithm under the cursor. By default, it is the algorithm of the selected
    /// case.
    fn algorithm(&self, session: &Session) -> Option<String> {
        session.selected_row().map(|(_, row)| row.specs()[0].to_owned())
    }
    /// Returns whether the panel has lines, curves or bars that a filter can leave out.
    fn has_filter(&self) -> bool {
        true
    }

    /// Returns the options of the panel that the next session restores.
    fn state(&self) -> String {
        String::new()
    }
    /// Restores options that [`Panel::state`] has returned, perhaps in another version.
    fn restore(&mut self, _state: &str) {}

    /// Shows one of the pictures of the panel, given by its number.
    fn show_picture(&mut self, _number: usize) {}

    fn step(&mut self, by: isize, session: &Session) -> Requests {
        let line = self.list().cursor.saturating_add_signed(by);
        self.go_to(line, session)
    }
    fn go_to_end(&mut self, last: bool, session: &Session) -> Requests {
        let lines = self.lines(session);
        self.go_to(if last { lines.saturating_sub(1) } else { 0 }, session)
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
    fn accept(&mut self, _text: &str, _session: &Session) -> Result<Requests, InputError> {
        Ok(Requests::new())
    }
    /// Returns completions of a text that the panel has requested, while the user types it.
    fn completions(&self, _text: &str, _session: &Session) -> Vec<String> {
        Vec::new()
    }
    /// Returns a short and a long description of the typed text.
    fn explain(&self, _text: &str, _session: &Session) -> Option<[String; 2]> {
        None
    }

    /// Returns the figure that `F` writes: the kind, and the groups whose rows it shows. `None`
    /// means that the panel has no figure of its own, so that its screen is written.
    fn figure(&self, _session: &Session) -> Option<(RenderKind, Vec<usize>)> {
        None
    }
}

/// The name, the actions and the key table of a panel. The compiler warns about an action that has
/// no key, because the action is never constructed.
pub(crate) trait Keyed: Panel {
    /// The name of the panel in help and documentation.
    const TITLE: &'static str;
    type Action: Copy + Debug + 'static;
    const KEYS: &'static [Binding<Self::Action>];

    fn act(&mut self, action: Self::Action, session: &Session) -> Requests;
    /// Returns whether an action currently has no effect. The hint for such an action is hidden.
    fn is_idle(&self, _action: Self::Action, _session: &Session) -> bool {
        false
    }
}

/// A panel of any type. In contrast to [`Keyed`], this trait has no type of actions, so that panels
/// with different actions can be stored in one list.
pub(crate) trait AnyPanel: Panel {
    fn title(&self) -> &'static str;
    /// Handles a key. Returns `None` if the panel has no action for this key.
    fn press(&mut self, event: &KeyEvent, session: &Session) -> Option<Requests>;
    fn table(&self) -> Vec<KeyRow>;
    fn active_keys(&self, session: &Session) -> Vec<KeyRow>;
}

impl<P: Keyed> AnyPanel for P {
    fn title(&self) -> &'static str {
        P::TITLE
    }

    fn press(&mut self, event: &KeyEvent, session: &Session) -> Option<Requests> {
        find(P::KEYS, event).map(|action| self.act(action, session))
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
