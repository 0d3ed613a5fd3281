//! Expert-parallel dispatch: each token of a node is sent to the nodes of its top experts.

use super::distribution::normal_quantile;
use super::experts::{ExpertPlacement, MAX_EXPERTS};
use super::matrix::Matrix;
use super::random::Stream;
use super::{Generator, Pattern};
use crate::args::{Args, CurveAxis};
use std::sync::Arc;
use swapmeet_core::delivery::collective::{BlockSizes, Tokens};
use swapmeet_core::spec::{SpecError, format_size};

pub(super) const MOE: Generator = Generator {
    name: "moe",
    syntax: "moe:experts=E,top=K,tokens=T,bytes=SIZE,skew=S,violation=V,experts_at=WORD",
    help: "each node sends each of T tokens of SIZE bytes to the nodes of K of E experts, drawn by popularity: log-normal with a standard deviation of S (0), or such that the most popular expert has 1 + V times the mean; experts_at=block (the first E / N at node 0, ..) or cyclic",
    keys: &["experts", "top", "tokens", "bytes", "skew", "violation", "experts_at"],
    axes: &[(CurveAxis::BlockSize, "bytes")],
    sized_by_pair: true,
    sized_by_node: false,
    has_tokens: true,
    random: true,
    read,
};

const MAX_TOKENS: u64 = 1 << 20;

