//! The closed forms of Tables 1 and 2, as printed.

/// Torus or mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// With wrap-around links.
    Torus,
    /// Without.
    Mesh,
}

impl Shape {
    /// The word in specs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Torus => "torus",
            Self::Mesh => "mesh",
        }
    }
}

/// The five costs of an algorithm, in startups, blocks, hops, blocks and barriers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// Startups.
    pub startups: f64,
    /// Blocks in the longest message of each step.
    pub blocks: f64,
    /// Hops of the longest route of each step.
    pub hops: f64,
    /// Blocks that a node rearranges.
    pub rearranged: f64,
    /// Barriers.
    pub barriers: f64,
}

impl Costs {
    /// Each with its name.
    pub fn named(&self) -> [(&'static str, f64); 5] {
        [
            ("startups", self.startups),
            ("blocks", self.blocks),
            ("hops", self.hops),
            ("rearranged", self.rearranged),
            ("barriers", self.barriers),
        ]
    }

    /// The completion time a + b m, in us, for blocks of m bytes with the parameters of section 5.
    pub fn time(&self, startup_us: f64, barrier_us: f64) -> (f64, f64) {
        let (tc, rho, tl) = (0.011, 0.014, 0.02);
        let fixed = self.startups * startup_us + self.hops * tl + self.barriers * barrier_us;
        (fixed, self.blocks * tc + self.rearranged * rho)
    }
}

/// Table 1.
pub fn proposed(shape: Shape, dims: &[u64]) -> Costs {
    let n = dims.len() as f64;
    let nodes: f64 = dims.iter().map(|d| *d as f64).product();
    let largest = dims.iter().copied().max().unwrap_or(1) as f64;
    match shape {
        Shape::Torus => Costs {
            startups: n * (largest / 4.0 + 1.0),
            blocks: n / 8.0 * (largest + 4.0) * nodes,
            hops: n * (largest - 1.0),
            rearranged: (n + 1.0) * nodes,
            barriers: n * largest / 4.0 + n - 1.0,
        },
        Shape::Mesh => Costs {
            startups: n / 2.0 * largest,
            blocks: n / 4.0 * largest * nodes,
            hops: n / 2.0 * ((largest - 2.0) * (largest - 2.0) + 2.0),
            rearranged: n * nodes,
            barriers: n / 2.0 * largest - 1.0,
        },
    }
}

/// Another algorithm of Table 2.
#[derive(Debug, Clone)]
pub struct Rival {
    /// The paper's reference to it.
    pub name: &'static str,
    /// Its costs.
    pub costs: Costs,
}

/// The other rows of Table 2, for a side of 2^d.
pub fn rivals(shape: Shape, d: u32) -> Vec<Rival> {
    let two = |exponent: f64| exponent.exp2();
    let d = f64::from(d);
    match shape {
        Shape::Torus => {
            let sent = 9.0 * two(3.0 * d - 4.0) + (d * d - 5.0 * d + 3.0) * two(2.0 * d - 1.0);
            vec![
                Rival {
                    name: "[19]",
                    costs: Costs {
                        startups: two(d - 1.0) + 2.0,
                        blocks: two(3.0 * d - 2.0) + two(2.0 * d),
                        hops: (two(2.0 * d - 1.0) + 10.0) / 3.0,
                        rearranged: (two(d - 1.0) + 1.0) * two(2.0 * d),
                        barriers: two(d - 1.0) + 1.0,
                    },
                },
                Rival {
                    name: "[13]",
                    costs: Costs {
                        startups: 3.0 * d - 3.0,
                        blocks: sent,
                        hops: 13.0 * two(d - 2.0) - 3.0 * d - 3.0,
                        rearranged: sent,
                        barriers: 3.0 * d - 4.0,
                    },
                },
            ]
        }
        Shape::Mesh => {
            let sent = 7.0 * two(3.0 * d - 3.0) + (d * d - 3.0 * d - 1.0) * two(2.0 * d - 1.0);
            vec![
                Rival {
                    name: "[16]",
                    costs: Costs {
                        startups: two(d),
                        blocks: two(3.0 * d - 1.0),
                        hops: (two(2.0 * d) + 2.0) / 3.0,
                        rearranged: (two(d) - 1.0) * two(2.0 * d),
                        barriers: two(d) - 1.0,
                    },
                },
                Rival {
                    name: "[13]",
                    costs: Costs {
                        startups: 3.0 * d - 2.0,
                        blocks: sent,
                        hops: 9.0 * two(d - 1.0) - 3.0 * d - 4.0,
                        rearranged: sent,
                        barriers: 3.0 * d - 3.0,
                    },
                },
            ]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_2_is_table_1_on_squares() {
        // as the paper prints the proposed rows of Table 2
        for d in 2..8_u32 {
            let (side, x) = (1_u64 << d, f64::from(d));
            let torus = proposed(Shape::Torus, &[side, side]);
            assert_eq!(torus.startups, (x - 1.0).exp2() + 2.0);
            assert_eq!(torus.blocks, (3.0 * x - 2.0).exp2() + (2.0 * x).exp2());
            assert_eq!(torus.hops, (x + 1.0).exp2() - 2.0);
            let mesh = proposed(Shape::Mesh, &[side, side]);
            assert_eq!(mesh.hops, (2.0 * x).exp2() - (x + 2.0).exp2() + 6.0);
            assert_eq!(mesh.blocks, (3.0 * x - 1.0).exp2());
        }
    }

    #[test]
    fn on_8_by_8_tori_all_costs_of_13_and_proposed_are_equal() {
        let thirteen = rivals(Shape::Torus, 3).into_iter().find(|r| r.name == "[13]").unwrap();
        assert_eq!(thirteen.costs, proposed(Shape::Torus, &[8, 8]));
    }
}
