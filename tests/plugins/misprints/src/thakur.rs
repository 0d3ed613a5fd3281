//! Thakur, Choudhary & Fox, "All-to-All Communication on Meshes with Wormhole Routing", Fig. 4: a
//! pairwise exchange for any number of processors. If it is not a power of two, some processors
//! have no partner in a step. The shift distributes the idle processors over all steps.

use swapmeet_sdk::{About, Algorithm, Blocks, Problem, Schedule, Set, Stop};

pub(crate) struct Shift {
    pub name: &'static str,
    /// Whether the rule is `mod(mynumber + shift, p)`, as printed, or `mynumber + shift`.
    pub modulo: bool,
}

impl Algorithm for Shift {
    fn about(&self) -> About {
        About {
            name: self.name,
            title: "Thakur, Choudhary & Fox, Fig. 4",
            ports: 1,
            ..About::DEFAULT
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let p = problem.topology().nodes();
        let q = p.next_power_of_two();
        let shift = (q - p) / 2;
        for j in 1..q {
            schedule.step()?;
            for me in 0..p {
                let my_virtual = if self.modulo { (me + shift) % p } else { me + shift };
                let partner = (my_virtual ^ j).checked_sub(shift).unwrap_or(q);
                if partner < p {
                    schedule.send(
                        &Blocks::new(me, partner)
                            .origins(Set::one(me))
                            .destinations(Set::one(partner))
                            .strict(),
                    )?;
                }
            }
        }
        Ok(())
    }
}
