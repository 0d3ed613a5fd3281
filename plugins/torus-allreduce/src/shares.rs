//! An allreduce by shares: in each step of a reduce-scatter a node gives its partners what they, or
//! those whom they will meet later, sum last; the allgather is the same backwards.

use swapmeet_sdk::{Axis, Blocks, Grid, Planned, Problem, Route, Schedule, Set, Stop, Symmetry};

/// One of the collectives that run at once, each of its own segment of the vector's parts. Parts
/// are known by the node that sums them last.
pub(crate) trait Shares {
    /// Steps of the reduce-scatter.
    fn steps(&self) -> usize;

    /// The dimension that step number `step` goes along.
    fn dimension(&self, step: usize) -> usize;

    /// What a node with coordinate `c` in that dimension gives whom in the step.
    fn gives(&self, step: usize, c: u64) -> Vec<Gift>;

    /// The coordinates in another dimension of the parts that a node with coordinate `c` there
    /// still sums before step number `step`.
    fn kept(&self, step: usize, dimension: usize, c: u64) -> Coordinates;

    /// By multiples of what, which divides a dimension, its coordinates may be shifted and all else
    /// shifts with them.
    fn period(&self, dimension: usize) -> u64;
}

/// What a node gives another along a dimension.
pub(crate) struct Gift {
    /// The other's coordinate.
    pub to: u64,
    /// The direction of the way there: 1 for up, -1 for down, 0 for the shorter one.
    pub sign: i8,
    /// The coordinates of the parts.
    pub parts: Coordinates,
}

/// Steps that go round the dimensions which have some left: for each the dimension, and its number
/// there.
pub(crate) struct Turns(Vec<(usize, u32)>);

