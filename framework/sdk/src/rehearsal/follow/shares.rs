//! Every element by itself, known by its destination alone.

use super::{Holdings, Task};
use crate::rehearsal::record::{Rehearsed, RehearsedRedistribution, RehearsedSend};
use crate::stop::Stop;
use swapmeet_abi::SWM_ALL_BYTES;

/// A bucket: elements for each destination, until it is sent.
type Bucket = Option<Vec<u64>>;

/// Who holds how many elements for whom.
pub(super) struct Shares<'a> {
    redistributions: &'a [RehearsedRedistribution],
    element: u64,
    /// Outside of buckets: for each node, for each destination.
    held: Vec<Vec<u64>>,
    buckets: Vec<Vec<Bucket>>,
    arriving: Vec<(u64, Vec<u64>)>,
}

impl<'a> Shares<'a> {
    pub(super) fn new(task: &Task<'_>, all: &'a Rehearsed) -> Result<Self, Stop> {
        let (nodes, element) = (task.nodes, task.asked.element_bytes.max(1));
        if !all.placements.is_empty() || all.radices.iter().product::<u64>() != nodes {
            return Err(Stop::failed("a schedule of byte counts runs each node on its own"));
        }
        let elements = |from, to| match task.asked.bytes(from, to) {
            bytes if bytes.is_multiple_of(element) => Ok(bytes / element),
            bytes => Err(Stop::unsupported(format!(
                "{bytes} bytes are no multiple of the element of {element} bytes"
            ))),
        };
        let row = |from| (0..nodes).map(|to| elements(from, to)).collect();
        Ok(Self {
            redistributions: &all.redistributions,
            element,
            held: (0..nodes).map(row).collect::<Result<_, _>>()?,
            buckets: vec![Vec::new(); nodes as usize],
            arriving: Vec::new(),
        })
    }

    /// Takes an element after another, and looks which bucket it goes to.
    fn redistribute(&mut self, how: &RehearsedRedistribution) -> Result<(), String> {
        let nodes = self.held.len();
        let bad = |what: &str| Err(format!("the redistribution of node {} {what}", how.node));
        let below = |table: &[u32], most: u64| table.iter().all(|value| u64::from(*value) < most);
        let table_fits = |table: &[u32]| table.is_empty() || table.len() == nodes;
        if how.node as usize >= nodes
            || how.buckets == 0
            || how.cycle == 0
            || how.first >= how.buckets
        {
            return bad("is of an unknown node, or has no bucket to begin with");
        }
        if !table_fits(&how.starts) || !table_fits(&how.firsts) {
            return bad("has tables that are not one entry a node");
        }
        if !below(&how.starts, how.cycle) || !below(&how.firsts, how.buckets) {
            return bad("begins beyond the cycle or the buckets");
        }
        let node = how.node as usize;
        if self.buckets[node].iter().any(Option::is_some) {
            return bad("comes before its last buckets are all sent");
        }
        let at = |table: &[u32], destination: usize| {
            table.get(destination).map_or(0, |value| u64::from(*value))
        };
        let mut buckets = vec![vec![0; nodes]; how.buckets as usize];
        for (destination, elements) in
            std::mem::replace(&mut self.held[node], vec![0; nodes]).into_iter().enumerate()
        {
            for x in 0..elements {
                let number = (at(&how.starts, destination) + x) % how.cycle;
                let bucket = (how.first + at(&how.firsts, destination) + number) % how.buckets;
                buckets[bucket as usize][destination] += 1;
            }
        }
        self.buckets[node] = buckets.into_iter().map(Some).collect();
        Ok(())
    }

    /// Takes the counted bytes out of what the sender holds.
    fn take_counted(&mut self, send: &RehearsedSend) -> Result<Vec<u64>, String> {
        let held = &mut self.held[send.from as usize];
        let mut taken = vec![0; held.len()];
        for count in &send.byte_counts {
            let Some(has) = held.get_mut(count.destination as usize) else {
                return Err(format!(
                    "node {} counts bytes for unknown node {}",
                    send.from, count.destination
                ));
            };
            let elements =
                if count.bytes == SWM_ALL_BYTES { *has } else { count.bytes / self.element };
            if count.bytes != SWM_ALL_BYTES && !count.bytes.is_multiple_of(self.element)
                || elements > *has
            {
                return Err(format!(
                    "node {} sends {} bytes for node {}, but holds {}",
                    send.from,
                    count.bytes,
                    count.destination,
                    *has * self.element
                ));
            }
            *has -= elements;
            taken[count.destination as usize] += elements;
        }
        Ok(taken)
    }
}

impl Holdings for Shares<'_> {
    fn send(&mut self, send: &RehearsedSend) -> Result<Option<u128>, String> {
        let taken = match send.bucket {
            None => self.take_counted(send)?,
            Some(bucket) => {
                let place = self.buckets[send.from as usize].get_mut(bucket as usize);
                let unsent = || {
                    format!("node {} has no bucket {bucket} that is still to be sent", send.from)
                };
                place.and_then(Option::take).ok_or_else(unsent)?
            }
        };
        let elements: u64 = taken.iter().sum();
        self.arriving.push((send.to, taken));
        Ok((elements > 0).then(|| u128::from(elements) * u128::from(self.element)))
    }

    fn arrive(&mut self) -> Result<(), String> {
        for (to, taken) in std::mem::take(&mut self.arriving) {
            self.held[to as usize].iter_mut().zip(taken).for_each(|(held, taken)| *held += taken);
        }
        Ok(())
    }

    fn between(&mut self, after: u64) -> Result<(), String> {
        self.redistributions
            .iter()
            .filter(|how| how.after == after)
            .try_for_each(|how| self.redistribute(how))
    }

    fn verify(&mut self) -> Result<(), String> {
        for (node, buckets) in self.buckets.iter().enumerate() {
            if let Some(bucket) = buckets.iter().position(Option::is_some) {
                return Err(format!("node {node} has not sent bucket {bucket}"));
            }
        }
        for (node, held) in self.held.iter().enumerate() {
            let astray = held
                .iter()
                .enumerate()
                .find(|(destination, elements)| *destination != node && **elements > 0);
            if let Some((destination, elements)) = astray {
                let bytes = elements * self.element;
                return Err(format!("node {node} still has {bytes} bytes for node {destination}"));
            }
        }
        Ok(())
    }
}
