//! The claims of the paper. They are checked with the times in the paper's tables and with the
//! times of our runs.

use super::{Profiles, Thakur, TimeOf, TimedCell, rows_and_columns, steps_of};
use crate::report::{Kind, Table, Verdict};
use serde::Deserialize;

/// A claim that compares the times of two algorithms or two meshes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Claim {
    text: String,
    first: String,
    second: String,
    /// The meshes for which the paper makes the claim; empty for all meshes.
    #[serde(default)]
    meshes: Vec<String>,
    /// The mesh of the second algorithm; `None` if both algorithms run on the same mesh.
    second_on: Option<String>,
    /// The message sizes for which the paper makes the claim; empty for all sizes.
    #[serde(default)]
    sizes: Vec<u64>,
    by: Relation,
    /// Whether the paper makes the claim only for most cases.
    #[serde(default)]
    mostly: bool,
}

/// How the first time relates to the second time.
#[derive(Debug, Deserialize)]
enum Relation {
    #[serde(rename = "less")]
    Less,
    #[serde(rename = "at most")]
    AtMost,
    #[serde(rename = "more")]
    More,
    #[serde(rename = "times")]
    Times(f64, f64),
}

impl Claim {
    /// Returns the pairs of cells whose times the claim compares.
    fn pairs<'a>(&self, cells: &'a [TimedCell<'a>]) -> Vec<(&'a TimedCell<'a>, &'a TimedCell<'a>)> {
        let wanted = |cell: &&TimedCell<'_>| {
            cell.algorithm == self.first
                && (self.meshes.is_empty() || self.meshes.iter().any(|mesh| mesh == cell.mesh))
                && (self.sizes.is_empty() || self.sizes.contains(&cell.bytes))
        };
        let other = |cell: &TimedCell<'_>| {
            let mesh = self.second_on.as_deref().unwrap_or(cell.mesh);
            cells
                .iter()
                .find(|c| (c.algorithm, c.mesh, c.bytes) == (&self.second, mesh, cell.bytes))
        };
        cells.iter().filter(wanted).filter_map(|cell| Some((cell, other(cell)?))).collect()
    }

    fn holds(&self, first: f64, second: f64) -> bool {
        match self.by {
            Relation::Less => first < second,
            Relation::AtMost => first <= second,
            Relation::More => first > second,
            Relation::Times(least, most) => (least..=most).contains(&(first / second)),
        }
    }

    /// Returns whether the claim is about GEN. The result of such a claim depends on the time per
    /// byte and on the formula for contention.
    fn about_gen(&self) -> bool {
        [&self.first, &self.second].iter().any(|algorithm| *algorithm == "gen")
    }
}

