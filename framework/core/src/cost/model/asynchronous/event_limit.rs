//! A limit on the number of events of a case, so that pricing always ends.

use crate::cost::parameter::{DefaultValue, TypedParameter, parse_count};

pub(crate) static MOST_EVENTS: TypedParameter<u64> = TypedParameter {
    key: "most_events",
    meaning: "events after which a case is given up: starts, ends and retries of messages, and links whose shares are computed",
    symbols: "",
    default: DefaultValue::Text("10000000000"),
    read: |text| parse_count(text, "a whole number from 1"),
};

/// The number of events that a case may still have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventLimit {
    most: u64,
    left: u64,
}

impl EventLimit {
    pub(crate) fn new(most: u64) -> Self {
        Self { most, left: most }
    }

    pub(crate) fn reached(&self) -> bool {
        self.left == 0
    }

    /// Returns the remaining number, for callers that subtract from it.
    pub(crate) fn remaining(&mut self) -> &mut u64 {
        &mut self.left
    }

    pub(crate) fn count(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    /// Errors if the limit was reached: at the time `us`, with the slowest rank in `step` (from 0).
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
    use crate::cost::model::test_steps::try_cost;

    /// Three steps around a ring, with limits that are too small for all, some or none of them.
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
