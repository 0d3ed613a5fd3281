//! Ranks, each at its own place in the schedule, and the messages between them.
//!
//! Nothing is kept of a message that only one end has posted: whether the other has follows from the two ranks' places. A rank that comes to the end of what is known
//! of the schedule stops all clocks until the next step is.

use super::moments::Moments;
use super::shares::{Hop, Shares};
use super::{Fairness, Fluid, KIND};
use crate::cost::model::asynchronous::events::Events;
use crate::cost::model::asynchronous::forwarding::{Next, Places};
use crate::cost::model::asynchronous::noise::Noise;
use crate::cost::model::asynchronous::{Message, Order, Steps};
use crate::cost::model::time_space::{Kind, TimeSpace};
use crate::cost::model::{Cost, Evaluator, Parts, RankTimes, Scale};
use crate::cost::parameter::Ports;
use crate::network::topology::{Run, Topology};
use crate::simulation::step::{Listener, Step, Summed};
use std::sync::Arc;

mod kept;

/// Hops of messages under way: some 3 GiB.
const MOST_HOPS: usize = 1 << 27;
/// Links that are followed: some 2 GiB.
const MOST_LINKS: u64 = 1 << 24;

/// What the chain of work and waits that led to some moment went into, in us.
#[derive(Debug, Clone, Copy, Default)]
struct Path {
    startup: f64,
    transmission: f64,
    propagation: f64,
    barrier: f64,
    contention: f64,
    reduction: f64,
}

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
    /// Sends and receives of the step that are not done.
    left: usize,
    path: Path,
    /// When it ended its last step.
    ended: f64,
}

/// A message under way.
#[derive(Debug, Clone, Copy)]
struct Flight {
    from: u32,
    to: u32,
    step: u64,
    begun: f64,
    latency: f64,
    /// What its bytes take alone.
    alone: f64,
    /// Whether anything on its way is shared.
    shares: bool,
    path: Path,
}

pub(super) struct Ranks {
    machine: Fluid,
    noise: Noise,
    topology: Arc<dyn Topology>,
    steps: Steps,
    ranks: Vec<Rank>,
    /// Where ranks are with `order=data`.
    places: Option<Places>,
    shares: Shares,
    flights: Vec<Flight>,
    /// Flights that have ended, to be used again.
    landed: Vec<u32>,
    way: Vec<Hop>,
    now: f64,
    at_once_us: f64,
    /// When flights end their latency or their bytes.
    ends: Moments,
    /// When ranks post their next send; the last is the barrier.
    posts: Moments,
    /// When ranks have added up what has come to them, and the paths to there.
    sums: Moments,
    summing: Vec<Path>,
    barrier_us: Option<f64>,
    /// Ranks at the barrier, and how the last of them came there; with `order=data`, how the last message came.
    at_barrier: usize,
    last: Path,
    /// Ranks that wait for a step to come.
    open: usize,
    events: Events,
    refused: Option<&'static str>,
    /// When each rank does what, where somebody asked.
    kept: Option<Box<TimeSpace>>,
}

