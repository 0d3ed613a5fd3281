//! A folded network, with one node for each orbit of nodes of the original network, and one link
//! for each orbit of links. Its simulation is faster and gives the same times.
//!
//! Folding is possible if translations of the network (shifts of the coordinates of its nodes) map
//! a schedule onto itself. An orbit is the set of all images of a node, or of a link, under these
//! translations. All nodes of an orbit do the same work at the same time, and all links of an orbit
//! have the same load. Suppose that m links of a message's route are in one orbit. If the orbit has
//! as many links as there are translations, m images of the message cross each link of the orbit.
//! If it has only 1/k as many links, k m images do.
//!
//! [`Fold`] is the folded network. [`Symmetry`] finds the translations that map a schedule onto
//! itself. It begins with all translations of the network. Each step then keeps only those that map
//! the messages of the step onto themselves. With orbit planning, the plugin plans only one node of
//! each orbit of a symmetry group. The result is the same as with full planning, because the
//! messages are the same.

use crate::network::symmetry::Group;
use crate::network::topology::automorphisms::{CoordinatePermutation, Orbits};
use crate::network::topology::{AxisSymmetry, Network, Route};
use crate::network::transfer::Transfer;
use crate::places::Places;
use crate::simulation::listener::Summed;
use crate::simulation::step::Step;

/// The grid of a network's node numbers, and the orbits of its nodes and links. In each dimension,
/// neighbouring nodes of an orbit are one *period* apart. The grid of an unfolded network has one
/// dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fold {
    nodes: u32,
    sides: Vec<u32>,
    periods: Vec<u32>,
    slots: u64,
    quotient: Option<Quotient>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Quotient {
    nodes: Orbits,
    links: Orbits,
}

impl Fold {
    /// Folds a network by all of its translations; `None` if it has none that can be used.
    pub(super) fn smallest(topology: &Network) -> Option<Self> {
        Self::of_axes(topology, |_, side| vec![side])
    }

    /// Folds a network by exclusive-ors of node numbers, and by translations along other axes. If
    /// the 2^k coordinates of an axis may be permuted, the axis is stored as k dimensions of length
    /// 2, in which a translation is an exclusive-or. Returns `None` if the network has no such
    /// axis.
    pub(super) fn by_exclusive_or(topology: &Network) -> Option<Self> {
        let fold = Self::of_axes(topology, |axis, side| match axis {
            AxisSymmetry::Permutations if side.is_power_of_two() && side > 1 => {
                vec![2; side.ilog2() as usize]
            }
            _ => vec![side],
        })?;
        (fold.sides.len() > topology.radices().len()).then_some(fold)
    }

    /// Folds a network as far as possible. `sides` maps the symmetry and the length of an axis to
    /// the lengths of the dimensions that store this axis.
    fn of_axes(topology: &Network, sides: impl Fn(AxisSymmetry, u32) -> Vec<u32>) -> Option<Self> {
        if topology.shares_nodes() || topology.random_routing().is_some() {
            return None;
        }
        let axes = topology.automorphisms()?.axes();
        let (mut all, mut periods) = (Vec::new(), Vec::new());
        for (axis, &length) in axes.into_iter().zip(topology.radices()) {
            for side in sides(axis, length as u32) {
                all.push(side);
                periods.push(if axis == AxisSymmetry::Fixed { side } else { 1 });
            }
        }
        (periods != all).then(|| Self::new(topology, all, periods))
    }

    pub(super) fn plain(topology: &Network) -> Self {
        let sides = vec![topology.nodes() as u32];
        Self::new(topology, sides.clone(), sides)
    }

    fn new(topology: &Network, sides: Vec<u32>, periods: Vec<u32>) -> Self {
        let nodes = sides.iter().product();
        let slots = topology.link_slots();
        let mut fold = Self { nodes, sides, periods, slots, quotient: None };
        let moved: Vec<usize> =
            (0..fold.sides.len()).filter(|d| fold.periods[*d] < fold.sides[*d]).collect();
        if moved.is_empty() {
            return fold;
        }
        let generators: Vec<CoordinatePermutation> = moved
            .into_iter()
            .filter_map(|d| {
                let image = |node: u64| fold.image(node as u32, d, fold.periods[d]).into();
                CoordinatePermutation::of(topology, &image)
            })
            .collect();
        fold.quotient = Some(Quotient {
            nodes: Orbits::of_nodes(topology, &generators),
            links: Orbits::of_links(topology, &generators),
        });
        fold
    }

