//! Expert-parallel dispatch, as models with a mixture of experts send tokens: each node has tokens,
//! each token goes to its top experts, each expert is at a node.

use super::irregular::normal_quantile;
use super::matrix::Matrix;
use super::random::Stream;
use super::{Generator, Pattern};
use crate::args::Args;
use crate::axis::CurveAxis;
use std::sync::Arc;
use swapmeet_core::delivery::collective::BlockSizes;
use swapmeet_core::spec::{SpecError, format_size};

pub(super) const MOE: Generator = Generator {
    name: "moe",
    syntax: "moe:experts=E,top=K,tokens=T,bytes=SIZE,skew=S,violation=V,experts_at=WORD",
    help: "each node sends each of T tokens of SIZE bytes to the nodes of K of E experts, drawn by popularity: log-normal with a standard deviation of S (0), or so spread that the most popular has 1 + V times the mean; experts_at=block (the first E / N at node 0, ..) or cyclic",
    keys: &["experts", "top", "tokens", "bytes", "skew", "violation", "experts_at"],
    axes: &[(CurveAxis::BlockSize, "bytes")],
    sized_by_pair: true,
    sized_by_node: false,
    random: true,
    read,
};

/// The most experts and tokens a node.
const MAX: u64 = 1 << 20;

fn read(args: &mut Args<'_>) -> Result<Arc<dyn Pattern>, SpecError> {
    let (experts, top) = (args.require("experts")?, args.require("top")?);
    let (tokens, bytes) = (args.require("tokens")?, args.require("bytes")?);
    let experts = args.whole(experts, 1..=MAX)?;
    let top = args.whole(top, 1..=experts)?;
    let (tokens, bytes) = (args.whole(tokens, 0..=MAX)?, args.whole_elements(bytes)?);
    let spread = match (args.take("skew"), args.take("violation")) {
        (None, None) => Spread::Skew(0.0),
        (Some(arg), None) => Spread::Skew(args.number(arg, 0.0..=10.0)?),
        (None, Some(arg)) => Spread::Violation(args.number(arg, 0.0..=(experts - 1) as f64)?),
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
    Ok(Arc::new(Dispatch { experts, top, tokens, bytes, spread, cyclic }))
}

/// How unlike experts are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Spread {
    /// Standard deviation of the logarithm of popularity.
    Skew(f64),
    /// What the most popular has beyond the mean, over the mean (the *maximum violation* of
    /// balance).
    Violation(f64),
}

#[derive(Debug)]
struct Dispatch {
    experts: u64,
    top: u64,
    tokens: u64,
    bytes: u64,
    spread: Spread,
    /// Whether expert e is at node e modulo the nodes.
    cyclic: bool,
}

