//! A schedule as it happens: what links carry and nodes hold, step by step.

mod grid;
mod histogram;
mod lattice;
mod matrix;
mod picture;
mod playback;
mod plot;
mod ranks;
mod schedule;
mod space;
mod times;
mod view;

use crate::hits::Spot;
use crate::keys::{Binding, DOWN, ENTER, FIRST, LAST, LEFT, RIGHT, UP, bind, ch};
use crate::paint::{Painter, cut_middle};
use crate::panel::{Keyed, List, Panel, around};
use crate::session::Session;
use crate::session::comparison::told_apart;
use crate::session::queue::Row;
use crate::session::recording::{Beside, Recording, Wanted};
use lattice::Lattice;
use playback::Playback;
use ratatui::layout::Rect;
use schedule::Shown;
use std::sync::Arc;
use swapmeet_results::{CaseId, Group, duration};
use unicode_width::UnicodeWidthStr;
use view::{Picture, Quantity, View};

/// The schedule of the case in focus.
#[derive(Debug, Default)]
pub(crate) struct Network {
    list: List,
    playback: Playback,
    view: View,
    /// Whether a schedule beside this one is shown at the same time, rather than at the same step.
    in_time: bool,
    /// The step that was gone to as one of the dearest, and which of them it is.
    dearest: Option<(usize, usize)>,
    /// Whether it is to go to the dearest once that is known.
    seeks_dearest: bool,
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
    Picture,
    Closer,
    Farther,
    Faster,
    Slower,
    First,
    Last,
    PreviousPlane,
    NextPlane,
    Turn,
    Record,
    Dearest,
    Beside,
    InTime,
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
        bind(
            Action::Quantity,
            &[ch('v')],
            "messages on links, bytes on links, bytes held by nodes",
        )
        .hint("what"),
        bind(
            Action::Picture,
            &[ch('o')],
            "the network, who sends to whom, ranks against time, or how many links carry how much",
        )
        .hint("picture"),
        bind(
            Action::Closer,
            &[ch('z')],
            "ranks against time: twice as close, around the step that is shown",
        ),
        bind(Action::Farther, &[ch('Z')], "half as close"),
        bind(Action::Faster, &[ch('+'), ch('=')], "play faster"),
        bind(Action::Slower, &[ch('-')], "play slower").pair("+-", "speed"),
        bind(Action::First, FIRST, "to the first step"),
        bind(Action::Last, LAST, "to the last step"),
        bind(Action::PreviousPlane, &[ch('[')], "the plane before, in three dimensions"),
        bind(Action::NextPlane, &[ch(']')], "the next plane").pair("[ ]", "plane"),
        bind(
            Action::Turn,
            &[ch('p')],
            "turn the planes of three dimensions to another pair of them",
        )
        .hint("turn"),
        bind(Action::Dearest, &[ch('w')], "to the step that costs most, then to the next dearest")
            .hint("dearest"),
        bind(
            Action::Beside,
            &[ch('c')],
            "keep this schedule beside those looked at next; again: let it go",
        )
        .hint("beside"),
        bind(Action::InTime, &[ch('i')], "two schedules in step, or in time"),
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
            Action::Picture => {
                self.view.picture = self.view.picture.next();
                session.tell(self.view.picture.in_words(), false);
            }
            Action::Closer => self.view.zoom = (self.view.zoom + 1).min(20),
            Action::Farther => self.view.zoom = self.view.zoom.saturating_sub(1),
            Action::Faster => self.playback.speed = (self.playback.speed * 2.0).min(64.0),
            Action::Slower => self.playback.speed = (self.playback.speed / 2.0).max(0.25),
            Action::First => self.playback.go_to_end(false, session),
            Action::Last => self.playback.go_to_end(true, session),
            Action::PreviousPlane => {
                self.view.plane = around(self.view.plane, -1, self.planes(session))
            }
            Action::NextPlane => self.view.plane = around(self.view.plane, 1, self.planes(session)),
            Action::Turn => self.turn(session),
            Action::Record => self.record(session),
            Action::Dearest => self.show_dearest(session),
            Action::Beside => self.keep_beside(session),
            Action::InTime => {
                self.in_time = !self.in_time;
                session.tell(
                    if self.in_time {
                        "beside each other in time"
                    } else {
                        "beside each other in step"
                    },
                    false,
                );
            }
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
            (self.playback.step, self.playback.plays, self.playback.follows) = (0, false, false);
            (self.view.plane, self.view.turned, self.dearest, self.seeks_dearest) =
                (0, 0, None, false);
        }
    }

    fn tick(&mut self, session: &mut Session) -> bool {
        if self.view.picture == Picture::Space || self.seeks_dearest {
            session.want_ranks();
        }
        if self.seeks_dearest && session.schedule().is_some_and(|recording| !recording.is_growing())
        {
            self.seeks_dearest = false;
            self.show_dearest(session);
        }
        let moved = self.playback.tick(session);
        // What is kept beside is simulated again where its window has no such step.
        let beside = session.beside.as_ref().map(Beside::recording).zip(session.schedule());
        if let Some(step) = beside.map(|(other, recording)| self.step_beside(recording, other)) {
            session.beside_at(step);
        }
        moved
    }

    fn moves(&self) -> bool {
        self.playback.plays || self.playback.follows
    }

    fn draw(&mut self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect) {
        let Some((_, row)) = session.focused() else {
            let area = painter.panel(area, "Network");
            let text = "No case yet. Pick what to run in Explore (1), then R runs it; its schedule is shown here.";
            return painter.nothing(area, text);
        };
        let area =
            painter.panel(area, &title(session, row, usize::from(area.width.saturating_sub(8))));
        let Some(recording) = session.schedule() else {
            let text = match (&row.case, row.record().and_then(|r| r.plan_ms)) {
                (Err(why), _) => format!("Its schedule can't be made again: {why}"),
                (Ok(_), Some(ms)) => {
                    format!("To plan this schedule took {:.1} s: Enter simulates it again to show it.", ms / 1e3)
                }
                (Ok(_), None) => match row.remark() {
                    at if at.is_empty() => {
                        "The schedule is shown once the case has run; Enter simulates it now, step by step as it is made.".to_owned()
                    }
                    at => format!("The case is {at}. Enter shows its schedule as it is made, in a worker of its own."),
                },
            };
            return painter.nothing(area, &text);
        };
        if let Some(why) = recording.why_empty() {
            return painter.nothing(area, &why);
        }
        let heat = |of: &[&Recording]| most_of_all(session, row, of, self.view.quantity);
        let Some(other) = session
            .beside
            .as_ref()
            .map(Beside::recording)
            .filter(|other| other.key != recording.key)
        else {
            let one = Shown {
                recording,
                step: self.playback.step,
                most: heat(&[recording]),
                longest: longest(recording),
            };
            return one.draw(painter, &self.view, Some(&self.playback), area);
        };
        // Two on one scale: beside each other, or one above the other.
        let (most, longest) = (heat(&[recording, other]), longest(recording).max(longest(other)));
        let (first, second) = halves(area);
        let step = self.step_beside(recording, other);
        for (recording, step, player, area) in [
            (other, step, None, first),
            (recording, self.playback.step, Some(&self.playback), second),
        ] {
            let area = named(painter, session, recording, area);
            Shown { recording, step, most, longest }.draw(painter, &self.view, player, area);
        }
    }
}

