//! Spencer's thesis: Tables 3.1, 3.2 and 4.4 and the numbered formulas. They are compared with runs
//! of verified schedules on several tori.
//!
//! The thesis omits floors and ceilings. Thus a run can only equal a formula if the logarithm in
//! the formula is an integer. Otherwise, the run is also compared with the formula after its
//! logarithm has been rounded up. Propagation is measured in blocks. The propagation of a circuit
//! is its number of blocks times the number of circuits on its most loaded link. The propagation of
//! a round is the largest propagation of its circuits.

use crate::bench::{Bench, ReproduceError};
use crate::data::read;
use crate::formula::{as_printed, up};
use crate::report::{Table, Verdict, number, same};
use rows::{Costs, Row, TERMS, Thesis, Torus};

mod rows;

/// Returns all tables of the thesis that can be reproduced.
pub(crate) fn tables(bench: &Bench<'_>) -> Result<Vec<Table>, ReproduceError> {
    let thesis = thesis()?;
    Ok(vec![
        table_3_1(&thesis, bench)?,
        table_3_2(&thesis, bench)?,
        virtual_cycles(&thesis, bench)?,
        formulas(&thesis, bench, "Table 4.4", &thesis.table_4_4)?,
        formulas(&thesis, bench, "Formulas of chapter 4", &thesis.other)?,
        formulas(&thesis, bench, "Permutations with one port", &thesis.one_port)?,
        appendix(&thesis, bench)?,
        thesis.words.errata(None),
        thesis.words.left_out(),
    ])
}

fn thesis() -> Result<Thesis, ReproduceError> {
    read("spencer", include_str!("../papers/spencer.toml"))
}

/// A lower bound on the three costs of a schedule: the printed bound and a valid bound.
struct Bound {
    /// The bound as printed in the thesis.
    printed: Costs,
    /// A valid bound. It may be lower or higher than the printed bound.
    sound: Costs,
    /// The reason why the printed bound can be too high.
    why: &'static str,
}

impl Bound {
    /// Returns the bound of Table 3.1 for a collective, with two corrections. If n is odd, the
    /// printed bounds are too high, because half of a cycle then has only (n-1)/2 links, where n is
    /// the number of nodes of the cycle. For a multi-scatter with all ports, the capacity of the
    /// links gives a bound on propagation that is twice the printed bound.
    fn of_dissemination(thesis: &Thesis, row: &Row, torus: Torus) -> Option<Self> {
        let printed = thesis.costs(row.bound.as_ref()?, torus, as_printed);
        let links = row
            .links
            .as_ref()
            .map_or(printed[2], |formula| thesis.value(formula, torus, as_printed));
        let half = (torus.n / 2) as f64;
        let sound = [up(printed[0]), f64::from(torus.d) * half, links];
        Some(Self { printed, sound, why: "half of a cycle of an odd number of nodes is (n-1)/2" })
    }

    /// Returns the bound of section 4.6. It is valid for permutations in which one circuit crosses
    /// half of the torus.
    fn of_permutation(
        thesis: &Thesis,
        bench: &Bench<'_>,
        row: &Row,
        torus: Torus,
    ) -> Result<Option<Self>, ReproduceError> {
        if !row.farthest {
            return Ok(None);
        }
        let farthest = torus.farthest(bench, (&row.algorithm, &thesis.workload(row, torus)))?;
        let n = torus.n as f64;
        let printed = [1.0, f64::from(torus.d) * n / 2.0, n / 4.0];
        let sound = [printed[0], farthest.min(printed[1]), printed[2]];
        let why =
            "along an axis, a node x and its mirror image -1 - x are an odd number of links apart";
        Ok(Some(Self { printed, sound, why }))
    }

    /// Describes the bound on the term with index `i` of [`TERMS`].
    fn note(&self, i: usize) -> String {
        let (printed, sound) = (number(self.printed[i]), number(self.sound[i]));
        match self.sound[i] < self.printed[i] - 1e-6 {
            true => format!(
                "lower bound {printed} as printed, which is too high: {}; {sound} here",
                self.why
            ),
            false => format!("lower bound {printed}"),
        }
    }
}

