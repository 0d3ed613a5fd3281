//! Chapter 4: Table 4.4, the formulas of which it is made, and those of other ways that the thesis compares.

use super::{Bound, Costs, Round, Torus, Why, as_printed, compare, figure, log};
use crate::bench::{Bench, ReproduceError};
use crate::report::{Table, Verdict};

/// A formula for a permutation, with where it is run.
struct Formula {
    /// Number and name.
    name: &'static str,
    workload: &'static str,
    algorithm: &'static str,
    d: u32,
    sides: &'static [(u64, u64)],
    costs: fn([f64; 4], Round) -> Costs,
    why: Why,
}

/// 2 log_(2q+1)(n / 4q) + `middle`.
fn rounds([_, n, q, _]: [f64; 4], middle: f64, round: Round) -> f64 {
    2.0 * round(log(2.0 * q + 1.0, (n / (4.0 * q)).max(1.0))) + middle
}

/// n/4q - 1: what collection and distribution take in links, and along one dimension in blocks.
fn s([_, n, q, _]: [f64; 4]) -> f64 {
    (n / (4.0 * q) - 1.0).max(0.0)
}

/// Sides with n = 4q (2q + 1)^r, and one without.
const SIDES: &[(u64, u64)] = &[(12, 1), (36, 1), (40, 2), (16, 1)];
const CUBES: &[(u64, u64)] = &[(12, 1), (24, 2), (16, 1)];
const LONG: &[(u64, u64)] = &[(12, 1), (108, 1), (40, 2), (200, 2), (16, 1)];
const UNEVEN: (&str, &str) = (
    "propagation",
    "sections are of the sizes that n allows, and the largest counts; where that is even, one more node is collected from one side than from the other",
);
const UNEVEN_LINKS: (&str, &str) =
    ("switching", "sections are of the sizes that n allows, and the longest circuit of each round counts");
const UNEVEN_BLOCKS: (&str, &str) =
    ("propagation", "n/4q isn't a power of 2q + 1, and the largest section of each round counts");
const ALIGNED: (&str, &str) = (
    "switching",
    "sections begin at the mirrors, so that the farthest collector is nearer to its image than the thesis allows for",
);
const COMPOSED: (&str, &str) = (
    "switching",
    "the formula leaves out the n/4q - 1 links of collection and distribution; sections begin at the mirrors, which takes off as much or less",
);

