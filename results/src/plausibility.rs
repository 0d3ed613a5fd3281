use crate::parts;
use crate::record::{MOST_US, Record, Status};

impl Record {
    /// If values of a row contradict each other, returns a column and what was expected in it. This
    /// program writes no such row. So if a worker sends such a row, its plugin has forged it.
    pub fn contradiction(&self) -> Option<(&'static str, &'static str)> {
        const ALWAYS: [&str; 2] = ["plan_ms", "wall_ms"];
        if self.status != Status::Ok {
            let value = self.outcome_numbers().find(|column| !ALWAYS.contains(column));
            return value.map(|column| (column, "no value: the row is not `ok`"));
        }
        let time = self.time_us.unwrap_or_default();
        if time > MOST_US {
            return Some(("time_us", "a time of at most 1e30 µs"));
        }
        // If a case is not priced, its time is 0 and it has no parts.
        let sum = parts::total(&self.parts()).unwrap_or_default();
        if (sum - time).abs() > 1e-12 * time {
            return Some(("time_us", "the sum of its parts"));
        }
        if self.lower_bound_us.is_some_and(|bound| bound > time * (1.0 + 1e-9) + 2e-6) {
            return Some(("time_us", "a time of at least `lower_bound_us`"));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_contradict_each_other_are_found() {
        let good = Record {
            status: Status::Ok,
            time_us: Some(0.3),
            startup_us: Some(0.1),
            barrier_us: Some(0.2),
            lower_bound_us: Some(0.3),
            ..Record::default()
        };
        assert_eq!(good.as_written().contradiction(), None);
        let not_priced = Record { status: Status::Ok, time_us: Some(0.0), ..Record::default() };
        assert_eq!(not_priced.contradiction(), None);
        let column = |row: Record| row.contradiction().map(|(column, _)| column);
        let time = Some("time_us");
        assert_eq!(column(Record { time_us: Some(0.001), ..good.clone() }), time);
        assert_eq!(column(Record { lower_bound_us: Some(0.31), ..good.clone() }), time);
        let long = Some(1e300);
        assert_eq!(column(Record { time_us: long, startup_us: long, ..good.clone() }), time);
        for status in [Status::Timeout, Status::Error, Status::Unsupported] {
            assert_eq!(column(Record { status, ..good.clone() }), time);
            let failed = Record { status, plan_ms: Some(1.0), ..Record::default() };
            assert_eq!(column(failed), None);
        }
    }
}
