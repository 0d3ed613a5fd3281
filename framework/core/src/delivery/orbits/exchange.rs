//! Who holds what, for one node of each orbit.

use super::boxes::{Cube, common, count, insert, met, split, without};
use super::set::Set;
use crate::delivery::boxes::{NodeSet, Side};
use crate::delivery::collective::{Blocks, Collective, SecondCopy};
use crate::delivery::exchange::{Division, Rule};
use crate::delivery::fault::{Fault, SendFault};
use crate::delivery::grid::Grid;
use crate::delivery::placement::Placement;
use crate::network::symmetry::{Group, Symmetry};
use smallvec::SmallVec;
use std::ops::Range;

/// What one send brings a representative.
#[derive(Debug, Clone)]
pub(super) struct Arrived {
    /// The node that sent it.
    pub from: u64,
    /// Whether it is added to what is there, and does not take its place.
    pub combine: bool,
    pub cubes: SmallVec<[Cube; 1]>,
}

/// An exchange followed on representatives: blocks of one size, each node its own home.
#[derive(Debug)]
pub(crate) struct OrbitExchange {
    pub(super) collective: Collective,
    pub(super) placement: Placement,
    pub(super) division: Division,
    /// The grid that the group acts on: the schedule's own, or that of the nodes' numbers.
    pub(super) grid: Grid,
    pub(super) group: Group,
    /// Radices of a box's axes: those of the grid for each side that blocks are told apart by, then
    /// the segments.
    pub(super) radices: Vec<u64>,
    pub(super) origins: Range<usize>,
    pub(super) destinations: Range<usize>,
    pub(super) held: Vec<Vec<Cube>>,
    pub(super) arriving: Vec<Vec<Cube>>,
    /// To whom something is on its way, each once.
    receivers: Vec<usize>,
    /// What arrives where it is summed: send by send.
    pub(super) terms: Vec<Vec<Arrived>>,
    pub(super) loads: Vec<u64>,
    /// What representatives have added to what they had, in the step under way or the one that has
    /// just ended; and the most that one has.
    pub(super) summed: Vec<u64>,
    most_summed: u64,
    peak: u64,
    pub(super) copied: bool,
    pub(super) step: u64,
    /// What the last send took, as its sender had it.
    pub(super) taken: Vec<Cube>,
}

/// A set for some axes of boxes, by number of the axis.
type Narrowing = SmallVec<[(usize, Set); 4]>;

/// What one send of a representative put on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Put {
    /// The sender's number among representatives.
    pub sender: usize,
    /// Segments of blocks, or of their parts.
    pub load: u64,
}

impl OrbitExchange {
    /// The same with every node its own orbit.
    pub(crate) fn of_everyone(
        collective: Collective,
        placement: Placement,
        division: Division,
    ) -> Result<Self, Fault> {
        let radices = placement.grid().radices();
        let group = Group::new(radices, &vec![Symmetry::Fixed; radices.len()])
            .map_err(Fault::BadSymmetry)?;
        Self::new(collective, placement, division, group)
    }

    /// Every representative holds what the collective gives it. Nodes run on the nodes of the
    /// machine of the same number.
    pub(crate) fn new(
        collective: Collective,
        placement: Placement,
        division: Division,
        group: Group,
    ) -> Result<Self, Fault> {
        /// So that what a node holds, or a message carries, fits its number.
        const MOST_LOAD: u128 = 1 << 63;
        placement.check()?;
        let radices: Vec<u64> = group.axes().iter().map(|axis| axis.radix).collect();
        let acted_on = Grid::new(&radices).map_err(Fault::BadSymmetry)?;
        let grid = radices;
        let side = |is_told_apart: bool, start: usize| {
            start..start + if is_told_apart { grid.len() } else { 0 }
        };
        let origins = side(collective.kind().tells_apart(Side::Origins), 0);
        let by_destination = collective.kind().tells_apart(Side::Destinations) || division.in_parts;
        let destinations = side(by_destination, origins.end);
        let sides = usize::from(!origins.is_empty()) + usize::from(!destinations.is_empty());
        let mut radices = grid.repeat(if grid.is_empty() { 0 } else { sides });
        radices.push(u64::from(division.segments.max(1)));
        let representatives = group.representatives() as usize;
        let mut exchange = Self {
            held: vec![Vec::new(); representatives],
            arriving: vec![Vec::new(); representatives],
            receivers: Vec::new(),
            terms: vec![Vec::new(); if collective.kind().sums { representatives } else { 0 }],
            loads: vec![0; representatives],
            summed: vec![0; representatives],
            most_summed: 0,
            peak: 0,
            copied: false,
            step: 0,
            taken: Vec::new(),
            collective,
            placement,
            division,
            grid: acted_on,
            group,
            radices,
            origins,
            destinations,
        };
        let mut exists = 0;
        for index in 0..representatives {
            let node = exchange.group.representative(index);
            let before = exchange.cube(exchange.collective.before(node));
            exchange.loads[index] = before.iter().map(|cube| exchange.load(cube)).sum();
            exchange.held[index].extend(before);
            exists += u128::from(exchange.loads[index]) * u128::from(exchange.group.order());
        }
        if exists > MOST_LOAD {
            let units = exchange.segments();
            return Err(Fault::Refused(format!(
                "its blocks, in {units} segments each, add up beyond 2^63"
            )));
        }
        exchange.peak = exchange.loads.iter().copied().max().unwrap_or(0);
        Ok(exchange)
    }

