//! Writes a schedule in the notation of papers: each step has a heading, then one line per message.

use super::Writer;
use super::names::{Names, direction};
use super::selection::{Image, SendSelection};
use std::io::Write;
use std::sync::Arc;
use swapmeet_core::delivery::fault::Count;
use swapmeet_core::delivery::traced::Proof;
use swapmeet_core::network::communicators::Communicators;
use swapmeet_core::simulation::listener::{Interests, Listener, ScheduleEvent, Sent};
use swapmeet_core::simulation::step::Step;

pub(super) struct Text<W: Write> {
    out: W,
    selection: SendSelection,
    summary: bool,
    /// The communicators that run the schedule; `None` if all ranks are one communicator.
    communicators: Option<Arc<Communicators>>,
    /// The number of communicators of earlier schedules, if communicators have different ones.
    before: u64,
    /// Whether loads are in bytes. Otherwise, they are in blocks.
    bytes: bool,
    /// The name of the current phase, until its first line is printed.
    phase: Option<String>,
    /// Rearrangements since the last step, which are printed below the heading of the next step.
    rearrangements: u32,
    has_virtual: bool,
    /// The messages of the current step, with the step's number, until its heading is printed.
    lines: Vec<(u64, String)>,
    /// The steps with messages between nodes. Their positions in this list, from 1, are printed.
    steps: Vec<u64>,
}

impl<W: Write> Text<W> {
    pub(super) fn new(
        out: W,
        selection: SendSelection,
        summary: bool,
        communicators: Option<Arc<Communicators>>,
        bytes: bool,
    ) -> Self {
        Self {
            out,
            selection,
            summary,
            communicators,
            before: 0,
            bytes,
            phase: None,
            rearrangements: 0,
            has_virtual: false,
            lines: Vec::new(),
            steps: Vec::new(),
        }
    }

    fn put(&mut self, text: &str) {
        // A failed write is ignored as in [`super::json`].
        drop(writeln!(self.out, "{text}"));
    }

    /// Prints the messages of a step that did not end because of an error.
    fn put_unfinished(&mut self) {
        if !self.lines.is_empty() {
            self.put_phase();
            self.put("  a step that was not finished");
        }
        for (_, line) in std::mem::take(&mut self.lines) {
            self.put(&line);
        }
    }

    /// Prints the messages of steps before `before`. These steps only have messages within nodes.
    fn put_local_steps(&mut self, before: u64) {
        let (stays, rest) = std::mem::take(&mut self.lines)
            .into_iter()
            .partition::<Vec<_>, _>(|(step, _)| *step < before);
        self.lines = rest;
        if !stays.is_empty() {
            self.put_phase();
            self.put("  within nodes only");
        }
        for (_, line) in stays {
            self.put(&line);
        }
    }

    /// Returns the printed number of a step. Only steps with messages between nodes are counted.
    fn printed(&self, schedule_step: u64) -> usize {
        self.steps.partition_point(|step| *step <= schedule_step)
    }

    fn put_phase(&mut self) {
        if let Some(name) = self.phase.take() {
            self.put(&name);
        }
    }

    fn put_rearrangements(&mut self) {
        for _ in 0..std::mem::take(&mut self.rearrangements) {
            self.put("  every node rearranges its data");
        }
    }

    fn put_legend(&mut self) {
        if self.has_virtual {
            self.put("\n* a virtual node of the schedule's own grid, named after the node of the machine that runs it");
        }
    }

    fn noun(&self, proof: Proof) -> &'static str {
        match proof {
            Proof::Contributions if !self.bytes => "value",
            Proof::Blocks if !self.bytes => "block",
            Proof::Blocks | Proof::Contributions | Proof::ByteCounts => "byte",
        }
    }
}

impl<W: Write> Listener for Text<W> {
    fn interests(&self) -> Interests {
        let is_full = !self.summary;
        Interests { sends: is_full, arrivals: is_full, ..Interests::SCHEDULE }
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        match event {
            ScheduleEvent::Communicators(all) => self.begin(all),
            ScheduleEvent::Phase(name) => {
                self.put_local_steps(u64::MAX);
                self.phase = Some(name.to_owned());
            }
            ScheduleEvent::Rearrangement { .. } => {
                self.put_local_steps(u64::MAX);
                self.rearrangements += u32::from(self.selection.is_all());
            }
            ScheduleEvent::Sent(sent) => self.sent(sent),
            ScheduleEvent::EmptySend(send) if send.is_refused => {
                let (from, to) = (send.from.physical, send.to.physical);
                self.lines.push((send.step, format!("    {from:>9} -> {to:<9} breaks a rule")));
            }
            ScheduleEvent::Step(step) => self.step(step),
            _ => {}
        }
    }
}

