//! Checks a claimed symmetry. If a plugin claims a symmetry, it plans only representatives (one
//! node of each orbit; an orbit is the set of nodes to which the symmetries map a node). The host
//! derives the sends of all other nodes. In this module, the plugin also plans other nodes, and the
//! sends that it plans must equal the derived ones.

use super::{Host, Outcome, PlanCall, PlanInputs, Requested};
use crate::plugin::Algorithm;
use swapmeet_core::delivery::fault::Fault;
use swapmeet_core::network::topology::SplitMix64;
use swapmeet_core::simulation::recording::{Recorded, Recording, RecordingTask};
use swapmeet_core::simulation::{Simulation, Task};

/// The smallest number of images that are compared, if not all nodes are compared. An image is the
/// set of nodes to which one element of the symmetry group maps the representatives.
const FEWEST_IMAGES: u64 = 3;
const MOST_IMAGES: u64 = 16;
/// The approximate limit of the number of sends in all compared images. It makes the comparison
/// take less time than the case. [`FEWEST_IMAGES`] images are compared even if they exceed it.
const SENDS_OF_IMAGES: u64 = 1 << 16;

/// Compares the symmetry that a schedule claims with the plugin's own plans. All nodes are
/// compared, or only some if the full plan has more than `most` sends. Returns the number of
/// compared nodes. The error is the outcome of the case if the claim is wrong or unused, or if a
/// plan fails.
pub fn compare_symmetry(
    algorithm: &Algorithm,
    params: &[(String, String)],
    task: &Task,
    inputs: PlanInputs,
    most: u64,
) -> Result<u64, Outcome> {
    let call = PlanCall { algorithm, params, task, inputs, limit: None };
    call.compare_symmetry(most, &mut Requested::default())
}

impl PlanCall<'_> {
    /// Compares the derived sends with the plugin's own plans, without verifying delivery. Returns
    /// the number of compared nodes. It is 0 if the full plan has more than `most` sends and the
    /// plugin can plan only the representatives. Errors with [`Fault::WrongSymmetry`] if the claim
    /// is wrong, and with the outcome of a plan that failed.
    pub(super) fn compare_symmetry(
        self,
        most: u64,
        requested: &mut Requested,
    ) -> Result<u64, Outcome> {
        let everyone = self.task.topology.nodes();
        let representatives = self.record(Recorded::Image(0), None, requested)?;
        let order = representatives.group().order();
        let sends = representatives.sends();
        // Case 1: the full plan is small enough.
        if sends.saturating_mul(order) <= most {
            self.compare(&representatives, Recorded::AllNodes, requested)?;
            return Ok(everyone);
        }
        // Case 2: the plugin can plan only the representatives.
        if !representatives.can_start_anywhere() {
            return Ok(0);
        }
        // Case 3: the plugin can plan any image of the representatives. Compare some images.
        let affordable = SENDS_OF_IMAGES / sends.max(1);
        let images = random_numbers(order, affordable.clamp(FEWEST_IMAGES, MOST_IMAGES));
        for image in &images {
            self.compare(&representatives, Recorded::Image(*image), requested)?;
        }
        Ok(representatives.nodes() * (1 + images.len() as u64))
    }

    fn compare(
        self,
        representatives: &Recording,
        nodes: Recorded,
        requested: &mut Requested,
    ) -> Result<(), Outcome> {
        let wrong = |what| Outcome::Invalid(Fault::WrongSymmetry(what));
        let others = self.record(nodes, None, requested).map_err(|outcome| match outcome {
            Outcome::Invalid(fault) => wrong(format!("if other nodes are planned, {fault}")),
            Outcome::Unsupported(reason) | Outcome::Failed(reason) => Outcome::Failed(format!(
                "the plan of other nodes, to compare the claimed symmetry, failed: {reason}"
            )),
            ended => ended,
        })?;
        if !representatives.has_layout_of(&others) {
            return Err(wrong(
                "if other nodes are planned, the grid or the group differs".to_owned(),
            ));
        }
        let Some(step) = representatives.first_different_step(&others) else { return Ok(()) };
        // The recordings contain only hashes of steps, so both plans are repeated to find the send.
        let expected = self.record(Recorded::Image(0), Some(step), requested)?;
        let others = self.record(nodes, Some(step), requested)?;
        // The plugin may plan other sends when it is called again.
        let is_repeated =
            expected.has_layout_of(&others) && expected.first_different_step(&others) == Some(step);
        if !is_repeated {
            let what = format!("step {step}: repeated calls of the plugin give different plans");
            return Err(wrong(what));
        }
        Err(wrong(expected.describe_difference(&others)))
    }

    /// Lets the plugin plan these nodes. Records hashes of all steps, and the single sends of
    /// `kept_step`.
    fn record(
        self,
        nodes: Recorded,
        kept_step: Option<u64>,
        requested: &mut Requested,
    ) -> Result<Recording, Outcome> {
        let mut host = Host::new(self.task, self.inputs, self.limit.cloned());
        let what = RecordingTask { nodes, kept_step };
        let simulation = self.drive(&mut host, || Simulation::recording(self.task.clone(), what));
        requested.add(host.requested);
        simulation?.finish_recording().map_err(Outcome::of)
    }
}

/// Returns `count` different numbers from 1 to `below - 1`, or all of them if there are not more.
/// The numbers are the same in each run.
fn random_numbers(below: u64, count: u64) -> Vec<u64> {
    if below <= count + 1 {
        return (1..below).collect();
    }
    let (mut draw, mut numbers) = (SplitMix64::new(0), Vec::new());
    while (numbers.len() as u64) < count {
        let number = 1 + draw.bits() % (below - 1);
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::random_numbers;

    #[test]
    fn random_numbers_differ_and_are_never_0() {
        assert_eq!(random_numbers(4, 3), [1, 2, 3]);
        for below in [5, 20, 1 << 40] {
            let mut numbers = random_numbers(below, 3);
            assert_eq!(numbers, random_numbers(below, 3));
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), 3);
            assert!(numbers.iter().all(|number| (1..below).contains(number)));
        }
    }
}
