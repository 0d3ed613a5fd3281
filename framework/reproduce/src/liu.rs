//! Liu, Wang & Prasanna: the stages of a schedule. As in the paper, a node's message to itself
//! counts as a message. If nothing else is sent at that time, it counts as a step of its own.

use crate::bench::ReproduceError;
use crate::engine::Engine;
use crate::formula::Value;
use std::collections::BTreeMap;
use swapmeet_core::delivery::traced::Proof;
use swapmeet_core::simulation::listener::{Listener, LocalCopy, ScheduleEvent};

/// Formulas can call these calculations:
/// - `stages.of(algorithm, p)`: the stages on p nodes, if each node sends p bytes to each other
///   node. A stage is a map with the fields of [`Stage`].
/// - `stages.receivers(p, senders, i)`: for each sender, its receiver in step i (from 0) of the
///   first stage of `four-stage`. If a node does not send, this is 0.
pub(crate) fn call(
    engine: &Engine<'_>,
    name: &str,
    arguments: &[Value],
) -> Result<Value, ReproduceError> {
    let nodes = |p: &Value| format!("fully-connected:{}", p.text());
    match (name, arguments) {
        ("stages.of", [algorithm, p]) => {
            let size = p.number()? as u64;
            let mut watcher =
                Watcher { nodes: size as usize, block_bytes: size, ..Watcher::default() };
            let workload = format!("uniform:{size}");
            engine.bench().watch(&nodes(p), &algorithm.text(), &workload, &mut watcher)?;
            watcher.end_step(0);
            Ok(watcher.stages.into_iter().map(Stage::into_map).collect::<Vec<_>>().into())
        }
        ("stages.receivers", [p, senders, step]) => {
            let mut steps = FirstStage::default();
            engine.bench().watch(&nodes(p), "four-stage", "uniform:1", &mut steps)?;
            let step = steps.0.get(step.number()? as usize);
            let receiver = |sender: &Value| {
                let sender = sender.number()? as u32;
                let to = step.and_then(|step| step.iter().find(|message| message.0 == sender));
                Ok(f64::from(to.map_or(0, |message| message.1)))
            };
            let all = senders.list()?.iter().map(receiver);
            Ok(all.collect::<Result<Vec<f64>, String>>()?.into())
        }
        _ => Err(format!("there is no `{name}`").into()),
    }
}

/// The pairs (sender, receiver) of all messages in each step of the first stage.
#[derive(Default)]
struct FirstStage(Vec<Vec<(u32, u32)>>);

impl Listener for FirstStage {
    fn notify(&mut self, event: ScheduleEvent<'_>) {
        let ScheduleEvent::Step(step) = event else { return };
        if step.phase_number == 1 {
            self.0.push(step.transfers.iter().map(|t| (t.from, t.to)).collect());
        }
    }
}

#[derive(Debug, Clone, Default)]
struct Stage {
    steps: u64,
    /// The sum over steps of the longest message, in bytes.
    critical: u64,
    received: Vec<u64>,
    longest: Vec<u64>,
    sent: Vec<u64>,
}

impl Stage {
    fn into_map(self) -> Value {
        let Self { steps, critical, received, longest, sent } = self;
        let values = [steps.into(), critical.into(), received.into(), longest.into(), sent.into()];
        let names = ["steps", "critical", "received", "longest", "sent"].map(str::to_owned);
        Value::Map(names.into_iter().zip(values).collect::<BTreeMap<_, _>>())
    }
}

#[derive(Debug, Default)]
struct Watcher {
    nodes: usize,
    /// The bytes of a block. They are needed if a schedule counts loads in blocks.
    block_bytes: u64,
    stages: Vec<Stage>,
    phase: Option<u32>,
    /// For each message of a node to itself in the current step, the node and the bytes.
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

    /// Ends a step. The longest message between different nodes has `longest` bytes.
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
                // A load is a number of blocks or, in a schedule of byte counts, of bytes.
                let bytes = if segments == 1 { load * self.block_bytes } else { load };
                self.self_messages.push((node as usize, bytes));
            }
            _ => {}
        }
    }
}
