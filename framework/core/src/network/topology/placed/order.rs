//! Orders of nodes: drawn, along a curve, from a file.

/// The numbers below n in random order, by SplitMix64.
pub(super) fn shuffled(n: u32, seed: u64) -> Vec<u32> {
    let mut draw = super::super::random::SplitMix64::new(seed);
    let mut numbers: Vec<u32> = (0..n).collect();
    for last in (1..numbers.len()).rev() {
        numbers.swap(last, draw.below(last + 1));
    }
    numbers
}

/// Ranks along Hilbert's curve, from one node to a neighbour always (J. Skilling, *Programming the
/// Hilbert curve*, 2004); `None` unless all sides are the same power of two.
pub(super) fn hilbert(sides: &[u64]) -> Option<Vec<u32>> {
    let side = *sides.first()?;
    if !side.is_power_of_two() || sides.iter().any(|other| *other != side) {
        return None;
    }
    let (bits, dims) = (side.trailing_zeros(), sides.len());
    let nodes: u64 = sides.iter().product();
    let at = |rank: u64| {
        // The bits of the rank, dealt to the coordinates from the highest on.
        let mut x = vec![0_u64; dims];
        for bit in 0..bits as usize * dims {
            x[dims - 1 - bit % dims] |= ((rank >> bit) & 1) << (bit / dims);
        }
        // Gray decode, then undo what each level exchanged and turned round.
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

/// Ranks' nodes from a file: each node as often as it has ranks; what follows a `#` is a comment.
pub(super) fn from_file(content: &str, nodes: u32, each: u32) -> Result<Vec<u32>, String> {
    let mut seen = vec![0_u32; nodes as usize];
    let mut found = Vec::new();
    for (number, line) in (1..).zip(content.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        for word in
            line.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty())
        {
            let node = word.parse::<u32>().ok().filter(|node| *node < nodes);
            let node = node.ok_or_else(|| {
                format!(
                    "line {number}: `{word}` is no node, expected a number from 0 to {}",
                    nodes - 1
                )
            })?;
            let here = &mut seen[node as usize];
            *here += 1;
            match each {
                1 if *here > 1 => {
                    return Err(format!(
                        "line {number}: node {node} is there twice, expected one rank a node"
                    ));
                }
                _ if *here > each => {
                    return Err(format!(
                        "line {number}: node {node} is there {here} times, expected {each} ranks a node"
                    ));
                }
                _ => {}
            }
            found.push(node);
        }
    }
    let (count, ranks) = (found.len(), u64::from(nodes) * u64::from(each));
    if count as u64 == ranks {
        Ok(found)
    } else {
        Err(format!("{count} nodes, expected one for each of {ranks} ranks"))
    }
}
