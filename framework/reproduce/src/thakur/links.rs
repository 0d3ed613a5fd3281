//! The link loads of the runs, compared with the formulas of the paper. f(i) is the maximum number
//! of messages on a directed link in step i.

use super::{Profiles, Thakur, contention, rows_and_columns, steps_of};
use crate::report::{Table, Verdict};
use swapmeet_core::simulation::step::StepFacts;

/// A formula for f(i), as a function of the step i.
type Formula = Box<dyn Fn(u64) -> u64>;

struct Formulas {
    printed: Formula,
    corrected: Formula,
    /// A text that states what is wrong with the printed formula.
    why: &'static str,
}

fn formulas(algorithm: &str, c: u64, p: u64) -> Option<Formulas> {
    match algorithm {
        "pex" => Some(Formulas {
            printed: Box::new(move |i| contention::pex_as_printed(i, c)),
            corrected: Box::new(move |i| contention::pex_exact(i, c)),
            why: "the logarithm must be rounded down; rounding up contradicts the limit max(r, c) / 2 in the same section",
        }),
        "gen" => Some(Formulas {
            printed: Box::new(move |i| contention::gen_as_printed(i, c, p)),
            corrected: Box::new(move |i| contention::gen_exact(i, c, p)),
            why: "row and column contention are added, though no link carries both",
        }),
        _ => None,
    }
}

fn f(steps: &[StepFacts]) -> impl Iterator<Item = u64> {
    steps.iter().map(|s| s.max_link_messages)
}

/// Compares the link loads of each step with the formulas for f(i), and with values that follow
/// from these formulas.
pub(super) fn table(thakur: &Thakur, profiles: &Profiles) -> Table {
    let mut table = thakur.words.table("Contention");
    for (algorithm, mesh) in thakur.measured() {
        add(&mut table, algorithm, mesh, steps_of(profiles, algorithm, mesh));
    }
    table
}

fn add(table: &mut Table, algorithm: &str, mesh: &str, steps: &[StepFacts]) {
    let (r, c) = rows_and_columns(mesh);
    let (name, of, sum) = (format!("{algorithm} {mesh}"), steps.len(), f(steps).sum::<u64>());
    let most = f(steps).max().unwrap_or(0);
    // Compare f in each step with the printed and with the corrected formula.
    let formulas = formulas(algorithm, c, r * c);
    if let Some(Formulas { printed, corrected, why }) = &formulas {
        let count = |holds: &dyn Fn(u64, u64) -> bool| {
            (1..).zip(f(steps)).filter(|(i, carried)| holds(*i, *carried)).count()
        };
        let agrees = count(&|i, carried| printed(i) == carried);
        let (high, low) =
            (count(&|i, carried| printed(i) > carried), count(&|i, carried| printed(i) < carried));
        let why = if agrees == of {
            String::new()
        } else {
            format!("too high in {high} steps, too low in {low}: {why}")
        };
        table
            .add(
                (&name, "steps in which f is as printed"),
                of,
                agrees,
                Verdict::whole(of as u64, agrees as u64),
            )
            .because(&why);
        let right = count(&|i, carried| corrected(i) == carried);
        table.add_ours((&name, "steps in which f is as corrected"), right);
        let adds_up: u64 = (1..).take(of).map(printed).sum();
        table.add_whole((&name, "sum of f"), adds_up, sum);
    } else {
        table.add_ours((&name, "sum of f"), sum);
    }
    // Compute a lower bound on the sum of f over all steps. Cut the mesh into halves. The number of
    // messages that must cross the cut, divided by the number of links that cross it, is a lower
    // bound. There are two ways to cut the mesh; use the larger bound.
    let least = (r * (c / 2) * c.div_ceil(2)).max(c * (r / 2) * r.div_ceil(2));
    table.add_ours((&name, "least possible sum of f"), least);
    // For GEN, the paper has a formula for the maximum of f over all steps. For PEX, it has an
    // upper bound on this maximum.
    if let ("gen", Some(Formulas { printed, .. })) = (algorithm, &formulas) {
        let claimed = (1..).take(of).map(printed).max().unwrap_or(0);
        table.add_whole((&name, "largest f"), claimed, most);
    } else {
        let limit = r.max(c) as f64 / 2.0;
        let verdict = Verdict::at_most(limit, most as f64);
        let why = match verdict {
            Verdict::BeyondBound => {
                "the limit max(r, c) / 2 does not hold if a side is not a power of two"
            }
            _ => "",
        };
        table.add((&name, "largest f"), format!("<= {limit}"), most, verdict).because(why);
    }
}
