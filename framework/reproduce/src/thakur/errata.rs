//! Errors in the paper. The table compares what the paper prints with runs.

use super::pairs::Pairs;
use super::{Thakur, TimedCell, decimals, rows_and_columns};
use crate::bench::{Bench, ReproduceError};
use crate::report::{Table, Verdict};

/// Returns a table with a row for each error in the paper.
pub(super) fn table(
    thakur: &Thakur,
    bench: &Bench<'_>,
    cells: &[TimedCell<'_>],
) -> Result<Table, ReproduceError> {
    let mut table = thakur.words.table("Errata");

    // Add a row for each mesh about the error in Fig. 4: numbers are printed modulo p.
    for (_, mesh) in thakur.measured().filter(|(algorithm, _)| *algorithm == "pex-gen-shift") {
        let (r, c) = rows_and_columns(mesh);
        let p = r * c;
        let last = p.next_power_of_two() - 1;
        let printed = (1..=last).filter(|j| mutual(*j, p, fig_4_as_printed)).count();
        let self_choosing =
            (1..=last).filter(|j| (0..p).any(|me| fig_4_as_printed(me, *j, p) == Some(me))).count();
        let run = Pairs::of(bench, &format!("mesh:{mesh}"), "pex-gen-shift")?;
        let claim =
            "Fig. 4, myvirtual taken modulo p: steps in which all partners choose each other";
        let [paper, ours] = [(printed, last as usize), (run.mutual_steps(), run.steps())]
            .map(|(mutual, all)| format!("{mutual} of {all}"));
        let verdict = Verdict::exactly(&paper, &ours);
        table.add((claim, mesh), paper, ours, verdict).because(&format!(
                "no modulus is intended: Fig. 3 numbers 0..19 as 6..25. As printed, processors wait for others that do not choose them; in {self_choosing} of {last} steps some choose themselves"
            ));
    }

    // Add a row about the error in section 3.2: q is too large.
    let run = bench.run("mesh:4x4", "pex-gen", &["uniform:1"], &["free"])?.steps.len() as u64;
    let claimed = 2 * 16 - 1_u64;
    let why = "q is the smallest power of two that is at least p; with twice that, no processor sends in the additional steps";
    table.add_whole(("q larger than p (3.2), on 4 x 4", "steps"), claimed, run).because(why);

    // Add a row about the error in Table 2: one measured time does not fit its neighbours.
    let cell =
        |bytes: u64| cells.iter().find(|c| (c.table, c.mesh, c.bytes) == ("Table 2", "8x8", bytes));
    if let (Some(below), Some(here), Some(above)) = (cell(256), cell(1024), cell(4096)) {
        let share = (here.bytes - below.bytes) as f64 / (above.bytes - below.bytes) as f64;
        let line = below.paper + share * (above.paper - below.paper);
        table
            .add(
                ("Table 2, 8 x 8, 1 KB", "seconds"),
                here.paper,
                format!("{:.4}", here.ours),
                Verdict::measured(here.paper, here.ours, decimals(here.paper)),
            )
            .because(&format!(
                "the line through its neighbours in the paper gives {line:.3}; kept as printed"
            ));
    }
    Ok(table)
}

/// Returns the partner of processor `me` in step j, computed as Fig. 4 prints it.
fn fig_4_as_printed(me: u64, j: u64, p: u64) -> Option<u64> {
    let q = p.next_power_of_two();
    let shift = (q - p) / 2;
    let virtual_destination = ((me + shift) % p) ^ j;
    let destination =
        virtual_destination.checked_sub(shift).unwrap_or_else(|| virtual_destination + q - shift);
    (destination < p).then_some(destination)
}

/// Returns whether partners in step j are mutual: if x is the partner of y, then y is the partner
/// of x. No processor may be its own partner.
fn mutual(j: u64, p: u64, partner: fn(u64, u64, u64) -> Option<u64>) -> bool {
    (0..p).all(|me| partner(me, j, p).is_none_or(|to| to != me && partner(to, j, p) == Some(me)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_fig_4_deadlocks_in_30_of_31_steps_on_20_processors() {
        assert_eq!((1..32).filter(|j| !mutual(*j, 20, fig_4_as_printed)).count(), 30);
    }

    #[test]
    fn fig_4_equals_fig_1_for_a_power_of_two() {
        assert!((1..16).all(|j| mutual(j, 16, fig_4_as_printed)));
        assert_eq!(fig_4_as_printed(5, 3, 16), Some(6));
    }
}
