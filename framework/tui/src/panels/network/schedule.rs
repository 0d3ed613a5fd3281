//! One schedule at one of its steps: what the step is, the picture of its links or nodes, what each
//! step takes, what colours mean.

use super::picture::{draw, legend};
use super::playback::Playback;
use super::times;
use super::view::{Heat, View};
use crate::hits::Spot;
use crate::paint::{Painter, width};
use crate::session::recording::{Note, Recording};
use ratatui::layout::Rect;
use swapmeet_results::{Record, units};

/// What is shown of a schedule, and on which scale.
pub(super) struct Shown<'r> {
    pub(super) recording: &'r Recording,
    pub(super) step: usize,
    /// The hottest that anything can be: messages, or bytes.
    pub(super) most: u64,
    /// The longest step, in us.
    pub(super) longest: f64,
}

impl Shown<'_> {
    /// Draws it; the one that plays says how fast.
    pub(super) fn draw(
        &self,
        painter: &mut Painter<'_, '_>,
        view: &View,
        player: Option<&Playback>,
        area: Rect,
    ) {
        let recording = self.recording;
        if let Some(why) = recording.why_empty() {
            return painter.nothing(area, &why);
        }
        let top = self.header(painter, player, area);
        let foot = self.foot(painter, area, top);
        let body = Rect { y: area.y + top, height: area.height.saturating_sub(top + foot), ..area };
        let legend_at = Rect { y: area.y + area.height.saturating_sub(1), height: 1, ..area };
        let Some(frame) = recording.frame(self.step) else {
            return painter.nothing(body, "This step is being simulated ..");
        };
        let heat = Heat { quantity: view.quantity, most: self.most, recording };
        let drawn = draw(painter, &heat, (self.step, frame), view, body);
        legend(painter, &heat, &drawn, legend_at);
    }

    /// What each step takes, above the line for colours; returns the lines of both.
    fn foot(&self, painter: &mut Painter<'_, '_>, area: Rect, top: u16) -> u16 {
        let free = area.height.saturating_sub(top);
        let is_timed =
            (0..self.recording.notes.len()).any(|step| self.recording.times(step).is_some());
        let high = if is_timed { times::height(free) } else { 1.min(free.saturating_sub(1)) };
        let place = Rect { y: area.y + area.height.saturating_sub(1 + high), height: high, ..area };
        if is_timed && high > 1 {
            times::chart(painter, self.recording, self.step, self.longest, place);
        } else {
            self.timeline(painter, place);
        }
        (high + 1).min(free)
    }

    /// Which step it is, what no machine changes about it, and what its machine charges for it.
    fn header(&self, painter: &mut Painter<'_, '_>, player: Option<&Playback>, area: Rect) -> u16 {
        let theme = painter.theme;
        let recording = self.recording;
        let more = if recording.is_growing() { "+" } else { "" };
        let text = format!("step {} of {}{more}", self.step + 1, recording.steps());
        let x = painter.put(area, 1, 0, &text, theme.accent);
        let state = match (player, recording.pace()) {
            (Some(player), Some(pace)) if player.follows => format!("▸ as it is made: {pace}"),
            (Some(player), _) if player.plays => format!("▸ {} a second", player.speed),
            (Some(player), _) => format!("paused, {} a second", player.speed),
            (None, _) => String::new(),
        };
        let plays = player.is_some_and(|player| player.plays || player.follows);
        painter.put_right(
            area,
            area.width.saturating_sub(1),
            0,
            &state,
            if plays { theme.good } else { theme.dim },
        );
        let room = area.width.saturating_sub(width(&state) + 3);
        painter.put(
            Rect { width: room, ..area },
            x + 2,
            0,
            recording.phase_of(self.step),
            theme.text,
        );
        let broken = recording
            .ended
            .as_ref()
            .filter(|r| !r.reason.is_empty() && self.step + 1 >= recording.notes.len());
        match (broken, recording.notes.get(self.step)) {
            (Some(record), _) => painter.put(area, 1, 1, &self.broken(record), theme.bad),
            (None, Some(note)) => painter.put(area, 1, 1, &self.in_words(note), theme.dim),
            (None, None) => 0,
        };
        let times = recording.times(self.step).filter(|_| area.height >= 12);
        match times {
            Some(parts) => {
                let line = Rect { y: area.y + 2, height: 1, ..area };
                times::in_words(
                    painter,
                    &parts,
                    recording.end(self.step),
                    recording.ranks().is_some(),
                    line,
                );
                3
            }
            None => 2,
        }
    }

    fn broken(&self, record: &Record) -> String {
        let at_fault = self.recording.frame(self.step).and_then(|frame| frame.at_fault);
        let ends = at_fault.map(|(from, to)| format!(", the send from {from} (F) to {to} (T)"));
        format!("{}{}: {}", record.status, ends.unwrap_or_default(), record.reason)
    }

    fn in_words(&self, note: &Note) -> String {
        let facts = &note.facts;
        let idle = match facts.idle_sends {
            0 => String::new(),
            idle => format!(", {} selected nothing", units::count(idle as usize, "send")),
        };
        format!(
            "{}, longest {}, {}, busiest link {}, at most {} a node{idle}",
            units::count(facts.messages as usize, "message"),
            units::size(self.recording.bytes(facts.max_load) as f64),
            units::count(facts.max_hops as usize, "hop"),
            facts.max_link_messages,
            units::count(facts.max_sends as usize, "send")
        )
    }

    /// The busiest link of every step, the step that is shown marked.
    fn timeline(&self, painter: &mut Painter<'_, '_>, area: Rect) {
        const BARS: [char; 7] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇'];
        let room = usize::from(area.width.saturating_sub(2));
        let notes = &self.recording.notes;
        if room == 0 || area.height == 0 {
            return;
        }
        let most = notes.iter().map(|n| n.facts.max_link_messages).max().unwrap_or(1).max(1);
        let columns = times::columns(notes.len(), room);
        for (x, steps) in (1..).zip(&columns) {
            let busiest =
                notes[steps.clone()].iter().map(|n| n.facts.max_link_messages).max().unwrap_or(0);
            let bar = BARS
                [((busiest * BARS.len() as u64).div_ceil(most) as usize).clamp(1, BARS.len()) - 1];
            let here = steps.contains(&self.step);
            painter.dot(
                area,
                x,
                0,
                bar,
                if here { painter.theme.accent } else { painter.theme.dim },
            );
            painter.hit(area, x, 0, 1, Spot::Mark(steps.start));
        }
        if columns.len() + 20 < room {
            painter.put(
                area,
                columns.len() as u16 + 3,
                0,
                "busiest link of each step",
                painter.theme.dim,
            );
        }
    }
}