impl Turns {
    /// From one dimension on, in dimensions of so many steps each.
    pub(crate) fn new(steps: &[u32], first: usize) -> Self {
        let longest = steps.iter().copied().max().unwrap_or(0);
        let round = |s: u32| (0..steps.len()).map(move |turn| (turn, s));
        let turns = (0..longest).flat_map(round).map(|(turn, s)| ((turn + first) % steps.len(), s));
        Self(turns.filter(|(dimension, s)| *s < steps[*dimension]).collect())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn at(&self, step: usize) -> (usize, u32) {
        self.0[step]
    }

    /// How many of the steps before this one went along a dimension.
    pub(crate) fn done(&self, step: usize, dimension: usize) -> u32 {
        self.0[..step].iter().filter(|(of, _)| *of == dimension).count() as u32
    }
}

/// The topology's grid, if each side is a power of what `what` says; `is_power` says which are.
pub(crate) fn sides(
    problem: &Problem<'_>,
    is_power: impl Fn(u64) -> bool,
    what: &str,
) -> Result<Grid, Stop> {
    let grid = problem.topology().grid()?;
    match grid.radices().iter().find(|radix| !is_power(**radix)) {
        None => Ok(grid),
        Some(radix) => {
            Err(Stop::unsupported(format!("a dimension of {radix} nodes, no power of {what}")))
        }
    }
}

/// Whether every dimension goes round, so that a way can be said either way.
pub(crate) fn goes_round(problem: &Problem<'_>) -> bool {
    matches!(problem.topology().kind(), "torus" | "ring")
}

/// A set of coordinates, as bits.
pub(crate) type Coordinates = Vec<u64>;

/// The set of these.
pub(crate) fn set(radix: u64, members: impl IntoIterator<Item = u64>) -> Coordinates {
    let mut words = vec![0; radix.div_ceil(64) as usize];
    members.into_iter().for_each(|c| words[(c / 64) as usize] |= 1 << (c % 64));
    words
}

/// Every coordinate.
pub(crate) fn all(radix: u64) -> Coordinates {
    set(radix, 0..radix)
}

/// The collectives that run at once: where each begins, and whether it goes the other way. One
/// alone, or one for each direction of each dimension.
pub(crate) fn at_all_ports(grid: &Grid, all_ports: bool) -> impl Iterator<Item = (usize, bool)> {
    let (many, ways) =
        if all_ports { (grid.dimensions(), &[false, true][..]) } else { (1, &[false][..]) };
    (0..many).flat_map(|first| ways.iter().map(move |other_way| (first, *other_way)))
}

/// Whom these are planned for, and of each dimension how many coordinates, the first, they have.
fn planned(
    grid: &Grid,
    all: &[&dyn Shares],
    schedule: &mut Schedule<'_>,
) -> Result<(Planned, Vec<u64>), Stop> {
    // They are told apart by where they begin and which way they go: of each dimension all have the
    // period alike.
    let period = |dimension| all.iter().map(|one| one.period(dimension)).max().unwrap_or(1);
    let periods: Vec<u64> = (0..grid.dimensions()).map(period).collect();
    let planned = schedule
        .symmetric(&periods.iter().map(|period| Symmetry::shift(*period)).collect::<Vec<_>>())?;
    let coordinates = if planned.is_everyone() { grid.radices().to_vec() } else { periods };
    Ok((planned, coordinates))
}

/// The whole vector instead of shares of it: in each step a node gives those whom it would give a
/// share all its sums.
pub(crate) fn exchange_whole(
    grid: &Grid,
    one: &dyn Shares,
    schedule: &mut Schedule<'_>,
) -> Result<(), Stop> {
    let (planned, coordinates) = planned(grid, &[one], schedule)?;
    for step in 0..one.steps() {
        let dimension = one.dimension(step);
        let gifts: Vec<Vec<Gift>> =
            (0..coordinates[dimension]).map(|c| one.gives(step, c)).collect();
        schedule.step()?;
        for node in &planned {
            for gift in &gifts[grid.coordinate(node, dimension) as usize] {
                schedule.send(
                    &Blocks::new(node, grid.moved(node, dimension, gift.to)).copy().combine(),
                )?;
            }
        }
    }
    Ok(())
}

/// Runs these at once.
pub(crate) fn allreduce(
    grid: &Grid,
    all: &[&dyn Shares],
    schedule: &mut Schedule<'_>,
) -> Result<(), Stop> {
    schedule.layout_in_parts(grid.radices(), all.len() as u32)?;
    let (planned, coordinates) = planned(grid, all, schedule)?;
    let steps = all.iter().map(|one| one.steps()).max().unwrap_or(0);
    schedule.phase("reduce-scatter")?;
    for step in 0..steps {
        at_once(grid, all, schedule, (&planned, &coordinates), (step, true))?;
    }
    schedule.phase("allgather")?;
    (0..steps)
        .rev()
        .try_for_each(|step| at_once(grid, all, schedule, (&planned, &coordinates), (step, false)))
}

/// What one of the collectives does in a step.
struct UnderWay {
    segment: u64,
    dimension: usize,
    /// For each coordinate in the dimension what nodes send.
    sends: Vec<Vec<Gift>>,
    /// For each other dimension and coordinate there the parts: what nodes with the same coordinate
    /// keep is the same, whatever their other coordinates.
    kept: Vec<Vec<Coordinates>>,
}

/// A step of all of them, forwards or backwards, at the nodes that are planned for, whose
/// coordinates are the first of each dimension.
fn at_once(
    grid: &Grid,
    all: &[&dyn Shares],
    schedule: &mut Schedule<'_>,
    (planned, coordinates): (&Planned, &[u64]),
    (step, sums): (usize, bool),
) -> Result<(), Stop> {
    let begins = |(segment, one): (u64, &&dyn Shares)| {
        let dimension = one.dimension(step);
        let sends = |c| {
            if sums {
                one.gives(step, c)
            } else {
                gives_back(*one, step, (dimension, grid.radix(dimension)), c)
            }
        };
        let kept = |along: usize| match along == dimension {
            true => Vec::new(),
            false => (0..coordinates[along]).map(|c| one.kept(step, along, c)).collect(),
        };
        let sends = (0..coordinates[dimension]).map(sends).collect();
        UnderWay { segment, dimension, sends, kept: (0..grid.dimensions()).map(kept).collect() }
    };
    schedule.step()?;
    let under_way: Vec<UnderWay> =
        (0..).zip(all).filter(|(_, one)| step < one.steps()).map(begins).collect();
    for node in planned {
        for UnderWay { segment, dimension, sends, kept } in &under_way {
            for gift in &sends[grid.coordinate(node, *dimension) as usize] {
                let parts = |(along, c): (usize, u64)| match along == *dimension {
                    true => Axis::bits(&gift.parts),
                    false => Axis::bits(&kept[along][c as usize]),
                };
                let axes: Vec<Axis<'_>> = grid.coordinates(node).enumerate().map(parts).collect();
                let mut signs = vec![0; grid.dimensions()];
                signs[*dimension] = gift.sign;
                let route = Route::signs(&signs);
                let send = Blocks::new(node, grid.moved(node, *dimension, gift.to));
                let send = if sums { send.combine() } else { send.copy() };
                let send =
                    send.destinations(Set::product(&axes)).segments(Axis::one(*segment)).strict();
                schedule.send(&if gift.sign == 0 { send } else { send.route(&route) })?;
            }
        }
    }
    Ok(())
}

/// What a node with coordinate `c` gives back in the step: to whoever gave it something, the same
/// parts, the other way.
fn gives_back(
    one: &dyn Shares,
    step: usize,
    (dimension, radix): (usize, u64),
    c: u64,
) -> Vec<Gift> {
    let period = one.period(dimension);
    let mut back = Vec::new();
    // Whoever is as much further on gives as much further on.
    for (like, gifts) in (0..period).map(|like| (like, one.gives(step, like))) {
        for (number, gift) in gifts.into_iter().enumerate() {
            let giver = (c + radix + like - gift.to) % radix;
            if giver % period == like
                && let Some(given) = one.gives(step, giver).into_iter().nth(number)
            {
                back.push((number, Gift { to: giver, sign: -given.sign, parts: given.parts }));
            }
        }
    }
    back.sort_by_key(|(number, _)| *number);
    back.into_iter().map(|(_, gift)| gift).collect()
}
