//! An allreduce as a reduce-scatter and an allgather. In each step of the reduce-scatter, a node
//! sends some parts of the vector to partners. The partners complete the sums of these parts, or
//! later reach the nodes that complete them.

use swapmeet_sdk::{Axis, Blocks, Grid, Planned, Problem, Route, Schedule, Set, Stop, Symmetry};

/// One of several simultaneous allreduces, each with a segment of every part. A part is named by
/// the coordinates of the node that completes it.
pub(crate) trait ShareCollective {
    fn order(&self) -> &StepOrder;

    fn messages(&self, step: usize, c: u64) -> Vec<PartMessage>;

    /// For a step in another dimension, returns the parts that a node with coordinate `c` in
    /// `dimension` still has, as coordinates in `dimension`.
    fn kept(&self, step: usize, dimension: usize, c: u64) -> Coordinates;

    /// Returns a divisor of the radix. Shifts by its multiples are symmetries.
    fn period(&self, dimension: usize) -> u64;
}

pub(crate) struct PartMessage {
    pub to: u64,
    /// 1 for ascending coordinates, -1 for descending ones, 0 for the shorter direction.
    pub sign: i8,
    pub parts: Coordinates,
}

/// For each step, the dimension, and the number of earlier steps in this dimension.
pub(crate) struct StepOrder(Vec<(usize, u32)>);

impl StepOrder {
    /// Completes one dimension after another, from `first` on. `steps` has the number of steps of
    /// each dimension.
    pub(crate) fn sequential(steps: &[u32], first: usize) -> Self {
        let dimensions = (0..steps.len()).map(|turn| (turn + first) % steps.len());
        Self(dimensions.flat_map(|d| (0..steps[d]).map(move |s| (d, s))).collect())
    }

