//! A schedule as it happens: what links carry and nodes hold, step by step.

mod lattice;
mod picture;
mod playback;
mod view;

use crate::hits::Spot;
use crate::keys::{Binding, DOWN, ENTER, FIRST, LAST, LEFT, RIGHT, UP, bind, ch};
use crate::paint::{Painter, width};
use crate::panel::{Keyed, List, Panel, around};
use crate::session::Session;
use crate::session::comparison::told_apart;
use crate::session::queue::Row;
use crate::session::recording::Recording;
use lattice::Lattice;
use picture::{Drawn, grid, histogram, legend};
use playback::Playback;
use ratatui::layout::Rect;
use std::sync::Arc;
use swapmeet_results::{CaseId, Group, units};
use unicode_width::UnicodeWidthStr;
use view::{Heat, Quantity, View};

/// The schedule of the case in focus.
#[derive(Debug, Default)]
pub(crate) struct Network {
    list: List,
    playback: Playback,
    view: View,
    /// The case whose schedule it is.
    seen: Option<Arc<CaseId>>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Action {
    Play,
    Back,
    On,
    PreviousCase,
    NextCase,
    Quantity,
    Faster,
    Slower,
    First,
    Last,
    PreviousPlane,
    NextPlane,
    Turn,
    Record,
}

impl Keyed for Network {
    const TAB: &'static str = "Net";
    const TITLE: &'static str = "The network";
    type Action = Action;
    const KEYS: &'static [Binding<Action>] = &[
        bind(Action::Play, &[ch(' ')], "play the schedule, or pause").hint("play"),
        bind(Action::Back, LEFT, "a step back"),
        bind(Action::On, RIGHT, "a step on").pair("←→", "step"),
        bind(Action::PreviousCase, UP, "the case before"),
        bind(Action::NextCase, DOWN, "the next case").pair("↑↓", "case"),
        bind(Action::Quantity, &[ch('v')], "messages on links, bytes on links, bytes held by nodes").hint("what"),
        bind(Action::Faster, &[ch('+'), ch('=')], "play faster"),
        bind(Action::Slower, &[ch('-')], "play slower").pair("+-", "speed"),
        bind(Action::First, FIRST, "to the first step"),
        bind(Action::Last, LAST, "to the last step"),
        bind(Action::PreviousPlane, &[ch('[')], "the plane before, in three dimensions"),
        bind(Action::NextPlane, &[ch(']')], "the next plane").pair("[ ]", "plane"),
        bind(Action::Turn, &[ch('p')], "turn the planes of three dimensions to another pair of them").hint("turn"),
        bind(Action::Record, ENTER, "simulate a long schedule that isn't simulated unasked"),
    ];

    fn act(&mut self, action: Action, session: &mut Session) {
        match action {
            Action::Play => self.playback.toggle(session),
            Action::Back => self.sideways(-1, session),
            Action::On => self.sideways(1, session),
            Action::PreviousCase => session.focus_by(-1),
            Action::NextCase => session.focus_by(1),
            Action::Quantity => self.view.quantity = self.view.quantity.next(),
            Action::Faster => self.playback.speed = (self.playback.speed * 2.0).min(64.0),
            Action::Slower => self.playback.speed = (self.playback.speed / 2.0).max(0.25),
            Action::First => self.playback.go_to_end(false, session),
            Action::Last => self.playback.go_to_end(true, session),
            Action::PreviousPlane => self.view.plane = around(self.view.plane, -1, self.planes(session)),
            Action::NextPlane => self.view.plane = around(self.view.plane, 1, self.planes(session)),
            Action::Turn => self.turn(session),
            Action::Record => session.record_from(self.playback.step),
        }
    }

    fn is_idle(&self, action: Action, session: &Session) -> bool {
        matches!(action, Action::NextPlane | Action::Turn) && self.planes(session) < 2
    }
}

impl Panel for Network {
    fn list(&self) -> &List {
        &self.list
    }

    fn list_mut(&mut self) -> &mut List {
        &mut self.list
    }

    fn lines(&self, session: &Session) -> usize {
        session.queue.rows().len()
    }

