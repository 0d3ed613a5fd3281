//! Schedules that run at the same time on one network, but are planned one after another: those of
//! several jobs, or of different communicators.
//!
//! Each schedule is planned and verified on its own. A [`StepList`] stores the messages of its
//! steps. Then [`Jobs::report`] reports all schedules as one: its step t has the messages of step t
//! of all schedules. A schedule with fewer steps takes no part in the last steps. If each rank of a
//! model has its own clock, the schedules do not wait for each other, because no message connects
//! them. In a model of synchronous steps, step t of all schedules runs together by definition.
//!
//! Only this module stores the messages of whole schedules, up to [`MERGED_MESSAGES`]. Loads are
//! converted to bytes, because the units of load of the schedules may differ.

use super::listener::{Detail, Interests, Listener, ScheduleEvent, Summed};
use super::step::{Step, StepFacts, Totals, Transfer};
use super::step_statistics::StepStatistics;
use crate::delivery::fault::{Count, Fault};
use crate::delivery::traced::Proof;
use crate::limits::MERGED_MESSAGES;
use crate::network::topology::{Network, Route};
use std::sync::Arc;

/// Jobs that run at the same time, and their network.
#[derive(Debug)]
pub struct Jobs {
    network: Arc<Network>,
    ranks_of_job: u64,
    /// The number of a switch in the network of all jobs, minus its number in that of one job.
    switches_move: u64,
    lists: Vec<StepList>,
    left: u64,
}

/// The schedules that [`Jobs::report`] reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reported {
    /// The schedules of all jobs.
    All,
    /// The schedules of the job with this number.
    Job(u64),
    /// The schedule that was added first.
    First,
}

/// The steps of one schedule. Ranks are numbered, and loads are counted, as in the merged schedule.
#[derive(Debug)]
pub struct StepList {
    interests: Interests,
    first_rank: u32,
    ranks_of_job: u64,
    switches_move: u64,
    unit_bytes: u64,
    steps: Vec<ListedStep>,
    after_last: Between,
    left: u64,
    refused: Option<Fault>,
}

#[derive(Debug)]
struct ListedStep {
    before: Between,
    number: u64,
    proof: Proof,
    transfers: Vec<Transfer>,
    latest_arrivals: Vec<u32>,
    routes: Vec<Route>,
    max_packed_bytes: Option<u64>,
    max_packed_blocks: Option<f64>,
}

#[derive(Debug, Default)]
struct Between {
    rearranged: Vec<u64>,
    summed: Vec<Vec<(u32, u64)>>,
}

impl Jobs {
    /// Creates a number of jobs on a network, each with all of its ranks.
    pub fn new(network: &Arc<Network>, jobs: u64) -> Self {
        let (shared, switches_move) = match jobs {
            1 => (Arc::clone(network), 0),
            _ => {
                let (shared, switches_move) = network.for_jobs(jobs);
                (Arc::new(shared), switches_move)
            }
        };
        Self {
            ranks_of_job: network.nodes(),
            network: shared,
            switches_move,
            lists: Vec::new(),
            left: MERGED_MESSAGES,
        }
    }

    /// Returns the network with the ranks of all jobs.
    pub fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// Returns an empty list for a schedule of a job. `unit_bytes` is the size of a unit of load:
    /// 1, or the size of a block. `interests` are those of the listener of all jobs.
    pub fn list(&self, job: u64, unit_bytes: u64, interests: Interests) -> StepList {
        StepList {
            interests: Interests { detail: Detail::AllNodes, sends: false, ..interests },
            first_rank: (job * self.ranks_of_job) as u32,
            ranks_of_job: self.ranks_of_job,
            switches_move: self.switches_move,
            unit_bytes,
            steps: Vec::new(),
            after_last: Between::default(),
            left: self.left,
            refused: None,
        }
    }

    /// Adds a list that has received the steps of a verified schedule. Errors if the list cannot be
    /// merged with others, for example because it has too many messages.
    pub fn add(&mut self, list: StepList) -> Result<(), Fault> {
        if let Some(fault) = list.refused {
            return Err(fault);
        }
        self.left = list.left;
        self.lists.push(list);
        Ok(())
    }

