//! A ledger: a compressed record of the steps of a schedule. It contains only the facts of each
//! step ([`StepFacts`]), such as the length of the longest message. A model that needs no more than
//! these facts computes completion times from the ledger, for any machine and block size, without
//! planning the schedule again.
//!
//! Most steps of a schedule have equal facts. The ledger stores each distinct set of facts once, as
//! a kind of step. The schedule is then a run-length encoded list of kinds. Steps are replayed one
//! by one in their original order, so that sums of times are rounded in the same way as in a
//! simulation of the schedule.

use super::machine::Machine;
use super::model::{Cost, PricingContext};
use crate::delivery::traced::Proof;
use crate::simulation::listener::{Interests, Listener, ScheduleEvent, Summed};
use crate::simulation::step::{BandwidthTimes, Expected, Step, StepFacts};
use std::collections::HashMap;

/// A kind of step: its facts, and the number of segments into which a block is split.
#[derive(Debug, Clone, Copy, PartialEq)]
struct StepKind {
    facts: StepFacts,
    segments: u64,
}

/// An event of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LedgerEvent {
    /// A step; the number is the index of its kind.
    Step(u32),
    /// Every node rearranges its data (`ScheduleEvent::Rearrangement`).
    Rearranged {
        /// The largest load that one node holds, in segments.
        most: u64,
        /// The number of segments into which a block is split.
        segments: u64,
    },
    /// Nodes reduce received data.
    Summed {
        /// The largest load that one node reduces, in segments.
        most: u64,
        /// The number of segments into which a block is split.
        segments: u64,
    },
}

/// The facts of all steps of a schedule, in run-length encoding.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ledger {
    kinds: Vec<StepKind>,
    /// Events, each with the number of times that it occurs in succession.
    runs: Vec<(LedgerEvent, u64)>,
}

impl Ledger {
    /// Decodes a kind of step from `words` and adds it. Returns `false` if `words` is not a valid
    /// encoding.
    pub fn add_kind(&mut self, words: &[u64]) -> bool {
        let kind = StepKind::of(words);
        self.kinds.extend(kind);
        kind.is_some()
    }

    /// Adds an event that occurs `times` times in succession. Returns `false` if the event is a
    /// step of an unknown kind.
    pub fn add_run(&mut self, event: LedgerEvent, times: u64) -> bool {
        let is_known =
            !matches!(event, LedgerEvent::Step(kind) if kind as usize >= self.kinds.len());
        if is_known {
            self.runs.push((event, times));
        }
        is_known
    }

    /// Returns the encodings of all kinds of steps, in the order of their indices.
    pub fn kinds(&self) -> impl Iterator<Item = Vec<u64>> {
        self.kinds.iter().map(|kind| kind.words())
    }

    /// Returns the events, each with the number of times that it occurs in succession.
    pub fn runs(&self) -> &[(LedgerEvent, u64)] {
        &self.runs
    }

    /// Returns the number of steps.
    pub fn steps(&self) -> u64 {
        self.runs
            .iter()
            .filter(|(event, _)| matches!(event, LedgerEvent::Step(_)))
            .map(|(_, times)| times)
            .sum()
    }

    /// Returns the cost of the schedule on a machine; `None` if the model needs more than the facts
    /// of steps.
    pub fn price(
        &self,
        machine: &Machine,
        context: PricingContext<'_>,
    ) -> Option<Result<Cost, String>> {
        let mut evaluator = machine.evaluator(context);
        if evaluator.interests() != Interests::FACTS {
            return None;
        }
        let mut number = 0;
        for (event, times) in &self.runs {
            match *event {
                LedgerEvent::Step(kind) => {
                    let StepKind { facts, segments } = self.kinds[kind as usize];
                    let mut step = step_of(facts, segments);
                    for _ in 0..*times {
                        number += 1;
                        (step.number, step.schedule_step) = (number, number);
                        evaluator.notify(ScheduleEvent::Step(&step));
                    }
                }
                LedgerEvent::Rearranged { most, segments } => {
                    let event = ScheduleEvent::Rearrangement { most, segments };
                    (0..*times).for_each(|_| evaluator.notify(event));
                }
                LedgerEvent::Summed { most, segments } => {
                    let summed = Summed { most, of: &[], symmetry: None, segments };
                    (0..*times).for_each(|_| evaluator.notify(ScheduleEvent::Summed(summed)));
                }
            }
        }
        Some(evaluator.cost())
    }
}

