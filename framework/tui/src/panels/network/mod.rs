//! The network panel. It shows the loads of links and nodes in each step of a schedule.

mod cell;
mod communicators;
mod grid;
mod histogram;
mod lattice;
mod link_loss;
mod matrix;
mod picture;
mod playback;
mod rank_times;
mod schedule;
mod step_times;
mod stepwise_ranks;
mod time_plot;
mod view;

use crate::click_map::PanelPosition;
use crate::keys::{Binding, DOWN, ENTER, LEFT, RIGHT, UP, bind, ch};
use crate::paint::{Painter, below, cut_middle};
use crate::panel::{Keyed, List, Panel, list_in_field, next_of, wrap_index};
use crate::session::packed::CaseKey;
use crate::session::queue::CaseRow;
use crate::session::recording::{FrameSelection, Recording};
use crate::session::{Request, Requests, Session};
use lattice::Lattice;
use playback::Playback;
use ratatui::layout::Rect;
use schedule::ScheduleView;
use std::sync::Arc;
use swapmeet_results::{Group, duration};
use unicode_width::UnicodeWidthStr;
use view::{Picture, Quantity, View};

#[derive(Debug, Default)]
pub(crate) struct Network {
    list: List,
    playback: Playback,
    view: View,
    /// Whether the two schedules that are compared are shown at the same time of the run.
    /// Otherwise, they are shown at the same step number.
    in_time: bool,
    /// The last step that the user has selected by cost, and its position in the list of the most
    /// expensive steps (from 0).
    expensive_step: Option<(usize, usize)>,
    /// Whether to go to the most expensive step as soon as the times of ranks are known.
    awaits_costs: bool,
    /// The case whose schedule was displayed at the last update.
    seen: Option<CaseKey>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Action {
    Play,
    PreviousStep,
    NextStep,
    PreviousCase,
    NextCase,
    Quantity,
    Matrix,
    ZoomIn,
    ZoomOut,
    Faster,
    Slower,
    PreviousPlane,
    NextPlane,
    TurnPlanes,
    Record,
    MostExpensive,
    KeepSchedule,
    AlignByTime,
}

impl Keyed for Network {
    const TITLE: &'static str = "Network and ranks";
    type Action = Action;
    const KEYS: &'static [Binding<Action>] = &[
        bind(Action::Play, &[ch(' ')], "play the schedule, or pause").hint("play"),
        bind(Action::PreviousStep, LEFT, "previous step"),
        bind(Action::NextStep, RIGHT, "next step").pair("←→", "step"),
        bind(Action::PreviousCase, UP, "previous case"),
        bind(Action::NextCase, DOWN, "next case").pair("↑↓", "case"),
        bind(
            Action::Quantity,
            &[ch('v')],
            "show messages or bytes on links, bytes in nodes, communicators or link costs",
        )
        .hint("quantity"),
        bind(Action::Matrix, &[ch('M')], "show the network, or the communication matrix"),
        bind(
            Action::ZoomIn,
            &[ch('z')],
            "zoom in on ranks against time, around the displayed step",
        )
        .hint("zoom"),
        bind(Action::ZoomOut, &[ch('Z')], "zoom out"),
        bind(Action::Faster, &[ch('+'), ch('=')], "play faster"),
        bind(Action::Slower, &[ch('-')], "play slower").pair("+-", "speed"),
        bind(Action::PreviousPlane, &[ch('[')], "previous plane of a three-dimensional network"),
        bind(Action::NextPlane, &[ch(']')], "next plane").pair("[ ]", "plane"),
        bind(Action::TurnPlanes, &[ch('o')], "change the orientation of the planes").hint("turn"),
        bind(
            Action::MostExpensive,
            &[ch('w')],
            "go to the most expensive step, then to the next most expensive",
        )
        .hint("most expensive"),
        bind(
            Action::KeepSchedule,
            &[ch('c')],
            "keep this schedule for comparison with others; again: remove it",
        )
        .hint("keep"),
        bind(Action::AlignByTime, &[ch('i')], "align two schedules by step, or by time"),
        bind(Action::Record, ENTER, "simulate a schedule that takes long"),
    ];