    /// Uses the dimensions in turn, one step at a time, from `first` on. Dimensions that are
    /// complete are skipped.
    pub(crate) fn alternating(steps: &[u32], first: usize) -> Self {
        let mut order = Self::sequential(steps, first);
        order.0.sort_by_key(|(_, s)| *s);
        order
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn at(&self, step: usize) -> (usize, u32) {
        self.0[step]
    }

    pub(crate) fn done(&self, step: usize, dimension: usize) -> u32 {
        self.0[..step].iter().filter(|(of, _)| *of == dimension).count() as u32
    }
}

/// Checks that all sides are powers of a number, whose name in the message is `base`, such as
/// "two".
pub(crate) fn grid_of_powers(
    problem: &Problem<'_>,
    is_power: impl Fn(u64) -> bool,
    base: &str,
) -> Result<Grid, Stop> {
    let grid = problem.topology().grid()?;
    match grid.radices().iter().find(|radix| !is_power(**radix)) {
        None => Ok(grid),
        Some(radix) => Err(Stop::unsupported(format!(
            "a dimension has {radix} nodes, which is not a power of {base}"
        ))),
    }
}

pub(crate) fn wraps_around(problem: &Problem<'_>) -> bool {
    matches!(problem.topology().kind(), "torus" | "ring")
}

pub(crate) fn has_all_ports(problem: &Problem<'_>, grid: &Grid) -> bool {
    wraps_around(problem) && problem.ports() >= 2 * grid.dimensions() as u64
}

pub(crate) type Coordinates = Vec<u64>;

/// Returns the first dimension of each allreduce, and whether the allreduce uses the opposite
/// directions. There is one allreduce, or one for each direction of each dimension.
pub(crate) fn collectives_at_once(
    grid: &Grid,
    all_ports: bool,
) -> impl Iterator<Item = (usize, bool)> {
    let (count, directions) =
        if all_ports { (grid.dimensions(), &[false, true][..]) } else { (1, &[false][..]) };
    (0..count).flat_map(|first| directions.iter().map(move |opposite| (first, *opposite)))
}

fn planned(
    grid: &Grid,
    all: &[&dyn ShareCollective],
    schedule: &mut Schedule<'_>,
) -> Result<Planned, Stop> {
    let period =
        |dimension| all.iter().map(|collective| collective.period(dimension)).max().unwrap_or(1);
    let periods: Vec<u64> = (0..grid.dimensions()).map(period).collect();
    schedule.symmetric(&periods.iter().map(|period| Symmetry::shift(*period)).collect::<Vec<_>>())
}

pub(crate) fn exchange_whole(
    grid: &Grid,
    collective: &dyn ShareCollective,
    schedule: &mut Schedule<'_>,
) -> Result<(), Stop> {
    let planned = planned(grid, &[collective], schedule)?;
    for step in 0..collective.order().len() {
        let dimension = collective.order().at(step).0;
        let coordinates = planned.coordinates(dimension);
        let messages: Vec<Vec<PartMessage>> =
            coordinates.clone().map(|c| collective.messages(step, c)).collect();
        schedule.step()?;
        for node in &planned {
            let c = grid.coordinate(node, dimension) - coordinates.start;
            for message in &messages[c as usize] {
                schedule.send(
                    &Blocks::new(node, grid.moved(node, dimension, message.to)).copy().combine(),
                )?;
            }
        }
    }
    Ok(())
}

pub(crate) fn allreduce(
    grid: &Grid,
    all: &[impl ShareCollective],
    schedule: &mut Schedule<'_>,
) -> Result<(), Stop> {
    let all: &[&dyn ShareCollective] = &all.iter().map(|one| one as _).collect::<Vec<_>>();
    schedule.layout_in_parts(grid.radices(), all.len() as u32)?;
    let planned = planned(grid, all, schedule)?;
    let steps = all.iter().map(|collective| collective.order().len()).max().unwrap_or(0);
    schedule.phase("reduce-scatter")?;
    for step in 0..steps {
        add_step(grid, all, schedule, &planned, (step, true))?;
    }
    schedule.phase("allgather")?;
    (0..steps).rev().try_for_each(|step| add_step(grid, all, schedule, &planned, (step, false)))
}

struct StepMessages {
    segment: u64,
    dimension: usize,
    sends: Vec<Vec<PartMessage>>,
    /// For each other dimension and each planned coordinate in it, the parts that are kept.
    kept: Vec<Vec<Coordinates>>,
}

fn add_step(
    grid: &Grid,
    all: &[&dyn ShareCollective],
    schedule: &mut Schedule<'_>,
    planned: &Planned,
    (step, sums): (usize, bool),
) -> Result<(), Stop> {
    let begin = |(segment, collective): (u64, &&dyn ShareCollective)| {
        let dimension = collective.order().at(step).0;
        let sends = |c| {
            if sums {
                collective.messages(step, c)
            } else {
                returned_messages(*collective, step, (dimension, grid.radix(dimension)), c)
            }
        };
        let kept = |along: usize| match along == dimension {
            true => Vec::new(),
            false => planned.coordinates(along).map(|c| collective.kept(step, along, c)).collect(),
        };
        let sends = planned.coordinates(dimension).map(sends).collect();
        StepMessages { segment, dimension, sends, kept: (0..grid.dimensions()).map(kept).collect() }
    };
    schedule.step()?;
    let unfinished: Vec<StepMessages> = (0..)
        .zip(all)
        .filter(|(_, collective)| step < collective.order().len())
        .map(begin)
        .collect();
    let number = |along: usize, c: u64| (c - planned.coordinates(along).start) as usize;
    for node in planned {
        for StepMessages { segment, dimension, sends, kept } in &unfinished {
            for message in &sends[number(*dimension, grid.coordinate(node, *dimension))] {
                let parts = |(along, c): (usize, u64)| match along == *dimension {
                    true => Axis::bits(&message.parts),
                    false => Axis::bits(&kept[along][number(along, c)]),
                };
                let axes: Vec<Axis<'_>> = grid.coordinates(node).enumerate().map(parts).collect();
                let mut signs = vec![0; grid.dimensions()];
                signs[*dimension] = message.sign;
                let route = Route::signs(&signs);
                let send = Blocks::new(node, grid.moved(node, *dimension, message.to));
                let send = if sums { send.combine() } else { send.copy() };
                let send =
                    send.destinations(Set::product(&axes)).segments(Axis::one(*segment)).strict();
                schedule.send(&if message.sign == 0 { send } else { send.route(&route) })?;
            }
        }
    }
    Ok(())
}

/// Returns the messages of the allgather that return the parts received in this step of the
/// reduce-scatter.
fn returned_messages(
    collective: &dyn ShareCollective,
    step: usize,
    (dimension, radix): (usize, u64),
    c: u64,
) -> Vec<PartMessage> {
    let period = collective.period(dimension);
    let mut back = Vec::new();
    // Nodes whose coordinates differ by a multiple of the period send over the same distances.
    for (like, messages) in (0..period).map(|like| (like, collective.messages(step, like))) {
        for (number, message) in messages.into_iter().enumerate() {
            let giver = (c + radix + like - message.to) % radix;
            if giver % period == like
                && let Some(given) = collective.messages(step, giver).into_iter().nth(number)
            {
                back.push((
                    number,
                    PartMessage { to: giver, sign: -given.sign, parts: given.parts },
                ));
            }
        }
    }
    back.sort_by_key(|(number, _)| *number);
    back.into_iter().map(|(_, message)| message).collect()
}