/// Returns a step without messages, which has only these facts.
fn step_of(facts: StepFacts, segments: u64) -> Step<'static> {
    Step::of(Proof::default(), segments, 0, facts, &[])
}

/// A listener that records the steps of a schedule in a ledger while the schedule is simulated.
#[derive(Debug, Default)]
pub struct LedgerRecorder {
    ledger: Ledger,
    /// The index of each kind of step in the ledger, by the encoding of the kind.
    known: HashMap<Vec<u64>, u32>,
}

impl LedgerRecorder {
    /// Returns the ledger of the steps that have been simulated so far.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn add(&mut self, event: LedgerEvent) {
        match self.ledger.runs.last_mut() {
            Some((last, times)) if *last == event => *times += 1,
            Some(_) | None => self.ledger.runs.push((event, 1)),
        }
    }
}

impl Listener for LedgerRecorder {
    fn interests(&self) -> Interests {
        Interests::FACTS
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        match event {
            ScheduleEvent::Step(step) => {
                let kind = StepKind { facts: step.facts, segments: step.segments };
                let next = self.ledger.kinds.len() as u32;
                let number = *self.known.entry(kind.words()).or_insert(next);
                if number == next {
                    self.ledger.kinds.push(kind);
                }
                self.add(LedgerEvent::Step(number));
            }
            ScheduleEvent::Rearrangement { most, segments } => {
                self.add(LedgerEvent::Rearranged { most, segments });
            }
            ScheduleEvent::Summed(Summed { most, segments, .. }) => {
                self.add(LedgerEvent::Summed { most, segments });
            }
            _ => {}
        }
    }
}

/// A type whose values are encoded as whole numbers. A floating-point number is encoded by its
/// bits, so that no file format rounds it.
trait Encode: Sized {
    fn encode(self, words: &mut Vec<u64>);
    fn decode(words: &mut dyn Iterator<Item = u64>) -> Option<Self>;
}

impl Encode for u64 {
    fn encode(self, words: &mut Vec<u64>) {
        words.push(self);
    }

    fn decode(words: &mut dyn Iterator<Item = u64>) -> Option<Self> {
        words.next()
    }
}

impl Encode for u128 {
    fn encode(self, words: &mut Vec<u64>) {
        words.extend([(self >> 64) as u64, self as u64]);
    }

    fn decode(words: &mut dyn Iterator<Item = u64>) -> Option<Self> {
        Some(Self::from(words.next()?) << 64 | Self::from(words.next()?))
    }
}

impl Encode for f64 {
    fn encode(self, words: &mut Vec<u64>) {
        words.push(self.to_bits());
    }

    fn decode(words: &mut dyn Iterator<Item = u64>) -> Option<Self> {
        words.next().map(Self::from_bits)
    }
}

impl Encode for bool {
    fn encode(self, words: &mut Vec<u64>) {
        words.push(self.into());
    }

    fn decode(words: &mut dyn Iterator<Item = u64>) -> Option<Self> {
        words.next().map(|word| word != 0)
    }
}

impl<T: Encode> Encode for Option<T> {
    fn encode(self, words: &mut Vec<u64>) {
        self.is_some().encode(words);
        if let Some(fact) = self {
            fact.encode(words);
        }
    }

    fn decode(words: &mut dyn Iterator<Item = u64>) -> Option<Self> {
        Some(if bool::decode(words)? { Some(T::decode(words)?) } else { None })
    }
}