/// Compares the formula of a row with a run. Each term has its own line.
fn compare(
    table: &mut Table,
    thesis: &Thesis,
    row: &Row,
    torus: Torus,
    ours: Costs,
    why: &[String],
    bound: Option<&Bound>,
) {
    let name = format!("{}, {}", row.name, torus.name());
    let [printed, rounded] = [as_printed, up].map(|round| thesis.costs(&row.costs, torus, round));
    for (i, term) in TERMS.into_iter().enumerate() {
        let (paper, ours, rounded) = (printed[i], ours[i], rounded[i]);
        let mut notes = Vec::new();
        if !same(paper, ours) && same(rounded, ours) {
            notes.push("equals the formula with its logarithm rounded up".to_owned());
        } else if !same(paper, ours) {
            if !same(rounded, paper) {
                notes.push(format!("{} with the logarithm rounded up", number(rounded)));
            }
            notes.extend(thesis.why(why, term).map(str::to_owned));
        }
        notes.extend(bound.map(|bound| bound.note(i)));
        table
            .add((&name, term), number(paper), number(ours), Verdict::computed(paper, ours))
            .because(&notes.join("; "));
    }
}

/// Compares the bounds of Table 3.1 with the costs of the verified schedules.
fn table_3_1(thesis: &Thesis, bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = thesis.words.table("Table 3.1");
    for row in &thesis.dissemination {
        for torus in thesis.tori(row) {
            let Some(bound) = Bound::of_dissemination(thesis, row, *torus) else { continue };
            let ours = torus.run(bench, (&row.algorithm, &row.workload), &row.ports, torus.q)?;
            let name = format!("{}, {}", row.name, torus.name());
            for (i, term) in TERMS.into_iter().enumerate() {
                let (paper, ours, sound) = (bound.printed[i], ours[i], bound.sound[i]);
                let verdict = Verdict::at_least(paper, ours);
                let mut why = match verdict {
                    Verdict::BeyondBound => {
                        "the printed bound takes half of a cycle of an odd number of nodes as n/2"
                            .to_owned()
                    }
                    _ => format!("{} times the bound", number(ours / paper)),
                };
                if !same(sound, paper) && term == "propagation" {
                    why = format!("{why}; the capacity of links gives {}", number(sound));
                }
                table.add((&name, term), number(paper), number(ours), verdict).because(&why);
            }
        }
    }
    Ok(table)
}

fn table_3_2(thesis: &Thesis, bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = thesis.words.table("Table 3.2");
    for row in &thesis.dissemination {
        for torus in thesis.tori(row) {
            let ours = torus.run(bench, (&row.algorithm, &row.workload), &row.ports, torus.q)?;
            // Use the valid bound, because Table 3.1 already shows the printed bound.
            let bound = Bound::of_dissemination(thesis, row, *torus)
                .map(|bound| Bound { printed: bound.sound, ..bound });
            compare(&mut table, thesis, row, *torus, ours, &row.why, bound.as_ref());
        }
    }
    Ok(table)
}

/// Compares Table 3.2 with runs. The runs use the number of virtual cycles that the thesis states.
fn virtual_cycles(thesis: &Thesis, bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = thesis.words.table("Table 3.2, k = 2q");
    for row in &thesis.dissemination {
        let Some(cycles) = &row.cycles else { continue };
        for torus in thesis.tori(row) {
            let [k, channels] = [&cycles.k, &cycles.channels]
                .map(|formula| thesis.value(formula, *torus, as_printed));
            let separator = if row.algorithm.contains(':') { ',' } else { ':' };
            let algorithm = format!("{}{separator}cycles={k}", row.algorithm);
            let ours =
                torus.run(bench, (&algorithm, &row.workload), &row.ports, channels as u64)?;
            compare(&mut table, thesis, row, *torus, ours, &cycles.why, None);
        }
    }
    Ok(table)
}

