//! The view of one step of a schedule. It consists of a header, the picture, a chart of the times
//! of all steps, and the legend.

use super::picture::{draw, legend};
use super::playback::Playback;
use super::step_times;
use super::view::{Heat, Picture, Quantity, View};
use crate::click_map::PanelPosition;
use crate::paint::{Painter, below, width};
use crate::session::recording::{Recording, StepRecord};
use ratatui::layout::Rect;
use swapmeet_results::{Record, units};

/// A schedule, the step to display, and the scales of its picture.
pub(super) struct ScheduleView<'r> {
    pub(super) recording: &'r Recording,
    pub(super) step: usize,
    /// The maximum of the colour scale, in messages or bytes.
    pub(super) most: u64,
    /// The duration of the longest step in µs.
    pub(super) longest: f64,
}

impl ScheduleView<'_> {
    /// Draws the schedule. If two schedules are drawn, only the active schedule has a `player`.
    pub(super) fn draw(
        &self,
        painter: &mut Painter<'_, '_>,
        view: &View,
        player: Option<&Playback>,
        area: Rect,
    ) {
        let recording = self.recording;
        if let Some(why) = recording.why_empty() {
            return painter.placeholder(area, &why);
        }
        let top = self.header(painter, player, area);
        // The legends of ranks against time and of communicators have many entries, so they get two
        // rows if there is enough space.
        let names_communicators =
            view.quantity == Quantity::Communicator && !recording.communicators.is_empty();
        let many = view.picture == Picture::RanksOverTime || names_communicators;
        let legend_rows = if many && area.height >= 20 { 2 } else { 1 };
        let foot = self.foot(painter, area, top, legend_rows);
        let body = below(Rect { height: area.height.saturating_sub(foot), ..area }, top);
        let legend_at = below(area, area.height.saturating_sub(legend_rows));
        let Some(frame) = recording.frame(self.step) else {
            return painter.placeholder(body, "Simulating this step ...");
        };
        let quantity = match view.quantity {
            Quantity::Communicator if recording.communicators.is_empty() => Quantity::Messages,
            // Of schedules that are merged, the data in nodes is not recorded.
            Quantity::Held if frame.held.is_empty() => Quantity::Messages,
            quantity => quantity,
        };
        let heat = Heat { quantity, most: self.most, recording };
        let drawn = draw(painter, &heat, (self.step, frame), view, body);
        legend(painter, &heat, frame, &drawn, legend_at);
    }

    /// Draws the chart of step times above the legend.
    fn foot(&self, painter: &mut Painter<'_, '_>, area: Rect, top: u16, legend_rows: u16) -> u16 {
        let free = area.height.saturating_sub(top);
        let is_timed =
            (0..self.recording.steps.len()).any(|step| self.recording.times(step).is_some());
        let high = if is_timed { step_times::height(free) } else { 1.min(free.saturating_sub(1)) };
        let place = below(area, area.height.saturating_sub(legend_rows + high));
        let place = Rect { height: high.min(place.height), ..place };
        if is_timed && high > 1 {
            step_times::chart(painter, self.recording, self.step, self.longest, place);
        } else {
            self.timeline(painter, place);
        }
        (high + legend_rows).min(free)
    }

    /// Writes the number, the properties and the times of the step.
    fn header(&self, painter: &mut Painter<'_, '_>, player: Option<&Playback>, area: Rect) -> u16 {
        let theme = painter.theme;
        let recording = self.recording;
        let more = if recording.is_growing() { "+" } else { "" };
        let text = format!("step {} of {}{more}", self.step + 1, recording.step_count());
        let x = painter.put(area, 1, 0, &text, theme.accent);
        let state = match (player, recording.pace()) {
            (Some(player), Some(pace)) if player.follows => format!("▸ simulating: {pace}"),
            (Some(player), _) if player.plays => format!("▸ {} steps/s", player.speed),
            (Some(player), _) => format!("paused, {} steps/s", player.speed),
            (None, _) => String::new(),
        };
        let plays = player.is_some_and(|player| player.plays || player.follows);
        let style = if plays { theme.good } else { theme.dim };
        painter.put_right(area, area.width.saturating_sub(1), 0, &state, style);
        let room = Rect { width: area.width.saturating_sub(width(&state) + 3), ..area };
        painter.put(room, x + 2, 0, recording.phase_of(self.step), theme.text);
        // Second row: the messages of the step or, in the last step of an invalid schedule, the
        // broken rule.
        let broken = recording
            .ended
            .as_ref()
            .filter(|r| !r.reason.is_empty() && self.step + 1 >= recording.steps.len());
        match (broken, recording.steps.get(self.step)) {
            (Some(record), _) => painter.put(area, 1, 1, &self.broken(record), theme.bad),
            (None, Some(note)) => painter.put(area, 1, 1, &self.in_words(note), theme.dim),
            (None, None) => 0,
        };
        // Third row, if the area is high enough: the time of the step, with one number for each
        // kind of time.
        let times = recording.times(self.step).filter(|_| area.height >= 12);
        if let Some(times) = &times {
            step_times::in_words(painter, times, recording, self.step, below(area, 2));
        }
        2 + u16::from(times.is_some())
    }

    fn broken(&self, record: &Record) -> String {
        let at_fault = self.recording.frame(self.step).and_then(|frame| frame.at_fault);
        let ends = at_fault.map(|(from, to)| format!(", send from {from} (F) to {to} (T)"));
        format!("{}{}: {}", record.status, ends.unwrap_or_default(), record.reason)
    }

    fn in_words(&self, note: &StepRecord) -> String {
        let idle = match note.idle_sends {
            0 => String::new(),
            idle => format!(", {} selected nothing", units::count(idle as usize, "send")),
        };
        format!(
            "{}, longest {}, {}, link load {}{}, at most {} per node{idle}",
            units::count(note.messages as usize, "message"),
            units::size(self.recording.bytes(note.max_load) as f64),
            units::count(note.max_hops as usize, "hop"),
            note.max_link_messages,
            self.busiest(note.max_link_messages),
            units::count(note.max_sends as usize, "send")
        )
    }

    /// Names a link that carries the maximum number of messages, as in `down=3~4`, and says how many
    /// others carry as many. The text is empty if the data of the step is not recorded.
    fn busiest(&self, most: u64) -> String {
        let topology = &self.recording.topology;
        let loads = self.recording.frame(self.step).map_or(&[][..], |frame| &frame.links);
        let mut busiest = loads.iter().filter(|load| load.messages == most);
        let first = busiest.next().and_then(|load| topology.link_ends(load.link));
        match (first, busiest.count()) {
            (None, _) => String::new(),
            (Some((from, to)), 0) => format!(" ({from}~{to})"),
            (Some((from, to)), others) => format!(" ({from}~{to}, {others} more)"),
        }
    }

    /// Draws a bar for the link load of each step, and highlights the displayed step.
    fn timeline(&self, painter: &mut Painter<'_, '_>, area: Rect) {
        const BARS: [char; 7] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇'];
        let room = usize::from(area.width.saturating_sub(2));
        let notes = &self.recording.steps;
        if room == 0 || area.height == 0 {
            return;
        }
        let most = notes.iter().map(|n| n.max_link_messages).max().unwrap_or(1).max(1);
        let columns = step_times::columns(notes.len(), room);
        for (x, steps) in (1..).zip(&columns) {
            let busiest =
                notes[steps.clone()].iter().map(|n| n.max_link_messages).max().unwrap_or(0);
            let bar = BARS
                [((busiest * BARS.len() as u64).div_ceil(most) as usize).clamp(1, BARS.len()) - 1];
            let here = steps.contains(&self.step);
            let style = if here { painter.theme.accent } else { painter.theme.dim };
            painter.dot(area, x, 0, bar, style);
            painter.add_click(area, x, 0, 1, PanelPosition::Mark(steps.start));
        }
        if columns.len() + 20 < room {
            let x = columns.len() as u16 + 3;
            painter.put(area, x, 0, "link load of each step", painter.theme.dim);
        }
    }
}
