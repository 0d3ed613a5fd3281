//! What a schedule says before its first step: its grid, where its nodes run, what maps it onto
//! itself; and what follows for how it is carried out.

use super::{ProofScope, State, Task};
use crate::delivery::boxes::{BitLayout, Side};
use crate::delivery::byte_counts::ByteCountUnits;
use crate::delivery::collective::Collective;
use crate::delivery::exchange::{Division, Exchange, Inventory, OrbitExchange};
use crate::delivery::fault::Fault;
use crate::delivery::grid::Grid;
use crate::delivery::payload::Payload;
use crate::delivery::placement::Placement;
use crate::limits;
use crate::network::symmetry::{Group, Symmetry};
use crate::simulation::at_once::AtOnce;
use crate::simulation::listeners::Listeners;

/// What is known before the first step.
#[derive(Debug)]
pub(super) struct Setup {
    placement: Placement,
    division: Division,
    /// Where byte counts are moved instead of blocks.
    byte_counts: Option<ByteCountUnits>,
    laid_out: bool,
    claimed: Option<Claim>,
}

/// A group that the schedule says maps it onto itself.
#[derive(Debug)]
struct Claim {
    group: Group,
    /// Whether one node of each orbit is planned for.
    taken: bool,
}

impl Setup {
    /// On the topology's own grid.
    pub(super) fn new(task: &Task) -> Result<Self, Fault> {
        let grid = Grid::new(task.topology.radices()).map_err(Fault::BadGrid)?;
        let placement = Placement::new(grid, task.topology.nodes());
        Ok(Self {
            placement,
            division: Division::WHOLE,
            byte_counts: None,
            laid_out: false,
            claimed: None,
        })
    }

    /// On a grid of the schedule's own (the topology's, if `radices` are empty).
    pub(super) fn laid_out(
        task: &Task,
        radices: &[u64],
        division: Division,
        byte_counts: Option<ByteCountUnits>,
    ) -> Result<Self, Fault> {
        let Division { in_parts, segments } = division;
        let own = task.topology.radices();
        let grid =
            Grid::new(if radices.is_empty() { own } else { radices }).map_err(Fault::BadGrid)?;
        if u64::from(segments) > limits::SEGMENTS {
            return Err(Fault::BadGrid(format!(
                "blocks are to be split in {segments} segments, expected at most {}",
                limits::SEGMENTS
            )));
        }
        if in_parts && task.collective.kind().distinguishes(Side::Destinations) {
            return Err(Fault::BadGrid(
                "its blocks can't be laid out in parts, they go to one destination each".to_owned(),
            ));
        }
        if byte_counts.is_some() && (segments > 1 || in_parts) {
            return Err(Fault::BadGrid(
                "byte counts are not split in segments, they are redistributed".to_owned(),
            ));
        }
        if byte_counts.is_some() && !task.collective.kind().by_byte_counts {
            return Err(Fault::OutOfOrder(
                "only an all-to-all can be done by byte counts: elsewhere it matters where data comes from",
            ));
        }
        let placement = Placement::new(grid, task.topology.nodes());
        let division = Division { segments: segments.max(1), ..division };
        Ok(Self { placement, division, byte_counts, laid_out: true, claimed: None })
    }

    /// Takes the schedule's own grid in place of the topology's.
    pub(super) fn lay_out(&mut self, laid_out: Self) -> Result<(), Fault> {
        if self.laid_out {
            return Err(Fault::OutOfOrder("the schedule sets its grid twice"));
        }
        if self.claimed.is_some() {
            return Err(Fault::OutOfOrder(
                "the schedule sets its grid after it has said what maps it onto itself",
            ));
        }
        *self = laid_out;
        Ok(())
    }

    pub(super) fn place(
        &mut self,
        virtual_node: u64,
        physical: u64,
        home: bool,
    ) -> Result<(), Fault> {
        if self.claimed.is_some() {
            return Err(Fault::OutOfOrder(
                "the schedule places a node after it has said what maps it onto itself",
            ));
        }
        self.placement.place(virtual_node, physical, home)
    }