impl Dispatch {
    /// How often each expert is a token's first choice, all together 1.
    fn popularity(&self, seed: u64) -> Vec<f64> {
        // Tokens are drawn from the streams of their nodes.
        let mut stream = Stream::new(seed, u64::MAX);
        let drawn: Vec<f64> =
            (0..self.experts).map(|_| normal_quantile(stream.fraction())).collect();
        let of = |skew: f64| {
            let most = drawn.iter().copied().fold(f64::MIN, f64::max);
            let weights: Vec<f64> = drawn.iter().map(|z| (skew * (z - most)).exp()).collect();
            let sum: f64 = weights.iter().sum();
            weights.into_iter().map(|w| w / sum).collect::<Vec<f64>>()
        };
        match self.spread {
            Spread::Skew(skew) => of(skew),
            Spread::Violation(violation) => {
                // The most popular's share rises with the skew, from the mean to all there is:
                // halved 100 times, the interval is as narrow as numbers are.
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

/// Draws different experts, one after another, each by its popularity among those left.
struct Choice {
    /// Popularities added up.
    up_to: Vec<f64>,
    popularity: Vec<f64>,
}

impl Choice {
    fn new(popularity: Vec<f64>) -> Self {
        let up_to = popularity.iter().scan(0.0, |sum, p| {
            *sum += p;
            Some(*sum)
        });
        Self { up_to: up_to.collect(), popularity }
    }

    fn draw(&self, stream: &mut Stream, chosen: &mut Vec<usize>) {
        /// Who is drawn again is left out; where that happens so often, the others are gone
        /// through.
        const TRIES: usize = 16;
        let last = self.up_to.len() - 1;
        let all = self.up_to[last];
        for _ in 0..TRIES {
            let at = stream.fraction() * all;
            let expert = self.up_to.partition_point(|up_to| *up_to <= at).min(last);
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
        match self.spread {
            Spread::Skew(0.0) => {}
            Spread::Skew(skew) => arguments.push(("skew", skew.to_string())),
            Spread::Violation(violation) => arguments.push(("violation", violation.to_string())),
        }
        if self.cyclic {
            arguments.push(("experts_at", "cyclic".to_owned()));
        }
        arguments
    }

    fn sizes(&self, nodes: u64, _: u64, seed: u64) -> Result<Arc<dyn BlockSizes>, String> {
        /// Some seconds of drawing.
        const MAX_DRAWS: u64 = 1 << 28;
        Matrix::affordable(nodes)?;
        if nodes.saturating_mul(self.tokens).saturating_mul(self.top) > MAX_DRAWS {
            return Err(format!(
                "has {} tokens for {} experts at each of {nodes} nodes: over {MAX_DRAWS} together",
                self.tokens, self.top
            ));
        }
        let choice = Choice::new(self.popularity(seed));
        let mut bytes = vec![0; (nodes * nodes) as usize];
        let mut chosen = Vec::new();
        for node in 0..nodes {
            let mut stream = Stream::new(seed, node);
            for _ in 0..self.tokens {
                chosen.clear();
                for _ in 0..self.top {
                    choice.draw(&mut stream, &mut chosen);
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

    fn dispatch(experts: u64, top: u64, spread: Spread) -> Dispatch {
        Dispatch { experts, top, tokens: 1000, bytes: 2, spread, cyclic: false }
    }

    #[test]
    fn every_token_goes_to_as_many_different_experts() {
        // All experts but one at a node of its own: a token's copies go to different nodes.
        for (spread, top) in
            [(Spread::Skew(0.0), 3), (Spread::Skew(4.0), 7), (Spread::Violation(6.0), 8)]
        {
            let sizes = dispatch(8, top, spread).sizes(8, 1, 5).unwrap();
            for node in 0..8 {
                assert_eq!(sizes.total(&[node], &[0, 1, 2, 3, 4, 5, 6, 7]), 1000 * top * 2);
                assert!(
                    (0..8).all(|to| sizes.bytes(node, to) <= 1000 * 2),
                    "{spread:?}: none twice"
                );
            }
        }
    }

    #[test]
    fn the_most_popular_expert_is_as_far_beyond_the_mean_as_asked_for() {
        for violation in [0.0, 0.3, 2.0, 50.0] {
            let popularity = dispatch(64, 1, Spread::Violation(violation)).popularity(3);
            let most = popularity.iter().copied().fold(0.0, f64::max);
            assert!((most * 64.0 - 1.0 - violation).abs() < 1e-6, "{violation}: {most}");
            assert!((popularity.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }

    /// 8,000 tokens, a quarter of them expected at each of four nodes: 2,000, with a standard
    /// deviation of 39.
    #[test]
    fn alike_experts_get_alike_many_tokens() {
        let sizes = dispatch(16, 1, Spread::Skew(0.0)).sizes(4, 1, 1).unwrap();
        for to in 0..4 {
            let tokens = sizes.total(&[0, 1, 2, 3], &[to]) / 2;
            assert!((800..1200).contains(&tokens), "{tokens}");
        }
    }

    #[test]
    fn experts_are_placed_in_blocks_or_in_turn() {
        let block = dispatch(8, 1, Spread::Skew(0.0));
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