impl Ranks {
    /// Events that are no more than `at_once_us` apart are one.
    pub(super) fn new(machine: Fluid, scale: Scale<'_>, at_once_us: f64) -> Self {
        let topology = Arc::clone(scale.topology);
        let (nodes, slots) = (topology.nodes(), topology.link_slots());
        let followed = slots.saturating_add(2 * nodes) <= MOST_LINKS;
        // What takes no time is on nobody's way, so that its capacity counts for nothing: an ordinary one keeps the range of levels small.
        let per_us = |byte_us: f64| if byte_us > 0.0 { 1.0 / byte_us } else { 1.0 };
        let link = |link| topology.link_ends(link).map_or(1.0, |_| topology.bandwidth(link));
        let on_links =
            (0..if followed { slots } else { 0 }).map(|l| link(l) * per_us(machine.link_byte_us()).min(1e300));
        let own = (0..if followed { 2 * nodes } else { 0 }).map(|_| per_us(machine.injection_byte_us));
        let least_weight = match machine.fairness {
            Fairness::Rtt => {
                1.0 / (topology.diameter() as f64 * (machine.hop_us + machine.weight_bytes * machine.byte_us)).max(1e-9)
            }
            Fairness::Equal => 1.0,
        };
        let barrier_us = machine.barrier_us.us(nodes);
        let too_many_links =
            (!followed).then_some("the model `fluid` follows up to 16777216 links, this network has more");
        let are_counted = machine.order == Order::Data && machine.ports != Ports::All;
        let shared_ports = (are_counted && topology.shared().is_some())
            .then_some("with `order=data` the model `fluid` counts the ports of ranks, not of nodes that several share: it needs ports=all or order=step");
        let shares = Shares::new(on_links.chain(own).collect::<Vec<_>>().into_iter(), least_weight);
        Self {
            barrier_us: (machine.order == Order::Barrier || barrier_us > 0.0).then_some(barrier_us),
            steps: Steps::new(nodes as usize, scale.unit_bytes),
            ranks: vec![Rank::default(); nodes as usize],
            places: (machine.order == Order::Data).then(|| Places::new(nodes as usize)),
            shares,
            flights: Vec::new(),
            landed: Vec::new(),
            way: Vec::new(),
            now: 0.0,
            at_once_us,
            ends: Moments::new(1),
            posts: Moments::new(nodes as usize + 1),
            sums: Moments::new(nodes as usize),
            summing: Vec::new(),
            at_barrier: 0,
            last: Path::default(),
            open: nodes as usize,
            events: Events::new(machine.most_events),
            refused: too_many_links.or(shared_ports),
            kept: None,
            noise: Noise::new(machine.noise, scale.seed),
            machine,
            topology,
        }
    }

    /// The start-up of a rank's send begins.
    fn begin_startup(&mut self, rank: usize, step: u64, place: u32) {
        let Some(message) = self.steps.get(step).map(|step| step.sends(rank)[place as usize]) else { return };
        let us = self.machine.startup_us * self.noise.factor(step, message.from, message.to);
        self.ranks[rank].starting_us = us;
        self.posts.set(rank, self.now + us);
    }

