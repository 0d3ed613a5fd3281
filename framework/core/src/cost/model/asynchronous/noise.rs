//! Jitter: random variation of the costs of messages. The cost of each message is multiplied by a
//! random factor, which has a log-normal distribution with a mean of 1.
//!
//! The factor depends only on seed, step, sender and receiver. So it does not depend on the order
//! in which events are processed.

use crate::cost::parameter::{DefaultValue, TypedParameter, parse_number};
use crate::network::topology::SplitMix64;

pub(crate) static NOISE: TypedParameter<f64> = TypedParameter {
    key: "noise",
    meaning: "jitter: coefficient of variation (standard deviation / mean) of a log-normal factor for the start-up, latency and bytes of each message, seeded by repetition; there is no lower bound then",
    symbols: "",
    default: DefaultValue::Text("0"),
    read: |text| {
        let cv = parse_number(text).filter(|cv| (0.0..=10.0).contains(cv));
        cv.map(|cv| cv + 0.0).ok_or_else(|| "a number from 0 to 10".to_owned())
    },
};

/// The jitter of a case: the random variation of the costs of its messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Noise {
    seed: u64,
    /// The standard deviation of the logarithm of the factor; 0 if there is no jitter.
    sigma: f64,
}

impl Noise {
    pub(crate) fn new(cv: f64, seed: u64) -> Self {
        Self { seed, sigma: (cv * cv).ln_1p().sqrt() }
    }

    pub(crate) fn is_none(&self) -> bool {
        self.sigma == 0.0
    }

    /// Returns the factor of the message that one rank sends to another in this step.
    pub(crate) fn factor(&self, step: u64, from: u32, to: u32) -> f64 {
        if self.is_none() {
            return 1.0;
        }
        let ends = u64::from(from) << 32 | u64::from(to);
        let mixed = |word| SplitMix64::new(word).bits();
        let word = mixed(mixed(mixed(self.seed) ^ step) ^ ends);
        // Compute a normally distributed sample from two uniform samples (Box & Muller, 1958).
        let [u, v] =
            [word, mixed(word)].map(|word| ((word >> 11) as f64 + 0.5) / (1_u64 << 53) as f64);
        let normal = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
        (self.sigma * normal - self.sigma * self.sigma / 2.0).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_have_a_mean_of_one_and_the_requested_variation() {
        for cv in [0.05, 0.3, 1.0] {
            let noise = Noise::new(cv, 42);
            let draws: Vec<f64> =
                (0..200_000).map(|i| noise.factor(i / 1000, (i % 1000) as u32, 7)).collect();
            let mean = draws.iter().sum::<f64>() / draws.len() as f64;
            let variance =
                draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64;
            assert!((mean - 1.0).abs() < 0.01 * cv.max(0.3), "{cv}: mean {mean}");
            assert!((variance.sqrt() / cv - 1.0).abs() < 0.05, "{cv}: {}", variance.sqrt());
            // The median of the log-normal distribution is exp(-sigma^2 / 2).
            let median = (1.0 + cv * cv).sqrt().recip();
            let below =
                draws.iter().filter(|draw| **draw < median).count() as f64 / draws.len() as f64;
            assert!((below - 0.5).abs() < 0.01, "{cv}: {below}");
        }
    }

    #[test]
    fn factors_differ_by_message_and_seed() {
        let of = |seed, step, from, to| Noise::new(0.5, seed).factor(step, from, to);
        let all = [of(1, 1, 2, 3), of(2, 1, 2, 3), of(1, 2, 2, 3), of(1, 1, 3, 2), of(1, 1, 2, 4)];
        assert!((0..5).all(|i| (0..i).all(|j| all[i] != all[j])), "{all:?}");
        assert_eq!(of(1, 1, 2, 3), all[0]);
        assert_eq!(Noise::new(0.0, 1).factor(1, 2, 3), 1.0);
    }
}
