//! The byte counts of a schedule in which a node redistributes its data over buckets. Each bucket
//! is sent as one message.

use swapmeet_interchange::schedule::{Header, Redistribution, Share, ShareSize};

pub(super) struct ByteCounts {
    element: u64,
    held: Vec<Vec<u64>>,
    /// The contents of each bucket, by node: each destination with the number of its elements.
    buckets: Vec<Vec<Vec<(u64, u64)>>>,
    /// For each receiver, the destinations and elements that arrive at the end of the step.
    arriving: Vec<(u64, Vec<(u64, u64)>)>,
}

impl ByteCounts {
    pub(super) fn new(head: &Header) -> Self {
        let element = head.element_bytes.max(1);
        let nodes = head.nodes as usize;
        let bytes = |from: usize, to: usize| {
            head.block_bytes
                .unwrap_or_else(|| head.sizes.get(from * nodes + to).copied().unwrap_or(0))
        };
        let held = (0..nodes)
            .map(|from| (0..nodes).map(|to| bytes(from, to) / element).collect())
            .collect();
        Self { element, held, buckets: vec![Vec::new(); nodes], arriving: Vec::new() }
    }

    pub(super) fn redistribute(&mut self, how: &Redistribution) -> Result<(), String> {
        let Redistribution { node, buckets, cycle, first, starts, firsts } = how;
        if *cycle == 0 || *buckets == 0 || *node >= self.held.len() as u64 {
            return Err(format!(
                "node {node} redistributes over {buckets} buckets in rounds of {cycle}"
            ));
        }
        let mut all = vec![Vec::new(); *buckets as usize];
        for (destination, held) in self.held[*node as usize].iter_mut().enumerate() {
            let of = |list: &Vec<u64>| list.get(destination).copied().unwrap_or(0);
            let (start, more, elements) = (of(starts) % cycle, of(firsts), std::mem::take(held));
            for x in 0..elements.min(*cycle) {
                // Elements x, x + cycle, x + 2 cycle, etc. of a destination are in one bucket.
                let number = (start + x) % cycle;
                let bucket = ((first + more) % buckets + number % buckets) % buckets;
                let list: &mut Vec<(u64, u64)> = &mut all[bucket as usize];
                let count = (elements - 1 - x) / cycle + 1;
                match list.last_mut() {
                    Some((last, sum)) if *last == destination as u64 => *sum += count,
                    Some(_) | None => list.push((destination as u64, count)),
                }
            }
        }
        self.buckets[*node as usize] = all;
        Ok(())
    }

    pub(super) fn extract(
        &mut self,
        from: u64,
        to: u64,
        share: &Share,
    ) -> Result<Vec<(u64, u64)>, String> {
        let unknown_node = || format!("there is no node {}", from.max(to));
        let held = self.held.get_mut(from as usize).ok_or_else(unknown_node)?;
        let extracted = match share {
            Share::Bucket(bucket) => {
                let buckets = &mut self.buckets[from as usize];
                let there = buckets.get_mut(*bucket as usize);
                std::mem::take(there.ok_or_else(|| format!("node {from} has no bucket {bucket}"))?)
            }
            Share::ByteCounts(list) => {
                let mut extracted = Vec::new();
                for (destination, many) in list {
                    let there = held.get_mut(*destination as usize);
                    let there = there.ok_or_else(|| format!("there is no node {destination}"))?;
                    let elements = match many {
                        ShareSize::Bytes(bytes) => bytes / self.element,
                        ShareSize::All(_) => *there,
                    };
                    *there = there.checked_sub(elements).ok_or_else(|| {
                        format!("node {from} has not so many bytes for node {destination}")
                    })?;
                    extracted.push((*destination, elements));
                }
                extracted
            }
        };
        let bytes = extracted
            .iter()
            .map(|(destination, elements)| (*destination, elements * self.element))
            .collect();
        self.arriving.push((to, extracted));
        Ok(bytes)
    }

    pub(super) fn arrive(&mut self) {
        for (to, list) in self.arriving.drain(..) {
            for (destination, elements) in list {
                if let Some(held) = self
                    .held
                    .get_mut(to as usize)
                    .and_then(|held| held.get_mut(destination as usize))
                {
                    *held += elements;
                }
            }
        }
    }
}
