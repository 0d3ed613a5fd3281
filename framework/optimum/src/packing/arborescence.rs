//! Spanning trees of least cost, with a given root (Edmonds, 1967).

/// The cost of a message from each node to each other node: `costs[from][to]`.
pub(super) type Costs = Vec<Vec<u64>>;

pub(super) fn reversed(costs: &Costs) -> Costs {
    let nodes = 0..costs.len();
    nodes.clone().map(|from| nodes.clone().map(|to| costs[to][from]).collect()).collect()
}

/// Returns the messages (sender, receiver) of a tree of least cost that reaches all nodes from
/// `root`, and its cost.
pub(super) fn arborescence(costs: &Costs, root: usize) -> (Vec<(u32, u32)>, u64) {
    let parents = parents(costs, root);
    let others = || (0..costs.len()).filter(|node| *node != root);
    let messages = others().map(|node| (parents[node] as u32, node as u32)).collect();
    (messages, others().map(|node| costs[parents[node]][node]).sum())
}

/// Returns the parent of each node in a tree of least cost. The parent of the root has no meaning.
fn parents(costs: &Costs, root: usize) -> Vec<usize> {
    // Choose the cheapest message into each node. Without a cycle, these are the tree.
    let nodes = costs.len();
    let cheapest = |to: usize| {
        let others = (0..nodes).filter(|from| *from != to);
        others.min_by_key(|from| costs[*from][to]).unwrap_or(root)
    };
    let mut parents: Vec<usize> =
        (0..nodes).map(|node| if node == root { root } else { cheapest(node) }).collect();
    let Some(cycle) = find_cycle(&parents, root) else { return parents };
    // Otherwise contract a cycle to one node, which is the last node of a smaller problem. A
    // message into the cycle replaces one message of the cycle, so it costs the difference.
    let mut is_inside = vec![false; nodes];
    cycle.iter().for_each(|node| is_inside[*node] = true);
    let outside: Vec<usize> = (0..nodes).filter(|node| !is_inside[*node]).collect();
    let extra = |from: usize, to: usize| costs[from][to] - costs[parents[to]][to];
    let nearest = |keys: &dyn Fn(usize) -> u64| {
        cycle.iter().copied().min_by_key(|node| keys(*node)).unwrap_or(root)
    };
    let entry: Vec<usize> = outside.iter().map(|from| nearest(&|to| extra(*from, to))).collect();
    let exit: Vec<usize> = outside.iter().map(|to| nearest(&|from| costs[from][*to])).collect();
    let mut smaller: Costs =
        outside.iter().map(|from| outside.iter().map(|to| costs[*from][*to]).collect()).collect();
    for (row, (from, entry)) in smaller.iter_mut().zip(outside.iter().zip(&entry)) {
        row.push(extra(*from, *entry));
    }
    let leave = outside.iter().zip(&exit).map(|(to, exit)| costs[*exit][*to]);
    smaller.push(leave.chain([0]).collect());
    let new_root = outside.iter().position(|node| *node == root).unwrap_or_default();
    let found = self::parents(&smaller, new_root);
    for (place, node) in outside.iter().enumerate().filter(|(_, node)| **node != root) {
        let parent = found[place];
        parents[*node] = outside.get(parent).copied().unwrap_or(exit[place]);
    }
    let sender = found[outside.len()];
    parents[entry[sender]] = outside[sender];
    parents
}

fn find_cycle(parents: &[usize], root: usize) -> Option<Vec<usize>> {
    // The number of the walk that first reached each node; 0 if none has reached it.
    let mut reached = vec![0; parents.len()];
    for start in 0..parents.len() {
        let mut node = start;
        while node != root && reached[node] == 0 {
            reached[node] = start + 1;
            node = parents[node];
        }
        if node != root && reached[node] == start + 1 {
            let rest = std::iter::successors(Some(parents[node]), |node| Some(parents[*node]));
            return Some(
                std::iter::once(node).chain(rest.take_while(|other| *other != node)).collect(),
            );
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the best of all assignments of parents, for 300 random costs.
    #[test]
    fn trees_have_the_least_cost_of_all_trees() {
        let mut state = 5_u64;
        let mut random = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % most
        };
        for _ in 0..300 {
            let nodes = 2 + random(4) as usize;
            let root = random(nodes as u64) as usize;
            let costs: Costs =
                (0..nodes).map(|_| (0..nodes).map(|_| random(12)).collect()).collect();
            let mut least = u64::MAX;
            for choice in 0..(nodes as u64).pow(nodes as u32) {
                let parent =
                    |node: usize| (choice / (nodes as u64).pow(node as u32)) as usize % nodes;
                let reaches_root = |node: usize| {
                    let mut at = node;
                    (0..nodes).for_each(|_| at = if at == root { root } else { parent(at) });
                    at == root
                };
                if (0..nodes).all(reaches_root) {
                    let cost =
                        |node: usize| if node == root { 0 } else { costs[parent(node)][node] };
                    least = least.min((0..nodes).map(cost).sum());
                }
            }
            let (messages, cost) = arborescence(&costs, root);
            assert_eq!(cost, least, "{costs:?} from {root}");
            assert_eq!(messages.len(), nodes - 1);
            let sum: u64 = messages.iter().map(|(a, b)| costs[*a as usize][*b as usize]).sum();
            assert_eq!(sum, least);
            let parents: Vec<usize> = (0..nodes)
                .map(|node| {
                    messages
                        .iter()
                        .find(|(_, to)| *to as usize == node)
                        .map_or(root, |m| m.0 as usize)
                })
                .collect();
            assert_eq!(find_cycle(&parents, root), None);
        }
    }
}
