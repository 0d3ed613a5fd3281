//! Simulation, each at its own place in the schedule, and the messages between them.
//!
//! Where nodes of a folded network stand for others, ranks are those nodes, and their numbers are
//! those of orbits ([`super::fold`]).
//!
//! Nothing is kept of a message that only one end has posted: whether the other has follows from
//! the two ranks' places. A rank that comes to the end of what is known of the schedule stops all
//! clocks until the next step is.

use super::in_flight::{InFlight, MessagesInFlight, NewMessage};
use super::symmetry::Symmetry;
use super::timers::Timers;
use super::{Fluid, KIND};
use crate::cost::model::asynchronous::data_order::{DataOrder, Next};
use crate::cost::model::asynchronous::event_limit::EventLimit;
use crate::cost::model::asynchronous::noise::Noise;
use crate::cost::model::asynchronous::{Order, StepMessage, Steps};
use crate::cost::model::path::Path;
use crate::cost::model::time_space::{TimeKind, TimeSpace};
use crate::cost::model::{Cost, Evaluator, Parts, PricingContext, RankTimes};
use crate::cost::parameter::PortLimit;
use crate::simulation::listener::{Detail, Interests, Listener, ScheduleEvent};
use crate::simulation::step::Step;

mod accounting;
mod folding;

/// A rank, and how it came to where it is.
#[derive(Debug, Clone, Copy, Default)]
struct Rank {
    /// The step that it is in, or waits for.
    step: u64,
    /// Messages of the step that it has posted; with `order=data`, those that are under way.
    posted: u32,
    /// Whether a start-up is under way, with `order=data`.
    is_starting: bool,
    /// What the start-up under way takes.
    starting_us: f64,
    /// FoldedSends and receives of the step that are not done.
    left: usize,
    path: Path,
    /// When it ended its last step.
    ended: f64,
}

pub(super) struct Simulation {
    machine: Fluid,
    noise: Noise,
    steps: Steps,
    ranks: Vec<Rank>,
    /// Where ranks are with `order=data`.
    places: Option<DataOrder>,
    in_flight: MessagesInFlight,
    symmetry: Symmetry,
    now: f64,
    at_once_us: f64,
    /// When ranks post their next send; the last is the barrier.
    posts: Timers,
    /// When ranks have added up what has come to them, and the paths to there.
    sums: Timers,
    summing: Vec<Path>,
    barrier_us: Option<f64>,
    /// Simulation at the barrier, and how the last of them came there; with `order=data`, how the last
    /// message came.
    at_barrier: usize,
    last: Path,
    events: EventLimit,
    /// When each rank does what, where somebody asked.
    kept: Option<Box<TimeSpace>>,
    /// The only node that they asked for, if it is one.
    kept_only: Option<usize>,
}

impl Simulation {
    /// EventLimit that are no more than `at_once_us` apart are one.
    pub(super) fn new(machine: Fluid, context: PricingContext<'_>, at_once_us: f64) -> Self {
        let topology = context.topology;
        let nodes = topology.nodes();
        let barrier_us = machine.barrier_us.us(nodes);
        let are_counted = machine.order == Order::Data && machine.ports != PortLimit::All;
        let shared_ports = (are_counted && topology.node_network().is_some())
            .then_some("with `order=data` the model `fluid` counts the ports of ranks, not of nodes that several share: it needs ports=all or order=step");
        let mut in_flight = MessagesInFlight::new(&machine, context);
        match (machine.background.is_some(), context.background) {
            (true, Some(background)) => in_flight.begin_background(background),
            (true, None) => {
                in_flight.refused = Some("nobody has read the file of `background`".to_owned())
            }
            (false, _) => {}
        }
        if let Some(why) = shared_ports {
            in_flight.refused = Some(why.to_owned());
        }
        let orbits = in_flight.fold.orbits();
        Self {
            barrier_us: (machine.order == Order::Barrier || barrier_us > 0.0).then_some(barrier_us),
            steps: Steps::new(orbits, context.unit_bytes),
            ranks: vec![Rank::default(); orbits],
            places: (machine.order == Order::Data).then(|| DataOrder::new(orbits)),
            symmetry: Symmetry::new(machine.startup_us > 0.0),
            in_flight,
            now: 0.0,
            at_once_us,
            posts: Timers::new(orbits + 1),
            sums: Timers::new(orbits),
            summing: Vec::new(),
            at_barrier: 0,
            last: Path::default(),
            events: EventLimit::new(machine.most_events),
            kept: None,
            kept_only: None,
            noise: Noise::new(machine.noise, context.seed),
            machine,
        }
    }

