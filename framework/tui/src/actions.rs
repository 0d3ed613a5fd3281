//! What actions do to the session.

use crate::app::{App, Leave, Panel, Scale, Shown, Wish};
use crate::keys::{Action, Scope, action};
use crate::model::comparison::Column;
use crate::model::frames::Recording;
use crate::model::picks::{Item, Section};
use crate::model::queue::{Row, key};
use crate::typing::Purpose;
use crate::view::details;
use crossterm::event::{KeyEvent, KeyEventKind};
use std::time::Duration;

impl App {
    /// Where keys are looked up now.
    pub fn scope(&self) -> Scope {
        if self.ui.typing.is_some() {
            return Scope::Typing;
        }
        match self.ui.panel {
            Panel::Explore => Scope::Explore,
            Panel::Cases => Scope::Cases,
            Panel::Comparison => Scope::Comparison,
            Panel::Curves | Panel::Parts => Scope::Charts,
            Panel::Network => Scope::Network,
            Panel::Details | Panel::Log => Scope::Anywhere,
        }
    }

    /// Takes a key.
    pub fn key(&mut self, event: &KeyEvent) {
        if event.kind == KeyEventKind::Release {
            return;
        }
        if self.ui.typing.is_some() {
            return self.type_key(event);
        }
        if let Some(action) = action(self.scope(), event) {
            self.act(action);
        } else if self.ui.help.is_some() || self.ui.confirm_quit {
            self.act(Action::Back);
        }
    }

    /// Does what was asked for.
    pub fn act(&mut self, action: Action) {
        if std::mem::take(&mut self.ui.confirm_quit) {
            return match action {
                Action::Quit | Action::QuitNow => self.leave = Some(Leave::Plainly),
                Action::QuitLeaving => self.leave = Some(Leave::WithRows),
                _ => {}
            };
        }
        if self.ui.help.is_some() && self.act_on_help(action) {
            return;
        }
        if !matches!(action, Action::Freeze) {
            self.ui.message = None;
        }
        match action {
            Action::Quit if self.queue.is_busy() => self.ui.confirm_quit = true,
            Action::Quit | Action::QuitNow => self.leave = Some(Leave::Plainly),
            Action::QuitLeaving => self.leave = Some(Leave::WithRows),
            Action::Help => self.ui.help = Some(0),
            Action::Back => self.back(),
            Action::Up => self.step_by(-1),
            Action::Down => self.step_by(1),
            Action::PageUp => self.step_by(-(self.ui.page.max(2) as isize - 1)),
            Action::PageDown => self.step_by(self.ui.page.max(2) as isize - 1),
            Action::First => self.go_to_end(false),
            Action::Last => self.go_to_end(true),
            Action::Left => self.sideways(-1),
            Action::Right => self.sideways(1),
            Action::NextPanel => self.go_to_panel_by(1),
            Action::PreviousPanel => self.go_to_panel_by(Panel::ALL.len() - 1),
            Action::Show(number) => {
                if let Some(panel) = Panel::ALL.get(usize::from(number).wrapping_sub(1)) {
                    self.show(*panel);
                }
            }
            Action::Expand => self.ui.expanded = !self.ui.expanded,
            Action::Filter => match self.ui.panel {
                Panel::Explore | Panel::Cases | Panel::Comparison | Panel::Log => {
                    let text = self.filter(self.ui.panel).to_owned();
                    self.type_in(Purpose::Filter(self.ui.panel), &text);
                }
                _ => self.tell("this panel has no lines to filter", false),
            },
            Action::Freeze if self.ui.frozen => self.thaw(),
            Action::Freeze => self.ui.frozen = true,
            Action::Run => self.run(),
            Action::Add => self.add(),
            Action::Stop => self.stop(),
            Action::Baseline => self.mark_baseline(),
            Action::Save => {
                let name: String = self.picks.setting(crate::model::picks::Setting::Name);
                let file = name.replace(|c: char| !c.is_alphanumeric() && !"-_.".contains(c), "-");
                self.type_in(Purpose::SaveAs(false), &format!("{file}.toml"));
            }
            Action::Theme => {
                self.ui.theme = self.ui.theme.next();
                self.tell(&format!("theme: {}", self.ui.theme.name), false);
            }
            Action::Redraw => self.wish = Some(Wish::Redraw),
            Action::Suspend => self.wish = Some(Wish::Suspend),
            Action::Open => self.show(Panel::Details),
            Action::Sort => self.sort_by_next(),
            Action::Reverse => {
                self.ui.sort.get_or_insert(Column::Time);
                self.ui.reverse = !self.ui.reverse;
            }
            Action::Pick => self.pick(),
            Action::Edit => self.edit(),
            Action::Type => {
                let section = self.section();
                if section == Section::Settings { self.edit() } else { self.type_in(Purpose::Spec(section, None), "") }
            }
            Action::Remove => {
                if let Some(Item::Pick(index, _)) = self.item() {
                    self.picks.remove(self.section(), index);
                    self.clamp();
                }
            }
            Action::View => self.next_view(),
            Action::PreviousGroup => self.next_group(false),
            Action::NextGroup => self.next_group(true),
            Action::Play => self.toggle_play(),
            Action::Faster => self.ui.player.speed = (self.ui.player.speed * 2.0).min(64.0),
            Action::Slower => self.ui.player.speed = (self.ui.player.speed / 2.0).max(0.25),
            Action::Record => self.record_from(self.ui.player.step),
            // Typing has its own way with these.
            Action::Accept | Action::Cancel | Action::Complete => {}
        }
    }

