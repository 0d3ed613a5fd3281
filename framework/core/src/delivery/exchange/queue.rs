//! Sends that wait to be carried out behind the schedule: copies of what the schedule said, close
//! together.

use super::Rule;
use crate::delivery::boxes::{Axis, NodeSet};
use smallvec::SmallVec;
use std::ops::Range;

/// Sends of a step, in their order.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    sends: Vec<Queued>,
    /// Their senders, close together: who carries out some nodes' sends looks for these.
    senders: Vec<u64>,
    axes: Vec<OwnAxis>,
    words: Vec<u64>,
}

/// One of them, but for its sender; what its sets consist of is elsewhere, so that it fits a cache
/// line.
#[derive(Debug, Clone)]
pub(crate) struct Queued {
    pub to: u64,
    pub copy: bool,
    combine: bool,
    strict: bool,
    local: bool,
    /// What whoever queued it knows it by.
    pub route: u32,
    origins: OwnSet,
    destinations: OwnSet,
    segments: OwnAxis,
}

#[derive(Debug, Clone)]
enum OwnSet {
    All,
    One(u64),
    /// Among the axes of the queue.
    Axes(Range<u32>),
}

#[derive(Debug, Clone)]
enum OwnAxis {
    All,
    Range {
        first: u32,
        stride: u32,
        count: u32,
    },
    /// Among the words of the queue.
    Bits(Range<u32>),
}

impl Queue {
    pub(crate) fn len(&self) -> usize {
        self.sends.len()
    }

    /// Whether there is no room for what another send says.
    pub(crate) fn is_full(&self) -> bool {
        /// Some hundred megabytes, and far from what 32 bits can number; one send's sets are much
        /// smaller.
        const MOST: usize = 1 << 24;
        self.axes.len() >= MOST || self.words.len() >= MOST
    }

    pub(super) fn senders(&self) -> &[u64] {
        &self.senders
    }

    pub(super) fn as_slice(&self) -> &[Queued] {
        &self.sends
    }

    pub(crate) fn clear(&mut self) {
        self.sends.clear();
        self.senders.clear();
        self.axes.clear();
        self.words.clear();
    }

    pub(crate) fn push(&mut self, rule: &Rule<'_>, route: u32) {
        let (origins, destinations) = (self.set(rule.origins), self.set(rule.destinations));
        let segments = self.axis(rule.segments);
        let Rule { from, to, strict, copy, combine, local, .. } = *rule;
        self.senders.push(from);
        self.sends.push(Queued {
            to,
            copy,
            combine,
            strict,
            local,
            route,
            origins,
            destinations,
            segments,
        });
    }

    fn set(&mut self, set: NodeSet<'_>) -> OwnSet {
        match set {
            NodeSet::All => OwnSet::All,
            NodeSet::One(node) => OwnSet::One(node),
            NodeSet::Axes(axes) => {
                let first = self.axes.len() as u32;
                for axis in axes {
                    let own = self.axis(*axis);
                    self.axes.push(own);
                }
                OwnSet::Axes(first..self.axes.len() as u32)
            }
        }
    }

    fn axis(&mut self, axis: Axis<'_>) -> OwnAxis {
        match axis {
            Axis::All => OwnAxis::All,
            Axis::Range { first, stride, count } => OwnAxis::Range { first, stride, count },
            Axis::Bits(words) => {
                let first = self.words.len() as u32;
                self.words.extend_from_slice(words);
                OwnAxis::Bits(first..self.words.len() as u32)
            }
        }
    }

    /// Calls `work` with a queued send of this node as the schedule said it.
    pub(crate) fn with<R>(
        &self,
        from: u64,
        queued: &Queued,
        work: impl FnOnce(&Rule<'_>) -> R,
    ) -> R {
        let Queued { to, strict, copy, combine, local, .. } = *queued;
        let (mut origins, mut destinations) = (SmallVec::new(), SmallVec::new());
        work(&Rule {
            from,
            to,
            origins: self.named_set(&queued.origins, &mut origins),
            destinations: self.named_set(&queued.destinations, &mut destinations),
            segments: self.named_axis(&queued.segments),
            strict,
            copy,
            combine,
            local,
        })
    }

    fn named_set<'a, 'b: 'a>(
        &'b self,
        set: &OwnSet,
        room: &'a mut SmallVec<[Axis<'b>; 8]>,
    ) -> NodeSet<'a> {
        match set {
            OwnSet::All => NodeSet::All,
            OwnSet::One(node) => NodeSet::One(*node),
            OwnSet::Axes(axes) => {
                room.extend(
                    self.axes[axes.start as usize..axes.end as usize]
                        .iter()
                        .map(|axis| self.named_axis(axis)),
                );
                NodeSet::Axes(room)
            }
        }
    }

    fn named_axis(&self, axis: &OwnAxis) -> Axis<'_> {
        match axis {
            OwnAxis::All => Axis::All,
            OwnAxis::Range { first, stride, count } => {
                Axis::Range { first: *first, stride: *stride, count: *count }
            }
            OwnAxis::Bits(words) => {
                Axis::Bits(&self.words[words.start as usize..words.end as usize])
            }
        }
    }
}