    /// Reports the steps of schedules to a listener, with loads in bytes. Returns the totals that
    /// do not depend on the data that nodes hold. Errors if the loads of a step are too large, or a
    /// message has no route.
    pub fn report(&self, of: Reported, listener: &mut dyn Listener) -> Result<Totals, Fault> {
        let interests = Interests { packing: false, ..listener.interests() };
        let is_reported = |(number, list): &(usize, &StepList)| match of {
            Reported::All => true,
            Reported::Job(job) => u64::from(list.first_rank) == job * self.ranks_of_job,
            Reported::First => *number == 0,
        };
        let lists = self.lists.iter().enumerate().filter(is_reported);
        let lists: Vec<&StepList> = lists.map(|(_, list)| list).collect();
        let mut statistics = StepStatistics::new(Arc::clone(&self.network), interests);
        let mut totals = Totals { segments: 1, ..Totals::default() };
        let nodes = self.network.nodes() as usize;
        let last = lists.iter().map(|list| list.steps.len()).max().unwrap_or(0);
        for number in 0..=last {
            let before = lists.iter().filter_map(|list| match list.steps.get(number) {
                Some(step) => Some(&step.before),
                None => (list.steps.len() == number).then_some(&list.after_last),
            });
            let before: Vec<&Between> = before.collect();
            report_between(&before, nodes, listener, &mut totals);
            let steps: Vec<(&StepList, &ListedStep)> =
                lists.iter().filter_map(|l| Some((*l, l.steps.get(number)?))).collect();
            let Some((_, first)) = steps.first() else { continue };
            let count = steps.iter().map(|(_, step)| step.transfers.len()).sum();
            let mut transfers: Vec<Transfer> = Vec::with_capacity(count);
            let (mut routes, mut arrivals): (Vec<Route>, Vec<u32>) = (Vec::new(), Vec::new());
            for (list, step) in &steps {
                let before = routes.len() as u32;
                let renumber = |route: u32| if route == 0 { 0 } else { route + before };
                let moved = |t: &Transfer| Transfer { route: renumber(t.route), ..*t };
                transfers.extend(step.transfers.iter().map(moved));
                routes.extend_from_slice(&step.routes);
                arrivals.extend(step.latest_arrivals.iter().map(|at| list.number_of(*at)));
            }
            let packed = steps.iter().filter_map(|(_, step)| step.max_packed_bytes).max();
            let blocks = steps.iter().filter_map(|(_, step)| step.max_packed_blocks);
            let blocks = blocks.reduce(f64::max);
            let number = number as u64 + 1;
            let facts = statistics.measure(number, &mut transfers, None, &routes)?;
            let facts = StepFacts { max_packed_load: packed, max_packed_blocks: blocks, ..facts };
            facts.check(transfers.len(), self.network.link_slots());
            totals.add(&facts);
            listener.notify(ScheduleEvent::Step(&Step {
                number,
                phase_number: 1,
                transfers: &transfers,
                latest_arrivals: &arrivals,
                inverse_bandwidth: statistics.inverse_bandwidth(),
                mean_hops: statistics.mean_hops(),
                busiest_links: statistics.busiest_links(),
                ..Step::of(first.proof, 1, number, facts, &routes)
            }));
        }
        Ok(totals)
    }
}

fn report_between(
    all: &[&Between],
    nodes: usize,
    listener: &mut dyn Listener,
    totals: &mut Totals,
) {
    let count = all.iter().map(|between| between.rearranged.len()).max().unwrap_or(0);
    for k in 0..count {
        let most = all.iter().filter_map(|between| between.rearranged.get(k)).max();
        let most = most.copied().unwrap_or(0);
        totals.rearrangements += 1;
        listener.notify(ScheduleEvent::Rearrangement { most, segments: 1 });
    }
    let count = all.iter().map(|between| between.summed.len()).max().unwrap_or(0);
    for k in 0..count {
        let mut of = vec![0; nodes];
        for (rank, bytes) in all.iter().filter_map(|between| between.summed.get(k)).flatten() {
            of[*rank as usize] += bytes;
        }
        let most = of.iter().copied().max().unwrap_or(0);
        totals.critical_summed += u128::from(most);
        let summed = Summed { most, of: &of, symmetry: None, segments: 1 };
        listener.notify(ScheduleEvent::Summed(summed));
    }
}

