//! What does not work, or is not so, as printed: what the print gives beside what the runs do.

use super::{Profiles, Timed, contention};
use crate::bench::{Bench, ReproduceError};
use crate::report::{Table, Verdict};

/// A slip a row.
pub fn table(bench: &Bench<'_>, cells: &[Timed], profiles: &Profiles) -> Result<Table, ReproduceError> {
    let mut table = Table::new(
        "Errata",
        "What follows from the paper as printed, beside what runs of the corrected rules give. Slips of formulas for contention are counted above, under Contention.",
    );

    // Fig. 4
    let (p, steps) = (20_u64, profiles.get(&("pex-gen-shift", "4x5")));
    let last = p.next_power_of_two() - 1;
    let printed = (1..=last).filter(|j| mutual(*j, p, fig_4_as_printed)).count();
    let paired = steps.map_or(0, |steps| steps.iter().filter(|s| !s.unpaired).count());
    table.add(
        ("Fig. 4, myvirtual taken modulo p, on 4 x 5", "steps in which all partners choose each other"),
        format!("{printed} of {last}"),
        format!("{paired} of {}", steps.map_or(0, Vec::len)),
        Verdict::holds(printed == paired),
        "no modulus is meant: Fig. 3 numbers 0..19 as 6..25. As printed, processors wait for others that don't choose them, or for themselves",
    );

    // section 3.2
    let run = bench.steps("mesh:4x4", "pex-gen")?.len();
    let claimed = 2 * 16 - 1;
    table.add(
        ("q larger than p (3.2), on 4 x 4", "steps"),
        claimed,
        run,
        Verdict::exactly(&claimed, &run),
        "q is the smallest power of two that is not below p; with twice that, nobody sends in the steps added",
    );

    // section 3.4
    for mesh in ["8x8", "16x32"] {
        let (r, c) = super::rows_and_columns(mesh);
        let printed = (1..r * c).map(|i| contention::gen_as_printed(i, c, r * c)).max().unwrap_or(0);
        let steps = profiles.get(&("gen", mesh));
        let most = steps.and_then(|steps| steps.iter().map(|s| s.max_link_messages).max()).unwrap_or(0);
        table.add(
            (&format!("f of GEN as printed (3.4), on {mesh}"), "largest"),
            printed,
            most,
            Verdict::exactly(&printed, &most),
            "row and column contention are added, though no link carries both; PEX's f is the larger of the two, so that the paper compares unlike figures",
        );
    }
    table.add(
        ("T of GEN (3.4)", "cost a byte on a shared link"),
        "beta_st",
        "beta_sat",
        Verdict::Differs,
        "a slip of the pen: no beta_st is defined",
    );

    // Table 2
    let cell = |bytes: u64| cells.iter().find(|c| (c.table, c.mesh, c.bytes) == ("Table 2", "8x8", bytes));
    if let (Some(below), Some(here), Some(above)) = (cell(256), cell(1024), cell(4096)) {
        let share = (here.bytes - below.bytes) as f64 / (above.bytes - below.bytes) as f64;
        let line = below.paper + share * (above.paper - below.paper);
        table.add(
            ("Table 2, 8 x 8, 1 KB", "seconds"),
            here.paper,
            format!("{:.4}", here.ours),
            Verdict::of(here.paper, (here.ours * 1e4).round() / 1e4),
            &format!("the line through its neighbours in the paper gives {line:.3}; kept as printed"),
        );
    }
    Ok(table)
}

/// Fig. 4, as printed: with whom `me` is to exchange in step j.
fn fig_4_as_printed(me: u64, j: u64, p: u64) -> Option<u64> {
    let q = p.next_power_of_two();
    let shift = (q - p) / 2;
    let virtual_destination = ((me + shift) % p) ^ j;
    let destination = virtual_destination.checked_sub(shift).unwrap_or_else(|| virtual_destination + q - shift);
    (destination < p).then_some(destination)
}

/// Whether all who exchange in step j are chosen by those they choose, and nobody chooses itself.
fn mutual(j: u64, p: u64, partner: fn(u64, u64, u64) -> Option<u64>) -> bool {
    (0..p).all(|me| partner(me, j, p).is_none_or(|to| to != me && partner(to, j, p) == Some(me)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_printed_fig_4_deadlocks_in_30_of_31_steps_on_20_processors() {
        assert_eq!((1..32).filter(|j| !mutual(*j, 20, fig_4_as_printed)).count(), 30);
    }

    #[test]
    fn for_a_power_of_two_fig_4_is_fig_1() {
        assert!((1..16).all(|j| mutual(j, 16, fig_4_as_printed)));
        assert_eq!(fig_4_as_printed(5, 3, 16), Some(6));
    }
}