    /// Blocks as a box; `None` for none.
    fn cube(&self, blocks: Blocks) -> Option<Cube> {
        let mut cube: Cube = self.radices.iter().map(|radix| Set::full(*radix)).collect();
        let (axes, node) = match blocks {
            Blocks::None => return None,
            Blocks::All => return Some(cube),
            Blocks::From(node) => (&self.origins, node),
            Blocks::For(node) => (&self.destinations, node),
        };
        for (axis, coordinate) in axes.clone().zip(self.grid.coordinates(node)) {
            cube[axis] = Set::one(self.radices[axis], coordinate);
        }
        Some(cube)
    }

    /// Begins the next step.
    pub(crate) fn begin_step(&mut self) {
        self.step += 1;
    }

    /// Carries out one send of a representative, and with it those of all its orbit. What went, if
    /// anything did; it can be sent on only after [`OrbitExchange::end_step`].
    pub(crate) fn send(&mut self, rule: &Rule<'_>) -> Result<Option<Put>, Fault> {
        let (from, to, step) = (rule.from, rule.to, self.step);
        let nodes = self.placement.grid().nodes();
        for (role, node) in [("sender", from), ("receiver", to)] {
            if node >= nodes {
                return Err(Fault::Send(
                    step,
                    SendFault::UnknownNode { role, node, last: nodes - 1 },
                ));
            }
        }
        if from == to && !rule.local {
            return Err(Fault::Send(
                step,
                SendFault::SentToItself { node: self.placement.locate(from) },
            ));
        }
        if rule.combine && !self.sums() {
            return Err(Fault::COMBINES_NOTHING);
        }
        let (sender, element) = self.group.home(from);
        if element != 0 {
            return Err(Fault::Send(
                step,
                SendFault::NotPlannedFor {
                    from,
                    representative: self.group.representative(sender),
                },
            ));
        }
        let narrowed = self.narrowed(rule).map_err(|(side, what)| {
            Fault::Send(step, SendFault::BadSet { from, to, side, what })
        })?;
        let (receiver, element) = self.group.home(to);
        let back = self.group.inverse(element);
        let selected = self.selected(&narrowed);
        let mut taken = std::mem::take(&mut self.taken);
        taken.clear();
        let (mut found, mut rests) = (0_u64, SmallVec::<[Cube; 4]>::new());
        // Nobody holds a block twice: once all that was asked for is found, the rest of the list
        // has none of it.
        let mut at = self.held[sender].len();
        while at > 0 && found < selected {
            at -= 1;
            let held = &mut self.held[sender];
            let Some(met) = met(&held[at], &narrowed, &self.radices) else { continue };
            let inner = if rule.copy {
                let mut inner = held[at].clone();
                narrowed.iter().zip(met).for_each(|((axis, _), common)| inner[*axis] = common);
                inner
            } else {
                let (inner, rest) = split(held.swap_remove(at), &narrowed, met, &self.radices);
                rests.extend(rest);
                inner
            };
            found = found.saturating_add(count(&inner));
            taken.push(inner);
        }
        let load = if self.sums() { self.load_of_values(&taken) } else { found };
        let wanted = if self.sums() { self.values_selected(&narrowed) } else { selected };
        if rule.strict && load < wanted {
            return Err(self.not_held(rule, &narrowed, &taken));
        }
        for rest in rests {
            insert(&mut self.held[sender], rest, &self.radices);
        }
        if load > 0 {
            self.copied |= rule.copy;
            if !rule.copy {
                self.loads[sender] -= load;
            }
            if self.arriving[receiver].is_empty()
                && self.terms.get(receiver).is_none_or(Vec::is_empty)
            {
                self.receivers.push(receiver);
            }
            if self.sums() {
                let cubes = taken.iter().map(|cube| self.moved(cube, back)).collect();
                let from = self.group.moved(from, back);
                self.terms[receiver].push(Arrived { from, combine: rule.combine, cubes });
            } else {
                self.put_on_its_way(receiver, &taken, back);
            }
        }
        self.taken = taken;
        Ok((load > 0).then_some(Put { sender, load }))
    }