    pub(super) fn with(&self, topology: &Network, periods: Vec<u32>) -> Self {
        Self::new(topology, self.sides.clone(), periods)
    }

    pub(super) fn is_plain(&self) -> bool {
        self.quotient.is_none()
    }

    pub(super) fn nodes(&self) -> u32 {
        self.nodes
    }

    pub(super) fn orbits(&self) -> usize {
        self.quotient.as_ref().map_or(self.nodes as usize, |quotient| quotient.nodes.count())
    }

    pub(super) fn sides(&self) -> &[u32] {
        &self.sides
    }

    pub(super) fn periods(&self) -> &[u32] {
        &self.periods
    }

    pub(super) fn orbit(&self, node: u32) -> u32 {
        self.quotient.as_ref().map_or(node, |quotient| quotient.nodes.orbit(node.into()))
    }

    pub(super) fn first(&self, orbit: u32) -> u32 {
        self.quotient.as_ref().map_or(orbit, |quotient| quotient.nodes.first(orbit) as u32)
    }

    /// Returns the number of links of the folded network. The last links are injection links.
    pub(super) fn links(&self) -> u64 {
        self.slots() + 2 * self.orbits() as u64
    }

    pub(super) fn slots(&self) -> u64 {
        self.quotient.as_ref().map_or(self.slots, |quotient| quotient.links.count() as u64)
    }

    /// Returns the orbit of a link. Also returns how many images of a message cross each link of
    /// the orbit, if the message crosses one link of the orbit.
    pub(super) fn link(&self, link: u64) -> (u32, u32) {
        let Some(Quotient { nodes, links }) = &self.quotient else { return (link as u32, 1) };
        let orbit = links.orbit(link);
        let translations = u64::from(self.nodes) / nodes.count() as u64;
        (orbit, (translations / links.size(orbit)) as u32)
    }

    pub(super) fn first_link(&self, orbit: u64) -> u64 {
        self.quotient.as_ref().map_or(orbit, |quotient| quotient.links.first(orbit as u32))
    }

    pub(super) fn moved(&self, node: u32, from: u32, to: u32) -> u32 {
        let (mut at, mut from, mut to, mut moved, mut stride) = (node, from, to, 0, 1);
        for side in self.sides.iter().rev() {
            moved += (at % side + to % side + side - from % side) % side * stride;
            (at, from, to, stride) = (at / side, from / side, to / side, stride * side);
        }
        moved
    }

    pub(super) fn images(&self, dimension: usize, by: u32) -> Vec<u32> {
        (0..self.nodes()).map(|node| self.image(node, dimension, by)).collect()
    }

    fn image(&self, node: u32, dimension: usize, by: u32) -> u32 {
        let side = self.sides[dimension];
        let stride: u32 = self.sides[dimension + 1..].iter().product();
        let at = node / stride % side;
        node - at * stride + (at + by) % side * stride
    }
}

#[derive(Debug, Clone)]
pub(super) struct Symmetry {
    ordered: bool,
    /// For each node, the planned node of its orbit, and the group element that maps the planned
    /// node to it.
    homes: Vec<(u32, u32)>,
    /// For each dimension, the smallest translation in the group of the orbit planning, or the side
    /// if there is none.
    group_periods: Vec<u32>,
    /// For each dimension, the last tried translation, and the image of each node under it.
    images: Vec<(u32, Vec<u32>)>,
}

pub(super) struct FoldedSends {
    /// Senders and receivers are numbers of orbits.
    pub transfers: Vec<Transfer>,
    pub targets: Vec<u32>,
    pub routes: Option<Vec<Route>>,
}

type Firsts = Vec<u32>;

impl Symmetry {
    pub(super) fn new(ordered: bool) -> Self {
        Self { ordered, homes: Vec::new(), group_periods: Vec::new(), images: Vec::new() }
    }

