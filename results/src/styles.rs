//! The styles of algorithms. A style is a number, from which plots and the dashboard derive a
//! colour and a mark. The styles of bundled algorithms are fixed, so that an algorithm has the same
//! style everywhere.

use std::collections::BTreeSet;

/// For each style, the bundled algorithms that have it. Algorithms of the same collective have
/// different styles. Styles with the lowest numbers differ most, so they belong to the algorithms
/// that are compared most often.
const BUNDLED: [&[&str]; 36] = [
    &[
        "suh-shin",
        "ring-allreduce",
        "binomial-broadcast",
        "torus-gather",
        "torus-gossip",
        "torus-permutation",
        "torus-scatter",
        "bine-reduce",
        "bine-reduce-scatter",
        "direct-combine",
        "direct-dispatch",
    ],
    &[
        "retri",
        "recursive-doubling-allreduce",
        "scatter-allgather",
        "rdn-allgather",
        "rdn-scatter",
        "bine-gather",
        "hierarchical-combine",
        "hierarchical-dispatch",
        "binomial-reduce",
        "circulant-reduce-scatter",
    ],
    &[
        "pairwise",
        "rabenseifner-allreduce",
        "hypercube-broadcast",
        "bine-allgather",
        "bine-scatter",
        "binomial-gather",
        "chain-reduce",
        "pat-reduce-scatter",
    ],
    &[
        "pex",
        "two-tree-allreduce",
        "torus-broadcast",
        "hypercube-allgather",
        "hypercube-scatter",
        "recursive-halving-reduce-scatter",
    ],
    &["linear"],
    &[
        "torus-multiscatter",
        "swing-allreduce",
        "rdn-broadcast",
        "binomial-scatter",
        "neighbour-allgather",
        "ring-reduce-scatter",
    ],
    &[
        "direct",
        "bucket-allreduce",
        "bine-broadcast",
        "recursive-doubling-allgather",
        "greedy-reduce-scatter",
    ],
    &["bruck", "bine-allreduce", "chain-broadcast"],
    &["row-column", "trivance-allreduce", "sparbit-allgather", "greedy-broadcast"],
    &["ring", "circulant-allreduce"],
    &["gen", "hierarchical-allreduce", "pat-allgather"],
    &["two-stage", "greedy-allgather", "greedy-allreduce"],
    &["schedule"],
    &["msccl"],
    &["flow"],
    &["pex-gen"],
    &["pex-gen-shift"],
    &["four-stage", "nvls-allreduce"],
    &["rdn-alltoall", "nvls-tree-allreduce"],
    &["bine-alltoall"],
    &["hypercube-alltoall"],
    &["binary-exchange"],
    &["cyclic-exchange"],
    &["hierarchical"],
    &["linear-sync"],
    &["tuna"],
    &["by-dimension"],
    &["birkhoff"],
    &["fast"],
    &["node-aware"],
    &["padded-bruck"],
    &["two-phase-bruck"],
    &["dim-rotation"],
    &["folded-ring"],
    &["half-ring"],
    &["tseng-gupta-panda"],
];

/// The marks. The dashboard draws them next to shades, so none is a shade, even as ASCII.
const MARKS: [char; 48] = [
    '●', '■', '▲', '◆', '▼', '✖', '★', '✚', '○', '□', '△', '◇', '▽', '☆', 'b', 'c', 'd', 'e', 'f',
    'g', 'h', 'k', 'm', 'n', 'p', 'q', 'r', 's', 't', 'y', 'B', 'C', 'D', 'E', 'G', 'J', 'K', 'L',
    'M', 'N', 'P', 'Q', 'R', 'S', 'U', 'W', 'Y', 'Z',
];

pub const STYLES: usize = MARKS.len();

/// The styles of algorithms that are shown together. An algorithm that is not bundled gets the
/// number of an unused style, which depends on a hash of its name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AlgorithmStyles(Vec<(String, usize)>);