/// Table 4.4, in its order.
const TABLE_4_4: &[Formula] = &[
    Formula {
        name: "1D transpose",
        workload: "permutation/transpose-1d:1",
        algorithm: "torus-permutation:form=combined",
        d: 1,
        sides: &[(20, 1), (68, 1), (56, 2), (100, 2)],
        costs: |f, round| combined(f, round, 1.0),
        why: COMBINED,
    },
    Formula {
        name: "2D transpose",
        workload: "permutation/transpose-2d:1",
        algorithm: "torus-permutation:form=combined",
        d: 2,
        sides: &[(20, 1), (68, 1), (56, 2)],
        costs: |f, round| combined(f, round, 2.0),
        why: COMBINED,
    },
    Formula {
        name: "2D 90 degrees, (4.22)",
        workload: "permutation/rotate-90:1",
        algorithm: "torus-permutation",
        d: 2,
        sides: SIDES,
        costs: |f, round| Costs {
            rounds: rounds(f, 1.0, round),
            switching: 3.0 * f[1] + f[1] / (4.0 * f[2]) - 4.0,
            propagation: f[1] / 4.0 + s(f),
        },
        why: &[
            (
                "switching",
                "which nodes take which cycle, Fig. 4.12 b alone says: by our rule those of a section aren't all neighbours, and collection takes more links",
            ),
            UNEVEN_BLOCKS,
        ],
    },
    Formula {
        name: "2D 180 degrees, (4.17)",
        workload: "permutation/rotate-180:1",
        algorithm: "torus-permutation",
        d: 2,
        sides: SIDES,
        costs: reflection,
        why: &[ALIGNED, UNEVEN],
    },
    Formula {
        name: "3D mid-point reflection, (4.17)",
        workload: "permutation/reflect:1",
        algorithm: "torus-permutation",
        d: 3,
        sides: CUBES,
        costs: reflection,
        why: &[ALIGNED, UNEVEN],
    },
    Formula {
        name: "3D 120 degrees, (4.24)",
        workload: "permutation/rotate-3d-120:1",
        algorithm: "torus-permutation",
        d: 3,
        sides: CUBES,
        costs: |f, round| {
            let [_, n, q, _] = f;
            let third = n / (3.0 * q);
            Costs {
                rounds: 2.0 * round(log(2.0 * q + 1.0, third.max(1.0))) + 1.0,
                switching: 2.0 * (n + third - 1.0),
                propagation: n / 3.0 + third - 1.0,
            }
        },
        why: &[
            ("rounds", "by two 2-dimensional transpositions, as (4.23): the text doesn't give the cycles of Fig. 4.14"),
            ("switching", "by two 2-dimensional transpositions"),
            ("propagation", "by two 2-dimensional transpositions: a second time n/4, and a third of the collection"),
        ],
    },
    Formula {
        name: "3D 180 degrees, (4.25)",
        workload: "permutation/rotate-3d-180:1",
        algorithm: "torus-permutation",
        d: 3,
        sides: CUBES,
        costs: reflection,
        why: &[ALIGNED, UNEVEN],
    },
    Formula {
        name: "3D transpose type 1, (4.26)",
        workload: "permutation/transpose-3d-1:1",
        algorithm: "torus-permutation",
        d: 3,
        sides: CUBES,
        costs: |f, round| two_middles(f, round, 2.5 * f[1] + s(f)),
        why: &[ALIGNED, UNEVEN],
    },
    Formula {
        name: "3D transpose type 2",
        workload: "permutation/transpose-3d-2:1",
        algorithm: "torus-permutation",
        d: 3,
        sides: CUBES,
        costs: |f, round| two_middles(f, round, 2.0 * f[1] + s(f)),
        why: &[ALIGNED, UNEVEN],
    },
    Formula {
        name: "1D translation by n/2, (4.11)",
        workload: "permutation/translate:1,by=HALF",
        algorithm: "torus-permutation",
        d: 1,
        sides: LONG,
        costs: reflection,
        why: &[UNEVEN_LINKS, UNEVEN],
    },
    Formula {
        name: "2D translation by n/2, (4.12)",
        workload: "permutation/translate:1,by=HALF",
        algorithm: "torus-permutation",
        d: 2,
        sides: SIDES,
        costs: reflection,
        why: &[UNEVEN_LINKS, UNEVEN],
    },
    Formula {
        name: "3D translation by n/2, (4.12)",
        workload: "permutation/translate:1,by=HALF",
        algorithm: "torus-permutation",
        d: 3,
        sides: CUBES,
        costs: reflection,
        why: &[UNEVEN_LINKS, UNEVEN],
    },
    Formula {
        name: "2D shear, (4.28)",
        workload: "permutation/shear-2d:1",
        algorithm: "torus-permutation",
        d: 2,
        sides: SIDES,
        costs: |f, round| Costs {
            rounds: rounds(f, 1.0, round),
            switching: f[1] + f[1] / (4.0 * f[2]) - 2.0,
            propagation: f[1] / 4.0 + s(f),
        },
        why: &[
            (
                "rounds",
                "between n/4 and n/2 some distances don't fit q circuits a link in a single middle round: a second one, or fewer collectors",
            ),
            ("switching", "follows from the second middle round, and from which blocks go the longer way round"),
            ("propagation", "follows from the second middle round, or from fewer collectors"),
        ],
    },
];

