//! How many events a case may have: whatever the figures are, pricing it ends.

use crate::cost::parameter::{DefaultValue, TypedParameter, parse_count};

pub(in crate::cost::model) static MOST_EVENTS: TypedParameter<u64> = TypedParameter {
    key: "most_events",
    meaning: "events that a case may have before it is given up: starts, ends and turns of messages, and links looked at for their shares",
    symbols: "",
    default: DefaultValue::Text("10000000000"),
    read: |text| parse_count(text, "a whole number from 1 on"),
};

/// The events of a case.
#[derive(Debug, Clone, Copy)]
pub(in crate::cost::model) struct EventLimit {
    most: u64,
    left: u64,
}

impl EventLimit {
    pub(in crate::cost::model) fn new(most: u64) -> Self {
        Self { most, left: most }
    }

    /// Whether there may be another.
    pub(in crate::cost::model) fn reached(&self) -> bool {
        self.left == 0
    }

    /// What there still may be; who counts by itself takes off what it used.
    pub(in crate::cost::model) fn left(&mut self) -> &mut u64 {
        &mut self.left
    }

    /// One more has happened.
    pub(in crate::cost::model) fn count(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    /// Why there is no time, where there were too many: the clock stood at `us`, and the slowest
    /// rank in this step, from 0.
    pub(in crate::cost::model) fn check_limit(
        &self,
        model: &str,
        us: f64,
        step: u64,
    ) -> Result<(), String> {
        if !self.reached() {
            return Ok(());
        }
        Err(format!(
            "the model `{model}` gives a case up after {} events, which were over at {us:.3} us, with some rank in step {}: a larger `{}` allows more",
            self.most,
            step + 1,
            MOST_EVENTS.key
        ))
    }
}

#[cfg(test)]
mod tests {
    use crate::cost::model::test_steps::try_cost;

    /// Ring after ring of messages; `most` events are enough for none of it, for a part, or for
    /// all.
    #[test]
    fn a_case_is_given_up_where_its_events_are_more_than_the_limit() {
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
                    let expected =
                        format!("gives a case up after {most} events, which were over at ");
                    assert!(
                        why.contains(&expected)
                            && why.ends_with("a larger `most_events` allows more"),
                        "{why}"
                    );
                }
            }
        }
    }
}
