//! The tokens of a dispatch or a combine. In a dispatch, each token is sent from its node to a set
//! of nodes. In a combine, every node of the set returns a partial result, and the token's node
//! receives the sum of these results.
//!
//! Tokens of one node with the same set of receivers form a *class*, which is treated as one block
//! of their total size. The classes of a node are numbered from 0, in ascending order of their
//! sets.

use super::{BlockSizes, MaxTraffic, pair_traffic};
use crate::places::Places;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The classes of the tokens of all nodes. Lists are stored one after another. `first_...` has the
/// index of the first entry of each list and, as last entry, the total length.
#[derive(Debug, PartialEq, Eq)]
pub struct Tokens {
    first_class: Vec<usize>,
    bytes: Vec<u64>,
    first_receiver: Vec<usize>,
    receivers: Vec<u32>,
    first_wanted: Vec<usize>,
    /// For each receiver, the classes that it receives: the node that owns the tokens, and the
    /// number of the class among the classes of this node.
    wanted: Vec<(u32, u32)>,
}

impl Tokens {
    /// Lists the tokens of `nodes` nodes. `tokens_of` returns the tokens of one node, each with its
    /// receivers (in any order) and its bytes. Tokens without receivers or bytes are left out.
    pub fn new(nodes: u64, mut tokens_of: impl FnMut(u64) -> Vec<(Vec<u32>, u64)>) -> Self {
        let mut tokens = Self {
            first_class: vec![0],
            bytes: Vec::new(),
            first_receiver: vec![0],
            receivers: Vec::new(),
            first_wanted: Vec::new(),
            wanted: Vec::new(),
        };
        for node in 0..nodes {
            let mut classes: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
            for (mut receivers, bytes) in tokens_of(node) {
                receivers.sort_unstable();
                receivers.dedup();
                if bytes > 0 && !receivers.is_empty() {
                    *classes.entry(receivers).or_default() += bytes;
                }
            }
            for (receivers, bytes) in classes {
                tokens.bytes.push(bytes);
                tokens.receivers.extend(receivers);
                tokens.first_receiver.push(tokens.receivers.len());
            }
            tokens.first_class.push(tokens.bytes.len());
        }
        tokens.list_wanted();
        tokens
    }

    fn list_wanted(&mut self) {
        let receivers = self.receivers.iter().map(|receiver| *receiver as usize);
        let mut places = Places::of(self.nodes() as usize, receivers);
        self.wanted = vec![(0, 0); self.receivers.len()];
        for node in 0..self.nodes() {
            for class in 0..self.classes(node) {
                let all = self.class_index(node, class);
                for at in self.first_receiver[all]..self.first_receiver[all + 1] {
                    self.wanted[places.take(self.receivers[at] as usize)] = (node as u32, class);
                }
            }
        }
        self.first_wanted = places.first;
    }

    /// Returns the number of nodes.
    pub fn nodes(&self) -> u64 {
        self.first_class.len() as u64 - 1
    }

    /// Returns the number of classes of a node.
    pub fn classes(&self, node: u64) -> u32 {
        let node = node as usize;
        (self.first_class[node + 1] - self.first_class[node]) as u32
    }

    /// Returns the number of classes of all nodes.
    pub fn all_classes(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the number of a class among the classes of all nodes.
    pub fn class_index(&self, node: u64, class: u32) -> usize {
        self.first_class[node as usize] + class as usize
    }

    /// Returns the node that owns the tokens of a class. `class` is the number of the class among
    /// the classes of all nodes.
    pub fn owner(&self, class: usize) -> u64 {
        self.first_class.partition_point(|first| *first <= class) as u64 - 1
    }

    /// Returns the total bytes of a class. `class` is its number among the classes of all nodes.
    pub fn bytes_of(&self, class: usize) -> u64 {
        self.bytes[class]
    }

    /// Returns the largest number of classes of any node.
    pub fn most_classes(&self) -> u32 {
        (0..self.nodes()).map(|node| self.classes(node)).max().unwrap_or(0)
    }

    /// Returns the total bytes of each class of a node.
    pub fn bytes(&self, node: u64) -> &[u64] {
        let node = node as usize;
        &self.bytes[self.first_class[node]..self.first_class[node + 1]]
    }

    /// Returns the receivers of a class, in ascending order. The owner can be one of them.
    pub fn receivers(&self, node: u64, class: u32) -> &[u32] {
        let class = self.class_index(node, class);
        &self.receivers[self.first_receiver[class]..self.first_receiver[class + 1]]
    }

    /// Returns the classes that a node receives: the owner of the tokens, and the number of the
    /// class among the owner's classes.
    pub fn wanted(&self, receiver: u64) -> &[(u32, u32)] {
        let receiver = receiver as usize;
        &self.wanted[self.first_wanted[receiver]..self.first_wanted[receiver + 1]]
    }

    /// Returns the number of pairs of a class and one of its receivers.
    pub fn pairs(&self) -> u64 {
        self.receivers.len() as u64
    }

    fn between(&self, node: u64, receiver: u64) -> u64 {
        let wanted = self.wanted(receiver);
        let first = wanted.partition_point(|(of, _)| u64::from(*of) < node);
        let classes = wanted[first..].iter().take_while(|(of, _)| u64::from(*of) == node);
        classes.map(|(_, class)| self.bytes(node)[*class as usize]).sum()
    }

    fn owners_of(&self, receiver: u64) -> impl Iterator<Item = (u64, u64)> {
        self.wanted(receiver).chunk_by(|a, b| a.0 == b.0).map(|classes| {
            let owner = u64::from(classes[0].0);
            let bytes = classes.iter().map(|(_, class)| self.bytes(owner)[*class as usize]);
            (owner, bytes.sum())
        })
    }

    fn to_others(&self, node: u64) -> u64 {
        let is_other = |receiver: &u32| u64::from(*receiver) != node;
        let classes = (0..).zip(self.bytes(node));
        let sent = classes.filter(|(class, _)| self.receivers(node, *class).iter().any(is_other));
        sent.map(|(_, bytes)| bytes).sum()
    }
}

/// For each origin and destination, the total bytes of tokens. In a dispatch, the origin is the
/// owner of the tokens, and the destination is a receiver. In a combine, it is the reverse.
#[derive(Debug)]
pub struct TokenSizes {
    tokens: Arc<Tokens>,
    is_combine: bool,
    largest: u64,
}

impl TokenSizes {
    /// Computes the sizes of a dispatch or a combine.
    pub fn new(tokens: Arc<Tokens>, is_combine: bool) -> Self {
        let of_receiver =
            |receiver| tokens.owners_of(receiver).map(|(_, bytes)| bytes).max().unwrap_or(0);
        let largest = (0..tokens.nodes()).map(of_receiver).max().unwrap_or(0);
        Self { tokens, is_combine, largest }
    }
}

impl BlockSizes for TokenSizes {
    fn bytes(&self, origin: u64, destination: u64) -> u64 {
        match self.is_combine {
            true => self.tokens.between(destination, origin),
            false => self.tokens.between(origin, destination),
        }
    }