/// Formulas that are not in Table 4.4.
const OTHERS: &[Formula] = &[
    Formula {
        name: "(4.6) 1D transposition, standard",
        workload: "permutation/transpose-1d:1",
        algorithm: "torus-permutation",
        d: 1,
        sides: LONG,
        costs: |f, round| Costs {
            rounds: rounds(f, 1.0, round),
            switching: f[1] / 2.0,
            propagation: f[1] / 4.0 + s(f),
        },
        why: &[
            (
                "switching",
                "a node and its image are an odd distance apart, so it is n/2 - 1 where n/4q is a power of 2q+1; elsewhere sections are uneven",
            ),
            UNEVEN,
        ],
    },
    Formula {
        name: "(4.9) 2D transposition, standard",
        workload: "permutation/transpose-2d-anti:1",
        algorithm: "torus-permutation",
        d: 2,
        sides: SIDES,
        costs: |f, round| Costs {
            rounds: rounds(f, 1.0, round),
            switching: f[1] + s(f),
            propagation: f[1] / 4.0 + s(f) / 2.0,
        },
        why: &[ALIGNED, UNEVEN],
    },
    Formula {
        name: "(4.13) 1D translation by i = q",
        workload: "permutation/translate:1,by=VC",
        algorithm: "torus-permutation",
        d: 1,
        sides: &[(16, 1), (40, 2), (100, 3)],
        costs: |f, _| Costs { rounds: 1.0, switching: f[0] * f[2], propagation: f[2] },
        why: &[],
    },
    Formula {
        name: "(4.13) 3D translation by i = q",
        workload: "permutation/translate:1,by=VC",
        algorithm: "torus-permutation",
        d: 3,
        sides: &[(12, 2)],
        costs: |f, _| Costs { rounds: 1.0, switching: f[0] * f[2], propagation: f[2] },
        why: &[],
    },
    Formula {
        name: "(4.14) 2D translation by n/3, forward",
        workload: "permutation/translate:1,by=THIRD",
        algorithm: "torus-permutation:directions=forward",
        d: 2,
        sides: &[(27, 1), (30, 2), (24, 1)],
        costs: |f, round| forward(f, round, 3.0),
        why: &[UNEVEN_LINKS, UNEVEN],
    },
    Formula {
        name: "(4.14) 1D translation by n/4, forward",
        workload: "permutation/translate:1,by=QUARTER",
        algorithm: "torus-permutation:directions=forward",
        d: 1,
        sides: &[(36, 1), (40, 2), (24, 1)],
        costs: |f, round| forward(f, round, 4.0),
        why: &[UNEVEN_LINKS, UNEVEN],
    },
    Formula {
        name: "(4.15) 1D translation by n/3, both ways",
        workload: "permutation/translate:1,by=THIRD",
        algorithm: "torus-permutation:directions=both",
        d: 1,
        sides: &[(45, 2), (27, 1)],
        costs: |f, round| both_ways(f, round, 3.0),
        why: BOTH,
    },
    Formula {
        name: "(4.15) 2D translation by n/4, both ways",
        workload: "permutation/translate:1,by=QUARTER",
        algorithm: "torus-permutation:directions=both",
        d: 2,
        sides: &[(48, 3), (36, 1)],
        costs: |f, round| both_ways(f, round, 4.0),
        why: BOTH,
    },
    Formula {
        name: "(4.19) 2D 90 degrees by transpositions",
        workload: "permutation/rotate-90:1",
        algorithm: "torus-permutation:form=standard",
        d: 2,
        sides: SIDES,
        costs: |f, round| Costs { propagation: f[1] / 2.0 + s(f) / 2.0, ..two_middles(f, round, 1.5 * f[1]) },
        why: &[COMPOSED, UNEVEN],
    },
    Formula {
        name: "(4.23) 3D 120 degrees by transpositions",
        workload: "permutation/rotate-3d-120:1",
        algorithm: "torus-permutation",
        d: 3,
        sides: CUBES,
        costs: |f, round| two_middles(f, round, 2.0 * f[1]),
        why: &[COMPOSED, UNEVEN],
    },
    Formula {
        name: "(4.27) 3D transpose type 2",
        workload: "permutation/transpose-3d-2:1",
        algorithm: "torus-permutation",
        d: 3,
        sides: CUBES,
        costs: |f, round| two_middles(f, round, 2.0 * f[1]),
        why: &[COMPOSED, UNEVEN],
    },
    Formula {
        name: "(4.29) 3D reflection",
        workload: "permutation/reflect:1",
        algorithm: "torus-permutation",
        d: 3,
        sides: CUBES,
        costs: |f, round| Costs { switching: f[0] * f[1] / 2.0 - s(f), ..reflection(f, round) },
        why: &[("switching", "(4.29) has - (n/4q - 1) where (4.17), which it repeats, has +"), UNEVEN],
    },
];

