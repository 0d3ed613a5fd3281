//! `greedy-allgather`, `greedy-broadcast`, and two reductions that are derived from an allgather.
//! If the steps of an allgather run backwards over reversed links, the result is a reduce-scatter:
//! where a node received a block and sent copies, it then receives partial sums, adds them, and
//! sends the sum once. An allreduce is a reduce-scatter followed by an allgather.

use crate::gather::{Moves, check_moves, gather};
use crate::network::LinkGraph;
use crate::orbits::{self, Translations};
use crate::{Deadline, SECONDS, SEED};
use swapmeet_flows::Random;
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, ParamInfo, Problem, Schedule, Set, Stop, Symmetry,
};

/// The largest number of tries. More could take hours without a call to the host.
const MOST_TRIES: u64 = 1 << 16;
const TRIES: ParamInfo = ParamInfo::number(
    "tries",
    "",
    "schedules to choose the best from; by default 16 up to 64 nodes, and 4 above",
);

const SEGMENTS: ParamInfo = ParamInfo::number(
    "segments",
    "1",
    "parts of each block that travel on their own, at most 4096; more parts share unequal links better, and take more steps",
);

const ANY: About = About {
    accepts: "any connected network without switches",
    params: &[SEGMENTS, TRIES, SEED, SECONDS],
    ports: u64::MAX,
    ..About::DEFAULT
};

pub struct Greedy {
    about: About,
}

pub const ALL_GATHER: Greedy = Greedy {
    about: About {
        name: "greedy-allgather",
        title: "Allgather: every link carries a rare block that its end lacks",
        collectives: &[Collective::AllGather],
        ..ANY
    },
};

pub const REDUCE_SCATTER: Greedy = Greedy {
    about: About {
        name: "greedy-reduce-scatter",
        title: "Reduce-scatter: a greedy allgather backwards",
        collectives: &[Collective::ReduceScatter],
        ..ANY
    },
};

pub const ALL_REDUCE: Greedy = Greedy {
    about: About {
        name: "greedy-allreduce",
        title: "Allreduce: greedy reduce-scatter, then greedy allgather",
        collectives: &[Collective::AllReduce],
        ..ANY
    },
};

pub const BROADCAST: Greedy = Greedy {
    about: About {
        name: "greedy-broadcast",
        title: "Broadcast: every link carries a rare segment that its end lacks",
        collectives: &[Collective::Broadcast],
        params: &[
            ParamInfo::number("segments", "16", "parts of the block, at most 4096"),
            TRIES,
            SEED,
            SECONDS,
        ],
        ..ANY
    },
};

impl Algorithm for Greedy {
    fn about(&self) -> About {
        self.about
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        if LinkGraph::read(problem)?.has_switches() {
            return Err(Stop::unsupported(
                "switches cannot store data, so there are no steps between neighbours: use an algorithm that does not plan for links, such as `ring` or `recursive-doubling-allgather`",
            ));
        }
        Ok(())
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let network = LinkGraph::read(problem)?;
        let nodes = network.nodes as u32;
        let tries: Option<u64> = problem.given(TRIES.key())?;
        if let Some(tries) = tries.filter(|tries| *tries > MOST_TRIES) {
            return Err(Stop::failed(format!(
                "`tries={tries}`: expected a whole number from 0 to {MOST_TRIES}"
            )));
        }
        let dims = problem.topology().dims();
        let mut search = Search {
            tries: tries.unwrap_or(if nodes <= 64 { 16 } else { 4 }).max(1),
            random: Random::new(problem.param(SEED.key())?),
            deadline: Deadline::start(problem)?,
        };
        let collective = problem.collective();
        let segments = problem.whole(SEGMENTS.key(), 1..=4096)?;
        let of_root = collective == Collective::Broadcast;
        let blocks = if of_root { segments } else { segments * u64::from(nodes) };
        check_moves(&network, blocks)?;
        // If all nodes are equivalent, the grid has the axes of the network, because the symmetry
        // needs them. Otherwise, in an allgather or a reduction, the grid has one axis. Any set of
        // nodes is then one box, which makes verification fast.
        let is_equal = !of_root && segments == 1;
        let group = if is_equal { Translations::of(&network, dims) } else { None };
        let line = [network.nodes as u64];
        let grid = if group.is_some() || of_root { dims } else { &line };
        match collective {
            Collective::AllReduce => schedule.layout_in_parts(grid, segments as u32)?,
            _ => schedule.layout(grid, segments as u32)?,
        }
        if let Some(group) = group {
            return search.equal_nodes(&network, &group, collective, schedule);
        }
        let origin = |block| if of_root { problem.root() } else { block / segments };
        let origins: Vec<u32> = (0..blocks).map(|block| origin(block) as u32).collect();
        let part = |blocks: Blocks<'static>, block: u64| match segments {
            1 => blocks,
            _ => blocks.segments(Axis::one(block % segments)),
        };
        if matches!(collective, Collective::ReduceScatter | Collective::AllReduce) {
            let (reversed, of_link) = network.reversed();
            let moves = search.gather(&reversed, &origins, schedule)?;
            schedule.phase("reduce-scatter")?;
            backwards(&network, &of_link, &moves, schedule, |blocks, block| {
                part(blocks, block).destinations(Set::one(block / segments)).strict().combine()
            })?;
        }
        if collective != Collective::ReduceScatter {
            let moves = search.gather(&network, &origins, schedule)?;
            if !of_root {
                schedule.phase("allgather")?;
            }
            forwards(&network, &moves, schedule, |blocks, block| {
                copied(part(blocks, block), collective, block / segments)
            })?;
        }
        Ok(())
    }
}