    /// Help scrolls and closes; true if that was all.
    fn act_on_help(&mut self, action: Action) -> bool {
        let Some(line) = self.ui.help else { return false };
        let page = self.ui.page.max(2) - 1;
        self.ui.help = match action {
            Action::Up => Some(line.saturating_sub(1)),
            Action::Down => Some(line + 1),
            Action::PageUp => Some(line.saturating_sub(page)),
            Action::PageDown => Some(line + page),
            Action::First => Some(0),
            Action::Last => Some(usize::MAX / 2),
            Action::QuitNow => return false,
            _ => None,
        };
        true
    }

    fn back(&mut self) {
        let panel = self.ui.panel as usize;
        if !self.ui.filters[panel].is_empty() {
            self.ui.filters[panel].clear();
            self.clamp();
        } else if self.ui.expanded {
            self.ui.expanded = false;
        } else if self.ui.frozen {
            self.thaw();
        } else if self.ui.panel == Panel::Details {
            self.show(Panel::Comparison);
        }
    }

    /// Gives a panel the keys.
    pub(crate) fn show(&mut self, panel: Panel) {
        self.ui.panel = panel;
        if !matches!(panel, Panel::Explore | Panel::Cases | Panel::Comparison) {
            self.ui.companion = panel;
        }
        self.clamp();
        self.want_recording();
    }

    fn go_to_panel_by(&mut self, by: usize) {
        let next = (self.ui.panel as usize + by) % Panel::ALL.len();
        self.show(Panel::ALL[next]);
    }

    /// How many lines a panel's cursor can be on.
    fn lines_of(&self, panel: Panel) -> usize {
        match panel {
            Panel::Explore => self.items(self.section()).len(),
            Panel::Cases => self.case_rows().len(),
            Panel::Comparison => self.lines().len(),
            Panel::Parts => self.compared.groups.len(),
            Panel::Curves => self.families.len(),
            Panel::Network => self.queue.rows().len(),
            Panel::Details => details::entries(self).len(),
            Panel::Log => self.log_lines().len(),
        }
    }

    fn cursor(&mut self) -> Option<&mut usize> {
        Some(match self.ui.panel {
            Panel::Explore => &mut self.ui.items[self.ui.section.min(Section::ALL.len() - 1)],
            Panel::Cases | Panel::Comparison | Panel::Details | Panel::Log => {
                &mut self.ui.cursors[self.ui.panel as usize]
            }
            Panel::Parts => &mut self.ui.group,
            Panel::Curves => &mut self.ui.family,
            Panel::Network => return None,
        })
    }