    /// As [`super::Simulation::symmetric`].
    pub(super) fn symmetric(
        &mut self,
        task: &Task,
        listeners: &Listeners<'_>,
        symmetries: &[Symmetry],
    ) -> Result<Vec<u64>, Fault> {
        if self.claimed.is_some() {
            return Err(Fault::OutOfOrder("the schedule says twice what maps it onto itself"));
        }
        let placement = &self.placement;
        let (own, nodes) = (placement.grid().radices(), [placement.grid().nodes()]);
        // One symmetry speaks of the nodes' numbers, whatever the grid.
        let radices = if symmetries.len() == 1 { &nodes } else { own };
        let group = Group::new(radices, symmetries).map_err(Fault::BadSymmetry)?;
        let blocks_alike = self.byte_counts.is_none() && task.sizes.is_none();
        let own_nodes = placement.is_identity() && placement.check().is_ok();
        let taken = group.order() > 1
            && task.proof_scope == ProofScope::Auto
            && !listeners.interests.arrivals
            && blocks_alike
            && own_nodes
            // What shares ports is counted rank by rank.
            && task.topology.node_network().is_none()
            && Grid::new(radices).is_ok()
            && is_invariant(&task.collective, &group);
        let planned =
            group.axes().iter().map(|axis| if taken { axis.unit } else { axis.radix }).collect();
        self.claimed = Some(Claim { group, taken });
        Ok(planned)
    }

    pub(super) fn moves_byte_counts(&self) -> bool {
        self.byte_counts.is_some()
    }

    /// The first step begins: from here on it is known what is followed, of whom, and by whom.
    pub(super) fn begin(&self, task: &Task, listeners: &Listeners<'_>) -> Result<State, Fault> {
        let Task { topology, sizes, collective, .. } = task;
        let (placement, division, sizes) = (self.placement.clone(), self.division, sizes.clone());
        let group =
            self.claimed.as_ref().filter(|claim| claim.taken).map(|claim| claim.group.clone());
        let planned = group.as_ref().map_or(topology.nodes(), Group::representatives);
        let all_written_out = listeners.read_all_nodes();
        // What is looked at node by node, whoever is planned for.
        let nodes = if all_written_out { topology.nodes() } else { planned };
        affordable(nodes).map_err(Fault::Refused)?;
        let nobody_looks = !listeners.interests.sends && !listeners.interests.arrivals;
        let (collective, nodes) = (collective.clone(), nodes as usize);
        let at_once = match (self.byte_counts, group) {
            (Some(units), _) => {
                AtOnce::new(task, listeners, Payload::byte_counts(placement, sizes, units)?, nodes)
            }
            (None, Some(group)) => {
                let exchange = OrbitExchange::of_orbits(collective, placement, division, group)?;
                let of_orbits =
                    if all_written_out { AtOnce::written_out } else { AtOnce::of_representatives };
                of_orbits(task, listeners, exchange, nodes)
            }
            (None, None)
                if nobody_looks
                    && sizes.is_none()
                    && has_long_axes(&collective, division, &placement) =>
            {
                let exchange = OrbitExchange::of_everyone(collective, placement, division)?;
                AtOnce::new(task, listeners, Payload::Orbits(exchange), nodes)
            }
            (None, None) => {
                let exchange = Exchange::new(collective, placement, division, sizes)?;
                let exchange = if listeners.interests.arrivals {
                    exchange.with_arrival_tracking()
                } else {
                    exchange
                };
                AtOnce::new(task, listeners, Payload::Blocks(exchange), nodes)
            }
        };
        Ok(State::AtOnce(Box::new(at_once)))
    }
}

/// Whether sets are better followed as runs, every node its own orbit: where they would take many
/// words, of which ranges and single coordinates need few. Not where they wouldn't be affordable as
/// bits: how many runs a schedule makes of them, nobody knows beforehand.
fn has_long_axes(collective: &Collective, division: Division, placement: &Placement) -> bool {
    /// Measured: on shorter axes boxes of bits are faster.
    const LONG_AXIS: u64 = 1 << 15;
    let is_long = |radix: &u64| *radix >= LONG_AXIS;
    let told_apart = Inventory::<BitLayout>::distinguishes(collective, division).contains(&true);
    told_apart
        && placement.is_identity()
        && placement.check().is_ok()
        && placement.grid().radices().iter().any(is_long)
        && Inventory::least_bytes(&Inventory::layout(collective, division, placement))
            <= limits::HELD_BYTES
}

/// Whether a case may be planned for so many nodes; `Err` says why not.
pub fn affordable(planned: u64) -> Result<(), String> {
    const MOST: u64 = limits::CASE_NODES;
    if planned <= MOST {
        Ok(())
    } else {
        Err(format!("{planned} nodes are more than a case may have, {MOST}"))
    }
}

/// Whether a group maps a collective onto itself: it takes what each node has to what another has,
/// and what each is to have.
fn is_invariant(collective: &Collective, group: &Group) -> bool {
    !collective.kind().is_rooted()
        && collective.images().is_none_or(|images| group.commutes_with(images))
}