    fn each_receiver(&self, origin: u64, _: u64, visit: &mut dyn FnMut(u64, u64)) {
        if self.is_combine {
            return self.tokens.owners_of(origin).for_each(|(owner, bytes)| visit(owner, bytes));
        }
        let mut by_receiver: BTreeMap<u32, u64> = BTreeMap::new();
        for (class, bytes) in (0..).zip(self.tokens.bytes(origin)) {
            for receiver in self.tokens.receivers(origin, class) {
                *by_receiver.entry(*receiver).or_default() += bytes;
            }
        }
        by_receiver.into_iter().for_each(|(receiver, bytes)| visit(receiver.into(), bytes));
    }

    fn largest(&self) -> u64 {
        self.largest
    }

    /// In a dispatch, the owner sends each token at least once. In a combine, it receives the sum
    /// of each token once.
    fn max_traffic(&self, nodes: u64) -> MaxTraffic {
        let pairs = pair_traffic(self, nodes);
        let once = (0..nodes).map(|node| self.tokens.to_others(node)).max().unwrap_or(0);
        match self.is_combine {
            true => MaxTraffic { received: once, ..pairs },
            false => MaxTraffic { sent: once, ..pairs },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens() -> Arc<Tokens> {
        Arc::new(Tokens::new(3, |node| match node {
            0 => vec![(vec![2, 1], 5), (vec![0, 2], 7), (vec![1, 2, 1], 5), (vec![], 9)],
            2 => vec![(vec![1], 3), (vec![1], 0)],
            _ => Vec::new(),
        }))
    }

    #[test]
    fn tokens_with_the_same_receivers_form_a_class() {
        let tokens = tokens();
        assert_eq!([0, 1, 2].map(|node| tokens.classes(node)), [2, 0, 1]);
        assert_eq!((tokens.bytes(0), tokens.bytes(2)), (&[7, 10][..], &[3][..]));
        assert_eq!((tokens.receivers(0, 0), tokens.receivers(0, 1)), (&[0, 2][..], &[1, 2][..]));
        assert_eq!(tokens.wanted(0), [(0, 0)]);
        assert_eq!(tokens.wanted(1), [(0, 1), (2, 0)]);
        assert_eq!(tokens.wanted(2), [(0, 0), (0, 1)]);
        assert_eq!((tokens.pairs(), tokens.most_classes()), (5, 2));
    }

    #[test]
    fn sizes_are_those_of_pairs_but_each_token_counts_once_at_its_node() {
        let dispatch = TokenSizes::new(tokens(), false);
        assert_eq!(
            [(0, 0), (0, 1), (0, 2), (2, 1)].map(|(o, d)| dispatch.bytes(o, d)),
            [7, 10, 17, 3]
        );
        let combine = TokenSizes::new(tokens(), true);
        assert_eq!((combine.bytes(2, 0), combine.bytes(0, 2), combine.largest()), (17, 0, 17));
        let traffic = |sizes: TokenSizes| sizes.max_traffic(3);
        // Node 0 sends each token once, which is 17 bytes, not 27. Node 2 receives 17 bytes, and
        // node 1 receives 10 + 3.
        let expected = MaxTraffic { sent: 17, received: 17, peers: 2, pairs: 3 };
        assert_eq!((traffic(dispatch), traffic(combine)), (expected, expected));
    }
}
