//! Assigns the nodes of a torus to cycles and sections for a rotation by 90 degrees. The rule was
//! found for this project; Fig. 4.12 b of the thesis shows one example.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | n | `n` | number of nodes of a row |
//! | N | `4 * side` | number of nodes of a cycle |
//! | q | `q` | largest number of circuits that a directed link carries at the same time |
//! | n / 4q | `size` | number of nodes of a section |
//!
//! One node of each section, the collector, gathers the blocks of the section and sends them
//! through one circuit, which leads a quarter of the cycle forwards or three quarters backwards. As
//! a link carries at most q circuits at a time, a cycle has room for:
//! * q forward circuits from every quarter, if they begin at the same positions in each quarter;
//! * floor(q/3) backward circuits from every quarter, under the same condition;
//! * q mod 3 further backward circuits, which can begin at any position.
//!
//! The q forward circuits of a quarter have room for the blocks of n/4 nodes. On the shorter
//! cycles, this leaves no room for an eighth of all nodes. The longer cycles send the blocks of
//! this eighth backwards.
//!
//! Case 1: q is at least 3. Every quarter of a cycle is divided in the same way, and the four nodes
//! that the rotation maps to each other use the same cycle.
//!
//! Case 2: q is 1 or 2. The q mod 3 further backward circuits are needed. Forward collectors have
//! fixed positions. A node between two forward collectors belongs to the section of one of the two,
//! or to that of a backward collector between them.

use crate::share::share;
use crate::squares::Square;

/// Consecutive nodes of one cycle whose blocks move along this cycle, and the collector of these
/// blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    pub square: usize,
    /// Whether the collector's circuit leads a quarter of the cycle forwards. Otherwise, it leads
    /// three quarters backwards.
    pub forward: bool,
    pub positions: Vec<i64>,
    pub collector: usize,
}

#[derive(Debug, Clone, Copy)]
pub struct Parameters {
    pub n: u64,
    /// Largest number of circuits that a directed link carries at the same time.
    pub q: u64,
    /// Whether a node uses one port at a time. The first node of a section is then its collector.
    pub one_port: bool,
}

/// The largest numbers of nodes that a section may have before and after its collector.
#[derive(Debug, Clone, Copy)]
struct Reach {
    before: usize,
    after: usize,
}

impl Reach {
    fn new(size: usize, one_port: bool) -> Self {
        let before = if one_port { 0 } else { size / 2 };
        Self { before, after: size - 1 - before }
    }

    fn size(self) -> usize {
        self.before + self.after + 1
    }

    fn collector(self, count: usize) -> usize {
        self.before.min(count / 2)
    }
}

/// The positions of the forward collectors on a cycle, and the gaps with a backward section. A gap
/// consists of the nodes between two neighbouring forward collectors.
#[derive(Debug, Clone, Copy)]
struct CollectorPositions {
    /// The two collectors of each side, in units of 1/[`PARTS`] of the side.
    along: [usize; 2],
    /// In the cycle with the number `k` about the centre, gap `step * k` (modulo the number of
    /// gaps) has a backward section. With q = 2, so has the gap half a cycle further.
    step: usize,
    shift: usize,
}

const PARTS: usize = 24;

impl CollectorPositions {
    fn of_side(&self, side: usize) -> Vec<i64> {
        let [a, b] = self.along.map(|along| (along * side / PARTS) as i64);
        match self.along {
            [along, same] if along == same || side == 1 => vec![a],
            _ if a < b => vec![a, b],
            _ if a == 0 => vec![0, 1],
            _ => vec![a - 1, a],
        }
    }
}

/// Positions that are valid for most tori with q = 2. No rule that is valid for all of them is
/// known.
const USUAL: [CollectorPositions; 4] = [
    CollectorPositions { along: [4, 16], step: 2, shift: 0 },
    CollectorPositions { along: [4, 14], step: 1, shift: 2 },
    CollectorPositions { along: [10, 22], step: 2, shift: 0 },
    CollectorPositions { along: [2, 15], step: 2, shift: 0 },
];

/// Up to this n, all positions are tried if none of [`USUAL`] is valid. The time for this grows
/// with n.
const SEARCHED: u64 = 40;

/// Returns the partition with the smallest sections that the rule of this module finds, or `None`.
/// Sections have at most n nodes.
pub fn sections(squares: &[Square], parameters: Parameters) -> Option<Vec<Section>> {
    let least = parameters.n.div_ceil(4 * parameters.q).max(1) as usize;
    (least..=parameters.n as usize)
        .find_map(|size| of_size(squares, parameters, Reach::new(size, parameters.one_port)))
}

