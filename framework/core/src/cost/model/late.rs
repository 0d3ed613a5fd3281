//! Late ranks: ranks that enter the collective after the first rank (`late=`).
//!
//! A late rank neither sends nor receives before it enters. On the critical path, this time is
//! contention. Lower bounds ignore late ranks, because no schedule ends earlier if a rank is late.

use crate::cost::parameter::{DefaultValue, TypedParameter, parse_micros};
use crate::network::topology::random::SplitMix64;
use std::fmt;

/// A constant that changes the seed, so that the late ranks do not depend on other random draws.
const STREAM: u64 = 0x1A7E_0000_0000_0001;

pub(super) static LATE: TypedParameter<Late> = TypedParameter {
    key: "late",
    meaning: "ranks that enter late: `3:50+7:20`, ranks and microseconds; `random:K:MEAN`, K ranks drawn from the seed of the repetition, each late by an exponentially distributed time of this mean",
    symbols: "",
    default: DefaultValue::Text("none"),
    read: Late::read,
};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Late {
    /// These ranks, in ascending order, each with the time in µs by which it is late.
    Listed(Vec<(u32, f64)>),
    Random {
        count: u32,
        mean_us: f64,
    },
}

impl Late {
    fn read(text: &str) -> Result<Self, String> {
        let bad = || "none, ranks and microseconds as in `3:50+7:20`, or random:K:MEAN".to_owned();
        if text == "none" {
            return Ok(Self::Listed(Vec::new()));
        }
        if let Some(random) = text.strip_prefix("random:") {
            let (count, mean) = random.split_once(':').ok_or_else(bad)?;
            let count = count.parse().map_err(|_| bad())?;
            return Ok(Self::Random { count, mean_us: parse_micros(mean).map_err(|_| bad())? });
        }
        let rank = |item: &str| -> Result<(u32, f64), String> {
            let (rank, us) = item.split_once(':').ok_or_else(bad)?;
            Ok((rank.parse().map_err(|_| bad())?, parse_micros(us).map_err(|_| bad())?))
        };
        let mut ranks: Vec<(u32, f64)> = text.split('+').map(rank).collect::<Result<_, _>>()?;
        ranks.sort_by_key(|(rank, _)| *rank);
        match ranks.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(format!("each rank once, but rank {} is listed twice", pair[0].0)),
            None => Ok(Self::Listed(ranks)),
        }
    }

    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::Listed(ranks) if ranks.is_empty())
    }

    /// Returns the late ranks, each with the time by which it is late. Errors if a listed rank does
    /// not exist, or if more than `nodes` ranks are to be drawn.
    pub(super) fn ranks(&self, nodes: u64, seed: u64) -> Result<Vec<(usize, f64)>, String> {
        match self {
            Self::Listed(ranks) => match ranks.last().filter(|(rank, _)| u64::from(*rank) >= nodes)
            {
                Some((rank, _)) => Err(format!(
                    "`late={self}`: there is no rank {rank}, expected a number below {nodes}"
                )),
                None => Ok(ranks.iter().map(|(rank, us)| (*rank as usize, *us)).collect()),
            },
            Self::Random { count, .. } if u64::from(*count) > nodes => {
                Err(format!("`late={self}`: there are only {nodes} ranks"))
            }
            Self::Random { count, mean_us } => {
                let mut draw = SplitMix64::new(seed ^ STREAM);
                let mut ranks: Vec<usize> = (0..nodes as usize).collect();
                let drawn = (0..*count as usize).map(|first| {
                    let other = first + draw.below(ranks.len() - first);
                    ranks.swap(first, other);
                    // This is the inverse of the exponential distribution function.
                    let uniform = (draw.below(1 << 53) as f64 + 0.5) / (1_u64 << 53) as f64;
                    (ranks[first], -mean_us * uniform.ln())
                });
                Ok(drawn.collect())
            }
        }
    }
}

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listed(ranks) if ranks.is_empty() => f.write_str("none"),
            Self::Listed(ranks) => {
                let ranks: Vec<String> =
                    ranks.iter().map(|(rank, us)| format!("{rank}:{us}")).collect();
                f.write_str(&ranks.join("+"))
            }
            Self::Random { count, mean_us } => write!(f, "random:{count}:{mean_us}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::kind::Kind;
    use crate::cost::machine::Machine;
    use crate::cost::model::test_steps::{Sends, cost_of_forwarding, try_cost};

    fn forwarded(machine: &str, late: &str) -> f64 {
        let bytes = if machine.contains("loggp") { 101 } else { 100 };
        let steps = vec![vec![(0, 1, bytes, 0)], vec![(1, 2, bytes, 1)]];
        let machine = format!("free:model={machine},byte_us=1,late={late}");
        cost_of_forwarding("fully-connected:3", &machine, &steps).parts.total()
    }

    /// A message takes 100 µs. Under `fluid`, it starts when sender and receiver have entered.
    /// Under `loggp`, its bytes occupy the receiver, which must have entered. Under `flat`, it
    /// crosses the network even if its receiver has not entered yet.
    #[test]
    fn a_late_rank_delays_the_messages_that_need_it() {
        for (machine, expected) in [
            ("fluid", [200.0, 250.0, 230.0, 200.0, 250.0]),
            ("fluid,order=data", [200.0, 250.0, 230.0, 200.0, 250.0]),
            ("fluid,order=barrier", [200.0, 250.0, 230.0, 200.0, 250.0]),
            ("loggp", [200.0, 250.0, 230.0, 200.0, 250.0]),
            ("loggp,order=data", [200.0, 250.0, 230.0, 200.0, 250.0]),
            ("flat", [200.0, 250.0, 200.0, 200.0, 200.0]),
        ] {
            let times =
                ["none", "0:50", "1:30", "2:50", "2:150"].map(|late| forwarded(machine, late));
            assert_eq!(times, expected, "{machine}");
        }
        assert_eq!(forwarded("flat", "1:150"), 250.0);
        assert_eq!(forwarded("flat,mode=nonblocking", "0:50+1:20"), 250.0);
        assert_eq!(
            forwarded("flat,rearrange_byte_us=1", "0:50"),
            350.0,
            "0 composes when it enters"
        );
    }

    #[test]
    fn equal_lateness_shifts_a_schedule() {
        let steps: Sends = (1..8)
            .map(|k| (0..8).map(|r| (r, (r + k) % 8, 10 * u64::from(k * k), 0)).collect())
            .collect();
        let late: Vec<String> = (0..8).map(|rank| format!("{rank}:7")).collect();
        for model in
            ["fluid,startup_us=2,hop_us=1", "loggp,overhead_us=2,gap_us=1", "flat,startup_us=2"]
        {
            let time = |late: &str| {
                let machine = format!("free:model={model},byte_us=1,late={late}");
                let cost = cost_of_forwarding("torus:2x4", &machine, &steps);
                (cost.parts.total(), cost.parts[Kind::Contention].unwrap())
            };
            let (punctual, shifted) = (time("none"), time(&late.join("+")));
            assert!((shifted.0 - punctual.0 - 7.0).abs() < 1e-9, "{model}");
            assert!((shifted.1 - punctual.1 - 7.0).abs() < 1e-9, "{model}: the wait is contention");
        }
    }

    /// All steps are symmetric, but `fluid` must simulate all nodes because of the late rank. After
    /// the rank has entered, the schedule takes at most as long as without a late rank.
    #[test]
    fn a_late_rank_ends_the_symmetry_of_a_schedule() {
        let steps: Sends =
            (1..4).map(|k| (0..4).map(|r| (r, (r + k) % 4, 10, 0)).collect()).collect();
        let time = |late: &str| {
            let machine = format!("free:model=fluid,byte_us=1,late={late}");
            cost_of_forwarding("ring:4", &machine, &steps).parts.total()
        };
        let punctual = time("none");
        assert!(time("3:1000") > 1000.0 && time("3:1000") < 1000.0 + punctual + 1e-9);
    }

    #[test]
    fn lists_have_one_canonical_form() {
        let machine = |text: &str| Machine::parse(text).map(|machine| machine.to_string());
        assert_eq!(machine("sp2:late=7:20+3:050.0").unwrap(), "sp2:late=3:50+7:20");
        assert_eq!(machine("sp2:late=none").unwrap(), "sp2");
        assert_eq!(machine("sp2:late=random:2:10").unwrap(), "sp2:late=random:2:10");
        let error = |text: &str| machine(text).unwrap_err().message;
        for value in ["3", "3:x", "random:2", "random:x:1", "3:-1", ""] {
            let text = format!("sp2:late={value}");
            let error = machine(&text).unwrap_err().message;
            let expected = "none, ranks and microseconds as in `3:50+7:20`, or random:K:MEAN";
            assert!(value.is_empty() || error.contains(expected), "{value}: {error}");
        }
        assert_eq!(
            error("sp2:late=3:5+3:6"),
            "late: expected each rank once, but rank 3 is listed twice, found `3:5+3:6`"
        );
        assert!(error("paragon:late=3:5").contains("`late` is not read by the model `wormhole`"));
        let steps = vec![vec![(0, 1, 1, 0)]];
        for model in ["flat", "loggp", "fluid"] {
            let on = |late: &str| {
                try_cost("ring:4", &format!("free:model={model},late={late}"), &steps).unwrap_err()
            };
            assert_eq!(on("4:1"), "`late=4:1`: there is no rank 4, expected a number below 4");
            assert_eq!(on("random:5:1"), "`late=random:5:1`: there are only 4 ranks");
        }
    }

    #[test]
    fn random_ranks_depend_on_the_seed_and_have_the_mean() {
        let late = Late::Random { count: 8, mean_us: 5.0 };
        let draw = |seed| late.ranks(64, seed).unwrap();
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        let mut drawn: Vec<usize> = draw(3).into_iter().map(|(rank, _)| rank).collect();
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn.len(), 8, "different ranks");
        let all: Vec<f64> = (0..5000).flat_map(draw).map(|(_, us)| us).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let above = all.iter().filter(|us| **us > 5.0).count() as f64 / all.len() as f64;
        // Of an exponential distribution, the fraction 1 / e is above the mean.
        assert!(
            (mean - 5.0).abs() < 0.1 && (above - (-1.0_f64).exp()).abs() < 0.01,
            "{mean} {above}"
        );
        assert!(Machine::parse("sp2:late=random:1:5").unwrap().is_noisy());
        assert!(!Machine::parse("sp2:late=1:5").unwrap().is_noisy());
    }
}