/// Selects the block that a send copies: that of the root in a broadcast, that of an origin in an
/// allgather, or a completed part of the vector in an allreduce.
fn copied(blocks: Blocks<'static>, collective: Collective, block: u64) -> Blocks<'static> {
    match collective {
        Collective::Broadcast => blocks.copy(),
        Collective::AllReduce => blocks.destinations(Set::one(block)).strict().copy(),
        _ => blocks.origins(Set::one(block)).strict().copy(),
    }
}

struct Search {
    tries: u64,
    random: Random,
    deadline: Deadline,
}

impl Search {
    fn gather(
        &mut self,
        network: &LinkGraph,
        origins: &[u32],
        schedule: &Schedule<'_>,
    ) -> Result<Moves, Stop> {
        let moves = gather(network, origins, self.tries, &mut self.random, self.deadline)?;
        schedule.log(&format!("schedule: {} steps", moves.steps()));
        if self.deadline.has_passed() {
            schedule.note(crate::ENDED_EARLY);
        }
        Ok(moves)
    }

    fn equal_nodes(
        &mut self,
        network: &LinkGraph,
        group: &Translations,
        collective: Collective,
        schedule: &mut Schedule<'_>,
    ) -> Result<(), Stop> {
        let planned = schedule.symmetric(&vec![Symmetry::shift(1); group.axes()])?;
        let mut find =
            |group: &Translations| orbits::gather(network, group, self.tries, &mut self.random);
        if collective != Collective::AllGather {
            // A reduce-scatter is a gather on the reversed network that runs backwards. A node that
            // receives a block in the gather sends a partial sum in the reduce-scatter. The sum is
            // for the origin of the block, which is `from` minus the offset.
            let steps = find(&group.reversed());
            schedule.log(&format!("schedule: {} steps", steps.len()));
            schedule.phase("reduce-scatter")?;
            for step in steps.iter().rev() {
                schedule.step()?;
                for from in &planned {
                    for &(shift, offset) in step {
                        let to = group.add(from as u32, group.shifts[shift]);
                        let block = group.subtract(from as u32, offset);
                        let blocks = Blocks::new(from, to.into()).strict().combine();
                        schedule.send(&blocks.destinations(Set::one(block.into())))?;
                    }
                }
            }
        }
        if collective != Collective::ReduceScatter {
            let steps = find(group);
            schedule.log(&format!("schedule: {} steps", steps.len()));
            schedule.phase("allgather")?;
            for step in &steps {
                schedule.step()?;
                for from in &planned {
                    for &(shift, offset) in step {
                        let to = group.add(from as u32, group.shifts[shift]);
                        let block = group.subtract(to, offset);
                        let blocks = Blocks::new(from, to.into());
                        schedule.send(&copied(blocks, collective, block.into()))?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Adds moves as sends of copies. `select` restricts a send to a block.
fn forwards(
    network: &LinkGraph,
    moves: &Moves,
    schedule: &mut Schedule<'_>,
    select: impl Fn(Blocks<'static>, u64) -> Blocks<'static>,
) -> Result<(), Stop> {
    for step in 0..moves.steps() {
        schedule.step()?;
        for &(link, block) in moves.step(step) {
            let (from, to) = (network.links.tail[link as usize], network.links.head[link as usize]);
            schedule.send(&select(Blocks::new(from.into(), to.into()), block.into()))?;
        }
    }
    Ok(())
}

/// Adds moves in reverse order, as sends of partial sums over the original links `of_link`.
fn backwards(
    network: &LinkGraph,
    of_link: &[u32],
    moves: &Moves,
    schedule: &mut Schedule<'_>,
    select: impl Fn(Blocks<'static>, u64) -> Blocks<'static>,
) -> Result<(), Stop> {
    for step in (0..moves.steps()).rev() {
        schedule.step()?;
        for &(link, block) in moves.step(step) {
            let link = of_link[link as usize] as usize;
            let blocks =
                Blocks::new(network.links.tail[link].into(), network.links.head[link].into());
            schedule.send(&select(blocks, block.into()))?;
        }
    }
    Ok(())
}