    fn set_group(&mut self, fold: &Fold, group: Option<&Group>) {
        if !self.group_periods.is_empty() {
            return;
        }
        self.group_periods = fold.sides().to_vec();
        let Some(group) = group else { return };
        let home = |node| {
            let (index, element) = group.home(node);
            (group.representative(index) as u32, element as u32)
        };
        self.homes = (0..fold.nodes()).map(|node| home(node.into())).collect();
        for (dimension, &side) in fold.sides().iter().enumerate() {
            let is_in_group = |by: &u32| {
                let images = fold.images(dimension, *by);
                let element = u64::from(images[0]);
                let is_element = self.homes[images[0] as usize].0 == self.homes[0].0;
                is_element
                    && (0..)
                        .zip(&images)
                        .all(|(node, image)| group.moved(node, element) == u64::from(*image))
            };
            let by = (1..side).filter(|by| side % by == 0).find(is_in_group);
            self.group_periods[dimension] = by.unwrap_or(side);
        }
    }

    pub(super) fn periods(&mut self, fold: &Fold, step: &Step<'_>) -> Vec<u32> {
        self.set_group(fold, step.symmetry);
        if step.routes.iter().any(|route| !route.path.is_empty()) {
            return fold.sides().to_vec();
        }
        if self.are_in_group(fold) || !self.ordered && is_complete(fold.nodes().into(), step) {
            return fold.periods().to_vec();
        }
        let (firsts, sends) = self.of_all(fold, step);
        let of =
            |node: u32| &sends[firsts[node as usize] as usize..firsts[node as usize + 1] as usize];
        let properties = |t: &Transfer, to: u32| (to, t.load, t.route);
        let ordered = self.ordered;
        self.kept_periods(fold, |images| {
            (0..fold.nodes()).all(|node| {
                let (own, others) = (of(node), of(images[node as usize]));
                let mut own = own.iter().map(|t| properties(t, images[t.to as usize]));
                let mut others = others.iter().map(|t| properties(t, t.to));
                if ordered || own.len() < 2 || own.len() != others.len() {
                    return own.eq(others);
                }
                let (mut own, mut others): (Vec<_>, Vec<_>) =
                    (own.by_ref().collect(), others.by_ref().collect());
                own.sort_unstable();
                others.sort_unstable();
                own == others
            })
        })
    }

    pub(super) fn summation_periods(&mut self, fold: &Fold, summed: Summed<'_>) -> Vec<u32> {
        self.set_group(fold, summed.symmetry);
        if self.are_in_group(fold) {
            return fold.periods().to_vec();
        }
        let of_all: Vec<u64> = (0..fold.nodes()).map(|node| sum(summed, node)).collect();
        self.kept_periods(fold, |images| {
            of_all.iter().zip(images).all(|(own, image)| *own == of_all[*image as usize])
        })
    }

    fn are_in_group(&self, fold: &Fold) -> bool {
        let mut of = fold.periods().iter().zip(fold.sides()).zip(&self.group_periods);
        of.all(|((period, side), group_period)| period == side || period % group_period == 0)
    }

    /// Returns a new period for each dimension: the smallest multiple of the old period for which
    /// `fits` returns `true`, or the side if there is none.
    fn kept_periods(&mut self, fold: &Fold, fits: impl Fn(&[u32]) -> bool) -> Vec<u32> {
        let mut periods = fold.periods().to_vec();
        self.images.resize(periods.len(), (0, Vec::new()));
        for (dimension, period) in periods.iter_mut().enumerate() {
            let (side, group_period) = (fold.sides()[dimension], self.group_periods[dimension]);
            let mut candidates =
                (*period..side).step_by(*period as usize).filter(|by| side % by == 0);
            let (tried, images) = &mut self.images[dimension];
            let kept = candidates.find(|by| {
                if by % group_period == 0 {
                    return true;
                }
                if tried != by {
                    (*tried, *images) = (*by, fold.images(dimension, *by));
                }
                fits(images)
            });
            *period = kept.unwrap_or(side);
        }
        periods
    }