/// Compares the formulas of permutations with runs.
fn formulas(
    thesis: &Thesis,
    bench: &Bench<'_>,
    id: &str,
    rows: &[Row],
) -> Result<Table, ReproduceError> {
    let mut table = thesis.words.table(id);
    for (row, torus) in
        rows.iter().flat_map(|row| thesis.tori(row).iter().map(move |torus| (row, *torus)))
    {
        if let Some(why) = &row.not_rebuilt {
            let name = format!("{}, {}", row.name, torus.name());
            for (term, paper) in TERMS.into_iter().zip(thesis.costs(&row.costs, torus, as_printed))
            {
                table.add((&name, term), number(paper), "", Verdict::NotRebuilt).because(why);
            }
            continue;
        }
        let ours = torus.run(
            bench,
            (&row.algorithm, &thesis.workload(row, torus)),
            &row.ports,
            torus.q,
        )?;
        let bound = Bound::of_permutation(thesis, bench, row, torus)?;
        compare(&mut table, thesis, row, torus, ours, &row.why, bound.as_ref());
    }
    Ok(table)
}

/// Compares the formulas of Appendix A with runs. The appendix contains the one-dimensional
/// transposition with combined phases, and the two-dimensional transposition, which consists of n
/// one-dimensional transpositions.
fn appendix(thesis: &Thesis, bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = formulas(thesis, bench, "Appendix A", &thesis.appendix)?;
    let Some(combined) = thesis.appendix.first() else { return Ok(table) };
    for torus in &thesis.closed.at {
        let ours = torus.run(
            bench,
            (&combined.algorithm, &combined.workload),
            &combined.ports,
            torus.q,
        )?[1];
        let [printed, sums_to] = [&thesis.closed.printed, &thesis.closed.sums_to]
            .map(|formula| thesis.value(formula, *torus, as_printed));
        let why = format!(
            "contradicts (A.3), which sums to {} = {}",
            thesis.closed.sums_to.text(),
            number(sums_to)
        );
        let name = format!("(A.4), {}", torus.name());
        table
            .add((&name, TERMS[1]), number(printed), number(ours), Verdict::computed(printed, ours))
            .because(&why);
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Kind;

    #[test]
    fn the_data_of_the_thesis_is_complete() {
        assert_eq!(thesis().unwrap().mistakes(), [""; 0]);
    }

    #[test]
    fn terms_that_differ_have_a_reason() {
        let mut thesis = thesis().unwrap();
        let mut row = thesis.dissemination.remove(0);
        row.costs = ["log(2, n)", "10", "8"].map(|text| text.to_owned().try_into().unwrap());
        let mut table = Table::new("t", "", Kind::Formula);
        let bound = Bound { printed: [1.0, 10.5, 4.0], sound: [1.0, 10.0, 4.0], why: "odd" };
        let torus = Torus { d: 1, n: 3, q: 1 };
        let why = thesis.why(&row.why, "propagation").collect::<String>();
        compare(&mut table, &thesis, &row, torus, [2.0, 10.0, 8.4], &row.why, Some(&bound));
        let cells: Vec<_> = table
            .cells
            .iter()
            .map(|c| (&c.paper[..], &c.ours[..], c.verdict, &c.why[..]))
            .collect();
        let rounded = "equals the formula with its logarithm rounded up; lower bound 1";
        assert!(matches!(cells[0], ("1.58", "2", Verdict::Off(_), why) if why == rounded));
        let bound = "lower bound 10.5 as printed, which is too high: odd; 10 here";
        assert_eq!(cells[1], ("10", "10", Verdict::Agrees, bound));
        let because = format!("{why}; lower bound 4");
        assert!(matches!(cells[2], ("8", "8.4", Verdict::Off(_), why) if why == because));
    }
}
