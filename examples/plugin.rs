//! A plugin in Rust: an all-to-all with one distance per step.
//!
//! `cargo build -p swapmeet-examples --example plugin` builds
//! `target/debug/examples/libplugin.so`, and `swapmeet check` tests this file.

use swapmeet_sdk::{About, Algorithm, Blocks, Collective, Problem, Schedule, Stop};

/// Sends every block directly to its destination, one distance per step.
struct Shift;

impl Algorithm for Shift {
    fn about(&self) -> About {
        About {
            name: "example-shift",
            title: "Direct exchange, one distance per step",
            collectives: &[Collective::AllToAll],
            ..About::DEFAULT
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let nodes = problem.topology().nodes();
        for distance in 1..nodes {
            schedule.step()?;
            for node in 0..nodes {
                let to = (node + distance) % nodes;
                schedule.send(&Blocks::direct(node, to).strict())?;
            }
        }
        Ok(())
    }
}

swapmeet_sdk::export_plugin!(licence: "MIT OR Apache-2.0", algorithms: [Shift]);