    /// The start-up of a rank's send begins.
    fn begin_startup(&mut self, rank: usize, step: u64, place: u32) {
        let Some(message) = self.steps.get(step).map(|step| step.sends(rank)[place as usize])
        else {
            return;
        };
        let us = self.machine.startup_us * self.noise.factor(step, message.from, message.to);
        self.ranks[rank].starting_us = us;
        self.posts.set(rank, self.now + us);
    }

    /// The rank enters the next step in which it has something to do, if that is known.
    fn enter(&mut self, rank: usize) {
        loop {
            let number = self.ranks[rank].step;
            self.ranks[rank].ended = self.now;
            let Some(step) = self.steps.enter(number) else { return };
            let sends = step.sends(rank).len();
            let left = sends + step.receives(rank).len();
            if let Some(kept) = &mut self.kept {
                kept.enter(rank, number);
            }
            if left == 0 {
                if !self.adds_up(rank, number) && self.leave(rank) {
                    continue;
                }
                return;
            }
            let posted_before: Vec<(usize, u32)> = step
                .receives(rank)
                .map(|(place, message)| (message.from as usize, place))
                .collect();
            let r = &mut self.ranks[rank];
            (r.posted, r.left) = (0, left);
            let path = r.path;
            for (from, place) in posted_before {
                let sender = &self.ranks[from];
                if sender.step == number && sender.left > 0 && sender.posted > place {
                    self.begin(from, number, place, path);
                }
            }
            if sends == 0 {
                return;
            }
            if self.machine.startup_us > 0.0 {
                self.begin_startup(rank, number, 0);
            } else {
                (0..sends).for_each(|_| self.post(rank));
            }
            return;
        }
    }

    /// Whether there is anything that the rank has to add up, now that all has come that it
    /// receives in the step: then it is busy with that.
    fn adds_up(&mut self, rank: usize, number: u64) -> bool {
        let bytes = self.steps.get(number).map_or(0.0, |step| step.summed(rank));
        self.begin_sum(rank, bytes, self.ranks[rank].path)
    }

    fn begin_sum(&mut self, rank: usize, bytes: f64, path: Path) -> bool {
        let us = bytes * self.machine.reduce_byte_us;
        if us > 0.0 {
            self.summing.resize(self.ranks.len(), Path::default());
            self.summing[rank] = Path { reduction: path.reduction + us, ..path };
            self.sums.set(rank, self.now + us);
        }
        us > 0.0
    }

    /// The rank has added up what came to it.
    fn summed_up(&mut self, rank: usize) {
        self.charge(rank, TimeKind::Reduction, self.now);
        let path = self.summing[rank];
        let Some(places) = &mut self.places else {
            self.ranks[rank].path = path;
            if self.leave(rank) {
                self.enter(rank);
            }
            return;
        };
        let waited = matches!(places.next(rank, &mut self.steps), Next::Send(..) | Next::Blocked);
        places.added(rank);
        self.ranks[rank].ended = self.now;
        self.last = path;
        self.add_what_came(rank, path);
        if waited {
            self.go_on(rank, path);
        }
    }

    /// With `order=data`: the rank begins to add up what has come, if it has to; the last of that
    /// came by this path.
    fn add_what_came(&mut self, rank: usize, path: Path) {
        let Some(places) = &mut self.places else { return };
        let bytes = places.begin_reduction(rank, &mut self.steps);
        if bytes > 0.0
            && !self.begin_sum(rank, bytes, path)
            && let Some(places) = &mut self.places
        {
            places.added(rank);
        }
    }

    /// With `order=data`: the rank begins its next send, if it can be made; what it waited for came
    /// by this path.
    fn go_on(&mut self, rank: usize, path: Path) {
        let Some(places) = &mut self.places else { return };
        if self.ranks[rank].is_starting {
            return;
        }
        let next = places.next(rank, &mut self.steps);
        if let (Some(kept), Next::Send(..) | Next::Blocked) = (&mut self.kept, next) {
            kept.enter(rank, places.step(rank));
        }
        match next {
            Next::Send(step, place)
                if u64::from(self.ranks[rank].posted) < self.machine.ports.count() =>
            {
                self.ranks[rank].is_starting = true;
                self.ranks[rank].path = path;
                if self.machine.startup_us > 0.0 {
                    self.begin_startup(rank, step, place);
                } else {
                    self.start(rank);
                }
            }
            Next::Send(..) | Next::Blocked => {}
            Next::Unknown => self.steps.wait(),
        }
    }