/// For each claim, counts the cases in which it is true in the paper's tables and in our runs.
pub(super) fn table(thakur: &Thakur, cells: &[TimedCell<'_>], profiles: &Profiles) -> Table {
    let mut table = thakur.words.table("Findings");
    for claim in &thakur.claim {
        let pairs = claim.pairs(cells);
        let of = pairs.len();
        let count =
            |time: TimeOf| pairs.iter().filter(|(a, b)| claim.holds(time(a), time(b))).count();
        let borne_out = |count: usize| if claim.mostly { 2 * count > of } else { count == of };
        let paper = count(|c| c.paper);
        let mut runs: Vec<(&str, usize)> = vec![("on `delta`", count(|c| c.ours))];
        if claim.about_gen() {
            runs.push(("at equal cost per byte", count(|c| c.equal_cost_seconds)));
            runs.push(("and f as printed", count(|c| c.printed)));
        }
        for (column, ours) in runs {
            let why = match (borne_out(paper), borne_out(ours)) {
                (true, true) => "",
                (true, false) => "the paper's tables confirm it, the model does not in every cell",
                (false, true) => {
                    "the model confirms it, the paper's own tables do not in every cell"
                }
                (false, false) => {
                    "neither the paper's own tables nor the model confirm it in every cell"
                }
            };
            let share = |n: usize| format!("{n} of {of}");
            // On `delta`, the time of a byte in unpaired steps was fitted to the paper's tables of
            // GEN. Claims about GEN are therefore not independent of this fit.
            let is_fitted = claim.about_gen() && column == "on `delta`";
            table.kind = if is_fitted { Kind::Fitted } else { Kind::Independent };
            table
                .add(
                    (&claim.text, column),
                    share(paper),
                    share(ours),
                    Verdict::holds(borne_out(ours)),
                )
                .because(why);
        }
    }
    table.kind = Kind::Fitted;
    growth(&mut table, cells);
    table.kind = Kind::Formula;
    bounded_by_pex(&mut table, thakur, profiles);
    table
}

/// Checks the claim "The time taken increases almost linearly with the number of processors", for
/// 16 to 512 processors.
fn growth(table: &mut Table, cells: &[TimedCell<'_>]) {
    for bytes in [256, 16384] {
        let time = |mesh: &str, time: TimeOf| {
            cells
                .iter()
                .find(|c| (c.table, c.mesh, c.bytes) == ("Table 2", mesh, bytes))
                .map_or(f64::NAN, time)
        };
        let ratio = |of: TimeOf| time("16x32", of) / time("4x4", of);
        // The word "almost" is not defined in the paper. Here it means that the growth is within 25
        // % of linear growth.
        let linear = |x: f64| (x / 32.0 - 1.0).abs() <= 0.25;
        let (paper, ours) = (ratio(|c| c.paper), ratio(|c| c.ours));
        let holds = linear(paper) && linear(ours);
        let claim = format!(
            "PEX's time grows almost linearly with processors, x 32 from 4 x 4 to 16 x 32 (section 4), {bytes} B"
        );
        let why = match holds {
            true => "",
            false => "it grows faster, because more messages share a link on larger meshes",
        };
        let [paper, ours] = [paper, ours].map(|ratio| format!("x {ratio:.0}"));
        table.add((&claim, ""), paper, ours, Verdict::holds(holds)).because(why);
    }
}

/// Returns the mesh after its sides have been rounded up to powers of two. PEX runs only on such a
/// mesh, and PEX-GEN emulates it.
pub(super) fn power_of_two_mesh(mesh: &str) -> String {
    let (r, c) = rows_and_columns(mesh);
    format!("{}x{}", r.next_power_of_two(), c.next_power_of_two())
}

/// Checks the claim "The maximum contention of PEX-GEN is upper bounded by that in PEX". For the
/// comparison, PEX runs on a mesh whose sides have been rounded up to powers of two.
fn bounded_by_pex(table: &mut Table, thakur: &Thakur, profiles: &Profiles) {
    let most = |algorithm: &str, mesh: &str| {
        steps_of(profiles, algorithm, mesh).iter().map(|s| s.max_link_messages).max()
    };
    for (algorithm, mesh) in
        thakur.measured().filter(|(algorithm, _)| ["pex-gen", "pex-gen-shift"].contains(algorithm))
    {
        let power = power_of_two_mesh(mesh);
        let (Some(ours), Some(pex)) = (most(algorithm, mesh), most("pex", &power)) else {
            continue;
        };
        let why = match (ours > pex, mesh) {
            (false, _) => "",
            (true, "16x30") => "section 4 says the opposite of 3.2, and is right",
            (true, _) => {
                "if c is not a power of two, exclusive-or does not act on row and column separately"
            }
        };
        table.add((
                &format!(
                    "{algorithm}'s contention on {mesh} is bounded by PEX's on {power} (3.2, 3.3)"
                ),
                "",
            ), format!("<= {pex}"), ours, Verdict::at_most(pex as f64, ours as f64)).because(why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns cells in which our times equal those of the paper. Only `equal_cost_seconds` has a
    /// different value, which `time` returns.
    fn cells<'a>(thakur: &'a Thakur, time: TimeOf) -> Vec<TimedCell<'a>> {
        let mut cells = Vec::new();
        for measured in &thakur.table {
            for mesh in &measured.meshes {
                for (bytes, paper) in thakur.sizes.iter().zip(&mesh.seconds) {
                    let (bytes, paper) = (*bytes, *paper);
                    let (table, algorithm, mesh) =
                        (&*measured.id, &*measured.algorithm, &*mesh.mesh);
                    let mut cell = TimedCell {
                        table,
                        algorithm,
                        mesh,
                        bytes,
                        paper,
                        ours: paper,
                        equal_cost_seconds: paper,
                        printed: paper,
                    };
                    cell.equal_cost_seconds = time(&cell);
                    cells.push(cell);
                }
            }
        }
        cells
    }

    fn counted(time: TimeOf, column: &str) -> Vec<(String, String, Verdict)> {
        let thakur = Thakur::read().unwrap();
        let table = table(&thakur, &cells(&thakur, time), &Profiles::new());
        let cells = table.cells.into_iter().filter(|c| c.column == column);
        cells.map(|c| (c.paper, c.ours, c.verdict)).collect()
    }

    #[test]
    fn the_papers_tables_confirm_most_claims() {
        let counts: Vec<String> =
            counted(|c| c.paper, "on `delta`").into_iter().map(|(paper, ..)| paper).collect();
        let of_gen_and_pex = ["12 of 12", "2 of 2", "0 of 2", "3 of 5"];
        let of_shift_and_pex_gen = ["25 of 25", "16 of 25", "5 of 5", "5 of 5", "5 of 5"];
        let of_gen_and_the_others = ["8 of 8", "10 of 10", "2 of 10"];
        assert_eq!(
            counts,
            [&of_gen_and_pex[..], &of_shift_and_pex_gen[..], &of_gen_and_the_others[..]].concat()
        );
    }

    #[test]
    fn claims_are_counted_in_our_runs() {
        let gen_is_free: TimeOf = |c| if c.algorithm == "gen" { 0.0 } else { c.paper };
        let ours: Vec<String> = counted(gen_is_free, "at equal cost per byte")
            .into_iter()
            .map(|(_, ours, _)| ours)
            .collect();
        // Each claim about GEN has one entry, in the order of the claims in `thakur.toml`. Four
        // claims compare GEN with PEX, two compare it with PEX-GEN-SHIFT, and one compares it with
        // PEX-GEN.
        assert_eq!(
            ours,
            ["0 of 12", "2 of 2", "2 of 2", "5 of 5", "0 of 8", "10 of 10", "0 of 10"]
        );
    }

    #[test]
    fn an_unconfirmed_claim_does_not_hold() {
        let (paper, ours, verdict) = counted(|c| c.paper, "on `delta`").swap_remove(2);
        assert_eq!((paper.as_str(), ours.as_str(), verdict), ("0 of 2", "0 of 2", Verdict::Fails));
    }

    #[test]
    fn pex_gen_emulates_the_mesh_of_the_next_powers_of_two() {
        assert_eq!(["4x5", "16x9", "16x32"].map(power_of_two_mesh), ["4x8", "16x16", "16x32"]);
    }
}
