//! The greedy gather, which brings every block to every node. In each step, each link carries a
//! block that its receiver lacks: of a few candidates, the one that the fewest nodes have. Each
//! node has a set of the blocks that it has, and a set of those that it lacks. A block that is
//! chosen for the current step is in neither set. A set has one bit for each block, in words of 64
//! bits. A second array has one bit for each word that is not zero, so that a search skips most
//! words. The search begins at a random word and ends after `SAMPLE` candidates. A node can forward
//! a block in the steps after the one in which the block arrives.

use crate::Deadline;
use crate::network::LinkGraph;
use swapmeet_flows::Random;
use swapmeet_sdk::Stop;

const SAMPLE: usize = 16;
const MAX_MOVES: u64 = 1 << 27;

struct Bits {
    words: usize,
    groups: usize,
    bits: Vec<u64>,
    /// A bit for each word that is not zero.
    summary: Vec<u64>,
}

impl Bits {
    fn new(nodes: usize, blocks: usize) -> Self {
        let words = blocks.div_ceil(64);
        let groups = words.div_ceil(64);
        Self { words, groups, bits: vec![0; nodes * words], summary: vec![0; nodes * groups] }
    }

    fn get(&self, node: usize, block: usize) -> bool {
        self.bits[node * self.words + block / 64] >> (block % 64) & 1 == 1
    }

    fn set(&mut self, node: usize, block: usize) {
        self.bits[node * self.words + block / 64] |= 1 << (block % 64);
        self.summary[node * self.groups + block / 4096] |= 1 << (block / 64 % 64);
    }

    fn clear(&mut self, node: usize, block: usize) {
        let word = &mut self.bits[node * self.words + block / 64];
        *word &= !(1 << (block % 64));
        if *word == 0 {
            self.summary[node * self.groups + block / 4096] &= !(1 << (block / 64 % 64));
        }
    }
}

pub(crate) struct Moves {
    pub moves: Vec<(u32, u32)>,
    /// The index of the first move of each step, and the number of all moves.
    pub first: Vec<usize>,
}

impl Moves {
    pub(crate) fn steps(&self) -> usize {
        self.first.len() - 1
    }

    pub(crate) fn step(&self, step: usize) -> &[(u32, u32)] {
        &self.moves[self.first[step]..self.first[step + 1]]
    }
}

struct Attempt<'a> {
    network: &'a LinkGraph,
    into: &'a LinkGraph,
    of_link: &'a [u32],
    has: Bits,
    lacks: Bits,
    left: Vec<u32>,
    /// For each block, a key that is lower for rarer blocks. The upper bits count the nodes that
    /// have the block, and the lowest 12 bits are random and break ties.
    key: Vec<u32>,
    holders: Vec<u32>,
    choices: Vec<(u32, Option<u32>)>,
}

/// Checks that a schedule that brings this number of blocks to every node has not too many moves.
pub(crate) fn check_moves(network: &LinkGraph, blocks: u64) -> Result<(), Stop> {
    let moves = blocks * (network.nodes as u64).saturating_sub(1);
    if moves > MAX_MOVES {
        return Err(Stop::unsupported(format!(
            "{moves} transfers of blocks are too many to list, expected at most {MAX_MOVES}: use fewer nodes or segments, or an algorithm with a rule, such as `ring` or `bruck`"
        )));
    }
    Ok(())
}

/// Returns the shortest of up to `tries` schedules. `origins` has the node at which each block
/// starts.
pub(crate) fn gather(
    network: &LinkGraph,
    origins: &[u32],
    tries: u64,
    random: &mut Random,
    deadline: Deadline,
) -> Result<Moves, Stop> {
    let (into, of_link) = network.reversed();
    let mut own = vec![0; network.nodes];
    origins.iter().for_each(|&origin| own[origin as usize] += 1);
    let bound = lower_bound(&into, origins.len(), &own);
    let mut best: Option<Moves> = None;
    for _ in 0..tries {
        let most = best.as_ref().map_or(usize::MAX, Moves::steps);
        let attempt = Attempt::new(network, (&into, &of_link), origins);
        if let Some(moves) = attempt.run(origins.len(), most, random) {
            best = Some(moves);
        }
        if best.as_ref().is_some_and(|best| best.steps() <= bound) || deadline.has_passed() {
            break;
        }
    }
    best.ok_or_else(|| Stop::failed("no schedule was found, although the network is connected"))
}

/// Returns the number of steps that each node needs to receive all blocks except its own, for the
/// node that needs the most. `own` has the number of blocks of each node.
pub(crate) fn lower_bound(into: &LinkGraph, blocks: usize, own: &[usize]) -> usize {
    let rate =
        |node: usize| into.links.out(node).map(|link| into.bandwidth[link] as usize).sum::<usize>();
    let steps = |node: usize| (blocks - own[node]).div_ceil(rate(node).max(1));
    (0..into.nodes).map(steps).max().unwrap_or(0)
}

