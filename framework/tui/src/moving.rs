//! Cursors: from panel to panel, from line to line, from case to case.

use crate::app::App;
use crate::facts;
use crate::model::comparison::Column;
use crate::model::frames::Recording;
use crate::model::lattice::Lattice;
use crate::model::picks::Section;
use crate::model::queue::Row;
use crate::ui::Panel;

impl App {
    /// Gives a panel the keys.
    pub(crate) fn show(&mut self, panel: Panel) {
        self.ui.panel = panel;
        if !matches!(panel, Panel::Explore | Panel::Cases | Panel::Comparison) {
            self.ui.companion = panel;
        }
        self.clamp();
        if panel == Panel::Comparison && !self.find_line() {
            self.look();
        }
        self.want_recording();
    }

    /// The comparison's cursor goes to the line of the case that was looked at last; false if none has it.
    fn find_line(&mut self) -> bool {
        let looked_at = self.focus.and_then(|at| self.queue.rows().get(at)).and_then(Row::record);
        let Some(record) = looked_at else { return false };
        let lines = self.lines();
        let found = lines.iter().position(|line| line.is_of(record));
        if let Some(at) = found {
            self.ui.cursors[Panel::Comparison as usize] = at;
        }
        found.is_some()
    }

    /// Cursors stay within what there is, and what is under them by now is looked at.
    pub(crate) fn rearranged(&mut self) {
        self.clamp();
        self.look();
    }

    /// Gives the panel so many further on the keys.
    pub(crate) fn go_to_panel_by(&mut self, by: usize) {
        let next = (self.ui.panel as usize + by) % Panel::ALL.len();
        self.show(Panel::ALL[next]);
    }

    /// Opens a list of the pickers. The words that narrowed another one down mean nothing there.
    pub(crate) fn open_section(&mut self, section: usize) {
        let section = section.min(Section::ALL.len() - 1);
        if section != self.ui.section {
            self.ui.section = section;
            self.ui.filters[Panel::Explore as usize].clear();
        }
        self.clamp();
    }

    /// How many lines a panel's cursor can be on.
    fn lines_of(&self, panel: Panel) -> usize {
        match panel {
            Panel::Explore => self.items(self.section()).len(),
            Panel::Cases => self.case_rows().len(),
            Panel::Comparison => self.lines().len(),
            Panel::Parts => self.compared.groups.len(),
            Panel::Curves => {
                self.families.get(self.ui.family).map_or(0, |f| f.only(self.filter(panel)).crossovers.len())
            }
            Panel::Network => self.queue.rows().len(),
            Panel::Details => facts::entries(self).len(),
            Panel::Log => self.log_lines().len(),
        }
    }

    fn cursor(&mut self) -> Option<&mut usize> {
        Some(match self.ui.panel {
            Panel::Explore => &mut self.ui.items[self.ui.section.min(Section::ALL.len() - 1)],
            Panel::Cases | Panel::Comparison | Panel::Details | Panel::Log | Panel::Curves => {
                &mut self.ui.cursors[self.ui.panel as usize]
            }
            Panel::Parts => &mut self.ui.group,
            Panel::Network => return None,
        })
    }

    /// Cursors stay within what there is.
    pub(crate) fn clamp(&mut self) {
        self.ui.family = self.ui.family.min(self.families.len().saturating_sub(1));
        let last = self.lines_of(self.ui.panel).saturating_sub(1);
        if let Some(cursor) = self.cursor() {
            *cursor = (*cursor).min(last);
        }
    }

    /// Moves the cursor by lines; in the pickers from list to list, too.
    pub(crate) fn step_by(&mut self, by: isize) {
        if self.ui.panel == Panel::Network {
            return self.focus_by(by.signum());
        }
        let lines = self.lines_of(self.ui.panel);
        let Some(cursor) = self.cursor() else { return };
        let (at, next) = (*cursor, cursor.saturating_add_signed(by).min(lines.saturating_sub(1)));
        *cursor = next;
        if self.ui.panel == Panel::Explore && at == next && by.abs() == 1 {
            let sections = Section::ALL.len();
            if by > 0 && self.ui.section + 1 < sections {
                self.open_section(self.ui.section + 1);
                self.ui.items[self.ui.section] = 0;
            } else if by < 0 && self.ui.section > 0 {
                self.open_section(self.ui.section - 1);
                self.ui.items[self.ui.section] = self.lines_of(Panel::Explore).saturating_sub(1);
            }
        }
        self.look();
    }