    /// Cursors stay within what there is.
    pub(crate) fn clamp(&mut self) {
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
                self.ui.section += 1;
                self.ui.items[self.ui.section] = 0;
            } else if by < 0 && self.ui.section > 0 {
                self.ui.section -= 1;
                self.ui.items[self.ui.section] = self.lines_of(Panel::Explore).saturating_sub(1);
            }
        }
        self.look();
    }

    fn go_to_end(&mut self, last: bool) {
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

    fn sideways(&mut self, by: isize) {
        match self.ui.panel {
            Panel::Explore => {
                self.ui.section = self.ui.section.saturating_add_signed(by).min(Section::ALL.len() - 1);
                self.clamp();
            }
            Panel::Network => {
                self.ui.player.plays = false;
                self.go_to_step(self.ui.player.step.saturating_add_signed(by));
            }
            Panel::Details => self.focus_by(by),
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
        self.want_recording();
    }

    fn pick(&mut self) {
        let section = self.section();
        match self.item() {
            Some(Item::Pick(index, _)) => self.picks.toggle(section, index),
            Some(Item::Offer(offer)) if offer.ready => {
                let spec = offer.prefill.clone();
                let place = self.picks.put(section, spec, None);
                // With a filter, the cursor stays with what was picked.
                let at = self.items(section).iter().position(|item| matches!(item, Item::Pick(i, _) if *i == place));
                self.ui.items[section as usize] = at.unwrap_or(0);
            }
            _ => self.edit(),
        }
    }

    fn edit(&mut self) {
        let section = self.section();
        match self.item() {
            Some(Item::Pick(index, pick)) => {
                let spec = pick.spec.clone();
                self.type_in(Purpose::Spec(section, Some(index)), &spec);
            }
            Some(Item::Offer(offer)) => {
                let text = offer.prefill.clone();
                self.type_in(Purpose::Spec(section, None), &text);
            }
            Some(Item::Setting(setting)) => {
                let text = self.picks.setting(setting);
                self.type_in(Purpose::Setting(setting), &text);
            }
            None => self.type_in(Purpose::Spec(section, None), ""),
        }
    }

    fn mark_baseline(&mut self) {
        let name = match self.ui.panel {
            Panel::Explore if self.section() == Section::Algorithms => match self.item() {
                Some(Item::Pick(_, pick)) => Some(pick.spec.clone()),
                Some(Item::Offer(offer)) => Some(offer.prefill.clone()),
                _ => None,
            },
            Panel::Comparison => {
                self.lines().get(self.ui.cursors[Panel::Comparison as usize]).map(|l| l.sample.algorithm.clone())
            }
            _ => self.focused().map(|(_, row)| row.case.algorithm.to_string()),
        };
        let Some(name) = name else { return self.tell("no algorithm under the cursor to compare with", true) };
        if self.baseline.as_deref() == Some(&name) {
            self.baseline = None;
            self.tell("compared with the fastest of each group", false);
        } else {
            self.tell(&format!("compared with {name}"), false);
            self.baseline = Some(name);
        }
        self.recompare();
    }

    fn sort_by_next(&mut self) {
        let next = match self.ui.sort {
            None => 0,
            Some(column) => Column::ALL.iter().position(|c| *c == column).map_or(0, |i| i + 1),
        };
        self.ui.sort = Column::ALL.get(next).copied();
        self.ui.reverse = false;
        let text = self.ui.sort.map_or("group, fastest first".to_owned(), |c| c.title().to_owned());
        self.tell(&format!("sorted by {text}"), false);
    }

    fn next_view(&mut self) {
        let ui = &mut self.ui;
        match ui.panel {
            Panel::Curves => {
                ui.scale = match ui.scale {
                    Scale::LogLog => Scale::LogX,
                    Scale::LogX => Scale::Linear,
                    Scale::Linear => Scale::LogLog,
                };
            }
            Panel::Parts => ui.shares = !ui.shares,
            _ => {
                ui.player.shown = match ui.player.shown {
                    Shown::Messages => Shown::Bytes,
                    Shown::Bytes => Shown::Held,
                    Shown::Held => Shown::Messages,
                };
            }
        }
    }

    fn next_group(&mut self, forward: bool) {
        let step = |at: usize, count: usize| match (forward, count) {
            (_, 0) => 0,
            (true, _) => (at + 1) % count,
            (false, _) => (at + count - 1) % count,
        };
        match self.ui.panel {
            Panel::Curves => self.ui.family = step(self.ui.family.min(self.families.len()), self.families.len()),
            Panel::Parts => self.ui.group = step(self.ui.group, self.compared.groups.len()),
            _ => {
                let planes = self.recording.as_ref().map_or(1, |r| match r.topology.radices() {
                    [planes, _, _] => *planes as usize,
                    _ => 1,
                });
                self.ui.player.plane = step(self.ui.player.plane.min(planes - 1), planes);
            }
        }
    }

    fn toggle_play(&mut self) {
        let Some(recording) = &self.recording else { return self.want_recording() };
        let at_end = self.ui.player.step + 1 >= recording.steps();
        if at_end && !self.ui.player.plays && !recording.is_walking() {
            self.go_to_step(0);
        }
        self.ui.player.plays = !self.ui.player.plays;
        self.ui.player.since = self.now;
    }

    /// Moves the schedule on when it is time; true if it moved.
    pub(crate) fn play(&mut self) -> bool {
        let player = self.ui.player;
        let Some(recording) = &self.recording else { return false };
        if !player.plays || recording.frame(player.step).is_none() {
            return false;
        }
        let due = ((self.now.saturating_sub(player.since)).as_secs_f64() * player.speed) as usize;
        let last = recording.steps().saturating_sub(1);
        if due == 0 {
            return false;
        }
        if player.step >= last {
            if !recording.is_walking() {
                self.ui.player.plays = false;
            }
            return !self.ui.player.plays;
        }
        self.go_to_step((player.step + due).min(last));
        true
    }

    /// Shows a step; one outside the window is walked again.
    pub(crate) fn go_to_step(&mut self, step: usize) {
        let Some(recording) = &self.recording else { return };
        let step = step.min(recording.steps().saturating_sub(1));
        self.ui.player.step = step;
        self.ui.player.since = self.now;
        let to_come = recording.is_walking() && step >= recording.from;
        if recording.frame(step).is_none() && !to_come {
            self.record_from(step.saturating_sub(1));
        }
    }

    /// Walks the schedule of the case in focus, if a panel wants it and it doesn't take long.
    pub(crate) fn want_recording(&mut self) {
        /// What anybody waits for without having asked.
        const UNASKED: Duration = Duration::from_secs(1);
        if !matches!(self.ui.panel, Panel::Network | Panel::Details)
            && !matches!(self.ui.companion, Panel::Network | Panel::Details)
        {
            return;
        }
        let Some((_, row)) = self.focused() else { return };
        let same = |recording: &Recording| {
            // Machines and sizes are no part of a schedule; the key says more than is needed, but is sure.
            recording.key == row.key
        };
        if self.recording.as_ref().is_some_and(same) {
            return;
        }
        let quick = row.record().and_then(|r| r.plan_ms).is_some_and(|ms| ms < UNASKED.as_secs_f64() * 1e3);
        self.recording = None;
        (self.ui.player.step, self.ui.player.plays, self.ui.player.plane) = (0, false, 0);
        if quick {
            self.record_from(0);
        }
    }

    fn record_from(&mut self, step: usize) {
        let Some((_, row)) = self.focused() else { return };
        self.recording = Some(Recording::start(&row.case, key(&row.case), step));
    }
}
