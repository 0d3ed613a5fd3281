//! The costs of starting a collective, under any model: a time that is added (`launch_us`), and a
//! least time of the whole collective (`floor_us`). On clusters of GPUs, a kernel is launched for
//! each collective, and benchmarks of small collectives measure little else than this launch.

use crate::cost::bound::Bound;
use crate::cost::kind::{Kind, Parts};
use crate::cost::model::time_space::TimeSpace;
use crate::cost::model::{Cost, Evaluator, RankTimes};
use crate::cost::parameter::TypedParameter;
use crate::cost::settings::parameters;
use crate::simulation::listener::{Interests, Listener, ScheduleEvent};
use std::time::Instant;

static LAUNCH_US: TypedParameter<f64> =
    TypedParameter::micros("launch_us", "time that a collective takes once, before it starts", "");

static FLOOR_US: TypedParameter<f64> = TypedParameter::micros(
    "floor_us",
    "least time of a collective: a shorter time, including launch_us, becomes this time",
    "",
);

parameters! {
    /// The added time is start-up time. A schedule without messages has neither of these costs.
    #[derive(Copy)]
    pub(super) struct Launch {
        launch_us: f64 = LAUNCH_US,
        floor_us: f64 = FLOOR_US,
    }
}

impl Launch {
    fn added_us(self, total_us: f64) -> f64 {
        self.launch_us.max(self.floor_us - total_us)
    }

    pub(super) fn bound(self, bound: Bound) -> Bound {
        let startup_us = bound.times[Kind::Startup] + self.added_us(bound.times.total());
        Bound { times: bound.times.with(Kind::Startup, startup_us), ..bound }
    }

    pub(super) fn evaluator(self, inner: Box<dyn Evaluator>) -> Box<dyn Evaluator> {
        if self.launch_us == 0.0 && self.floor_us == 0.0 {
            return inner;
        }
        Box::new(Launched { launch: self, inner, has_messages: false })
    }
}

struct Launched {
    launch: Launch,
    inner: Box<dyn Evaluator>,
    has_messages: bool,
}

impl Launched {
    fn with(&self, mut parts: Parts, us: f64) -> Parts {
        if self.has_messages {
            parts[Kind::Startup] = Some(parts[Kind::Startup].unwrap_or(0.0) + us);
        }
        parts
    }
}

impl Listener for Launched {
    fn interests(&self) -> Interests {
        self.inner.interests()
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        self.has_messages |= matches!(event, ScheduleEvent::Step(_));
        self.inner.notify(event);
    }
}

impl Evaluator for Launched {
    fn cost(&mut self) -> Result<Cost, String> {
        let cost = self.inner.cost()?;
        let started = |cost: Cost| {
            let us = self.launch.added_us(cost.parts.total());
            let later = |ranks: RankTimes| match self.has_messages {
                true => RankTimes { first: ranks.first + us, mean: ranks.mean + us },
                false => ranks,
            };
            Cost { parts: self.with(cost.parts, us), ranks: cost.ranks.map(later), ..cost }
        };
        let jobs = cost.jobs.iter().cloned().map(started).collect();
        Ok(Cost { jobs, ..started(cost) })
    }

    fn pause_at(&mut self, deadline: Option<Instant>) -> bool {
        self.inner.pause_at(deadline)
    }

    fn is_paused(&self) -> bool {
        self.inner.is_paused()
    }

    fn advance(&mut self) -> bool {
        self.inner.advance()
    }

    /// Adds `launch_us` from the first step on. It is known only at the end whether `floor_us`
    /// applies.
    fn parts_so_far(&self) -> Option<Parts> {
        Some(self.with(self.inner.parts_so_far()?, self.launch.launch_us))
    }

    fn record_time_space(&mut self, record: TimeSpace) -> Result<(), TimeSpace> {
        self.inner.record_time_space(record)
    }

    fn time_space(&mut self) -> Option<TimeSpace> {
        self.inner.time_space()
    }
}

#[cfg(test)]
mod tests {
    use crate::cost::kind::Kind;
    use crate::cost::machine::Machine;
    use crate::cost::model::models;
    use crate::cost::model::test_steps::{cost_of_forwarding, sends};

    #[test]
    fn every_model_adds_the_launch_and_keeps_the_floor() {
        let steps = sends(&[[(0, 1, 100)], [(1, 2, 100)]]);
        for model in models() {
            let costs = "byte_us=0.5";
            let of = |more: &str| {
                cost_of_forwarding("ring:4", &format!("free:model={model},{costs}{more}"), &steps)
            };
            let plain = of("");
            let t = plain.parts.total();
            assert!(t > 0.0, "{model}");
            for (more, expected) in [
                (",launch_us=7", t + 7.0),
                (",floor_us=1", t),
                (",floor_us=1000", 1000.0),
                (",launch_us=7,floor_us=1000", 1000.0),
                (",launch_us=2000,floor_us=1000", t + 2000.0),
            ] {
                let found = of(more);
                assert!((found.parts.total() - expected).abs() < 1e-9, "{model}{more}: {found:?}");
                let startup = |parts: crate::cost::kind::Parts| parts[Kind::Startup].unwrap_or(0.0);
                let added = startup(found.parts) - startup(plain.parts);
                assert!((added - (expected - t)).abs() < 1e-9, "{model}{more}: {found:?}");
                let shifted = found.ranks.zip(plain.ranks);
                let shift = shifted.map_or(expected - t, |(now, then)| now.mean - then.mean);
                assert!((shift - (expected - t)).abs() < 1e-9, "{model}{more}: {found:?}");
            }
            let none = cost_of_forwarding(
                "ring:4",
                &format!("free:model={model},{costs},launch_us=7,floor_us=9"),
                &Vec::new(),
            );
            assert_eq!(none.parts.total(), 0.0, "{model}: nothing starts");
        }
    }

    #[test]
    fn the_lower_bound_includes_the_launch_and_the_floor() {
        use crate::cost::bound::Traffic;
        use crate::delivery::collective::{ALL_TO_ALL, Collective};
        use crate::network::topology::parse;
        use crate::simulation::Task;
        let topology = parse("ring:4").unwrap();
        let task = Task::new(topology.clone(), Collective::of(&ALL_TO_ALL));
        let traffic = Traffic::of(&task).in_bytes(100.0);
        for model in models() {
            let bound = |more: &str| {
                let machine = format!("free:model={model},byte_us=0.5{more}");
                Machine::parse(&machine)
                    .unwrap()
                    .lower_bound(topology.as_ref(), &traffic)
                    .total_us()
            };
            let plain = bound("");
            assert!((bound(",launch_us=7") - plain - 7.0).abs() < 1e-9, "{model}");
            assert!((bound(",launch_us=7,floor_us=5000") - 5000.0).abs() < 1e-9, "{model}");
        }
    }
}
