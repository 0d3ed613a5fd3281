//! Suh & Shin: Tables 1 and 2, networks that need virtual nodes, the curves and crossovers of Figs.
//! 13 to 16, and errors in the paper.

use crate::bench::{Bench, ReproduceError};
use crate::data::{PaperTexts, read};
use crate::formula::Formula;
use crate::report::{Kind, Table, Verdict, number};
use serde::Deserialize;

mod crossovers;

/// The names of the five costs in [`Costs`].
const NAMES: [&str; 5] = ["startups", "blocks", "hops", "rearranged", "barriers"];

/// The five costs of an algorithm: the number of start-ups, the sum over steps of the number of
/// blocks in the longest message, the sum over steps of the number of hops of the longest route,
/// the number of blocks that a node rearranges, and the number of barriers.
type Costs = [f64; 5];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Shape {
    Torus,
    Mesh,
}

impl Shape {
    fn word(self) -> &'static str {
        match self {
            Self::Torus => "torus",
            Self::Mesh => "mesh",
        }
    }
}

/// A value for tori and a value for meshes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ByShape<T> {
    torus: T,
    mesh: T,
}

impl<T> ByShape<T> {
    fn of(&self, shape: Shape) -> &T {
        match shape {
            Shape::Torus => &self.torus,
            Shape::Mesh => &self.mesh,
        }
    }
}

/// An algorithm of other authors that is listed in Table 2.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rival {
    shape: Shape,
    /// The number of the reference with which the paper cites the algorithm.
    name: String,
    /// The name of the algorithm in this project; `None` if this project does not have it.
    algorithm: Option<String>,
    costs: [Formula; 5],
}

impl Rival {
    /// Returns the costs of the algorithm on a network whose sides have 2^d nodes.
    fn costs(&self, d: u32) -> Costs {
        let d = f64::from(d);
        [0, 1, 2, 3, 4].map(|i| self.costs[i].at(&|name, _| (name == "d").then_some(d)))
    }
}

#[derive(Debug, Deserialize)]
struct SuhShin {
    #[serde(flatten)]
    words: PaperTexts,
    proposed: ByShape<[Formula; 5]>,
    sizes: ByShape<Vec<Vec<u64>>>,
    virtual_sizes: ByShape<Vec<Vec<u64>>>,
    rival: Vec<Rival>,
    figure: Vec<crossovers::Figure>,
}

impl SuhShin {
    fn read() -> Result<Self, ReproduceError> {
        read("suh-shin", include_str!("../papers/suh-shin.toml"))
    }

    /// Returns the costs of the paper's own algorithm, according to Table 1.
    fn proposed(&self, shape: Shape, dims: &[u64]) -> Costs {
        let variable = |name: &str| match name {
            "n" => Some(dims.len() as f64),
            "N" => Some(dims.iter().map(|d| *d as f64).product()),
            "N_1" => dims.iter().max().map(|largest| *largest as f64),
            _ => None,
        };
        [0, 1, 2, 3, 4].map(|i| self.proposed.of(shape)[i].at(&|name, _| variable(name)))
    }

    /// Returns the algorithms of other authors in Table 2.
    fn rivals(&self, shape: Shape) -> impl Iterator<Item = &Rival> {
        self.rival.iter().filter(move |rival| rival.shape == shape)
    }

    /// Returns the shape and the side lengths of each network in `sizes`.
    fn all<'a>(
        &self,
        sizes: &'a ByShape<Vec<Vec<u64>>>,
    ) -> impl Iterator<Item = (Shape, &'a [u64])> {
        [Shape::Torus, Shape::Mesh]
            .into_iter()
            .flat_map(|shape| sizes.of(shape).iter().map(move |dims| (shape, dims.as_slice())))
    }
}

/// A square network, with the costs of algorithms on it.
struct Square {
    shape: Shape,
    /// The number of nodes of a side.
    side: u64,
    /// The costs of a run of `suh-shin`.
    run: Costs,
    /// The costs of the algorithms of other authors, in the order of the paper. They are `None` if
    /// this project does not have the algorithm.
    rivals: Vec<Option<Costs>>,
}