    fn act(&mut self, action: Action, session: &Session) -> Requests {
        match action {
            Action::Play => return self.playback.toggle(session),
            Action::PreviousStep => return self.sideways(-1, session),
            Action::NextStep => return self.sideways(1, session),
            Action::PreviousCase => return self.step(-1, session),
            Action::NextCase => return self.step(1, session),
            Action::Quantity => return self.next_quantity(session),
            Action::Matrix => {
                self.view.picture = match self.view.picture {
                    Picture::Matrix => Picture::Network,
                    Picture::Network | Picture::RanksOverTime => Picture::Matrix,
                };
            }
            Action::ZoomIn => self.view.zoom = (self.view.zoom + 1).min(20),
            Action::ZoomOut => self.view.zoom = self.view.zoom.saturating_sub(1),
            Action::Faster => self.playback.speed = (self.playback.speed * 2.0).min(64.0),
            Action::Slower => self.playback.speed = (self.playback.speed / 2.0).max(0.25),
            Action::PreviousPlane | Action::NextPlane => {
                let by = if matches!(action, Action::NextPlane) { 1 } else { -1 };
                self.view.plane = wrap_index(self.view.plane, by, self.planes(session));
            }
            Action::TurnPlanes => return self.turn(session),
            Action::Record => return self.record(session),
            Action::MostExpensive => return self.show_most_expensive(session),
            Action::KeepSchedule => return vec![Request::ToggleKept],
            Action::AlignByTime => {
                self.in_time = !self.in_time;
                let how = if self.in_time { "time" } else { "step" };
                return vec![Request::Say(format!("schedules aligned by {how}"))];
            }
        }
        Requests::new()
    }

    fn is_idle(&self, action: Action, session: &Session) -> bool {
        let is_ranks = self.view.picture == Picture::RanksOverTime;
        match action {
            Action::NextPlane | Action::TurnPlanes => is_ranks || self.planes(session) < 2,
            Action::Quantity => is_ranks,
            Action::ZoomIn => !is_ranks,
            _ => false,
        }
    }
}

impl Panel for Network {
    list_in_field!();

    fn lines(&self, session: &Session) -> usize {
        session.queue.rows().len()
    }

    fn has_filter(&self) -> bool {
        false
    }

    /// Goes to the next or the previous algorithm of the group, the fastest first. If the group has
    /// not been analysed yet, goes to the next case.
    fn step(&mut self, by: isize, session: &Session) -> Requests {
        let Some(group) = session.selected_group() else {
            return vec![Request::SelectNext(by.signum())];
        };
        let lines = session.compared.lines_of(group);
        let line = session.selected_line();
        let at = line.map_or(0, |line| {
            line - session.compared.lines.partition_point(|line| line.group < group)
        });
        let next = at.saturating_add_signed(by.signum()).min(lines.len().saturating_sub(1));
        lines.get(next).map(|line| Request::Select(session.case_of(line))).into_iter().collect()
    }

    fn go_to_end(&mut self, last: bool, session: &Session) -> Requests {
        self.playback.go_to_end(last, session)
    }

    fn sideways(&mut self, by: isize, session: &Session) -> Requests {
        self.playback.plays = false;
        self.playback.go_to(self.playback.step.saturating_add_signed(by), session)
    }

    fn click(&mut self, position: PanelPosition, session: &Session) -> Requests {
        let PanelPosition::Mark(step) = position else { return Requests::new() };
        self.playback.go_to(step, session)
    }

    fn shows_schedule(&self) -> bool {
        true
    }

    /// Shows the network (0) or ranks against time (1).
    fn show_picture(&mut self, number: usize) {
        self.view.picture = if number == 0 { Picture::Network } else { Picture::RanksOverTime };
    }

