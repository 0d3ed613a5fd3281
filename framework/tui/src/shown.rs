//! What panels show of the session: the lines that filters leave, the line under the cursor, the case in focus.

use crate::app::{App, LogLine};
use crate::model::Words;
use crate::model::comparison::Line;
use crate::model::picks::{Item, Section};
use crate::model::queue::{Row, State};
use crate::ui::Panel;

impl App {
    /// The filter of a panel.
    pub fn filter(&self, panel: Panel) -> &str {
        &self.ui.filters[panel as usize]
    }

    /// The queue's rows that a filter leaves, with their places.
    pub fn case_rows(&self) -> Vec<(usize, &Row)> {
        let words = Words::of(self.filter(Panel::Cases));
        self.queue.rows().iter().enumerate().filter(|(_, row)| row.has(&words)).collect()
    }

    /// The comparison's lines as shown.
    pub fn lines(&self) -> Vec<&Line> {
        self.compared.sorted(self.ui.sort, self.ui.reverse, self.filter(Panel::Comparison))
    }

    /// The log's lines that a filter leaves.
    pub fn log_lines(&self) -> Vec<&LogLine> {
        let words = Words::of(self.filter(Panel::Log));
        self.log.iter().filter(|line| words.are_in(&line.text)).collect()
    }

    /// The open list of the pickers.
    pub fn section(&self) -> Section {
        Section::ALL[self.ui.section.min(Section::ALL.len() - 1)]
    }

    /// Its lines.
    pub fn items(&self, section: Section) -> Vec<Item<'_>> {
        self.picks.items(section, self.filter(Panel::Explore))
    }

    /// The line under the cursor.
    pub fn item(&self) -> Option<Item<'_>> {
        let section = self.section();
        self.items(section).get(self.ui.items[section as usize]).copied()
    }

    /// The case that details and network are about: the one last looked at, or the first that has a row.
    pub fn focused(&self) -> Option<(usize, &Row)> {
        let rows = self.queue.rows();
        let index = self.focus.filter(|i| *i < rows.len());
        let index = index.or_else(|| rows.iter().position(|r| matches!(r.state, State::Done(_))))?;
        Some((index, &rows[index]))
    }
}
