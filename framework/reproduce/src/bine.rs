//! De Sensi et al.: how many bytes the Bine algorithms send between groups of nodes.

use crate::bench::ReproduceError;
use crate::engine::Engine;
use crate::formula::Value;
use swapmeet_core::simulation::listener::{Listener, ScheduleEvent};

/// For each size of groups, the load between groups of consecutive nodes. It is the mean over all
/// positions of the boundaries between groups.
struct Crossing {
    loads: Vec<(u64, f64)>,
}

impl Listener for Crossing {
    fn notify(&mut self, event: ScheduleEvent<'_>) {
        let ScheduleEvent::Step(step) = event else { return };
        if step.number == 1 {
            self.loads.iter_mut().for_each(|(_, load)| *load = 0.0);
        }
        for transfer in step.transfers {
            let distance = u64::from(transfer.from.abs_diff(transfer.to));
            for (group, load) in &mut self.loads {
                // In `distance` of its `group` positions, a boundary separates the two nodes.
                *load += transfer.load as f64 * distance.min(*group) as f64
                    / *group as f64
                    / step.segments as f64;
            }
        }
    }
}

/// `links.crossing(algorithm, workload, groups)`: the load between groups, by size of groups.
pub(crate) fn call(
    engine: &Engine<'_>,
    name: &str,
    arguments: &[Value],
) -> Result<Value, ReproduceError> {
    let ("links.crossing", [algorithm, workload, groups]) = (name, arguments) else {
        return Err(format!("there is no `{name}`").into());
    };
    let group = |group: &Value| Ok((group.number()? as u64, 0.0));
    let loads = groups.list()?.iter().map(group).collect::<Result<_, String>>()?;
    let mut crossing = Crossing { loads };
    engine.bench().watch("ring:1024", &algorithm.text(), &workload.text(), &mut crossing)?;
    Ok(crossing.loads.into_iter().map(|(_, load)| load).collect::<Vec<_>>().into())
}