/// Returns all tables of the paper that can be reproduced.
pub(crate) fn tables(bench: &Bench<'_>) -> Result<Vec<Table>, ReproduceError> {
    let paper = SuhShin::read()?;
    let mut squares = Vec::new();
    for shape in [Shape::Torus, Shape::Mesh] {
        for side in [4_u64, 8, 16, 32, 64, 128] {
            let of = |algorithm: &str| costs(bench, algorithm, shape, &[side, side]);
            let rivals =
                paper.rivals(shape).map(|rival| rival.algorithm.as_deref().map(of).transpose());
            squares.push(Square {
                shape,
                side,
                run: of("suh-shin")?,
                rivals: rivals.collect::<Result<_, _>>()?,
            });
        }
    }
    let (crossings, claims) = crossovers::tables(&paper, &squares);
    Ok(vec![
        table_1(&paper, bench)?,
        table_2(&paper, &squares),
        virtual_nodes(&paper, bench)?,
        crossings,
        crossovers::curves(&paper, &squares),
        claims,
        paper.words.errata(None),
        paper.words.left_out(),
    ])
}

/// Returns the five costs of a run in the units of the paper. On the machine of this run, each unit
/// takes 1 us, so the costs are the parts of the time.
fn costs(
    bench: &Bench<'_>,
    algorithm: &str,
    shape: Shape,
    dims: &[u64],
) -> Result<Costs, ReproduceError> {
    const UNIT_MACHINE: &str = "free:startup_us=1,byte_us=1,hop_us=1,rearrange_byte_us=1,rearrangement=declared,barrier_us=1";
    let topology = format!("{}:{}", shape.word(), joined(dims, "x"));
    let row = bench.row(&topology, algorithm, "uniform:1", UNIT_MACHINE)?;
    let parts = [
        row.startup_us,
        row.transmission_us,
        row.propagation_us,
        row.rearrangement_us,
        row.barrier_us,
    ];
    Ok(parts.map(|part| part.unwrap_or(f64::NAN)))
}

fn joined(dims: &[u64], between: &str) -> String {
    dims.iter().map(u64::to_string).collect::<Vec<_>>().join(between)
}

/// Compares the costs in the paper with those of a run. The number of rearranged blocks is not
/// measured in the run; the algorithm declares it.
fn compare(table: &mut Table, row: &str, paper: Costs, ours: Costs, why: &str) {
    for (i, column) in NAMES.into_iter().enumerate() {
        let verdict = match column {
            "rearranged" => Verdict::Declared,
            _ => Verdict::computed(paper[i], ours[i]),
        };
        let why = if matches!(verdict, Verdict::Agrees | Verdict::Declared) { "" } else { why };
        table.add((row, column), paper[i], ours[i], verdict).because(why);
    }
}

/// Compares Table 1 with runs on networks with two, three and four dimensions.
fn table_1(paper: &SuhShin, bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = paper.words.table("Table 1");
    for (shape, dims) in paper.all(&paper.sizes) {
        let (last, others) = (dims[dims.len() - 1], &dims[..dims.len() - 1]);
        let why = match dims.len() >= 3 && others.iter().all(|d| *d < last) {
            true => {
                "the formula charges every phase for the largest dimension, but the last dimension is used in Phases 1 and n only"
            }
            false => "",
        };
        let row = format!("{} {}", shape.word(), joined(dims, " x "));
        compare(
            &mut table,
            &row,
            paper.proposed(shape, dims),
            costs(bench, "suh-shin", shape, dims)?,
            why,
        );
    }
    Ok(table)
}