    /// To the first or the last line; in the network, step.
    pub(crate) fn go_to_end(&mut self, last: bool) {
        if self.ui.panel == Panel::Network {
            let steps = self.recording.as_ref().map_or(0, Recording::steps);
            return self.go_to_step(if last { steps.saturating_sub(1) } else { 0 });
        }
        let lines = self.lines_of(self.ui.panel);
        if let Some(cursor) = self.cursor() {
            *cursor = if last { lines.saturating_sub(1) } else { 0 };
        }
        self.look();
    }

    /// One to the left or right: what that is depends on the panel.
    pub(crate) fn sideways(&mut self, by: isize) {
        match self.ui.panel {
            Panel::Explore => {
                self.open_section(self.ui.section.saturating_add_signed(by));
            }
            Panel::Network => {
                self.ui.player.plays = false;
                self.go_to_step(self.ui.player.step.saturating_add_signed(by));
            }
            Panel::Details => self.focus_by(by),
            Panel::Comparison => {
                // From what was proved on: what tells lines apart stays.
                let figures = Column::ALL.iter().skip_while(|c| **c != Column::Verified).count();
                self.ui.across = self.ui.across.saturating_add_signed(by).min(figures - 1);
            }
            Panel::Curves | Panel::Parts => self.next_group(by > 0),
            _ => {}
        }
    }

    /// The case under the cursor is the one that details and network are about.
    pub(crate) fn look(&mut self) {
        let found = match self.ui.panel {
            Panel::Cases => self.case_rows().get(self.ui.cursors[Panel::Cases as usize]).map(|(index, _)| *index),
            Panel::Comparison => {
                let Some((group, found)) = self.line_here() else { return };
                // Bars and curves are those of the line's group.
                self.ui.group = group;
                if let Some(family) = self.families.iter().position(|f| f.groups.contains(&group)) {
                    self.ui.family = family;
                }
                found
            }
            _ => return,
        };
        if let Some(index) = found {
            self.focus = Some(index);
            self.follow();
        }
        self.want_recording();
    }

    /// The group of the comparison's line under the cursor, and the place in the queue of one of its rows.
    fn line_here(&self) -> Option<(usize, Option<usize>)> {
        let lines = self.lines();
        let line = lines.get(self.ui.cursors[Panel::Comparison as usize])?;
        let is = |row: &Row| row.record().is_some_and(|r| *r == line.sample);
        Some((line.group, self.queue.rows().iter().position(is)))
    }

    fn focus_by(&mut self, by: isize) {
        let rows = self.queue.rows().len();
        let at = self.focused().map_or(0, |(index, _)| index);
        self.focus = (rows > 0).then(|| at.saturating_add_signed(by).min(rows - 1));
        self.ui.cursors[Panel::Details as usize] = 0;
        self.follow();
        self.want_recording();
    }

    /// The queue's cursor goes to the case in focus, if the filter shows it.
    fn follow(&mut self) {
        if let Some(at) = self.case_rows().iter().position(|(index, _)| self.focus == Some(*index)) {
            self.ui.cursors[Panel::Cases as usize] = at;
        }
    }

    /// How many planes the network has, as they are turned.
    pub(crate) fn planes(&self) -> usize {
        let player = self.ui.player;
        let lattice =
            self.recording.as_ref().and_then(|r| Lattice::of(r.topology.as_ref(), player.plane, player.turned));
        lattice.map_or(1, |lattice| lattice.planes as usize)
    }

    /// Turns the planes of three dimensions to the next pair of them.
    pub(crate) fn turn(&mut self) {
        let dimensions = self.recording.as_ref().map_or(0, |r| r.topology.radices().len());
        if dimensions != 3 || self.planes() == 0 {
            return self.tell("only the planes of three dimensions can be turned", false);
        }
        (self.ui.player.plane, self.ui.player.turned) = (0, (self.ui.player.turned + 1) % 3);
    }

    /// The next group of bars, family of curves or plane of nodes, or the one before; round and round.
    pub(crate) fn next_group(&mut self, forward: bool) {
        let step = |at: usize, count: usize| match (forward, count) {
            (_, 0) => 0,
            (true, _) => (at + 1) % count,
            (false, _) => (at + count - 1) % count,
        };
        match self.ui.panel {
            Panel::Curves => {
                self.ui.family = step(self.ui.family.min(self.families.len()), self.families.len());
                self.ui.cursors[Panel::Curves as usize] = 0;
            }
            Panel::Parts => self.ui.group = step(self.ui.group, self.compared.groups.len()),
            _ => {
                let planes = self.planes();
                self.ui.player.plane = step(self.ui.player.plane.min(planes - 1), planes);
            }
        }
    }
}
