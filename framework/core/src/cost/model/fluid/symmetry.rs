//! Finds the translations of the network that map a schedule onto itself.
//!
//! Before the first step, these are all translations of the network. Each step removes the
//! translations that do not map the messages of the step onto themselves. With orbit planning, the
//! plugin plans only one node of each orbit of a symmetry group. The result is the same as with
//! full planning, because the messages of the schedule are the same.

use super::fold::Fold;
use crate::network::symmetry::Group;
use crate::network::topology::Route;
use crate::network::transfer::Transfer;
use crate::places::Places;
use crate::simulation::listener::Summed;
use crate::simulation::step::Step;

/// The state of the search for translations that map all steps so far onto themselves.
#[derive(Debug, Clone)]
pub(super) struct Symmetry {
    /// Whether the result depends on the order of a rank's sends.
    ordered: bool,
    /// For each node, its representative, which is the planned node of its orbit, and the group
    /// element that maps the representative to the node. Empty without orbit planning.
    homes: Vec<(u32, u32)>,
    /// For each dimension, the smallest translation in the group of the orbit planning. If the
    /// group has no translation in this dimension, the length of the side.
    group_periods: Vec<u32>,
    /// For each dimension, the translation that was tried most recently, and the image of each node
    /// under it.
    images: Vec<(u32, Vec<u32>)>,
}

/// The sends of one node of each orbit, sorted by sender. The sends of a node keep their order.
pub(super) struct FoldedSends {
    /// The messages. Their senders and receivers are numbers of orbits.
    pub transfers: Vec<Transfer>,
    /// The destination node of each message.
    pub targets: Vec<u32>,
    /// The routes of the messages. `None` if the messages use the routes of the original step.
    pub routes: Option<Vec<Route>>,
}

/// For each node, the index of its first send in a list.
type Firsts = Vec<u32>;

impl Symmetry {
    pub(super) fn new(ordered: bool) -> Self {
        Self { ordered, homes: Vec::new(), group_periods: Vec::new(), images: Vec::new() }
    }

    /// Stores the group of the orbit planning when the first step is added.
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

    /// Returns the period of each dimension ([`Fold`]) that remains when this step has been added.
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

    /// Returns the period of each dimension that remains when these reductions have been added.
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

    /// Returns whether all translations of the folded network are in the group of the orbit
    /// planning.
    fn are_in_group(&self, fold: &Fold) -> bool {
        let mut of = fold.periods().iter().zip(fold.sides()).zip(&self.group_periods);
        of.all(|((period, side), group_period)| period == side || period % group_period == 0)
    }

    /// Returns a new period for each dimension. It is the smallest multiple of the old period for
    /// which the translation is in the group or satisfies `fits`. If no multiple has this property,
    /// the new period is the length of the side.
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

    /// Returns the sends of all nodes, sorted by sender.
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

    /// Adds the sends of a node, which are images of the sends of its representative.
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

    /// Returns the sends of the first node of each orbit.
    pub(super) fn sends(&self, fold: &Fold, step: &Step<'_>) -> FoldedSends {
        let (lists, by_sender) = by_sender(step.transfers);
        // Collect the sends.
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
        // With orbit planning, map the route of each send by the same group element as its sender.
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
        // Replace each sender and receiver by the number of its orbit.
        let targets = transfers.iter().map(|transfer| transfer.to).collect();
        for transfer in &mut transfers {
            (transfer.from, transfer.to) = (fold.orbit(transfer.from), fold.orbit(transfer.to));
        }
        FoldedSends { transfers, targets, routes }
    }
}

/// Returns the load that a node reduces.
pub(super) fn sum(summed: Summed<'_>, node: u32) -> u64 {
    let home = |group: &Group| group.home(node.into()).0;
    summed.of[summed.symmetry.map_or(node as usize, home)]
}

/// Returns whether each node sends the same amount to every other node. Such a step is symmetric
/// under every permutation of the nodes.
fn is_complete(nodes: u64, step: &Step<'_>) -> bool {
    let load = step.transfers.first().map(|t| t.load);
    let messages = step.transfers.len() as u64 * step.symmetry.map_or(1, Group::order);
    messages == nodes * (nodes - 1)
        && step.transfers.iter().all(|t| Some(t.load) == load && t.route == 0)
}

/// Sorts transfers by sender with a stable sort. Also returns the index of each sender's first
/// transfer. This list ends after the last sender that has transfers.
fn by_sender(transfers: &[Transfer]) -> (Firsts, Vec<Transfer>) {
    let senders = transfers.iter().map(|t| t.from as usize + 1).max().unwrap_or(0);
    let mut places = Places::of(senders, transfers.iter().map(|t| t.from as usize));
    let mut sorted = transfers.to_vec();
    transfers.iter().for_each(|t| sorted[places.take(t.from as usize)] = *t);
    (places.first, sorted)
}
