//! R. Thakur, A. Choudhary and G. C. Fox, *Complete Exchange on a Wormhole Routed Mesh*, 1993: four
//! direct algorithms.
//!
//! PEX: (p - 1) (alpha + f m beta), where f messages of m bytes share a link, up to sqrt(p)/2 of
//! them (section 3.1). PEX-GEN and PEX-GEN-SHIFT: q - 1 and q steps of the same (3.2, 3.3). GEN: (p
//! - 1) (alpha + f m beta_sr), as a processor sends to one and receives from another (3.4).
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | p | `p` | processors |
//! | q | `q` | the smallest power of two that is not below p |
//! | i, j | `i`, `j` | step, from 1 |
//! | mynumber | `me` | a processor |
//!
//! Every processor sends one block, to its destination, in each step; none is passed on. The
//! algorithms differ only in who is whose partner in which step, and so in how messages share
//! links: the paper's point is that a little sharing costs nothing where links have bandwidth to
//! spare.

use swapmeet_sdk::{
    About, Algorithm, Blocks, Collective, Problem, Schedule, Set, Stop, Symmetry, export_plugin,
};

mod partners;

use partners::{gen_destination, pex_gen_partner, pex_gen_shift_partner, pex_partner};

const PAPER: &str =
    "R. Thakur, A. Choudhary, G. C. Fox: Complete Exchange on a Wormhole Routed Mesh (1993)";

/// A direct algorithm: a number of steps and a partner rule.
struct Direct {
    about: About,
    needs_power_of_two: bool,
    /// The last step, for p processors.
    last: fn(p: u64) -> u64,
    /// What, done to the processors' numbers, leaves the rule as it is, for p of them.
    symmetry: fn(p: u64) -> Symmetry,
    /// To whom a processor sends in a step, if to anyone: (me, step, p).
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
                "{p} nodes are no power of two, without which exclusive-or makes no pairs; pex-gen, pex-gen-shift and gen take any number"
            )));
        }
        Ok(())
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let p = problem.topology().nodes();
        let planned = schedule.symmetric(&[(self.symmetry)(p)])?;
        for step in 1..=(self.last)(p) {
            schedule.step()?;
            for me in &planned {
                let Some(to) = (self.destination)(me, step, p) else { continue };
                schedule.send(
                    &Blocks::new(me, to).origins(Set::one(me)).destinations(Set::one(to)).strict(),
                )?;
            }
        }
        Ok(())
    }
}

/// Of Figs. 2 and 4: that of Fig. 1 where no processor is missing (q = p, and nothing is added to
/// numbers), none elsewhere.
fn all_there(p: u64) -> Symmetry {
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
                title: "Pairwise exchange for power-of-two meshes (Fig. 1)",
                accepts: "any topology with a power of two of nodes",
                ..DIRECT
            },
            needs_power_of_two: true,
            last: |p| p - 1,
            // (me xor x) xor i = (me xor i) xor x
            symmetry: |_| Symmetry::xor(1),
            destination: |me, i, _| Some(pex_partner(me, i)),
        },
        Direct {
            about: About { name: "pex-gen", title: "Pairwise exchange for any mesh (Fig. 2)", ..DIRECT },
            needs_power_of_two: false,
            last: |p| p.next_power_of_two() - 1,
            symmetry: all_there,
            destination: pex_gen_partner,
        },
        Direct {
            about: About {
                name: "pex-gen-shift",
                title: "Pairwise exchange for any mesh, idle processors spread over all steps (Fig. 4)",
                ..DIRECT
            },
            needs_power_of_two: false,
            last: |p| p.next_power_of_two() - 1,
            symmetry: all_there,
            destination: pex_gen_shift_partner,
        },
        Direct {
            about: About { name: "gen", title: "General algorithm: a cyclic shift a step (Fig. 5)", ..DIRECT },
            needs_power_of_two: false,
            last: |p| p - 1,
            // (me + x) + j = (me + j) + x, modulo p
            symmetry: |_| Symmetry::shift(1),
            destination: |me, j, p| Some(gen_destination(me, j, p)),
        },
    ],
);
