//! Four direct all-to-all algorithms, from R. Thakur, A. Choudhary and G. C. Fox, *Complete
//! Exchange on a Wormhole Routed Mesh* (1993).
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | p | `p` | number of processors |
//! | q | `p.next_power_of_two()` | smallest power of two that is at least p |
//! | mynumber | `me` | number of a processor |
//! | m | | bytes of a block |
//! | f | | number of messages that share a link, up to sqrt(p)/2 |
//! | alpha, beta | | start-up of a message, time per byte |
//! | beta_sr | | time per byte of a processor that sends to one processor and receives from a different processor |
//!
//! | algorithm | section | figure | steps | time |
//! | --- | --- | --- | --- | --- |
//! | PEX (`pex`) | 3.1 | 1 | p - 1 | (p - 1) (alpha + f m beta) |
//! | PEX-GEN (`pex-gen`) | 3.2 | 2 | q - 1 | (q - 1) (alpha + f m beta) |
//! | PEX-GEN-SHIFT (`pex-gen-shift`) | 3.3 | 4 | q - 1 | (q - 1) (alpha + f m beta) |
//! | GEN (`gen`) | 3.4 | 5 | p - 1 | (p - 1) (alpha + f m beta_sr) |
//!
//! The paper's time of PEX-GEN-SHIFT has the factor q, although it has q - 1 steps. In each step,
//! every processor sends one block directly to its destination. The partners determine which
//! messages share links. The paper shows that this costs nothing on a link with spare bandwidth.

use swapmeet_sdk::{
    About, Algorithm, Blocks, Collective, Problem, Schedule, Stop, Symmetry, export_plugin,
};

pub mod partners;

use partners::{gen_destination, pex_gen_partner, pex_gen_shift_partner, pex_partner};

const PAPER: &str =
    "R. Thakur, A. Choudhary, G. C. Fox: Complete Exchange on a Wormhole Routed Mesh (1993)";

struct Direct {
    about: About,
    needs_power_of_two: bool,
    steps: fn(p: u64) -> u64,
    symmetry: fn(p: u64) -> Symmetry,
    destination: fn(me: u64, step: u64, p: u64) -> Option<u64>,
}

impl Algorithm for Direct {
    fn about(&self) -> About {
        self.about
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        let p = problem.topology().nodes();
        if self.needs_power_of_two && !p.is_power_of_two() {
            return Err(Stop::unsupported(format!(
                "{p} nodes are not a power of two; pex-gen, pex-gen-shift and gen run on any number of nodes"
            )));
        }
        Ok(())
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let p = problem.topology().nodes();
        let planned = schedule.symmetric(&[(self.symmetry)(p)])?;
        for step in 1..=(self.steps)(p) {
            schedule.step()?;
            for me in &planned {
                let Some(to) = (self.destination)(me, step, p) else { continue };
                schedule.send(&Blocks::direct(me, to))?;
            }
        }
        Ok(())
    }
}

/// If p is a power of two, the rules of PEX-GEN and PEX-GEN-SHIFT are that of Fig. 1, which is
/// symmetric under exclusive-or.
fn xor_on_powers_of_two(p: u64) -> Symmetry {
    if p.is_power_of_two() { Symmetry::xor(1) } else { Symmetry::NONE }
}

const DIRECT: About = About {
    paper: PAPER,
    accepts: "any topology, any number of nodes",
    collectives: &[Collective::AllToAll],
    ports: 1,
    ..About::DEFAULT
};

export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [
        Direct {
            about: About {
                name: "pex",
                title: "PEX: pairwise exchange by exclusive-or (Fig. 1)",
                accepts: "any topology with a power of two of nodes",
                ..DIRECT
            },
            needs_power_of_two: true,
            steps: |p| p - 1,
            // `(me xor x) xor i = (me xor i) xor x`.
            symmetry: |_| Symmetry::xor(1),
            destination: |me, i, _| Some(pex_partner(me, i)),
        },
        Direct {
            about: About { name: "pex-gen", title: "PEX-GEN: pairwise exchange for any size (Fig. 2)", ..DIRECT },
            needs_power_of_two: false,
            steps: |p| p.next_power_of_two() - 1,
            symmetry: xor_on_powers_of_two,
            destination: pex_gen_partner,
        },
        Direct {
            about: About {
                name: "pex-gen-shift",
                title: "PEX-GEN-SHIFT: PEX-GEN with shifted numbers (Fig. 4)",
                ..DIRECT
            },
            needs_power_of_two: false,
            steps: |p| p.next_power_of_two() - 1,
            symmetry: xor_on_powers_of_two,
            destination: pex_gen_shift_partner,
        },
        Direct {
            about: About { name: "gen", title: "GEN: one cyclic shift per step (Fig. 5)", ..DIRECT },
            needs_power_of_two: false,
            steps: |p| p - 1,
            // `(me + x) + j = (me + j) + x`, modulo p.
            symmetry: |_| Symmetry::shift(1),
            destination: |me, j, p| Some(gen_destination(me, j, p)),
        },
    ],
);