impl StepList {
    fn number_of(&self, schedule_step: u32) -> u32 {
        self.steps.partition_point(|step| step.number <= schedule_step.into()) as u32
    }

    fn bytes(&self, load: u64, segments: u64) -> Result<u64, Fault> {
        load.checked_mul(self.unit_bytes.div_ceil(segments.max(1)))
            .ok_or_else(|| Fault::Refused("a load has more than 2^64 bytes".to_owned()))
    }

    fn step(&mut self, step: &Step<'_>) -> Result<(), Fault> {
        assert!(step.symmetry.is_none(), "a list of steps reads the messages of all nodes");
        self.left = self.left.checked_sub(step.transfers.len() as u64).ok_or_else(|| {
            let most = Count(MERGED_MESSAGES, "message");
            Fault::Refused(format!(
                "schedules that run at the same time are stored, up to {most}, these have more"
            ))
        })?;
        let mut transfers = Vec::with_capacity(step.transfers.len());
        for t in step.transfers {
            let load = self.bytes(t.load, step.segments)?;
            let [from, to] = [t.from, t.to].map(|rank| rank + self.first_rank);
            transfers.push(Transfer { from, to, load, ..*t });
        }
        let packed = step.facts.max_packed_load;
        let packed = packed.map(|load| self.bytes(load, step.segments)).transpose()?;
        let (of_job, moved) = (self.ranks_of_job, self.switches_move);
        // The ranks of all jobs share the nodes, so paths name nodes by the ranks of the first job.
        let vertex = |vertex: u64| if vertex < of_job { vertex } else { vertex + moved };
        let moved = |route: &Route| Route {
            path: route.path.iter().map(|v| vertex(*v)).collect(),
            ..route.clone()
        };
        self.steps.push(ListedStep {
            before: std::mem::take(&mut self.after_last),
            number: step.schedule_step,
            proof: step.proof,
            transfers,
            latest_arrivals: step.latest_arrivals.to_vec(),
            routes: step.routes.iter().map(moved).collect(),
            max_packed_bytes: packed,
            max_packed_blocks: step.facts.max_packed_blocks,
        });
        Ok(())
    }

    fn event(&mut self, event: ScheduleEvent<'_>) -> Result<(), Fault> {
        match event {
            ScheduleEvent::Step(step) => self.step(step)?,
            ScheduleEvent::Rearrangement { most, segments } => {
                let bytes = self.bytes(most, segments)?;
                self.after_last.rearranged.push(bytes);
            }
            ScheduleEvent::Summed(Summed { of, symmetry, segments, .. }) => {
                assert!(symmetry.is_none(), "a list of steps reads the loads of all nodes");
                let mut summed = Vec::new();
                for (rank, load) in (self.first_rank..).zip(of).filter(|(_, load)| **load > 0) {
                    summed.push((rank, self.bytes(*load, segments)?));
                }
                self.after_last.summed.push(summed);
            }
            ScheduleEvent::Communicators(_)
            | ScheduleEvent::Phase(_)
            | ScheduleEvent::LocalCopy(_)
            | ScheduleEvent::Redistribution(_)
            | ScheduleEvent::ByteSend(_)
            | ScheduleEvent::Sent(_)
            | ScheduleEvent::EmptySend(_)
            | ScheduleEvent::RedundantBlock { .. } => {}
        }
        Ok(())
    }
}

impl Listener for StepList {
    fn interests(&self) -> Interests {
        self.interests
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        if self.refused.is_none() {
            self.refused = self.event(event).err();
        }
    }
}
