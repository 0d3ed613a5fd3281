//! A test plugin with three kinds of algorithms: rules as misprinted in papers, the same rules
//! corrected, and schedules with injected faults. A misprinted rule and its correction share all
//! other code. `swapmeet check` must find each misprint, and no error in the corrected rules.

#[path = "../../../../plugins/suh-shin/src/directions.rs"]
pub mod directions;
#[path = "../../../../plugins/suh-shin/src/network.rs"]
#[expect(dead_code, reason = "a misprinted rule is planned for all nodes")]
pub mod network;

mod liu;
mod reductions;
mod suh_shin;
mod symmetric;
mod thakur;

use liu::{RowsAndColumns, Stall};
use reductions::{ReductionFault, Ring};
use suh_shin::{Misprint, SuhShin};
use symmetric::{InjectedFault, Shifts};
use thakur::Shift;

swapmeet_sdk::export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [
        SuhShin { name: "suh-shin-mended", misprint: Misprint::Nothing },
        SuhShin { name: "suh-shin-3d-phase-4", misprint: Misprint::OtherAxisIn3d },
        SuhShin { name: "suh-shin-mesh-step-2", misprint: Misprint::GroupsOfStep1 },
        SuhShin { name: "suh-shin-figure-5", misprint: Misprint::ColumnInFigure5 },
        SuhShin { name: "suh-shin-hops-ahead", misprint: Misprint::HopsInsteadOfColumns },
        Shift { name: "pex-gen-shift-mended", modulo: false },
        Shift { name: "pex-gen-shift-figure-4", modulo: true },
        RowsAndColumns { name: "stalls-mended", stall: Stall::Mended },
        RowsAndColumns { name: "stalls-printed", stall: Stall::Printed },
        Ring { name: "sums-mended", fault: ReductionFault::Nothing },
        Ring { name: "sums-counted-twice", fault: ReductionFault::CountedTwice },
        Ring { name: "sums-left-out", fault: ReductionFault::MissingStep },
        Ring { name: "sums-replaced", fault: ReductionFault::ReplacedSum },
        Shifts { name: "shifts-mended", fault: InjectedFault::Nothing },
        Shifts { name: "shifts-leaving-out", fault: InjectedFault::MissingDistance },
        Shifts { name: "shifts-sending-twice", fault: InjectedFault::DuplicateSend },
        Shifts { name: "shifts-not-held", fault: InjectedFault::BlockNotHeld },
        Shifts { name: "shifts-two-a-port", fault: InjectedFault::TwoMessagesPerPort },
        Shifts { name: "shifts-not-symmetric", fault: InjectedFault::AsymmetricRanks },
        Shifts { name: "shifts-gone-through-twice", fault: InjectedFault::RepeatedPass },
        Shifts { name: "shifts-without-rank-3", fault: InjectedFault::SilentRank },
        Shifts { name: "shifts-of-half-the-ranks", fault: InjectedFault::SilentHalf },
        Shifts { name: "shifts-alternating", fault: InjectedFault::AlternatingPlans },
        Shifts { name: "shifts-changing", fault: InjectedFault::ChangingPlans },
    ],
);
