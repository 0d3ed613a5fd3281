//! The workload `hot`: all nodes send large blocks to a few receivers.

use super::matrix::Matrix;
use super::random::Stream;
use super::{Generator, Pattern};
use crate::args::{Args, CurveAxis};
use std::sync::Arc;
use swapmeet_core::delivery::collective::BlockSizes;
use swapmeet_core::spec::{SpecError, format_size};

pub(super) const HOT: Generator = Generator {
    name: "hot",
    syntax: "hot:receivers=K,share=S,mean=SIZE",
    help: "each node has mean bytes for a node on average; a share of S of them is for K random receivers, the same for all senders",
    keys: &["receivers", "share", "mean"],
    axes: &[(CurveAxis::BlockSize, "mean")],
    sized_by_pair: true,
    sized_by_node: false,
    has_tokens: false,
    random: true,
    read,
};

fn read(args: &mut Args<'_>) -> Result<Arc<dyn Pattern>, SpecError> {
    let (receivers, share, mean) =
        (args.require("receivers")?, args.require("share")?, args.require("mean")?);
    Ok(Arc::new(Hot {
        receivers: args.whole(receivers, 1..=u64::from(u32::MAX))?,
        share: args.number(share, 0.0..=1.0)?,
        mean: args.size(mean)?,
    }))
}

#[derive(Debug)]
struct Hot {
    receivers: u64,
    share: f64,
    mean: u64,
}

impl Pattern for Hot {
    fn arguments(&self) -> Vec<(&'static str, String)> {
        vec![
            ("receivers", self.receivers.to_string()),
            ("share", self.share.to_string()),
            ("mean", format_size(self.mean)),
        ]
    }

    fn sizes(&self, nodes: u64, element: u64, seed: u64) -> Result<Arc<dyn BlockSizes>, String> {
        if self.receivers >= nodes {
            return Err(format!(
                "needs more nodes than its {} receivers, there are {nodes}",
                self.receivers
            ));
        }
        Matrix::check_nodes(nodes)?;
        let all = self.mean as f64 * nodes as f64;
        let each = |bytes: f64, among: u64| {
            ((bytes / among as f64 / element as f64).round() as u64).saturating_mul(element)
        };
        let (hot, rest) = (
            each(all * self.share, self.receivers),
            each(all * (1.0 - self.share), nodes - self.receivers),
        );
        let mut row = vec![rest; nodes as usize];
        Stream::new(seed, 0)
            .shuffled(nodes)
            .iter()
            .take(self.receivers as usize)
            .for_each(|to| row[*to as usize] = hot);
        Ok(Arc::new(Matrix::new(nodes, row.repeat(nodes as usize))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hot_receivers_are_common_and_receive_their_share() {
        let sizes = |seed| Hot { receivers: 2, share: 0.5, mean: 30 }.sizes(10, 1, seed).unwrap();
        // Of 300 bytes, 150 are for the two hot receivers, and 150 for the other eight nodes.
        let row = |seed: u64, from: u64| {
            (0..10).map(|to| sizes(seed).bytes(from, to)).collect::<Vec<u64>>()
        };
        let mut sorted = row(1, 0);
        sorted.sort_unstable();
        assert_eq!(sorted, [19, 19, 19, 19, 19, 19, 19, 19, 75, 75]);
        assert_eq!(row(1, 0), row(1, 9));
        assert!((2..9).any(|seed| row(seed, 0) != row(1, 0)));
        let refused = Hot { receivers: 4, share: 0.5, mean: 8 }.sizes(4, 1, 0).unwrap_err();
        assert_eq!(refused, "needs more nodes than its 4 receivers, there are 4");
    }
}
