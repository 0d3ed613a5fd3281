//! What a part of the screen is: one file, or folder, of [`crate::panels`] each, with its own
//! state, keys, lines and drawing.

use crate::filter::Filter;
use crate::hits::Spot;
use crate::keys::{Binding, Row, find};
use crate::paint::Painter;
use crate::session::Session;
use crate::session::files::{Saved, SheetKind};
use crossterm::event::KeyEvent;
use ratatui::layout::Rect;
use std::path::Path;
use swapmeet_results::analysis::Axis;
use swapmeet_runner::input::InputError;

/// Where the cursor is among the lines of a panel, and what narrows them down.
#[derive(Debug, Clone, Default)]
pub(crate) struct List {
    pub(crate) cursor: usize,
    pub(crate) filter: Filter,
    /// Lines that have room, as last drawn.
    pub(crate) page: usize,
}

/// So many places on from a place, round and round.
pub(crate) fn around(at: usize, by: isize, count: usize) -> usize {
    if count == 0 { 0 } else { (at + count).saturating_add_signed(by) % count }
}

/// A part of the screen.
pub(crate) trait Panel {
    fn list(&self) -> &List;
    fn list_mut(&mut self) -> &mut List;
    /// How many lines the cursor can be on.
    fn lines(&self, session: &Session) -> usize;
    /// Draws it. That changes nothing but what depends on how much room there is.
    fn draw(&mut self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect);

    /// Something happened to the session, or to another panel: what it shows goes along.
    fn follow(&mut self, _session: &Session) {}
    /// It is given the keys.
    fn enter(&mut self, _session: &mut Session) {}
    /// Another line is under the cursor.
    fn look(&mut self, _session: &mut Session) {}
    /// A second click on the line under the cursor.
    fn open(&mut self, _session: &mut Session) {}
    /// A click on anything but a line.
    fn click(&mut self, _spot: Spot, _session: &mut Session) {}
    /// One to the left or right.
    fn sideways(&mut self, _by: isize, _session: &mut Session) {}
    /// Esc, where it has something open; false if it has nothing.
    fn close(&mut self) -> bool {
        false
    }
    /// Esc, where nothing is open; false if that means nothing here.
    fn back(&mut self, _session: &mut Session) -> bool {
        false
    }
    /// All rows are gone.
    fn forget(&mut self) {
        self.list_mut().cursor = 0;
    }
    /// Time goes on; true if that changed what is shown.
    fn tick(&mut self, _session: &mut Session) -> bool {
        false
    }
    /// Whether it moves by itself.
    fn moves(&self) -> bool {
        false
    }
    /// Whether it shows the schedule of the case in focus.
    fn shows_schedule(&self) -> bool {
        false
    }
    /// The algorithm that it is about.
    fn algorithm(&self, session: &Session) -> Option<String> {
        session.focused().map(|(_, row)| row.specs()[0].to_owned())
    }
    /// Why it has nothing to filter.
    fn unfiltered(&self) -> Option<&'static str> {
        None
    }

    /// Moves the cursor by lines.
    fn step(&mut self, by: isize, session: &mut Session) {
        let last = self.lines(session).saturating_sub(1);
        let cursor = &mut self.list_mut().cursor;
        *cursor = cursor.saturating_add_signed(by).min(last);
        self.look(session);
    }
    /// To the first line, or the last.
    fn go_to_end(&mut self, last: bool, session: &mut Session) {
        let lines = self.lines(session);
        self.list_mut().cursor = if last { lines.saturating_sub(1) } else { 0 };
        self.look(session);
    }
    /// The cursor stays within what there is.
    fn clamp(&mut self, session: &Session) {
        let last = self.lines(session).saturating_sub(1);
        let cursor = &mut self.list_mut().cursor;
        *cursor = (*cursor).min(last);
    }

    /// What is wrong with a text that it asked for, as far as it has been typed.
    fn check(&self, _text: &str, _session: &Session) -> Option<InputError> {
        None
    }
    /// Takes the text that it asked for.
    fn accept(&mut self, _text: &str, _session: &mut Session) -> Result<(), InputError> {
        Ok(())
    }
    /// What the text it asked for could become.
    fn completions(&self, _text: &str, _session: &Session) -> Vec<String> {
        Vec::new()
    }
    /// What there is to say of the text it asked for: in short, and in full.
    fn explain(&self, _text: &str, _session: &Session) -> Option<[String; 2]> {
        None
    }

    /// The figure that shows what it shows.
    fn figure(&self, _session: &Session) -> SheetKind {
        SheetKind::Curves(Axis::Block)
    }

    /// What it adds to a session that is saved under a name.
    fn saves(&self, _session: &Session, _name: &Path) -> Option<Saved> {
        None
    }
}

/// The names of a panel and its keys: an enum of its actions, and the table of what asks for them.
/// An action that no key asks for is one that the compiler says is never constructed.
pub(crate) trait Keyed: Panel {
    const TAB: &'static str;
    /// In help and documentation.
    const TITLE: &'static str;
    type Action: Copy + 'static;
    const KEYS: &'static [Binding<Self::Action>];

    fn act(&mut self, action: Self::Action, session: &mut Session);
    /// Whether an action would do nothing now: nobody needs a word for its key.
    fn is_idle(&self, _action: Self::Action, _session: &Session) -> bool {
        false
    }
}

/// A panel, whatever its actions.
pub(crate) trait AnyPanel: Panel {
    fn tab(&self) -> &'static str;
    fn title(&self) -> &'static str;
    /// Does what a key asks for; false if it means nothing here.
    fn press(&mut self, event: &KeyEvent, session: &mut Session) -> bool;
    fn table(&self) -> Vec<Row>;
    /// The rows of its table that do something now.
    fn useful(&self, session: &Session) -> Vec<Row>;
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

    fn table(&self) -> Vec<Row> {
        P::KEYS.iter().map(Binding::row).collect()
    }

    fn useful(&self, session: &Session) -> Vec<Row> {
        P::KEYS
            .iter()
            .filter(|binding| !self.is_idle(binding.action, session))
            .map(Binding::row)
            .collect()
    }
}