impl<W: Write> Text<W> {
    fn begin(&mut self, all: &Arc<Communicators>) {
        self.put_local_steps(u64::MAX);
        self.put_rearrangements();
        self.phase = None;
        self.steps.clear();
        self.before += self.communicators.as_ref().map_or(0, |all| all.count());
        let (first, count, size) = (self.before, all.count(), Count(all.size(), "member"));
        self.communicators = Some(Arc::clone(all));
        if self.selection.node.is_none_or(|node| all.place(node).is_some()) {
            self.put(&match count {
                1 => format!("communicator {first}: {size}"),
                _ => format!("communicators {first} to {}: {size} each", first + count - 1),
            });
        }
    }

    fn sent(&mut self, sent: &Sent<'_>) {
        let communicators = self.communicators.clone();
        let printed = match (communicators.as_deref(), self.selection.node) {
            (None, _) => None,
            (Some(all), None) => Some((all, 0)),
            (Some(all), Some(node)) => match all.place(node) {
                Some((number, _)) => Some((all, number)),
                None => return,
            },
        };
        let image = Image::of(sent, printed);
        if !self.selection.includes(sent.step, image.ends(sent)) {
            return;
        }
        let names = Names::new(sent, &image);
        self.has_virtual |= names.is_virtual(sent.from) || names.is_virtual(sent.to);
        let mut line = format!("    {:>9} -> {:<9}", names.node(sent.from), names.node(sent.to));
        line += &format!(" {:>7} ", Count(sent.load, self.noun(sent.proof)));
        if sent.is_local() {
            line += " local copy";
        }
        if sent.combine {
            line += " combined";
        }
        if let Some(route) = &image.route {
            line += &direction(route);
        }
        for (i, bits) in sent.boxes.iter().enumerate() {
            line += if i == 0 { " " } else { ", " };
            line += &names.selection(bits);
        }
        if sent.latest_arrival > 0 {
            line += &format!(" (after step {})", self.printed(sent.latest_arrival));
        }
        self.lines.push((sent.step, line.trim_end().to_owned()));
    }

    fn step(&mut self, step: &Step<'_>) {
        self.steps.push(step.schedule_step);
        if self.lines.is_empty() && !self.selection.is_all() {
            return;
        }
        let now = self.lines.last().map_or(0, |(step, _)| *step);
        self.put_local_steps(now);
        self.put_phase();
        self.put_rearrangements();
        let facts = &step.facts;
        let parts = if step.segments > 1 && step.proof != Proof::ByteCounts {
            format!(" of 1/{}", step.segments)
        } else {
            String::new()
        };
        self.put(&format!(
            "  step {}: {}, longest {}{parts} over {}, link load {}",
            step.number,
            Count(facts.messages, "message"),
            Count(facts.max_load, self.noun(step.proof)),
            Count(facts.max_hops, "hop"),
            Count(facts.max_link_messages, "message"),
        ));
        let lines = std::mem::take(&mut self.lines);
        lines.iter().for_each(|(_, line)| self.put(line));
        let others = self.communicators.as_ref().map_or(0, |all| all.count() - 1);
        if others > 0 && !lines.is_empty() {
            let others = Count(others, "other communicator");
            self.put(&format!("    and the same between the members of {others}"));
        }
        drop(self.out.flush());
    }
}

impl<W: Write> Writer for Text<W> {
    fn ended(&mut self, is_verified: bool) {
        if is_verified {
            self.put_local_steps(u64::MAX);
        } else {
            self.put_unfinished();
        }
        self.put_rearrangements();
        self.put_legend();
        drop(self.out.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_core::delivery::boxes::NodeSet;
    use swapmeet_core::delivery::collective::{ALL_TO_ALL, Collective};
    use swapmeet_core::delivery::exchange::Rule;
    use swapmeet_core::network::topology::parse;
    use swapmeet_core::simulation::{Simulation, Task};

    #[test]
    fn local_copies_are_printed_under_their_own_phase() {
        let mut text = Text::new(Vec::new(), SendSelection::default(), false, None, false);
        let task = Task::new(parse("ring:2").unwrap(), Collective::of(&ALL_TO_ALL));
        let mut simulation = Simulation::new(task, vec![&mut text]).unwrap();
        for (phase, ends) in [("out", (0, 1)), ("copies", (1, 1)), ("back", (1, 0))] {
            simulation.phase(phase).unwrap();
            simulation.step().unwrap();
            let rule = Rule {
                origins: NodeSet::One(ends.0),
                destinations: NodeSet::One(ends.1),
                strict: true,
                local: ends.0 == ends.1,
                ..Rule::new(ends.0, ends.1)
            };
            simulation.send(&rule, None).unwrap();
        }
        simulation.finish().unwrap();
        let printed = String::from_utf8(text.out).unwrap();
        let headed: Vec<&str> = printed.lines().filter(|line| !line.starts_with("    ")).collect();
        let step = |number| {
            format!("  step {number}: 1 message, longest 1 block over 1 hop, link load 1 message")
        };
        assert_eq!(headed, ["out", &step(1), "copies", "  within nodes only", "back", &step(2)]);
    }
}