impl Network {
    /// How many planes the network has, as they are turned.
    fn planes(&self, session: &Session) -> usize {
        let lattice =
            |r: &Recording| Lattice::of(r.topology.as_ref(), self.view.plane, self.view.turned);
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

    /// Simulates the schedule; of a case that has no row yet its newest step is shown as it comes.
    fn record(&mut self, session: &mut Session) {
        let is_open = session.focused().is_some_and(|(_, row)| row.record().is_none());
        session.record(if is_open { Wanted::Newest } else { Wanted::From(self.playback.step) });
        self.playback.follows = is_open;
    }

    /// The step of the other schedule that is shown: the same, or the one that is under way when
    /// this one ends.
    fn step_beside(&self, recording: &Recording, other: &Recording) -> usize {
        let last = other.notes.len().saturating_sub(1);
        match recording.end(self.playback.step).filter(|_| self.in_time) {
            Some(time) => other.step_at(time),
            None => self.playback.step.min(last),
        }
    }

    /// To the step that costs most, and from there to the next dearest.
    fn show_dearest(&mut self, session: &mut Session) {
        let Some(dearest) = session.schedule().map(Recording::dearest) else {
            return session.tell("the schedule is not simulated yet", false);
        };
        if session
            .schedule()
            .is_some_and(|recording| recording.lacks_ranks() || recording.awaits_ranks())
        {
            self.seeks_dearest = true;
            return session.tell(
                "ranks go on by themselves: what they spend in each step is being simulated",
                false,
            );
        }
        if dearest.is_empty() {
            return session.tell("steps of this schedule have no times", false);
        }
        let went = self.dearest.filter(|(step, _)| *step == self.playback.step);
        let place = went.map_or(0, |(_, place)| (place + 1) % dearest.len());
        self.dearest = Some((dearest[place], place));
        self.playback.plays = false;
        self.playback.go_to(dearest[place], session);
        let all = dearest.len();
        session.tell(
            &format!("step {}: number {} of {all} by what it costs", dearest[place] + 1, place + 1),
            false,
        );
    }

    /// Keeps the schedule beside those that are looked at next, or lets it go.
    fn keep_beside(&mut self, session: &mut Session) {
        if session.keep_beside() {
            session.tell(
                "kept: another case (up, down, or any line elsewhere) stands beside it",
                false,
            );
        } else {
            session.tell("no schedule beside it any more", false);
        }
    }
}

/// The longest step, in us.
fn longest(recording: &Recording) -> f64 {
    (0..recording.notes.len()).filter_map(|step| recording.time(step)).fold(0.0, f64::max)
}

/// Two places for two schedules.
fn halves(area: Rect) -> (Rect, Rect) {
    if area.width >= 80 {
        let wide = area.width / 2;
        (
            Rect { width: wide - 1, ..area },
            Rect { x: area.x + wide, width: area.width - wide, ..area },
        )
    } else {
        let high = area.height / 2;
        (
            Rect { height: high, ..area },
            Rect { y: area.y + high, height: area.height - high, ..area },
        )
    }
}

/// Says whose schedule it is; returns what is left of the area.
fn named(
    painter: &mut Painter<'_, '_>,
    session: &Session,
    recording: &Recording,
    area: Rect,
) -> Rect {
    let CaseId { setting, implementation, .. } = &*recording.key;
    let here = session.focused().is_some_and(|(_, row)| row.key == recording.key);
    let mark = if here { "" } else { "kept: " };
    let total =
        recording.end(recording.notes.len().saturating_sub(1)).filter(|_| !recording.is_growing());
    let total = total.map(|us| format!(", {} in all", duration(us))).unwrap_or_default();
    let text = format!(
        "{mark}{}, {}, {}{total}",
        implementation.algorithm, setting.topology, setting.workload
    );
    painter.put(area, 1, 0, &cut_middle(&text, area.width.saturating_sub(2)), painter.theme.accent);
    Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area }
}

/// The scale of a quantity: up to the most that any algorithm has of it with that workload on that
/// topology. No row says how many bytes a link carries: they are set against what a node holds.
fn most_of_all(session: &Session, row: &Row, shown: &[&Recording], quantity: Quantity) -> u64 {
    let [_, topology, workload, _] = row.specs();
    let here = session.compared.lines.iter().map(|line| &line.sample);
    let here = here.filter(|sample| (&*sample.topology, &*sample.workload) == (topology, workload));
    let own = |recording: &&Recording| {
        let most = recording.most[quantity as usize];
        if quantity == Quantity::Messages { most } else { recording.bytes(most) }
    };
    let own = shown.iter().map(own).fold(0, u64::max);
    match quantity {
        Quantity::Messages => {
            here.filter_map(|sample| sample.max_link_messages).fold(own, u64::max)
        }
        Quantity::Bytes | Quantity::Held => {
            let peaks = here.filter_map(|sample| sample.peak_node_bytes);
            peaks.map(|bytes| u64::try_from(bytes).unwrap_or(u64::MAX)).fold(own, u64::max)
        }
    }
}

/// Whose schedule it is: in full, or, where there is no room for that, by what tells the case from
/// others.
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