    /// With `order=data`: the start-up of the rank's next send is over.
    fn start(&mut self, rank: usize) {
        let Some(places) = &mut self.places else { return };
        let Next::Send(step, place) = places.next(rank, &mut self.steps) else { return };
        places.sent(rank);
        let r = &mut self.ranks[rank];
        (r.is_starting, r.posted) = (false, r.posted + 1);
        let path = r.path;
        self.begin(rank, step, place, path);
        self.go_on(rank, path);
    }

    /// With `order=data`: a message of this step has come, by this path.
    fn came(&mut self, [from, to]: [usize; 2], step: u64, path: Path) {
        let Some(places) = &mut self.places else { return };
        let waited = [from, to].map(|rank| {
            // Who has no more to send in the steps that have come is counted among the open.
            matches!(places.next(rank, &mut self.steps), Next::Send(..) | Next::Blocked)
        });
        places.came(to, step, &mut self.steps);
        self.ranks[from].posted -= 1;
        self.last = path;
        self.add_what_came(to, path);
        for (rank, waited) in [from, to].into_iter().zip(waited) {
            self.ranks[rank].ended = self.now;
            if waited {
                self.go_on(rank, path);
            }
        }
    }

    /// The rank has ended its step; whether it may go on at once.
    fn leave(&mut self, rank: usize) -> bool {
        self.ranks[rank].left = 0;
        if let Some(barrier_us) = self.barrier_us {
            self.at_barrier += 1;
            self.last = self.ranks[rank].path;
            if self.at_barrier == self.ranks.len() {
                self.posts.set(self.ranks.len(), self.now + barrier_us);
            }
            return false;
        }
        self.next_step(rank);
        true
    }

    fn next_step(&mut self, rank: usize) {
        self.steps.left(self.ranks[rank].step);
        self.ranks[rank].step += 1;
    }

    /// Everybody passes the barrier.
    fn pass_barrier(&mut self) {
        self.at_barrier = 0;
        // Nobody waits at it for a step that is not there.
        let barrier_us = self.barrier_us.unwrap_or_default();
        let path = Path { barrier: self.last.barrier + barrier_us, ..self.last };
        for rank in 0..self.ranks.len() {
            self.charge(rank, TimeKind::Peer, self.now - barrier_us);
            self.charge(rank, TimeKind::Barrier, self.now);
            self.ranks[rank].path = path;
            self.next_step(rank);
        }
        (0..self.ranks.len()).for_each(|rank| self.enter(rank));
    }

    /// The rank posts the next send of its step.
    fn post(&mut self, rank: usize) {
        let r = &mut self.ranks[rank];
        let place = r.posted;
        r.posted += 1;
        let (number, path) = (r.step, r.path);
        let Some(step) = self.steps.get(number) else { return };
        let sends = step.sends(rank);
        let to = sends[place as usize].to as usize;
        let more = self.machine.startup_us > 0.0 && place as usize + 1 < sends.len();
        if self.ranks[to].step == number && self.ranks[to].left > 0 {
            self.begin(rank, number, place, path);
        }
        if more {
            self.begin_startup(rank, number, place + 1);
        }
    }

    /// Both ends have posted a message of the step of this number, by this path.
    fn begin(&mut self, from: usize, number: u64, place: u32, path: Path) {
        let Some(step) = self.steps.get(number) else { return };
        let message = step.sends(from)[place as usize];
        let noise = self.noise.factor(number, message.from, message.to);
        let bytes = step.bytes(&message) * noise;
        let route = message.route.checked_sub(1).map(|i| &step.routes[i as usize]);
        let StepMessage { from, to, .. } = message;
        let (target, of) = (step.target(from as usize, place), Some((number, place)));
        self.in_flight.begin(
            NewMessage { from, to, target, of, bytes, noise },
            route,
            self.now,
            path,
        );
    }

    fn landed(&mut self, flight: &InFlight) {
        let path = flight.path(self.now);
        let ends = [flight.from, flight.to].map(|rank| rank as usize);
        if let (Some(_), Some((step, _))) = (&self.places, flight.of) {
            if self.kept.is_some() {
                ends.into_iter().for_each(|rank| self.spend_on(rank, flight));
            }
            self.came(ends, step, path);
            return;
        }
        for rank in ends {
            // A step ends with its last message: that is what the rank waited for.
            if self.kept.is_some() && self.ranks[rank].left == 1 {
                self.spend_on(rank, flight);
            }
            self.done(rank, path);
        }
    }

