//! The stages of a schedule. Messages and steps are counted as in the paper: a node's message to
//! itself counts as a message. If nothing else is sent at that time, it counts as a separate step.

use crate::bench::{Bench, ReproduceError};
use swapmeet_core::delivery::payload::Proof;
use swapmeet_core::simulation::listener::{Listener, LocalCopy, ScheduleEvent};
use swapmeet_results::Record;

/// The totals of one stage of a schedule. Loads are in bytes.
#[derive(Debug, Clone, Default)]
pub(super) struct Stage {
    pub steps: u64,
    /// The sum over steps of the longest message, in bytes.
    pub critical: u64,
    /// The number of messages that each node receives.
    pub received: Vec<u64>,
    /// The length of the longest message that each node receives.
    pub longest: Vec<u64>,
    /// The number of bytes that each node sends.
    pub sent: Vec<u64>,
}

#[derive(Debug, Default)]
struct Watcher {
    nodes: usize,
    /// The number of bytes of a block. It is used for schedules that count loads in blocks.
    block_bytes: u64,
    stages: Vec<Stage>,
    phase: Option<u32>,
    /// The messages of nodes to themselves in the current step. Each is a pair of the node and the
    /// number of bytes.
    self_messages: Vec<(usize, u64)>,
}

impl Watcher {
    fn enter(&mut self, phase: u32) {
        if self.phase != Some(phase) {
            self.end_step(0);
            self.phase = Some(phase);
            let zeros = vec![0; self.nodes];
            let [received, longest, sent] = [zeros.clone(), zeros.clone(), zeros];
            self.stages.push(Stage { received, longest, sent, ..Stage::default() });
        }
    }

    fn message(&mut self, from: usize, to: usize, bytes: u64) {
        let Some(stage) = self.stages.last_mut() else { return };
        stage.received[to] += 1;
        stage.longest[to] = stage.longest[to].max(bytes);
        stage.sent[from] += bytes;
    }

    /// Ends a step. `longest` is the number of bytes of the longest message between different
    /// nodes.
    fn end_step(&mut self, longest: u64) {
        let self_messages = std::mem::take(&mut self.self_messages);
        if self_messages.is_empty() && longest == 0 {
            return;
        }
        for (node, bytes) in &self_messages {
            self.message(*node, *node, *bytes);
        }
        let Some(stage) = self.stages.last_mut() else { return };
        stage.steps += 1;
        stage.critical += self_messages.into_iter().map(|(_, bytes)| bytes).fold(longest, u64::max);
    }

    fn bytes(&self, load: u64, proof: Proof) -> u64 {
        if proof == Proof::Blocks { load * self.block_bytes } else { load }
    }
}

impl Listener for Watcher {
    fn notify(&mut self, event: ScheduleEvent<'_>) {
        match event {
            ScheduleEvent::Step(step) => {
                self.enter(step.phase_number);
                let mut longest = 0;
                for t in step.transfers {
                    let bytes = self.bytes(t.load, step.proof);
                    longest = longest.max(bytes);
                    self.message(t.from as usize, t.to as usize, bytes);
                }
                self.end_step(longest);
            }
            ScheduleEvent::LocalCopy(LocalCopy { node, load, segments, phase_number, .. }) => {
                self.enter(phase_number);
                // A load counts segments. In schedules of blocks, a block is one segment. In
                // schedules of byte counts, each byte of a block is a segment.
                let bytes = if segments == 1 { load * self.block_bytes } else { load };
                self.self_messages.push((node as usize, bytes));
            }
            _ => {}
        }
    }
}

/// Returns the stages of an algorithm on `p` nodes, and the row of the run. Each node sends `bytes`
/// bytes to each other node.
pub(super) fn uniform(
    bench: &Bench<'_>,
    algorithm: &str,
    p: u64,
    bytes: u64,
) -> Result<(Vec<Stage>, Record), ReproduceError> {
    let mut watcher = Watcher { nodes: p as usize, block_bytes: bytes, ..Watcher::default() };
    let row =
        bench.watch(&super::nodes(p), algorithm, &format!("uniform:{bytes}"), &mut watcher)?;
    watcher.end_step(0);
    Ok((watcher.stages, row))
}
