//! Orders of nodes: random, along a curve, or from a file.

use crate::text::excerpt;

/// Returns the numbers below n in a random order, drawn by SplitMix64.
pub(super) fn shuffled(n: u32, seed: u64) -> Vec<u32> {
    let mut draw = super::super::SplitMix64::new(seed);
    let mut numbers: Vec<u32> = (0..n).collect();
    for last in (1..numbers.len()).rev() {
        numbers.swap(last, draw.below(last + 1));
    }
    numbers
}

/// Returns the nodes in the order of Hilbert's curve, on which successive nodes are neighbours (J.
/// Skilling, *Programming the Hilbert curve*, 2004). Returns `None` unless all sides are the same
/// power of two.
pub(super) fn hilbert(sides: &[u64]) -> Option<Vec<u32>> {
    let side = *sides.first()?;
    if !side.is_power_of_two() || sides.iter().any(|other| *other != side) {
        return None;
    }
    let (bits, dims) = (side.trailing_zeros(), sides.len());
    let nodes: u64 = sides.iter().product();
    let at = |rank: u64| {
        // Distribute the bits of the position on the curve among the coordinates, from the highest
        // bit to the lowest.
        let mut x = vec![0_u64; dims];
        for bit in 0..bits as usize * dims {
            x[dims - 1 - bit % dims] |= ((rank >> bit) & 1) << (bit / dims);
        }
        // Decode the Gray code. Then undo the exchanges and inversions of each level.
        let top = x[dims - 1] >> 1;
        for i in (1..dims).rev() {
            x[i] ^= x[i - 1];
        }
        x[0] ^= top;
        let mut q = 2;
        while q < side {
            for i in (0..dims).rev() {
                if x[i] & q != 0 {
                    x[0] ^= q - 1;
                } else {
                    let t = (x[0] ^ x[i]) & (q - 1);
                    x[0] ^= t;
                    x[i] ^= t;
                }
            }
            q *= 2;
        }
        x.iter().fold(0, |node, c| node * side + c) as u32
    };
    Some((0..nodes).map(at).collect())
}

/// Parses a list that has the node of each rank. Each node must occur as often as it has ranks.
/// Text after a `#` is ignored.
pub(super) fn from_file(content: &str, nodes: u32, each: u32) -> Result<Vec<u32>, String> {
    let mut seen = vec![0_u32; nodes as usize];
    let mut found = Vec::new();
    for (number, line) in (1..).zip(content.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        for word in
            line.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty())
        {
            // Errors have the line number, so that an error in a long file can be found.
            let node = word.parse::<u32>().ok().filter(|node| *node < nodes);
            let node = node.ok_or_else(|| {
                format!(
                    "line {number}: `{}` is not a node, expected a number from 0 to {}",
                    excerpt(word),
                    nodes - 1
                )
            })?;
            let here = &mut seen[node as usize];
            *here += 1;
            // One rank per node is the most frequent case, and has its own message.
            match each {
                1 if *here > 1 => {
                    return Err(format!(
                        "line {number}: node {node} is listed twice, expected one rank per node"
                    ));
                }
                _ if *here > each => {
                    return Err(format!(
                        "line {number}: node {node} is listed {here} times, expected {each} ranks per node"
                    ));
                }
                _ => {}
            }
            found.push(node);
        }
    }
    // No node occurs too often. So if the count is right, no node is missing.
    let (count, ranks) = (found.len(), u64::from(nodes) * u64::from(each));
    if count as u64 == ranks {
        Ok(found)
    } else {
        Err(format!("{count} nodes, expected one for each of {ranks} ranks"))
    }
}
