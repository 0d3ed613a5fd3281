//! Titles of panels, and the note on cases that have the same value of x.

use super::Panel;
use swapmeet_results::analysis::{Axis, Family};

/// Returns a note on the values of x that several cases of a curve have, if there are any.
pub(super) fn shared_x_note(families: &[Family], x: Axis) -> Option<String> {
    let mut shared: Vec<f64> =
        families.iter().flat_map(|family| family.shared_xs.iter().copied()).collect();
    shared.sort_by(f64::total_cmp);
    shared.dedup();
    let values = shared.iter().map(|value| x.text(*value)).collect::<Vec<_>>().join(", ");
    let what = format!(
        "several cases have the same {} ({values}); their points are not joined",
        x.label()
    );
    (!shared.is_empty()).then_some(what)
}

/// Sets the title of each panel to the settings in which panels differ. Returns the settings that
/// all panels have in common, and the names of the columns in which they differ.
pub(super) fn titles(panels: &mut [(&Family, Panel)]) -> (String, String) {
    type Part = fn(&Family) -> &str;
    const PARTS: [(Part, &str); 5] = [
        (|f| &f.topology, "topologies (--topology)"),
        (|f| &f.workload, "workloads (--workload)"),
        (|f| &f.machine, "machines (--machine)"),
        (|f| &f.model, "models"),
        (|f| &f.inputs, "inputs"),
    ];
    let first = panels[0].0;
    let same = |part: Part| panels.iter().all(|(family, _)| part(family) == part(first));
    // The name of a machine usually determines its cost model, so a title omits the model. A title
    // includes the model only if all panels have the same machine name but their models differ.
    let is_shown = |index: usize| index != 3 || same(PARTS[2].0) && !same(PARTS[3].0);
    let parts =
        PARTS.iter().enumerate().filter(|(index, _)| is_shown(*index)).map(|(_, part)| part);
    let (common, apart): (Vec<_>, Vec<_>) = parts.partition(|(part, _)| same(*part));
    let join = |family: &Family, parts: &[&(Part, &str)]| {
        parts
            .iter()
            .map(|(part, _)| part(family))
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join(", ")
    };
    for (family, panel) in panels.iter_mut() {
        panel.title = join(family, &apart);
    }
    (join(first, &common), apart.iter().map(|(_, words)| *words).collect::<Vec<_>>().join(" and "))
}
