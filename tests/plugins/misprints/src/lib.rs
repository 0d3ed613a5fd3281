//! For the tests only: rules of the papers as they are printed where the print is wrong, beside the
//! same rules mended; and schedules of our own with a fault planted.
//!
//! `swapmeet check` must find each of the printed ones, and nothing wrong with the mended ones,
//! which share every line but the rule.

#[path = "../../../../plugins/suh-shin/src/directions.rs"]
mod directions;
#[path = "../../../../plugins/suh-shin/src/network.rs"]
#[expect(dead_code, reason = "a misprinted rule is planned for everyone")]
mod network;

mod liu;
mod reductions;
mod suh_shin;
mod symmetric;
mod thakur;

use liu::{RowsAndColumns, Stall};
use reductions::{Ring, Sums};
use suh_shin::{Rule, SuhShin};
use symmetric::{Shifts, Wrong};
use thakur::Shift;

swapmeet_sdk::export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [
        SuhShin { name: "suh-shin-mended", rule: Rule::Mended },
        SuhShin { name: "suh-shin-3d-phase-4", rule: Rule::TestsTheOtherOf3d },
        SuhShin { name: "suh-shin-mesh-step-2", rule: Rule::RepeatsStep1 },
        SuhShin { name: "suh-shin-figure-5", rule: Rule::TestsTheColumn },
        SuhShin { name: "suh-shin-hops-ahead", rule: Rule::CountsHops },
        Shift { name: "pex-gen-shift-mended", modulo: false },
        Shift { name: "pex-gen-shift-figure-4", modulo: true },
        RowsAndColumns { name: "stalls-mended", stall: Stall::Mended },
        RowsAndColumns { name: "stalls-printed", stall: Stall::Printed },
        Ring { name: "sums-mended", sums: Sums::Mended },
        Ring { name: "sums-counted-twice", sums: Sums::CountedTwice },
        Ring { name: "sums-left-out", sums: Sums::LeftOut },
        Ring { name: "sums-replaced", sums: Sums::Replaced },
        Shifts { name: "shifts-mended", wrong: Wrong::Nothing },
        Shifts { name: "shifts-leaving-out", wrong: Wrong::LeavesOut },
        Shifts { name: "shifts-sending-twice", wrong: Wrong::SendsTwice },
        Shifts { name: "shifts-not-held", wrong: Wrong::HasNot },
        Shifts { name: "shifts-two-a-port", wrong: Wrong::CrowdsPorts },
        Shifts { name: "shifts-not-symmetric", wrong: Wrong::IsNotSymmetric },
        Shifts { name: "shifts-gone-through-twice", wrong: Wrong::GoesThroughTwice },
    ],
);
