//! The revised schedule of stages I and III. This module compares Fig. 10 with a run, and counts
//! the collisions that the printed rule causes.

use super::{Liu, bounds, nodes};
use crate::bench::{Bench, ReproduceError};
use crate::report::{Table, Verdict};
use swapmeet_core::simulation::listener::{Listener, ScheduleEvent};

/// For each step of the first stage, the node to which each node of `SENDERS` sends; 0 if it does
/// not send.
#[derive(Default)]
struct Senders(Vec<[u32; 9]>);

const SENDERS: [u32; 9] = [16, 17, 18, 19, 20, 21, 22, 23, 58];

impl Listener for Senders {
    fn notify(&mut self, event: ScheduleEvent<'_>) {
        let ScheduleEvent::Step(step) = event else { return };
        if step.phase_number == 1 {
            let to = |from: u32| step.transfers.iter().find(|t| t.from == from).map_or(0, |t| t.to);
            self.0.push(SENDERS.map(to));
        }
    }
}

/// Compares Fig. 10 with a run on 61 nodes.
pub(super) fn fig_10(liu: &Liu, bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut run = Senders::default();
    bench.watch(&nodes(61), "four-stage", "uniform:1", &mut run)?;
    let mut table = liu.words.table("Fig. 10");
    let shown = |line: &[u32; 9]| {
        line.map(|to| if to == 0 { "-".to_owned() } else { to.to_string() }).join(" ")
    };
    for (i, paper) in liu.fig_10.iter().enumerate() {
        let mut paper = *paper;
        // In the run, a node's message to itself is a local copy, which is not recorded. Remove
        // such messages from the paper's steps.
        paper
            .iter_mut()
            .zip(SENDERS)
            .filter(|(to, from)| **to == *from)
            .for_each(|(to, _)| *to = 0);
        if paper == [0; 9] {
            continue;
        }
        let ours = run.0.get(i).copied().unwrap_or_default();
        table.add(
            (&format!("step {}", i + 1), ""),
            shown(&paper),
            shown(&ours),
            Verdict::exactly(&paper, &ours),
        );
    }
    Ok(table)
}

/// Counts the collisions that the printed rule causes. Checks that the corrected rule needs the
/// number of steps of Theorem 2.
pub(super) fn collisions(liu: &Liu, bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = liu.words.table("Errata");
    let (mut printed, mut corrected, mut incomplete) = (0_u64, 0_u64, 0);
    let mut steps_within = true;
    for p in 2..=130 {
        let row = |stall: &str| {
            bench.row(&nodes(p), &format!("four-stage:stall={stall}"), "uniform:1", "free")
        };
        let collides = |row: swapmeet_results::Record| row.max_receives.unwrap_or(0) > 1;
        let good = row("corrected")?;
        steps_within &= good.steps.unwrap_or(0) <= bounds::steps(p);
        corrected += u64::from(collides(good));
        printed += u64::from(collides(row("printed")?));
        incomplete += u64::from(!p.is_multiple_of(bounds::columns(p)));
    }
    let claim = "3.2.2, revised schedule: a node stalls in step r - m + 1 + k";
    let column = "P = 2 to 130 in which a node receives two messages in a step";
    let why = format!(
        "Fig. 10 itself stalls in step r - m + k; so {corrected} P have a collision, of {incomplete} with an incomplete row"
    );
    table.add_whole((claim, column), 0_u64, printed).because(&why);
    table
        .add(
            ("Theorem 2: at most 4 ceil(sqrt P) + 2 steps", "P = 2 to 130"),
            "holds",
            if steps_within { "holds" } else { "exceeded" },
            Verdict::holds(steps_within),
        )
        .because("with the stall corrected");
    Ok(table)
}
