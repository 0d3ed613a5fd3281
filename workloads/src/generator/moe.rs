//! Expert-parallel dispatch in mixture-of-experts models: each node has tokens, each token is sent
//! to its top experts, and each expert is at a node.

use super::irregular::normal_quantile;
use super::matrix::Matrix;
use super::random::Stream;
use super::{Generator, Pattern};
use crate::args::Args;
use crate::curve_axis::CurveAxis;
use std::sync::Arc;
use swapmeet_core::delivery::collective::BlockSizes;
use swapmeet_core::spec::{SpecError, format_size};

pub(super) const MOE: Generator = Generator {
    name: "moe",
    syntax: "moe:experts=E,top=K,tokens=T,bytes=SIZE,skew=S,violation=V,experts_at=WORD",
    help: "each node sends each of T tokens of SIZE bytes to the nodes of K of E experts, drawn by popularity: log-normal with a standard deviation of S (0), or such that the most popular expert has 1 + V times the mean; experts_at=block (the first E / N at node 0, ..) or cyclic",
    keys: &["experts", "top", "tokens", "bytes", "skew", "violation", "experts_at"],
    axes: &[(CurveAxis::BlockSize, "bytes")],
    sized_by_pair: true,
    sized_by_node: false,
    random: true,
    read,
};

/// Maximum number of experts, and also of the tokens of a node.
const MAX_COUNT: u64 = 1 << 20;

fn read(args: &mut Args<'_>) -> Result<Arc<dyn Pattern>, SpecError> {
    let (experts, top) = (args.require("experts")?, args.require("top")?);
    let (tokens, bytes) = (args.require("tokens")?, args.require("bytes")?);
    let experts = args.whole(experts, 1..=MAX_COUNT)?;
    let top = args.whole(top, 1..=experts)?;
    let (tokens, bytes) = (args.whole(tokens, 0..=MAX_COUNT)?, args.whole_elements(bytes)?);
    let popularity = match (args.take("skew"), args.take("violation")) {
        (None, None) => Popularity::Skew(0.0),
        (Some(arg), None) => Popularity::Skew(args.number(arg, 0.0..=10.0)?),
        (None, Some(arg)) => Popularity::Violation(args.number(arg, 0.0..=(experts - 1) as f64)?),
        (Some(_), Some(arg)) => {
            return Err(args.spec.bad_value(arg, "skew or violation, not both"));
        }
    };
    let cyclic = match args.take("experts_at") {
        None => false,
        Some(arg) => match arg.value() {
            "block" => false,
            "cyclic" => true,
            _ => return Err(args.spec.bad_value(arg, "block or cyclic")),
        },
    };
    Ok(Arc::new(Dispatch { experts, top, tokens, bytes, popularity, cyclic }))
}

/// The distribution of tokens over experts.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Popularity {
    /// Log-normal, with this standard deviation of the logarithm.
    Skew(f64),
    /// The excess of the most popular expert over the mean, divided by the mean (the *maximum
    /// violation* of balance).
    Violation(f64),
}

#[derive(Debug)]
struct Dispatch {
    experts: u64,
    top: u64,
    tokens: u64,
    bytes: u64,
    popularity: Popularity,
    /// Whether expert e is at node e modulo the number of nodes.
    cyclic: bool,
}

impl Dispatch {
    /// Returns the probability that each expert is the first choice of a token.
    fn shares(&self, seed: u64) -> Vec<f64> {
        // No node uses this stream for its tokens.
        let mut stream = Stream::new(seed, u64::MAX);
        let drawn: Vec<f64> =
            (0..self.experts).map(|_| normal_quantile(stream.fraction())).collect();
        let of = |skew: f64| {
            let most = drawn.iter().copied().fold(f64::MIN, f64::max);
            let weights: Vec<f64> = drawn.iter().map(|z| (skew * (z - most)).exp()).collect();
            let sum: f64 = weights.iter().sum();
            weights.into_iter().map(|w| w / sum).collect::<Vec<f64>>()
        };
        match self.popularity {
            Popularity::Skew(skew) => of(skew),
            Popularity::Violation(violation) => {
                // The share of the most popular expert grows with the skew, from the mean to 1.
                // After 100 bisections, the interval is as small as the precision of floating-point
                // numbers allows.
                let beyond = |skew: f64| {
                    of(skew).into_iter().fold(0.0, f64::max) * self.experts as f64 - 1.0
                };
                let (mut low, mut high) = (0.0, 1e6);
                for _ in 0..100 {
                    let middle = f64::midpoint(low, high);
                    if beyond(middle) < violation { low = middle } else { high = middle }
                }
                of(high)
            }
        }
    }

    fn node_of(&self, expert: u64, nodes: u64) -> u64 {
        if self.cyclic {
            expert % nodes
        } else {
            (u128::from(expert) * u128::from(nodes) / u128::from(self.experts)) as u64
        }
    }
}

/// Draws different experts one by one, each with a probability proportional to its share among the
/// remaining ones.
struct ExpertSampler {
    /// The cumulative sums of the shares.
    cumulative: Vec<f64>,
    popularity: Vec<f64>,
}

impl ExpertSampler {
    fn new(popularity: Vec<f64>) -> Self {
        let cumulative = popularity.iter().scan(0.0, |sum, p| {
            *sum += p;
            Some(*sum)
        });
        Self { cumulative: cumulative.collect(), popularity }
    }