    fn put_on_its_way(&mut self, receiver: usize, taken: &[Cube], back: u64) {
        for cube in taken {
            let moved = self.moved(cube, back);
            // What was copied may come twice, and is told apart only when it has arrived.
            if self.copied {
                self.arriving[receiver].push(moved);
            } else {
                insert(&mut self.arriving[receiver], moved, &self.radices);
            }
        }
    }

    /// What a rule says of the axes of boxes. `Err` says which set is wrong, and how.
    fn narrowed(&self, rule: &Rule<'_>) -> Result<Narrowing, (&'static str, String)> {
        let (kind, grid) = (self.collective.kind(), self.placement.grid());
        let mut narrowed = Narrowing::new();
        for (name, side, set, axes) in [
            ("origins", Side::Origins, rule.origins, &self.origins),
            ("destinations", Side::Destinations, rule.destinations, &self.destinations),
        ] {
            let is_part = side == Side::Destinations && self.division.in_parts;
            let refused =
                if matches!(set, NodeSet::All) || is_part { None } else { kind.refuses(side) };
            refused.map_or_else(|| set.check(grid), Err).map_err(|what| (name, what))?;
            match set {
                NodeSet::All => {}
                NodeSet::One(node) => {
                    let mut rest = node;
                    for axis in axes.clone().rev() {
                        let radix = self.radices[axis];
                        narrowed.push((axis, Set::one(radix, rest % radix)));
                        rest /= radix;
                    }
                }
                NodeSet::Axes(sets) if sets.len() != axes.len() || grid != &self.grid => {
                    let radix = self.radices[axes.start];
                    narrowed.push((axes.start, Set::of_product(sets, grid.radices(), radix)));
                }
                NodeSet::Axes(sets) => narrowed.extend(
                    axes.clone()
                        .zip(sets)
                        .filter_map(|(axis, set)| Some((axis, Set::of(*set, self.radices[axis])?))),
                ),
            }
        }
        let last = self.radices.len() - 1;
        let segments = rule
            .segments
            .check(self.radices[last])
            .map(|()| Set::of(rule.segments, self.radices[last]));
        let segments = segments.map_err(|what| ("segments", format!("is wrong: it {what}")))?;
        narrowed.extend(segments.map(|set| (last, set)));
        Ok(narrowed)
    }

    /// Blocks in a selection, held by anybody or not.
    fn selected(&self, narrowed: &[(usize, Set)]) -> u64 {
        let set = |axis: usize| {
            narrowed.iter().find(|(other, _)| *other == axis).map(|(_, set)| set.count())
        };
        (0..self.radices.len())
            .fold(1, |all: u64, axis| all.saturating_mul(set(axis).unwrap_or(self.radices[axis])))
    }

    /// A box moved by an element of the group.
    pub(super) fn moved(&self, cube: &Cube, element: u64) -> Cube {
        if element == 0 {
            return cube.clone();
        }
        let grid = self.group.axes();
        let mut own: SmallVec<[u64; 8]> = SmallVec::from_elem(0, grid.len());
        let mut rest = element;
        for (own, acting) in own.iter_mut().zip(grid).rev() {
            *own = rest % acting.radix;
            rest /= acting.radix;
        }
        // Origins and destinations have the grid's axes each; segments, which are last, stay.
        let sides = cube[..cube.len() - 1].chunks(grid.len().max(1));
        let mut moved = Cube::with_capacity(cube.len());
        for side in sides {
            for ((set, acting), own) in side.iter().zip(grid).zip(&own) {
                moved.push(set.moved(*acting, *own));
            }
        }
        moved.extend(cube.last().cloned());
        moved
    }