/// Implements [`Encode`] for a struct. The compiler reports a field that is missing from the list.
macro_rules! encode_fields {
    ($type:ident { $($fact:ident),+ $(,)? }) => {
        impl Encode for $type {
            fn encode(self, words: &mut Vec<u64>) {
                let Self { $($fact),+ } = self;
                $($fact.encode(words);)+
            }

            fn decode(words: &mut dyn Iterator<Item = u64>) -> Option<Self> {
                Some(Self { $($fact: Encode::decode(words)?),+ })
            }
        }
    };
}

encode_fields!(Expected { messages, load, hops });
encode_fields!(BandwidthTimes { message, link, multiplexed, node });
encode_fields!(StepFacts {
    messages,
    max_load,
    total_load,
    max_hops,
    load_hops,
    max_link_messages,
    max_link_load,
    max_multiplexed_load,
    max_sends,
    max_receives,
    max_node_load,
    max_injected_load,
    max_packed_load,
    one_directional,
    max_latency,
    expected,
    bandwidth_times,
});
encode_fields!(StepKind { facts, segments });

impl StepKind {
    fn words(self) -> Vec<u64> {
        let mut words = Vec::new();
        self.encode(&mut words);
        words
    }

    fn of(words: &[u64]) -> Option<Self> {
        let mut left = words.iter().copied();
        Self::decode(&mut left).filter(|_| left.next().is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds() -> [StepKind; 2] {
        let plain = StepFacts {
            messages: 1,
            max_load: 2,
            total_load: 3,
            max_hops: 4,
            load_hops: (5 << 64) + 6,
            max_link_messages: 7,
            max_link_load: 8,
            max_multiplexed_load: None,
            max_sends: 9,
            max_receives: 10,
            max_node_load: 11,
            max_injected_load: 15,
            max_packed_load: None,
            one_directional: false,
            max_latency: None,
            expected: None,
            bandwidth_times: None,
        };
        let times =
            BandwidthTimes { message: 0.1, link: 1.0 / 3.0, multiplexed: 7.25, node: 1e300 };
        let full = StepFacts {
            max_multiplexed_load: Some((12 << 64) + 13),
            max_packed_load: Some(14),
            one_directional: true,
            max_latency: Some(1.5),
            expected: Some(Expected { messages: 0.5, load: 2.5, hops: 3.5 }),
            bandwidth_times: Some(times),
            ..plain
        };
        [StepKind { facts: plain, segments: 1 }, StepKind { facts: full, segments: 3 }]
    }

    #[test]
    fn encoded_facts_are_decoded_exactly() {
        for kind in kinds() {
            let words = kind.words();
            assert_eq!(StepKind::of(&words), Some(kind));
            assert_eq!(StepKind::of(&words[1..]), None);
            assert_eq!(StepKind::of(&[&words[..], &[0]].concat()), None);
        }
    }

    #[test]
    fn equal_steps_are_stored_once_and_unknown_kinds_are_refused() {
        let mut kept = LedgerRecorder::default();
        let [plain, full] = kinds();
        for kind in [plain, plain, full, plain] {
            kept.notify(ScheduleEvent::Step(&step_of(kind.facts, kind.segments)));
        }
        kept.notify(ScheduleEvent::Rearrangement { most: 7, segments: 1 });
        let runs = [
            (LedgerEvent::Step(0), 2),
            (LedgerEvent::Step(1), 1),
            (LedgerEvent::Step(0), 1),
            (LedgerEvent::Rearranged { most: 7, segments: 1 }, 1),
        ];
        assert_eq!((kept.ledger().runs(), kept.ledger().steps()), (&runs[..], 4));
        let mut read = Ledger::default();
        assert!(kept.ledger().kinds().all(|words| read.add_kind(&words)));
        assert!(runs.iter().all(|(event, times)| read.add_run(*event, *times)));
        assert_eq!(&read, kept.ledger());
        assert!(!read.add_run(LedgerEvent::Step(2), 1));
    }
}