    fn draw(&self, stream: &mut Stream, chosen: &mut Vec<usize>) {
        /// Maximum number of draws, because a draw may give an expert that has already been chosen.
        /// After that, only the remaining experts are drawn from.
        const TRIES: usize = 16;
        let last = self.cumulative.len() - 1;
        let all = self.cumulative[last];
        for _ in 0..TRIES {
            let at = stream.fraction() * all;
            let expert = self.cumulative.partition_point(|cumulative| *cumulative <= at).min(last);
            if !chosen.contains(&expert) {
                chosen.push(expert);
                return;
            }
        }
        let left = || (0..=last).filter(|expert| !chosen.contains(expert));
        let mut at = stream.fraction() * left().map(|expert| self.popularity[expert]).sum::<f64>();
        let drawn = left().find(|expert| {
            at -= self.popularity[*expert];
            at <= 0.0
        });
        let drawn = drawn.or_else(|| left().next_back());
        chosen.extend(drawn);
    }
}

impl Pattern for Dispatch {
    fn arguments(&self) -> Vec<(&'static str, String)> {
        let mut arguments = vec![
            ("experts", self.experts.to_string()),
            ("top", self.top.to_string()),
            ("tokens", self.tokens.to_string()),
            ("bytes", format_size(self.bytes)),
        ];
        match self.popularity {
            Popularity::Skew(0.0) => {}
            Popularity::Skew(skew) => arguments.push(("skew", skew.to_string())),
            Popularity::Violation(violation) => {
                arguments.push(("violation", violation.to_string()));
            }
        }
        if self.cyclic {
            arguments.push(("experts_at", "cyclic".to_owned()));
        }
        arguments
    }

    fn sizes(&self, nodes: u64, _: u64, seed: u64) -> Result<Arc<dyn BlockSizes>, String> {
        /// Maximum number of draws, which take some seconds.
        const MAX_DRAWS: u64 = 1 << 28;
        Matrix::check_nodes(nodes)?;
        if nodes.saturating_mul(self.tokens).saturating_mul(self.top) > MAX_DRAWS {
            return Err(format!(
                "has {} tokens for {} experts at each of {nodes} nodes: over {MAX_DRAWS} together",
                self.tokens, self.top
            ));
        }
        let sampler = ExpertSampler::new(self.shares(seed));
        let mut bytes = vec![0; (nodes * nodes) as usize];
        let mut chosen = Vec::new();
        for node in 0..nodes {
            let mut stream = Stream::new(seed, node);
            for _ in 0..self.tokens {
                chosen.clear();
                for _ in 0..self.top {
                    sampler.draw(&mut stream, &mut chosen);
                }
                for expert in &chosen {
                    bytes[(node * nodes + self.node_of(*expert as u64, nodes)) as usize] +=
                        self.bytes;
                }
            }
        }
        Ok(Arc::new(Matrix::new(nodes, bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dispatch(experts: u64, top: u64, popularity: Popularity) -> Dispatch {
        Dispatch { experts, top, tokens: 1000, bytes: 2, popularity, cyclic: false }
    }

    #[test]
    fn every_token_has_the_same_number_of_different_experts() {
        // Each expert is at a node of its own, so that the copies of a token are sent to different
        // nodes.
        for (popularity, top) in [
            (Popularity::Skew(0.0), 3),
            (Popularity::Skew(4.0), 7),
            (Popularity::Violation(6.0), 8),
        ] {
            let sizes = dispatch(8, top, popularity).sizes(8, 1, 5).unwrap();
            for node in 0..8 {
                assert_eq!(sizes.total(&[node], &[0, 1, 2, 3, 4, 5, 6, 7]), 1000 * top * 2);
                assert!(
                    (0..8).all(|to| sizes.bytes(node, to) <= 1000 * 2),
                    "{popularity:?}: none twice"
                );
            }
        }
    }

    #[test]
    fn the_most_popular_expert_has_the_requested_excess() {
        for violation in [0.0, 0.3, 2.0, 50.0] {
            let popularity = dispatch(64, 1, Popularity::Violation(violation)).shares(3);
            let most = popularity.iter().copied().fold(0.0, f64::max);
            assert!((most * 64.0 - 1.0 - violation).abs() < 1e-6, "{violation}: {most}");
            assert!((popularity.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }

    /// Of 4,000 tokens, 1,000 are expected at each of four nodes, with a standard deviation of 27.
    #[test]
    fn equally_popular_experts_receive_equally_many_tokens() {
        let sizes = dispatch(16, 1, Popularity::Skew(0.0)).sizes(4, 1, 1).unwrap();
        for to in 0..4 {
            let tokens = sizes.total(&[0, 1, 2, 3], &[to]) / 2;
            assert!((800..1200).contains(&tokens), "{tokens}");
        }
    }

    #[test]
    fn experts_are_placed_in_blocks_or_cyclically() {
        let block = dispatch(8, 1, Popularity::Skew(0.0));
        assert_eq!(
            (0..8).map(|e| block.node_of(e, 4)).collect::<Vec<_>>(),
            [0, 0, 1, 1, 2, 2, 3, 3]
        );
        let cyclic = Dispatch { cyclic: true, ..block };
        assert_eq!(
            (0..8).map(|e| cyclic.node_of(e, 4)).collect::<Vec<_>>(),
            [0, 1, 2, 3, 0, 1, 2, 3]
        );
    }
}
