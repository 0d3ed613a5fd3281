//! The traits that panels implement.

use crate::click_map::PanelPosition;
use crate::filter::Filter;
use crate::keys::{Binding, Key, KeyRow, find};
use crate::paint::{Painter, scroll_start};
use crate::session::files::RenderKind;
use crate::session::{Requests, Session};
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
    first: Cell<usize>,
}

impl List {
    pub(crate) fn at(cursor: usize) -> Self {
        Self { cursor, ..Self::default() }
    }

    /// Returns the index of the first of `height` visible lines. Lines stay in place while the
    /// cursor is visible, so that a second click hits the same line.
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

pub(crate) fn next_of<T: Copy + PartialEq>(all: &[T], now: T) -> T {
    let at = all.iter().position(|element| *element == now).unwrap_or(0);
    all[(at + 1) % all.len()]
}

/// A part of a view. It changes only its own state, such as options and scroll positions, and
/// returns requests for other changes, which the session carries out.
pub(crate) trait Panel {
    fn list(&self) -> &List;
    fn list_mut(&mut self) -> &mut List;
    /// Returns the number of lines that the cursor can select.
    fn lines(&self, session: &Session) -> usize;
    /// Draws the panel. It may only change state that depends on the area, such as the scroll
    /// position.
    fn draw(&mut self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect);

    fn sync(&mut self, _session: &Session) {}
    fn go_to(&mut self, line: usize, session: &Session) -> Requests {
        self.list_mut().cursor = line.min(self.lines(session).saturating_sub(1));
        Requests::new()
    }
    fn current_line(&self, _session: &Session) -> Option<usize> {
        Some(self.list().cursor)
    }
    /// Opens the line under the cursor, on which the user has clicked again.
    fn open(&mut self, _session: &Session) -> Requests {
        Requests::new()
    }
    /// Handles a click that does not hit a line.
    fn click(&mut self, _spot: PanelPosition, _session: &Session) -> Requests {
        Requests::new()
    }
    fn sideways(&mut self, _by: isize, _session: &Session) -> Requests {
        Requests::new()
    }
    /// Closes an open element of the panel, such as a form. Returns whether there was one.
    fn close(&mut self) -> bool {
        false
    }
    /// Called once per frame; returns whether the panel has changed.
    fn tick(&mut self, _session: &Session) -> (bool, Requests) {
        (false, Requests::new())
    }
    fn is_animated(&self) -> bool {
        false
    }
    /// Returns whether the panel shows the schedule of the selected case, which is then simulated.
    fn shows_schedule(&self) -> bool {
        false
    }
    /// Returns the algorithm under the cursor.
    fn algorithm(&self, session: &Session) -> Option<String> {
        session.selected_row().map(|(_, row)| row.specs()[0].to_owned())
    }
    fn has_filter(&self) -> bool {
        true
    }

    /// Returns the options that the next session restores.
    fn state(&self) -> String {
        String::new()
    }
    /// Restores options, which may be those of another version.
    fn restore(&mut self, _state: &str) {}

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

    fn check(&self, _text: &str, _session: &Session) -> Option<InputError> {
        None
    }
    fn accept(&mut self, _text: &str, _session: &Session) -> Result<Requests, InputError> {
        Ok(Requests::new())
    }
    fn completions(&self, _text: &str, _session: &Session) -> Vec<String> {
        Vec::new()
    }
    fn explain(&self, _text: &str, _session: &Session) -> Option<[String; 2]> {
        None
    }

    /// Returns the figure that `F` writes: its kind, and the groups whose rows it shows. `None`
    /// means that the panel is written as it is on the screen.
    fn figure(&self, _session: &Session) -> Option<(RenderKind, Vec<usize>)> {
        None
    }
}

/// The title, the actions and the key table of a panel. The compiler warns about an action without
/// a key.
pub(crate) trait Keyed: Panel {
    const TITLE: &'static str;
    type Action: Copy + Debug + 'static;
    const KEYS: &'static [Binding<Self::Action>];

    fn act(&mut self, action: Self::Action, session: &Session) -> Requests;
    fn is_idle(&self, _action: Self::Action, _session: &Session) -> bool {
        false
    }
}

/// A panel with any type of actions.
pub(crate) trait AnyPanel: Panel {
    fn title(&self) -> &'static str;
    /// Handles a key; `None` if the panel has no action for it.
    fn press(&mut self, key: Key, session: &Session) -> Option<Requests>;
    fn table(&self) -> Vec<KeyRow>;
    /// Returns the names of the actions that currently have an effect.
    fn active_keys(&self, session: &Session) -> Vec<String>;
}

impl<P: Keyed> AnyPanel for P {
    fn title(&self) -> &'static str {
        P::TITLE
    }

    fn press(&mut self, key: Key, session: &Session) -> Option<Requests> {
        find(P::KEYS, key).map(|action| self.act(action, session))
    }

    fn table(&self) -> Vec<KeyRow> {
        P::KEYS.iter().map(Binding::row).collect()
    }

    fn active_keys(&self, session: &Session) -> Vec<String> {
        let active = P::KEYS.iter().filter(|binding| !self.is_idle(binding.action, session));
        active.map(|binding| binding.row().name).collect()
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
