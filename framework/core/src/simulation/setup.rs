//! The declarations of a schedule before its first step: its grid, the embedding of the grid in the
//! machine, and its symmetry. They determine how data is traced.

use super::{ProofScope, Task};
use crate::delivery::boxes::Side;
use crate::delivery::byte_counts::{self, ByteCountUnits};
use crate::delivery::collective::Collective;
use crate::delivery::exchange::{Division, Exchange, Inventory, OrbitExchange, TokenExchange};
use crate::delivery::fault::Fault;
use crate::delivery::grid::{Embedding, Grid};
use crate::limits;
use crate::network::symmetry::{Group, Symmetry};
use crate::simulation::listener::Listeners;
use crate::simulation::recording::{Recorded, Recording, RecordingTask};
use crate::simulation::running::{Payload, Running};
use std::ops::Range;

#[derive(Debug)]
pub(super) struct Setup {
    embedding: Embedding,
    division: Division,
    byte_counts: Option<ByteCountUnits>,
    has_layout: bool,
    /// Whether the plugin has declared a symmetry, even if the symmetry is not used.
    is_declared: bool,
    group: Option<Group>,
    recording: Option<RecordingTask>,
    can_start_anywhere: bool,
}

impl Setup {
    pub(super) fn new(task: &Task) -> Result<Self, Fault> {
        Self::on_grid(task, task.topology.radices())
    }

    fn on_grid(task: &Task, radices: &[u64]) -> Result<Self, Fault> {
        let grid = Grid::new(radices).map_err(Fault::BadGrid)?;
        Ok(Self {
            embedding: Embedding::new(grid, task.topology.nodes()),
            division: Division { segments: classes(task)?, ..Division::WHOLE },
            byte_counts: None,
            has_layout: false,
            is_declared: false,
            group: None,
            recording: None,
            can_start_anywhere: false,
        })
    }

    pub(super) fn recording(self, what: RecordingTask) -> Self {
        Self { recording: Some(what), ..self }
    }

    /// If `radices` is empty, the grid is that of the topology.
    pub(super) fn with_layout(
        task: &Task,
        radices: &[u64],
        division: Division,
        byte_counts: Option<ByteCountUnits>,
    ) -> Result<Self, Fault> {
        let Division { in_parts, segments } = division;
        let setup = Self::on_grid(
            task,
            if radices.is_empty() { task.topology.radices() } else { radices },
        )?;
        if u64::from(segments) > limits::SEGMENTS {
            return Err(Fault::BadGrid(format!(
                "blocks are to be split in {segments} segments, expected at most {}",
                limits::SEGMENTS
            )));
        }
        let (kind, is_divided) = (task.collective.kind(), segments > 1 || in_parts);
        let refused = [
            (
                kind.has_tokens && is_divided,
                "tokens can't be divided into segments or parts: a segment is a class of tokens",
            ),
            (
                in_parts && kind.distinguishes(Side::Destinations),
                "its blocks can't be laid out in parts, they go to one destination each",
            ),
            (
                byte_counts.is_some() && is_divided,
                "byte counts are not split in segments, they are redistributed",
            ),
        ];
        if let Some((_, reason)) = refused.into_iter().find(|(is_refused, _)| *is_refused) {
            return Err(Fault::BadGrid(reason.to_owned()));
        }
        if byte_counts.is_some() && !kind.by_byte_counts {
            return Err(Fault::OutOfOrder(
                "only an all-to-all can be done by byte counts: elsewhere it matters where data comes from",
            ));
        }
        let division = Division { segments: segments.max(setup.division.segments), ..division };
        Ok(Self { division, byte_counts, has_layout: true, ..setup })
    }

    pub(super) fn replace_by(&mut self, laid_out: Self) -> Result<(), Fault> {
        if self.has_layout {
            return Err(Fault::OutOfOrder("the schedule sets its grid twice"));
        }
        if self.is_declared {
            return Err(Fault::OutOfOrder("the schedule sets its grid after its symmetry"));
        }
        *self = Self { recording: self.recording, ..laid_out };
        Ok(())
    }

    pub(super) fn place(
        &mut self,
        virtual_node: u64,
        physical: u64,
        home: bool,
    ) -> Result<(), Fault> {
        if self.is_declared {
            return Err(Fault::OutOfOrder("the schedule places a node after its symmetry"));
        }
        self.embedding.place(virtual_node, physical, home)
    }

    pub(super) fn symmetric(
        &mut self,
        task: &Task,
        listeners: &Listeners<'_>,
        symmetries: &[Symmetry],
        can_start_anywhere: bool,
    ) -> Result<Vec<Range<u64>>, Fault> {
        if self.is_declared {
            return Err(Fault::OutOfOrder("the schedule declares its symmetry twice"));
        }
        let embedding = &self.embedding;
        let (own, nodes) = (embedding.grid().radices(), [embedding.grid().nodes()]);
        // A single symmetry acts on the numbers of nodes, not on the coordinates of several axes.
        let radices = if symmetries.len() == 1 { &nodes } else { own };
        let group = Group::new(radices, symmetries).map_err(Fault::BadSymmetry)?;
        let is_uniform = self.byte_counts.is_none() && task.sizes.is_none();
        let is_identity = embedding.is_identity() && embedding.check().is_ok();
        let is_used = group.order() > 1
            && task.proof_scope == ProofScope::Auto
            && !listeners.interests.arrivals
            && is_uniform
            && is_identity
            // If ranks share the ports of a node, messages must be counted for each rank.
            && !task.topology.shares_nodes()
            // If the group does not preserve failed and slow links, the nodes of an orbit differ.
            && group.generators().into_iter().all(|generator| {
                task.topology.damage_is_invariant(&|node| group.moved(node, generator))
            })
            && Grid::new(radices).is_ok()
            && is_invariant(&task.collective, &group);
        let recorded = self.recording.map_or(Recorded::Image(0), |what| what.nodes);
        let planned = match recorded {
            // If a plugin cannot plan every image, it is only requested to plan the
            // representatives.
            Recorded::Image(number) if is_used => {
                let number = if can_start_anywhere { number } else { 0 };
                group.image_of_representatives(group.element(number))
            }
            Recorded::Image(_) | Recorded::AllNodes => radices.iter().map(|r| 0..*r).collect(),
        };
        self.is_declared = true;
        self.group = is_used.then_some(group);
        self.can_start_anywhere = can_start_anywhere;
        Ok(planned)
    }