/// A formula whose schedule isn't run.
struct NotRebuilt {
    name: &'static str,
    costs: fn([f64; 4]) -> Costs,
    why: &'static str,
}

/// Rotations by translation along cycles, which the thesis itself gives up for others.
const NOT_REBUILT: &[NotRebuilt] = &[
    NotRebuilt {
        name: "(4.18) 2D 180 degrees by translation",
        costs: |f| Costs {
            rounds: rounds(f, 1.0, as_printed),
            switching: f[1] + f[1] / (2.0 * f[2]) - 2.0,
            propagation: f[1] / 4.0 + s(f),
        },
        why: "the mirror form, (4.17), is cheaper, and the one of Table 4.4",
    },
    NotRebuilt {
        name: "(4.20) 2D 90 degrees by translation, forward",
        costs: |f| quarter_turn(f, 0.5, 1.0),
        why: "the even division of nodes over the cycles is only a step towards (4.22), which divides them by the cycles' lengths and halves the propagation",
    },
    NotRebuilt {
        name: "(4.21) 2D 90 degrees by translation, both ways",
        costs: |f| quarter_turn(f, 0.375, 3.0),
        why: "the even division of nodes over the cycles is only a step towards (4.22), which divides them by the cycles' lengths and takes a third off the propagation",
    },
];

/// (4.20), (4.21): sections of `share` n/q; the farthest goes `quarters` of the longest cycle.
fn quarter_turn([_, n, q, _]: [f64; 4], share: f64, quarters: f64) -> Costs {
    let section = (share * n / q).max(1.0);
    Costs {
        rounds: 2.0 * log(2.0 * q + 1.0, section) + 1.0,
        switching: quarters * (n - 1.0) + section - 1.0,
        propagation: share * n + section - 1.0,
    }
}

const COMBINED: Why = &[
    (
        "switching",
        "the printed term is an approximation with an unknown c >= 1, taken as 1; (A.3) is exact, see Appendix A",
    ),
    ("propagation", "a quarter of n isn't whole, or its last groups are smaller"),
];
const BOTH: Why = &[
    ("rounds", "with a - 1 no divisor of q the links can't be filled both ways: fewer collectors fit"),
    ("switching", "follows from the number of collectors"),
    ("propagation", "follows from the number of collectors"),
];

/// (4.7), (4.10): c is 1.
fn combined([_, n, q, _]: [f64; 4], round: Round, links: f64) -> Costs {
    Costs {
        rounds: 2.0 * round(log(2.0 * q + 1.0, (n + 4.0) / (4.0 * q + 4.0))) + 1.0,
        switching: links * (q + 4.0) / (2.0 * q + 2.0) * (n + 4.0),
        propagation: n / 4.0,
    }
}

/// (4.17), (4.25), (4.11) and (4.12): d n/2 links, one middle round.
fn reflection(f: [f64; 4], round: Round) -> Costs {
    let [d, n, ..] = f;
    Costs { rounds: rounds(f, 1.0, round), switching: d * n / 2.0 + s(f), propagation: n / 4.0 + s(f) / d }
}

/// (4.23), (4.26), (4.27): two middle rounds in three dimensions.
fn two_middles(f: [f64; 4], round: Round, switching: f64) -> Costs {
    Costs { rounds: rounds(f, 2.0, round), switching, propagation: f[1] / 2.0 + s(f) / 3.0 }
}

