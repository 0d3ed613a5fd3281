//! Communicators that ran a collective at the same time. They are the groups of ranks in a log of
//! nccl-tests (`NCCL_TESTS_SPLIT`) or IMB (`-multi`), or follow from the flags `--over` and
//! `--mesh`.

use std::collections::BTreeSet;
use swapmeet_core::network::communicators::Communicators;
use swapmeet_core::text::excerpt;
use swapmeet_runner::topology;

/// What a log and the user's flags state about communicators.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stated<'a> {
    pub groups: &'a [Vec<u64>],
    pub ranks: Option<u64>,
    /// For error messages, the line of the log; 0 if it is unknown.
    pub line: usize,
    /// The value of `--over`.
    pub axes: Option<&'a str>,
    /// The value of `--mesh`.
    pub mesh: Option<&'a str>,
}

/// Returns the communicators and the corresponding value of `over=`. If flags are given, the groups
/// of the log are ignored. Returns `None` if all ranks are one communicator. `topology` is the spec
/// of the network.
pub(crate) fn communicators(
    stated: &Stated<'_>,
    topology: &str,
) -> Result<Option<(String, Communicators)>, String> {
    let Stated { groups, ranks, line, axes, mesh } = *stated;
    let over = match (axes, groups) {
        (Some(axes), _) => axes.to_owned(),
        (None, [] | [_]) => return Ok(None),
        (None, [first, ..]) => {
            let is_consecutive = groups.iter().flatten().copied().eq(0..ranks.unwrap_or(0));
            if !is_consecutive || groups.iter().any(|ranks| ranks.len() != first.len()) {
                return Err(format!(
                    "it has {} groups of ranks, which run at the same time and are not consecutive: name their axes, as in `--mesh node:-1/gpu:8 --over node`",
                    groups.len()
                ));
            }
            format!("size:{}", first.len())
        }
    };
    let spec = match mesh {
        Some(mesh) => format!("{topology},mesh={mesh}"),
        None => topology.to_owned(),
    };
    let network = topology::parse(&spec).map_err(|why| format!("--mesh: {why}"))?;
    let all = Communicators::over(&over, &network)
        .map_err(|why| format!("--over {over}: the workload {why}"))?;
    let sorted = |ranks: &mut dyn Iterator<Item = u64>| ranks.collect::<BTreeSet<u64>>();
    let ours: BTreeSet<BTreeSet<u64>> =
        all.all().map(|ranks| sorted(&mut ranks.iter().map(|rank| u64::from(*rank)))).collect();
    let theirs: BTreeSet<BTreeSet<u64>> =
        groups.iter().map(|ranks| sorted(&mut ranks.iter().copied())).collect();
    if let Some(other) = theirs.iter().find(|ranks| !ours.contains(*ranks)) {
        let list =
            |ranks: &BTreeSet<u64>| ranks.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let at = if line > 0 { format!("line {line}: ") } else { String::new() };
        return Err(format!(
            "{at}its ranks {} are a communicator, but those over `{over}` have other ranks, such as {}",
            excerpt(&list(other)),
            excerpt(&ours.first().map(list).unwrap_or_default())
        ));
    }
    Ok(Some((over, all)))
}

/// If each group is every K-th rank, returns the mesh and the axis that describe the groups.
pub(crate) fn axes_of_stride(groups: &[Vec<u64>]) -> Option<[String; 2]> {
    let count = groups.len() as u64;
    let is_stride = |(first, ranks): (u64, &Vec<u64>)| {
        ranks.iter().copied().eq((first..).step_by(groups.len()).take(ranks.len()))
    };
    let size = groups.first()?.len();
    let is_one = count < 2 || size < 2 || groups.iter().any(|ranks| ranks.len() != size);
    (!is_one && (0..).zip(groups).all(is_stride))
        .then(|| [format!("node:-1/gpu:{count}"), "node".to_owned()])
}

#[cfg(test)]
mod tests {
    use super::axes_of_stride;

    #[test]
    fn groups_with_a_stride_have_axes() {
        let groups = |all: &[&[u64]]| all.iter().map(|ranks| ranks.to_vec()).collect::<Vec<_>>();
        let axes = axes_of_stride(&groups(&[&[0, 2, 4], &[1, 3, 5]])).unwrap();
        assert_eq!(axes, ["node:-1/gpu:2", "node"]);
        for other in [
            groups(&[]),
            groups(&[&[0, 1, 2, 3]]),
            groups(&[&[0], &[1]]),
            groups(&[&[0, 1], &[2, 3]]),
            groups(&[&[0, 2, 4], &[1, 3]]),
            groups(&[&[1, 3], &[0, 2]]),
        ] {
            assert_eq!(axes_of_stride(&other), None, "{other:?}");
        }
    }
}