    fn unfiltered(&self) -> Option<&'static str> {
        Some("a network has nothing to filter: up and down go to other cases")
    }

    /// To other cases, one by one.
    fn step(&mut self, by: isize, session: &mut Session) {
        session.focus_by(by.signum());
    }

    fn go_to_end(&mut self, last: bool, session: &mut Session) {
        self.playback.go_to_end(last, session);
    }

    fn sideways(&mut self, by: isize, session: &mut Session) {
        self.playback.plays = false;
        self.playback.go_to(self.playback.step.saturating_add_signed(by), session);
    }

    fn click(&mut self, spot: Spot, session: &mut Session) {
        if let Spot::Mark(step) = spot {
            self.playback.go_to(step, session);
        }
    }

    fn shows_schedule(&self) -> bool {
        true
    }

    /// Another case's schedule begins at its first step.
    fn follow(&mut self, session: &Session) {
        let here = session.focused().map(|(_, row)| &row.key);
        if here != self.seen.as_ref() {
            self.seen = here.cloned();
            (self.playback.step, self.playback.plays) = (0, false);
            (self.view.plane, self.view.turned) = (0, 0);
        }
    }

    fn tick(&mut self, session: &mut Session) -> bool {
        self.playback.tick(session)
    }

    fn moves(&self) -> bool {
        self.playback.plays
    }

    fn draw(&mut self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect) {
        let Some((_, row)) = session.focused() else {
            let area = painter.panel(area, "Network");
            let text = "No case yet. Pick what to run in Explore (1), then R runs it; its schedule is shown here.";
            return painter.nothing(area, text);
        };
        let area = painter.panel(area, &title(session, row, usize::from(area.width.saturating_sub(8))));
        let Some(recording) = session.schedule() else {
            let text = match (&row.case, row.record().and_then(|r| r.plan_ms)) {
                (Err(why), _) => format!("Its schedule can't be made again: {why}"),
                (Ok(_), Some(ms)) => {
                    format!("To plan this schedule took {:.1} s: Enter simulates it again to show it.", ms / 1e3)
                }
                (Ok(_), None) => "The schedule is shown once the case has run; Enter simulates it now.".to_owned(),
            };
            return painter.nothing(area, &text);
        };
        if recording.notes.is_empty() {
            let text = match &recording.ended {
                None => "The schedule is being simulated ..".to_owned(),
                Some(record) if record.reason.is_empty() => "Nothing is sent in this schedule.".to_owned(),
                Some(record) => format!("{}: {}", record.status, record.reason),
            };
            return painter.nothing(area, &text);
        }
        let top = self.header(painter, recording, area);
        let foot = 2.min(area.height.saturating_sub(top));
        self.timeline(painter, recording, Rect { y: area.y + area.height - foot, height: foot.min(1), ..area });
        let body = Rect { y: area.y + top, height: area.height.saturating_sub(top + foot), ..area };
        let legend_at = Rect { y: area.y + area.height.saturating_sub(1), height: 1, ..area };
        let Some(frame) = recording.frame(self.playback.step) else {
            return painter.nothing(body, "This step is being simulated ..");
        };
        let heat = heat(session, row, recording, self.view.quantity);
        let drawn = match Lattice::of(recording.topology.as_ref(), self.view.plane, self.view.turned) {
            Some(lattice) => grid(painter, &heat, frame, &lattice, body),
            None => {
                histogram(painter, &heat, frame, body);
                Drawn { note: String::new(), figures: false }
            }
        };
        legend(painter, &heat, &drawn, legend_at);
    }
}

impl Network {
    /// How many planes the network has, as they are turned.
    fn planes(&self, session: &Session) -> usize {
        let lattice = |r: &Recording| Lattice::of(r.topology.as_ref(), self.view.plane, self.view.turned);
        session.schedule().and_then(lattice).map_or(1, |lattice| lattice.planes as usize)
    }

    /// Turns the planes of three dimensions to the next pair of them.
    fn turn(&mut self, session: &mut Session) {
        let dimensions = session.schedule().map_or(0, |r| r.topology.radices().len());
        if dimensions != 3 || self.planes(session) == 0 {
            return session.tell("only the planes of three dimensions can be turned", false);
        }
        (self.view.plane, self.view.turned) = (0, (self.view.turned + 1) % 3);
    }