fn of_size(squares: &[Square], parameters: Parameters, reach: Reach) -> Option<Vec<Section>> {
    let with_positions =
        |collectors: CollectorPositions| around_collectors(squares, parameters, reach, collectors);
    match parameters.q {
        // One collector is in the middle of each side. Of consecutive cycles about the centre,
        // backward sections are in gaps 2 and 0 alternately. About the corner, they are in gaps 3
        // and 1 alternately.
        1 => with_positions(CollectorPositions { along: [PARTS / 2; 2], step: 2, shift: 1 }),
        2 => USUAL
            .into_iter()
            .chain(pairs().filter(|_| parameters.n <= SEARCHED))
            .find_map(with_positions),
        _ => equal_quarters(squares, parameters, reach),
    }
}

fn pairs() -> impl Iterator<Item = CollectorPositions> {
    let along = (0..PARTS).flat_map(|a| (a + 1..PARTS).map(move |b| [a, b]));
    along.flat_map(|along| {
        [1, 2].into_iter().flat_map(move |step| {
            (0..8).map(move |shift| CollectorPositions { along, step, shift })
        })
    })
}

/// A node, or several equivalent nodes, to be assigned to cycle 0 (about the centre) or 1 (about
/// the corner).
#[derive(Debug, Clone, Copy, Default)]
struct Assignable {
    buckets: [usize; 2],
    distance: [usize; 2],
}

/// Returns the cycle (0 or 1) of each item: the cycle with the nearer collector, if there is room.
fn assign(items: &[Assignable], room: &[usize]) -> Option<Vec<usize>> {
    // `share` serves the last items first, so items with the largest difference of distances are
    // last.
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|item| items[*item].distance[0].abs_diff(items[*item].distance[1]));
    let nearer = |item: &Assignable| usize::from(item.distance[1] < item.distance[0]);
    let buckets = |item: &usize| {
        let Assignable { buckets: [centre, corner], .. } = items[*item];
        if nearer(&items[*item]) == 0 { [centre, corner] } else { [corner, centre] }
    };
    let exchanged = share(&order.iter().map(buckets).collect::<Vec<_>>(), room)?;
    let mut chosen = vec![0; items.len()];
    for (item, exchanged) in order.into_iter().zip(exchanged) {
        chosen[item] = if exchanged == 0 { nearer(&items[item]) } else { 1 - nearer(&items[item]) };
    }
    Some(chosen)
}

/// Case 1 (q >= 3): each quarter has q forward sections and additional backward sections.
fn equal_quarters(
    squares: &[Square],
    parameters: Parameters,
    reach: Reach,
) -> Option<Vec<Section>> {
    let (n, size) = (parameters.n as usize, reach.size());
    // A node and its three images form one item. Its index follows from the node above and right of
    // the centre.
    let half = n / 2;
    let item = |(x, y): (u64, u64)| {
        (x as usize >= half && y as usize >= half)
            .then(|| (x as usize - half) * half + y as usize - half)
    };
    let mut items = vec![Assignable::default(); half * half];
    for (i, square) in squares.iter().enumerate() {
        for (position, item) in square
            .nodes
            .iter()
            .enumerate()
            .filter_map(|(position, node)| Some((position, item(*node)?)))
        {
            items[item].buckets[square.about] = i;
            items[item].distance[square.about] =
                (2 * (position % square.side) + 1).abs_diff(square.side);
        }
    }
    let room = ((parameters.q + parameters.q / 3) as usize).saturating_mul(size);
    let chosen = assign(&items, &vec![room; squares.len()])?;
    let mut sections = Vec::new();
    for (i, square) in squares.iter().enumerate() {
        let side = square.side as i64;
        let taken = |node| item(node).is_some_and(|item| chosen[item] == square.about);
        let quarter: Vec<i64> = (0..side)
            .filter(|position| (0..4).any(|turn| taken(square.node(position + turn * side))))
            .collect();
        let count = quarter.len().div_ceil(size).max((parameters.q as usize).min(quarter.len()));
        for turn in 0..4 {
            for (k, (first, end)) in even_ranges(quarter.len(), count).enumerate() {
                let positions: Vec<i64> =
                    quarter[first..end].iter().map(|position| position + turn * side).collect();
                let collector = reach.collector(positions.len());
                sections.push(Section {
                    square: i,
                    forward: k < parameters.q as usize,
                    positions,
                    collector,
                });
            }
        }
    }
    Some(sections)
}