impl<'a> Attempt<'a> {
    fn new(
        network: &'a LinkGraph,
        (into, of_link): (&'a LinkGraph, &'a [u32]),
        origins: &[u32],
    ) -> Self {
        let (nodes, blocks) = (network.nodes, origins.len());
        let (mut has, mut lacks) = (Bits::new(nodes, blocks), Bits::new(nodes, blocks));
        let mut left = vec![blocks as u32; nodes];
        for node in 0..nodes {
            (0..blocks).for_each(|block| lacks.set(node, block));
        }
        for (block, &origin) in origins.iter().enumerate() {
            has.set(origin as usize, block);
            lacks.clear(origin as usize, block);
            left[origin as usize] -= 1;
        }
        Self {
            network,
            into,
            of_link,
            has,
            lacks,
            left,
            key: vec![0; blocks],
            holders: vec![1; blocks],
            choices: Vec::new(),
        }
    }

    fn run(mut self, blocks: usize, most: usize, random: &mut Random) -> Option<Moves> {
        let mut moves = Moves { moves: Vec::new(), first: vec![0] };
        let mut open: Vec<u32> = (0..self.network.nodes as u32).collect();
        open.retain(|node| self.left[*node as usize] > 0);
        while !open.is_empty() {
            if moves.steps() + 1 >= most {
                return None;
            }
            for block in 0..blocks {
                self.key[block] = (self.holders[block] << 12) | (random.bits() as u32 & 0xfff);
            }
            let start = moves.moves.len();
            for &node in &open {
                self.choose(node as usize, random);
                let chosen =
                    self.choices.iter().filter_map(|(link, block)| Some((*link, (*block)?)));
                moves.moves.extend(chosen);
            }
            for &(link, block) in &moves.moves[start..] {
                self.has.set(self.network.links.head[link as usize] as usize, block as usize);
                self.holders[block as usize] += 1;
            }
            moves.moves[start..].sort_unstable();
            moves.first.push(moves.moves.len());
            open.retain(|node| self.left[*node as usize] > 0);
        }
        Some(moves)
    }

    /// Chooses blocks for the links into a node, in random order. Choices for other nodes are
    /// independent, because a node can send any block over all its links.
    fn choose(&mut self, node: usize, random: &mut Random) {
        self.choices.clear();
        for back in self.into.links.out(node) {
            // If a link can carry several blocks in a step, it is listed once for each of them.
            let blocks = self.into.bandwidth[back] as usize;
            self.choices.extend(std::iter::repeat_n((self.of_link[back], None), blocks));
        }
        random.shuffle(&mut self.choices);
        for place in 0..self.choices.len() {
            if self.left[node] == 0 {
                break;
            }
            let link = self.choices[place].0;
            let found = self
                .pick(link, random.below(self.has.words))
                .or_else(|| self.exchange(link, random));
            if let Some(block) = found {
                self.choices[place].1 = Some(block);
                self.lacks.clear(node, block as usize);
                self.left[node] -= 1;
                self.key[block as usize] += 1 << 12;
            }
        }
    }

    /// Gives the link a block that was chosen for another link into the same node, and chooses a
    /// further block for that other link.
    fn exchange(&mut self, link: u32, random: &mut Random) -> Option<u32> {
        let from = self.network.links.tail[link as usize] as usize;
        for place in 0..self.choices.len() {
            let (other, Some(block)) = self.choices[place] else { continue };
            if !self.has.get(from, block as usize) {
                continue;
            }
            if let Some(second) = self.pick(other, random.below(self.has.words)) {
                let node = self.network.links.head[link as usize] as usize;
                self.choices[place].1 = Some(second);
                self.lacks.clear(node, second as usize);
                return Some(block);
            }
        }
        None
    }

    /// Returns a rare block that the receiver lacks, searching from word `start` on.
    fn pick(&self, link: u32, start: usize) -> Option<u32> {
        let (from, to) = (
            self.network.links.tail[link as usize] as usize,
            self.network.links.head[link as usize] as usize,
        );
        let (words, groups) = (self.has.words, self.has.groups);
        let has = &self.has.bits[from * words..(from + 1) * words];
        let lacks = &self.lacks.bits[to * words..(to + 1) * words];
        let has_group = &self.has.summary[from * groups..(from + 1) * groups];
        let lacks_group = &self.lacks.summary[to * groups..(to + 1) * groups];
        let (mut best, mut seen) = ((u32::MAX, None), 0);
        // The group of 64 words that contains `start` is visited twice: first from `start` on, and
        // at the end up to it.
        for round in 0..=groups {
            let group = (start / 64 + round) % groups;
            let from_start = !0_u64 << (start % 64);
            let mut found = has_group[group] & lacks_group[group];
            found &= match round {
                0 => from_start,
                _ if round == groups => !from_start,
                _ => !0,
            };
            while found != 0 {
                let word = group * 64 + found.trailing_zeros() as usize;
                found &= found - 1;
                let mut both = has[word] & lacks[word];
                while both != 0 {
                    let block = (word * 64) as u32 + both.trailing_zeros();
                    both &= both - 1;
                    let key = self.key[block as usize];
                    if key < best.0 {
                        best = (key, Some(block));
                    }
                    seen += 1;
                }
                if seen >= SAMPLE {
                    return best.1;
                }
            }
        }
        best.1
    }
}