    /// Which step it is and what no machine changes about it.
    fn header(&self, painter: &mut Painter<'_, '_>, recording: &Recording, area: Rect) -> u16 {
        let theme = painter.theme;
        let player = self.playback;
        let more = if recording.is_growing() { "+" } else { "" };
        let text = format!("step {} of {}{more}", player.step + 1, recording.steps());
        let x = painter.put(area, 1, 0, &text, theme.accent);
        let state = if player.plays { "▸" } else { "paused," };
        let state = format!("{state} {} a second", player.speed);
        painter.put_right(
            area,
            area.width.saturating_sub(1),
            0,
            &state,
            if player.plays { theme.good } else { theme.dim },
        );
        let room = area.width.saturating_sub(width(&state) + 3);
        painter.put(Rect { width: room, ..area }, x + 2, 0, recording.phase_of(player.step), theme.text);
        let broken =
            recording.ended.as_ref().filter(|r| !r.reason.is_empty() && player.step + 1 >= recording.notes.len());
        if let Some(record) = broken {
            let at_fault = recording.frame(player.step).and_then(|frame| frame.at_fault);
            let ends = at_fault.map(|(from, to)| format!(", the send from {from} (F) to {to} (T)"));
            let text = format!("{}{}: {}", record.status, ends.unwrap_or_default(), record.reason);
            painter.put(area, 1, 1, &text, theme.bad);
        } else if let Some(note) = recording.notes.get(player.step) {
            let facts = &note.facts;
            let idle = match facts.idle_sends {
                0 => String::new(),
                idle => format!(", {} selected nothing", units::count(idle as usize, "send")),
            };
            let text = format!(
                "{}, longest {}, {}, busiest link {}, at most {} a node{idle}",
                units::count(facts.messages as usize, "message"),
                units::size(recording.bytes(facts.max_load) as f64),
                units::count(facts.max_hops as usize, "hop"),
                facts.max_link_messages,
                units::count(facts.max_sends as usize, "send")
            );
            painter.put(area, 1, 1, &text, theme.dim);
        }
        2
    }

    /// The busiest link of every step, the step that is shown marked.
    fn timeline(&self, painter: &mut Painter<'_, '_>, recording: &Recording, area: Rect) {
        const BARS: [char; 7] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇'];
        let room = usize::from(area.width.saturating_sub(2));
        let steps = recording.notes.len();
        if room == 0 {
            return;
        }
        let most = recording.notes.iter().map(|n| n.facts.max_link_messages).max().unwrap_or(1).max(1);
        // One column a step while they fit, else as many steps as it takes.
        let columns = steps.min(room);
        for x in 0..columns {
            let (from, to) = (x * steps / columns, ((x + 1) * steps / columns).max(x * steps / columns + 1));
            let busiest =
                recording.notes[from..to.min(steps)].iter().map(|n| n.facts.max_link_messages).max().unwrap_or(0);
            let bar = BARS[((busiest * BARS.len() as u64).div_ceil(most) as usize).clamp(1, BARS.len()) - 1];
            let here = (from..to).contains(&self.playback.step);
            painter.dot(area, 1 + x as u16, 0, bar, if here { painter.theme.accent } else { painter.theme.dim });
            painter.hit(area, 1 + x as u16, 0, 1, Spot::Mark(from));
        }
        if columns + 20 < room {
            painter.put(area, columns as u16 + 3, 0, "busiest link of each step", painter.theme.dim);
        }
    }
}

/// The scale of a quantity: up to the most that any algorithm has of it with that workload on that topology. No row says how many bytes a link
/// carries: they are set against what a node holds.
fn heat<'r>(session: &Session, row: &Row, recording: &'r Recording, quantity: Quantity) -> Heat<'r> {
    let [_, topology, workload, _] = row.specs();
    let here = session.compared.lines.iter().map(|line| &line.sample);
    let here = here.filter(|sample| (&*sample.topology, &*sample.workload) == (topology, workload));
    let own = recording.most[quantity as usize];
    let most = match quantity {
        Quantity::Messages => here.filter_map(|sample| sample.max_link_messages).fold(own, u64::max),
        Quantity::Bytes | Quantity::Held => {
            let peaks = here.filter_map(|sample| sample.peak_node_bytes).map(|bytes| bytes as u64);
            peaks.fold(recording.bytes(own), u64::max)
        }
    };
    Heat { quantity, most, recording }
}

/// Whose schedule it is: in full, or, where there is no room for that, by what tells the case from others.
fn title(session: &Session, row: &Row, room: usize) -> String {
    let [algorithm, topology, workload, machine] = row.specs();
    let full = format!("Network: {algorithm} on {topology}, {workload}, {machine}");
    let is = |group: &&Group| {
        let setting = group.setting.borrowed();
        (setting.topology, setting.workload, setting.machine) == (topology, workload, machine)
    };
    match session.compared.groups.iter().find(is) {
        Some(group) if full.width() > room => {
            let head = format!("Network: {algorithm}, ");
            let room = room.saturating_sub(head.width());
            head + &told_apart(&session.compared.groups, group, room)
        }
        _ => full,
    }
}