    /// If the focus has moved to another case, goes to its first step.
    fn sync(&mut self, session: &Session) {
        let here = session.selected_row().map(|(_, row)| &row.key);
        if here != self.seen.as_ref() {
            self.seen = here.cloned();
            (self.playback.step, self.playback.plays, self.playback.follows) = (0, false, false);
            (self.view.plane, self.view.turned, self.expensive_step, self.awaits_costs) =
                (0, 0, None, false);
        }
    }

    fn tick(&mut self, session: &Session) -> (bool, Requests) {
        let mut requests = Requests::new();
        let is_ranks = self.view.picture == Picture::RanksOverTime;
        if is_ranks || self.awaits_costs {
            requests.push(Request::WantRanks);
        }
        if self.awaits_costs && session.schedule().is_some_and(|recording| !recording.is_growing())
        {
            self.awaits_costs = false;
            requests.extend(self.show_most_expensive(session));
        }
        let (moved, more) = self.playback.tick(session);
        requests.extend(more);
        // Of the kept schedule, which is compared with the displayed one, only some consecutive
        // steps are recorded in full. If the step to display is not one of these steps, simulate
        // the kept schedule again.
        let kept = session.kept.as_ref().zip(session.schedule());
        if let Some(step) = kept.map(|(other, recording)| self.kept_step(recording, other)) {
            requests.push(Request::ShowKeptStep(step));
        }
        (moved, requests)
    }

    fn is_animated(&self) -> bool {
        self.playback.plays || self.playback.follows
    }

    fn draw(&mut self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect) {
        let Some((_, row)) = session.selected_row() else {
            let area = painter.panel(area, "Network");
            let text = "No cases yet. Choose them in 1, then press R to run them. The schedule is shown here.";
            return painter.placeholder(area, text);
        };
        let title = self.title(session, row, area.width.saturating_sub(8).into());
        let area = painter.panel(area, &title);
        let Some(recording) = session.schedule() else {
            let text = match (&row.case, row.record().and_then(|r| r.plan_ms)) {
                (Err(why), _) => format!("The schedule is not available: {why}"),
                (Ok(_), Some(ms)) => {
                    format!("Planning this schedule took {:.1} s. Press Enter to simulate it again.", ms / 1e3)
                }
                (Ok(_), None) => match (row.record(), row.remark()) {
                    (None, at) if at.is_empty() => {
                        "The schedule is shown once the case has run. Press Enter to simulate it now.".to_owned()
                    }
                    (None, at) => format!("The case is {at}. Press Enter to simulate its schedule in another worker."),
                    (Some(record), why) => {
                        format!("{}: {why}. Press Enter to simulate the schedule up to there.", record.status)
                    }
                },
            };
            return painter.placeholder(area, &text);
        };
        if let Some(why) = recording.why_empty() {
            return painter.placeholder(area, &why);
        }
        // Without rows of `swapmeet links`, the costs of link failures are unknown, so draw the
        // number of messages instead.
        let mut view = self.view;
        match session.compared.link_costs(&row.key).filter(|_| view.quantity == Quantity::Loss) {
            Some(costs) => return link_loss::draw(painter, recording, costs, &view, area),
            None if view.quantity == Quantity::Loss => view.quantity = Quantity::Messages,
            None => {}
        }
        let heat = |of: &[&Recording]| most_of_all(session, row, of, view.quantity);
        let Some(other) = session.kept.as_ref().filter(|other| other.key != recording.key) else {
            let one = ScheduleView {
                recording,
                step: self.playback.step,
                most: heat(&[recording]),
                longest: longest(recording),
            };
            return one.draw(painter, &view, Some(&self.playback), area);
        };
        // Draw the two schedules side by side or one above the other. Both have the same colour
        // scale.
        let (most, longest) = (heat(&[recording, other]), longest(recording).max(longest(other)));
        let (first, second) = halves(area);
        let step = self.kept_step(recording, other);
        for (recording, step, player, area) in [
            (other, step, None, first),
            (recording, self.playback.step, Some(&self.playback), second),
        ] {
            let area = named(painter, session, recording, area);
            ScheduleView { recording, step, most, longest }.draw(painter, &view, player, area);
        }
    }
}