    pub(super) fn relies_on_symmetry(&self) -> bool {
        self.group.is_some()
    }

    pub(super) fn moves_byte_counts(&self) -> bool {
        self.byte_counts.is_some()
    }

    pub(super) fn begin_recording(&self, task: &Task) -> Result<Option<Recording>, Fault> {
        let Some(what) = self.recording else { return Ok(None) };
        let group = self.group.as_ref().ok_or_else(|| {
            Fault::BadSymmetry("it is not declared when the plan is repeated".to_owned())
        })?;
        let layout = (&self.embedding, self.division);
        Recording::new(task, layout, group, what, self.can_start_anywhere).map(Some)
    }

    pub(super) fn begin(&self, task: &Task, listeners: &Listeners<'_>) -> Result<Running, Fault> {
        let all_nodes = task.topology.nodes();
        let planned = self.group.as_ref().map_or(all_nodes, Group::representatives);
        let is_expanded =
            self.group.is_some() && (listeners.read_all_nodes() || task.communicators.is_some());
        let nodes = if is_expanded { all_nodes } else { planned };
        affordable(nodes).map_err(Fault::Refused)?;
        let payload = self.payload(task, listeners)?;
        let is_symmetric = self.group.is_some() && !is_expanded;
        Ok(Running::new(task, listeners, payload, nodes as usize, is_symmetric))
    }

    fn payload(&self, task: &Task, listeners: &Listeners<'_>) -> Result<Payload, Fault> {
        let Task { collective, sizes, .. } = task;
        let (embedding, division) = (self.embedding.clone(), self.division);
        if let Some(units) = self.byte_counts {
            return byte_counts::start(embedding, sizes.clone(), units).map(Payload::ByteCounts);
        }
        let collective = collective.clone();
        let tracks_arrivals = listeners.interests.arrivals;
        if let Some(tokens) = collective.tokens().cloned() {
            let sizes = sizes.clone();
            let start = TokenExchange::new(collective, tokens, embedding, division, sizes)?;
            return Ok(Payload::Tokens(start.with_arrival_tracking(tracks_arrivals)));
        }
        if let Some(group) = &self.group {
            let group = group.clone();
            return OrbitExchange::of_orbits(collective, embedding, division, group)
                .map(Payload::Orbits);
        }
        let follows_sends = listeners.interests.sends || listeners.interests.arrivals;
        if !follows_sends && sizes.is_none() && has_long_axes(&collective, division, &embedding) {
            return OrbitExchange::of_all_nodes(collective, embedding, division)
                .map(Payload::Orbits);
        }
        let exchange = Exchange::new(collective, embedding, division, sizes.clone())?;
        Ok(Payload::Blocks(if tracks_arrivals {
            exchange.with_arrival_tracking()
        } else {
            exchange
        }))
    }
}

fn classes(task: &Task) -> Result<u32, Fault> {
    let most = task.collective.tokens().map_or(1, |tokens| tokens.most_classes()).max(1);
    if u64::from(most) <= limits::TOKEN_CLASSES {
        return Ok(most);
    }
    Err(Fault::Refused(format!(
        "a node has tokens with {most} different sets of receivers; the limit is {}",
        limits::TOKEN_CLASSES
    )))
}

/// Returns whether sets of nodes are stored as runs, not as bits. Runs are faster on long axes, on
/// which bits take many words, but most sets are a few ranges. If even bits would need too much
/// memory, returns `false`, and the case is refused later.
fn has_long_axes(collective: &Collective, division: Division, embedding: &Embedding) -> bool {
    /// In measurements, runs were faster than bits from this length on.
    const LONG_AXIS: u64 = 1 << 15;
    let is_long = |radix: &u64| *radix >= LONG_AXIS;
    division.distinguishes(collective.kind()).contains(&true)
        && embedding.is_identity()
        && embedding.check().is_ok()
        && embedding.grid().radices().iter().any(is_long)
        && Inventory::least_bytes(&Inventory::layout(collective, division, embedding))
            <= limits::HELD_BYTES
}

/// Errors if a case with this number of planned nodes exceeds the limit.
pub fn affordable(planned: u64) -> Result<(), String> {
    const MOST: u64 = limits::CASE_NODES;
    if planned <= MOST {
        Ok(())
    } else {
        Err(format!("{planned} nodes are more than a case may have, {MOST}"))
    }
}

fn is_invariant(collective: &Collective, group: &Group) -> bool {
    !collective.kind().is_rooted()
        && collective.tokens().is_none()
        && collective.images().is_none_or(|images| group.commutes_with(images))
}
