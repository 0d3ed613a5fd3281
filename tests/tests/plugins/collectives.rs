//! The program, the header and the SDK know the same collectives by the same numbers.

use swapmeet_core::delivery::collective::COLLECTIVES;

const HEADER: &str = include_str!("../../../framework/abi/include/swapmeet.h");
const SDK: &str = include_str!("../../../framework/sdk/src/collective.rs");

#[test]
fn every_collective_has_its_number_at_the_boundary_and_its_name_in_the_sdk() {
    for kind in COLLECTIVES {
        let constant = format!("SWM_{}", kind.word.to_uppercase().replace('-', "_"));
        let line = format!("#define {constant} {}", kind.code);
        assert!(HEADER.lines().any(|other| other == line), "no `{line}` in swapmeet.h");
        assert!(SDK.contains(&format!(" => {constant},")), "the SDK's `Collective` has no {constant}");
    }
}
