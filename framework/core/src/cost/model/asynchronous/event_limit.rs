//! A limit on the number of events of a case, which ensures that every simulation ends. This file
//! also has the deadline at which a simulation pauses.

use crate::cost::parameter::{DefaultValue, TypedParameter, parse_count};
use std::time::Instant;

pub(crate) static MOST_EVENTS: TypedParameter<u64> = TypedParameter {
    key: "most_events",
    meaning: "events after which a case is given up: starts, ends and retries of messages, and links whose shares are computed",
    symbols: "",
    default: DefaultValue::Text("10000000000"),
    read: |text| parse_count(text, "a whole number from 1"),
};

/// The number of events between two readings of the clock. Processing this number of events takes a
/// few milliseconds. Tests of this crate read the clock more often, so that small cases pause.
const BETWEEN_READINGS: u64 = if cfg!(test) { 1 << 6 } else { 1 << 12 };

/// The number of events that remain until the limit, and the deadline at which processing pauses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventLimit {
    most: u64,
    left: u64,
    deadline: Option<Instant>,
    /// The clock is read next when this number of events remains until the limit.
    next_reading: u64,
    is_paused: bool,
}

impl EventLimit {
    pub(crate) fn new(most: u64) -> Self {
        Self { most, left: most, deadline: None, next_reading: 0, is_paused: false }
    }

    /// Sets the time at which processing pauses; with `None`, processing does not pause. If
    /// processing is paused now, it can continue.
    pub(crate) fn pause_at(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
        self.next_reading = self.left.saturating_sub(BETWEEN_READINGS);
        self.is_paused = false;
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Reads the clock if enough events have been processed since the previous reading. Returns
    /// whether processing is paused.
    pub(crate) fn check_clock(&mut self) -> bool {
        let Some(deadline) = self.deadline.filter(|_| self.left <= self.next_reading) else {
            return self.is_paused;
        };
        self.next_reading = self.left.saturating_sub(BETWEEN_READINGS);
        self.is_paused |= Instant::now() >= deadline;
        self.is_paused
    }

    pub(crate) fn reached(&self) -> bool {
        self.left == 0
    }

    /// Returns a reference to the number of events that remain until the limit. The caller
    /// subtracts the events that it processes.
    pub(crate) fn remaining(&mut self) -> &mut u64 {
        &mut self.left
    }

    pub(crate) fn count(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    /// Errors if the limit was reached. The error names the simulated time `us`, and the step
    /// (`step`, counted from 0) of the slowest rank at this time.
    pub(crate) fn check_limit(&self, model: &str, us: f64, step: u64) -> Result<(), String> {
        if !self.reached() {
            return Ok(());
        }
        Err(format!(
            "the model `{model}` gives up after {} events, at {us:.3} us with the slowest rank in step {}; set a larger `{}`",
            self.most,
            step + 1,
            MOST_EVENTS.key
        ))
    }
}

#[cfg(test)]
mod tests {
    use crate::cost::machine::Machine;
    use crate::cost::model::PricingContext;
    use crate::cost::model::test_steps::{run, try_cost};
    use crate::network::topology::parse;
    use std::time::Instant;

    /// A step of 380 messages is simulated twice: without pauses, and with a pause at every reading
    /// of the clock.
    #[test]
    fn a_case_that_pauses_has_the_same_cost() {
        let topology = parse("mesh:4x5").unwrap();
        let others = |from: u32| (1..20).map(move |d| (from, (from + d) % 20, 1000, 0));
        let steps = vec![(0..20).flat_map(others).collect::<Vec<_>>()];
        for model in ["", ",order=data"] {
            let fluid = "free:model=fluid,startup_us=1,byte_us=0.001,hop_us=1";
            let machine = Machine::parse(&format!("{fluid}{model}")).unwrap();
            let [at_once, in_turns] = [false, true].map(|pauses| {
                let mut evaluator = machine.evaluator(PricingContext::new(&topology, 1.0));
                run(&topology, evaluator.as_mut(), &steps, &[], |_, _| 0);
                let mut turns = 0;
                assert!(!evaluator.is_paused(), "{model}");
                while pauses && evaluator.pause_at(Some(Instant::now())) && !evaluator.advance() {
                    assert!(evaluator.is_paused(), "{model}");
                    turns += 1;
                }
                assert_eq!(turns > 0, pauses, "{model}");
                evaluator.cost().unwrap()
            });
            assert_eq!(at_once, in_turns, "{model}");
        }
    }

    /// A schedule of three steps around a ring, with different limits. Some limits are too small
    /// for the first, second or third step, and others are large enough for all steps.
    #[test]
    fn a_case_with_too_many_events_is_given_up() {
        let steps = vec![(0..4).map(|r| (r, (r + 1) % 4, 100, 0)).collect::<Vec<_>>(); 3];
        for model in ["loggp,latency_us=1", "fluid,byte_us=0.1,hop_us=1"] {
            for order in ["step", "data", "barrier"] {
                let priced = |most: u64| {
                    try_cost(
                        "ring:4",
                        &format!("free:model={model},order={order},most_events={most}"),
                        &steps,
                    )
                };
                let enough = (2..200).find(|most| priced(*most).is_ok()).unwrap();
                let (us, us_of_many) = (priced(enough).unwrap(), priced(1_000_000).unwrap());
                assert_eq!(us.parts, us_of_many.parts, "{model} {order}");
                for most in [1, enough / 2, enough - 1] {
                    let why = priced(most).unwrap_err();
                    let expected = format!("gives up after {most} events, at ");
                    assert!(
                        why.contains(&expected) && why.ends_with("; set a larger `most_events`"),
                        "{why}"
                    );
                }
            }
        }
    }
}