/// Compares Table 2 with runs of the algorithms that this project has.
fn table_2(paper: &SuhShin, squares: &[Square]) -> Table {
    let mut table = paper.words.table("Table 2");
    for Square { shape, side, run, rivals } in squares {
        let d = side.ilog2();
        let name = format!("{} {side} x {side}", shape.word());
        for (rival, run) in paper.rivals(*shape).zip(rivals) {
            let row = format!("{name}, {}", rival.name);
            if let Some(run) = run {
                table.kind = Kind::Rebuilt;
                compare(&mut table, &row, rival.costs(d), *run, "");
                table.kind = Kind::Formula;
                continue;
            }
            let fewest = f64::from(2 * d);
            for (column, paper) in NAMES.into_iter().zip(rival.costs(d)) {
                if column == "startups" && paper < fewest {
                    let why = format!(
                        "below log2 of the nodes = {fewest}, the minimum for one-port schedules: the formula does not hold for d = {d}"
                    );
                    table
                        .add((&row, column), paper, format!(">= {fewest}"), Verdict::Differs)
                        .because(&why);
                } else {
                    table.add((&row, column), paper, "", Verdict::NotRebuilt);
                }
            }
        }
        let row = format!("{name}, proposed");
        compare(&mut table, &row, paper.proposed(*shape, &[*side, *side]), *run, "");
    }
    table
}

/// Checks networks for which the algorithm needs virtual nodes.
fn virtual_nodes(paper: &SuhShin, bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = paper.words.table("Virtual nodes");
    for (shape, dims) in paper.all(&paper.virtual_sizes) {
        let multiple = match shape {
            Shape::Torus => 4,
            Shape::Mesh => 2,
        };
        let filled: Vec<u64> = dims.iter().map(|d| d.next_multiple_of(multiple)).collect();
        let row = format!("{} {} as {}", shape.word(), joined(dims, " x "), joined(&filled, " x "));
        let why = "two partners in a step, or a longer hop";
        compare(
            &mut table,
            &row,
            paper.proposed(shape, &filled),
            costs(bench, "suh-shin", shape, dims)?,
            why,
        );
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_2_is_table_1_on_squares() {
        let paper = SuhShin::read().unwrap();
        // For the paper's own algorithm, the formulas of Table 1 must agree with its rows in Table
        // 2.
        for d in 2..8_u32 {
            let (side, x) = (1_u64 << d, f64::from(d));
            let [startups, blocks, hops, ..] = paper.proposed(Shape::Torus, &[side, side]);
            assert_eq!(startups, (x - 1.0).exp2() + 2.0);
            assert_eq!(blocks, (3.0 * x - 2.0).exp2() + (2.0 * x).exp2());
            assert_eq!(hops, (x + 1.0).exp2() - 2.0);
            let [_, blocks, hops, ..] = paper.proposed(Shape::Mesh, &[side, side]);
            assert_eq!(hops, (2.0 * x).exp2() - (x + 2.0).exp2() + 6.0);
            assert_eq!(blocks, (3.0 * x - 1.0).exp2());
        }
    }

    #[test]
    fn on_8_by_8_tori_all_costs_of_13_and_proposed_are_equal() {
        let paper = SuhShin::read().unwrap();
        let thirteen = paper.rivals(Shape::Torus).find(|rival| rival.name == "[13]").unwrap();
        assert_eq!(thirteen.costs(3), paper.proposed(Shape::Torus, &[8, 8]));
    }

    /// The algorithm declares the number of rearranged blocks, and no run measures it. An equal
    /// value is therefore not an agreement.
    #[test]
    fn declared_values_do_not_count_as_agreeing() {
        let mut table = Table::new("t", "", Kind::Formula);
        compare(&mut table, "r", [1.0; 5], [1.0; 5], "");
        let verdicts: Vec<Verdict> = table.cells.iter().map(|cell| cell.verdict).collect();
        assert_eq!(verdicts[3], Verdict::Declared);
        assert_eq!(verdicts.iter().filter(|verdict| **verdict == Verdict::Agrees).count(), 4);
    }

    /// If this project does not have an algorithm, the table still shows the values of the paper.
    #[test]
    fn rivals_without_a_run_keep_the_papers_values() {
        let paper = SuhShin::read().unwrap();
        let rivals = paper.rivals(Shape::Torus).map(|_| None).collect();
        let table =
            table_2(&paper, &[Square { shape: Shape::Torus, side: 8, run: [0.0; 5], rivals }]);
        assert!(
            table
                .cells
                .iter()
                .all(|cell| cell.verdict != Verdict::NotGiven && !cell.paper.is_empty())
        );
    }
}