/// (4.14): i = n/a.
fn forward([d, n, q, _]: [f64; 4], round: Round, a: f64) -> Costs {
    let section = (n / (a * q)).max(1.0);
    Costs {
        rounds: 2.0 * round(log(2.0 * q + 1.0, section)) + 1.0,
        switching: d * n / a + section - 1.0,
        propagation: n / a + (section - 1.0) / d,
    }
}

/// (4.15): one node in a goes the other way.
fn both_ways([d, n, q, _]: [f64; 4], round: Round, a: f64) -> Costs {
    let section = ((a - 1.0) * n / (a * a * q)).max(1.0);
    Costs {
        rounds: 2.0 * round(log(2.0 * q + 1.0, section)) + 1.0,
        switching: d * (a - 1.0) * n / a + section - 1.0,
        propagation: (a - 1.0) * n / (a * a) + (section - 1.0) / d,
    }
}

/// One circuit of a permutation crosses half of the torus (section 4.6): `farthest` links, in truth.
fn bound([d, n, ..]: [f64; 4], farthest: f64) -> Bound {
    let printed = Costs { rounds: 1.0, switching: d * n / 2.0, propagation: n / 4.0 };
    Bound {
        printed,
        sound: Costs { switching: farthest.min(printed.switching), ..printed },
        why: "a node and its mirror image, -x being -1 - x, are an odd number of links apart along an axis",
    }
}

fn add(table: &mut Table, formula: &Formula, bounded: bool, bench: &Bench<'_>) -> Result<(), ReproduceError> {
    for &(n, q) in formula.sides {
        let torus = Torus::new(formula.d, n, q);
        let distance = |word: &str, by: u64| formula.workload.replace(word, &by.to_string());
        let workload = match formula.workload {
            w if w.ends_with("HALF") => distance("HALF", n / 2),
            w if w.ends_with("THIRD") => distance("THIRD", n / 3),
            w if w.ends_with("QUARTER") => distance("QUARTER", n / 4),
            w if w.ends_with("VC") => distance("VC", q),
            w => w.to_owned(),
        };
        let ours = torus.run(bench, (formula.algorithm, &workload), "all", q)?;
        let row = format!("{}, {}", formula.name, torus.name());
        let bound = match bounded {
            true => Some(bound(torus.figures(), torus.farthest(bench, (formula.algorithm, &workload))?)),
            false => None,
        };
        compare(table, &row, &|round| (formula.costs)(torus.figures(), round), ours, bound, formula.why);
    }
    Ok(())
}

/// Table 4.4 and the other formulas of the chapter.
pub(super) fn tables(bench: &Bench<'_>) -> Result<Vec<Table>, ReproduceError> {
    let mut table = Table::new(
        "Table 4.4",
        "Permutations with all ports: rounds, links of the longest circuits, blocks. The lower bounds are section 4.6's, which are for transpositions, reflections, rotations by 180 degrees and translations by n/2.",
    );
    for formula in TABLE_4_4 {
        let bounded = formula.workload.contains("HALF")
            || ["180", "reflection", "1D transpose"].iter().any(|word| formula.name.contains(word));
        add(&mut table, formula, bounded, bench)?;
    }
    let mut others = Table::new(
        "Formulas of chapter 4",
        "Those that Table 4.4 doesn't have: the standard transpositions, translations, and the transpositional forms of what the thesis does better by translation.",
    );
    for formula in OTHERS {
        add(&mut others, formula, false, bench)?;
    }
    for formula in NOT_REBUILT {
        let torus = Torus::new(2, 36, 1);
        let row = format!("{}, {}", formula.name, torus.name());
        for (term, paper) in (formula.costs)(torus.figures()).terms() {
            others.add((&row, term), figure(paper), "", Verdict::NotRebuilt, formula.why);
        }
    }
    Ok(vec![table, others])
}