    /// Ends the step: what was sent has arrived.
    pub(crate) fn end_step(&mut self) -> Result<(), Fault> {
        let mut receivers = std::mem::take(&mut self.receivers);
        receivers.sort_unstable();
        if std::mem::take(&mut self.most_summed) > 0 {
            self.summed.fill(0);
        }
        for &index in &receivers {
            if self.sums() {
                self.values_arrive(index)?;
                self.most_summed = self.most_summed.max(self.summed[index]);
            } else {
                self.blocks_arrive(index)?;
            }
            self.peak = self.peak.max(self.loads[index]);
        }
        receivers.clear();
        self.receivers = receivers;
        Ok(())
    }

    fn blocks_arrive(&mut self, index: usize) -> Result<(), Fault> {
        let mut arrived = std::mem::take(&mut self.arriving[index]);
        for cube in arrived.drain(..) {
            if self.copied {
                self.insert_what_is_new(index, cube)?;
            } else {
                self.loads[index] += count(&cube);
                insert(&mut self.held[index], cube, &self.radices);
            }
        }
        self.arriving[index] = arrived;
        Ok(())
    }

    /// Once anything has been copied, a node may receive what it has: wrong where blocks have one
    /// destination, waste elsewhere.
    fn insert_what_is_new(&mut self, index: usize, cube: Cube) -> Result<(), Fault> {
        if self.collective.kind().second_copy == SecondCopy::Fault
            && let Some(overlap) =
                self.held[index].iter().find_map(|held| common(&cube, held, &self.radices))
        {
            return Err(self.delivered_twice(index, &overlap));
        }
        for new in without(vec![cube], &self.held[index], &self.radices) {
            self.loads[index] += count(&new);
            insert(&mut self.held[index], new, &self.radices);
        }
        Ok(())
    }

    /// Proves that everyone has what they should.
    pub(crate) fn verify(&self) -> Result<(), Fault> {
        let (mut missing, mut lacking, mut example) = (0_u64, 0, None);
        for (index, held) in self.held.iter().enumerate() {
            let wanted = self.cube(self.collective.after(self.group.representative(index)));
            let lacks = without(wanted.into_iter().collect(), held, &self.radices);
            missing += lacks.iter().map(|cube| count(cube)).sum::<u64>();
            lacking += u64::from(!lacks.is_empty());
            example = example.or_else(|| lacks.into_iter().next().map(|lack| (index, lack)));
        }
        match example {
            None => Ok(()),
            Some((index, lack)) => Err(self.never_delivered(index, &lack, missing, lacking)),
        }
    }

    /// The step under way, from 1.
    pub(crate) fn step(&self) -> u64 {
        self.step
    }

    /// Parts that blocks are cut in, segments of parts included: loads are in these.
    pub(crate) fn segments(&self) -> u64 {
        let parts = if self.division.in_parts { self.grid.nodes() } else { 1 };
        parts * self.radices[self.radices.len() - 1]
    }

    /// Whether blocks are cut into a part for each node.
    pub(crate) fn in_parts(&self) -> bool {
        self.division.in_parts
    }

    /// Whether what comes from different nodes is summed.
    pub(crate) fn sums(&self) -> bool {
        self.collective.kind().sums
    }

    /// The most load that one node added to what it had, in the step that has ended.
    pub(crate) fn most_summed(&self) -> u64 {
        self.most_summed
    }

    /// The load that each representative added to what it had, in the step that has ended; empty if
    /// none did.
    pub(crate) fn summed(&self) -> &[u64] {
        if self.most_summed > 0 { &self.summed } else { &[] }
    }

    /// Which node of the machine runs which of the grid.
    pub(crate) fn placement(&self) -> &Placement {
        &self.placement
    }

    /// The group under which all else follows from representatives.
    pub(crate) fn group(&self) -> &Group {
        &self.group
    }

    /// Load that each representative holds.
    pub(crate) fn held(&self) -> &[u64] {
        &self.loads
    }

    /// The most load that one node held, at the start or the end of a step.
    pub(crate) fn peak(&self) -> u64 {
        self.peak
    }
}