    /// The rank enters the next step in which it has something to do, if that is known.
    fn enter(&mut self, rank: usize) {
        loop {
            let number = self.ranks[rank].step;
            self.ranks[rank].ended = self.now;
            let Some(step) = self.steps.get(number) else {
                self.open += 1;
                return;
            };
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
            let posted_before: Vec<(usize, u32)> =
                step.receives(rank).map(|(place, message)| (message.from as usize, place)).collect();
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

    /// Whether there is anything that the rank has to add up, now that all has come that it receives in the step: then it is busy with that.
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
        self.spend(rank, Kind::Reduction, self.now);
        let path = self.summing[rank];
        let Some(places) = &mut self.places else {
            self.ranks[rank].path = path;
            if self.leave(rank) {
                self.enter(rank);
            }
            return;
        };
        let waited = matches!(places.next(rank, &mut self.steps), Next::Send(..) | Next::Waits);
        places.added(rank);
        self.ranks[rank].ended = self.now;
        self.last = path;
        self.add_what_came(rank, path);
        if waited {
            self.go_on(rank, path);
        }
    }

    /// With `order=data`: the rank begins to add up what has come, if it has to; the last of that came by this path.
    fn add_what_came(&mut self, rank: usize, path: Path) {
        let Some(places) = &mut self.places else { return };
        let bytes = places.begin_adding(rank, &mut self.steps);
        if bytes > 0.0
            && !self.begin_sum(rank, bytes, path)
            && let Some(places) = &mut self.places
        {
            places.added(rank);
        }
    }

    /// With `order=data`: the rank begins its next send, if it can be made; what it waited for came by this path.
    fn go_on(&mut self, rank: usize, path: Path) {
        let Some(places) = &mut self.places else { return };
        if self.ranks[rank].is_starting {
            return;
        }
        let next = places.next(rank, &mut self.steps);
        if let (Some(kept), Next::Send(..) | Next::Waits) = (&mut self.kept, next) {
            kept.enter(rank, places.step(rank));
        }
        match next {
            Next::Send(step, place) if u64::from(self.ranks[rank].posted) < self.machine.ports.count() => {
                self.ranks[rank].is_starting = true;
                self.ranks[rank].path = path;
                if self.machine.startup_us > 0.0 {
                    self.begin_startup(rank, step, place);
                } else {
                    self.start(rank);
                }
            }
            Next::Send(..) | Next::Waits => {}
            Next::Unknown => self.open += 1,
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
            matches!(places.next(rank, &mut self.steps), Next::Send(..) | Next::Waits)
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
            self.spend(rank, Kind::Peer, self.now - barrier_us);
            self.spend(rank, Kind::Barrier, self.now);
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
        self.way.clear();
        let (way, mut inverse, mut crossed) = (&mut self.way, 0.0, 0.0);
        let Message { from, to, .. } = message;
        let counts = self.machine.byte_us > 0.0;
        let add = &mut |run: Run| {
            for link in (0..run.len).map(|i| run.first + i * run.stride) {
                inverse += 1.0 / self.topology.bandwidth(link);
                crossed += self.topology.latency(link);
                match way
                    .iter_mut()
                    .find(|hop| route.is_some_and(|r| !r.path.is_empty()) && u64::from(hop.link) == link)
                {
                    Some(hop) => hop.times += 1.0,
                    None if counts => way.push(Hop { link: link as u32, times: 1.0 }),
                    None => {}
                }
            }
        };
        // It was a route when the step was measured.
        let hops = self.topology.route(from.into(), to.into(), route, add).unwrap_or_default();
        if self.machine.injection_byte_us > 0.0 && hops > 0 {
            let out = self.topology.link_slots() as u32;
            let into = out + self.ranks.len() as u32;
            let [from, to] = [from, to].map(|rank| self.topology.host(rank.into()) as u32);
            self.way.extend([out + from, into + to].map(|link| Hop { link, times: 1.0 }));
        }
        let rtt = crossed * self.machine.hop_us + inverse * self.machine.weight_bytes * self.machine.byte_us;
        let weight = if self.machine.fairness == Fairness::Rtt && rtt > 0.0 { 1.0 / rtt } else { 1.0 };
        let narrowest =
            self.way.iter().map(|hop| self.shares.capacity(hop.link) / f64::from(hop.times)).fold(f64::MAX, f64::min);
        let latency = self.machine.latency_us(crossed) * noise;
        let shares = !self.way.is_empty() && bytes > 0.0;
        // Between two ranks of one node nothing is shared.
        let within = if hops == 0 { bytes * self.machine.link_byte_us() } else { 0.0 };
        let alone = if shares { bytes / narrowest } else { within };
        let flight = Flight { from, to, step: number, begun: self.now, latency, alone, shares, path };
        let number = self.landed.pop().unwrap_or(self.flights.len() as u32) as usize;
        if number == self.flights.len() {
            self.flights.push(flight);
            self.ends.reach(number + 1);
        } else {
            self.flights[number] = flight;
        }
        self.shares.describe(number, bytes, weight, &self.way);
        if self.shares.room() > MOST_HOPS {
            self.refused =
                Some("the model `fluid` follows messages under way of up to 134217728 hops, there are more at once");
        }
        self.ends.set(number, self.now + latency + within);
    }

    /// The flight's latency is over, or its bytes are.
    fn next_of(&mut self, number: usize) {
        let flight = self.flights[number];
        if flight.shares && !self.shares.is_sharing(number) {
            self.shares.add(number, self.now);
            return;
        }
        if flight.shares {
            self.shares.remove(number);
        }
        self.landed.push(number as u32);
        let lasted = self.now - flight.begun - flight.latency;
        let contention = (lasted - flight.alone).max(0.0);
        let Path { propagation, transmission, .. } = flight.path;
        let path = Path {
            propagation: propagation + flight.latency,
            transmission: transmission + lasted - contention,
            contention: flight.path.contention + contention,
            ..flight.path
        };
        let ends = [flight.from, flight.to].map(|rank| rank as usize);
        if self.places.is_some() {
            if self.kept.is_some() {
                ends.into_iter().for_each(|rank| self.spend_on(rank, &flight));
            }
            self.came(ends, flight.step, path);
            return;
        }
        for rank in ends {
            // A step ends with its last message: that is what the rank waited for.
            if self.kept.is_some() && self.ranks[rank].left == 1 {
                self.spend_on(rank, &flight);
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
        while self.refused.is_none() && !self.events.is_over() && (to_the_end || self.open == 0) {
            let limit = self.now + self.at_once_us;
            self.events.happened();
            if let Some(rank) = self.posts.pop(limit) {
                if rank == self.ranks.len() {
                    self.pass_barrier();
                } else {
                    self.ranks[rank].path.startup += self.ranks[rank].starting_us;
                    if let Some(kept) = &mut self.kept {
                        kept.spend(rank, Kind::Startup, self.now);
                        kept.sent(rank);
                    }
                    match self.places {
                        Some(_) => self.start(rank),
                        None => self.post(rank),
                    }
                }
            } else if let Some(rank) = self.sums.pop(limit) {
                self.summed_up(rank);
            } else if let Some(flight) = self.ends.pop(limit) {
                self.next_of(flight);
            } else if self.shares.is_disturbed() {
                let (shares, ends) = (&mut self.shares, &mut self.ends);
                shares.solve(self.now, self.events.left(), |flight, end| ends.set(flight, end));
                #[cfg(test)]
                if !self.events.is_over() {
                    self.shares.check();
                }
            } else {
                let next = self.ends.least().min(self.posts.least()).min(self.sums.least());
                if next == f64::INFINITY {
                    return;
                }
                self.now = next;
            }
        }
    }
}

impl Listener for Ranks {
    fn step(&mut self, step: &Step<'_>) {
        if self.refused.is_some() || self.events.is_over() {
            return;
        }
        let new = self.steps.come();
        self.steps.add(step);
        if self.steps.too_many() {
            return;
        }
        if self.places.is_some() {
            self.open = 0;
            for rank in 0..self.ranks.len() {
                self.go_on(rank, self.ranks[rank].path);
            }
        } else {
            let waited: Vec<usize> = (0..self.ranks.len()).filter(|rank| self.ranks[*rank].step == new).collect();
            self.open -= waited.len();
            waited.into_iter().for_each(|rank| self.enter(rank));
        }
        self.run(false);
    }

    fn summed(&mut self, summed: Summed<'_>) {
        self.steps.sum(summed);
    }

    fn wants_after(&self) -> bool {
        self.places.is_some()
    }
}

impl Evaluator for Ranks {
    fn cost(&mut self) -> Result<Cost, String> {
        self.steps.refused(KIND.name)?;
        self.run(true);
        if let Some(why) = self.refused {
            return Err(why.to_owned());
        }
        self.events.refused(KIND.name, self.now, self.steps.first())?;
        let mut longest = 0.0_f64;
        for (number, rank) in self.ranks.iter_mut().enumerate() {
            let us = self.steps.summed_last(number) * self.machine.reduce_byte_us;
            (rank.ended, rank.path.reduction) = (rank.ended + us, rank.path.reduction + us);
            if let Some(kept) = &mut self.kept {
                kept.spend(number, Kind::Reduction, rank.ended);
            }
            longest = longest.max(us);
        }
        self.last.reduction += longest;
        let last = self.ranks.iter().max_by(|a, b| a.ended.total_cmp(&b.ended));
        let of_steps = last.map(|rank| rank.path).unwrap_or_default();
        let path = if self.places.is_some() { self.last } else { of_steps };
        let parts = Parts {
            startup: Some(path.startup),
            transmission: Some(path.transmission),
            propagation: Some(path.propagation),
            rearrangement: None,
            barrier: Some(path.barrier),
            contention: Some(path.contention),
            reduction: self.steps.sums().then_some(path.reduction),
        };
        Ok(Cost { parts, note: None, ranks: RankTimes::of(self.ranks.iter().map(|rank| rank.ended)) })
    }

    fn keep_time_space(&mut self, record: TimeSpace) -> Result<(), TimeSpace> {
        self.kept = Some(Box::new(record));
        Ok(())
    }

    fn time_space(&mut self) -> Option<TimeSpace> {
        self.kept.take().map(|kept| kept.done())
    }
}