impl AlgorithmStyles {
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut styles = Self::default();
        styles.add(names);
        styles
    }

    /// Adds algorithms. The styles of algorithms that were added earlier do not change.
    pub fn add<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) {
        let new: BTreeSet<&str> = names.into_iter().filter(|name| !self.has(name)).collect();
        let (bundled, others): (Vec<&str>, Vec<&str>) =
            new.into_iter().partition(|name| bundled(name).is_some());
        self.0.extend(bundled.into_iter().map(|name| (name.to_owned(), self::number(name))));
        for name in others {
            let number = self.free_number(name);
            self.0.push((name.to_owned(), number));
        }
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    fn free_number(&self, name: &str) -> usize {
        let own = BUNDLED.len()..STYLES;
        let first = digest(name) % own.len();
        let preferred = (0..own.len()).map(|step| own.start + (first + step) % own.len());
        let is_free = |number: &usize| self.0.iter().all(|(_, taken)| taken != number);
        let mut numbers = preferred.chain((0..own.start).rev());
        numbers.find(is_free).unwrap_or(own.start + first)
    }

    /// Returns the number of the style of an algorithm, which is less than [`STYLES`].
    pub fn number(&self, name: &str) -> usize {
        let known = self.0.iter().find(|(known, _)| known == name);
        known.map_or_else(|| number(name), |(_, number)| *number)
    }

    pub fn mark(&self, name: &str) -> char {
        mark(self.number(name))
    }

    pub fn numbers(&self) -> &[(String, usize)] {
        &self.0
    }
}

pub fn mark(style: usize) -> char {
    MARKS[style % STYLES]
}

pub fn has_fixed_style(name: &str) -> bool {
    bundled(name).is_some()
}

fn bundled(name: &str) -> Option<usize> {
    BUNDLED.iter().position(|names| names.contains(&name))
}

fn number(name: &str) -> usize {
    let others = STYLES - BUNDLED.len();
    bundled(name).unwrap_or_else(|| BUNDLED.len() + digest(name) % others)
}

/// Returns a hash (FNV-1a), which is the same on every platform and in every version.
fn digest(name: &str) -> usize {
    let hash = name
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    (hash >> 4) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_style_is_used_once() {
        let names: Vec<String> = (0..STYLES).map(|number| format!("algorithm-{number}")).collect();
        let styles = AlgorithmStyles::new(names.iter().map(String::as_str));
        let numbers: BTreeSet<usize> = styles.numbers().iter().map(|(_, number)| *number).collect();
        assert_eq!(numbers, (0..STYLES).collect());
        assert_eq!(styles, AlgorithmStyles::new(names.iter().rev().map(String::as_str)));
    }

    #[test]
    fn a_bundled_algorithm_has_the_same_style_next_to_any_others() {
        let others: Vec<String> = (0..STYLES).map(|number| format!("other-{number}")).collect();
        let mut styles = AlgorithmStyles::new(others.iter().map(String::as_str).chain(["bruck"]));
        styles.add(["suh-shin", "other-1"]);
        for name in ["bruck", "suh-shin", "pairwise"] {
            assert_eq!(styles.number(name), AlgorithmStyles::new([name]).number(name), "{name}");
        }
    }

    #[test]
    fn algorithms_keep_their_styles_when_others_are_added() {
        let names: Vec<String> = (0..24).map(|number| format!("algorithm-{number}")).collect();
        let (first, later) = names.split_at(8);
        let mut styles = AlgorithmStyles::new(first.iter().map(String::as_str));
        let before = styles.clone();
        styles.add(later.iter().map(String::as_str));
        assert!(first.iter().all(|name| styles.number(name) == before.number(name)));
        let numbers: BTreeSet<usize> = styles.numbers().iter().map(|(_, number)| *number).collect();
        assert_eq!(numbers.len(), 24);
    }

    #[test]
    fn marks_and_names_are_unique() {
        assert_eq!(MARKS.iter().collect::<BTreeSet<_>>().len(), STYLES);
        let names: Vec<&&str> = BUNDLED.iter().copied().flatten().collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }
}
