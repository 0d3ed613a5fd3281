//! The note on cases that have the same value of x.

use swapmeet_results::analysis::{Axis, Family};
use swapmeet_results::stats::distinct;

pub(super) fn shared_x_note(families: &[Family], x: Axis) -> Option<String> {
    let shared = distinct(families.iter().flat_map(|family| family.shared_xs.iter().copied()));
    let values = shared.iter().map(|value| x.text(*value)).collect::<Vec<_>>().join(", ");
    let what = format!(
        "several cases have the same {} ({values}); their points are not joined",
        x.label()
    );
    (!shared.is_empty()).then_some(what)
}