/// Case 2 (q < 3): sections around collectors at the same positions in every quarter.
fn around_collectors(
    squares: &[Square],
    parameters: Parameters,
    reach: Reach,
    collectors: CollectorPositions,
) -> Option<Vec<Section>> {
    const NONE: usize = usize::MAX;
    let n = parameters.n;
    let index = |(x, y): (u64, u64)| (x * n + y) as usize;
    // Stage 1: place the collectors. If a node is at collector positions of both of its cycles, it
    // is a collector of the cycle about the centre.
    let mut collects = vec![NONE; (n * n) as usize];
    let mut positions: Vec<Vec<i64>> = Vec::with_capacity(squares.len());
    for (i, square) in squares.iter().enumerate() {
        let of_side = collectors.of_side(square.side);
        let mut own: Vec<i64> = (0..4)
            .flat_map(|turn| {
                of_side.iter().map(move |position| position + turn * square.side as i64)
            })
            .collect();
        own.retain(|position| {
            let node = &mut collects[index(square.node(*position))];
            let free = *node == NONE;
            if free {
                *node = i;
            }
            free
        });
        positions.push(own);
    }
    // Stage 2: make a bucket for the gap after each collector. `room` is the number of nodes that
    // the sections in the gap can take. Each node gets a bucket on each of its two cycles.
    let mut room = Vec::new();
    let mut backward = Vec::new();
    let mut items = vec![Assignable { buckets: [NONE; 2], distance: [0; 2] }; (n * n) as usize];
    for (i, square) in squares.iter().enumerate() {
        let count = positions[i].len();
        let gap = collectors.step * square.number + collectors.shift * square.about;
        for (k, position) in positions[i].iter().enumerate() {
            let more =
                (0..parameters.q as usize).filter(|j| (gap + j * count / 2) % count == k).count();
            let next = positions[i]
                .get(k + 1)
                .copied()
                .unwrap_or(positions[i][0] + 4 * square.side as i64);
            for between in position + 1..next {
                let item = &mut items[index(square.node(between))];
                item.buckets[square.about] = room.len();
                item.distance[square.about] = (between - position).min(next - between) as usize;
            }
            backward.push(more);
            room.push(reach.size() * (1 + more) - 1);
        }
    }
    let free: Vec<usize> = (0..items.len()).filter(|node| collects[*node] == NONE).collect();
    let items: Vec<Assignable> = free.iter().map(|node| items[*node]).collect();
    if items.iter().flat_map(|item| item.buckets).any(|bucket| bucket == NONE) {
        return None;
    }
    let chosen = assign(&items, &room)?;
    let mut cycle_of = vec![NONE; collects.len()];
    free.iter().zip(&chosen).for_each(|(node, about)| cycle_of[*node] = *about);
    let mut sections = Vec::new();
    let mut gaps = backward.into_iter();
    for (i, square) in squares.iter().enumerate() {
        let own = &positions[i];
        let first = sections.len();
        sections.extend(own.iter().map(|position| Section {
            square: i,
            forward: true,
            positions: vec![*position],
            collector: 0,
        }));
        for (k, more) in (0..own.len()).zip(&mut gaps) {
            let next = own.get(k + 1).copied().unwrap_or(own[0] + 4 * square.side as i64);
            let between: Vec<i64> = (own[k] + 1..next)
                .filter(|position| cycle_of[index(square.node(*position))] == square.about)
                .collect();
            let (after, before) = divide_gap(between.len(), reach, more);
            sections[first + k].positions.extend(&between[..after]);
            let middle = &between[after..between.len() - before];
            for (from, end) in even_ranges(middle.len(), more.min(middle.len())) {
                let positions = middle[from..end].to_vec();
                let collector = reach.collector(positions.len());
                sections.push(Section { square: i, forward: false, positions, collector });
            }
            // The last gap of a cycle ends at the first collector. Its nodes before this collector
            // get positions that are lower by the length of the cycle.
            let (last, turn) = if k + 1 < own.len() {
                (first + k + 1, 0)
            } else {
                (first, 4 * square.side as i64)
            };
            let ahead: Vec<i64> =
                between[between.len() - before..].iter().map(|position| position - turn).collect();
            sections[last].collector = ahead.len();
            sections[last].positions.splice(0..0, ahead);
        }
    }
    Some(sections)
}

/// Divides the `count` nodes between two forward collectors. Returns how many of them belong to the
/// section of the first collector, and how many to that of the second. Backward sections get the
/// rest.
fn divide_gap(count: usize, reach: Reach, backward: usize) -> (usize, usize) {
    let after = reach
        .after
        .min(count / 2)
        .max((count * usize::from(backward == 0)).saturating_sub(reach.before));
    (after, reach.before.min(count - after))
}

fn even_ranges(count: usize, parts: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..parts).map(move |i| (i * count / parts, (i + 1) * count / parts))
}
