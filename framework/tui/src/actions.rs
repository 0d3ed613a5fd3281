//! What actions do to the session.

use crate::app::{App, Leave, Wish};
use crate::keys::{Action, Scope, action};
use crate::model::comparison::Column;
use crate::model::picks::{Item, Section};
use crate::typed::Purpose;
use crate::ui::{Panel, Question, Scale, Shown};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};

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
            Panel::Curves => Scope::Curves,
            Panel::Parts => Scope::Parts,
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
        if self.ui.asked.is_some() && matches!(event.code, KeyCode::Char('y' | 'Y')) {
            return self.answer(Action::Accept);
        }
        if let Some(action) = action(self.scope(), event) {
            self.act(action);
        } else if self.ui.help.is_some() || self.ui.asked.is_some() {
            self.act(Action::Back);
        }
    }

    /// Does what was asked for.
    pub fn act(&mut self, action: Action) {
        if self.ui.asked.is_some() {
            return self.answer(action);
        }
        if self.ui.help.is_some() && self.act_on_help(action) {
            return;
        }
        if !matches!(action, Action::Freeze) {
            self.ui.message = None;
        }
        match action {
            Action::Quit if self.queue.is_busy() => self.ui.asked = Some(Question::Quit),
            Action::QuitLeaving if self.queue.is_busy() => self.ui.asked = Some(Question::QuitLeaving),
            Action::Run if self.run_loses() => self.ui.asked = Some(Question::Run),
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
            Action::Filter if self.ui.panel == Panel::Network => {
                self.tell("a network has nothing to filter: up and down go to other cases", false);
            }
            Action::Filter => {
                let text = self.filter(self.ui.panel).to_owned();
                self.type_in(Purpose::Filter(self.ui.panel), &text);
            }
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
            Action::Open => {
                self.look();
                self.show(Panel::Details);
            }
            Action::Sort => self.sort_by_next(),
            Action::Reverse => {
                self.ui.sort.get_or_insert(Column::Time);
                self.ui.reverse = !self.ui.reverse;
                self.rearranged();
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
            Action::Turn => self.turn(),
            Action::Play => self.toggle_play(),
            Action::Faster => self.ui.player.speed = (self.ui.player.speed * 2.0).min(64.0),
            Action::Slower => self.ui.player.speed = (self.ui.player.speed / 2.0).max(0.25),
            Action::Record => self.record_from(self.ui.player.step),
            // Typing has its own way with these.
            Action::Accept | Action::Cancel | Action::Complete => {}
        }
    }

    /// Whether to run anew loses rows that are nowhere else, or work.
    fn run_loses(&self) -> bool {
        let tally = self.queue.tally();
        let rows = tally.cases - tally.waiting - tally.running - tally.stopped;
        self.queue.is_busy() || (rows > 0 && self.out.is_none() && !self.saved)
    }

    /// Does what a question was about, if the answer is yes or the same key again.
    fn answer(&mut self, action: Action) {
        match (self.ui.asked.take(), action) {
            (_, Action::QuitNow) | (Some(Question::Quit), Action::Quit | Action::Accept) => {
                self.leave = Some(Leave::Plainly);
            }
            (Some(Question::Quit), Action::QuitLeaving)
            | (Some(Question::QuitLeaving), Action::QuitLeaving | Action::Accept) => {
                self.leave = Some(Leave::WithRows);
            }
            (Some(Question::Run), Action::Run | Action::Accept) => self.run(),
            _ => {}
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
            self.rearranged();
        } else if self.ui.expanded {
            self.ui.expanded = false;
        } else if self.ui.frozen {
            self.thaw();
        } else if self.ui.panel == Panel::Details {
            self.show(Panel::Comparison);
        }
    }

    fn pick(&mut self) {
        let section = self.section();
        match self.item() {
            Some(Item::Pick(index, _)) => self.picks.toggle(section, index),
            Some(Item::Offer(offer)) if offer.ready => {
                let spec = offer.prefill.clone();
                self.tell(&format!("picked {spec}"), false);
                self.picks.put(section, spec, None);
                // What was picked is among the picks now, at the top; the cursor goes on to what stood below it.
                self.ui.items[section as usize] += 1;
                self.clamp();
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
        self.rearranged();
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
}