    fn of_all(&self, fold: &Fold, step: &Step<'_>) -> (Firsts, Vec<Transfer>) {
        let (lists, by_sender) = by_sender(step.transfers);
        let Some(group) = step.symmetry else {
            let firsts = (0..=fold.nodes())
                .map(|node| lists.get(node as usize).copied().unwrap_or(by_sender.len() as u32));
            return (firsts.collect(), by_sender);
        };
        let (mut firsts, mut sends) =
            (vec![0], Vec::with_capacity(step.transfers.len() * group.order() as usize));
        for node in 0..fold.nodes() {
            self.add_sends(&mut sends, node, group, &lists, &by_sender);
            firsts.push(sends.len() as u32);
        }
        (firsts, sends)
    }

    fn add_sends(
        &self,
        sends: &mut Vec<Transfer>,
        node: u32,
        group: &Group,
        lists: &[u32],
        by_sender: &[Transfer],
    ) {
        let (home, element) = self.homes[node as usize];
        let list =
            |at: u32| lists.get(at as usize).map_or(by_sender.len(), |first| *first as usize);
        for transfer in &by_sender[list(home)..list(home + 1)] {
            let to = group.moved(transfer.to.into(), element.into()) as u32;
            sends.push(Transfer { from: node, to, ..*transfer });
        }
    }

    pub(super) fn sends(&self, fold: &Fold, step: &Step<'_>) -> FoldedSends {
        let (lists, by_sender) = by_sender(step.transfers);
        let mut transfers = Vec::new();
        for node in (0..fold.orbits() as u32).map(|orbit| fold.first(orbit)) {
            match step.symmetry {
                Some(group) => self.add_sends(&mut transfers, node, group, &lists, &by_sender),
                None => {
                    let list = |at: u32| {
                        lists.get(at as usize).map_or(by_sender.len(), |first| *first as usize)
                    };
                    transfers.extend_from_slice(&by_sender[list(node)..list(node + 1)]);
                }
            }
        }
        let routes = step
            .symmetry
            .filter(|_| step.routes.iter().any(|route| !route.path.is_empty()))
            .map(|group| {
                let moved = |transfer: &mut Transfer| {
                    let (number, element) =
                        (transfer.route as usize, self.homes[transfer.from as usize].1);
                    let route =
                        number.checked_sub(1).map(|at| step.routes[at].clone()).unwrap_or_default();
                    Route {
                        path: route
                            .path
                            .iter()
                            .map(|on| group.moved(*on, element.into()))
                            .collect(),
                        ..route
                    }
                };
                let routes: Vec<Route> = transfers.iter_mut().map(moved).collect();
                (1..)
                    .zip(&mut transfers)
                    .filter(|(_, t)| t.route > 0)
                    .for_each(|(number, t)| t.route = number);
                routes
            });
        let targets = transfers.iter().map(|transfer| transfer.to).collect();
        for transfer in &mut transfers {
            (transfer.from, transfer.to) = (fold.orbit(transfer.from), fold.orbit(transfer.to));
        }
        FoldedSends { transfers, targets, routes }
    }
}

pub(super) fn sum(summed: Summed<'_>, node: u32) -> u64 {
    let home = |group: &Group| group.home(node.into()).0;
    summed.of[summed.symmetry.map_or(node as usize, home)]
}

/// Returns whether each node sends the same amount to all others. Any permutation preserves this.
fn is_complete(nodes: u64, step: &Step<'_>) -> bool {
    let load = step.transfers.first().map(|t| t.load);
    let messages = step.transfers.len() as u64 * step.symmetry.map_or(1, Group::order);
    messages == nodes * (nodes - 1)
        && step.transfers.iter().all(|t| Some(t.load) == load && t.route == 0)
}

/// Sorts stably by sender, and returns the index of each sender's first transfer.
fn by_sender(transfers: &[Transfer]) -> (Firsts, Vec<Transfer>) {
    let senders = transfers.iter().map(|t| t.from as usize + 1).max().unwrap_or(0);
    let mut places = Places::of(senders, transfers.iter().map(|t| t.from as usize));
    let mut sorted = transfers.to_vec();
    transfers.iter().for_each(|t| sorted[places.take(t.from as usize)] = *t);
    (places.first, sorted)
}