    /// A send or receive of the rank's step is done.
    fn done(&mut self, rank: usize, path: Path) {
        self.ranks[rank].left -= 1;
        if self.ranks[rank].left == 0 {
            self.ranks[rank].path = path;
            if !self.adds_up(rank, self.ranks[rank].step) && self.leave(rank) {
                self.enter(rank);
            }
        }
    }

    /// Works off what is known to come: up to where a rank would need a step that hasn't come yet.
    fn run(&mut self, to_the_end: bool) {
        while self.in_flight.refused.is_none()
            && !self.events.reached()
            && (to_the_end || self.steps.no_rank_waits())
        {
            let limit = self.now + self.at_once_us;
            self.events.count();
            if let Some(rank) = self.posts.pop(limit) {
                if rank == self.ranks.len() {
                    self.pass_barrier();
                } else {
                    self.ranks[rank].path.startup += self.ranks[rank].starting_us;
                    if let Some(kept) = &mut self.kept {
                        kept.charge(rank, TimeKind::Startup, self.now);
                        kept.sent(rank);
                    }
                    match self.places {
                        Some(_) => self.start(rank),
                        None => self.post(rank),
                    }
                }
            } else if let Some(rank) = self.sums.pop(limit) {
                self.summed_up(rank);
            } else if let Some(flight) = self.in_flight.ends.pop(limit) {
                if let Some(flight) = self.in_flight.next_of(flight, self.now) {
                    self.landed(&flight);
                }
            } else if self.in_flight.shares.is_disturbed() {
                self.in_flight.share(self.now, self.events.left());
            } else {
                let of_ranks = self.posts.least().min(self.sums.least());
                // Nobody waits for the rest of what is in the background.
                if of_ranks == f64::INFINITY
                    && self.steps.all_ranks_wait()
                    && self.in_flight.are_background()
                {
                    return;
                }
                let next = self.in_flight.ends.least().min(of_ranks);
                if next == f64::INFINITY {
                    return;
                }
                self.now = next;
            }
        }
    }
}

impl Simulation {
    /// Adds a step, and lets the ranks run that wait for it.
    fn step(&mut self, step: &Step<'_>) {
        if self.in_flight.refused.is_some() || self.events.reached() {
            return;
        }
        self.take(step);
        if self.steps.limit_reached() {
            return;
        }
        for rank in
            self.steps.wake_ranks(self.places.is_some(), self.ranks.iter().map(|rank| rank.step))
        {
            match self.places {
                Some(_) => self.go_on(rank, self.ranks[rank].path),
                None => self.enter(rank),
            }
        }
        self.run(false);
    }
}

impl Listener for Simulation {
    fn interests(&self) -> Interests {
        let is_plain = self.in_flight.fold.is_plain();
        let detail = if is_plain { Detail::AllNodes } else { Detail::Representatives };
        Interests { detail, arrivals: self.places.is_some(), ..Interests::FACTS }
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        match event {
            ScheduleEvent::Step(step) => self.step(step),
            ScheduleEvent::Summed(summed) => self.take_sums(summed),
            _ => {}
        }
    }
}

impl Evaluator for Simulation {
    fn cost(&mut self) -> Result<Cost, String> {
        self.steps.check_limit(KIND.name)?;
        self.run(true);
        if let Some(why) = &self.in_flight.refused {
            return Err(why.clone());
        }
        self.events.check_limit(KIND.name, self.now, self.steps.first())?;
        let mut longest = 0.0_f64;
        for (number, rank) in self.ranks.iter_mut().enumerate() {
            let us = self.steps.summed_last(number) * self.machine.reduce_byte_us;
            (rank.ended, rank.path.reduction) = (rank.ended + us, rank.path.reduction + us);
            if let Some(kept) = &mut self.kept {
                kept.charge(number, TimeKind::Reduction, rank.ended);
            }
            longest = longest.max(us);
        }
        self.last.reduction += longest;
        let last = self.ranks.iter().max_by(|a, b| a.ended.total_cmp(&b.ended));
        let of_steps = last.map(|rank| rank.path).unwrap_or_default();
        let path = if self.places.is_some() { self.last } else { of_steps };
        let parts = Parts { rearrangement: None, ..path.parts(self.steps.sums()) };
        Ok(Cost {
            parts,
            note: None,
            ranks: RankTimes::of(self.ranks.iter().map(|rank| rank.ended)),
        })
    }

    fn record_time_space(&mut self, record: TimeSpace) -> Result<(), TimeSpace> {
        self.keep(record);
        Ok(())
    }

    fn time_space(&mut self) -> Option<TimeSpace> {
        self.record()
    }
}
