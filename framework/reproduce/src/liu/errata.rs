//! Where the paper's text does not hold, shown by runs.

use super::{bounds, nodes};
use crate::bench::{Bench, ReproduceError};
use crate::report::{Table, Verdict};

/// All slips that a run or a look at the formulas can show.
pub fn table(bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = Table::new("Errata", "Slips of the paper, and what verifies instead.");
    let (mut printed, mut corrected, mut incomplete) = (0, 0, 0);
    let mut steps_within = true;
    for p in 2..=130 {
        let row = |stall: &str| bench.row(&nodes(p), &format!("four-stage:stall={stall}"), "uniform:1", "free");
        let collides = |row: swapmeet_results::Record| row.max_receives.unwrap_or(0) > 1;
        let good = row("corrected")?;
        steps_within &= good.steps.unwrap_or(0) <= bounds::steps(p);
        corrected += u32::from(collides(good));
        printed += u32::from(collides(row("printed")?));
        incomplete += u32::from(!p.is_multiple_of(bounds::columns(p)));
    }
    table.add(
        ("3.2.2, revised schedule: a node stalls in step r - m + 1 + k", "P = 2 to 130 in which a node receives two messages in a step"),
        0,
        printed,
        Verdict::holds(printed == 0),
        &format!("Fig. 10 itself stalls in step r - m + k; so {corrected} P have a collision, of {incomplete} with an incomplete row"),
    );
    table.add(
        ("Theorem 2: at most 4 ceil(sqrt P) + 2 steps", "P = 2 to 130"),
        "holds",
        if steps_within { "holds" } else { "exceeded" },
        Verdict::holds(steps_within),
        "with the stall corrected",
    );
    let slip = |table: &mut Table, row: &str, paper: &str, ours: &str, why: &str| {
        table.add((row, ""), paper, ours, Verdict::Differs, why);
    };
    slip(
        &mut table,
        "introduction, Table 3: traffic of A4",
        "4 ceil(sqrt P) ceil(sqrt P) Lmax / P",
        "4 ceil(sqrt P) (ceil(sqrt P) + 1) Lmax / P",
        "as in Theorem 2; see Table 3 for runs that exceed the first",
    );
    slip(
        &mut table,
        "3.2.2 (A): complete rows when C is rounded down",
        "R - 1 = floor(sqrt P) - 2",
        "R - 1 = ceil(sqrt P) - 2",
        "the case is P = ceil(sqrt P) floor(sqrt P) - 1",
    );
    slip(
        &mut table,
        "equation (3)",
        "P Ts_send",
        "P Ts",
        "as in (1), which it should become when all messages are equal",
    );
    slip(&mut table, "C-Distribute", "count[i] for 0 <= i < R", "0 <= i < P", "i is a destination");
    slip(&mut table, "3.1.3: nodes of A3's mesh", "0 < i, j", "0 <= i, j", "");
    slip(
        &mut table,
        "3.3: buffer of A3 over that of A4 when Mmax = Lmax",
        "P",
        "sqrt(P)",
        "A3's busiest node gathers a row's messages for a column, sqrt(P) of them; P is what an allocation made in advance takes",
    );
    Ok(table)
}