impl Network {
    /// Shows the next quantity. Communicators are left out if all ranks are one communicator. If the
    /// quantity is the cost of link failures, but there are no rows with these costs, a message names
    /// the command that computes them.
    fn next_quantity(&mut self, session: &Session) -> Requests {
        self.view.quantity = next_of(&Quantity::ALL, self.view.quantity);
        let has_communicators = session.schedule().is_some_and(|r| !r.communicators.is_empty());
        if self.view.quantity == Quantity::Communicator && !has_communicators {
            self.view.quantity = Quantity::Loss;
        }
        let row = session.selected_row();
        let has_costs = row.is_some_and(|(_, row)| session.compared.link_costs(&row.key).is_some());
        if self.view.quantity == Quantity::Loss && !has_costs && !session.is_comparing() {
            self.view.quantity = Quantity::Messages;
            let hint =
                "open a file of `swapmeet links --out FILE` to see what the loss of a link costs";
            return vec![Request::Say(hint.to_owned())];
        }
        Requests::new()
    }

    /// Returns the number of planes of the network: the size of the dimension along which they are
    /// stacked.
    fn planes(&self, session: &Session) -> usize {
        let lattice =
            |r: &Recording| Lattice::of(r.topology.as_ref(), self.view.plane, self.view.turned);
        session.schedule().and_then(lattice).map_or(1, |lattice| lattice.planes as usize)
    }

    /// In a three-dimensional network, stacks the planes along the next dimension.
    fn turn(&mut self, session: &Session) -> Requests {
        let dimensions = session.schedule().map_or(0, |r| r.topology.radices().len());
        if dimensions != 3 || self.planes(session) == 0 {
            let text = "only three-dimensional networks have planes in several orientations";
            return vec![Request::Say(text.to_owned())];
        }
        (self.view.plane, self.view.turned) = (0, (self.view.turned + 1) % 3);
        Requests::new()
    }

    /// Returns the title. It contains all specs of the case or, if they do not fit, only the specs in
    /// which the case differs from other cases.
    fn title(&self, session: &Session, row: &CaseRow, room: usize) -> String {
        let [algorithm, topology, workload, machine] = row.specs();
        let what = match self.view.picture {
            Picture::Network => "Network",
            Picture::Matrix => "Messages",
            Picture::RanksOverTime => "Ranks",
        };
        let full = format!("{what}: {algorithm} on {topology}, {workload}, {machine}");
        let is = |group: &&Arc<Group>| {
            let setting = group.setting.borrowed();
            (setting.topology, setting.workload, setting.machine) == (topology, workload, machine)
        };
        match session.compared.groups.iter().find(is) {
            Some(group) if full.width() > room => {
                let head = format!("{what}: {algorithm}, ");
                let room = room.saturating_sub(head.width());
                head + &session.compared.group_label(group, room)
            }
            _ => full,
        }
    }

    /// Simulates the schedule. If the case has no row yet, shows the newest step while the
    /// simulation runs.
    fn record(&mut self, session: &Session) -> Requests {
        let is_open = session.selected_row().is_some_and(|(_, row)| row.row().is_none());
        self.playback.follows = is_open;
        let from = FrameSelection::From(self.playback.step);
        vec![Request::Record(if is_open { FrameSelection::Newest } else { from })]
    }

