use crate::case::Case;
use std::collections::HashMap;
use std::time::Duration;
use swapmeet_results::Record;

#[derive(Debug, Clone, Copy, Default)]
pub struct ScheduleProgress {
    /// The number of steps so far in which messages were sent.
    pub steps: u64,
    messages: u64,
    at: Duration,
    /// The number of messages per second between the last two reports.
    rate: f64,
}

impl ScheduleProgress {
    /// Records a report that arrived at the time `now`. All times must be of the same clock.
    pub fn reached(&mut self, steps: u64, messages: u64, now: Duration) {
        // If there are fewer steps than before, the report belongs to the next schedule.
        let before = if steps < self.steps { Self::default() } else { *self };
        let seconds = now.saturating_sub(self.at).as_secs_f64();
        let rate = if seconds > 0.0 {
            messages.saturating_sub(before.messages) as f64 / seconds
        } else {
            self.rate
        };
        *self = Self { steps, messages, at: now, rate };
    }

    /// Returns a text with the step, the number of steps `of` if it is known, and the messages per
    /// second. The text is empty before the first step.
    pub fn in_words(&self, of: Option<u64>) -> String {
        if self.steps == 0 {
            return String::new();
        }
        // The number `of` was measured in another case, so it may be wrong for this one.
        let of =
            of.filter(|of| *of >= self.steps).map(|of| format!(" of {of}")).unwrap_or_default();
        format!("step {}{of}, {} messages/s", self.steps, short(self.rate))
    }
}

fn short(number: f64) -> String {
    let units = ["", " k", " M", " G", " T", " P"];
    let thousands = units.iter().scan(number, |left, unit| {
        let this = *left;
        *left /= 1000.0;
        Some((this, unit))
    });
    let fits = thousands.take_while(|(left, _)| *left >= 1.0).last();
    fits.map_or("0".to_owned(), |(left, unit)| {
        if left < 10.0 { format!("{left:.1}{unit}") } else { format!("{left:.0}{unit}") }
    })
}

/// The numbers of steps of finished schedules. Schedules with the same algorithm, topology and
/// collective usually have the same number of steps.
#[derive(Debug, Default)]
pub struct StepCounts(HashMap<[String; 3], u64>);

impl StepCounts {
    pub fn ended(&mut self, case: &Case, row: &Record) {
        if let Some(steps) = row.steps {
            self.0.insert(schedule(case), steps);
        }
    }

    pub fn steps_of(&self, case: &Case) -> Option<u64> {
        self.0.get(&schedule(case)).copied()
    }
}

fn schedule(case: &Case) -> [String; 3] {
    [case.algorithm.to_string(), case.topology.spec(), case.workload.collective().word.to_owned()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_described_in_a_few_words() {
        let mut pace = ScheduleProgress::default();
        assert_eq!(pace.in_words(Some(9)), "");
        pace.reached(3, 5_600_000, Duration::from_secs(2));
        assert_eq!(pace.in_words(Some(66)), "step 3 of 66, 2.8 M messages/s");
        pace.reached(5, 5_600_250, Duration::from_secs(3));
        assert_eq!(pace.in_words(Some(4)), "step 5, 250 messages/s");
        pace.reached(1, 17_600_000_000_000, Duration::from_secs(4));
        assert_eq!(pace.in_words(None), "step 1, 18 T messages/s");
    }
}
