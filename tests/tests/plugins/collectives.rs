//! Checks that the program, the header, the SDK and the C program that runs exported schedules all
//! have the same collectives.

use swapmeet_core::delivery::boxes::Side;
use swapmeet_core::delivery::collective::{COLLECTIVES, FinalBlocks, InitialBlocks};
use swapmeet_interchange::schedule;
use swapmeet_sdk::Collective;

const HEADER: &str = include_str!("../../../framework/abi/include/swapmeet.h");
const REPLAY: &str = include_str!("../../../framework/bridges/src/export/mpi/replay.c");

#[test]
fn every_collective_has_its_number_at_the_boundary_and_its_name_in_the_sdk() {
    for kind in COLLECTIVES {
        // `combine` has another name at the boundary, because `SWM_COMBINE` is a flag of sends.
        let word = if kind.word == "combine" { "combine-tokens" } else { kind.word };
        let constant = format!("SWM_{}", word.to_uppercase().replace('-', "_"));
        let line = format!("#define {constant} {}", kind.code);
        assert!(HEADER.lines().any(|other| other == line), "no `{line}` in swapmeet.h");
    }
    let of_sdk = Collective::ALL.map(|collective| format!("{collective:?}").to_lowercase());
    assert_eq!(of_sdk, COLLECTIVES.map(|kind| kind.word.replace('-', "")));
    assert!((0..).zip(COLLECTIVES).all(|(code, kind)| kind.code == code));
}

/// `replay.c` must know the initial and final data of each node to run a schedule.
#[test]
fn exports_support_every_collective() {
    for kind in COLLECTIVES {
        let ends = match kind.required {
            FinalBlocks::ForNode | FinalBlocks::Permuted | FinalBlocks::Received => {
                "WHERE_IT_IS_FOR"
            }
            FinalBlocks::All => "EVERYWHERE",
            FinalBlocks::AllAtRoot => "AT_ROOT",
        };
        let tells = |side| u8::from(kind.distinguishes(side));
        let [at_root, sums, tokens] =
            [kind.initial == InitialBlocks::AllAtRoot, kind.sums, kind.has_tokens].map(u8::from);
        // A sum has contributions of several nodes, so it has no single origin.
        let (origins, destinations) =
            (tells(Side::Origins) * (1 - sums), tells(Side::Destinations));
        let row = format!(
            "{{\"{}\", {at_root}, {ends}, {origins}, {destinations}, {sums}, {tokens}}}",
            kind.word
        );
        assert!(REPLAY.contains(&row), "no `{row}` in replay.c");
        assert_eq!(schedule::is_reduction(kind.word), kind.sums, "{}", kind.word);
    }
}