    /// Returns the step of the kept schedule to display. Depending on `in_time`, it is the step
    /// with the same number, or the step that is in progress when the displayed step of the case in
    /// focus ends.
    fn kept_step(&self, recording: &Recording, other: &Recording) -> usize {
        let last = other.steps.len().saturating_sub(1);
        match recording.end(self.playback.step).filter(|_| self.in_time) {
            Some(time) => other.step_at(time),
            None => self.playback.step.min(last),
        }
    }

    /// Goes to the most expensive step. If that step is already displayed, goes to the next most
    /// expensive step.
    fn show_most_expensive(&mut self, session: &Session) -> Requests {
        let say = |text: &str| vec![Request::Say(text.to_owned())];
        let Some(recording) = session.schedule() else {
            return say("the schedule is not simulated yet");
        };
        if recording.lacks_ranks() || recording.awaits_ranks() {
            self.awaits_costs = true;
            return say("simulating the times of ranks");
        }
        let by_cost = recording.by_cost();
        if by_cost.is_empty() {
            return say("steps of this schedule have no times");
        }
        let went = self.expensive_step.filter(|(step, _)| *step == self.playback.step);
        let place = went.map_or(0, |(_, place)| (place + 1) % by_cost.len());
        self.expensive_step = Some((by_cost[place], place));
        self.playback.plays = false;
        let mut requests = self.playback.go_to(by_cost[place], session);
        let all = by_cost.len();
        let rank = match place {
            0 => format!("most expensive of {all}"),
            place => format!("number {} of {all} by cost", place + 1),
        };
        requests.push(Request::Say(format!("step {}: {rank}", by_cost[place] + 1)));
        requests
    }
}

/// Returns the duration of the longest step in µs.
fn longest(recording: &Recording) -> f64 {
    (0..recording.steps.len()).filter_map(|step| recording.time(step)).fold(0.0, f64::max)
}

/// Splits an area into two areas, one for each schedule.
fn halves(area: Rect) -> (Rect, Rect) {
    if area.width >= 80 {
        let wide = area.width / 2;
        let second = Rect { x: area.x + wide, width: area.width - wide, ..area };
        (Rect { width: wide - 1, ..area }, second)
    } else {
        let high = area.height / 2;
        (Rect { height: high, ..area }, below(area, high))
    }
}

/// Writes the name of a schedule in the first row. Returns the area below it.
fn named(
    painter: &mut Painter<'_, '_>,
    session: &Session,
    recording: &Recording,
    area: Rect,
) -> Rect {
    let CaseKey { setting, implementation, .. } = &recording.key;
    let here = session.selected_row().is_some_and(|(_, row)| row.key == recording.key);
    let mark = if here { "" } else { "kept: " };
    let total =
        recording.end(recording.steps.len().saturating_sub(1)).filter(|_| !recording.is_growing());
    let total = total.map(|us| format!(", {} in total", duration(us))).unwrap_or_default();
    let text = format!(
        "{mark}{}, {}, {}{total}",
        implementation.algorithm, setting.topology, setting.workload
    );
    painter.put(area, 1, 0, &cut_middle(&text, area.width.saturating_sub(2)), painter.theme.accent);
    below(area, 1)
}

/// Returns the maximum of the colour scale. It is the same for all algorithms with the same
/// workload on the same topology, so that their pictures can be compared. Rows do not contain the
/// number of bytes on links. Therefore, the scale for bytes uses the maximum number of bytes in a
/// node.
fn most_of_all(session: &Session, row: &CaseRow, shown: &[&Recording], quantity: Quantity) -> u64 {
    let [_, topology, workload, _] = row.specs();
    let peaks = session.compared.peaks(topology, workload);
    let shown = shown.iter();
    match quantity {
        Quantity::Messages | Quantity::Communicator => {
            shown.map(|recording| recording.most[0]).fold(peaks.link_messages, u64::max)
        }
        Quantity::Bytes | Quantity::Held | Quantity::Loss => shown
            .map(|recording| recording.bytes(recording.most[quantity as usize]))
            .fold(peaks.node_bytes, u64::max),
    }
}