fn read(args: &mut Args<'_>) -> Result<Arc<dyn Pattern>, SpecError> {
    let (experts, top) = (args.require("experts")?, args.require("top")?);
    let (tokens, bytes) = (args.require("tokens")?, args.require("bytes")?);
    let experts = args.whole(experts, 1..=MAX_EXPERTS)?;
    let top = args.whole(top, 1..=experts)?;
    let (tokens, bytes) = (args.whole(tokens, 0..=MAX_TOKENS)?, args.whole_elements(bytes)?);
    let popularity = match (args.take("skew"), args.take("violation")) {
        (None, None) => Popularity::Skew(0.0),
        (Some(arg), None) => Popularity::Skew(args.number(arg, 0.0..=10.0)?),
        (None, Some(arg)) => Popularity::Violation(args.number(arg, 0.0..=(experts - 1) as f64)?),
        (Some(_), Some(arg)) => {
            return Err(args.spec.bad_value(arg, "skew or violation, not both"));
        }
    };
    let placement = ExpertPlacement::read(args)?;
    Ok(Arc::new(Dispatch { experts, top, tokens, bytes, popularity, placement }))
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Popularity {
    /// The standard deviation of the logarithm of a log-normal popularity.
    Skew(f64),
    /// The *maximum violation* of balance: (tokens of the most popular expert - mean) / mean.
    Violation(f64),
}

#[derive(Debug)]
struct Dispatch {
    experts: u64,
    top: u64,
    tokens: u64,
    bytes: u64,
    popularity: Popularity,
    placement: ExpertPlacement,
}

impl Dispatch {
    /// Returns, for each expert, the probability that a token chooses it as the first of its
    /// experts.
    fn shares(&self, seed: u64) -> Vec<f64> {
        // This stream of random numbers is not used for the tokens of any node.
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
                // The largest share increases with the skew, from the mean up to 1. So bisection
                // finds the skew. After 100 bisections, the interval cannot become smaller.
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

    /// Calls `found` for each token of a node, with the nodes of its experts. A node with several
    /// of these experts is listed several times.
    fn draw(
        &self,
        sampler: &ExpertSampler,
        nodes: u64,
        stream: &mut Stream,
        mut found: impl FnMut(&[u32]),
    ) {
        let node_of =
            |expert: &usize| self.placement.node_of(*expert as u64, self.experts, nodes) as u32;
        let (mut chosen, mut at) = (Vec::new(), Vec::new());
        for _ in 0..self.tokens {
            chosen.clear();
            for _ in 0..self.top {
                sampler.draw(stream, &mut chosen);
            }
            at.clear();
            at.extend(chosen.iter().map(node_of));
            found(&at);
        }
    }

    fn check_draws(&self, nodes: u64) -> Result<(), String> {
        /// The largest number of draws, which take some seconds.
        const MAX_DRAWS: u64 = 1 << 28;
        if nodes.saturating_mul(self.tokens).saturating_mul(self.top) <= MAX_DRAWS {
            return Ok(());
        }
        Err(format!(
            "has {} tokens for {} experts at each of {nodes} nodes: over {MAX_DRAWS} together",
            self.tokens, self.top
        ))
    }
}

/// Draws different experts for a token, with probabilities proportional to their shares.
struct ExpertSampler {
    cumulative: Vec<f64>,
    /// The sum of all shares is divided into as many equal intervals as there are experts. For each
    /// interval, this is the expert at its start. From there, a search takes two comparisons on
    /// average.
    guide: Vec<u32>,
    popularity: Vec<f64>,
}

impl ExpertSampler {
    fn new(popularity: Vec<f64>) -> Self {
        let cumulative = popularity.iter().scan(0.0, |sum, p| {
            *sum += p;
            Some(*sum)
        });
        let cumulative: Vec<f64> = cumulative.collect();
        let count = cumulative.len();
        let all = cumulative[count - 1];
        // An entry of `guide` may be too small, but never too large. The factor prevents that
        // rounding makes it too large.
        let start = |i: usize| i as f64 / count as f64 * all * (1.0 - 1e-9);
        let expert_at = |at: f64| cumulative.partition_point(|cumulative| *cumulative <= at);
        let guide = (0..count).map(|i| expert_at(start(i)) as u32).collect();
        Self { cumulative, guide, popularity }
    }

    /// Returns the first expert whose cumulative sum is larger than this fraction of the sum.
    fn expert_at(&self, fraction: f64) -> usize {
        let last = self.cumulative.len() - 1;
        let at = fraction * self.cumulative[last];
        let interval = (fraction * self.guide.len() as f64) as usize;
        let mut expert = (self.guide[interval.min(last)] as usize).min(last);
        while expert < last && self.cumulative[expert] <= at {
            expert += 1;
        }
        expert
    }

    fn draw(&self, stream: &mut Stream, chosen: &mut Vec<usize>) {
        /// If an expert is drawn that the token already has, the draw is repeated. After this
        /// number of draws, only the remaining experts are drawn.
        const TRIES: usize = 16;
        let last = self.cumulative.len() - 1;
        for _ in 0..TRIES {
            let expert = self.expert_at(stream.fraction());
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
        arguments.extend(self.placement.argument());
        arguments
    }

    fn sizes(&self, nodes: u64, _: u64, seed: u64) -> Result<Arc<dyn BlockSizes>, String> {
        self.check_draws(nodes)?;
        let sampler = ExpertSampler::new(self.shares(seed));
        let matrix = Matrix::from_rows(nodes, |node, row| {
            self.draw(&sampler, nodes, &mut Stream::new(seed, node), |receivers| {
                receivers.iter().for_each(|to| row[*to as usize] += self.bytes);
            });
        });
        Ok(Arc::new(matrix?))
    }

    fn tokens(&self, nodes: u64, seed: u64) -> Result<Tokens, String> {
        self.check_draws(nodes)?;
        let sampler = ExpertSampler::new(self.shares(seed));
        Ok(Tokens::new(nodes, |node| {
            let mut tokens = Vec::new();
            self.draw(&sampler, nodes, &mut Stream::new(seed, node), |receivers| {
                tokens.push((receivers.to_vec(), self.bytes));
            });
            tokens
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_core::delivery::collective::TokenSizes;

    fn dispatch(experts: u64, top: u64, popularity: Popularity) -> Dispatch {
        Dispatch {
            experts,
            top,
            tokens: 1000,
            bytes: 2,
            popularity,
            placement: ExpertPlacement::Block,
        }
    }

    #[test]
    fn every_token_has_the_same_number_of_different_experts() {
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

    /// Some fractions are exactly at the border between two experts or two intervals.
    #[test]
    fn experts_are_found_as_by_a_binary_search() {
        for (experts, popularity) in [
            (1, Popularity::Skew(0.0)),
            (64, Popularity::Skew(0.0)),
            (1000, Popularity::Skew(1.5)),
            (333, Popularity::Violation(200.0)),
        ] {
            let sampler = ExpertSampler::new(dispatch(experts, 1, popularity).shares(9));
            let last = experts as usize - 1;
            let all = sampler.cumulative[last];
            let mut stream = Stream::new(4, 2);
            let borders = (0..experts).map(|i| i as f64 / experts as f64);
            let sums = sampler.cumulative.iter().map(|sum| sum / all);
            let fractions: Vec<f64> =
                borders.chain(sums).chain((0..100_000).map(|_| stream.fraction())).collect();
            for fraction in fractions {
                let at = fraction * all;
                let expected = sampler.cumulative.partition_point(|sum| *sum <= at).min(last);
                assert_eq!(sampler.expert_at(fraction), expected, "{experts} {fraction}");
            }
        }
    }

    /// Of 4,000 tokens, an expert should receive 1,000, with a standard deviation of 27.
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
        let at = |placement: ExpertPlacement| {
            (0..8).map(|e| placement.node_of(e, 8, 4)).collect::<Vec<_>>()
        };
        assert_eq!(at(ExpertPlacement::Block), [0, 0, 1, 1, 2, 2, 3, 3]);
        assert_eq!(at(ExpertPlacement::Cyclic), [0, 1, 2, 3, 0, 1, 2, 3]);
    }

    /// If each node has one expert, the copies of a token go to different nodes, as in the
    /// all-to-all.
    #[test]
    fn a_dispatch_has_the_tokens_of_the_all_to_all() {
        let moe = dispatch(8, 3, Popularity::Skew(1.0));
        let sizes = moe.sizes(8, 1, 5).unwrap();
        let tokens = TokenSizes::new(Arc::new(moe.tokens(8, 5).unwrap()), false);
        for pair in 0..64 {
            assert_eq!(tokens.bytes(pair / 8, pair % 8), sizes.bytes(pair / 8, pair % 8));
        }
    }
}
