//! Verification of schedules of byte counts. Only their destinations distinguish elements.

use super::{Goal, Holdings};
use crate::rehearsal::record::{Rehearsed, RehearsedRedistribution, RehearsedSend};
use crate::stop::Stop;
use swapmeet_abi::SWM_ALL_BYTES;

/// The elements for each destination in a bucket, or `None` once the bucket is sent.
type Bucket = Option<Vec<u64>>;

pub(super) struct ByteCounts<'a> {
    redistributions: &'a [RehearsedRedistribution],
    element_bytes: u64,
    /// For each node, the elements for each destination that are not in a bucket.
    held: Vec<Vec<u64>>,
    buckets: Vec<Vec<Bucket>>,
    arriving: Vec<(u64, Vec<u64>)>,
}

impl<'a> ByteCounts<'a> {
    pub(super) fn new(goal: &Goal<'_>, schedule: &'a Rehearsed) -> Result<Self, Stop> {
        let (nodes, element) = (goal.nodes, goal.settings.element_bytes.max(1));
        if !schedule.placements.is_empty() || schedule.radices.iter().product::<u64>() != nodes {
            return Err(Stop::failed(
                "a schedule of byte counts needs one node of its grid for each node of the machine",
            ));
        }
        let elements = |from, to| match goal.settings.bytes(from, to) {
            bytes if bytes.is_multiple_of(element) => Ok(bytes / element),
            bytes => Err(Stop::unsupported(format!(
                "{bytes} bytes are not a multiple of the element size, {element} bytes"
            ))),
        };
        let row = |from| (0..nodes).map(|to| elements(from, to)).collect();
        Ok(Self {
            redistributions: &schedule.redistributions,
            element_bytes: element,
            held: (0..nodes).map(row).collect::<Result<_, _>>()?,
            buckets: vec![Vec::new(); nodes as usize],
            arriving: Vec::new(),
        })
    }

    fn redistribute(&mut self, redistribution: &RehearsedRedistribution) -> Result<(), String> {
        let nodes = self.held.len();
        let bad =
            |what: &str| Err(format!("the redistribution of node {} {what}", redistribution.node));
        let below = |table: &[u32], most: u64| table.iter().all(|value| u64::from(*value) < most);
        let fits = |table: &[u32]| table.is_empty() || table.len() == nodes;
        if redistribution.node as usize >= nodes
            || redistribution.buckets == 0
            || redistribution.cycle == 0
            || redistribution.first >= redistribution.buckets
        {
            return bad("has an unknown node, no buckets or no first bucket");
        }
        if !fits(&redistribution.starts) || !fits(&redistribution.firsts) {
            return bad("has tables without one entry for each node");
        }
        if !below(&redistribution.starts, redistribution.cycle)
            || !below(&redistribution.firsts, redistribution.buckets)
        {
            return bad("has a table entry beyond the cycle or the buckets");
        }
        let node = redistribution.node as usize;
        if self.buckets[node].iter().any(Option::is_some) {
            return bad("comes before its previous buckets are sent");
        }
        let at = |table: &[u32], destination: usize| {
            table.get(destination).map_or(0, |value| u64::from(*value))
        };
        let mut buckets = vec![vec![0; nodes]; redistribution.buckets as usize];
        for (destination, elements) in
            std::mem::replace(&mut self.held[node], vec![0; nodes]).into_iter().enumerate()
        {
            for x in 0..elements {
                let number = (at(&redistribution.starts, destination) + x) % redistribution.cycle;
                let bucket =
                    (redistribution.first + at(&redistribution.firsts, destination) + number)
                        % redistribution.buckets;
                buckets[bucket as usize][destination] += 1;
            }
        }
        self.buckets[node] = buckets.into_iter().map(Some).collect();
        Ok(())
    }

    /// Removes the bytes that the send lists from the data outside of buckets. Returns them by
    /// destination.
    fn extract_counted(&mut self, send: &RehearsedSend) -> Result<Vec<u64>, String> {
        let held = &mut self.held[send.from as usize];
        let mut extracted = vec![0; held.len()];
        for count in &send.byte_counts {
            let Some(has) = held.get_mut(count.destination as usize) else {
                return Err(format!(
                    "node {} counts bytes for unknown node {}",
                    send.from, count.destination
                ));
            };
            let elements =
                if count.bytes == SWM_ALL_BYTES { *has } else { count.bytes / self.element_bytes };
            if count.bytes != SWM_ALL_BYTES && !count.bytes.is_multiple_of(self.element_bytes)
                || elements > *has
            {
                return Err(format!(
                    "node {} sends {} bytes for node {}, but holds {}",
                    send.from,
                    count.bytes,
                    count.destination,
                    *has * self.element_bytes
                ));
            }
            *has -= elements;
            extracted[count.destination as usize] += elements;
        }
        Ok(extracted)
    }
}

impl Holdings for ByteCounts<'_> {
    fn send(&mut self, send: &RehearsedSend, _: bool) -> Result<Option<u128>, String> {
        let extracted = match send.bucket {
            None => self.extract_counted(send)?,
            Some(bucket) => {
                let slot = self.buckets[send.from as usize].get_mut(bucket as usize);
                let unsent = || format!("node {} has no unsent bucket {bucket}", send.from);
                slot.and_then(Option::take).ok_or_else(unsent)?
            }
        };
        let elements: u64 = extracted.iter().sum();
        self.arriving.push((send.to, extracted));
        Ok((elements > 0).then(|| u128::from(elements) * u128::from(self.element_bytes)))
    }

    fn arrive(&mut self) -> Result<(), String> {
        for (to, extracted) in std::mem::take(&mut self.arriving) {
            self.held[to as usize]
                .iter_mut()
                .zip(extracted)
                .for_each(|(held, extracted)| *held += extracted);
        }
        Ok(())
    }

    fn redistribute_after(&mut self, step: u64) -> Result<(), String> {
        self.redistributions
            .iter()
            .filter(|redistribution| redistribution.after == step)
            .try_for_each(|redistribution| self.redistribute(redistribution))
    }

    fn verify(&mut self) -> Result<(), String> {
        for (node, buckets) in self.buckets.iter().enumerate() {
            if let Some(bucket) = buckets.iter().position(Option::is_some) {
                return Err(format!("node {node} has not sent bucket {bucket}"));
            }
        }
        for (node, held) in self.held.iter().enumerate() {
            let undelivered = held
                .iter()
                .enumerate()
                .find(|(destination, elements)| *destination != node && **elements > 0);
            if let Some((destination, elements)) = undelivered {
                let bytes = elements * self.element_bytes;
                return Err(format!("node {node} still has {bytes} bytes for node {destination}"));
            }
        }
        Ok(())
    }
}
