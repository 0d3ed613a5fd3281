//! Sends that wait to be carried out behind the schedule: copies of what the schedule said, close together.

use super::Rule;
use crate::delivery::boxes::{Axis, NodeSet};
use smallvec::SmallVec;
use std::ops::Range;

/// Sends of a step, in their order.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    sends: Vec<Queued>,
    /// Their senders, close together: each of a crew looks for its own.
    senders: Vec<u64>,
    axes: Vec<OwnAxis>,
    words: Vec<u64>,
}

/// One of them, but for its sets.
#[derive(Debug, Clone)]
pub(crate) struct Queued {
    pub from: u64,
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
    Axes(Range<usize>),
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
    Bits(Range<usize>),
}

impl Queue {
    pub(crate) fn len(&self) -> usize {
        self.sends.len()
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
        self.sends.push(Queued { from, to, copy, combine, strict, local, route, origins, destinations, segments });
    }

    fn set(&mut self, set: NodeSet<'_>) -> OwnSet {
        match set {
            NodeSet::All => OwnSet::All,
            NodeSet::One(node) => OwnSet::One(node),
            NodeSet::Axes(axes) => {
                let first = self.axes.len();
                for axis in axes {
                    let own = self.axis(*axis);
                    self.axes.push(own);
                }
                OwnSet::Axes(first..self.axes.len())
            }
        }
    }

    fn axis(&mut self, axis: Axis<'_>) -> OwnAxis {
        match axis {
            Axis::All => OwnAxis::All,
            Axis::Range { first, stride, count } => OwnAxis::Range { first, stride, count },
            Axis::Bits(words) => {
                let first = self.words.len();
                self.words.extend_from_slice(words);
                OwnAxis::Bits(first..self.words.len())
            }
        }
    }

    /// Calls `work` with a queued send as the schedule said it.
    pub(crate) fn with<R>(&self, queued: &Queued, work: impl FnOnce(&Rule<'_>) -> R) -> R {
        let Queued { from, to, strict, copy, combine, local, .. } = *queued;
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

    fn named_set<'a, 'b: 'a>(&'b self, set: &OwnSet, room: &'a mut SmallVec<[Axis<'b>; 8]>) -> NodeSet<'a> {
        match set {
            OwnSet::All => NodeSet::All,
            OwnSet::One(node) => NodeSet::One(*node),
            OwnSet::Axes(axes) => {
                room.extend(self.axes[axes.clone()].iter().map(|axis| self.named_axis(axis)));
                NodeSet::Axes(room)
            }
        }
    }

    fn named_axis(&self, axis: &OwnAxis) -> Axis<'_> {
        match axis {
            OwnAxis::All => Axis::All,
            OwnAxis::Range { first, stride, count } => Axis::Range { first: *first, stride: *stride, count: *count },
            OwnAxis::Bits(words) => Axis::Bits(&self.words[words.clone()]),
        }
    }
}
